//! `Traced`: the traced object, whether it exists, and the live model around it.

use std::sync::Arc;

use jiff::Timestamp;

use crate::commands::LastChange;
use crate::graph::{Graph, Node, TraceReach};
use crate::model::{Model, Retention, ViewExtent};
use crate::object::{Doc, ObjectRef, ServedTypes, Uid};
use crate::source::{Event, SourceKey};
use crate::status::{Assessment, Rules};

/// The traced object, and everything known around it.
pub(super) struct Traced {
    /// The source of the object, which selects its name.
    pub(super) source: SourceKey,
    pub(super) presence: Presence,
    pub(super) model: Model,
    /// What changed before the object failed and may be the cause, the most suspect first.
    pub(super) last_changes: Vec<LastChange>,
    /// Whether the view shows the rules behind the states.
    pub(super) explains: bool,
    /// How far the trace shows its connections.
    pub(super) reach: TraceReach,
}

/// What a trace needs to know besides its object.
#[derive(Clone, Debug, Default)]
pub(super) struct TraceOptions {
    /// The types of the cluster or of the file.
    pub(super) types: ServedTypes,
    /// How far the trace shows the connections of the object.
    pub(super) reach: TraceReach,
    /// Whether it reads a file: an object that is not in it may exist.
    pub(super) is_of_file: bool,
    /// Whether the view shows the rules behind the states.
    pub(super) explains: bool,
}

/// Whether the traced object exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// Not known yet.
    Unread,
    /// It has never existed.
    Absent,
    /// It exists.
    There(Uid),
    /// It existed and was deleted.
    Deleted(Uid),
}

impl Traced {
    /// The object of this source before any event.
    pub(super) fn new(source: SourceKey, options: TraceOptions) -> Traced {
        let mut model = Model::new(Rules::Spy, Retention::None)
            .with_links(options.types)
            .showing(ViewExtent::Connections(options.reach.clone()));
        if options.is_of_file {
            model = model.of_excerpt();
        }
        model.request(vec![source.clone()]);
        Traced {
            source,
            presence: Presence::Unread,
            model,
            last_changes: Vec::new(),
            explains: options.explains,
            reach: options.reach,
        }
    }

    /// Applies one event.
    pub(super) fn apply(&mut self, source: &Arc<SourceKey>, event: &Event, now: Timestamp) {
        self.model.apply(source, event, now);
        if **source == self.source {
            self.presence.apply(event);
        }
    }

    /// The reference to the object: `service/api`.
    pub(super) fn object(&self) -> ObjectRef {
        let named = self.source.named_object();
        named.expect("the source selects one name")
    }

    /// The uid of the object, if it exists.
    pub(super) fn uid(&self) -> Option<&Uid> {
        self.presence.uid()
    }

    /// The newest version of the object, parsed.
    pub(super) fn doc(&self) -> Option<Doc> {
        self.model.doc(self.uid()?)
    }

    /// The object in the graph.
    pub(super) fn node(&self) -> Option<&Node> {
        self.graph().node(self.uid()?)
    }

    /// The relations of the objects around it.
    pub(super) fn graph(&self) -> &Graph {
        self.model.graph()
    }

    /// The assessment of one of the objects around it.
    pub(super) fn assessment(&self, uid: &Uid) -> Option<&Assessment> {
        self.model.assessment(uid)
    }

    /// The rules behind the states, one on each line: those of the object, then those that found the causes around it.
    pub(super) fn explained(&self) -> Vec<String> {
        let own = self.uid().and_then(|uid| self.assessment(uid));
        let Some(own) = own.filter(|_| self.explains) else {
            return Vec::new();
        };
        let mut lines = own.explained();
        let assessments = self.model.objects().map(|(_, object)| &object.assessment);
        for assessment in assessments.filter(|assessment| !assessment.is_well()) {
            for line in assessment.explained() {
                if !lines.contains(&line) {
                    lines.push(line);
                }
            }
        }
        lines
    }

    /// Whether a source has been read.
    pub(super) fn is_read(&self, source: &SourceKey) -> bool {
        self.model.coverage().is_read(source)
    }
}

impl Presence {
    /// Applies an event of the object's own source.
    fn apply(&mut self, event: &Event) {
        match event {
            Event::Object { why, now, .. } => {
                let uid = now.object.identity();
                // The end of an older object of the same name may arrive after its successor.
                let is_of_another = self.uid().is_some_and(|there| *there != uid);
                match why.is_gone() {
                    true if is_of_another => {}
                    true => *self = Presence::Deleted(uid),
                    false => *self = Presence::There(uid),
                }
            }
            Event::Synced { .. } if *self == Presence::Unread => *self = Presence::Absent,
            Event::Synced { .. } | Event::State(_) | Event::Gap(_) | Event::Undecodable { .. } => {}
        }
    }

    pub(super) fn uid(&self) -> Option<&Uid> {
        match self {
            Presence::There(uid) => Some(uid),
            Presence::Unread | Presence::Absent | Presence::Deleted(_) => None,
        }
    }

    /// The uid of the object, even if it is deleted.
    pub(super) fn last_uid(&self) -> Option<&Uid> {
        match self {
            Presence::There(uid) | Presence::Deleted(uid) => Some(uid),
            Presence::Unread | Presence::Absent => None,
        }
    }
}

/// The revision after the name of a workload: ` #12`.
pub(super) fn revision(workload: &Node) -> Option<String> {
    Some(format!(" #{}", workload.revision()?))
}
