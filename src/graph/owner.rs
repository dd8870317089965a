//! Ownership: `metadata.ownerReferences`, by uid alone.
//!
//! A reference with another uid does not mean this object, even if the names are equal. It means an object
//! that was deleted and created again, or an object of another API.

use std::sync::Arc;

use crate::object::{Uid, Value};

use super::{Graph, Node};

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

/// Reads an object's owners. An entry without a uid is ignored.
pub(super) fn read(object: Value<'_>) -> Vec<Owner> {
    object
        .items_at(&["metadata", "ownerReferences"])
        .filter_map(|owner| {
            Some(Owner {
                uid: Uid::new(owner.text_at(&["uid"])?),
                controller: owner
                    .get("controller")
                    .and_then(Value::as_bool)
                    .unwrap_or(false),
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

impl Node {
    /// Its owners, the managing controller first.
    pub(super) fn owners_by_rank(&self) -> impl Iterator<Item = &Owner> {
        let by_role = |controller| {
            self.owners
                .iter()
                .filter(move |owner| owner.controller == controller)
        };
        by_role(true).chain(by_role(false))
    }
}

impl Graph {
    /// The objects that name this one as an owner, in the order of siblings in a tree. The owner itself need
    /// not be in the graph.
    pub fn children(&self, uid: &Uid) -> Vec<&Node> {
        let mut children: Vec<_> = self
            .dependents
            .get(uid)
            .into_iter()
            .flatten()
            .filter_map(|child| self.node(child))
            .collect();
        children.sort_by_cached_key(|node| node.place());
        children
    }

    /// The owners of an object that are in the graph, the managing controller first.
    pub fn owners(&self, uid: &Uid) -> Vec<&Node> {
        self.node(uid)
            .into_iter()
            .flat_map(Node::owners_by_rank)
            .filter_map(|owner| self.node(&owner.uid))
            .collect()
    }

    /// The owners above an object: its controller (or only owner), the controller of that, and so on.
    pub fn ancestors(&self, uid: &Uid) -> Vec<&Node> {
        let mut chain: Vec<&Node> = Vec::new();
        let mut at = uid;
        while let Some(owner) = self.owners(at).first().copied() {
            if &owner.uid == uid || chain.iter().any(|seen| seen.uid == owner.uid) {
                break;
            }
            chain.push(owner);
            at = &owner.uid;
        }
        chain
    }
}
