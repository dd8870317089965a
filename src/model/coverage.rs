//! `Coverage`: which sources a model follows, and how much of each has been read.

use std::iter;

use crate::object::ResourceVersion;
use crate::source::{Event, SourceKey, SourceState};

/// The sources that a model follows.
#[derive(Debug, Default)]
pub struct Coverage {
    sources: Vec<FollowedSource>,
    /// Whether sources were replaced and the objects of the old ones are not removed yet.
    is_replaced: bool,
    /// The sources that must be read from the start, since the last call of `take_rereads`.
    rereads: Vec<SourceKey>,
}

/// A source that a model follows.
#[derive(Debug)]
struct FollowedSource {
    key: SourceKey,
    reading: Reading,
    /// The version of its listing, as long as that had no objects and no event has come since.
    empty_at: Option<ResourceVersion>,
}

/// How much of a source has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Nothing yet, or a part of the listing.
    Partial,
    /// Nothing: the server does not answer.
    Silent,
    /// The whole listing and all changes since.
    All,
    /// Nothing: the source cannot be read.
    Refused,
}

impl Coverage {
    /// The sources, in the order given to `follow`.
    pub fn sources(&self) -> impl Iterator<Item = &SourceKey> {
        self.sources.iter().map(|source| &source.key)
    }

    /// How much of each source has been read, in the same order.
    pub fn readings(&self) -> impl Iterator<Item = &Reading> {
        self.sources.iter().map(|source| &source.reading)
    }

    /// How much of a source has been read; `None` if the model does not follow it.
    pub fn reading(&self, source: &SourceKey) -> Option<&Reading> {
        let found = self.sources.iter().find(|known| known.key == *source);
        found.map(|found| &found.reading)
    }

    /// The version at which a source had no objects; `None` if it has had any since the listing.
    pub fn empty_at(&self, source: &SourceKey) -> Option<&ResourceVersion> {
        let found = self.sources.iter().find(|known| known.key == *source);
        found.and_then(|found| found.empty_at.as_ref())
    }

    /// How much has been read of a source, or of one with all objects of its namespace or of its cluster.
    pub(super) fn reading_of_all(&self, own: &SourceKey) -> Option<&Reading> {
        let wider = own.wider();
        let mut sources = iter::once(own).chain(&wider);
        sources.find_map(|source| self.reading(source))
    }

    /// Whether a source has been read.
    pub fn is_read(&self, source: &SourceKey) -> bool {
        self.reading(source) == Some(&Reading::All)
    }

    /// Whether every source has been read or cannot be read.
    pub fn is_settled(&self) -> bool {
        let is_settled = |reading: &Reading| matches!(reading, Reading::All | Reading::Refused);
        self.readings().all(is_settled)
    }

    /// Whether every source has been read, cannot be read, or does not answer.
    pub fn has_answers(&self) -> bool {
        self.readings().all(|reading| *reading != Reading::Partial)
    }

    /// Whether a source is among them.
    pub fn follows(&self, source: &SourceKey) -> bool {
        self.sources().any(|known| known == source)
    }

    /// Replaces the sources. A source that stays keeps its reading.
    pub(super) fn follow(&mut self, sources: Vec<SourceKey>) {
        let mut before = std::mem::take(&mut self.sources);
        for source in sources {
            if self.follows(&source) {
                continue;
            }
            let known = before.iter().position(|known| known.key == source);
            let entry = known.map(|at| before.swap_remove(at));
            self.sources.push(entry.unwrap_or_else(|| {
                self.rereads.push(source.clone());
                FollowedSource {
                    key: source,
                    reading: Reading::Partial,
                    empty_at: None,
                }
            }));
        }
        self.is_replaced |= !before.is_empty();
    }

    /// Forgets that a source was read.
    pub(super) fn reread(&mut self, source: &SourceKey) {
        for followed in &mut self.sources {
            if followed.key == *source {
                followed.reading = Reading::Partial;
                self.rereads.push(source.clone());
            }
        }
    }

    /// The sources that must be read from the start: those that are new, and those whose reading was forgotten.
    pub(super) fn take_rereads(&mut self) -> Vec<SourceKey> {
        std::mem::take(&mut self.rereads)
    }

    /// Whether sources were replaced and all followed sources have answered. True once for each replacement.
    pub(super) fn take_replaced(&mut self) -> bool {
        let is_due = self.is_replaced && self.has_answers();
        self.is_replaced &= !is_due;
        is_due
    }

    /// Records the effect of an event on its source. Returns whether the model follows the source.
    pub(super) fn apply(&mut self, source: &SourceKey, event: &Event) -> bool {
        let mut sources = self.sources.iter_mut();
        let Some(known) = sources.find(|known| known.key == *source) else {
            return false;
        };
        match event {
            Event::Synced { count, version, .. } => {
                known.reading = Reading::All;
                known.empty_at = (*count == 0).then(|| version.clone());
            }
            Event::Object { .. } => known.empty_at = None,
            Event::State(state) if known.reading != Reading::All => {
                known.reading = Reading::of(state);
            }
            Event::State(_) | Event::Gap(_) | Event::Undecodable { .. } => {}
        }
        true
    }
}

impl Reading {
    /// The reading of a source in this state that has not delivered a full listing.
    fn of(state: &SourceState) -> Reading {
        match state {
            SourceState::Connecting
            | SourceState::Live
            | SourceState::Polling { .. }
            | SourceState::Ended => Reading::Partial,
            SourceState::Retrying { .. } => Reading::Silent,
            SourceState::Forbidden { .. }
            | SourceState::Unserved { .. }
            | SourceState::Failed { .. } => Reading::Refused,
        }
    }
}
