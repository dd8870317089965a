//! `Coverage`: which sources a model follows, and how much of each has been read.

use std::sync::Arc;

use crate::source::{Event, SourceKey, SourceState};

/// The sources that are followed.
#[derive(Debug, Default)]
pub struct Coverage {
    sources: Vec<(SourceKey, Reading)>,
    /// Whether sources were replaced, and what they showed is not removed yet.
    is_replaced: bool,
}

/// How much of a source has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Nothing yet, or a part.
    Partial,
    /// Nothing: it does not answer.
    Silent {
        /// How many attempts have failed.
        attempts: u32,
        /// The error of the last one.
        cause: Arc<str>,
    },
    /// All that it had when it was listed, and all changes since.
    All,
    /// Nothing: it cannot be read.
    Refused,
}

impl Coverage {
    /// The sources, in the order in which they were asked for.
    pub fn sources(&self) -> impl Iterator<Item = &SourceKey> {
        self.sources.iter().map(|(source, _)| source)
    }

    /// How much of each source has been read, in the same order.
    pub fn readings(&self) -> impl Iterator<Item = &Reading> {
        self.sources.iter().map(|(_, reading)| reading)
    }

    /// How much of a source has been read; `None` if it is not followed.
    pub fn reading(&self, source: &SourceKey) -> Option<&Reading> {
        let found = self.sources.iter().find(|(known, _)| known == source);
        found.map(|(_, reading)| reading)
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

    pub(super) fn follows(&self, source: &SourceKey) -> bool {
        self.sources().any(|known| known == source)
    }

    /// Replaces the sources. What is known of those that stay is kept.
    pub(super) fn follow(&mut self, sources: Vec<SourceKey>) {
        let mut before = std::mem::take(&mut self.sources);
        for source in sources {
            if self.follows(&source) {
                continue;
            }
            let known = before.iter().position(|(known, _)| *known == source);
            let entry = known.map(|at| before.swap_remove(at));
            self.sources
                .push(entry.unwrap_or((source, Reading::Partial)));
        }
        self.is_replaced |= !before.is_empty();
    }

    /// Whether sources were replaced and all that are followed are read by now. True once for each replacement.
    pub(super) fn take_replaced(&mut self) -> bool {
        let is_due = self.is_replaced && self.has_answers();
        self.is_replaced &= !is_due;
        is_due
    }

    /// Notes what an event says about its source. Returns whether the source is followed.
    pub(super) fn apply(&mut self, source: &SourceKey, event: &Event) -> bool {
        let mut sources = self.sources.iter_mut();
        let Some((_, reading)) = sources.find(|(known, _)| known == source) else {
            return false;
        };
        match event {
            Event::Synced { .. } => *reading = Reading::All,
            Event::State(state) if *reading != Reading::All => *reading = Reading::of(state),
            Event::State(_) | Event::Object { .. } | Event::Gap(_) | Event::Undecodable { .. } => {}
        }
        true
    }
}

impl Reading {
    /// How much is read of a source in this state that has given no full listing.
    fn of(state: &SourceState) -> Reading {
        match state {
            SourceState::Connecting
            | SourceState::Live
            | SourceState::Polling { .. }
            | SourceState::Ended => Reading::Partial,
            SourceState::Retrying { attempt, cause, .. } => Reading::Silent {
                attempts: *attempt,
                cause: cause.clone(),
            },
            SourceState::Forbidden { .. }
            | SourceState::Unserved { .. }
            | SourceState::Failed { .. } => Reading::Refused,
        }
    }
}
