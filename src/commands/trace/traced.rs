//! `Traced`: the traced object, and the live model around it.

use std::sync::Arc;

use jiff::Timestamp;

use super::target::{Presence, TracedObject};
use crate::graph::{Graph, Node};
use crate::model::{Model, Retention};
use crate::object::{Doc, Uid};
use crate::source::{Event, SourceKey};
use crate::status::{Assessment, Rules};

/// The traced object, and everything known around it.
pub(super) struct Traced {
    pub(super) target: TracedObject,
    pub(super) presence: Presence,
    pub(super) model: Model,
}

impl Traced {
    /// The object before any event.
    pub(super) fn new(target: TracedObject) -> Traced {
        let mut model = Model::new(Rules::Spy, Retention::None);
        model.follow(vec![target.source()]);
        Traced {
            target,
            presence: Presence::Unread,
            model,
        }
    }

    /// Applies one event.
    pub(super) fn apply(&mut self, source: &Arc<SourceKey>, event: &Event, now: Timestamp) {
        self.model.apply(source, event, now);
        if self.target.is_source(source) {
            self.presence.apply(event);
        }
    }

    /// The newest version of the object, parsed.
    pub(super) fn doc(&self) -> Option<Doc> {
        self.model.doc(self.presence.uid()?)
    }

    /// The object in the graph.
    pub(super) fn node(&self) -> Option<&Node> {
        self.graph().node(self.presence.uid()?)
    }

    /// The relations of the objects around it.
    pub(super) fn graph(&self) -> &Graph {
        self.model.graph()
    }

    /// The assessment of one of the objects around it.
    pub(super) fn assessment(&self, uid: &Uid) -> Option<&Assessment> {
        Some(&self.model.object(uid)?.assessment)
    }

    /// Whether a source has been read.
    pub(super) fn is_read(&self, source: &SourceKey) -> bool {
        self.model.coverage().is_read(source)
    }
}
