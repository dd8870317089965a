//! The objects of a history, and the requests that write them.

use serde_json::{Value, json};

/// The kinds: built-in ones with and without a status, a custom one, and Events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    ConfigMap,
    Secret,
    Deployment,
    ReplicaSet,
    Pod,
    Gadget,
    Event,
}

/// All kinds.
pub const KINDS: [Kind; 7] = [
    Kind::ConfigMap,
    Kind::Secret,
    Kind::Deployment,
    Kind::ReplicaSet,
    Kind::Pod,
    Kind::Gadget,
    Kind::Event,
];

/// The kind and the name of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    pub kind: Kind,
    pub name: &'static str,
}

/// All objects of a namespace. Some appear twice, so they get more changes.
pub const OBJECTS: [Name; 10] = [
    Name::of(Kind::ConfigMap, "app"),
    Name::of(Kind::ConfigMap, "app"),
    Name::of(Kind::ConfigMap, "flags"),
    Name::of(Kind::Secret, "db"),
    Name::of(Kind::Deployment, "web"),
    Name::of(Kind::Deployment, "web"),
    Name::of(Kind::ReplicaSet, "web-1"),
    Name::of(Kind::Pod, "web-1-a"),
    Name::of(Kind::Gadget, "disc"),
    Name::of(Kind::Event, "web.1"),
];

/// The fields that clients set and remove.
pub const FIELDS: [&str; 4] = ["a", "b", "c", "d"];

/// The API group of the custom kind.
const GROUP: &str = "law.example.com";

impl Name {
    pub const fn of(kind: Kind, name: &'static str) -> Name {
        Name { kind, name }
    }

    /// The path of the object.
    pub fn path(self, namespace: &str) -> String {
        format!("{}/{}", self.kind.path(namespace), self.name)
    }
}

impl Kind {
    /// Parses a kind as records spell it.
    pub fn of(kind: &str) -> Option<Kind> {
        KINDS
            .into_iter()
            .find(|known| format!("{known:?}") == kind || known.word() == kind)
    }

    /// The plural, as requests name it.
    pub fn plural(self) -> &'static str {
        match self {
            Kind::ConfigMap => "configmaps",
            Kind::Secret => "secrets",
            Kind::Deployment => "deployments",
            Kind::ReplicaSet => "replicasets",
            Kind::Pod => "pods",
            Kind::Gadget => "gadgets",
            Kind::Event => "events",
        }
    }

    /// The kind in lower case, as headings name it.
    pub fn word(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    fn api(self) -> String {
        match self {
            Kind::ConfigMap | Kind::Secret | Kind::Pod | Kind::Event => "api/v1".to_owned(),
            Kind::Deployment | Kind::ReplicaSet => "apis/apps/v1".to_owned(),
            Kind::Gadget => format!("apis/{GROUP}/v1"),
        }
    }

    /// The path of all objects of a namespace.
    pub fn path(self, namespace: &str) -> String {
        format!("/{}/namespaces/{namespace}/{}", self.api(), self.plural())
    }

    /// The path of all objects.
    pub fn path_of_all(self) -> String {
        format!("/{}/{}", self.api(), self.plural())
    }

    /// The map that holds the fields.
    pub fn map(self) -> [&'static str; 2] {
        match self {
            Kind::ConfigMap | Kind::Secret => ["", "data"],
            Kind::Gadget => ["", "spec"],
            Kind::Deployment | Kind::ReplicaSet | Kind::Pod | Kind::Event => {
                ["metadata", "annotations"]
            }
        }
    }

    /// The object that owns those of this kind. Nothing collects them when it is deleted.
    fn owner(self) -> Option<(&'static str, &'static str)> {
        match self {
            Kind::ReplicaSet => Some(("Deployment", "web")),
            Kind::Pod => Some(("ReplicaSet", "web-1")),
            Kind::ConfigMap | Kind::Secret | Kind::Deployment | Kind::Gadget | Kind::Event => None,
        }
    }

    /// The field of the status that a client writes.
    pub fn status(self, field: &'static str, number: Option<u64>) -> Value {
        match self {
            Kind::Deployment | Kind::ReplicaSet => json!({ "replicas": number }),
            Kind::Pod => json!({ "message": number.map(value) }),
            Kind::ConfigMap | Kind::Secret | Kind::Gadget | Kind::Event => {
                json!({ field: number.map(value) })
            }
        }
    }

    /// An object without fields, as a client sends it.
    pub fn bare(self, name: &str, namespace: &str) -> Value {
        let api = self.api();
        let (_, version) = api.split_once('/').unwrap();
        let mut object = json!({
            "apiVersion": version, "kind": format!("{self:?}"),
            "metadata": { "name": name, "namespace": namespace },
        });
        let labels = json!({ "app": "web" });
        let spec = json!({ "containers": [{ "name": "web", "image": "web:1" }] });
        let template = json!({ "metadata": { "labels": labels }, "spec": spec });
        if let Some((kind, name)) = self.owner() {
            object["metadata"]["ownerReferences"] = json!([{
                "apiVersion": "apps/v1", "kind": kind, "name": name, "uid": "none", "controller": true,
            }]);
        }
        match self {
            Kind::Deployment | Kind::ReplicaSet => {
                object["spec"] =
                    json!({ "selector": { "matchLabels": labels }, "template": template });
            }
            Kind::Pod => object["spec"] = spec,
            Kind::Event => {
                let about = json!({ "apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "namespace": namespace });
                object["involvedObject"] = about;
                object["reason"] = json!("Spun");
                object["type"] = json!("Warning");
                object["message"] = json!("it spins");
            }
            Kind::ConfigMap | Kind::Secret | Kind::Gadget => {}
        }
        object
    }
}

/// The value of a field, which must be base64 for a Secret.
pub fn value(number: u64) -> Value {
    json!(format!("n{number:03}"))
}

/// Sets a field of an object, or of a patch; `null` removes it from the object that is patched.
pub fn set(kind: Kind, object: &mut Value, field: &str, value: Value) {
    let [outer, inner] = kind.map();
    let object = match outer {
        "" => object,
        outer => &mut object[outer],
    };
    object[inner][field] = value;
}

/// Removes a field of an object.
pub fn unset(kind: Kind, object: &mut Value, field: &str) {
    let [outer, inner] = kind.map();
    let object = match outer {
        "" => object,
        outer => &mut object[outer],
    };
    if let Some(map) = object.get_mut(inner).and_then(Value::as_object_mut) {
        map.remove(field);
    }
}

/// The definition of the custom kind, with both subresources.
pub fn definition() -> Value {
    let open = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    let scale =
        json!({ "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas" });
    let schema = json!({
        "type": "object",
        "properties": { "spec": open, "status": open },
    });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("gadgets.{GROUP}") },
        "spec": {
            "group": GROUP, "scope": "Namespaced",
            "names": { "kind": "Gadget", "plural": "gadgets", "singular": "gadget" },
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": { "openAPIV3Schema": schema },
                "subresources": { "status": {}, "scale": scale },
            }],
        },
    })
}
