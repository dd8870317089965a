//! `KnownState`: the objects of a source as an earlier run knew them, from which a watch resumes.

use std::sync::Arc;

use jiff::Timestamp;

use super::source::SharedSource;
use crate::object::ResourceVersion;
use crate::source::Version;

/// The objects of a source at a version. A source that starts with them does not list, but watches from that version. The
/// server then sends what happened since, or the source lists and reads back what it missed.
#[derive(Clone, Debug)]
pub struct KnownState {
    /// The version.
    pub version: ResourceVersion,
    /// The objects, and when each arrived.
    pub objects: Vec<(Arc<Version>, Timestamp)>,
}

impl SharedSource {
    /// Starts from a known state.
    pub(super) fn resume(&self, known: KnownState) {
        let mut inner = self.lock();
        inner.store.restore(known.objects);
        inner.version = Some(known.version);
        inner.epoch = 1;
    }
}
