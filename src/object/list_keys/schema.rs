//! What an API server says of the lists of its kinds: the OpenAPI v3 document of a group version
//! (`/openapi/v3/apis/GROUP/VERSION`), reduced to them.
//!
//! A document is a graph, with cycles (a schema for schemas has itself for a field); so is what is made
//! of it, a node a schema, and it is followed only as deep as an object goes.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::object::path::{Path, Step};
use crate::object::tape::Kind;
use crate::object::value::Value;

use super::ListKey;

/// Schemas beyond these are not read: a document of kube-apiserver has some thousands.
const MOST_NODES: usize = 1 << 16;

/// So many `$ref` and `allOf` are followed for one schema.
const MOST_PARTS: usize = 64;

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
        let mut reader = Reader {
            schemas: schemas
                .fields()
                .map(|(name, schema)| (name.into_owned(), schema))
                .collect(),
            named: FxHashMap::default(),
            waiting: VecDeque::new(),
            schema: Schema::default(),
        };
        let kinds = schemas.fields().flat_map(|(name, schema)| {
            let kinds = schema.items_at(&["x-kubernetes-group-version-kind"]);
            kinds.filter_map(move |kind| Some((kind.str_at(&["kind"])?, name.clone())))
        });
        for (kind, name) in kinds {
            if let Some(node) = reader.named(&name) {
                reader.schema.kinds.insert(kind.into_owned(), node);
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

struct Reader<'a> {
    schemas: FxHashMap<String, Value<'a>>,
    named: FxHashMap<String, NodeId>,
    /// Nodes that are made and still empty.
    waiting: VecDeque<(NodeId, Value<'a>)>,
    schema: Schema,
}

impl<'a> Reader<'a> {
    fn finish(mut self) -> Schema {
        while let Some((node, schema)) = self.waiting.pop_front() {
            self.fill(node, schema);
        }
        self.schema
    }

    /// The node of a schema that has a name.
    fn named(&mut self, name: &str) -> Option<NodeId> {
        if let Some(&node) = self.named.get(name) {
            return Some(node);
        }
        let schema = *self.schemas.get(name)?;
        let node = self.empty(schema)?;
        self.named.insert(name.to_owned(), node);
        Some(node)
    }

    fn empty(&mut self, schema: Value<'a>) -> Option<NodeId> {
        let node = self.schema.nodes.len();
        if node == MOST_NODES {
            return None;
        }
        self.schema.nodes.push(Node::default());
        self.waiting.push_back((node, schema));
        Some(node)
    }

    /// The node of a schema inside another; none for one that holds no list.
    fn node(&mut self, schema: Value<'a>) -> Option<NodeId> {
        match schema.get("type").and_then(Value::as_str).as_deref() {
            Some("string" | "integer" | "number" | "boolean") => return None,
            _ => {}
        }
        // A field says of itself only what it is for, and refers to what it is.
        let own = ["properties", "items", "additionalProperties"];
        let is_plain = own.iter().all(|name| schema.get(name).is_none());
        match (is_plain, references(schema).as_slice()) {
            (true, [name]) => self.named(name),
            _ => self.empty(schema),
        }
    }

    fn fill(&mut self, at: NodeId, schema: Value<'a>) {
        let parts = self.parts(schema);
        let mut node = Node::default();
        for part in &parts {
            for (name, field) in part.get("properties").into_iter().flat_map(Value::fields) {
                if let Some(field) = self.node(field) {
                    node.fields.insert(name.into(), field);
                }
            }
            let values = part.get("additionalProperties");
            node.values = node.values.or(values.and_then(|values| self.node(values)));
            if let Some(items) = part.get("items") {
                node.list = node.list.or_else(|| self.list_type(&parts, items));
                node.items = node.items.or_else(|| self.node(items));
            }
        }
        self.schema.nodes[at] = node;
    }

    /// The schema and what it refers to, as far as that is one and the same value.
    fn parts(&self, schema: Value<'a>) -> Vec<Value<'a>> {
        let mut parts = vec![schema];
        let mut names = FxHashSet::default();
        let mut at = 0;
        while let Some(&part) = parts.get(at) {
            let inline = part.items_at(&["allOf"]);
            let room = MOST_PARTS.saturating_sub(parts.len());
            let inline: Vec<_> = inline.take(room).collect();
            parts.extend(inline);
            if let Some(name) = reference(part)
                && let Some(&other) = self.schemas.get(&name)
                && parts.len() < MOST_PARTS
                && names.insert(name)
            {
                parts.push(other);
            }
            at += 1;
        }
        parts
    }

    fn list_type(&self, parts: &[Value<'a>], items: Value<'a>) -> Option<ListType> {
        let said = |name: &str| parts.iter().find_map(|part| part.get(name));
        let text = |name: &str| said(name).and_then(Value::as_str);
        match text("x-kubernetes-list-type").as_deref() {
            Some("set") => return Some(ListType::Set),
            Some("map") => {
                let keys = said("x-kubernetes-list-map-keys")?;
                let fields: Vec<_> = keys.items().filter_map(Value::as_str).collect();
                let inner = self.parts(items);
                let key = |name| (name, self.default(&inner, name));
                let fields = fields.iter().map(|name| key(&**name));
                return (keys.items().next().is_some())
                    .then(|| ListType::Map(ListKey::read(fields)));
            }
            _ => {}
        }
        let key = text("x-kubernetes-patch-merge-key")?;
        let key = ListKey::required([&*key].into_iter());
        Some(ListType::Merged(key))
    }

    /// What a field of an item means where it is absent: `TCP`.
    fn default(&self, item: &[Value<'a>], name: &str) -> Option<String> {
        let field = item
            .iter()
            .find_map(|part| part.at(&["properties", name]))?;
        let parts = self.parts(field);
        let value = parts.iter().find_map(|part| part.get("default"))?;
        match value.kind() {
            Kind::String => value
                .as_str()
                .filter(|text| !text.is_empty())
                .map(Into::into),
            Kind::Number | Kind::Bool => Some(value.raw().to_owned()),
            Kind::Null | Kind::Array | Kind::Object => None,
        }
    }
}

/// The name behind `"$ref": "#/components/schemas/NAME"`.
fn reference(schema: Value<'_>) -> Option<String> {
    let reference = schema.get("$ref").and_then(Value::as_str)?;
    let name = reference.strip_prefix("#/components/schemas/")?;
    // RFC 6901 in a fragment: names of schemas hold dots and dashes, rarely more.
    Some(name.replace("~1", "/").replace("~0", "~"))
}

/// The names that a schema refers to, itself or in `allOf`.
fn references(schema: Value<'_>) -> Vec<String> {
    let inline = schema.items_at(&["allOf"]);
    std::iter::once(schema)
        .chain(inline)
        .filter_map(reference)
        .collect()
}
