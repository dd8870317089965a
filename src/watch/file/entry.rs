//! One object of a file.

use std::sync::Arc;

use crate::object::{Doc, ObjectRef, Uid};
use crate::watch::envelope::Verb;

/// One object of the file, and where it is.
#[derive(Debug)]
pub(super) struct FileEntry {
    /// What happened to it; `None` if it exists from the start.
    pub(super) verb: Option<Verb>,
    pub(super) object: ObjectRef,
    pub(super) doc: Doc,
    pub(super) line: usize,
    /// Whether it has no name of its own, only a number in its text.
    pub(super) is_nameless: bool,
    /// Why no source can read the object, if that is so.
    pub(super) unreadable: Option<Arc<str>>,
}

/// A kind of objects: `apiVersion` and `kind`.
pub(super) type KindOf = (Arc<str>, Arc<str>);

/// The key of an object within a file: its `apiVersion`, its kind and its identity.
pub(super) type EntryKey = (Arc<str>, Arc<str>, Uid);

/// The `apiVersion` and kind of an object.
pub(super) fn kind_of(object: &ObjectRef) -> KindOf {
    (object.api_version.clone(), object.kind.clone())
}

/// The key of an object within the file.
pub(super) fn entry_key(object: &ObjectRef) -> EntryKey {
    let (api_version, kind) = kind_of(object);
    (api_version, kind, object.identity())
}
