//! How far back is far enough: what a walk finds, weighed as it comes.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::diff::{Diff, Filter, Noise};
use crate::object::Doc;
use crate::object::managed_fields::Writers;
use crate::render::diff::counts;
use crate::watch::{Past, Presence, Version};

/// Decides how far back is far enough.
pub(super) struct Judge<'l> {
    shows: &'l (Filter, BTreeSet<Noise>),
    since: Option<Timestamp>,
    pub(super) there: Presence,
    /// How many versions will be shown.
    pub(super) shown: usize,
}

impl<'l> Judge<'l> {
    /// Begins with what is there now; what was written before `since` is too old.
    pub(super) fn new(
        there: Presence,
        since: Option<Timestamp>,
        shows: &'l (Filter, BTreeSet<Noise>),
    ) -> Judge<'l> {
        Judge {
            shows,
            since,
            there,
            shown: 0,
        }
    }

    /// Whether it belongs to what is told. What is older than that is not, and is the end.
    pub(super) fn is_wanted(&mut self, past: &Past) -> bool {
        match past {
            Past::Version(older) => {
                let newer = self.there.replace(older.clone());
                let Some(newer) = newer else { return true };
                let (is_shown, time) = self.compare(older, &newer);
                self.shown += usize::from(is_shown);
                self.is_recent(time)
            }
            Past::Created => {
                let newer = self.there.take();
                let time = newer.and_then(|newer| written(None, &newer));
                self.shown += 1;
                self.is_recent(time)
            }
            Past::Deleted(_) => {
                self.shown += 1;
                true
            }
        }
    }

    fn is_recent(&self, time: Option<Timestamp>) -> bool {
        self.since
            .zip(time)
            .is_none_or(|(since, time)| time >= since)
    }

    /// Whether a version shows anything, and when it was written.
    fn compare(&self, old: &Version, new: &Version) -> (bool, Option<Timestamp>) {
        let before = old.doc().ok();
        let both = before.and_then(|before| {
            let doc = new.doc_after(Some(&before)).ok()?;
            Some((before, doc))
        });
        let Some((before, doc)) = both else {
            return (true, None);
        };
        let diff = Diff::of(Some(before.root()), Some(doc.root()));
        let (filter, noise) = self.shows;
        let is_shown = counts(&diff, filter, noise).shown > 0;
        let writers = Writers::of(Some(before.root()), Some(doc.root()));
        (is_shown, writers.time())
    }
}

/// When a version was written, by the server's clock: the newest time in `managedFields` that moved,
/// else the newest there, else the object's creation.
pub(super) fn written(old: Option<&Version>, new: &Version) -> Option<Timestamp> {
    let before = old.and_then(|old| old.doc().ok());
    let doc = new.doc().ok()?;
    let writers = Writers::of(before.as_ref().map(Doc::root), Some(doc.root()));
    writers.time().or_else(|| {
        let created = doc.root().str_at(&["metadata", "creationTimestamp"])?;
        created.parse().ok()
    })
}
