//! One object of a file.

use std::sync::Arc;

use crate::object::{Doc, ObjectRef, Uid};
use crate::watch::envelope::Verb;

/// One object of the file, in its place.
#[derive(Debug)]
pub(super) struct FileEntry {
    /// What happened to it; `None` for one that is there from the start.
    pub(super) verb: Option<Verb>,
    pub(super) object: ObjectRef,
    pub(super) doc: Doc,
    pub(super) line: usize,
    /// Why it is no object that a source can tell of, if it is none.
    pub(super) unreadable: Option<Arc<str>>,
}

/// A kind of objects: `apiVersion` and `kind`.
pub(super) type KindOf = (Arc<str>, Arc<str>);

/// What tells an object of a file from others: its `apiVersion`, its kind and its identity.
pub(super) type Place = (Arc<str>, Arc<str>, Uid);

/// Of which kind an object is.
pub(super) fn kind_of(object: &ObjectRef) -> KindOf {
    (object.api_version.clone(), object.kind.clone())
}

/// The place of an object.
pub(super) fn place(object: &ObjectRef) -> Place {
    let (api_version, kind) = kind_of(object);
    (api_version, kind, object.identity())
}
