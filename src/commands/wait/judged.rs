//! `JudgedObjects`: the model that judges the selected objects of a verb that has no model of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::env::Clock;
use crate::model::Model;
use crate::object::Uid;
use crate::source::{ClusterId, Event, SourceKey};
use crate::status::Status;

/// The dependents of at most this many objects are followed at a time. Each object costs a list and a watch for every
/// kind of dependents.
const MAX_EXPANDED: usize = 32;

/// The selected objects, and what decides their states.
pub(crate) struct JudgedObjects {
    requested: Vec<SourceKey>,
    selected: BTreeSet<Uid>,
    /// Those that were requested by name.
    named: BTreeMap<Uid, ClusterId>,
    model: Model,
    /// The server's clock, by which it judges.
    clock: Clock,
}

impl JudgedObjects {
    /// The objects of these sources, before any event.
    pub(crate) fn new(model: Model, requested: &[SourceKey], clock: Clock) -> JudgedObjects {
        let mut model = model;
        model.follow(requested.to_vec());
        JudgedObjects {
            requested: requested.to_vec(),
            selected: BTreeSet::new(),
            named: BTreeMap::new(),
            model,
            clock,
        }
    }

    /// The sources to follow: the selected ones, and those of dependents and neighbours.
    pub(crate) fn wanted(&self) -> Vec<SourceKey> {
        self.model.coverage().sources().cloned().collect()
    }

    /// The sources that must be read from the start.
    pub(crate) fn take_rereads(&mut self) -> Vec<SourceKey> {
        self.model.take_rereads()
    }

    /// Applies one event.
    pub(crate) fn apply(&mut self, source: &Arc<SourceKey>, event: &Event) {
        if let Event::Object { now: version, .. } = event
            && self.requested.contains(source)
        {
            let uid = version.object.identity();
            if source.select.name().is_some() {
                self.named.insert(uid.clone(), source.cluster.clone());
            }
            self.selected.insert(uid);
        }
        self.model.apply(source, event, (self.clock)());
    }

    /// Applies the effects of events and of time, and plans the sources.
    pub(crate) fn refresh(&mut self) {
        let now = (self.clock)();
        self.model.refresh(now);
        self.selected.retain(|uid| self.model.object(uid).is_some());
        self.named.retain(|uid, _| self.model.object(uid).is_some());
        let plan = self.model.plan(self.named.iter());
        self.model.follow_plan(self.sources(), &plan);
        self.model.refresh(now);
    }

    /// The selected sources and those of dependents. An object that is Current needs no dependents to show it.
    fn sources(&self) -> Vec<SourceKey> {
        let mut sources = self.requested.clone();
        let is_open = |uid: &&Uid| {
            let object = self.model.object(uid);
            object.is_some_and(|object| object.assessment.status() != Status::Current)
        };
        let open = self.selected.iter().filter(is_open).take(MAX_EXPANDED);
        if let Some(first) = self.requested.first() {
            let open = open.map(|uid| (uid, &first.cluster));
            sources.extend(self.model.dependent_sources(open));
        }
        sources
    }

    /// The model, once it is up to date.
    pub(crate) fn judged(&self) -> Option<&Model> {
        Some(&self.model).filter(|model| model.is_presentable())
    }
}
