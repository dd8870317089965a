//! What an API server says of the lists of its kinds: the `OpenAPI` v3 document of a group version
//! (`/openapi/v3/apis/GROUP/VERSION`), reduced to them.
//!
//! A document is a graph, with cycles (a schema for schemas has itself for a field); so is what is made
//! of it, a node a schema, and it is followed only as deep as an object goes.

mod read;

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::object::path::{Path, Step};
use crate::object::value::Value;

use super::ListKey;

use read::Reader;

/// So deep lists are looked for when all are asked for.
const MOST_DEPTH: usize = 64;

/// How the items of a list are told apart, by its schema.
#[derive(Clone, Debug)]
pub enum ListType {
    /// `x-kubernetes-list-type: map`, by its `x-kubernetes-list-map-keys`.
    Map(ListKey),
    /// `x-kubernetes-list-type: set`.
    Set,
    /// Neither, but it merges by this `x-kubernetes-patch-merge-key`.
    Merged(ListKey),
}

/// The lists of the kinds of one group version.
#[derive(Debug, Default)]
pub struct Schema {
    nodes: Vec<Node>,
    kinds: BTreeMap<String, NodeId>,
}

type NodeId = usize;

#[derive(Debug, Default)]
struct Node {
    fields: FxHashMap<Box<str>, NodeId>,
    /// The values of a map of any names.
    values: Option<NodeId>,
    items: Option<NodeId>,
    list: Option<ListType>,
}

/// What a schema says of one kind.
#[derive(Clone, Debug)]
pub(super) struct Known {
    schema: Arc<Schema>,
    root: NodeId,
}

impl Known {
    /// What is said of the list at `path`.
    pub(super) fn list(&self, path: &Path<'_>) -> Option<&ListType> {
        let nodes = &self.schema.nodes;
        let mut node = nodes.get(self.root)?;
        for step in &path.steps {
            let next = match step {
                Step::Field(name) => node.fields.get(&**name).copied().or(node.values),
                Step::Item { .. } => node.items,
            };
            node = nodes.get(next?)?;
        }
        node.list.as_ref()
    }
}

impl Schema {
    /// Reads a document. Whatever is missing, or is not what it should be, is left out.
    pub fn read(document: Value<'_>) -> Schema {
        let Some(schemas) = document.at(&["components", "schemas"]) else {
            return Schema::default();
        };
        let mut reader = Reader::new(schemas);
        let kinds = schemas.fields().flat_map(|(name, schema)| {
            let kinds = schema.items_at(&["x-kubernetes-group-version-kind"]);
            kinds.filter_map(move |kind| Some((kind.str_at(&["kind"])?, name.clone())))
        });
        for (kind, name) in kinds {
            if let Some(node) = reader.named(&name) {
                reader.kind(kind.into_owned(), node);
            }
        }
        reader.finish()
    }

    /// What is known of a kind, if the document has it.
    pub(super) fn known(schema: &Arc<Schema>, kind: &str) -> Option<Known> {
        let root = *schema.kinds.get(kind)?;
        Some(Known {
            schema: schema.clone(),
            root,
        })
    }

    /// The kinds it knows, in the order of their names.
    pub fn kinds(&self) -> impl Iterator<Item = &str> {
        self.kinds.keys().map(String::as_str)
    }

    /// The lists of a kind that it says something of, by their paths: `.spec.containers[*].ports`. A
    /// schema inside itself is gone into once.
    pub fn lists(&self, kind: &str) -> Vec<(String, &ListType)> {
        let mut found = Vec::new();
        let mut way = Way {
            path: String::new(),
            above: FxHashSet::default(),
        };
        if let Some(&root) = self.kinds.get(kind) {
            self.walk(root, &mut way, &mut found);
        }
        found
    }

    fn walk<'s>(&'s self, at: NodeId, way: &mut Way, found: &mut Vec<(String, &'s ListType)>) {
        let Some(node) = self.nodes.get(at).filter(|_| way.enter(at)) else {
            return;
        };
        if let Some(list) = &node.list {
            found.push((way.path.clone(), list));
        }
        let mut names: Vec<_> = node.fields.iter().collect();
        names.sort_unstable();
        let fields = names
            .into_iter()
            .map(|(name, &at)| (format!(".{name}"), at));
        let others = [(".*", node.values), ("[*]", node.items)];
        let others = others
            .into_iter()
            .filter_map(|(step, at)| Some((step.to_owned(), at?)));
        for (step, next) in fields.chain(others) {
            let length = way.path.len();
            way.path.push_str(&step);
            self.walk(next, way, found);
            way.path.truncate(length);
        }
        way.above.remove(&at);
    }
}

/// The way down to a node.
struct Way {
    path: String,
    above: FxHashSet<NodeId>,
}

impl Way {
    /// Whether a node is entered now, and not from inside itself.
    fn enter(&mut self, node: NodeId) -> bool {
        self.above.len() < MOST_DEPTH && self.above.insert(node)
    }
}
