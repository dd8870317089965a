//! Identity and versions of objects, as the API server hands them out.

use std::fmt;
use std::sync::Arc;

/// The `metadata.uid` of an object: its identity.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Uid(Arc<str>);

impl Uid {
    /// Wraps a uid as it stands in an object.
    pub fn new(uid: impl Into<Arc<str>>) -> Uid {
        Uid(uid.into())
    }

    /// The uid as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A `resourceVersion`: opaque, and compared for equality alone
/// (<https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions>).
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ResourceVersion(Arc<str>);

impl ResourceVersion {
    /// Wraps a resourceVersion as it stands in an object or a list.
    pub fn new(version: impl Into<Arc<str>>) -> ResourceVersion {
        ResourceVersion(version.into())
    }

    /// The resourceVersion as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ResourceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ResourceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
