//! What a Deployment's trace keeps: the objects, the change that is being rolled out, and when its
//! phases were done.

use std::sync::Arc;

use jiff::Timestamp;

use crate::commands::trace::Chain;
use crate::commands::trace::objects::{Objects, is_gone, is_live};
use crate::commands::trace::page::Page;
use crate::commands::trace::target::{Presence, Target};
use crate::graph::{Node, Selection, children_of_kind};
use crate::object::Uid;
use crate::render::json::trace as json;
use crate::watch::{Event, Select, SourceKey, Version, Why};

use super::change::{self, Change};
use super::lines::Told;
use super::log::{Log, Moment};
use super::phase::Phase;
use super::phases;
use super::read::Read;
use super::reading::{Reading, workload};
use super::{lines, view};

/// The trace of one Deployment.
pub(in crate::commands::trace) struct State {
    pub(super) target: Target,
    pub(super) objects: Objects,
    pub(super) presence: Presence,
    /// What has been read of its `ReplicaSets` and pods.
    pub(super) read: Read,
    /// The sources of its `ReplicaSets` and pods, by the selector it has, or had last.
    dependents: Vec<SourceKey>,
    /// The change that was seen, as far as the Deployment alone tells.
    seen: Change,
    /// The same with what other objects tell of it.
    pub(super) change: Change,
    pub(super) phases: Vec<Phase>,
    pub(super) log: Log,
    /// Pods that no longer match the selector, the last ones.
    pub(super) left: Vec<String>,
    arrived: Arrived,
    told: Told,
}

/// What has arrived since the phases were last noted.
#[derive(Clone, Copy, Debug, Default)]
struct Arrived {
    /// When the latest event came.
    seen: Option<Timestamp>,
    /// Whether some of it may have happened long before it came.
    listed: bool,
}

/// How many pods that have left are remembered.
const LEFT: usize = 3;

impl State {
    /// The trace of a Deployment of which nothing is known yet.
    pub(in crate::commands::trace) fn new(target: Target) -> State {
        State {
            target,
            objects: Objects::default(),
            presence: Presence::Unread,
            read: Read::default(),
            dependents: Vec::new(),
            seen: Change::default(),
            change: Change::default(),
            phases: Vec::new(),
            log: Log::default(),
            left: Vec::new(),
            arrived: Arrived::default(),
            told: Told::default(),
        }
    }

    /// The uid of the Deployment, as it is or was.
    pub(super) fn uid(&self) -> Option<&Uid> {
        match &self.presence {
            Presence::There(uid) | Presence::Deleted(uid) => Some(uid),
            Presence::Unread | Presence::Absent => None,
        }
    }

    /// The rollout as it is, unless the Deployment is not there.
    pub(super) fn reading(&self, now: Timestamp) -> Option<Reading<'_>> {
        Reading::of((&self.objects, self.read), self.presence.uid()?, now)
    }

    /// A version of the Deployment has come.
    fn follow(&mut self, was: Option<&Uid>, prev: Option<&Version>, seen: Option<Timestamp>) {
        let Some(uid) = self.presence.uid() else {
            return;
        };
        let Some(deployment) = self.objects.get(uid) else {
            return;
        };
        let prev = prev.and_then(|prev| prev.doc().ok());
        let change = match &prev {
            Some(prev) if was == Some(uid) => Change::between(prev.root(), deployment, seen),
            _ => Some(Change::last(deployment)),
        };
        let kinds = children_of_kind(&self.target.resource.group_kind()).unwrap_or_default();
        let dependents: Vec<SourceKey> = kinds
            .iter()
            .filter_map(|child| {
                let select = match child.selection(deployment) {
                    Selection::Labels(labels) => Select::labelled(&labels),
                    Selection::All => Select::All,
                    Selection::Nothing => return None,
                };
                Some(self.target.selected(child.resource(), select))
            })
            .collect();
        if dependents != self.dependents {
            self.dependents = dependents;
            self.read = Read::default();
        }
        if let Some(change) = change {
            self.change = change.clone();
            self.seen = change;
            self.log = Log::default();
        }
        if was != Some(uid) {
            self.left.clear();
        }
    }

    /// Notes a pod that the selector no longer finds, if it was one of the rollout's.
    fn note_left(&mut self, why: Why, version: &Version) {
        if why == Why::LeftSelector && &*version.object.kind == "Pod" {
            if self.left.len() == LEFT {
                self.left.remove(0);
            }
            self.left.push(version.object.to_string());
        }
    }

    /// The change with what the `ReplicaSets` tell of it; they may come after the Deployment.
    fn complete(&self, reading: &Reading<'_>) -> Change {
        let mut change = self.seen.clone();
        change.what = change.what.or_else(|| self.find_what(reading));
        if change.at == Moment::default() {
            change.at.server = Self::find_time(reading);
        }
        change
    }

    /// What the change changed, as the pod templates tell: that of the last `ReplicaSet` before, and
    /// the Deployment's own.
    fn find_what(&self, reading: &Reading<'_>) -> Option<String> {
        let revision = |set: &&Node| workload(set).and_then(|set| set.revision);
        let current = reading.current.as_ref().and_then(revision);
        let before = reading
            .old_sets()
            .filter(|set| current.is_none_or(|current| revision(set) < Some(current)))
            .max_by_key(revision);
        match (before, current) {
            (Some(before), _) => {
                let before = self.objects.get(&before.uid)?;
                change::what(before, reading.deployment, ".spec.template")
            }
            (None, Some(_)) => Some("created".to_owned()),
            (None, None) => None,
        }
    }

    /// When the change was made, where the object's managers do not say: when what it led to came to
    /// be, unless that was there before.
    fn find_time(reading: &Reading<'_>) -> Option<Timestamp> {
        let current = reading.current?;
        let object = reading.objects.get(&current.uid)?;
        phases::earlier_revision(object)
            .is_none()
            .then_some(current.created)?
    }
}

impl Chain for State {
    fn wanted(&self) -> Vec<SourceKey> {
        let mut wanted = vec![self.target.source()];
        wanted.extend(self.dependents.iter().cloned());
        wanted
    }

    fn apply(&mut self, key: &Arc<SourceKey>, event: &Event) {
        let mut uid = None;
        let mut live = None;
        match event {
            Event::Object { why, now, seen, .. } => {
                uid = self.objects.apply(key, *why, now);
                live = is_live(*why).then_some(*seen);
                self.arrived.seen = Some(*seen);
                self.arrived.listed |= live.is_none();
                self.note_left(*why, now);
            }
            Event::Synced { .. } => {
                self.objects.synced(key);
                self.read.note(&key.resource.kind);
            }
            Event::State(_) | Event::Gap(_) | Event::Undecodable { .. } => {}
        }
        if self.target.is_source(key) {
            let was = self.presence.uid().cloned();
            self.presence.apply(event, uid.as_ref());
            if let Event::Object { why, prev, .. } = event
                && !is_gone(*why)
            {
                self.follow(was.as_ref(), prev.as_deref(), live);
            }
        }
    }

    fn target(&self) -> &Target {
        &self.target
    }

    fn presence(&self) -> &Presence {
        &self.presence
    }

    fn objects(&self) -> &Objects {
        &self.objects
    }

    fn settle(&mut self, now: Timestamp) {
        let arrived = std::mem::take(&mut self.arrived);
        let Some(reading) = self.reading(now) else {
            self.phases.clear();
            return;
        };
        let change = self.complete(&reading);
        let old_pods = self.log.old_pods.max(reading.old_left());
        let phases = phases::of(&reading, old_pods);
        self.change = change;
        self.log.old_pods = old_pods;
        self.phases = phases;
        let seen = arrived.seen.filter(|_| !arrived.listed);
        self.log.note(&self.phases, seen);
    }

    fn news(&mut self, now: Timestamp) -> Vec<String> {
        let mut told = std::mem::take(&mut self.told);
        let news = told.news(self, now);
        self.told = told;
        news
    }

    fn frame(&self, page: &Page) -> Vec<String> {
        view::frame(self, page)
    }

    fn phases(&self) -> Vec<json::Phase> {
        lines::records(self)
    }
}
