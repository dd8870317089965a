//! What there is at a revision.

use std::sync::Arc;

use super::past_event::Presence;
use super::revision::Revision;
use crate::source::Version;

/// What an object is at a revision.
#[derive(Clone, Debug)]
pub(in crate::watch) struct ObjectAt {
    /// The revision.
    pub(in crate::watch) at: Revision,
    /// The object.
    pub(in crate::watch) there: Presence,
}

/// What there is at a revision.
#[derive(Clone, Debug)]
pub struct ObjectsAt {
    /// The revision.
    pub at: Revision,
    /// All objects of a source.
    pub objects: Vec<Arc<Version>>,
}
