//! Lists all lists of a schema, for the tests that compare the built-in keys with a real server's schemas.

use rustc_hash::FxHashSet;

use super::{ListType, NodeId, Schema};

/// How deep to search for lists.
const MAX_DEPTH: usize = 64;

impl Schema {
    /// The kinds of the schema, sorted by name.
    pub fn kinds(&self) -> impl Iterator<Item = &str> {
        self.kinds.keys().map(String::as_str)
    }

    /// The typed lists of a kind, with their paths: `.spec.containers[*].ports`. A schema that contains itself is
    /// entered only once.
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

/// The path down to a node, and the nodes above it.
struct Way {
    path: String,
    above: FxHashSet<NodeId>,
}

impl Way {
    /// Enters a node, unless the path is already inside it. Returns whether it did.
    fn enter(&mut self, node: NodeId) -> bool {
        self.above.len() < MAX_DEPTH && self.above.insert(node)
    }
}
