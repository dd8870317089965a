//! `Objects`: the objects of the followed sources, their relations and their states. [`Objects::apply`] stores one event,
//! [`Objects::refresh`] assesses what changed.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use crate::graph::{Graph, Links, Lookup, MemberPlan, ReferenceTarget, Tier};
use crate::object::{Doc, ObjectRef, ServedTypes, Uid, Value};
use crate::source::{ClusterId, Event, Form, SourceKey, Version, Why, printed};
use crate::status::{Assessment, Rules, Status, is_starting, review_at};

use super::Retention;
use super::around::Around;
use super::coverage::{Coverage, Reading};
use super::evidence::Evidence;
use super::evidence_sources::{needs_explanation, subject_of};
use super::judge::{judge, roll_up, services_of};
use super::lookups::Lookups;
use super::object::ModelObject;
use super::rules::members::PlannedMembers;
use super::rules::{readers, to_judge_again};

/// Why the model does not have a named object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// It does not exist.
    Missing,
    /// It is not in the file, and may exist.
    NotInFile,
    /// The server refuses to show it.
    Refused,
    /// The cluster does not serve its type.
    Unserved,
    /// It is not read, or not yet.
    Unread,
}

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
    retention: Retention,
    /// The objects that changed since the last refresh.
    pub(super) changed: BTreeSet<Uid>,
    /// Whether a source that may show a named object was read, or could not be read, since the last refresh.
    pub(super) has_news_of_sources: bool,
    /// The objects whose states so far are no changes: they were listed, and their neighbours were not read yet.
    listed: BTreeSet<Uid>,
    /// Whether every source had answered at the end of the last refresh.
    was_settled: bool,
    /// When to assess objects again without an event.
    reviews: BTreeSet<(Timestamp, Uid)>,
    /// The objects that are gone and still kept.
    departed: BTreeSet<Uid>,
}

impl Objects {
    /// No objects yet. They are judged by these rules.
    pub(super) fn new(rules: Rules, retention: Retention) -> Objects {
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
            retention,
            changed: BTreeSet::new(),
            has_news_of_sources: false,
            listed: BTreeSet::new(),
            was_settled: false,
            reviews: BTreeSet::new(),
            departed: BTreeSet::new(),
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

    /// The same, with sources of evidence: what explains the objects that are not well.
    pub(super) fn follow(&mut self, sources: Vec<SourceKey>, evidence: Vec<SourceKey>) {
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
    pub(super) fn look_through(&mut self, lookups: Vec<Lookup>) {
        for source in self.lookups.replace(lookups) {
            self.coverage.reread(&source);
            self.was_settled = false;
        }
    }

    /// Takes the plan for the members of the inventories that a view shows.
    pub(super) fn expect_members(&mut self, plan: MemberPlan) {
        let planned = &mut self.members;
        if planned.inventories != plan.inventories || planned.beyond != plan.beyond {
            self.changed.extend(plan.inventories.iter().cloned());
            planned.inventories = plan.inventories;
            planned.beyond = plan.beyond;
        }
    }

    /// Whether no event has changed an assessment since the last refresh.
    pub(super) fn is_fresh(&self) -> bool {
        self.changed.is_empty()
            && self.evidence.news.about.is_empty()
            && !self.evidence.news.has_labels
            && !self.has_news_of_sources
    }

    /// Whether there is something to show: every source has answered, or does not answer.
    pub(super) fn is_presentable(&self) -> bool {
        self.is_fresh() && self.coverage.has_answers()
    }

    /// Applies one event. Events of sources that the model does not follow change nothing.
    pub(super) fn apply(&mut self, source: &Arc<SourceKey>, event: &Event, now: Timestamp) {
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
        if !why.is_gone() && self.lookups.keeps(source, version, &self.types) {
            return self.put(source, version, *why);
        }
        let uid = version.object.identity();
        if why.is_gone() {
            self.lookups.forget(&uid, version);
        }
        if let Some(object) = self.by_uid.get_mut(&uid) {
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
        let object = match self.by_uid.entry(uid.clone()) {
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

    /// Applies an event of a source of evidence.
    pub(super) fn take_evidence(&mut self, source: &SourceKey, event: &Event) {
        let Some(about) = self.evidence.apply(source, event) else {
            self.evidence.news.has_labels = true;
            return;
        };
        match subject_of(Around::of(self), &about) {
            Some(uid) => drop(self.evidence.news.about.insert(uid)),
            // It may be late.
            None => self.evidence.news.has_unknown_subjects = true,
        }
    }

    /// Assesses the objects that events or the time have changed since the last call. Returns every object
    /// that may be different now, with its owners, and the removed objects.
    pub(super) fn refresh(&mut self, now: Timestamp) -> BTreeSet<Uid> {
        if self.was_settled {
            self.listed.clear();
        }
        self.refreshed = now;
        let mut changed = std::mem::take(&mut self.changed);
        changed.extend(self.take_due(now));
        // Owners before and after.
        let mut touched = self.graph.with_above(&changed);
        let links = changed.iter().filter_map(|uid| {
            let links = self.assess(uid, now)?;
            Some((uid.clone(), links))
        });
        let links: Vec<(Uid, Links)> = links.collect();
        self.graph.link(links);
        touched.extend(self.graph.with_above(&changed));
        let expired = self.expired(now);
        touched.extend(self.graph.with_above(&expired));
        for uid in &expired {
            changed.extend(self.remove(uid));
        }
        changed.extend(self.take_explained());
        changed.extend(to_judge_again(Around::of(self), &touched));
        let judged = judge(self, changed, now);
        touched.extend(self.graph.with_above(&judged));
        for group in self.graph.bottom_up(&touched) {
            roll_up(self, &group, now);
            for uid in &group {
                self.note_health(uid);
            }
        }
        self.was_settled = self.coverage.has_answers();
        touched
    }

    /// The objects with new evidence. Warnings about unknown objects are kept for a while.
    fn take_explained(&mut self) -> BTreeSet<Uid> {
        let news = std::mem::take(&mut self.evidence.news);
        let mut explained = news.about;
        if news.has_labels {
            explained.extend(self.unwell.iter().cloned());
            let readers = readers(Around::of(self));
            explained.extend(readers.map(|(node, _)| node.uid.clone()));
        }
        if news.has_unknown_subjects {
            let nodes = self.graph.of_kind("Node");
            let nodes: BTreeSet<Arc<str>> = nodes.map(|node| node.object.name.clone()).collect();
            let around = Around::of(self);
            let is_known = |about: &ObjectRef| {
                let is_node = &*about.kind == "Node" && nodes.contains(&about.name);
                is_node || subject_of(around, about).is_some()
            };
            let unknown = self.evidence.unknown_subjects(is_known);
            self.evidence.forget(&unknown);
        }
        explained
    }

    /// The objects that are due for a review by now.
    fn take_due(&mut self, now: Timestamp) -> Vec<Uid> {
        let mut due = Vec::new();
        while let Some((at, uid)) = self.reviews.pop_first() {
            if at > now {
                self.reviews.insert((at, uid));
                break;
            }
            due.push(uid);
        }
        due
    }

    /// Assesses an object alone. Returns its links, if it could be read.
    fn assess(&mut self, uid: &Uid, now: Timestamp) -> Option<Links> {
        let object = self.by_uid.get_mut(uid)?;
        let mut links = None;
        if let Some(review) = object.review.take() {
            self.reviews.remove(&(review, uid.clone()));
        }
        let assessment = match (object.departure, object.version()) {
            (Some((how, _)), _) => Assessment::departed(how),
            (None, None) => return None,
            (None, Some(version)) => match version.doc() {
                Err(error) => Assessment::unreadable(&error),
                Ok(doc) => {
                    self.graph
                        .apply_in(object.form(), &object.object, doc.root());
                    object.is_starting = is_starting(doc.root(), now);
                    object.printed = printed(doc.root());
                    object.review = review_at(doc.root(), now);
                    let review = object.review.map(|review| (review, uid.clone()));
                    self.reviews.extend(review);
                    let mut assessment = Assessment::of(doc.root(), now, self.rules);
                    // kstatus looks at no other object.
                    if self.rules == Rules::Spy {
                        if object.form() != Form::Metadata && self.types.has_status(&object.object)
                        {
                            assessment = assessment.expecting_status(doc.root());
                        }
                        object.needs = needed(doc.root(), &assessment, now);
                        if is_running_well(doc.root(), &assessment) {
                            object.needs = self.needs_of_well_pods;
                        }
                        let upto = object.needs.max(self.links_upto);
                        links = Some(Links::of(doc.root(), upto, &self.types));
                    }
                    assessment
                }
            },
        };
        object.own = Arc::new(assessment);
        object.drop_tape();
        self.share_with_sibling(uid);
        links
    }

    /// Lets an object share the memory of its assessment with an equal sibling. Most Pods are alike.
    fn share_with_sibling(&mut self, uid: &Uid) {
        let (Some(node), Some(object)) = (self.graph.node(uid), self.get(uid)) else {
            return;
        };
        let siblings = self.graph.siblings(node);
        let mut siblings = siblings.filter_map(|sibling| self.get(&sibling.uid));
        let own =
            siblings.find_map(|sibling| (sibling.own == object.own).then(|| sibling.own.clone()));
        if let (Some(own), Some(object)) = (own, self.by_uid.get_mut(uid)) {
            object.own = own;
        }
    }

    /// The time of a change of state that happens now; `None` if it does not count as a change.
    pub(super) fn news(&self, uid: &Uid, now: Timestamp) -> Option<Timestamp> {
        (!self.listed.contains(uid)).then_some(now)
    }

    /// Notes whether an object needs an explanation.
    pub(super) fn note_health(&mut self, uid: &Uid) {
        if self.get(uid).is_some_and(needs_explanation) {
            self.unwell.insert(uid.clone());
        } else {
            self.unwell.remove(uid);
        }
    }

    /// The objects to remove: those that have been gone for long enough and, once all sources are read, those
    /// that no followed source shows.
    pub(super) fn expired(&mut self, now: Timestamp) -> Vec<Uid> {
        let owners = self.departed_owners();
        let mut expired: Vec<Uid> = self.departed.iter().cloned().collect();
        expired.retain(|uid| !owners.contains(uid) && self.has_expired(uid, now));
        if self.coverage.take_replaced() {
            for (uid, object) in &mut self.by_uid {
                object.retain_sources(|source| self.coverage.follows(source));
                if object.version().is_none() && object.departure.is_none() {
                    expired.push(uid.clone());
                }
            }
        }
        expired
    }

    fn has_expired(&self, uid: &Uid, now: Timestamp) -> bool {
        let departure = self.by_uid.get(uid).and_then(|object| object.departure);
        match (self.retention, departure) {
            (Retention::For(time), Some((_, at))) => now.duration_since(at) >= time,
            (Retention::None, _) | (_, None) => true,
        }
    }

    /// The objects that are gone and kept because a dependent is there. The members of an inventory are not its own: they
    /// may stay.
    fn departed_owners(&self) -> BTreeSet<Uid> {
        if self.retention == Retention::None {
            return BTreeSet::new();
        }
        let owns_any = |uid: &&Uid| {
            let mut below = self.graph.directly_below(uid);
            below.any(|below| self.is_there(&below.uid))
        };
        let above = self.graph.with_above(self.departed.iter().filter(owns_any));
        let owners = above.into_iter();
        owners
            .filter(|uid| self.departed.contains(uid) && !self.graph.is_inventory(uid))
            .collect()
    }

    /// Removes an object. Returns the objects to judge again: those that name it, and its Services.
    pub(super) fn remove(&mut self, uid: &Uid) -> Vec<Uid> {
        self.departed.remove(uid);
        self.unwell.remove(uid);
        let mut around = services_of(Around::of(self), uid);
        self.graph.delete(uid);
        let Some(object) = self.by_uid.remove(uid) else {
            return around;
        };
        if let Some(review) = object.review {
            self.reviews.remove(&(review, uid.clone()));
        }
        around.extend(self.graph.referrers(&object.object).cloned());
        around
    }
}

impl Absence {
    /// The words after the name of the object: `does not exist`.
    pub fn words(self) -> &'static str {
        match self {
            Absence::Missing => "does not exist",
            Absence::NotInFile => "not in the file",
            Absence::Refused => "cannot be read",
            Absence::Unserved => "type not served",
            Absence::Unread => "not read",
        }
    }
}

/// Up to which tier other objects matter to the state of an object. An object that is well has found most of what it
/// needs, and one that is only starting may still find it.
pub(super) fn needed(object: Value<'_>, own: &Assessment, now: Timestamp) -> Tier {
    let is_waiting = own.status() == Status::InProgress && !is_starting(object, now);
    if is_waiting || own.status() == Status::Failed {
        Tier::Unwell
    } else {
        Tier::Always
    }
}

/// Whether an object is a Pod that runs and is well.
pub(super) fn is_running_well(object: Value<'_>, own: &Assessment) -> bool {
    let is_running = object.str_at(&["status", "phase"]).as_deref() == Some("Running");
    is_running && own.is_well()
}
