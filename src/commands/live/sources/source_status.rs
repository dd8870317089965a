//! `SourceStatus`: the state of one source of a verb, and what it means.

use std::sync::Arc;

use jiff::Timestamp;

use super::cluster_states::FailedAttempt;
use super::words::{ClusterNamespace, Need, Note, UnreadPart, named};
use crate::source::{SourceKey, SourceState};

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
            || (was.name() == state.name() && was.cause() == state.cause());
        (!quiet).then(|| Note {
            source: self.key.to_string(),
            state: state.name(),
            cause: state.cause().cloned(),
        })
    }

    /// Whether no listing can be expected any more.
    pub(super) fn is_hopeless(&self) -> bool {
        is_refused(&self.state) || self.state.is_given_up()
    }

    /// Why it could not be read, or no longer can be; `None` if it is readable.
    pub(super) fn unread(&self) -> Option<UnreadPart> {
        match &self.state {
            SourceState::Forbidden { cause } | SourceState::Failed { cause }
                if self.need == Need::Vital =>
            {
                Some(UnreadPart::Requested(cause.to_string()))
            }
            SourceState::Forbidden { cause } | SourceState::Failed { cause }
                if self.need == Need::Decisive =>
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
        UnreadPart::Late(self.key.to_string())
    }

    /// Whether the server denies access to it.
    pub(super) fn is_forbidden(&self) -> bool {
        matches!(self.state, SourceState::Forbidden { .. })
    }

    /// Its namespace, and the cluster of that.
    pub(super) fn namespace(&self) -> Option<ClusterNamespace> {
        Some((self.key.cluster.clone(), self.key.namespace()?.into()))
    }

    /// The last failed attempt to read it; `None` if it does not retry.
    pub(super) fn failed_attempt(&self) -> Option<FailedAttempt> {
        let SourceState::Retrying {
            attempt,
            cause,
            until,
            ..
        } = &self.state
        else {
            return None;
        };
        Some(FailedAttempt {
            attempt: *attempt,
            cause: cause.clone(),
            until: *until,
            may_pass: true,
        })
    }

    /// Whether the server refuses it and another source of its type in the same words.
    pub(super) fn is_refused_like(&self, other: &SourceKey, state: &SourceState) -> bool {
        self.key.cluster == other.cluster
            && self.key.resource == other.resource
            && is_refused(&self.state)
            && self.state.cause() == state.cause()
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
