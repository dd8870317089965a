//! `SourceStatus`: what is known of one source.

use std::sync::Arc;

use jiff::Timestamp;

use super::note::{Need, Note, Unknown};
use super::words::{cause, describe, name, named};
use crate::source::{SourceKey, SourceState};

/// How often a server is tried that has not answered yet.
const TRIES: u32 = 3;

/// What is known of one source.
#[derive(Clone, Debug)]
pub(super) struct SourceStatus {
    pub(super) key: Arc<SourceKey>,
    pub(super) need: Need,
    pub(super) state: SourceState,
    /// It has given a full listing.
    pub(super) synced: bool,
    /// An object of it was there.
    pub(super) met: bool,
    /// That its one object is not there was told.
    pub(super) told_absent: bool,
    /// It was live once: what is shown is from then.
    pub(super) since: Option<Timestamp>,
}

impl SourceStatus {
    /// A source that is about to connect.
    pub(super) fn new(key: Arc<SourceKey>, need: Need) -> SourceStatus {
        SourceStatus {
            key,
            need,
            state: SourceState::Connecting,
            synced: false,
            met: false,
            told_absent: false,
            since: None,
        }
    }

    /// Goes to another state; tells what a user should hear of.
    pub(super) fn enter(&mut self, state: &SourceState, now: Timestamp) -> Option<Note> {
        let was = std::mem::replace(&mut self.state, state.clone());
        if *state == SourceState::Live {
            self.since.get_or_insert(now);
        }
        let quiet = matches!(state, SourceState::Connecting | SourceState::Ended)
            || (was == SourceState::Connecting && *state == SourceState::Live)
            || (name(&was) == name(state) && cause(&was) == cause(state));
        (!quiet).then(|| Note {
            source: describe(&self.key),
            state: name(state),
            cause: cause(state).cloned(),
        })
    }

    /// Whether nothing is to be expected of it any more.
    pub(super) fn is_hopeless(&self) -> bool {
        is_refused(&self.state) || is_given_up(&self.state)
    }

    /// What of it cannot be read, or no longer.
    pub(super) fn unread(&self) -> Option<Unknown> {
        match &self.state {
            SourceState::Retrying { cause, .. }
            | SourceState::Forbidden { cause }
            | SourceState::Unserved { cause }
            | SourceState::Failed { cause } => Some(Unknown::Refused(cause.to_string())),
            SourceState::Connecting
            | SourceState::Live
            | SourceState::Polling { .. }
            | SourceState::Ended => (!self.synced).then(|| self.late()),
        }
    }

    /// It has not told all it has in time.
    pub(super) fn late(&self) -> Unknown {
        Unknown::Late(describe(&self.key))
    }

    /// Whether the server does not let us read it.
    pub(super) fn is_forbidden(&self) -> bool {
        matches!(self.state, SourceState::Forbidden { .. })
    }

    /// Whether it is about one object that was asked for and was never there.
    pub(super) fn is_absent(&self) -> bool {
        self.need == Need::Vital && self.synced && !self.met && named(&self.key).is_some()
    }
}

/// Whether a source cannot be read, whatever the server's mood.
pub(super) fn is_refused(state: &SourceState) -> bool {
    match state {
        SourceState::Forbidden { .. }
        | SourceState::Unserved { .. }
        | SourceState::Failed { .. } => true,
        SourceState::Connecting
        | SourceState::Live
        | SourceState::Retrying { .. }
        | SourceState::Polling { .. }
        | SourceState::Ended => false,
    }
}

/// Whether a server has been tried often enough.
pub(super) fn is_given_up(state: &SourceState) -> bool {
    matches!(state, SourceState::Retrying { attempt, .. } if *attempt >= TRIES)
}
