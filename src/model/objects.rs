//! `Objects`: the objects of the followed sources, their relations, and what is read only to explain them.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::graph::{Graph, ReferenceTarget, Tier};
use crate::object::{Doc, ServedTypes, Uid};
use crate::source::{ClusterId, SourceKey};
use crate::status::Rules;

use super::absence::Absence;
use super::absent_member::PlannedMembers;
use super::coverage::{Coverage, Reading};
use super::evidence::Evidence;
use super::lookups::Lookups;
use super::object::ModelObject;

/// The objects of some sources, and what is known of them.
#[derive(Debug)]
pub(super) struct Objects {
    pub(super) rules: Rules,
    /// Whether an object that no source has does not exist.
    pub(super) knows_absence: bool,
    /// Up to which tier it knows the links of every object, whatever the object's state.
    pub(super) links_upto: Tier,
    /// Up to which tier other objects matter to a Pod that is well.
    pub(super) needs_of_well_pods: Tier,
    /// The types whose objects it can read.
    pub(super) types: ServedTypes,
    pub(super) coverage: Coverage,
    pub(super) lookups: Lookups,
    pub(super) members: PlannedMembers,
    pub(super) graph: Graph,
    pub(super) by_uid: BTreeMap<Uid, Box<ModelObject>>,
    /// The objects that need an explanation.
    pub(super) unwell: BTreeSet<Uid>,
    /// What explains them.
    pub(super) evidence: Evidence,
    /// The time of the last refresh.
    pub(super) refreshed: Timestamp,
}

impl Objects {
    /// No objects yet. They are judged by these rules.
    pub(super) fn new(rules: Rules) -> Objects {
        Objects {
            rules,
            knows_absence: true,
            links_upto: Tier::Always,
            needs_of_well_pods: Tier::Always,
            types: ServedTypes::default(),
            coverage: Coverage::default(),
            lookups: Lookups::default(),
            members: PlannedMembers::default(),
            graph: Graph::default(),
            by_uid: BTreeMap::new(),
            unwell: BTreeSet::new(),
            evidence: Evidence::default(),
            refreshed: Timestamp::UNIX_EPOCH,
        }
    }

    /// Whether they are only a few, or those of a trace.
    pub(super) fn is_of_few(&self) -> bool {
        self.needs_of_well_pods == Tier::Unwell || self.links_upto == Tier::Trace
    }

    /// The object with this uid.
    pub(super) fn get(&self, uid: &Uid) -> Option<&ModelObject> {
        self.by_uid.get(uid).map(|object| &**object)
    }

    /// Every object, by uid.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Uid, &ModelObject)> {
        self.by_uid.iter().map(|(uid, object)| (uid, &**object))
    }

    /// The newest version of an object, parsed. `None` if the object is gone or does not parse.
    pub(super) fn doc(&self, uid: &Uid) -> Option<Doc> {
        self.get(uid)?.version()?.doc().ok()
    }

    /// Whether an object exists.
    pub(super) fn is_there(&self, uid: &Uid) -> bool {
        self.get(uid)
            .is_some_and(|object| object.departure.is_none())
    }

    /// The cluster of an object.
    pub(super) fn cluster_of(&self, uid: &Uid) -> Option<&ClusterId> {
        self.get(uid)?.cluster()
    }

    /// Whether an object is a Pod that has ended.
    pub(super) fn has_ended(&self, object: &ModelObject) -> bool {
        let node = self.graph.node(&object.object.identity());
        let pod = node.and_then(|node| node.pod());
        pod.is_some_and(|pod| pod.has_ended)
    }

    /// Why the model does not have an object of a source. An object without a source is of a type that is not served.
    pub(super) fn absence(&self, source: Option<&SourceKey>) -> Absence {
        let Some(source) = source else {
            return Absence::Unserved;
        };
        match self.reading_of_named(source) {
            Some(Reading::All) if self.knows_absence => Absence::Missing,
            Some(Reading::All) => Absence::NotInFile,
            Some(Reading::Refused) => Absence::Refused,
            Some(Reading::Partial | Reading::Silent) | None => Absence::Unread,
        }
    }

    /// How much has been read of the source of a named object, or of a wider source that shows the object, too. What is only
    /// evidence has no objects.
    fn reading_of_named(&self, source: &SourceKey) -> Option<&Reading> {
        let has_objects = |source: &SourceKey| !self.evidence.is_of(source);
        let own = self.coverage.reading(source);
        own.filter(|_| has_objects(source)).or_else(|| {
            let target = ReferenceTarget::of(&source.named_object()?);
            let mut wider = source.wider().into_iter();
            let wide = wider.find(|wide| {
                let shows = has_objects(wide) && self.lookups.looks_for(wide, &target);
                shows && self.coverage.follows(wide)
            });
            self.coverage.reading(&wide?)
        })
    }
}
