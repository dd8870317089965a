//! `LiveStatus`: when and how to print: frames on a terminal, lines to a pipe, one table for `--once`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::state::StatusState;
use super::table::Idle;
use super::transitions::Transitions;
use super::view::{table, view};
use crate::commands::sources::named;
use crate::commands::{CommandError, Ending, Live, Sources, Terminal};
use crate::render::header_footer::Connection;
use crate::source::{Event, Scope, SourceKey};

/// How many failed attempts of a source end `--once` with an error.
const PATIENCE: u32 = 3;

/// The values of `--output`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum StatusFormat {
    /// A live table; without a terminal, one line for each change of state
    #[default]
    Text,
    /// One JSON record per line, for each change of state
    Json,
}

/// The state, and what was printed of it.
#[derive(Debug)]
pub(super) struct LiveStatus {
    state: StatusState,
    format: StatusFormat,
    idle: Idle,
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
    pub(super) fn new(
        state: StatusState,
        format: StatusFormat,
        idle: Idle,
        ending: Ending,
    ) -> LiveStatus {
        LiveStatus {
            state,
            format,
            idle,
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
            StatusFormat::Json => self.transitions.records(&self.state, now),
            StatusFormat::Text if self.state.rows().iter().all(|row| row.known.is_none()) => {
                Vec::new()
            }
            StatusFormat::Text => {
                let canvas = terminal.canvas();
                let connection = Connection {
                    // Without a terminal, standard error has these lines.
                    refused: sources.refused().filter(|_| terminal.is_live()).collect(),
                    ..sources.connection(canvas)
                };
                table(&self.state, &connection, self.idle, canvas)
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
            StatusFormat::Json => self.transitions.records(&self.state, now),
            StatusFormat::Text if terminal.is_live() => Vec::new(),
            StatusFormat::Text => self.transitions.lines(&self.state, now, self.idle),
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
        self.reports_waiting && self.ending == Ending::Never && self.format != StatusFormat::Json
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
            Ending::Once => match self.state.connection_error(PATIENCE) {
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
        if self.format == StatusFormat::Json || self.ending == Ending::Once {
            return Ok(());
        }
        let canvas = terminal.frame_canvas(self.state.started);
        let connection = sources.connection(canvas);
        terminal.draw(view(&self.state, connection, self.idle, canvas))?;
        Ok(())
    }

    fn is_answered(&self, _sources: &Sources) -> bool {
        self.is_answered
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
