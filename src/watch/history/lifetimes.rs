//! What is known of one object besides its versions: when it was deleted, and when it was there.

use std::collections::BTreeSet;

use super::read::Archive;
use super::replay::Replay;
use super::revision::{Revision, Span};
use crate::watch::envelope::Verb;

/// When one object was there, as far as is known without reading it.
#[derive(Debug, Default)]
pub(super) struct Lifetimes {
    /// From this revision on the watch cache has shown every event; `None` if it has not been read.
    pub(super) reaches: Option<Revision>,
    /// At which revisions the object was deleted, or ceased to match.
    deletions: BTreeSet<Revision>,
    /// Revisions at which it is known to be there.
    present: BTreeSet<Revision>,
}

impl Lifetimes {
    /// What is known without the watch cache.
    pub(super) fn known(present: BTreeSet<Revision>) -> Lifetimes {
        Lifetimes {
            present,
            ..Lifetimes::default()
        }
    }

    /// The newest revision before `at` at which it is known to be there.
    pub(super) fn present(&self, at: Revision) -> Option<Revision> {
        self.present.range(..at).next_back().copied()
    }

    /// The newest deletion that is not newer than `at`.
    pub(super) fn deletion(&self, at: Revision) -> Option<Revision> {
        self.deletions.range(..=at).next_back().copied()
    }

    /// Reads the deletions of a span from the watch cache, or as far back as they go.
    pub(super) async fn read(archive: &Archive, span: Span) -> Lifetimes {
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
