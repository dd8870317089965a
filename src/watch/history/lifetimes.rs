//! The lifetimes of one object, as far as they are known without reading its versions: where it was deleted, and
//! where it existed.

use std::collections::BTreeSet;

use super::read::Archive;
use super::replay::Replay;
use super::revision::{Revision, RevisionSpan};
use crate::watch::envelope::Verb;

/// The lifetimes of one object, as far as they are known without reading it.
#[derive(Debug, Default)]
pub(super) struct Lifetimes {
    /// From this revision on, the watch cache has every event; `None` if it was not read.
    pub(super) reaches: Option<Revision>,
    /// The revisions at which the object was deleted, or stopped matching.
    deletions: BTreeSet<Revision>,
    /// Revisions at which the object is known to exist.
    present: BTreeSet<Revision>,
}

impl Lifetimes {
    /// Creates a value without reading the watch cache.
    pub(super) fn known(present: BTreeSet<Revision>) -> Lifetimes {
        Lifetimes {
            present,
            ..Lifetimes::default()
        }
    }

    /// The newest revision before `at` at which the object is known to exist.
    pub(super) fn present(&self, at: Revision) -> Option<Revision> {
        self.present.range(..at).next_back().copied()
    }

    /// The newest deletion that is not after `at`.
    pub(super) fn deletion(&self, at: Revision) -> Option<Revision> {
        self.deletions.range(..=at).next_back().copied()
    }

    /// Reads the deletions of a span from the watch cache, as far back as the cache reaches.
    pub(super) async fn read(archive: &Archive, span: RevisionSpan) -> Lifetimes {
        let Some(replay) = Replay::read(archive, span, None).await else {
            return Lifetimes::default();
        };
        let deleted = replay.events.iter();
        let deleted = deleted.filter(|event| event.verb == Verb::Deleted);
        Lifetimes {
            reaches: Some(replay.reaches),
            deletions: deleted.map(|event| event.at).collect(),
            present: BTreeSet::new(),
        }
    }
}
