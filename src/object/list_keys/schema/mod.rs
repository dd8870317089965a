//! What an API server says of the lists of its kinds: the `OpenAPI` v3 document of a group version
//! (`/openapi/v3/apis/GROUP/VERSION`), reduced to them.
//!
//! A document is a graph, with cycles (a schema for schemas has itself for a field); so is what is made
//! of it, a node a schema, and it is followed only as deep as an object goes.

#[cfg(any(test, feature = "testing"))]
mod lists;
mod node;
mod read;

use std::sync::Arc;

use crate::object::path::{Path, Step};
use crate::object::value::Value;

use node::NodeId;
pub use node::{ListType, Schema};
use read::SchemaReader;

/// What a schema says of one kind.
#[derive(Clone, Debug)]
pub(super) struct KindSchema {
    schema: Arc<Schema>,
    root: NodeId,
}

impl KindSchema {
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

    /// What is known of a kind, if the document has it.
    pub(super) fn known(schema: &Arc<Schema>, kind: &str) -> Option<KindSchema> {
        let root = *schema.kinds.get(kind)?;
        Some(KindSchema {
            schema: schema.clone(),
            root,
        })
    }
}
