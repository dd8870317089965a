//! What is known of one object besides its versions: when it was deleted, and when it was there.

use std::collections::BTreeSet;

use super::read::Archive;
use super::replay::{Asked, Replay};
use super::revision::Revision;
use crate::watch::envelope::Verb;

/// What the watch cache has told of one object.
#[derive(Debug, Default)]
pub(super) struct Ring {
    /// From this revision on it has every event; `None` if it is not known to reach back.
    pub(super) reaches: Option<Revision>,
    /// At which revisions the object was deleted, or ceased to match.
    deletions: BTreeSet<Revision>,
    /// Revisions at which it is known to be there.
    present: BTreeSet<Revision>,
}

impl Ring {
    /// What is known without the server's ring.
    pub(super) fn known(present: BTreeSet<Revision>) -> Ring {
        Ring {
            present,
            ..Ring::default()
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

    /// Reads the events that are asked for, or as far back as they go.
    pub(super) async fn read(archive: &Archive, asked: Asked) -> Ring {
        let Some(replay) = Replay::read(archive, asked).await else {
            return Ring::default();
        };
        let deleted = replay.events.iter();
        let deleted = deleted.filter(|event| event.verb == Verb::Deleted);
        Ring {
            reaches: Some(replay.reaches),
            deletions: deleted.map(|event| event.at).collect(),
            present: BTreeSet::new(),
        }
    }
}
