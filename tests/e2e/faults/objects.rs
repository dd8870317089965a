//! The objects that the writer writes: a few of three kinds. Each version has a unique number.

use serde_json::{Value, json};

/// The kinds: a built-in one of the core group, a built-in one of another group, and a custom one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    ConfigMap,
    Deployment,
    Counter,
}

/// All kinds.
pub const KINDS: [Kind; 3] = [Kind::ConfigMap, Kind::Deployment, Kind::Counter];

/// The place of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub kind: Kind,
    pub namespace: String,
    pub name: String,
}

impl Kind {
    /// Parses a kind as records spell it.
    pub fn of(kind: &str) -> Option<Kind> {
        KINDS.into_iter().find(|known| format!("{known:?}") == kind)
    }

    /// The resource of this kind in a namespace. Each namespace has a custom kind of its own.
    pub fn resource(self, namespace: &str) -> String {
        match self {
            Kind::ConfigMap => "configmaps".to_owned(),
            Kind::Deployment => "deployments.apps".to_owned(),
            Kind::Counter => format!("counters.{namespace}.example.com"),
        }
    }

    /// The path of all its objects.
    pub fn path(self, namespace: &str) -> String {
        let group = match self {
            Kind::ConfigMap => "api/v1",
            Kind::Deployment => "apis/apps/v1",
            Kind::Counter => &format!("apis/{namespace}.example.com/v1"),
        };
        let resource = self.resource(namespace);
        let plural = resource.split('.').next().unwrap();
        format!("/{group}/namespaces/{namespace}/{plural}")
    }
}

impl Place {
    /// Parses an etcd key; `None` if it is not an object of a schedule.
    pub fn of_key(key: &str) -> Option<Place> {
        let steps: Vec<&str> = key.split('/').collect();
        let (kind, namespace, name) = match steps[..] {
            ["", "registry", "configmaps", namespace, name] => (Kind::ConfigMap, namespace, name),
            ["", "registry", "deployments", namespace, name] => (Kind::Deployment, namespace, name),
            ["", "registry", _, "counters", namespace, name] => (Kind::Counter, namespace, name),
            _ => return None,
        };
        namespace.starts_with(PREFIX).then(|| Place {
            kind,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        })
    }
}

/// The prefix of the schedules' namespaces.
pub const PREFIX: &str = "faults-";

/// An object with this number.
pub fn object(place: &Place, number: u64) -> Value {
    let mut object = patch(place.kind, number);
    object["metadata"]["name"] = json!(place.name);
    let (version, spec) = match place.kind {
        Kind::ConfigMap => ("v1".to_owned(), None),
        Kind::Counter => (format!("{}.example.com/v1", place.namespace), None),
        Kind::Deployment => ("apps/v1".to_owned(), Some(spec())),
    };
    object["apiVersion"] = json!(version);
    object["kind"] = json!(format!("{:?}", place.kind));
    if let Some(spec) = spec {
        object["spec"] = spec;
    }
    object
}

fn spec() -> Value {
    let labels = json!({ "app": "web" });
    json!({
        "selector": { "matchLabels": labels },
        "template": {
            "metadata": { "labels": labels },
            "spec": { "containers": [{ "name": "web", "image": "web:1" }] },
        },
    })
}

/// The patch that sets the number of an object.
pub fn patch(kind: Kind, number: u64) -> Value {
    let number = number.to_string();
    match kind {
        Kind::ConfigMap => json!({ "data": { "n": number } }),
        Kind::Deployment => json!({ "metadata": { "annotations": { "n": number } } }),
        Kind::Counter => json!({ "spec": { "n": number } }),
    }
}

/// The number of a version.
pub fn counter(object: &Value) -> Option<u64> {
    let places = ["/data/n", "/metadata/annotations/n", "/spec/n"];
    let number = places.iter().find_map(|place| object.pointer(place));
    number?.as_str()?.parse().ok()
}

/// The definition of a namespace's custom kind.
pub fn definition(namespace: &str) -> Value {
    let group = format!("{namespace}.example.com");
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": Kind::Counter.resource(namespace) },
        "spec": {
            "group": group, "scope": "Namespaced",
            "names": { "kind": "Counter", "plural": "counters", "singular": "counter" },
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": { "openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                }},
            }],
        },
    })
}
