//! `LogCluster`: one cluster of the view: its Pods, and what happens between their lines.

use std::sync::Arc;

use jiff::Timestamp;

use super::selected_pods::{RETENTION, RevisionChoice, SelectedPods};
use super::timeline::{LogTimeline, TimelineSetup};
use crate::commands::live::cluster_group::JoinedCluster;
use crate::commands::live::sources::waiting;
use crate::commands::{CommandError, Session};
use crate::env::{Ahead, Clock, clock_ahead, shifted};
use crate::graph::may_have_pods;
use crate::model::{Model, ViewExtent};
use crate::object::listed;
use crate::source::{ClusterId, Event, SourceKey};
use crate::status::Rules;

/// What the view of each cluster is made of.
pub(super) struct LogSetup {
    /// What the model of each cluster shows.
    pub(super) extent: ViewExtent,
    pub(super) revisions: RevisionChoice,
    /// What is shown between the lines; `None` without `--with`.
    pub(super) timeline: Option<TimelineSetup>,
    /// This machine's clock.
    pub(super) now: Clock,
}

impl LogSetup {
    /// A cluster before any event, by the clock of its server. The model knows the requested objects.
    pub(super) fn cluster(&self, session: &Session, model: Model, clock: &Clock) -> LogCluster {
        let model = model.showing(self.extent.clone());
        let timeline = self.timeline.as_ref();
        let timeline = timeline.map(|setup| setup.timeline(session, model.requested(), clock));
        LogCluster {
            id: session.cluster.clone(),
            place: None,
            selection: SelectedPods::new(model, self.revisions),
            timeline,
            has_begun: false,
            waited_for: Vec::new(),
        }
    }

    /// One of several clusters.
    pub(super) fn joined(&self, joined: JoinedCluster<'_>) -> LogCluster {
        let ahead = joined.session.ahead();
        let clock = clock_ahead(self.now.clone(), ahead.clone());
        let mut model = joined.model(Rules::Spy, RETENTION);
        model.request(joined.keys);
        let number = joined.place;
        LogCluster {
            place: Some(ClusterPlace { number, ahead }),
            ..self.cluster(joined.session, model, &clock)
        }
    }
}

/// A cluster whose logs are read.
pub(super) struct LogCluster {
    pub(super) id: ClusterId,
    /// Its place among several clusters; `None` for the only one.
    pub(super) place: Option<ClusterPlace>,
    pub(super) selection: SelectedPods,
    /// What happens between the lines, if that is shown.
    pub(super) timeline: Option<LogTimeline>,
    /// Whether its logs are read.
    pub(super) has_begun: bool,
    /// The requested objects that it has said it waits for.
    waited_for: Vec<SourceKey>,
}

/// The place of one of several clusters.
pub(super) struct ClusterPlace {
    /// Its number in the request.
    pub(super) number: usize,
    /// How far its clock is ahead of this machine's.
    pub(super) ahead: Ahead,
}

impl LogCluster {
    /// Its number in the request.
    pub(super) fn number(&self) -> usize {
        self.place.as_ref().map_or(0, |place| place.number)
    }

    /// A text about the cluster. Of several, it begins with the name.
    pub(super) fn about(&self, text: &str) -> String {
        match self.place {
            Some(_) => format!("{}: {text}", self.id.0),
            None => text.to_owned(),
        }
    }

    /// The time by the clock of its server.
    fn now(&self, now: Timestamp) -> Timestamp {
        let place = self.place.as_ref();
        place.map_or(now, |place| shifted(now, (place.ahead)()))
    }

    /// Applies one event.
    pub(super) fn apply(&mut self, key: &Arc<SourceKey>, event: &Event, now: Timestamp) {
        let now = self.now(now);
        if let Some(timeline) = &mut self.timeline {
            timeline.apply(key, event, now);
        }
        self.selection.apply(key, event, now);
    }

    /// Updates its Pods and its sources.
    pub(super) fn refresh(&mut self, now: Timestamp) {
        self.selection.refresh(self.now(now));
        if let Some(timeline) = &mut self.timeline {
            timeline.update_sources(&self.selection);
        }
    }

    /// Whether every source was read, or cannot be read.
    pub(super) fn is_settled(&self) -> bool {
        let timeline = self.timeline.as_ref();
        self.selection.is_settled() && timeline.is_none_or(LogTimeline::is_settled)
    }

    /// Whether it may settle soon. The other clusters begin without one that does not answer.
    pub(super) fn is_settling(&self) -> bool {
        let is_alone = self.place.is_none();
        !self.is_settled() && (is_alone || !self.selection.model.coverage().has_answers())
    }

    /// Begins to show what happens between the lines.
    pub(super) fn begin(&mut self) {
        self.has_begun = true;
        if let Some(timeline) = &mut self.timeline {
            timeline.begin(&self.selection);
        }
    }

    /// The sources that it needs.
    pub(super) fn wanted(&self) -> impl Iterator<Item = SourceKey> {
        let model = &self.selection.model;
        let timeline = self.timeline.iter().flat_map(LogTimeline::sources);
        let timeline = timeline.filter(|source| !model.coverage().follows(source));
        model.sources().chain(timeline).cloned()
    }

    /// A line for each requested object that does not exist, once.
    pub(super) fn waiting_lines(&mut self) -> Vec<String> {
        let absent = self.selection.absent();
        let new = absent.iter().filter(|key| !self.waited_for.contains(key));
        let lines = new.map(|key| self.about(&waiting(key))).collect();
        self.waited_for = absent;
        lines
    }

    /// kubectl's error about an object that was requested by name and whose kind has no Pods, and about types without any.
    /// An inventory is a `ConfigMap` whose members may have Pods.
    pub(super) fn without_logs(&self) -> Option<CommandError> {
        let alone = self.selection.without_dependents();
        let alone = alone.filter(|key| !may_have_pods(&key.resource.group_kind()));
        let alone: Vec<&SourceKey> = alone.collect();
        let are_all = alone.len() == self.selection.requested().len();
        let mut wrong = alone
            .iter()
            .filter(|key| are_all || key.select.name().is_some());
        let resource = &wrong.next()?.resource;
        let of = format!("*{}.{}", resource.version, resource.kind);
        let text = format!("cannot get the logs from {of}: selector for {of} not implemented");
        let error = CommandError::failed(format!("error: {}", self.about(&text)));
        Some(error.hint("name a Pod, a workload, a Service or a custom resource"))
    }

    /// Why it has no Pods; `None` if an object is missing or a source was not read.
    pub(super) fn no_pods(&self, is_followed: bool) -> Option<String> {
        let coverage = self.selection.model.coverage();
        if !coverage.sources().all(|source| coverage.is_read(source)) {
            return None;
        }
        let key = self.selection.requested().first()?;
        let has_pods_alone = &*key.resource.kind == "Pod" && key.resource.group.is_empty();
        let text = match key.namespace() {
            _ if !self.selection.absent().is_empty() => return None,
            Some(namespace) if has_pods_alone => {
                format!("No resources found in {namespace} namespace.")
            }
            None if has_pods_alone => "No resources found".to_owned(),
            Some(_) | None => {
                let yet = if is_followed { " yet" } else { "" };
                format!("no pods{yet} below {}", self.requested_words())
            }
        };
        Some(self.about(&text))
    }

    /// The requested objects, in words.
    pub(super) fn requested_words(&self) -> String {
        listed(self.selection.requested(), 1)
    }
}
