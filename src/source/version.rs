//! `Version`: one version of one object.

use std::fmt;
use std::sync::Arc;

use super::body::{Body, Packer};
use crate::object::{Doc, ObjectRef, ParseError, ResourceVersion};

/// One version of one object: its identity and its text, shared and immutable.
#[derive(Clone)]
pub struct Version {
    /// The object, uid included.
    pub object: Arc<ObjectRef>,
    /// Its `metadata.resourceVersion`.
    pub version: ResourceVersion,
    /// The object's JSON, `apiVersion` and `kind` included.
    pub body: Body,
}

impl Version {
    /// Parses the object; a version from a watch is parsed already. Only the start of a listed item was read
    /// before, so this call also checks that the whole text has the same type.
    pub fn doc(&self) -> Result<Doc, ParseError> {
        self.doc_after(None)
    }

    /// Like [`Version::doc`], and faster the more the text has in common with `previous`.
    pub fn doc_after(&self, previous: Option<&Doc>) -> Result<Doc, ParseError> {
        let doc = match (self.body.read(), previous) {
            (Some(doc), _) => return Ok(doc.clone()),
            (None, Some(previous)) => Doc::parse_after(self.body.clone(), previous)?,
            (None, None) => Doc::parse(self.body.clone())?,
        };
        if self.object.has_type_of(doc.root()) {
            Ok(doc)
        } else {
            Err(ParseError::TwoTypes)
        }
    }

    /// Whether both hold the same state of one object, even if they come from two histories.
    pub(crate) fn is_same(self: &Arc<Version>, other: &Arc<Version>) -> bool {
        let is_equal = || self.version == other.version && self.body == other.body;
        Arc::ptr_eq(self, other) || is_equal()
    }

    /// This version as a store keeps it: packed if there is a packer.
    pub(crate) fn kept(self, packer: Option<&mut Packer>) -> Arc<Version> {
        Arc::new(match packer {
            Some(packer) => self.packed(packer, None),
            None => self,
        })
    }

    /// This version without the tape of its parsed text, which is larger than the text.
    pub(crate) fn without_tape(&self) -> Version {
        Version {
            body: self.body.without_tape(),
            ..self.clone()
        }
    }

    /// This version with the packed text of the one that a store keeps, if it is parsed and that one is packed.
    pub(crate) fn with_packed(self: Arc<Version>, kept: &Version) -> Arc<Version> {
        match self.body.with_packed(&kept.body) {
            Some(body) => Arc::new(Version {
                body,
                ..Version::clone(&self)
            }),
            None => self,
        }
    }

    /// This version with a packed body. `before` is the body of the object's last version.
    pub(crate) fn packed(&self, packer: &mut Packer, before: Option<&Body>) -> Version {
        Version {
            body: packer.pack(&self.body, before),
            ..self.clone()
        }
    }
}

/// Prints no text, because it may be a Secret's.
impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Version")
            .field("object", &self.object)
            .field("version", &self.version)
            .field("body", &self.body)
            .finish()
    }
}
