//! `Tracer`: prints a trace as frames, lines or records.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::chain::Chain;
use super::record;
use super::traced::Presence;
use super::transitions::TraceTransitions;
use crate::commands::sources::describe;
use crate::commands::{CommandError, Ending, Live, Need, Sources, Terminal};
use crate::render::age;
use crate::render::canvas::Canvas;
use crate::render::header_footer::Connection;
use crate::render::json::trace::GraphRecord;
use crate::source::{Event, SourceKey};

/// How long a print waits for a new source before it goes on without it.
const PATIENCE: SignedDuration = SignedDuration::from_secs(2);

/// The values of `--output`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum TraceFormat {
    /// A live view; without a terminal, one line for each change
    #[default]
    Text,
    /// The whole graph as one JSON record per line, for each change
    Json,
}

/// A trace, and what was printed of it.
pub(super) struct Tracer {
    chain: Box<dyn Chain>,
    format: TraceFormat,
    ending: Ending,
    started: Timestamp,
    /// Whether everything has been read once. From then on, it prints changes.
    settled: bool,
    /// Since when a new source has not been read; `None` if all are read.
    waiting_since: Option<Timestamp>,
    /// The lines to print.
    lines: Vec<String>,
    transitions: TraceTransitions,
    /// The last record, so that none is printed twice.
    record: Option<GraphRecord>,
    /// When an object last changed.
    changed: Option<Timestamp>,
    /// Whether the absence of the object was reported.
    reported_absent: bool,
    /// With `--once`: the source of the object, if the object does not exist.
    pub(super) missing: Option<SourceKey>,
}

impl Tracer {
    /// A trace that starts now.
    pub(super) fn new(
        chain: Box<dyn Chain>,
        format: TraceFormat,
        ending: Ending,
        started: Timestamp,
    ) -> Tracer {
        Tracer {
            chain,
            format,
            ending,
            started,
            settled: false,
            waiting_since: None,
            lines: Vec::new(),
            transitions: TraceTransitions::default(),
            record: None,
            changed: None,
            reported_absent: false,
            missing: None,
        }
    }

    /// Whether every wanted source has been read or cannot be read.
    fn is_settled(&self, sources: &Sources) -> bool {
        sources.are_settled()
            && sources.count() == self.chain.traced().model.coverage().sources().count()
    }

    /// Whether every source has been read, or the wait for a new one is over.
    fn is_whole(&mut self, sources: &Sources, now: Timestamp) -> bool {
        if self.is_settled(sources) {
            self.waiting_since = None;
            return true;
        }
        let since = *self.waiting_since.get_or_insert(now);
        now.duration_since(since) >= PATIENCE
    }

    /// Collects the new lines.
    fn collect(&mut self, canvas: Canvas) {
        let now = canvas.now;
        match (self.format, self.ending) {
            (TraceFormat::Json, _) => self.collect_record(now),
            (TraceFormat::Text, Ending::Never) => {
                let lines = self.transitions.lines(&mut *self.chain, now);
                self.lines.extend(lines);
            }
            (TraceFormat::Text, Ending::Once) => {
                self.lines = self.chain.frame(canvas);
            }
        }
    }

    fn collect_record(&mut self, now: Timestamp) {
        let graph = record::graph(&*self.chain);
        if self.record.as_ref() != Some(&graph) {
            self.lines.push(graph.line(&age::rfc3339_millis(now)));
            self.record = Some(graph);
        }
    }

    /// Reports once that the object does not exist. With `--once`, it records the object as missing instead.
    fn report_absent(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let is_absent = self.chain.traced().presence == Presence::Absent;
        if !is_absent || self.reported_absent {
            self.reported_absent &= is_absent;
            return Ok(());
        }
        let source = self.chain.traced().source.clone();
        if self.ending == Ending::Once {
            self.missing = Some(source);
            return Ok(());
        }
        self.reported_absent = true;
        // On a terminal, the frame shows it.
        if !terminal.is_live() {
            terminal.notify(&format!("waiting for {}", describe(&source)))?;
        }
        Ok(())
    }
}

impl Live for Tracer {
    const REST: u32 = 4;

    fn wanted(&self) -> Vec<SourceKey> {
        self.chain
            .traced()
            .model
            .coverage()
            .sources()
            .cloned()
            .collect()
    }

    fn need(&self, key: &SourceKey) -> Need {
        if *key == self.chain.traced().source {
            Need::Vital
        } else {
            Need::Useful
        }
    }

    fn reports_waiting(&self) -> bool {
        self.ending == Ending::Never && self.format == TraceFormat::Text
    }

    fn apply(&mut self, key: &Arc<SourceKey>, event: Event, now: Timestamp) {
        self.chain.apply(key, &event, now);
        if self.settled && matches!(event, Event::Object { .. }) {
            self.changed = Some(now);
        }
    }

    fn print(
        &mut self,
        sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        let now = terminal.env().now();
        self.chain.refresh(now);
        self.settled |= self.is_settled(sources);
        // If nothing can be read, the verb ends with an error and not with an empty view.
        if !self.settled || sources.refusal().is_some() {
            return Ok(());
        }
        self.chain.settle();
        self.report_absent(terminal)?;
        if terminal.is_live() || self.missing.is_some() || !self.is_whole(sources, now) {
            return Ok(());
        }
        self.collect(terminal.canvas());
        let lines = std::mem::take(&mut self.lines);
        if !lines.is_empty() {
            terminal.print(&lines)?;
        }
        Ok(())
    }

    fn draw(&mut self, sources: &Sources, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let canvas = terminal.frame_canvas(self.started).narrowed();
        self.chain.refresh(canvas.now);
        if self.settled {
            self.chain.settle();
        }
        let connection = Connection {
            objects: self.chain.traced().model.objects().count(),
            changed: self.changed,
            ..sources.connection(canvas)
        };
        let mut end = connection.first_refusals(canvas.look);
        end.push(connection.footer(canvas));
        let mut frame = self.chain.frame(canvas.without_rows(end.len()));
        frame.extend(end);
        terminal.draw(canvas.cut(frame))?;
        Ok(())
    }

    fn is_answered(&self, sources: &Sources) -> bool {
        let is_read = self.settled && self.is_settled(sources);
        self.ending == Ending::Once && is_read && sources.refusal().is_none()
    }
}
