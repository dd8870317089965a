//! `LiveStatus`: what it prints and when: frames on a terminal, lines on a pipe, one table for `--once`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::state::StatusState;
use super::table::Idle;
use super::transitions::Transitions;
use super::view::{table, view};
use crate::commands::sources::named;
use crate::commands::{CommandError, Live, Sources, Terminal};
use crate::render::canvas::Canvas;
use crate::render::header_footer::Connection;
use crate::render::screen::Size;
use crate::source::{Event, Scope, SourceKey};

/// How many attempts of a source may fail before `--once` gives up.
const PATIENCE: u32 = 3;

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Telling {
    /// For people.
    Text(Idle),
    /// A record a line.
    Json,
}

/// When it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// When everything has been printed once.
    Once,
    /// When it is stopped.
    Never,
}

/// The state, and what was printed of it.
#[derive(Debug)]
pub(super) struct LiveStatus {
    state: StatusState,
    telling: Telling,
    ending: Ending,
    transitions: Transitions,
    has_begun: bool,
    /// Whether it prints which objects it waits for.
    says_waiting: bool,
    waited_for: BTreeSet<usize>,
    is_answered: bool,
    missing: Vec<SourceKey>,
}

impl LiveStatus {
    pub(super) fn new(state: StatusState, telling: Telling, ending: Ending) -> LiveStatus {
        LiveStatus {
            state,
            telling,
            ending,
            transitions: Transitions::default(),
            has_begun: false,
            says_waiting: true,
            waited_for: BTreeSet::new(),
            is_answered: false,
            missing: Vec::new(),
        }
    }

    /// With [`Ending::Once`], the single objects that were asked for and are not there.
    pub(super) fn missing(&self) -> &[SourceKey] {
        &self.missing
    }

    /// The same, silent about objects that are not there.
    pub(super) fn expecting_absence(self) -> LiveStatus {
        LiveStatus {
            says_waiting: false,
            ..self
        }
    }

    /// Whether all that was asked for is well.
    pub(super) fn is_well(&self) -> bool {
        self.state.is_well()
    }

    /// Prints everything, once.
    fn tell_once(
        &mut self,
        sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        let now = terminal.env().now();
        let lines = match self.telling {
            Telling::Json => self.transitions.records(&self.state, now),
            Telling::Text(_) if self.state.rows().iter().all(|row| row.known.is_none()) => {
                Vec::new()
            }
            Telling::Text(idle) => {
                let canvas = Canvas {
                    now,
                    look: terminal.look(),
                    started: None,
                    rows: None,
                };
                let connection = Connection {
                    // On a pipe they are on standard error.
                    refused: sources.refused().filter(|_| terminal.is_live()).collect(),
                    ..connection(sources, canvas)
                };
                table(&self.state, &connection, idle, canvas)
            }
        };
        terminal.print(&lines)?;
        self.is_answered = true;
        self.missing = self.state.absent().map(|(_, key)| key.clone()).collect();
        self.say_if_nothing_is_there(terminal)
    }

    /// Prints what has changed.
    fn print_transitions(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let now = terminal.env().now();
        let lines = match self.telling {
            Telling::Json => self.transitions.records(&self.state, now),
            Telling::Text(_) if terminal.is_live() => Vec::new(),
            Telling::Text(idle) => self.transitions.lines(&self.state, now, idle),
        };
        terminal.print(&lines)?;
        let absent: BTreeMap<usize, &SourceKey> = self.state.absent().collect();
        for (index, key) in &absent {
            if self.says_waiting && !self.waited_for.contains(index) {
                terminal.say(&waiting(key))?;
            }
        }
        self.waited_for = absent.into_keys().collect();
        Ok(())
    }

    fn say_if_nothing_is_there(&self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        if self.state.is_empty()
            && let Some(key) = self.state.asked().first()
        {
            terminal.say(&match &key.scope {
                Scope::Namespace(namespace) => {
                    format!("No resources found in {namespace} namespace.")
                }
                Scope::Cluster => "No resources found".to_owned(),
            })?;
        }
        Ok(())
    }
}

impl Live for LiveStatus {
    const REST: u32 = 4;

    fn wanted(&self) -> Vec<SourceKey> {
        self.state.model.coverage().sources().cloned().collect()
    }

    fn tells_waiting(&self) -> bool {
        self.says_waiting && self.ending == Ending::Never && self.telling != Telling::Json
    }

    fn has_begun(&self) -> bool {
        self.has_begun || self.is_answered
    }

    fn apply(&mut self, key: &Arc<SourceKey>, event: Event, now: Timestamp) {
        self.state.apply(key, &event, now);
    }

    fn print(
        &mut self,
        sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        let has_changed = self.state.refresh(terminal.env().now());
        match self.ending {
            _ if self.state.is_refused() => Ok(()), // which ends it, with the server's words
            Ending::Once if self.is_answered => Ok(()),
            Ending::Once if self.state.is_settled() => self.tell_once(sources, terminal),
            Ending::Once => match self.state.silence(PATIENCE) {
                Some(cause) => Err(CommandError::failed(cause)),
                None => Ok(()),
            },
            Ending::Never if self.has_begun && !has_changed => Ok(()),
            Ending::Never if self.has_begun => self.print_transitions(terminal),
            Ending::Never if self.state.is_presentable() => {
                self.has_begun = true;
                self.print_transitions(terminal)?;
                self.say_if_nothing_is_there(terminal)
            }
            Ending::Never => Ok(()),
        }
    }

    fn draw(&mut self, sources: &Sources, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let idle = match (self.telling, self.ending) {
            (Telling::Text(idle), Ending::Never) => idle,
            (Telling::Json, _) | (_, Ending::Once) => return Ok(()),
        };
        let now = terminal.env().now();
        let size = terminal.env().size();
        let canvas = Canvas {
            now,
            look: terminal.look(),
            started: Some(self.state.started),
            rows: size.map(Size::frame_rows),
        };
        let connection = connection(sources, canvas);
        terminal.draw(view(&self.state, connection, idle, canvas))?;
        Ok(())
    }

    fn is_answered(&self, _sources: &Sources) -> bool {
        self.is_answered
    }
}

fn connection(sources: &Sources, canvas: Canvas) -> Connection {
    Connection {
        summary: sources.summary(canvas.now, canvas.look),
        refused: sources.refused().collect(),
        watches: sources.count(),
        ..Connection::default()
    }
}

/// The line for a single object that is not there.
fn waiting(key: &SourceKey) -> String {
    let resource = key.resource.group_resource();
    let name = named(key).unwrap_or_default();
    let place = key
        .namespace()
        .map(|namespace| format!(" in namespace \"{namespace}\""));
    format!(
        "waiting for {resource} \"{name}\"{}",
        place.unwrap_or_default()
    )
}
