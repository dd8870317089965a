//! `Sources`: the state of every source a verb follows, for its footer, its notes and its end.

use std::fmt::Write;
use std::sync::Arc;

use jiff::Timestamp;

use super::CommandError;
use crate::object::SourceState;
use crate::render::age;
use crate::render::style::{Look, Role};
use crate::render::text::escape_line;
use crate::watch::{Event, Scope, SourceKey};

/// How often a server is tried that has not answered yet.
const TRIES: u32 = 3;

/// What is known of one source.
#[derive(Clone, Debug)]
struct Known {
    key: Arc<SourceKey>,
    state: SourceState,
    synced: bool,
    /// It was live once: what is shown is from then.
    since: Option<Timestamp>,
}

impl Known {
    /// Goes to another state; tells what a user should hear of.
    fn enter(&mut self, state: &SourceState, now: Timestamp) -> Option<Note> {
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
    fn is_hopeless(&self) -> bool {
        is_refused(&self.state) || is_given_up(&self.state)
    }

    /// Why it cannot be read, and what to do about it.
    fn error(&self) -> Option<CommandError> {
        let error = CommandError::failed(cause(&self.state)?);
        Some(match &self.state {
            SourceState::Forbidden { .. } => error.hint(can_i(&self.key)),
            _ => error,
        })
    }
}

/// The sources of a verb, in the order they came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    known: Vec<Known>,
}

/// A source that has gone from one state to another, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// The source: `deployments.apps/web in namespace "shop"`.
    pub(crate) source: String,
    /// The state's name: `live`, `retrying`.
    pub(crate) state: &'static str,
    /// Why, where there is a reason.
    pub(crate) cause: Option<Arc<str>>,
}

impl Sources {
    /// Counts a source in: it is connecting until it says otherwise.
    pub(crate) fn add(&mut self, key: &Arc<SourceKey>) {
        if !self.known.iter().any(|known| known.key == *key) {
            self.known.push(Known {
                key: key.clone(),
                state: SourceState::Connecting,
                synced: false,
                since: None,
            });
        }
    }

    /// Forgets a source that is followed no longer.
    pub(crate) fn remove(&mut self, key: &SourceKey) {
        self.known.retain(|known| *known.key != *key);
    }

    /// Notes what an event says of its source. A change of state that a user should hear of is
    /// returned.
    pub(crate) fn apply(
        &mut self,
        key: &Arc<SourceKey>,
        event: &Event,
        now: Timestamp,
    ) -> Option<Note> {
        self.add(key);
        let known = self.known.iter_mut().find(|known| known.key == *key)?;
        match event {
            Event::Synced { .. } => known.synced = true,
            Event::State(state) => return known.enter(state, now),
            Event::Object { .. } | Event::Gap(_) | Event::Undecodable { .. } => {}
        }
        None
    }

    /// Whether every source has either given a full listing, or said that it cannot, or been tried often
    /// enough.
    pub(crate) fn are_settled(&self) -> bool {
        !self.known.is_empty()
            && self
                .known
                .iter()
                .all(|known| known.synced || known.is_hopeless())
    }

    /// The error to end with at once: no source was ever read and none will be, or all of them have
    /// failed for good. Who sees nothing waits for nothing.
    pub(crate) fn refusal(&self) -> Option<CommandError> {
        let never = |known: &Known| !known.synced && known.is_hopeless();
        let failed = |known: &Known| matches!(known.state, SourceState::Failed { .. });
        let all = |is: &dyn Fn(&Known) -> bool| self.known.iter().all(is);
        let error = self.known.first()?.error();
        error.filter(|_| all(&never) || all(&failed))
    }

    /// The error to end with once all that could be read is shown: a source did not answer.
    pub(crate) fn silence(&self) -> Option<CommandError> {
        let silent = |known: &&Known| !known.synced && is_given_up(&known.state);
        self.known.iter().find(silent)?.error()
    }

    /// How many sources there are.
    pub(crate) fn count(&self) -> usize {
        self.known.len()
    }

    /// The sources that cannot be read, each as a line.
    pub(crate) fn refused(&self) -> impl Iterator<Item = String> {
        let refused = self.known.iter().filter(|known| is_refused(&known.state));
        refused.map(|known| {
            let source = describe(&known.key);
            let why = cause(&known.state).map(|cause| escape_line(cause).into_owned());
            format!(
                "{}: {source}: {}",
                name(&known.state),
                why.unwrap_or_default()
            )
        })
    }

    /// The state of them all in a few words: the worst decides.
    pub(crate) fn summary(&self, now: Timestamp, look: Look) -> String {
        let worst = self.known.iter().max_by_key(|known| severity(&known.state));
        let Some(worst) = worst else {
            return String::new();
        };
        let symbols = look.symbols;
        match &worst.state {
            SourceState::Connecting => look
                .styles
                .moving(&format!("{} connecting", symbols.in_progress)),
            SourceState::Live | SourceState::Ended => {
                look.styles
                    .good(&format!("{} {}", symbols.current, name(&worst.state)))
            }
            SourceState::Polling { .. } => look
                .styles
                .moving(&format!("{} polling", symbols.in_progress)),
            SourceState::Retrying {
                attempt,
                cause,
                until,
            } => {
                let wait = age::human(until.duration_since(now).max(jiff::SignedDuration::ZERO));
                let old = worst
                    .since
                    .map_or(String::new(), |_| " (what is shown may be old)".to_owned());
                let text = format!(
                    "{} reconnecting, try {attempt} in {wait}{old}: {}",
                    symbols.failed,
                    escape_line(cause)
                );
                look.styles.bad(&text)
            }
            SourceState::Forbidden { .. }
            | SourceState::Unserved { .. }
            | SourceState::Failed { .. } => {
                let bad = self.refused().count();
                let text = format!(
                    "{} {} of {} not readable",
                    symbols.failed,
                    bad,
                    self.count()
                );
                look.styles.paint(Role::Warning, &text)
            }
        }
    }
}

/// What a source is called in messages: `deployments.apps/web in namespace "shop"`.
pub(crate) fn describe(key: &SourceKey) -> String {
    let mut text = key.resource.group_resource();
    if let Some(name) = named(key) {
        text.push('/');
        text.push_str(name);
    }
    if let Scope::Namespace(namespace) = &key.scope {
        let _infallible = write!(text, " in namespace \"{namespace}\"");
    }
    for (what, selector) in [("labels", &key.labels), ("fields", &key.fields)] {
        if let Some(selector) = selector.as_deref().filter(|_| named(key).is_none()) {
            let _infallible = write!(text, " with {what} {selector}");
        }
    }
    text
}

/// The name of the one object that a source is about, if it is about one.
pub(crate) fn named(key: &SourceKey) -> Option<&str> {
    key.fields
        .as_deref()?
        .strip_prefix("metadata.name=")
        .filter(|name| !name.contains(','))
}

fn can_i(key: &SourceKey) -> String {
    let resource = key.resource.group_resource();
    match key.namespace() {
        Some(namespace) => format!("try `kubectl auth can-i watch {resource} -n {namespace}`"),
        None => {
            format!("try `kubectl auth can-i watch {resource} -A`, or name a namespace with -n")
        }
    }
}

fn is_refused(state: &SourceState) -> bool {
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

fn is_given_up(state: &SourceState) -> bool {
    matches!(state, SourceState::Retrying { attempt, .. } if *attempt >= TRIES)
}

fn name(state: &SourceState) -> &'static str {
    match state {
        SourceState::Connecting => "connecting",
        SourceState::Live => "live",
        SourceState::Retrying { .. } => "retrying",
        SourceState::Forbidden { .. } => "forbidden",
        SourceState::Unserved { .. } => "unserved",
        SourceState::Polling { .. } => "polling",
        SourceState::Failed { .. } => "failed",
        SourceState::Ended => "ended",
    }
}

fn cause(state: &SourceState) -> Option<&Arc<str>> {
    match state {
        SourceState::Connecting | SourceState::Live | SourceState::Ended => None,
        SourceState::Retrying { cause, .. }
        | SourceState::Forbidden { cause }
        | SourceState::Unserved { cause }
        | SourceState::Polling { cause }
        | SourceState::Failed { cause } => Some(cause),
    }
}

fn severity(state: &SourceState) -> u8 {
    match state {
        SourceState::Ended => 0,
        SourceState::Live => 1,
        SourceState::Polling { .. } => 2,
        SourceState::Forbidden { .. }
        | SourceState::Unserved { .. }
        | SourceState::Failed { .. } => 3,
        SourceState::Connecting => 4,
        SourceState::Retrying { .. } => 5,
    }
}
