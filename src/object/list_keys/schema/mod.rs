//! The lists in an API server's schema: the `OpenAPI` v3 document of a group version
//! (`/openapi/v3/apis/GROUP/VERSION`), reduced to its lists.
//!
//! A document is a graph with cycles: the schema of schemas has a field of its own type. So this is a graph too,
//! with one node per schema, and look-ups follow it only as deep as an object is.

mod node;
mod read;
#[cfg(any(test, feature = "testing"))]
mod testing;

use std::sync::Arc;

use crate::object::path::{Path, Step};
use crate::object::value::Value;

use node::NodeId;
pub use node::{ListType, Schema};
use read::SchemaReader;

/// The lists of one kind in a schema.
#[derive(Clone, Debug)]
pub(super) struct KindSchema {
    schema: Arc<Schema>,
    root: NodeId,
}

impl KindSchema {
    /// The type of the list at `path`.
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
