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
mod objects;
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

use std::collections::BTreeSet;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::graph::{Graph, Lookup, Tier};
use crate::object::{Doc, ServedTypes, Uid};
use crate::source::{Event, SourceKey, Version, Why};
use crate::status::Rules;

use around::Around;
use objects::Objects;
use step::Wanted;

pub use absence::Absence;
pub use absent_member::{AbsentMember, MemberGap};
pub use coverage::{Coverage, Reading};
pub use facts::placement::nodes_closed_to;
pub use facts::pod_templates::idle_workload;
pub use facts::refusing_webhook::refusing_configurations;
pub use members::absent_members;
pub use neighbour_rules::daemon_set::{nodes_that_keep_out, was_closed_out_lately};
pub use neighbour_rules::front::missing_in_front;
pub use neighbour_rules::policy::isolating_policies;
pub use object::ModelObject;
pub use outlook::Outlook;
pub use plan::JudgementPlan;
pub use repetition::repeated;
pub use roots::{Collapsed, Rank, Root, RootPlace, Roots};
pub use service::{endpoints_finding, pod_coverage, repeats_its_pods};
pub use step::ViewExtent;

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
    store: Objects,
    retention: Retention,
    /// The requested sources.
    requested: Vec<SourceKey>,
    roots: Roots,
    extent: ViewExtent,
    /// The sources that it wants to follow since the last step.
    wanted: Wanted,
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
}

impl Model {
    /// A model without objects that assesses them by `rules`.
    pub fn new(rules: Rules, retention: Retention) -> Model {
        Model {
            store: Objects::new(rules),
            retention,
            requested: Vec::new(),
            roots: Roots::default(),
            extent: ViewExtent::Dependents,
            wanted: Wanted::default(),
            changed: BTreeSet::new(),
            has_news_of_sources: false,
            listed: BTreeSet::new(),
            was_settled: false,
            reviews: BTreeSet::new(),
            departed: BTreeSet::new(),
        }
    }

    /// The same model for an excerpt of a cluster, such as a file. An object that is not in it may exist.
    #[must_use]
    pub fn of_excerpt(mut self) -> Model {
        self.store.knows_absence = false;
        self
    }

    /// The same model with every link of every object, for a trace in a cluster that serves these types.
    #[must_use]
    pub fn with_links(mut self, types: ServedTypes) -> Model {
        self.store.links_upto = Tier::Trace;
        self.with_types(types)
    }

    /// The same model for a view that shows this around the requested objects.
    #[must_use]
    pub fn showing(self, extent: ViewExtent) -> Model {
        Model { extent, ..self }
    }

    /// The same model in a cluster that serves these types.
    #[must_use]
    pub fn with_types(mut self, types: ServedTypes) -> Model {
        self.store.types = types;
        self
    }

    /// Whether an object that no source has does not exist.
    pub fn knows_absence(&self) -> bool {
        self.store.knows_absence
    }

    /// The types whose objects it can read.
    pub fn types(&self) -> &ServedTypes {
        &self.store.types
    }

    /// Replaces the sources that the model follows. Objects of the old sources stay until all new sources are
    /// read, because a new selector usually finds them again.
    pub fn follow(&mut self, sources: Vec<SourceKey>) {
        self.follow_with_evidence(sources, Vec::new());
    }

    /// The same, with sources of evidence: what explains the objects that are not well.
    pub(super) fn follow_with_evidence(
        &mut self,
        sources: Vec<SourceKey>,
        evidence: Vec<SourceKey>,
    ) {
        let only_evidence = evidence
            .into_iter()
            .filter(|source| !sources.contains(source));
        let evidence: Vec<SourceKey> = only_evidence.collect();
        self.store.evidence.follow(evidence.clone());
        self.store
            .coverage
            .follow(sources.into_iter().chain(evidence).collect());
        self.was_settled &= self.store.coverage.has_answers();
    }

    /// Replaces the sources of which the model keeps only the objects around others. If these others change, it must
    /// get all objects of the source again: see [`Model::take_rereads`].
    pub fn look_through(&mut self, lookups: Vec<Lookup>) {
        for source in self.store.lookups.replace(lookups) {
            self.store.coverage.reread(&source);
            self.was_settled = false;
        }
    }

    /// The sources of which the model needs every object since the last call, also if another view has them already.
    pub fn take_rereads(&mut self) -> Vec<SourceKey> {
        self.store.coverage.take_rereads()
    }

    /// The sources that were looked through, with the numbers of their objects.
    pub fn looked_through(&self) -> impl Iterator<Item = (&SourceKey, usize)> {
        let read = |(source, _): &(&SourceKey, usize)| self.store.coverage.is_read(source);
        self.store.lookups.counts().filter(read)
    }

    /// The sources that the model follows, and how much of each has been read.
    pub fn coverage(&self) -> &Coverage {
        &self.store.coverage
    }

    /// Why the model does not have an object of a source. An object without a source is of a type that is not served.
    pub fn absence(&self, source: Option<&SourceKey>) -> Absence {
        self.store.absence(source)
    }

    /// What rules see of the model.
    pub fn around(&self) -> Around<'_> {
        Around::of(&self.store)
    }

    /// The relations of the objects, as of the last refresh.
    pub fn graph(&self) -> &Graph {
        &self.store.graph
    }

    /// The object with this uid.
    pub fn object(&self, uid: &Uid) -> Option<&ModelObject> {
        self.store.get(uid)
    }

    /// Every object, by uid.
    pub fn objects(&self) -> impl Iterator<Item = (&Uid, &ModelObject)> {
        self.store.iter()
    }

    /// The newest version of an object, parsed. `None` if the object is gone or does not parse.
    pub fn doc(&self, uid: &Uid) -> Option<Doc> {
        self.store.doc(uid)
    }

    /// Whether no event has changed an assessment since the last refresh.
    pub fn is_fresh(&self) -> bool {
        self.changed.is_empty()
            && self.store.evidence.news.about.is_empty()
            && !self.store.evidence.news.has_labels
            && !self.has_news_of_sources
    }

    /// Applies one event. Events of sources that the model does not follow change nothing.
    pub fn apply(&mut self, source: &Arc<SourceKey>, event: &Event, now: Timestamp) {
        if !self.store.coverage.apply(source, event) {
            return;
        }
        self.store.lookups.count(source, event);
        let Event::Object {
            why, now: version, ..
        } = event
        else {
            self.store.evidence.news.has_labels |=
                self.store.evidence.is_of(source) && matches!(event, Event::Synced { .. });
            let tells_of_source = matches!(event, Event::Synced { .. } | Event::State(_));
            let has_neighbours = self.store.graph.all_referrers().next().is_some()
                || self.store.graph.services().next().is_some()
                || self.store.graph.of_kind("Ingress").next().is_some();
            self.has_news_of_sources |= tells_of_source && has_neighbours;
            return;
        };
        if self.store.evidence.is_of(source) {
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
        if !why.is_gone() && self.store.lookups.keeps(source, version, &self.store.types) {
            return self.put(source, version, *why);
        }
        let uid = version.object.identity();
        if why.is_gone() {
            self.store.lookups.forget(&uid, version);
        }
        if let Some(object) = self.store.by_uid.get_mut(&uid) {
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
        let object = match self.store.by_uid.entry(uid.clone()) {
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
