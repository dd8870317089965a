//! `Tracer`: prints a trace as frames, lines or records.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::chain::Chain;
use super::printed_trace::{PrintedTrace, TraceFormat};
use super::traced::Presence;
use crate::commands::live::sources::waiting;
use crate::commands::{CommandError, Ending, LastChanges, Live, Need, Sources, Terminal};
use crate::model::Model;
use crate::render::canvas::Canvas;
use crate::render::header_footer::Freshness;
use crate::render::text::Text;
use crate::source::{Event, SourceKey};

/// How long a print waits for a new source before it goes on without it.
const PATIENCE: SignedDuration = SignedDuration::from_secs(2);

/// Traces, and what was printed of them.
pub(super) struct Tracer {
    traces: Vec<PrintedTrace>,
    format: TraceFormat,
    ending: Ending,
    started: Timestamp,
    /// Whether everything has been read once. From then on, it prints changes.
    settled: bool,
    /// Whether the current state was printed, or is on the screen.
    has_begun: bool,
    /// The look-up of what changed before the only object failed; `None` without a look-back.
    last_changes: Option<LastChanges>,
    /// Since when a new source has not been read; `None` if all are read.
    waiting_since: Option<Timestamp>,
    /// When an object last changed.
    changed: Option<Timestamp>,
    /// With `--once`: the sources of the objects that do not exist.
    pub(super) missing: Vec<SourceKey>,
}

impl Tracer {
    /// Traces that start now.
    pub(super) fn new(
        chains: Vec<Box<dyn Chain>>,
        format: TraceFormat,
        ending: Ending,
        started: Timestamp,
    ) -> Tracer {
        Tracer {
            traces: chains.into_iter().map(PrintedTrace::new).collect(),
            format,
            ending,
            started,
            settled: false,
            has_begun: false,
            last_changes: None,
            waiting_since: None,
            changed: None,
            missing: Vec::new(),
        }
    }

    /// The trace of one object, which also looks up what changed before the object failed.
    pub(super) fn looking_back(self, last_changes: LastChanges) -> Tracer {
        Tracer {
            last_changes: Some(last_changes),
            ..self
        }
    }

    /// Looks up what changed before the object failed. Returns whether the look-up is on its way.
    fn look_back(&mut self, now: Timestamp) -> bool {
        let (Some(last_changes), [trace]) = (&mut self.last_changes, &mut self.traces[..]) else {
            return false;
        };
        let traced = trace.chain.traced_mut();
        let objects = traced.presence.uid().cloned().into_iter();
        last_changes.look_up(&traced.model, objects, now);
        let changes = traced.uid().map(|uid| last_changes.of(uid));
        traced.last_changes = changes.unwrap_or_default().to_vec();
        last_changes.is_busy()
    }

    /// Whether every object is well.
    pub(super) fn is_well(&self) -> bool {
        self.traces.iter().all(|trace| {
            let traced = trace.chain.traced();
            let object = traced.uid().and_then(|uid| traced.model.object(uid));
            object.is_some_and(|object| object.assessment.is_well())
        })
    }

    fn refresh(&mut self, now: Timestamp) {
        for trace in &mut self.traces {
            trace.chain.refresh(now);
        }
    }

    fn settle(&mut self) {
        for trace in &mut self.traces {
            trace.chain.settle();
        }
    }

    /// Whether every source of the view has been read or cannot be read. With `--once`, the search for dependents must be
    /// over, too.
    fn is_settled(&self, sources: &Sources) -> bool {
        let mut models = self.traces.iter().map(|trace| &trace.chain.traced().model);
        let is_read = |model: &Model| {
            let mut wanted = model.coverage().sources();
            model.coverage().has_answers() && wanted.all(|key| sources.has(key))
        };
        let is_once = self.ending == Ending::Once;
        sources.are_settled()
            && models.all(|model| is_read(model) && (!is_once || model.is_searched()))
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

    /// The new lines of all traces.
    fn collect(&mut self, canvas: Canvas) -> Vec<Text> {
        let mut lines = Vec::new();
        for (at, trace) in self.traces.iter_mut().enumerate() {
            let is_page = (self.format, self.ending) == (TraceFormat::Text, Ending::Once);
            lines.extend((at > 0 && is_page).then(Text::default));
            lines.extend(trace.new_lines(self.format, self.ending, canvas));
        }
        lines
    }

    /// Reports once that an object does not exist. With `--once`, it records the object as missing instead.
    fn report_absent(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        self.missing.clear();
        for trace in &mut self.traces {
            let traced = trace.chain.traced();
            let is_absent = traced.presence == Presence::Absent;
            if !is_absent || trace.reported_absent {
                trace.reported_absent &= is_absent;
                continue;
            }
            if self.ending == Ending::Once {
                self.missing.push(traced.source.clone());
                continue;
            }
            // On a terminal, the frame shows it.
            if !terminal.is_live() {
                terminal.notify(&waiting(&traced.source))?;
            }
            trace.reported_absent = true;
        }
        Ok(())
    }

    /// The frames of all traces, one below the other, in `canvas`.
    fn frames(&self, canvas: Canvas) -> Vec<Text> {
        let mut lines = Vec::new();
        let mut left = self.traces.len();
        for trace in &self.traces {
            let canvas = canvas.without_rows(lines.len());
            let rows = canvas
                .rows
                .map(|rows| (rows / left).saturating_sub(usize::from(left > 1)));
            lines.extend(trace.chain.frame(Canvas { rows, ..canvas }));
            left -= 1;
            lines.extend((left > 0).then(Text::default));
        }
        lines
    }
}

impl Live for Tracer {
    const REST: u32 = 4;

    fn wanted(&self) -> Vec<SourceKey> {
        let mut wanted: Vec<SourceKey> = Vec::new();
        for source in self.traces.iter().flat_map(PrintedTrace::sources) {
            if !wanted.contains(source) {
                wanted.push(source.clone());
            }
        }
        wanted
    }

    fn take_rereads(&mut self) -> Vec<SourceKey> {
        let models = self
            .traces
            .iter_mut()
            .map(|trace| &mut trace.chain.traced_mut().model);
        models.flat_map(Model::take_rereads).collect()
    }

    fn needs(&self) -> Box<dyn Fn(&SourceKey) -> Need + '_> {
        let traced = || self.traces.iter().map(|trace| trace.chain.traced());
        Box::new(move |key| match () {
            () if traced().any(|traced| traced.source == *key) => Need::Vital,
            () if traced().any(|traced| traced.model.is_deciding(key)) => Need::Decisive,
            () if !traced().any(|traced| traced.model.coverage().follows(key)) => Need::Spare,
            () => Need::Useful,
        })
    }

    fn reports_waiting(&self) -> bool {
        self.ending == Ending::Never && self.format == TraceFormat::Text
    }

    fn has_begun(&self) -> bool {
        self.has_begun
    }

    async fn wait_for_other(&mut self) {
        match &mut self.last_changes {
            Some(last_changes) => last_changes.next().await,
            None => std::future::pending().await,
        }
    }

    fn stop_waiting(&mut self) -> bool {
        let last_changes = self.last_changes.as_mut();
        last_changes.is_some_and(LastChanges::give_up)
    }

    fn model(&self, source: &SourceKey) -> Option<&Model> {
        let mut traced = self.traces.iter().map(|trace| trace.chain.traced());
        Some(&traced.find(|traced| traced.source == *source)?.model)
    }

    fn prints_once(&self) -> bool {
        self.ending == Ending::Once
    }

    fn apply(&mut self, key: &Arc<SourceKey>, event: Event, now: Timestamp) {
        for trace in &mut self.traces {
            trace.chain.apply(key, &event, now);
        }
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
        self.refresh(now);
        self.settled |= self.is_settled(sources);
        // If nothing can be read, the verb ends with an error and not with an empty view.
        if !self.settled || sources.refusal().is_some() {
            return Ok(());
        }
        self.settle();
        self.report_absent(terminal)?;
        if !self.is_whole(sources, (terminal.env().now)()) {
            return Ok(());
        }
        // Only the view of `--once` waits for the look-up.
        if self.look_back(now) && self.ending == Ending::Once {
            return Ok(());
        }
        self.has_begun = true;
        if terminal.is_live() || !self.missing.is_empty() {
            return Ok(());
        }
        let lines = self.collect(terminal.canvas());
        if !lines.is_empty() {
            terminal.print(lines)?;
        }
        Ok(())
    }

    fn draw(&mut self, sources: &Sources, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let canvas = terminal.frame_canvas(self.started).narrowed();
        let models = self.traces.iter().map(|trace| &trace.chain.traced().model);
        let connection = Freshness {
            objects: models.map(|model| model.objects().count()).sum(),
            changed: self.changed,
            ..sources.connection(canvas)
        };
        let mut end = connection.first_refusals();
        end.push(connection.footer(canvas));
        let mut frame = self.frames(canvas.without_rows(end.len()));
        frame.extend(end);
        terminal.draw(canvas.cut(frame))?;
        Ok(())
    }

    fn is_answered(&self, sources: &Sources) -> bool {
        let is_read = self.settled && self.is_settled(sources);
        self.ending == Ending::Once && is_read && self.has_begun && sources.refusal().is_none()
    }
}
