//! `Objects`: the objects of the followed sources, their relations and their states.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use jiff::{SignedDuration, Timestamp};

use crate::graph::{Graph, Lookup, MemberPlan, ReferenceTarget, Tier};
use crate::object::{Doc, ServedTypes, Uid};
use crate::source::{ClusterId, SourceKey};
use crate::status::Rules;

use super::coverage::{Coverage, Reading};
use super::evidence::{Evidence, EvidenceObject};
use super::lookups::Lookups;
use super::object::ModelObject;
use super::search::Search;

/// How long the model keeps an object that is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retention {
    /// Until the next refresh.
    None,
    /// For this long, and as long as any of its dependents is there.
    For(SignedDuration),
}

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

/// What a model knows about the plan for members.
#[derive(Debug, Default)]
pub(super) struct PlannedMembers {
    /// The inventories whose members are read.
    pub(super) inventories: BTreeSet<Uid>,
    /// The members that are not read, because there are too many.
    pub(super) beyond: BTreeSet<ReferenceTarget>,
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
    /// The search for dependents of unknown kinds. Its sources are not part of the coverage: the model has no object of them.
    pub(super) search: Search,
    pub(super) members: PlannedMembers,
    pub(super) graph: Graph,
    pub(super) by_uid: BTreeMap<Uid, Box<ModelObject>>,
    /// The objects that need an explanation.
    pub(super) unwell: BTreeSet<Uid>,
    /// What explains them.
    pub(super) evidence: Evidence,
    /// The volumes that a view shows, parsed once a refresh if anything asks for them.
    pub(super) shown_volumes: OnceLock<Vec<EvidenceObject>>,
    /// The time of the last refresh.
    pub(super) refreshed: Timestamp,
    pub(super) retention: Retention,
    /// The objects that changed since the last refresh.
    pub(super) changed: BTreeSet<Uid>,
    /// How often a state, a fact or a relation has changed so far, or another object was requested.
    pub(super) state_changes: u64,
    /// Whether a source that may show a named object was read, or could not be read, since the last refresh.
    pub(super) has_news_of_sources: bool,
    /// The objects whose states so far are no changes: they were listed, and their neighbours were not read yet.
    pub(super) listed: BTreeSet<Uid>,
    /// Whether every source had answered at the end of the last refresh.
    pub(super) was_settled: bool,
    /// When to assess objects again without an event.
    pub(super) reviews: BTreeSet<(Timestamp, Uid)>,
    /// The objects that are gone and still kept.
    pub(super) departed: BTreeSet<Uid>,
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
            search: Search::default(),
            members: PlannedMembers::default(),
            graph: Graph::default(),
            by_uid: BTreeMap::new(),
            unwell: BTreeSet::new(),
            evidence: Evidence::default(),
            shown_volumes: OnceLock::new(),
            refreshed: Timestamp::UNIX_EPOCH,
            retention,
            changed: BTreeSet::new(),
            state_changes: 0,
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
        let reading = match source {
            Some(source) => self.reading_of_named(source),
            None if self.knows_absence => return Absence::Unserved,
            None => return Absence::NotInFile,
        };
        match reading {
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

    /// Replaces the followed sources, with those of evidence: what explains the objects that are not well.
    pub(super) fn follow(&mut self, sources: Vec<SourceKey>, evidence: Vec<SourceKey>) {
        let only_evidence = evidence
            .into_iter()
            .filter(|source| !sources.contains(source));
        let evidence: Vec<SourceKey> = only_evidence.collect();
        self.evidence.follow(evidence.clone());
        self.coverage
            .follow(sources.into_iter().chain(evidence).collect());
        self.was_settled &= self.has_everything();
    }

    /// Replaces the sources of which the model keeps only the objects around others. If these others change, it must
    /// get all objects of the source again: see `Model::take_rereads`.
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
            && !self.evidence.news.is_common
            && !self.has_news_of_sources
    }

    /// Whether there is something to show: every source has answered, or does not answer.
    pub(super) fn is_presentable(&self) -> bool {
        self.is_fresh() && self.coverage.has_answers()
    }

    /// Whether every source has answered, or does not answer, and the search for dependents is over.
    pub(super) fn has_everything(&self) -> bool {
        self.coverage.has_answers() && self.search.is_over()
    }

    /// The time of a change of state that happens now; `None` if it does not count as a change.
    pub(super) fn news(&self, uid: &Uid, now: Timestamp) -> Option<Timestamp> {
        (!self.listed.contains(uid)).then_some(now)
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
