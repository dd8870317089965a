//! The live model: the objects of a view's sources, their relations and their states.
//!
//! [`Model::apply`] stores one event. [`Model::step`] then assesses all changed objects together, ranks the requested ones and
//! plans which sources to follow. The model is pure: it knows nothing of streams and views, and each call gets the time.

mod around;
mod coverage;
mod ended_instances;
mod evidence;
mod evidence_sources;
mod judge;
mod lookups;
mod object;
mod objects;
mod outlook;
mod packages;
mod plan;
mod refresh;
mod repetition;
mod roots;
mod rules;
mod search;
mod search_plan;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use crate::graph::{Graph, Lookup, Tier, TraceReach, TraceScope, one_per_source, trace_plan};
use crate::object::{Doc, ServedTypes, Uid};
use crate::source::{Event, Scope, SourceKey};
use crate::status::{Assessment, Rules, Status};

use around::Around;
use objects::Objects;
use plan::{
    below_plan, dependent_sources, in_lists, judgement_plan, plan_members, plan_search,
    pod_sources, searched_owners, with_dependent_sources,
};
use roots::RootDependents;
use rules::policies::policies_source;

pub use coverage::{Coverage, Reading};
pub use ended_instances::EndedInstances;
pub use object::ModelObject;
pub use objects::{Absence, Retention};
pub use outlook::Outlook;
pub use packages::{ObjectPackages, Package, PackageIndex, PackageMember, PackageTool};
pub use plan::JudgementPlan;
pub use repetition::repeated;
pub use roots::{Collapsed, Rank, Root, RootPlace, Roots};
pub use rules::gateways::missing_in_front;
pub use rules::members::{AbsentMember, MemberGap, absent_members};
pub use rules::policies::isolating_policies;
pub use rules::scheduling::nodes_closed_to;
pub use rules::services::{
    endpoints_finding, idle_workload, knows_endpoints, pod_coverage, repeats_its_pods,
};
pub use rules::webhooks::refusing_configurations;
pub use rules::workloads::{nodes_that_keep_out, was_closed_out_lately};

/// Which objects a view shows besides the requested ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ViewExtent {
    /// Their dependents.
    #[default]
    Dependents,
    /// The Pods below them, and those that their Services select. Nothing explains the states of these.
    Pods,
    /// The same Pods, and what decides and explains the states of the requested objects.
    PodsAndStates,
    /// Everything that they are connected to, as far as this.
    Connections(TraceReach),
}

/// The sources that the model wants to follow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Wanted {
    /// The sources of what the view shows: the requested objects first.
    shown: Vec<SourceKey>,
    /// The sources of the dependents of the requested objects.
    dependents: Vec<SourceKey>,
    /// The sources of which only the connected objects count.
    connected: Vec<Lookup>,
    /// The sources that decide and explain the states.
    plan: JudgementPlan,
}

/// The objects of some sources, their relations and their states.
#[derive(Debug)]
pub struct Model {
    objects: Objects,
    /// The requested sources.
    requested: Vec<SourceKey>,
    /// The requested objects.
    roots: Roots,
    extent: ViewExtent,
    /// The sources that it wants to follow since the last step.
    wanted: Wanted,
    /// Whether kinds that are defined later are requested, too.
    requests_new_kinds: bool,
}

impl Model {
    /// A model without objects that assesses them by `rules`.
    pub fn new(rules: Rules, retention: Retention) -> Model {
        Model {
            objects: Objects::new(rules, retention),
            requested: Vec::new(),
            roots: Roots::default(),
            extent: ViewExtent::Dependents,
            wanted: Wanted::default(),
            requests_new_kinds: false,
        }
    }

    /// The same model for an excerpt of a cluster, such as a file. An object that is not in it may exist.
    #[must_use]
    pub fn of_excerpt(mut self) -> Model {
        self.objects.knows_absence = false;
        self
    }

    /// The same model with every link of every object, for a trace in a cluster that serves these types.
    #[must_use]
    pub fn with_links(mut self, types: ServedTypes) -> Model {
        self.objects.links_upto = Tier::Trace;
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
        self.objects.types = types;
        self
    }

    /// Whether an object that no source has does not exist.
    pub fn knows_absence(&self) -> bool {
        self.objects.knows_absence
    }

    /// The types whose objects it can read.
    pub fn types(&self) -> &ServedTypes {
        &self.objects.types
    }

    /// The sources of which the model needs every object since the last call, also if another view has them already.
    pub fn take_rereads(&mut self) -> Vec<SourceKey> {
        let mut rereads = self.objects.coverage.take_rereads();
        rereads.extend(self.objects.search.take_rereads());
        rereads
    }

    /// The sources that were looked through, with the numbers of their objects.
    pub fn looked_through(&self) -> impl Iterator<Item = (&SourceKey, usize)> {
        let read = |(source, _): &(&SourceKey, usize)| self.objects.coverage.is_read(source);
        let lookups = self.objects.lookups.counts().filter(read);
        lookups.chain(self.objects.search.counts())
    }

    /// Every source to follow: those that the model reads, and those in which it only looks for dependents.
    pub fn sources(&self) -> impl Iterator<Item = &SourceKey> {
        let coverage = &self.objects.coverage;
        let search = self.objects.search.sources();
        let search = search.filter(|source| !coverage.follows(source));
        coverage.sources().chain(search)
    }

    /// Whether a source is only looked through for dependents.
    pub fn searches(&self, source: &SourceKey) -> bool {
        let mut search = self.objects.search.sources();
        !self.objects.coverage.follows(source) && search.any(|key| key == source)
    }

    /// Whether the search for dependents is over: no other source will change a state.
    pub fn is_searched(&self) -> bool {
        self.objects.search.is_over()
    }

    /// Whether it can judge its objects: every source has answered, or does not answer, and the search is over.
    pub fn is_up_to_date(&self) -> bool {
        self.is_presentable() && self.is_searched()
    }

    /// Which dependents the search may have missed, and why; `None` if none.
    pub fn search_shortfall(&self) -> Option<String> {
        self.objects.search.shortfall()
    }

    /// The sources that the model follows, and how much of each has been read.
    pub fn coverage(&self) -> &Coverage {
        &self.objects.coverage
    }

    /// Why the model does not have an object of a source. An object without a source is of a type that is not served.
    pub fn absence(&self, source: Option<&SourceKey>) -> Absence {
        self.objects.absence(source)
    }

    /// What rules see of the model.
    pub fn around(&self) -> Around<'_> {
        Around::of(&self.objects)
    }

    /// The relations of the objects, as of the last refresh.
    pub fn graph(&self) -> &Graph {
        &self.objects.graph
    }

    /// The object with this uid.
    pub fn object(&self, uid: &Uid) -> Option<&ModelObject> {
        self.objects.get(uid)
    }

    /// The time for which it has judged the objects last.
    pub fn judged_at(&self) -> Timestamp {
        self.objects.refreshed
    }

    /// The assessment of the object with this uid.
    pub fn assessment(&self, uid: &Uid) -> Option<&Assessment> {
        Some(&self.objects.get(uid)?.assessment)
    }

    /// The packages of the tools of an index, in the order of their names.
    pub fn packages(&self, index: &mut PackageIndex) -> Vec<Package> {
        index.packages(self.around())
    }

    /// The packages that its objects are, by their uids.
    pub fn object_packages(&self) -> ObjectPackages<'_> {
        ObjectPackages::of(self.around())
    }

    /// Every object, by uid.
    pub fn objects(&self) -> impl Iterator<Item = (&Uid, &ModelObject)> {
        self.objects.iter()
    }

    /// The newest version of an object, parsed. `None` if the object is gone or does not parse.
    pub fn doc(&self, uid: &Uid) -> Option<Doc> {
        self.objects.doc(uid)
    }

    /// Whether no event has changed an assessment since the last refresh.
    pub fn is_fresh(&self) -> bool {
        self.objects.is_fresh()
    }

    /// Whether there is something to show: every source has answered, or does not answer.
    pub fn is_presentable(&self) -> bool {
        self.objects.is_presentable()
    }

    /// Applies one event. Events of sources that the model does not follow change nothing.
    pub fn apply(&mut self, source: &Arc<SourceKey>, event: &Event, now: Timestamp) {
        if let Event::Object {
            why, now: version, ..
        } = event
            && !why.is_gone()
            && let Some(index) = self.requested.iter().position(|own| *own == **source)
        {
            let is_named = source.select.name().is_some();
            let rank = if is_named { Rank::Named } else { Rank::Well };
            let is_new = self.roots.add(&version.object, index, rank);
            self.objects.state_changes += u64::from(is_new);
            // Another source may have shown it already.
            self.objects.changed.insert(version.object.identity());
        }
        if self.requests_new_kinds
            && self.requested.contains(source)
            && let Some(new) = source.of_new_kind(event, &self.requested)
        {
            self.requested.push(new);
        }
        refresh::apply(&mut self.objects, source, event, now);
    }

    /// Assesses the objects that events or the time have changed since the last call, and follows no other sources. Returns
    /// every object that may be different now, with its owners, and the removed objects.
    pub fn refresh(&mut self, now: Timestamp) -> BTreeSet<Uid> {
        refresh::refresh(&mut self.objects, now)
    }

    /// Requests the objects of these sources. They are the roots of the view.
    pub fn request(&mut self, sources: Vec<SourceKey>) {
        self.objects.follow(sources, Vec::new());
        self.requested = self.objects.coverage.sources().cloned().collect();
        let is_named = |key: &SourceKey| key.select.name().is_some();
        let shows_dependents = [ViewExtent::Dependents, ViewExtent::PodsAndStates];
        if shows_dependents.contains(&self.extent) && self.requested.iter().all(is_named) {
            // A Pod that is well stays well, but without the objects that it names no container of it could start again.
            self.objects.needs_of_well_pods = Tier::Unwell;
        }
        let is_everywhere =
            |key: &SourceKey| key.resource.namespaced && key.scope == Scope::Cluster;
        let is_wide = self.requested.len() > 1 && self.requested.iter().any(is_everywhere);
        self.roots = Roots::new(is_wide);
    }

    /// From now on, each kind is requested, too, that an object of the requested sources defines.
    pub fn request_new_kinds(&mut self) {
        self.requests_new_kinds = true;
    }

    /// The requested sources.
    pub fn requested(&self) -> &[SourceKey] {
        &self.requested
    }

    /// The requested objects that have been there.
    pub fn roots(&self) -> &Roots {
        &self.roots
    }

    /// The sources that decide and explain the states, beside those of the shown objects.
    pub fn judgement(&self) -> &JudgementPlan {
        &self.wanted.plan
    }

    /// Whether a source has the dependents or the members of the requested objects, which decide their states.
    pub fn is_deciding(&self, source: &SourceKey) -> bool {
        self.wanted.dependents.contains(source) || self.wanted.plan.decides(source)
    }

    /// Applies the effects of events and of time, and follows the sources that the states and the view then need.
    /// `story` names the sources that only this view needs. Returns every object that may be different now.
    pub fn step(&mut self, now: Timestamp, story: &[SourceKey]) -> BTreeSet<Uid> {
        let mut touched = refresh::refresh(&mut self.objects, now);
        self.update_roots(&touched);
        self.rank_roots(&touched, now);
        self.roots.expand();
        touched.extend(self.follow_wanted(now, story));
        // Only now does the search begin: the first frame does not wait for it.
        if self.objects.coverage.has_answers()
            && !std::mem::replace(&mut self.roots.has_loaded, true)
        {
            touched.extend(self.follow_wanted(now, story));
        }
        touched
    }

    /// How often a state, a fact about an object or a relation has changed so far, or another object was requested. An object
    /// can have new versions without any such change.
    pub fn state_changes(&self) -> u64 {
        self.objects.state_changes
    }

    /// Follows the sources that the states and the view need now. Returns what that changes.
    fn follow_wanted(&mut self, now: Timestamp, story: &[SourceKey]) -> BTreeSet<Uid> {
        let wanted = self.wanted(story);
        let is_new = wanted != self.wanted;
        if is_new {
            let shown = [&wanted.shown[..], &wanted.dependents].concat();
            self.follow_plan(&shown, &wanted.connected, &wanted.plan);
            self.wanted = wanted;
        }
        if !is_new && self.objects.is_fresh() {
            return BTreeSet::new();
        }
        let again = refresh::refresh(&mut self.objects, now);
        self.rank_roots(&again, now);
        again
    }

    /// Those of these objects whose dependents are in sources that nobody requested, without the sources that are left out.
    pub fn owners_of_sources<'u>(
        &self,
        uids: impl Iterator<Item = &'u Uid>,
        is_left_out: impl Fn(&SourceKey) -> bool,
    ) -> BTreeSet<&'u Uid> {
        let Some(first) = self.requested.first() else {
            return BTreeSet::new();
        };
        let is_left_out = |source: &SourceKey| self.is_requested(source) || is_left_out(source);
        with_dependent_sources(self.around(), &uids.collect(), &first.cluster, is_left_out)
    }

    fn is_requested(&self, source: &SourceKey) -> bool {
        self.requested.iter().any(|own| own.covers(source))
    }

    /// Updates which of these objects have dependents in sources of their own.
    fn update_roots(&mut self, touched: &BTreeSet<Uid>) {
        for uid in touched {
            if !self.objects.by_uid.contains_key(uid) {
                self.roots.remove(uid);
            }
        }
        let is_root = |uid: &&Uid| self.roots.get(uid).is_some();
        let is_there = |uid: &&Uid| self.objects.graph.node(uid).is_some();
        let roots = touched.iter().filter(|uid| is_root(uid) && is_there(uid));
        let roots: Vec<&Uid> = roots.collect();
        let owners = self.owners_of_sources(roots.iter().copied(), |_| false);
        let is_requested = |source: &SourceKey| self.is_requested(source);
        let searched = searched_owners(self.around(), &roots, is_requested);
        let found = roots.iter().map(|uid| {
            let dependents = if searched.contains(uid) {
                RootDependents::Searched
            } else if owners.contains(uid) {
                RootDependents::Listed
            } else {
                RootDependents::Requested
            };
            (Uid::clone(uid), dependents)
        });
        let found: Vec<_> = found.collect();
        self.roots.note_dependents(found.into_iter());
    }

    /// Moves requested objects to their places.
    fn rank_roots(&mut self, touched: &BTreeSet<Uid>, now: Timestamp) {
        let mut roots = std::mem::take(&mut self.roots);
        let rank = |uid: &Uid| {
            let status = self.object(uid)?.assessment.status();
            let is_failed = status == Status::Failed;
            Some(Rank::of(
                status,
                is_failed && repeats_its_pods(self.around(), uid),
            ))
        };
        roots.rank(touched, rank, now);
        self.roots = roots;
    }

    /// What the requested objects and what is shown around them need.
    fn wanted(&self, story: &[SourceKey]) -> Wanted {
        let cluster = |root: &Root| &self.requested[root.place.requested].cluster;
        let followed: Vec<(&Uid, &Root)> = match self.extent {
            // A view of Pods has the dependents of all objects.
            ViewExtent::Pods | ViewExtent::PodsAndStates => self.roots.iter().collect(),
            ViewExtent::Dependents | ViewExtent::Connections(_) => self.roots.followed().collect(),
        };
        let named = self.roots.named().map(|(uid, root)| (uid, cluster(root)));
        let plan = match self.extent {
            ViewExtent::Pods => below_plan(self.around(), named),
            ViewExtent::PodsAndStates | ViewExtent::Dependents | ViewExtent::Connections(_) => {
                judgement_plan(self.around(), named)
            }
        };
        let dependents = self.dependents(&followed);
        let listed = self.listed_inventories().into_iter();
        let listed = listed.map(|(uid, root)| (uid, cluster(root)));
        let (connected, lookups) = self.connections();
        let mut shown = self.requested.clone();
        shown.extend(story.iter().cloned().chain(connected));
        let mut plan = plan_members(self.around(), plan, listed);
        if self.roots.has_loaded {
            let followed = followed.into_iter().map(|(uid, _)| uid);
            let is_requested = |source: &SourceKey| self.is_requested(source);
            plan = plan_search(self.around(), plan, followed, is_requested);
        }
        Wanted {
            shown,
            dependents,
            connected: lookups,
            plan,
        }
    }

    /// The sources of what is shown below these objects, beside the requested ones. The dependents of many objects are read in
    /// whole namespaces, but for those of named objects in a view that shows all.
    fn dependents(&self, followed: &[(&Uid, &Root)]) -> Vec<SourceKey> {
        let around = self.around();
        let in_lists = |sources| {
            let is_read = |source: &SourceKey| self.objects.coverage.is_read(source);
            in_lists(sources, &self.wanted.dependents, is_read)
        };
        let below = |is_of: fn(&Root) -> bool| {
            let roots = followed.iter().filter(move |(_, root)| is_of(root));
            roots.map(|(uid, root)| (*uid, &self.requested[root.place.requested].cluster))
        };
        let mut sources = match self.extent {
            ViewExtent::Pods | ViewExtent::PodsAndStates => {
                let roots: Vec<_> = below(|_| true).collect();
                in_lists(pod_sources(around, &roots))
            }
            ViewExtent::Dependents | ViewExtent::Connections(_) => {
                let mut sources = dependent_sources(around, below(Root::is_named));
                let listed = dependent_sources(around, below(|root| !root.is_named()));
                sources.extend(in_lists(listed));
                sources
            }
        };
        sources.retain(|source| !self.is_requested(source));
        sources
    }

    /// The sources that show what the named objects are connected to.
    fn connections(&self) -> (Vec<SourceKey>, Vec<Lookup>) {
        let ViewExtent::Connections(reach) = &self.extent else {
            return (Vec::new(), Vec::new());
        };
        let followed: Vec<SourceKey> = self.objects.coverage.sources().cloned().collect();
        let mut connected = (Vec::new(), Vec::new());
        for (uid, root) in self.roots.named() {
            let Some(node) = self.objects.graph.node(uid) else {
                continue;
            };
            let scope = TraceScope {
                cluster: &self.requested[root.place.requested].cluster,
                types: &self.objects.types,
                reach,
                followed: &followed,
            };
            let plan = trace_plan(&self.objects.graph, &node.object, &scope);
            connected.0.extend(plan.sources);
            connected.0.extend(policies_source(self.around(), uid));
            connected.1.extend(plan.lookups);
        }
        connected
    }

    /// The objects that may be inventories and were not requested by name, in an order that their states do not change.
    fn listed_inventories(&self) -> Vec<(&Uid, &Root)> {
        let requested = self.requested.iter().enumerate();
        let requested = requested.filter(|(_, key)| JudgementPlan::may_have_inventories(key));
        let requested: Vec<usize> = requested.map(|(index, _)| index).collect();
        if requested.is_empty() {
            return Vec::new();
        }
        let is_listed = |root: &Root| !root.is_named() && requested.contains(&root.place.requested);
        let listed = self.roots.iter().filter(|(_, root)| is_listed(root));
        let mut listed: Vec<(&Uid, &Root)> = listed.collect();
        listed.sort_by_key(|(_, root)| &root.place.object);
        listed
    }

    /// Follows these sources and those of a plan, and looks through more.
    fn follow_plan(&mut self, shown: &[SourceKey], connected: &[Lookup], plan: &JudgementPlan) {
        let lookups = plan.lookups().chain(connected);
        let mut lookups = one_per_source(lookups.cloned().collect());
        let mut sources: Vec<SourceKey> = shown.iter().chain(plan.sources()).cloned().collect();
        lookups.retain(|lookup| !sources.contains(&lookup.source));
        sources.extend(lookups.iter().map(|lookup| lookup.source.clone()));
        self.objects.search.follow(&plan.search);
        self.objects.follow(sources, plan.evidence.clone());
        self.objects.look_through(lookups);
        self.objects.expect_members(plan.members.clone());
    }
}
