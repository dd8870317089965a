//! `JudgedObjects`: the model that judges the selected objects of a verb that has no model of its own.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use crate::model::{MAX_REFERENCES, Model, Retention};
use crate::object::Uid;
use crate::source::{Event, SourceKey};
use crate::status::{Rules, Status};

/// The dependents of at most this many objects are followed at a time. Each object costs a list and a watch for every
/// kind of dependents.
const MOST_EXPANDED: usize = 32;

/// The selected objects, and what decides their states.
pub(crate) struct JudgedObjects {
    requested: Vec<SourceKey>,
    selected: BTreeSet<Uid>,
    model: Model,
}

impl JudgedObjects {
    /// The objects of these sources, before any event.
    pub(crate) fn new(requested: &[SourceKey]) -> JudgedObjects {
        let mut model = Model::new(Rules::Spy, Retention::None);
        model.follow(requested.to_vec());
        JudgedObjects {
            requested: requested.to_vec(),
            selected: BTreeSet::new(),
            model,
        }
    }

    /// The same for a file. An object that is not in it may exist.
    pub(crate) fn of_excerpt(self) -> JudgedObjects {
        JudgedObjects {
            model: self.model.of_excerpt(),
            ..self
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
    pub(crate) fn apply(&mut self, source: &Arc<SourceKey>, event: &Event, now: Timestamp) {
        if let Event::Object { now: version, .. } = event
            && self.requested.contains(source)
        {
            self.selected.insert(version.object.identity());
        }
        self.model.apply(source, event, now);
    }

    /// Applies the effects of events and of time, and plans the sources.
    pub(crate) fn refresh(&mut self, now: Timestamp) {
        self.model.refresh(now);
        self.selected.retain(|uid| self.model.object(uid).is_some());
        let sources = self.plan();
        self.model.follow(sources);
        self.model.refresh(now);
    }

    /// An object that is Current needs no dependents to show it.
    fn plan(&self) -> Vec<SourceKey> {
        let mut sources = self.requested.clone();
        let is_open = |uid: &&Uid| {
            let object = self.model.object(uid);
            object.is_some_and(|object| object.assessment.status() != Status::Current)
        };
        for uid in self.selected.iter().filter(is_open).take(MOST_EXPANDED) {
            let node = self.model.graph().node(uid);
            let cluster = self.requested.first().map(|source| &source.cluster);
            if let (Some(node), Some(cluster)) = (node, cluster) {
                sources.extend(node.dependent_sources(cluster));
            }
        }
        sources.extend(self.model.service_sources());
        sources.extend(self.model.reference_sources(MAX_REFERENCES));
        sources
    }

    /// The model, once it is up to date.
    pub(crate) fn judged(&self) -> Option<&Model> {
        let is_ready = self.model.is_fresh() && self.model.coverage().has_answers();
        is_ready.then_some(&self.model)
    }
}
