//! `LiveStatus`: when and how to print: frames on a terminal, lines to a pipe, one table for `--once`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::documents::{Documents, REDACTED, changed_names};
use super::options::{HealthFilter, RowOptions, StatusFormat};
use super::rows::StatusRow;
use super::since::{Comparison, PastStates};
use super::state::StatusState;
use super::transitions::Transitions;
use super::view::{LiveTable, nothing_unhealthy, table, view};
use crate::commands::live::sources::{named, waiting};
use crate::commands::{Answer, CommandError, Ending, Live, Need, Sources, Terminal};
use crate::model::Model;
use crate::source::{Event, Scope, SourceKey};

/// The state, and what was printed of it.
#[derive(Debug)]
pub(super) struct LiveStatus {
    state: StatusState,
    format: StatusFormat,
    table: LiveTable,
    ending: Ending,
    transitions: Transitions,
    documents: Documents,
    has_begun: bool,
    /// Whether to print which objects it waits for.
    reports_waiting: bool,
    waited_for: BTreeSet<usize>,
    is_answered: bool,
    missing: Vec<SourceKey>,
    comparison: Comparison,
}

impl LiveStatus {
    pub(super) fn new(
        state: StatusState,
        format: StatusFormat,
        options: RowOptions,
        ending: Ending,
    ) -> LiveStatus {
        LiveStatus {
            state,
            format,
            table: LiveTable::new(options),
            ending,
            transitions: Transitions::new(options),
            documents: Documents::new(),
            has_begun: false,
            reports_waiting: true,
            waited_for: BTreeSet::new(),
            is_answered: false,
            missing: Vec::new(),
            comparison: Comparison::None,
        }
    }

    /// The same view, of what this comparison prints.
    pub(super) fn comparing(self, comparison: Comparison) -> LiveStatus {
        LiveStatus { comparison, ..self }
    }

    /// The states of the earlier time; `None` if they were not read.
    pub(super) fn into_past(self) -> Option<PastStates> {
        match self.comparison {
            Comparison::Before(past) => past,
            Comparison::None | Comparison::Since(_) => None,
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

    /// Whether all requested objects are well, if there was any.
    pub(super) fn answer(&self, has_object: bool) -> Answer {
        let mut requested = self.state.requested().iter();
        if !has_object && !requested.any(|key| named(key).is_some()) {
            return Answer::NoObject;
        }
        Answer::from(!self.state.is_well())
    }

    /// Fails if no object has the field to sort by.
    fn check_sorting(&self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        match self.state.sort_error() {
            Some(error) => {
                terminal.clear()?;
                Err(error)
            }
            None => Ok(()),
        }
    }

    /// Prints everything once.
    fn print_once(
        &mut self,
        sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        let now = terminal.env().now();
        let is_empty = self.state.rows().iter().all(|row| row.known.is_none());
        let options = self.table.options;
        let lines = match (&mut self.comparison, self.format) {
            (Comparison::Before(past), _) => {
                *past = Some(PastStates::of(&self.state));
                self.is_answered = true;
                return Ok(());
            }
            (Comparison::Since(past), StatusFormat::Json) => {
                past.records(&self.state, options, now)
            }
            (Comparison::Since(past), _) => {
                past.lines(&self.state, options, terminal.canvas().look)
            }
            (Comparison::None, StatusFormat::Json | StatusFormat::Yaml | StatusFormat::Name) => {
                self.changed(now)
            }
            (Comparison::None, _) if is_empty => Vec::new(),
            (Comparison::None, StatusFormat::Text | StatusFormat::Wide) => {
                let canvas = terminal.canvas();
                let mut connection = sources.connection(canvas);
                if !terminal.is_live() {
                    // Standard error has these lines.
                    connection.refused.clear();
                }
                table(&self.state, &connection, self.table.options, canvas)
            }
        };
        terminal.print(&lines)?;
        self.warn_of_secrets(terminal)?;
        self.is_answered = true;
        let absent = self.state.absent().map(|(_, key)| key);
        let absent = absent.filter(|key| !self.existed(key));
        self.missing = absent.cloned().collect();
        self.report_if_empty(terminal)
    }

    /// Whether an object that was requested by name existed at the earlier time.
    fn existed(&self, requested: &SourceKey) -> bool {
        match (&self.comparison, requested.named_object()) {
            (Comparison::Since(past), Some(object)) => past.has(&object),
            _ => false,
        }
    }

    /// Prints the changes.
    fn print_transitions(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let now = terminal.env().now();
        let has_frame = self.format.is_for_people() && terminal.is_live();
        let lines = if has_frame {
            Vec::new()
        } else {
            self.changed(now)
        };
        terminal.print(&lines)?;
        self.warn_of_secrets(terminal)?;
        let absent: BTreeMap<usize, &SourceKey> = self.state.absent().collect();
        for (index, key) in &absent {
            if self.reports_waiting && !self.waited_for.contains(index) {
                terminal.notify(&waiting(key))?;
            }
        }
        self.waited_for = absent.into_keys().collect();
        Ok(())
    }

    /// The lines about the objects that are new or have another state.
    fn changed(&mut self, now: Timestamp) -> Vec<String> {
        let (state, options) = (&self.state, self.table.options);
        let transitions = &mut self.transitions;
        match self.format {
            StatusFormat::Text | StatusFormat::Wide => transitions.lines(state, now),
            StatusFormat::Json => transitions.records(state, now),
            StatusFormat::Yaml => self.documents.changed(transitions, state, options.health),
            StatusFormat::Name => changed_names(transitions, state, options.health),
        }
    }

    fn warn_of_secrets(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        if self.documents.take_warning() {
            terminal.notify(REDACTED)?;
        }
        Ok(())
    }

    /// Prints that nothing is unhealthy, if nothing else was printed to a pipe.
    fn report_health(&self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let is_of_lines = self.format.is_for_people() && !terminal.is_live();
        let health = self.table.options.health;
        let is_unhealthy = |row: &StatusRow<'_>| health.includes(row);
        if is_of_lines
            && health == HealthFilter::Unhealthy
            && !self.state.is_empty()
            && !self.state.rows().iter().any(is_unhealthy)
        {
            terminal.notify(nothing_unhealthy(&self.state))?;
        }
        Ok(())
    }

    fn report_if_empty(&self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        if self.format.is_for_people()
            && self.state.is_empty()
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
        self.state.model.sources().cloned().collect()
    }

    fn take_rereads(&mut self) -> Vec<SourceKey> {
        self.state.model.take_rereads()
    }

    fn needs(&self) -> Box<dyn Fn(&SourceKey) -> Need + '_> {
        Box::new(|key| self.state.need_of(key))
    }

    fn reports_waiting(&self) -> bool {
        self.reports_waiting && self.ending == Ending::Never && self.format != StatusFormat::Json
    }

    fn has_begun(&self) -> bool {
        self.has_begun || self.is_answered
    }

    fn model(&self) -> Option<&Model> {
        Some(&self.state.model)
    }

    async fn wait_for_other(&mut self) {
        self.state.wait_for_lookups().await;
    }

    fn stop_waiting(&mut self) -> bool {
        self.state.give_up_lookups()
    }

    fn prints_once(&self) -> bool {
        self.ending == Ending::Once
    }

    fn apply(&mut self, key: &Arc<SourceKey>, event: Event, now: Timestamp) {
        self.state.apply(key, &event, now);
    }

    fn print(
        &mut self,
        sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        let now = terminal.env().now();
        let has_changed = self.state.take_news(now);
        if self.has_begun {
            self.state.look_back(now);
        }
        if self.has_begun && has_changed {
            self.state.read_logs();
        }
        match self.ending {
            _ if sources.refusal().is_some() => Ok(()), // the loop ends with it
            Ending::Once if self.is_answered => Ok(()),
            Ending::Once if self.state.is_settled() => {
                self.check_sorting(terminal)?;
                let is_looked_up = !self.state.look_back(now);
                let is_read = !self.state.read_logs();
                if !is_looked_up || !is_read {
                    return Ok(());
                }
                self.print_once(sources, terminal)
            }
            // A source that does not answer leaves the others as they are.
            Ending::Once if sources.are_settled() => match sources.silence() {
                Some(error) => self.print_once(sources, terminal).and(Err(error)),
                None => Ok(()),
            },
            Ending::Never if self.has_begun && !has_changed => Ok(()),
            Ending::Never if self.has_begun => self.print_transitions(terminal),
            Ending::Never if self.state.model.is_presentable() => {
                self.check_sorting(terminal)?;
                self.has_begun = true;
                self.print_transitions(terminal)?;
                self.state.look_back(now);
                self.state.read_logs();
                self.report_health(terminal)?;
                self.report_if_empty(terminal)
            }
            Ending::Once | Ending::Never => Ok(()),
        }
    }

    fn draw(&mut self, sources: &Sources, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        if !self.format.is_for_people() || self.ending == Ending::Once {
            return Ok(());
        }
        let canvas = terminal.frame_canvas(self.state.started);
        let connection = sources.connection(canvas);
        terminal.draw(view(&self.state, connection, &mut self.table, canvas))?;
        Ok(())
    }

    fn is_answered(&self, _sources: &Sources) -> bool {
        self.is_answered
    }
}
