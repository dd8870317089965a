//! `Tracer`: prints the traces of all clusters as frames, lines or records.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::select_all;
use jiff::Timestamp;

use super::cluster_traces::ClusterTraces;
use super::printed_trace::{PrintedTrace, TraceFormat};
use super::traced::{Presence, TraceOptions, Traced};
use crate::commands::live::cluster_group::JoinedCluster;
use crate::commands::live::sources::{nowhere, waiting};
use crate::commands::{CommandError, Ending, Live, Need, Session, Sources, Terminal};
use crate::graph::TraceReach;
use crate::model::Model;
use crate::render::canvas::Canvas;
use crate::render::header_footer::Freshness;
use crate::render::text::Text;
use crate::source::{Event, SourceKey};

/// What the traces of each cluster are made of, and how they are printed.
#[derive(Clone, Debug)]
pub(super) struct TraceSetup {
    pub(super) format: TraceFormat,
    pub(super) ending: Ending,
    /// How far the traces show the connections of their objects.
    pub(super) reach: TraceReach,
    /// Whether the view shows the rules behind the states.
    pub(super) explains: bool,
    /// Whether `--for` waits for the objects.
    pub(super) has_goal: bool,
}

/// The traces of the clusters that have joined, or of the only one.
pub(super) struct Tracer {
    clusters: Vec<ClusterTraces>,
    setup: TraceSetup,
    started: Timestamp,
    /// Whether a current state was printed, or is on the screen.
    has_begun: bool,
    /// When an object last changed.
    changed: Option<Timestamp>,
    /// With `--once`: the sources of the objects that do not exist in any cluster.
    pub(super) missing: Vec<SourceKey>,
}

impl TraceSetup {
    /// What changed before a failure is looked up for one object alone.
    pub(super) fn traces(
        &self,
        sources: &[SourceKey],
        options: &TraceOptions,
        session: &Session,
    ) -> ClusterTraces {
        let traces = ClusterTraces::new(sources, options);
        match self.format {
            TraceFormat::Text | TraceFormat::Json => traces.looking_back(session),
            TraceFormat::Dot | TraceFormat::Mermaid => traces,
        }
    }
}

impl Tracer {
    /// No cluster has joined yet.
    pub(super) fn new(setup: TraceSetup, started: Timestamp) -> Tracer {
        Tracer {
            clusters: Vec::new(),
            setup,
            started,
            has_begun: false,
            changed: None,
            missing: Vec::new(),
        }
    }

    /// The same with the traces of the only cluster or file.
    pub(super) fn only(self, traces: ClusterTraces) -> Tracer {
        Tracer {
            clusters: vec![traces],
            ..self
        }
    }

    /// Whether every object is well.
    pub(super) fn is_well(&self) -> bool {
        self.clusters.iter().all(ClusterTraces::is_well)
    }

    /// The error for several clusters, in none of which an object matches.
    pub(super) fn nothing(&self) -> Option<CommandError> {
        let nothing: Option<Vec<String>> =
            self.clusters.iter().map(ClusterTraces::nothing).collect();
        let lines = nothing.filter(|lines| !lines.is_empty())?;
        let error = CommandError::failed(lines.join("\n"));
        Some(error.hint("to wait until an object is created, name it: trace TYPE/NAME"))
    }

    fn traced(&self) -> impl Iterator<Item = &Traced> {
        self.clusters.iter().flat_map(ClusterTraces::traced)
    }

    fn traces(&self) -> impl Iterator<Item = &PrintedTrace> {
        self.clusters.iter().flat_map(|cluster| &cluster.traces)
    }

    fn is_once(&self) -> bool {
        self.setup.ending == Ending::Once
    }

    /// Whether everything has been read that there is to read now.
    fn is_settled(&self, sources: &Sources) -> bool {
        let ending = self.setup.ending;
        let mut clusters = self.clusters.iter();
        sources.are_settled() && clusters.all(|cluster| cluster.is_settled(sources, ending))
    }

    /// Reports once that an object does not exist. With `--once`, it records the objects that no cluster has as missing instead.
    fn report_absent(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        if self.is_once() {
            let absent = self.traced().filter(|it| it.presence == Presence::Absent);
            let absent = absent.map(|traced| traced.source.clone()).collect();
            let requested = self.traced().map(|traced| &traced.source);
            self.missing = nowhere(absent, requested);
            return Ok(());
        }
        for cluster in self.clusters.iter_mut().filter(|it| it.settled) {
            let mut lines = Vec::from_iter(cluster.take_nothing());
            let new = cluster
                .traces
                .iter_mut()
                .filter_map(PrintedTrace::take_absence);
            let new: Vec<SourceKey> = new.collect();
            lines.extend(new.iter().map(|source| cluster.about(&waiting(source))));
            // On a terminal, the frame shows it.
            if terminal.is_live() {
                continue;
            }
            for line in &lines {
                terminal.notify(line)?;
            }
        }
        Ok(())
    }

    /// Prints what is new of the clusters of which everything is read. What is printed once waits for all of them, and for
    /// the look-ups.
    fn print_settled(
        &mut self,
        sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        let TraceSetup { format, ending, .. } = self.setup;
        let (now, machine) = (terminal.env().now(), (terminal.env().now)());
        let is_once = ending == Ending::Once;
        let mut ready = Vec::new();
        for (at, cluster) in self.clusters.iter_mut().enumerate() {
            let is_whole = cluster.settled && cluster.is_whole(sources, ending, machine);
            // Only the view of `--once` waits for the look-up.
            let is_ready = is_whole && !(cluster.look_back(now) && is_once);
            ready.extend(is_ready.then_some(at));
        }
        if ready.is_empty() || (is_once && ready.len() < self.clusters.len()) {
            return Ok(());
        }
        self.has_begun = true;
        if terminal.is_live() || !self.missing.is_empty() {
            return Ok(());
        }
        let canvas = terminal.canvas();
        let mut lines = Vec::new();
        for at in ready {
            let new = self.clusters[at].new_lines(format, ending, canvas);
            let is_page = (format, ending) == (TraceFormat::Text, Ending::Once);
            lines.extend((is_page && !lines.is_empty()).then(Text::default));
            lines.extend(new);
        }
        if !lines.is_empty() {
            terminal.print(lines)?;
        }
        Ok(())
    }

    /// The frames of all traces, one below the other, in `canvas`. Of several clusters, each has a heading.
    fn frames(&self, canvas: Canvas) -> Vec<Text> {
        let mut lines = Vec::new();
        let mut left = self.traces().count();
        for cluster in &self.clusters {
            lines.extend(cluster.heading());
            for trace in &cluster.traces {
                let canvas = cluster.canvas(canvas.without_rows(lines.len()));
                let rows = canvas
                    .rows
                    .map(|rows| (rows / left).saturating_sub(usize::from(left > 1)));
                lines.extend(trace.chain.frame(Canvas { rows, ..canvas }));
                left -= 1;
                lines.extend((left > 0).then(Text::default));
            }
        }
        lines
    }
}

impl Live for Tracer {
    const REST: u32 = 4;

    fn wanted(&self) -> Vec<SourceKey> {
        let mut wanted: Vec<SourceKey> = Vec::new();
        for source in self.traces().flat_map(PrintedTrace::sources) {
            if !wanted.contains(source) {
                wanted.push(source.clone());
            }
        }
        wanted
    }

    fn take_rereads(&mut self) -> Vec<SourceKey> {
        let models = self.clusters.iter_mut().flat_map(ClusterTraces::models_mut);
        models.flat_map(Model::take_rereads).collect()
    }

    fn needs(&self) -> Box<dyn Fn(&SourceKey) -> Need + '_> {
        Box::new(|key| match () {
            () if self.traced().any(|traced| traced.source == *key) => Need::Vital,
            () if self.traced().any(|traced| traced.model.is_deciding(key)) => Need::Decisive,
            () if !self
                .traced()
                .any(|traced| traced.model.coverage().follows(key)) =>
            {
                Need::Spare
            }
            () => Need::Useful,
        })
    }

    fn reports_waiting(&self) -> bool {
        self.setup.ending == Ending::Never && self.setup.format == TraceFormat::Text
    }

    fn has_begun(&self) -> bool {
        self.has_begun
    }

    fn join(&mut self, joined: JoinedCluster<'_>) -> Result<Option<Vec<SourceKey>>, CommandError> {
        let session = joined.session;
        let nothing = session.nothing_matches(&joined.every.targets);
        if joined.keys.is_empty() && self.setup.has_goal {
            return Err(CommandError::failed(format!("error: {nothing}")));
        }
        let options = TraceOptions {
            types: joined.types.unwrap_or_default(),
            reach: self.setup.reach.clone(),
            is_of_file: false,
            explains: self.setup.explains,
        };
        let traces = self.setup.traces(&joined.keys, &options, session);
        let traces = traces.of_several(joined.place, session, nothing);
        let before = |known: &ClusterTraces| known.place() < joined.place;
        let at = self.clusters.partition_point(before);
        self.clusters.insert(at, traces);
        Ok(Some(joined.keys))
    }

    async fn wait_for_other(&mut self) {
        if self.clusters.is_empty() {
            return std::future::pending().await;
        }
        let waits = self.clusters.iter_mut();
        let waits = waits.map(|cluster| cluster.wait_for_look_up().boxed_local());
        select_all(waits).await;
    }

    fn stop_waiting(&mut self) -> bool {
        let clusters = self.clusters.iter_mut();
        clusters.fold(false, |any, cluster| cluster.give_up() | any)
    }

    fn model(&self, source: &SourceKey) -> Option<&Model> {
        let traced = self.traced().find(|traced| traced.source == *source)?;
        Some(&traced.model)
    }

    fn prints_once(&self) -> bool {
        self.is_once()
    }

    fn apply(&mut self, key: &Arc<SourceKey>, event: Event, now: Timestamp) {
        let mut clusters = self.clusters.iter_mut();
        let Some(cluster) = clusters.find(|cluster| cluster.is(&key.cluster)) else {
            return;
        };
        cluster.apply(key, &event, now);
        if cluster.settled && matches!(event, Event::Object { .. }) {
            self.changed = Some(now);
        }
    }

    fn print(
        &mut self,
        sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        let (now, ending) = (terminal.env().now(), self.setup.ending);
        for cluster in &mut self.clusters {
            cluster.refresh(sources, ending, now);
        }
        // If nothing can be read, the verb ends with an error and not with an empty view.
        if sources.refusal().is_some() {
            return Ok(());
        }
        let are_settled = self.clusters.iter().all(|cluster| cluster.settled);
        if self.is_once() && !(are_settled && sources.are_settled()) {
            return Ok(());
        }
        self.report_absent(terminal)?;
        self.print_settled(sources, terminal)
    }

    fn draw(&mut self, sources: &Sources, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let canvas = terminal.frame_canvas(self.started).narrowed();
        let models = self.traced().map(|traced| &traced.model);
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
        let are_settled = self.clusters.iter().all(|cluster| cluster.settled);
        let is_read = are_settled && self.is_settled(sources);
        self.is_once() && is_read && self.has_begun && sources.refusal().is_none()
    }
}
