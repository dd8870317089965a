//! `Sources`: the state of every source a verb follows, for its footer, its notes and its end.

mod note;
mod source_status;
#[cfg(test)]
mod tests;
mod words;

use std::sync::Arc;

use jiff::Timestamp;

use super::CommandError;
use crate::render::age;
use crate::render::style::{Look, Role};
use crate::render::text::escape_line;
use crate::source::{Event, SourceKey, SourceState};

pub(crate) use note::{Need, Note, Unknown};
use source_status::{SourceStatus, is_given_up, is_refused};
use words::{can_i, cause, name};

pub(crate) use words::{describe, describe_counted, named, object, place};

/// The sources of a verb, in the order they came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sources {
    known: Vec<SourceStatus>,
    /// What there is to tell once anything was read; if nothing is, the error tells it.
    held: Vec<(Arc<SourceKey>, Note)>,
}

impl Sources {
    /// Counts a source in: it is connecting until it says otherwise.
    pub(crate) fn add(&mut self, key: &Arc<SourceKey>, need: Need) {
        if !self.known.iter().any(|known| known.key == *key) {
            self.known.push(SourceStatus::new(key.clone(), need));
        }
    }

    /// Forgets a source that is followed no longer.
    pub(crate) fn remove(&mut self, key: &SourceKey) {
        self.known.retain(|known| *known.key != *key);
        self.held.retain(|(held, _)| **held != *key);
    }

    /// Notes what an event says of its source. Changes of state that a user should hear of now are
    /// returned: until anything was read none, as they may be all there is to tell.
    pub(crate) fn apply(
        &mut self,
        key: &Arc<SourceKey>,
        event: &Event,
        now: Timestamp,
    ) -> Vec<(Arc<SourceKey>, Note)> {
        let Some(known) = self.known.iter_mut().find(|known| known.key == *key) else {
            return Vec::new();
        };
        match event {
            Event::Synced { .. } => known.synced = true,
            Event::Object { .. } => known.met = true,
            Event::State(state) => {
                let note = known.enter(state, now);
                self.held.extend(note.map(|note| (key.clone(), note)));
            }
            Event::Gap(_) | Event::Undecodable { .. } => {}
        }
        if self.is_read() {
            self.take_held()
        } else {
            Vec::new()
        }
    }

    /// The changes of state from before anything was read.
    pub(crate) fn take_held(&mut self) -> Vec<(Arc<SourceKey>, Note)> {
        std::mem::take(&mut self.held)
    }

    /// Whether anything that was asked for has been read.
    pub(crate) fn is_read(&self) -> bool {
        self.vital().any(|known| known.synced)
    }

    fn vital(&self) -> impl Iterator<Item = &SourceStatus> {
        self.known.iter().filter(|known| known.need == Need::Vital)
    }

    /// The sources of single objects that were asked for and, as is known by now, were never there; each
    /// is told once.
    pub(crate) fn take_absent(&mut self) -> Vec<Arc<SourceKey>> {
        let absent = self.known.iter_mut().filter(|known| known.is_absent());
        let new = absent.filter_map(|known| {
            let was_told = std::mem::replace(&mut known.told_absent, true);
            (!was_told).then(|| known.key.clone())
        });
        new.collect()
    }

    /// Whether the single object of a source that was asked for was never there.
    pub(crate) fn is_absent(&self, key: &SourceKey) -> bool {
        let mut of_key = self.known.iter().filter(|known| *known.key == *key);
        of_key.any(SourceStatus::is_absent)
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

    /// The error to end with at once: nothing that was asked for was ever read and nothing will be, or
    /// all of it has failed for good. Who sees nothing waits for nothing.
    pub(crate) fn refusal(&self) -> Option<CommandError> {
        let never = |known: &SourceStatus| !known.synced && known.is_hopeless();
        let failed = |known: &SourceStatus| matches!(known.state, SourceState::Failed { .. });
        (self.vital().all(never) || self.vital().all(failed))
            .then(|| error_of(&self.vital().collect::<Vec<_>>()))
            .flatten()
    }

    /// The error to end with once all that could be read is shown: sources did not answer.
    pub(crate) fn silence(&self) -> Option<CommandError> {
        let silent = |known: &&SourceStatus| !known.synced && is_given_up(&known.state);
        error_of(&self.known.iter().filter(silent).collect::<Vec<_>>())
    }

    /// What was asked for and cannot be read, or no longer.
    pub(crate) fn unread(&self) -> Vec<Unknown> {
        let is_read = self.is_read();
        let unread = self.vital().filter_map(|known| match known.unread() {
            // Until something answers it is only slow.
            Some(Unknown::Refused(_)) if !is_read && !known.is_hopeless() => Some(known.late()),
            unread => unread,
        });
        unread.collect()
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
                    .map_or(String::new(), |_| " (the view may be old)".to_owned());
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

/// Why sources cannot be read, a line for each reason, and what to do about it; `None` without any.
fn error_of(sources: &[&SourceStatus]) -> Option<CommandError> {
    let mut lines: Vec<&str> = Vec::new();
    for cause in sources.iter().filter_map(|known| cause(&known.state)) {
        if !lines.contains(&&**cause) {
            lines.push(cause);
        }
    }
    let forbidden = sources.iter().filter(|known| known.is_forbidden());
    let forbidden: Vec<&SourceKey> = forbidden.map(|known| &*known.key).collect();
    let error = (!lines.is_empty()).then(|| CommandError::failed(lines.join("\n")))?;
    Some(match can_i(&forbidden) {
        Some(hint) => error.hint(hint),
        None => error,
    })
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
