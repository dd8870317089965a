//! The objects at a revision.

use std::sync::Arc;

use super::past_event::Presence;
use super::revision::Revision;
use crate::source::Version;

/// An object at a revision.
#[derive(Clone, Debug)]
pub(in crate::watch) struct ObjectAt {
    /// The revision.
    pub(in crate::watch) at: Revision,
    /// The object; `None` if it does not exist.
    pub(in crate::watch) there: Presence,
}

/// The objects of a source at a revision.
#[derive(Clone, Debug)]
pub struct ObjectsAt {
    /// The revision.
    pub at: Revision,
    /// All objects of the source.
    pub objects: Vec<Arc<Version>>,
}
