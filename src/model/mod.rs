//! The live model: the objects of a view's sources, their relations and their states.
//!
//! [`Model::apply`] stores one event. [`Model::refresh`] then assesses all changed objects together. The
//! model is pure: it knows nothing of streams and views, and each call gets the time.

mod absence;
mod absent_member;
mod around;
mod coverage;
mod departed;
mod evidence;
mod evidence_sources;
mod facts;
mod judge;
mod lookups;
mod members;
mod needed;
mod neighbour_rules;
mod object;
mod outlook;
mod plan;
mod reference_findings;
mod refresh;
mod repetition;
mod roll_up;
mod roots;
mod service;
mod service_sources;
mod stateful_set;
mod step;
#[cfg(test)]
mod tests;
mod volume_fit;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::graph::{Graph, Lookup, Tier};
use crate::object::{Doc, ServedTypes, Uid};
use crate::source::{Event, SourceKey, Version, Why};
use crate::status::Rules;

use absent_member::PlannedMembers;
use evidence::Evidence;
use lookups::Lookups;
use step::Wanted;

pub use absence::Absence;
pub use absent_member::{AbsentMember, MemberGap};
pub use coverage::{Coverage, Reading};
pub use facts::placement::nodes_closed_to;
pub use facts::pod_templates::idle_workload;
pub use facts::refusing_webhook::refusing_configurations;
pub use neighbour_rules::daemon_set::{nodes_that_keep_out, was_closed_out_lately};
pub use neighbour_rules::front::missing_in_front;
pub use neighbour_rules::policy::isolating_policies;
pub use object::ModelObject;
pub use outlook::Outlook;
pub use plan::JudgementPlan;
pub use repetition::repeated;
pub use roots::{Collapsed, Rank, Root, RootPlace, Roots};
pub use service::{endpoints_finding, pod_coverage, repeats_its_pods};
pub use step::Extent;

/// How long the model keeps an object that is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retention {
    /// Until the next refresh.
    None,
    /// For this long, and as long as any of its dependents is there.
    For(SignedDuration),
}

/// The objects of some sources, their relations and their states.
#[derive(Debug)]
pub struct Model {
    rules: Rules,
    retention: Retention,
    /// Whether an object that no source has does not exist.
    knows_absence: bool,
    /// Up to which tier it knows the links of every object, whatever the object's state.
    links_upto: Tier,
    /// Up to which tier other objects matter to a Pod that is well.
    needs_of_well_pods: Tier,
    /// The types whose objects it can read.
    types: ServedTypes,
    /// The requested sources.
    requested: Vec<SourceKey>,
    roots: Roots,
    extent: Extent,
    /// The sources that it wants to follow since the last step.
    wanted: Wanted,
    coverage: Coverage,
    lookups: Lookups,
    members: PlannedMembers,
    graph: Graph,
    objects: BTreeMap<Uid, Box<ModelObject>>,
    /// The objects that changed since the last refresh.
    changed: BTreeSet<Uid>,
    /// Whether a source that may show a named object was read, or could not be read, since the last refresh.
    has_news_of_sources: bool,
    /// The objects whose states so far are no changes: they were listed, and their neighbours were not read yet.
    listed: BTreeSet<Uid>,
    /// Whether every source had answered at the end of the last refresh.
    was_settled: bool,
    /// When to assess objects again without an event.
    reviews: BTreeSet<(Timestamp, Uid)>,
    /// The objects that are gone and still kept.
    departed: BTreeSet<Uid>,
    /// The objects that need an explanation.
    unwell: BTreeSet<Uid>,
    /// What explains them.
    evidence: Evidence,
    /// The time of the last refresh.
    refreshed: Timestamp,
}

impl Model {
    /// A model without objects that assesses them by `rules`.
    pub fn new(rules: Rules, retention: Retention) -> Model {
        Model {
            rules,
            retention,
            knows_absence: true,
            links_upto: Tier::Always,
            needs_of_well_pods: Tier::Always,
            types: ServedTypes::default(),
            requested: Vec::new(),
            roots: Roots::default(),
            extent: Extent::Dependents,
            wanted: Wanted::default(),
            lookups: Lookups::default(),
            members: PlannedMembers::default(),
            coverage: Coverage::default(),
            graph: Graph::default(),
            objects: BTreeMap::new(),
            changed: BTreeSet::new(),
            has_news_of_sources: false,
            listed: BTreeSet::new(),
            was_settled: false,
            reviews: BTreeSet::new(),
            departed: BTreeSet::new(),
            unwell: BTreeSet::new(),
            evidence: Evidence::default(),
            refreshed: Timestamp::UNIX_EPOCH,
        }
    }

    /// The same model for an excerpt of a cluster, such as a file. An object that is not in it may exist.
    #[must_use]
    pub fn of_excerpt(self) -> Model {
        Model {
            knows_absence: false,
            ..self
        }
    }

    /// The same model with every link of every object, for a trace in a cluster that serves these types.
    #[must_use]
    pub fn with_links(self, types: ServedTypes) -> Model {
        Model {
            links_upto: Tier::Trace,
            types,
            ..self
        }
    }

    /// The same model for a view that shows this around the requested objects.
    #[must_use]
    pub fn showing(self, extent: Extent) -> Model {
        Model { extent, ..self }
    }

    /// Whether it has only a few objects, or those of a trace.
    fn is_of_few(&self) -> bool {
        self.needs_of_well_pods == Tier::Unwell || self.links_upto == Tier::Trace
    }

    /// The same model in a cluster that serves these types.
    #[must_use]
    pub fn with_types(self, types: ServedTypes) -> Model {
        Model { types, ..self }
    }

    /// Whether an object that no source has does not exist.
    pub fn knows_absence(&self) -> bool {
        self.knows_absence
    }

    /// The types whose objects it can read.
    pub fn types(&self) -> &ServedTypes {
        &self.types
    }

    /// Replaces the sources that the model follows. Objects of the old sources stay until all new sources are
    /// read, because a new selector usually finds them again.
    pub fn follow(&mut self, sources: Vec<SourceKey>) {
        self.follow_with_evidence(sources, Vec::new());
    }

    /// The same, with sources of [evidence](Model::evidence_sources).
    pub(super) fn follow_with_evidence(
        &mut self,
        sources: Vec<SourceKey>,
        evidence: Vec<SourceKey>,
    ) {
        let only_evidence = evidence
            .into_iter()
            .filter(|source| !sources.contains(source));
        let evidence: Vec<SourceKey> = only_evidence.collect();
        self.evidence.follow(evidence.clone());
        self.coverage
            .follow(sources.into_iter().chain(evidence).collect());
        self.was_settled &= self.coverage.has_answers();
    }

    /// Replaces the sources of which the model keeps only the objects around others. If these others change, it must
    /// get all objects of the source again: see [`Model::take_rereads`].
    pub fn look_through(&mut self, lookups: Vec<Lookup>) {
        for source in self.lookups.replace(lookups) {
            self.coverage.reread(&source);
            self.was_settled = false;
        }
    }

    /// The sources of which the model needs every object since the last call, also if another view has them already.
    pub fn take_rereads(&mut self) -> Vec<SourceKey> {
        self.coverage.take_rereads()
    }

    /// The sources that were looked through, with the numbers of their objects.
    pub fn looked_through(&self) -> impl Iterator<Item = (&SourceKey, usize)> {
        let read = |(source, _): &(&SourceKey, usize)| self.coverage.is_read(source);
        self.lookups.counts().filter(read)
    }

    /// The sources that the model follows, and how much of each has been read.
    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// The relations of the objects, as of the last refresh.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The object with this uid.
    pub fn object(&self, uid: &Uid) -> Option<&ModelObject> {
        self.objects.get(uid).map(|object| &**object)
    }

    /// Every object, by uid.
    pub fn objects(&self) -> impl Iterator<Item = (&Uid, &ModelObject)> {
        self.objects.iter().map(|(uid, object)| (uid, &**object))
    }

    /// The newest version of an object, parsed. `None` if the object is gone or does not parse.
    pub fn doc(&self, uid: &Uid) -> Option<Doc> {
        self.objects.get(uid)?.version()?.doc().ok()
    }

    /// Whether no event has changed an assessment since the last refresh.
    pub fn is_fresh(&self) -> bool {
        self.changed.is_empty()
            && self.evidence.news.about.is_empty()
            && !self.evidence.news.has_labels
            && !self.has_news_of_sources
    }

    /// Applies one event. Events of sources that the model does not follow change nothing.
    pub fn apply(&mut self, source: &Arc<SourceKey>, event: &Event, now: Timestamp) {
        if !self.coverage.apply(source, event) {
            return;
        }
        self.lookups.count(source, event);
        let Event::Object {
            why, now: version, ..
        } = event
        else {
            self.evidence.news.has_labels |=
                self.evidence.is_of(source) && matches!(event, Event::Synced { .. });
            let tells_of_source = matches!(event, Event::Synced { .. } | Event::State(_));
            let has_neighbours = self.graph.all_referrers().next().is_some()
                || self.graph.services().next().is_some()
                || self.graph.of_kind("Ingress").next().is_some();
            self.has_news_of_sources |= tells_of_source && has_neighbours;
            return;
        };
        if self.evidence.is_of(source) {
            self.take_evidence(source, event);
            return;
        }
        if !why.is_gone()
            && let Some(index) = self.requested.iter().position(|own| *own == **source)
        {
            let is_named = source.select.name().is_some();
            let rank = if is_named { Rank::Named } else { Rank::Well };
            self.roots.add(&version.object, index, rank);
        }
        if !why.is_gone() && self.lookups.keeps(source, version, &self.types) {
            return self.put(source, version, *why);
        }
        let uid = version.object.identity();
        if why.is_gone() {
            self.lookups.forget(&uid, version);
        }
        if let Some(object) = self.objects.get_mut(&uid) {
            let why = if why.is_gone() {
                *why
            } else {
                Why::LeftSelector
            };
            object.lose(source, why, now);
            if object.departure.is_some() {
                self.departed.insert(uid.clone());
            }
            self.changed.insert(uid);
        }
    }

    fn put(&mut self, source: &Arc<SourceKey>, version: &Arc<Version>, why: Why) {
        let uid = version.object.identity();
        let object = match self.objects.entry(uid.clone()) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                if why == Why::Listed {
                    self.listed.insert(uid.clone());
                }
                entry.insert(Box::new(ModelObject::new(version.object.clone())))
            }
        };
        if object.put(source, version) {
            self.departed.remove(&uid);
            self.changed.insert(uid);
        }
    }
}
