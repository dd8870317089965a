//! `LiveStatus`: when and how to print: frames on a terminal, lines to a pipe, one table for `--once`.

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

/// How many failed attempts of a source end `--once` with an error.
const PATIENCE: u32 = 3;

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatusOutput {
    /// Text, for people.
    Text(Idle),
    /// One JSON record per line.
    Json,
}

/// When the verb ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// After it has printed everything once.
    Once,
    /// When the user stops it.
    Never,
}

/// The state, and what was printed of it.
#[derive(Debug)]
pub(super) struct LiveStatus {
    state: StatusState,
    format: StatusOutput,
    ending: Ending,
    transitions: Transitions,
    has_begun: bool,
    /// Whether to print which objects it waits for.
    reports_waiting: bool,
    waited_for: BTreeSet<usize>,
    is_answered: bool,
    missing: Vec<SourceKey>,
}

impl LiveStatus {
    pub(super) fn new(state: StatusState, format: StatusOutput, ending: Ending) -> LiveStatus {
        LiveStatus {
            state,
            format,
            ending,
            transitions: Transitions::default(),
            has_begun: false,
            reports_waiting: true,
            waited_for: BTreeSet::new(),
            is_answered: false,
            missing: Vec::new(),
        }
    }

    /// With [`Ending::Once`], the objects that were requested by name and do not exist.
    pub(super) fn missing(&self) -> &[SourceKey] {
        &self.missing
    }

    /// The same view, without messages about absent objects.
    pub(super) fn expecting_absence(self) -> LiveStatus {
        LiveStatus {
            reports_waiting: false,
            ..self
        }
    }

    /// Whether all requested objects are well.
    pub(super) fn is_well(&self) -> bool {
        self.state.is_well()
    }

    /// Prints everything once.
    fn print_once(
        &mut self,
        sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        let now = terminal.env().now();
        let lines = match self.format {
            StatusOutput::Json => self.transitions.records(&self.state, now),
            StatusOutput::Text(_) if self.state.rows().iter().all(|row| row.known.is_none()) => {
                Vec::new()
            }
            StatusOutput::Text(idle) => {
                let canvas = Canvas {
                    now,
                    look: terminal.look(),
                    started: None,
                    rows: None,
                };
                let connection = Connection {
                    // Without a terminal, standard error has these lines.
                    refused: sources.refused().filter(|_| terminal.is_live()).collect(),
                    ..connection(sources, canvas)
                };
                table(&self.state, &connection, idle, canvas)
            }
        };
        terminal.print(&lines)?;
        self.is_answered = true;
        self.missing = self.state.absent().map(|(_, key)| key.clone()).collect();
        self.report_if_empty(terminal)
    }

    /// Prints the changes.
    fn print_transitions(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let now = terminal.env().now();
        let lines = match self.format {
            StatusOutput::Json => self.transitions.records(&self.state, now),
            StatusOutput::Text(_) if terminal.is_live() => Vec::new(),
            StatusOutput::Text(idle) => self.transitions.lines(&self.state, now, idle),
        };
        terminal.print(&lines)?;
        let absent: BTreeMap<usize, &SourceKey> = self.state.absent().collect();
        for (index, key) in &absent {
            if self.reports_waiting && !self.waited_for.contains(index) {
                terminal.notify(&waiting(key))?;
            }
        }
        self.waited_for = absent.into_keys().collect();
        Ok(())
    }

    fn report_if_empty(&self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        if self.state.is_empty()
            && let Some(key) = self.state.requested().first()
        {
            terminal.notify(&match &key.scope {
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

    fn reports_waiting(&self) -> bool {
        self.reports_waiting && self.ending == Ending::Never && self.format != StatusOutput::Json
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
            _ if self.state.is_refused() => Ok(()), // the loop ends with the server's error
            Ending::Once if self.is_answered => Ok(()),
            Ending::Once if self.state.is_settled() => self.print_once(sources, terminal),
            Ending::Once => match self.state.silence(PATIENCE) {
                Some(cause) => Err(CommandError::failed(cause)),
                None => Ok(()),
            },
            Ending::Never if self.has_begun && !has_changed => Ok(()),
            Ending::Never if self.has_begun => self.print_transitions(terminal),
            Ending::Never if self.state.is_presentable() => {
                self.has_begun = true;
                self.print_transitions(terminal)?;
                self.report_if_empty(terminal)
            }
            Ending::Never => Ok(()),
        }
    }

    fn draw(&mut self, sources: &Sources, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let idle = match (self.format, self.ending) {
            (StatusOutput::Text(idle), Ending::Never) => idle,
            (StatusOutput::Json, _) | (_, Ending::Once) => return Ok(()),
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

/// The message for an object that was requested by name and does not exist.
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
