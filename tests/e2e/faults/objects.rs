//! What is written: a few objects of three kinds, each version with a number of its own.

use serde_json::{Value, json};

/// The kinds: a built-in of the core, a built-in of a group, and a custom one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    ConfigMap,
    Deployment,
    Counter,
}

/// All of them.
pub const KINDS: [Kind; 3] = [Kind::ConfigMap, Kind::Deployment, Kind::Counter];

/// Where an object is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub kind: Kind,
    pub namespace: String,
    pub name: String,
}

impl Kind {
    /// The kind of this name, as records have it.
    pub fn of(kind: &str) -> Option<Kind> {
        KINDS.into_iter().find(|known| format!("{known:?}") == kind)
    }

    /// The resource of the schedules in this namespace. The custom kind is one of its own in each.
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
    /// The place of an etcd key, if it is one of ours.
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

/// What the namespaces of schedules begin with.
pub const PREFIX: &str = "faults-";

/// An object with a number.
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

/// What changes the number of an object.
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

/// The definition of the custom kind of a namespace's schedule.
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
