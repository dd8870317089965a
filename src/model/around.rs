//! `Around`: what a rule sees of the model: an object and those around it. It only reads.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::graph::{Graph, Node, Reference, Tier};
use crate::object::{Doc, ServedTypes, Uid};
use crate::source::{ClusterId, SourceKey};
use crate::status::Rules;

use super::coverage::Coverage;
use super::evidence::{Evidence, EvidenceObject};
use super::lookups::Lookups;
use super::object::ModelObject;
use super::objects::{Absence, Objects, PlannedMembers};
use super::search::Search;

/// A read-only view of the objects.
#[derive(Clone, Copy, Debug)]
pub struct Around<'m>(&'m Objects);

impl<'m> Around<'m> {
    pub(super) fn of(objects: &'m Objects) -> Around<'m> {
        Around(objects)
    }

    /// The relations of the objects.
    pub(super) fn graph(self) -> &'m Graph {
        &self.0.graph
    }

    /// What is planned for the members of inventories.
    pub(super) fn members(self) -> &'m PlannedMembers {
        &self.0.members
    }

    /// The types whose objects the model can read.
    pub(super) fn types(self) -> &'m ServedTypes {
        &self.0.types
    }

    /// How much of each source has been read.
    pub(super) fn coverage(self) -> &'m Coverage {
        &self.0.coverage
    }

    /// What is read only to explain.
    pub(super) fn evidence(self) -> &'m Evidence {
        &self.0.evidence
    }

    /// The volumes that a view shows. A refresh parses each of them once.
    pub(super) fn shown_volumes(self) -> &'m [EvidenceObject] {
        self.0.shown_volumes.get_or_init(|| {
            let volumes = self.graph().of_kind("PersistentVolume");
            let volumes = volumes.filter_map(|it| Some((it.object.clone(), self.doc(&it.uid)?)));
            volumes.collect()
        })
    }

    /// The sources of which only the objects around others are kept.
    pub(super) fn lookups(self) -> &'m Lookups {
        &self.0.lookups
    }

    /// The search for dependents of unknown kinds.
    pub(super) fn search(self) -> &'m Search {
        &self.0.search
    }

    /// The objects that need an explanation.
    pub(super) fn unwell(self) -> &'m BTreeSet<Uid> {
        &self.0.unwell
    }

    /// Up to which tier the model has the links of every object.
    pub(super) fn links_upto(self) -> Tier {
        self.0.links_upto
    }

    /// An object of the model.
    pub(super) fn object(self, uid: &Uid) -> Option<&'m ModelObject> {
        self.0.get(uid)
    }

    /// The newest version of an object, parsed.
    pub(super) fn doc(self, uid: &Uid) -> Option<Doc> {
        self.0.doc(uid)
    }

    /// Whether an object exists.
    pub(super) fn is_there(self, uid: &Uid) -> bool {
        self.0.is_there(uid)
    }

    /// The cluster of an object.
    pub(super) fn cluster_of(self, uid: &Uid) -> Option<&'m ClusterId> {
        self.0.cluster_of(uid)
    }

    /// Whether an object that no source has does not exist.
    pub(super) fn knows_absence(self) -> bool {
        self.0.knows_absence
    }

    /// Why the model does not have the object of a source.
    pub(super) fn absence(self, source: Option<&SourceKey>) -> Absence {
        self.0.absence(source)
    }

    /// Whether an object that another one names certainly does not exist, if the model does not have it.
    pub(super) fn is_absent(self, node: &Node, reference: &Reference) -> bool {
        let cluster = self.cluster_of(&node.uid);
        let source = cluster.and_then(|cluster| reference.source(cluster, self.types()));
        self.absence(source.as_ref()) == Absence::Missing
    }

    /// The rules by which it judges.
    pub(super) fn rules(self) -> Rules {
        self.0.rules
    }

    /// Whether the model has only a few objects, or those of a trace.
    pub(super) fn is_of_few(self) -> bool {
        self.0.is_of_few()
    }

    /// The time of the last refresh.
    pub(super) fn refreshed(self) -> Timestamp {
        self.0.refreshed
    }

    /// Whether an object is a Pod that has ended.
    pub(super) fn has_ended(self, object: &ModelObject) -> bool {
        self.0.has_ended(object)
    }

    /// Every object, by uid.
    pub(super) fn objects(self) -> impl Iterator<Item = (&'m Uid, &'m ModelObject)> {
        self.0.iter()
    }
}
