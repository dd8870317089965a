//! Ownership: `metadata.ownerReferences`, by uid alone.
//!
//! A reference with another uid does not mean this object, even if the names are equal. It means an object
//! that was deleted and created again, or an object of another API.

use std::sync::Arc;

use crate::object::{GroupKind, ObjectRef, Uid, Value};

use super::reference_target::ReferenceTarget;

/// One entry of `metadata.ownerReferences`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The owner's uid. Nothing else identifies the owner.
    pub uid: Uid,
    /// Whether it is the managing controller; an object has at most one.
    pub controller: bool,
    /// The owner's API group; empty for the core group.
    pub group: Arc<str>,
    /// The owner's kind, for owners that are not in the graph.
    pub kind: Arc<str>,
    /// The owner's name, for owners that are not in the graph.
    pub name: Arc<str>,
}

impl Owner {
    /// The owner of an object, by its name. An owner is in the same namespace; the namespace of a cluster-scoped one is
    /// not known here.
    pub fn target(&self, of: &ObjectRef) -> ReferenceTarget {
        ReferenceTarget {
            kind: GroupKind {
                group: self.group.clone(),
                kind: self.kind.clone(),
            },
            namespace: of.namespace.clone(),
            name: self.name.clone(),
        }
    }
}

/// Reads an object's owners. An entry without a uid is ignored.
pub(super) fn read(object: Value<'_>) -> Vec<Owner> {
    object
        .items_at(&["metadata", "ownerReferences"])
        .filter_map(|owner| {
            Some(Owner {
                uid: Uid::new(owner.text_at(&["uid"])?),
                controller: owner.bool_at(&["controller"]).unwrap_or(false),
                group: group(owner),
                kind: owner.text_at(&["kind"]).unwrap_or_default(),
                name: owner.text_at(&["name"]).unwrap_or_default(),
            })
        })
        .collect()
}

fn group(owner: Value<'_>) -> Arc<str> {
    let api_version = owner.str_at(&["apiVersion"]).unwrap_or_default();
    let (group, _version) = api_version.rsplit_once('/').unwrap_or_default();
    group.into()
}
