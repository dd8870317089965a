//! A schema as a graph: each schema is a node, with edges to its fields and items.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::object::list_keys::key::ListKey;

/// How a schema identifies the items of a list.
#[derive(Clone, Debug)]
pub enum ListType {
    /// `x-kubernetes-list-type: map`, with its `x-kubernetes-list-map-keys`.
    Map(ListKey),
    /// `x-kubernetes-list-type: set`.
    Set,
    /// Neither of them, but a `x-kubernetes-patch-merge-key`.
    Merged(ListKey),
}

/// The lists of the kinds in one group version.
#[derive(Debug, Default)]
pub struct Schema {
    pub(super) nodes: Vec<SchemaNode>,
    pub(super) kinds: BTreeMap<String, NodeId>,
}

pub(super) type NodeId = usize;

#[derive(Debug, Default)]
pub(super) struct SchemaNode {
    pub(super) fields: FxHashMap<Box<str>, NodeId>,
    /// The values of a map with arbitrary keys.
    pub(super) values: Option<NodeId>,
    pub(super) items: Option<NodeId>,
    pub(super) list: Option<ListType>,
}
