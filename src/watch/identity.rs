//! What tells an object from others.

use std::sync::Arc;

use crate::object::{ObjectRef, Uid};

/// Where an object stands: its namespace and name.
pub(super) type Name = (Option<Arc<str>>, Arc<str>);

/// What tells an object from others: its uid; its place and name where it has none, as in a manifest
/// that no server has seen. The two cannot be mixed up, as no uid has a `/`.
pub fn identity(object: &ObjectRef) -> Uid {
    object.uid.clone().unwrap_or_else(|| {
        let namespace = object.namespace.as_deref().unwrap_or_default();
        Uid::new(format!("{namespace}/{}", object.name))
    })
}

pub(super) fn name(object: &ObjectRef) -> Name {
    (object.namespace.clone(), object.name.clone())
}
