//! What a source is: the key under which subscribers share it.

use std::sync::Arc;

use super::select::Select;
use crate::object::{ObjectRef, Resource};

/// Which cluster a source reads: the name of a context, or of a file. Views show it, and two
/// sources of different clusters are never one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClusterId(pub Arc<str>);

/// Where a source looks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// All namespaces, or a cluster-scoped resource.
    Cluster,
    /// One namespace.
    Namespace(Arc<str>),
}

/// How much of each object a source asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// The whole object.
    Full,
    /// `apiVersion`, `kind` and `metadata` (meta/v1 `PartialObjectMetadata`).
    Metadata,
}

/// One upstream. Equal keys share it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceKey {
    /// Which cluster.
    pub cluster: ClusterId,
    /// Which resource.
    pub resource: Resource,
    /// Which namespaces.
    pub scope: Scope,
    /// Which objects.
    pub select: Select,
    /// How much of each object.
    pub form: Form,
}

impl SourceKey {
    /// The object that the key names, there or not; `None` if it names none.
    pub fn named_object(&self) -> Option<ObjectRef> {
        Some(ObjectRef {
            api_version: self.resource.api_version().into(),
            kind: self.resource.kind.clone(),
            namespace: self.namespace().map(Into::into),
            name: self.select.name()?.into(),
            uid: None,
        })
    }

    /// The namespace of the request path; `None` for all.
    pub fn namespace(&self) -> Option<&str> {
        match &self.scope {
            Scope::Cluster => None,
            Scope::Namespace(namespace) => Some(namespace),
        }
    }
}
