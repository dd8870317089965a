//! The resources of a file. A file names kinds, but requests and messages need plurals.

use std::collections::HashSet;
use std::sync::Arc;

use super::entry::FileEntry;
use crate::object::{ObjectRef, Resource, ServedTypes, Value, is_kubernetes_own, well_known_type};

/// One resource of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileResource {
    /// The resource.
    pub resource: Resource,
    /// Where its plural comes from.
    pub plural: Plural,
    /// Whether its controllers write a status: its `CustomResourceDefinition` in the file has the subresource, or another
    /// of its objects has conditions.
    pub has_status: bool,
    /// Its objects, each once, in the order of the file.
    pub objects: Vec<ObjectRef>,
}

/// Where the plural of a resource comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Plural {
    /// From Kubernetes' own kinds, or from a `CustomResourceDefinition` in the file.
    Known,
    /// From the English rules alone.
    Guessed,
}

/// Kubernetes' own cluster-scoped kinds without a stable version
/// (<https://kubernetes.io/docs/reference/kubernetes-api/>).
const CLUSTER_SCOPED: [&str; 3] = [
    "ClusterTrustBundle",
    "StorageVersion",
    "StorageVersionMigration",
];

/// The resources of these objects.
pub(super) fn of(entries: &[Arc<FileEntry>]) -> Vec<FileResource> {
    let is_definition = |entry: &&Arc<FileEntry>| &*entry.object.kind == "CustomResourceDefinition";
    let definitions = entries.iter().filter(is_definition);
    let definitions: Vec<Value<'_>> = definitions.map(|entry| entry.doc.root()).collect();
    let mut resources: Vec<FileResource> = Vec::new();
    let mut known = HashSet::new();
    for entry in entries {
        let object = &entry.object;
        let of_same = |found: &FileResource| {
            found.resource.kind == object.kind
                && found.resource.api_version() == *object.api_version
        };
        let at = resources.iter().position(of_same).unwrap_or_else(|| {
            resources.push(resource(object, &definitions));
            resources.len() - 1
        });
        let found = &mut resources[at];
        if found.plural == Plural::Guessed {
            found.resource.namespaced |= object.namespace.is_some();
        }
        if known.insert((at, object.identity())) {
            found.objects.push(object.clone());
        }
    }
    let types = ServedTypes::in_documents(entries.iter().map(|entry| entry.doc.root()));
    for found in &mut resources {
        let mut objects = found.objects.iter();
        found.has_status = objects.any(|object| types.has_status(object));
    }
    resources
}

fn resource(object: &ObjectRef, definitions: &[Value<'_>]) -> FileResource {
    let (group, version) = object
        .api_version
        .split_once('/')
        .unwrap_or(("", &object.api_version));
    let kind = object.kind.clone();
    let own = is_kubernetes_own(group);
    let mut definitions = definitions.iter();
    let defined = definitions.find_map(|definition| Resource::defined_by(*definition, object));
    let is_known = own || defined.is_some();
    let resource = defined.unwrap_or_else(|| Resource {
        group: group.into(),
        version: version.into(),
        plural: plural(&kind).into(),
        namespaced: if own {
            is_namespaced(group, &kind)
        } else {
            object.namespace.is_some()
        },
        kind,
    });
    FileResource {
        resource,
        plural: if is_known {
            Plural::Known
        } else {
            Plural::Guessed
        },
        has_status: false,
        objects: Vec::new(),
    }
}

/// Whether objects of one of Kubernetes' own kinds live in namespaces.
fn is_namespaced(group: &str, kind: &str) -> bool {
    well_known_type(group, kind).map_or(!CLUSTER_SCOPED.contains(&kind), |found| {
        found.resource.namespaced
    })
}

/// The English plural, in lower case. It is correct for all of Kubernetes' own kinds.
fn plural(kind: &str) -> String {
    let word = kind.to_lowercase();
    let vowel_before_y = || {
        word.as_bytes()
            .iter()
            .rev()
            .nth(1)
            .is_some_and(|byte| b"aeiou".contains(byte))
    };
    if word == "endpoints" {
        word
    } else if word.ends_with('y') && !vowel_before_y() {
        format!("{}ies", &word[..word.len() - 1])
    } else if ["s", "x", "z", "ch", "sh"]
        .iter()
        .any(|end| word.ends_with(end))
    {
        format!("{word}es")
    } else {
        format!("{word}s")
    }
}

#[cfg(test)]
mod tests {
    use super::plural;

    #[test]
    fn plurals() {
        for (kind, name) in [
            ("Pod", "pods"),
            ("Ingress", "ingresses"),
            ("NetworkPolicy", "networkpolicies"),
            ("Endpoints", "endpoints"),
            ("EndpointSlice", "endpointslices"),
            ("PriorityClass", "priorityclasses"),
            ("CSIStorageCapacity", "csistoragecapacities"),
            ("Gateway", "gateways"),
            ("Mailbox", "mailboxes"),
            ("y", "ies"),
        ] {
            assert_eq!(plural(kind), name);
        }
    }
}
