//! Reads the lists from an `OpenAPI` document.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::object::list_keys::key::ListKey;
use crate::object::tape::Kind;
use crate::object::value::Value;

use super::node::{ListType, NodeId, Schema, SchemaNode};

/// The most schemas to read. A document of kube-apiserver has a few thousand.
const MAX_NODES: usize = 1 << 16;

/// The most `$ref` and `allOf` to follow for one schema.
const MAX_PARTS: usize = 64;

/// Creates a node for each schema, and fills it later. So a schema may refer to itself.
pub(super) struct SchemaReader<'a> {
    schemas: FxHashMap<String, Value<'a>>,
    named: FxHashMap<String, NodeId>,
    /// Nodes that are still empty.
    waiting: VecDeque<(NodeId, Value<'a>)>,
    schema: Schema,
}

impl<'a> SchemaReader<'a> {
    /// Creates a reader for `components.schemas`.
    pub(super) fn new(schemas: Value<'a>) -> SchemaReader<'a> {
        SchemaReader {
            schemas: schemas
                .fields()
                .map(|(name, schema)| (name.into_owned(), schema))
                .collect(),
            named: FxHashMap::default(),
            waiting: VecDeque::new(),
            schema: Schema::default(),
        }
    }

    /// Records which schema belongs to a kind.
    pub(super) fn kind(&mut self, kind: String, node: NodeId) {
        self.schema.kinds.insert(kind, node);
    }

    /// Reads all schemas that the kinds refer to.
    pub(super) fn finish(mut self) -> Schema {
        while let Some((node, schema)) = self.waiting.pop_front() {
            self.fill(node, schema);
        }
        self.schema
    }

    /// The node of a named schema.
    pub(super) fn named(&mut self, name: &str) -> Option<NodeId> {
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
        if node == MAX_NODES {
            return None;
        }
        self.schema.nodes.push(SchemaNode::default());
        self.waiting.push_back((node, schema));
        Some(node)
    }

    /// The node of a nested schema; `None` if it cannot contain a list.
    fn node(&mut self, schema: Value<'a>) -> Option<NodeId> {
        let kind = schema.get("type").and_then(Value::as_str);
        if matches!(
            kind.as_deref(),
            Some("string" | "integer" | "number" | "boolean")
        ) {
            return None;
        }
        // A field usually has only a description, and refers to its schema.
        let own = ["properties", "items", "additionalProperties"];
        let is_plain = own.iter().all(|name| schema.get(name).is_none());
        match (is_plain, references(schema).as_slice()) {
            (true, [name]) => self.named(name),
            _ => self.empty(schema),
        }
    }

    fn fill(&mut self, at: NodeId, schema: Value<'a>) {
        let parts = self.parts(schema);
        let mut node = SchemaNode::default();
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

    /// The schema and all schemas that it refers to for the same value.
    fn parts(&self, schema: Value<'a>) -> Vec<Value<'a>> {
        let mut parts = vec![schema];
        let mut names = FxHashSet::default();
        let mut at = 0;
        while let Some(&part) = parts.get(at) {
            let inline = part.items_at(&["allOf"]);
            let room = MAX_PARTS.saturating_sub(parts.len());
            let inline: Vec<_> = inline.take(room).collect();
            parts.extend(inline);
            if let Some(name) = reference(part)
                && let Some(&other) = self.schemas.get(&name)
                && parts.len() < MAX_PARTS
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

    /// The value of an item's field if the item lacks it, such as `TCP`.
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

/// The name in `"$ref": "#/components/schemas/NAME"`.
fn reference(schema: Value<'_>) -> Option<String> {
    let reference = schema.get("$ref").and_then(Value::as_str)?;
    let name = reference.strip_prefix("#/components/schemas/")?;
    // The escapes of RFC 6901, which hardly occur: names of schemas have dots and dashes.
    Some(name.replace("~1", "/").replace("~0", "~"))
}

/// The names to which a schema refers, directly or in `allOf`.
fn references(schema: Value<'_>) -> Vec<String> {
    let inline = schema.items_at(&["allOf"]);
    std::iter::once(schema)
        .chain(inline)
        .filter_map(reference)
        .collect()
}
