//! The lists in an API server's schema: the `OpenAPI` v3 document of a group version
//! (`/openapi/v3/apis/GROUP/VERSION`), reduced to its lists.
//!
//! A document is a graph with cycles: the schema of schemas has a field of its own type. So this is a graph too,
//! with one node per schema, and look-ups follow it only as deep as an object is.

#[cfg(any(test, feature = "testing"))]
mod testing;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::object::doc::Value;
use crate::object::list_keys::key::ListKey;
use crate::object::path::{Path, Step};
use crate::object::tape::Kind;

#[derive(Clone, Debug)]
pub(super) struct KindSchema {
    schema: Arc<Schema>,
    root: NodeId,
}

impl KindSchema {
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
    /// Reads a document. Missing and invalid parts are left out.
    pub fn read(document: Value<'_>) -> Schema {
        let Some(schemas) = document.at(&["components", "schemas"]) else {
            return Schema::default();
        };
        let mut reader = SchemaReader::new(schemas);
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

    /// The lists of a kind, if the document has the kind.
    pub(super) fn known(schema: &Arc<Schema>, kind: &str) -> Option<KindSchema> {
        let root = *schema.kinds.get(kind)?;
        Some(KindSchema {
            schema: schema.clone(),
            root,
        })
    }
}

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
    nodes: Vec<SchemaNode>,
    kinds: BTreeMap<String, NodeId>,
}

type NodeId = usize;

#[derive(Debug, Default)]
struct SchemaNode {
    fields: FxHashMap<Box<str>, NodeId>,
    /// The values of a map with arbitrary keys.
    values: Option<NodeId>,
    items: Option<NodeId>,
    list: Option<ListType>,
}

/// The most schemas to read. A document of kube-apiserver has a few thousand.
const MAX_NODES: usize = 1 << 16;

/// The most `$ref` and `allOf` to follow for one schema.
const MAX_PARTS: usize = 64;

/// Creates a node for each schema, and fills it later. So a schema may refer to itself.
struct SchemaReader<'a> {
    schemas: FxHashMap<String, Value<'a>>,
    named: FxHashMap<String, NodeId>,
    /// Nodes that are still empty.
    waiting: VecDeque<(NodeId, Value<'a>)>,
    schema: Schema,
}

impl<'a> SchemaReader<'a> {
    fn new(schemas: Value<'a>) -> SchemaReader<'a> {
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
    fn kind(&mut self, kind: String, node: NodeId) {
        self.schema.kinds.insert(kind, node);
    }

    /// Reads all schemas that the kinds refer to.
    fn finish(mut self) -> Schema {
        while let Some((node, schema)) = self.waiting.pop_front() {
            self.fill(node, schema);
        }
        self.schema
    }

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
