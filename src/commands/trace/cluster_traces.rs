//! `ClusterTraces`: the traces of one cluster or file, and what was printed of them.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::chain::Chain;
use super::object::ObjectTrace;
use super::printed_trace::{PrintedTrace, TraceFormat};
use super::service::ServiceTrace;
use super::traced::{Presence, TraceOptions, Traced};
use super::workload::WorkloadTrace;
use crate::commands::{Ending, LastChanges, Session, Sources};
use crate::env::{Ahead, shifted};
use crate::model::Model;
use crate::object::GroupKind;
use crate::render::canvas::Canvas;
use crate::render::style::Role;
use crate::render::text::Text;
use crate::rollout::workload_kind;
use crate::source::{ClusterId, Event, SourceKey};

/// How long a print waits for a new source before it goes on without it.
const PATIENCE: SignedDuration = SignedDuration::from_secs(2);

/// The traces of one cluster or file.
pub(super) struct ClusterTraces {
    pub(super) traces: Vec<PrintedTrace>,
    /// The cluster, of several.
    name: Option<TracedCluster>,
    /// Whether everything has been read once. From then on, it prints changes.
    pub(super) settled: bool,
    /// The look-up of what changed before the only object failed; `None` without a look-back.
    last_changes: Option<LastChanges>,
    /// Since when a new source has not been read; `None` if all are read.
    waiting_since: Option<Timestamp>,
}

/// A cluster of several.
struct TracedCluster {
    /// Its place in the request.
    place: usize,
    cluster: ClusterId,
    /// How far its clock is ahead of the view's.
    ahead: Ahead,
    /// Why there is no trace, if so.
    nothing: String,
    /// Whether that was reported.
    has_reported: bool,
}

impl ClusterTraces {
    /// The traces of these sources, which start now.
    pub(super) fn new(sources: &[SourceKey], options: &TraceOptions) -> ClusterTraces {
        let traced = |source: &SourceKey| Traced::new(source.clone(), options.clone());
        let chains = sources.iter().map(traced).map(open);
        ClusterTraces {
            traces: chains.map(PrintedTrace::new).collect(),
            name: None,
            settled: false,
            last_changes: None,
            waiting_since: None,
        }
    }

    /// The same, of one cluster of several. Without a trace, `nothing` says why.
    pub(super) fn of_several(
        self,
        place: usize,
        session: &Session,
        nothing: String,
    ) -> ClusterTraces {
        let cluster = session.cluster.clone();
        let traces = self.traces.into_iter();
        ClusterTraces {
            traces: traces.map(|trace| trace.of_cluster(&cluster)).collect(),
            name: Some(TracedCluster {
                place,
                cluster,
                ahead: session.ahead(),
                nothing,
                has_reported: false,
            }),
            ..self
        }
    }

    /// The same, which also looks up what changed before the object failed, if it is alone.
    pub(super) fn looking_back(self, session: &Session) -> ClusterTraces {
        let is_alone = self.traces.len() == 1;
        let last_changes = is_alone.then(|| LastChanges::new(session.past().clone()));
        ClusterTraces {
            last_changes,
            ..self
        }
    }

    /// Its place in the request.
    pub(super) fn place(&self) -> usize {
        self.name.as_ref().map_or(0, |name| name.place)
    }

    /// Whether it is this cluster.
    pub(super) fn is(&self, cluster: &ClusterId) -> bool {
        self.name
            .as_ref()
            .is_none_or(|name| name.cluster == *cluster)
    }

    /// A text about the cluster. Of several, it begins with the name.
    pub(super) fn about(&self, text: &str) -> String {
        match &self.name {
            Some(name) => format!("{}: {text}", name.cluster.0),
            None => text.to_owned(),
        }
    }

    /// The error for a cluster of several in which nothing was found.
    pub(super) fn nothing(&self) -> Option<String> {
        let name = self.name.as_ref().filter(|_| self.traces.is_empty())?;
        Some(self.about(&format!("error: {}", name.nothing)))
    }

    /// Why there is no trace, once.
    pub(super) fn take_nothing(&mut self) -> Option<String> {
        let name = self.name.as_mut().filter(|_| self.traces.is_empty())?;
        let is_new = !std::mem::replace(&mut name.has_reported, true);
        is_new.then(|| format!("{}: {}", name.cluster.0, name.nothing))
    }

    fn ahead(&self) -> SignedDuration {
        let ahead = self.name.as_ref().map(|name| (name.ahead)());
        ahead.unwrap_or_default()
    }

    /// The objects.
    pub(super) fn traced(&self) -> impl Iterator<Item = &Traced> {
        self.traces.iter().map(|trace| trace.chain.traced())
    }

    /// The models of the objects.
    pub(super) fn models_mut(&mut self) -> impl Iterator<Item = &mut Model> {
        let traces = self.traces.iter_mut();
        traces.map(|trace| &mut trace.chain.traced_mut().model)
    }

    /// Whether every object is well.
    pub(super) fn is_well(&self) -> bool {
        self.traced().all(|traced| {
            let object = traced.uid().and_then(|uid| traced.model.object(uid));
            object.is_some_and(|object| object.assessment.is_well())
        })
    }

    /// Applies one event, at a time by the view's clock.
    pub(super) fn apply(&mut self, key: &Arc<SourceKey>, event: &Event, now: Timestamp) {
        let now = shifted(now, self.ahead());
        for trace in &mut self.traces {
            trace.chain.apply(key, event, now);
        }
    }

    /// Applies the effects of events and of time.
    pub(super) fn refresh(&mut self, sources: &Sources, ending: Ending, now: Timestamp) {
        let now = shifted(now, self.ahead());
        for trace in &mut self.traces {
            trace.chain.refresh(now);
        }
        self.settled |= self.is_settled(sources, ending);
        if self.settled {
            for trace in &mut self.traces {
                trace.chain.settle();
            }
        }
    }

    /// Whether every source of the view has been read or cannot be read. With `--once`, the search for dependents must be
    /// over, too.
    pub(super) fn is_settled(&self, sources: &Sources, ending: Ending) -> bool {
        let are_settled = match &self.name {
            _ if self.traces.is_empty() => true,
            Some(name) => sources.are_settled_of(&name.cluster),
            None => sources.are_settled(),
        };
        let is_read = |model: &Model| {
            let mut wanted = model.coverage().sources();
            model.coverage().has_answers() && wanted.all(|key| sources.has(key))
        };
        let is_once = ending == Ending::Once;
        let mut models = self.traced().map(|traced| &traced.model);
        are_settled && models.all(|model| is_read(model) && (!is_once || model.is_searched()))
    }

    /// Whether every source has been read, or the wait for a new one is over.
    pub(super) fn is_whole(&mut self, sources: &Sources, ending: Ending, now: Timestamp) -> bool {
        if self.is_settled(sources, ending) {
            self.waiting_since = None;
            return true;
        }
        let since = *self.waiting_since.get_or_insert(now);
        now.duration_since(since) >= PATIENCE
    }

    /// Looks up what changed before the object failed. Returns whether the look-up is on its way.
    pub(super) fn look_back(&mut self, now: Timestamp) -> bool {
        let now = shifted(now, self.ahead());
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

    /// Waits for a result of the look-up.
    pub(super) async fn wait_for_look_up(&mut self) {
        match &mut self.last_changes {
            Some(last_changes) => last_changes.next().await,
            None => std::future::pending().await,
        }
    }

    /// Ends the look-up. Returns whether any output may have waited for it.
    pub(super) fn give_up(&mut self) -> bool {
        let last_changes = self.last_changes.as_mut();
        last_changes.is_some_and(LastChanges::give_up)
    }

    /// The line above the traces of a cluster of several.
    pub(super) fn heading(&self) -> Option<Text> {
        let name = self.name.as_ref()?;
        let heading = Text::dim("cluster ") + Text::new(Role::Name, &*name.cluster.0);
        Some(if self.traces.is_empty() {
            heading + "  " + Text::dim(&name.nothing)
        } else {
            heading
        })
    }

    /// The same canvas, by the clock of the cluster.
    pub(super) fn canvas(&self, canvas: Canvas) -> Canvas {
        let ahead = self.ahead();
        Canvas {
            now: shifted(canvas.now, ahead),
            started: canvas.started.map(|started| shifted(started, ahead)),
            ..canvas
        }
    }

    /// What is new of all traces since the last print. A page of a cluster of several has its heading.
    pub(super) fn new_lines(
        &mut self,
        format: TraceFormat,
        ending: Ending,
        canvas: Canvas,
    ) -> Vec<Text> {
        let canvas = self.canvas(canvas);
        let is_page = (format, ending) == (TraceFormat::Text, Ending::Once);
        let is_of_several = self.name.is_some();
        let mut lines = Vec::from_iter(self.heading().filter(|_| is_page));
        for (at, trace) in self.traces.iter_mut().enumerate() {
            lines.extend((at > 0 && is_page).then(Text::default));
            let traced = trace.chain.traced();
            if is_page && is_of_several && traced.presence == Presence::Absent {
                lines.push(Text::dim(format!("{} not found", traced.object())));
            } else {
                lines.extend(trace.new_lines(format, ending, canvas));
            }
        }
        lines
    }
}

/// The trace of an object.
pub(super) fn open(traced: Traced) -> Box<dyn Chain> {
    let type_ = traced.source.resource.group_kind();
    match workload_kind(&type_) {
        Some(kind) => Box::new(WorkloadTrace::new(kind, traced)),
        None if is_service(&type_) => Box::new(ServiceTrace::new(traced)),
        None => Box::new(ObjectTrace::new(traced)),
    }
}

/// Whether the objects of a type have a story of their own.
pub(super) fn has_story(type_: &GroupKind) -> bool {
    workload_kind(type_).is_some() || is_service(type_)
}

fn is_service(type_: &GroupKind) -> bool {
    (&*type_.group, &*type_.kind) == ("", "Service")
}
