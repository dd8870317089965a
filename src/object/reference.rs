//! The names of objects and of their types.

use std::fmt;
use std::sync::Arc;

use kube::core::Version;
use serde::{Deserialize, Serialize};

use super::conditions::condition;
use super::doc::Value;
use super::version::Uid;

/// A kind without its version. Status rules and relations use it as their key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupKind {
    /// The API group; empty for the core group.
    pub group: Arc<str>,
    /// The kind in CamelCase: `ReplicaSet`.
    pub kind: Arc<str>,
}

impl GroupKind {
    /// The kind with this name in a group; an empty one is the core group.
    pub fn new(group: &str, kind: &str) -> GroupKind {
        GroupKind {
            group: group.into(),
            kind: kind.into(),
        }
    }
}

impl fmt::Display for GroupKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.group {
            "" => f.write_str(&self.kind),
            group => write!(f, "{}.{group}", self.kind),
        }
    }
}

/// A resource type that an API server serves.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Resource {
    /// The API group; empty for the core group.
    pub group: Arc<str>,
    /// The version inside the group: `v1`.
    pub version: Arc<str>,
    /// The plural in lower case, as in URLs: `deployments`.
    pub plural: Arc<str>,
    /// The kind in CamelCase: `Deployment`.
    pub kind: Arc<str>,
    /// Whether its objects are namespaced.
    pub namespaced: bool,
}

impl Resource {
    /// The resource of an object; `None` unless this is the `CustomResourceDefinition` of its kind.
    pub fn defined_by(definition: Value<'_>, object: &ObjectRef) -> Option<Resource> {
        let text = |path: &[&str]| definition.text_at(path);
        let (group, version) = object.api_version.split_once('/')?;
        let is_defined = *text(&["kind"])? == *"CustomResourceDefinition"
            && *text(&["spec", "group"])? == *group
            && text(&["spec", "names", "kind"])? == object.kind;
        is_defined.then_some(Resource {
            group: group.into(),
            version: version.into(),
            plural: text(&["spec", "names", "plural"])?,
            kind: object.kind.clone(),
            namespaced: *text(&["spec", "scope"])? == *"Namespaced",
        })
    }

    /// The resource that a `CustomResourceDefinition` defines, in the version that discovery prefers; `None` for other objects,
    /// and until the API server has accepted the names.
    pub fn established_by(definition: Value<'_>) -> Option<Resource> {
        let text = |path: &[&str]| definition.text_at(path);
        let is_established = condition(definition, "Established")?.status == "True";
        if *text(&["kind"])? != *"CustomResourceDefinition" || !is_established {
            return None;
        }
        let versions = definition.items_at(&["spec", "versions"]);
        let served = versions.filter(|version| version.bool_at(&["served"]) == Some(true));
        let names = served.filter_map(|version| version.text_at(&["name"]));
        Some(Resource {
            group: text(&["spec", "group"])?,
            version: names.max_by_key(|name| Version::parse(name).priority())?,
            plural: text(&["spec", "names", "plural"])?,
            kind: text(&["spec", "names", "kind"])?,
            namespaced: *text(&["spec", "scope"])? == *"Namespaced",
        })
    }

    /// `apps/v1`, or `v1` for the core group: the `apiVersion` of its objects.
    pub fn api_version(&self) -> String {
        match &*self.group {
            "" => self.version.to_string(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// `deployments.apps`, or `pods` for the core group: the name in kubectl's messages.
    pub fn group_resource(&self) -> String {
        match &*self.group {
            "" => self.plural.to_string(),
            group => format!("{}.{group}", self.plural),
        }
    }

    /// The group and kind of its objects.
    pub fn group_kind(&self) -> GroupKind {
        GroupKind {
            group: self.group.clone(),
            kind: self.kind.clone(),
        }
    }
}

/// A namespace (`None` for a cluster-scoped object) and a name.
pub(crate) type NamespacedName = (Option<Arc<str>>, Arc<str>);

/// An object: its type, namespace and name, and the uid if it is known. The uid is the identity: two objects that
/// had the same name one after the other are different.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectRef {
    /// The `apiVersion`: `apps/v1`.
    pub api_version: Arc<str>,
    /// The kind in CamelCase.
    pub kind: Arc<str>,
    /// The namespace; `None` for cluster-scoped objects.
    pub namespace: Option<Arc<str>>,
    /// The name.
    pub name: Arc<str>,
    /// The uid; `None` if only the name is known.
    pub uid: Option<Uid>,
}

impl ObjectRef {
    /// Reads the reference from the object itself. Missing parts are empty.
    pub fn of(object: Value<'_>) -> ObjectRef {
        let text = |path: &[&str]| object.str_at(path).map(|text| Arc::from(&*text));
        ObjectRef {
            api_version: text(&["apiVersion"]).unwrap_or_default(),
            kind: text(&["kind"]).unwrap_or_default(),
            namespace: text(&["metadata", "namespace"]).filter(|namespace| !namespace.is_empty()),
            name: text(&["metadata", "name"]).unwrap_or_default(),
            uid: text(&["metadata", "uid"])
                .filter(|uid| !uid.is_empty())
                .map(Uid::new),
        }
    }

    /// The uid, or `GROUP/KIND/NAMESPACE/NAME` for an object without one, as in a manifest that no server has seen.
    /// The two cannot be mixed up, because a uid has no `/`.
    pub fn identity(&self) -> Uid {
        self.uid.clone().unwrap_or_else(|| {
            let namespace = self.namespace.as_deref().unwrap_or_default();
            let (group, kind, name) = (self.group(), &self.kind, &self.name);
            Uid::new(format!("{group}/{kind}/{namespace}/{name}"))
        })
    }

    /// Its place in a resource, whichever object bears the name.
    pub(crate) fn namespaced_name(&self) -> NamespacedName {
        (self.namespace.clone(), self.name.clone())
    }

    pub(crate) fn has_type_of(&self, object: Value<'_>) -> bool {
        let says = |field: &str| object.str_at(&[field]).unwrap_or_default();
        says("kind") == *self.kind && says("apiVersion") == *self.api_version
    }

    /// The same name without the uid, for any object with this name.
    pub(crate) fn without_uid(&self) -> ObjectRef {
        ObjectRef {
            uid: None,
            ..self.clone()
        }
    }

    /// The API group; empty for the core group.
    pub fn group(&self) -> &str {
        self.api_version
            .split_once('/')
            .map_or("", |(group, _)| group)
    }

    /// `deployment.apps/web`: what kubectl prints for `-o name`.
    pub fn resource_name(&self) -> String {
        let kind = self.kind.to_lowercase();
        match self.group() {
            "" => format!("{kind}/{}", self.name),
            group => format!("{kind}.{group}/{}", self.name),
        }
    }

    /// The group and kind.
    pub fn group_kind(&self) -> GroupKind {
        GroupKind {
            group: self.group().into(),
            kind: self.kind.clone(),
        }
    }
}

/// `deployment/web`: kubectl's `TYPE/NAME`, which can be pasted into the next command.
impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind.to_lowercase(), self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Doc;

    #[test]
    fn a_definition_is_a_resource_once_its_names_are_accepted() {
        let definition = |kind: &str, established: &str, versions: &str| {
            let text = format!(
                r#"{{"kind":"{kind}","spec":{{"group":"x.io","scope":"Namespaced","names":{{"kind":"Widget","plural":"widgets"}},
                "versions":[{versions}]}},"status":{{"conditions":[{{"type":"Established","status":"{established}"}}]}}}}"#
            );
            let doc = Doc::parse(text).expect("JSON");
            let resource = Resource::established_by(doc.root());
            resource.map(|resource| format!("{} {}", resource.api_version(), resource.plural))
        };
        let crd = "CustomResourceDefinition";
        let versions = r#"{"name":"v1alpha1","served":true},{"name":"v1beta2","served":true},{"name":"v1","served":false},
            {"name":"v1beta10","served":true}"#;
        let v1 = r#"{"name":"v1","served":true}"#;
        for (kind, established, versions, expect) in [
            (crd, "True", v1, Some("x.io/v1 widgets")),
            (crd, "True", versions, Some("x.io/v1beta10 widgets")),
            (crd, "False", v1, None),
            (crd, "True", "", None),
            ("ConfigMap", "True", v1, None),
        ] {
            assert_eq!(
                definition(kind, established, versions).as_deref(),
                expect,
                "{kind} {established} {versions}"
            );
        }
    }
}
