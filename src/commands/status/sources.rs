//! Which sources `status` follows, and which of them have been read.

use std::sync::Arc;

use crate::commands::sources::named;
use crate::graph::{Selection, children_of_kind};
use crate::object::{ObjectRef, SourceState, Value};
use crate::watch::{Event, Form, Scope, Select, SourceKey};

/// The sources that are followed: those that were asked for, then those of dependents.
#[derive(Debug)]
pub(super) struct Wanted {
    asked: usize,
    sources: Vec<Followed>,
}

#[derive(Debug)]
struct Followed {
    key: SourceKey,
    heard: Heard,
}

/// How much of a source has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// Nothing yet, or not all.
    Part,
    /// It does not answer.
    Silence {
        /// How often it was asked in vain.
        attempts: u32,
        /// What the last try failed with.
        cause: Arc<str>,
    },
    /// Everything it had when it was asked, and all changes since.
    All,
    /// It cannot be read.
    Refused,
}

impl Wanted {
    /// The sources that were asked for.
    pub(super) fn new(asked: Vec<SourceKey>) -> Wanted {
        let mut wanted = Wanted {
            asked: 0,
            sources: Vec::new(),
        };
        for key in asked {
            wanted.add(key);
        }
        wanted.asked = wanted.sources.len();
        wanted
    }

    /// The keys, those that were asked for first.
    pub(super) fn keys(&self) -> impl Iterator<Item = &SourceKey> {
        self.sources.iter().map(|source| &source.key)
    }

    /// The keys that were asked for.
    pub(super) fn asked(&self) -> impl Iterator<Item = &SourceKey> {
        self.keys().take(self.asked)
    }

    /// Which of the sources that were asked for this is, if it is one.
    pub(super) fn asked_index(&self, key: &SourceKey) -> Option<usize> {
        self.asked().position(|asked| asked == key)
    }

    /// Whether the requested source at this index has been read.
    pub(super) fn is_read(&self, asked: usize) -> bool {
        let source = self.sources.get(asked);
        source.is_some_and(|source| source.heard == Heard::All)
    }

    /// Whether the source that was asked for at this place may find any number of objects, and not just
    /// the one it names.
    pub(super) fn is_wide(&self, asked: usize) -> bool {
        let source = self.sources.get(asked);
        source.is_none_or(|source| named(&source.key).is_none())
    }

    /// How much of each source has been read.
    pub(super) fn heard(&self) -> impl Iterator<Item = &Heard> {
        self.sources.iter().map(|source| &source.heard)
    }

    /// Notes the effect of an event on its source.
    pub(super) fn note(&mut self, key: &SourceKey, event: &Event) {
        let source = self.sources.iter_mut().find(|source| source.key == *key);
        let Some(source) = source else { return };
        source.heard = match (event, &source.heard) {
            (Event::Synced { .. }, _) => Heard::All,
            (Event::State(state), Heard::Part | Heard::Silence { .. } | Heard::Refused) => {
                of_state(state)
            }
            _ => return,
        };
    }

    /// Replaces the sources of dependents; returns those that are followed no longer.
    pub(super) fn set_dependents(
        &mut self,
        keys: impl IntoIterator<Item = SourceKey>,
    ) -> Vec<SourceKey> {
        let mut before = self.sources.split_off(self.asked);
        for key in keys {
            match before.iter().position(|source| source.key == key) {
                Some(at) => self.sources.push(before.swap_remove(at)),
                None => self.add(key),
            }
        }
        before.into_iter().map(|source| source.key).collect()
    }

    fn add(&mut self, key: SourceKey) {
        if !self.keys().any(|known| *known == key) {
            self.sources.push(Followed {
                key,
                heard: Heard::Part,
            });
        }
    }
}

/// How much is read of a source in this state that has not synced.
fn of_state(state: &SourceState) -> Heard {
    match state {
        SourceState::Connecting
        | SourceState::Live
        | SourceState::Polling { .. }
        | SourceState::Ended => Heard::Part,
        SourceState::Retrying { attempt, cause, .. } => Heard::Silence {
            attempts: *attempt,
            cause: cause.clone(),
        },
        SourceState::Forbidden { .. }
        | SourceState::Unserved { .. }
        | SourceState::Failed { .. } => Heard::Refused,
    }
}

/// Where the dependents of an object are found.
pub(super) fn dependents(asked: &SourceKey, object: Value<'_>) -> Vec<SourceKey> {
    let reference = ObjectRef::of(object);
    if &*reference.kind == "Service" {
        return Vec::new(); // what it selects it does not own
    }
    let kinds = children_of_kind(&reference.group_kind()).unwrap_or_default();
    let source = |kind: &crate::graph::ChildKind| {
        let select = match kind.selection(object) {
            Selection::Labels(labels) => Select::labelled(&labels),
            Selection::All => Select::All,
            Selection::Nothing => return None,
        };
        Some(SourceKey {
            cluster: asked.cluster.clone(),
            resource: kind.resource(),
            scope: reference
                .namespace
                .clone()
                .map_or(Scope::Cluster, Scope::Namespace),
            select,
            form: Form::Full,
        })
    };
    kinds.iter().filter_map(source).collect()
}
