//! `CompactedWrite`: a write in the window that is not shown, because the server has compacted the versions before the first
//! one that is left. The object itself shows that the write lies in the window.

use std::collections::HashSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::source_past::PastVersion;
use super::walk::Walker;
use crate::commands::changes::shown::ShownVersions;
use crate::object::managed_fields::newest_time;
use crate::object::{NamespacedName, ObjectRef, Value};
use crate::source::{Version, Why};
use crate::watch::{Revision, is_surely_before};

/// A write that is known only by its result.
#[derive(Clone, Debug)]
pub(crate) struct CompactedWrite {
    /// The object.
    pub(crate) object: Arc<ObjectRef>,
    /// Whether the object was created in the window. Otherwise its first known version is a change.
    pub(crate) is_creation: bool,
}

impl CompactedWrite {
    /// Whether it is a change for `--exit-code`. Nobody knows who made it, and what a change was about.
    pub(crate) fn is_shown(&self, shown: &ShownVersions) -> bool {
        let is_every_path = self.is_creation || shown.filter.is_everything();
        shown.by.is_everyone() && is_every_path
    }
}

impl Walker {
    /// The compacted write of a named object with these versions.
    pub(super) fn compacted_write(&self, versions: &[PastVersion]) -> Option<CompactedWrite> {
        let first = versions.first().filter(|first| is_first_known(first))?;
        self.compacted(&first.event.now)
    }

    /// The compacted writes of a whole kind: its first known versions are among those that were found, and in the listing.
    /// An object whose later changes are shown has only a creation.
    pub(super) fn compacted_writes(
        &self,
        versions: &[PastVersion],
        listed: &[Arc<Version>],
    ) -> Vec<CompactedWrite> {
        if self.reach.time.is_none() && !self.is_bounded() {
            return Vec::new(); // the window has no start
        }
        let name = |version: &Version| version.object.namespaced_name();
        let changed = versions.iter().filter(|version| version.is_change());
        let changed: HashSet<NamespacedName> =
            changed.map(|version| name(&version.event.now)).collect();
        let found = versions.iter().filter(|version| is_first_known(version));
        let found: Vec<&Arc<Version>> = found.map(|version| &version.event.now).collect();
        let known: HashSet<NamespacedName> = found.iter().map(|version| name(version)).collect();
        let is_new = |version: &&Arc<Version>| {
            let name = name(version);
            !known.contains(&name) && !changed.contains(&name)
        };
        let first = found.into_iter().chain(listed.iter().filter(is_new));
        let writes = first.filter_map(|version| self.compacted(version));
        let is_told = |write: &CompactedWrite| {
            write.is_creation || !changed.contains(&write.object.namespaced_name())
        };
        writes.filter(is_told).collect()
    }

    /// The write that a first known version shows, if it lies in the window.
    fn compacted(&self, version: &Version) -> Option<CompactedWrite> {
        let doc = version.doc().ok()?;
        let created = doc.root().time_at(&["metadata", "creationTimestamp"]);
        let is_inside = |time: Timestamp| self.reach.time.is_some_and(|since| time >= since);
        let is_creation = created.is_some_and(is_inside);
        let is_after = match self.reach.time {
            Some(_) => self.written(doc.root()).is_some_and(is_inside),
            None => {
                self.is_bounded() && Revision::parse(&version.version) > Some(self.reach.revision)
            }
        };
        (is_creation || is_after).then(|| CompactedWrite {
            object: version.object.clone(),
            is_creation,
        })
    }

    /// The time of the last write that an object records. A time in the future is a client's.
    fn written(&self, object: Value<'_>) -> Option<Timestamp> {
        let now = self.shown.clock.as_ref().map(|clock| clock());
        let is_forged = |time| now.is_some_and(|now| is_surely_before(now, time));
        newest_time(object).filter(|time| !is_forged(*time))
    }
}

/// Whether the version before this one is not known.
fn is_first_known(version: &PastVersion) -> bool {
    version.event.why == Why::Listed && version.event.prev.is_none()
}
