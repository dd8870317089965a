//! `SourceStatus`: the known facts about one source.

use std::sync::Arc;

use jiff::Timestamp;

use super::note::{Need, Note, UnreadPart};
use super::words::{cause, describe, name, named};
use crate::source::{SourceKey, SourceState};

/// How many times to try a server that has not answered yet.
const TRIES: u32 = 3;
/// The same of a server that asks for a later attempt: it will answer.
const TRIES_IF_THROTTLED: u32 = 6;

/// The known facts about one source.
#[derive(Clone, Debug)]
pub(super) struct SourceStatus {
    pub(super) key: Arc<SourceKey>,
    pub(super) need: Need,
    pub(super) state: SourceState,
    /// Whether it has delivered a full listing.
    pub(super) synced: bool,
    /// Whether it has ever had an object.
    pub(super) met: bool,
    /// Whether the absence of its one object was reported.
    pub(super) reported_absent: bool,
    /// When it first went live; `None` before that.
    pub(super) since: Option<Timestamp>,
}

impl SourceStatus {
    /// A source that is connecting.
    pub(super) fn new(key: Arc<SourceKey>, need: Need) -> SourceStatus {
        SourceStatus {
            key,
            need,
            state: SourceState::Connecting,
            synced: false,
            met: false,
            reported_absent: false,
            since: None,
        }
    }

    /// Enters another state. Returns a note if the user should know.
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

    /// Whether no listing can be expected any more.
    pub(super) fn is_hopeless(&self) -> bool {
        is_refused(&self.state) || is_given_up(&self.state)
    }

    /// Why it could not be read, or no longer can be; `None` if it is readable.
    pub(super) fn unread(&self) -> Option<UnreadPart> {
        match &self.state {
            SourceState::Forbidden { cause } | SourceState::Failed { cause }
                if self.need != Need::Useful =>
            {
                Some(UnreadPart::Undecided(cause.to_string()))
            }
            SourceState::Retrying { cause, .. }
            | SourceState::Forbidden { cause }
            | SourceState::Unserved { cause }
            | SourceState::Failed { cause } => Some(UnreadPart::Refused(cause.to_string())),
            SourceState::Connecting
            | SourceState::Live
            | SourceState::Polling { .. }
            | SourceState::Ended => (!self.synced).then(|| self.late()),
        }
    }

    /// The error for a source that has not delivered its listing in time.
    pub(super) fn late(&self) -> UnreadPart {
        UnreadPart::Late(describe(&self.key))
    }

    /// Whether the server denies access to it.
    pub(super) fn is_forbidden(&self) -> bool {
        matches!(self.state, SourceState::Forbidden { .. })
    }

    /// Whether the server refuses it and another source of its type in the same words.
    pub(super) fn is_refused_like(&self, other: &SourceKey, state: &SourceState) -> bool {
        self.key.resource == other.resource
            && is_refused(&self.state)
            && cause(&self.state) == cause(state)
    }

    /// Whether it is vital, for one named object, and the object never existed.
    pub(super) fn is_absent(&self) -> bool {
        self.need == Need::Vital && self.synced && !self.met && named(&self.key).is_some()
    }
}

/// Whether a source cannot be read, even if the server answers.
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
    match state {
        SourceState::Retrying {
            attempt,
            is_throttled,
            ..
        } => {
            *attempt
                >= if *is_throttled {
                    TRIES_IF_THROTTLED
                } else {
                    TRIES
                }
        }
        SourceState::Connecting
        | SourceState::Live
        | SourceState::Polling { .. }
        | SourceState::Forbidden { .. }
        | SourceState::Unserved { .. }
        | SourceState::Failed { .. }
        | SourceState::Ended => false,
    }
}
