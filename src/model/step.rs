//! One step of the model: what every view that judges objects does after events, and as time passes. It assesses the
//! objects, ranks the requested ones, and plans which sources to follow.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::graph::{Lookup, Tier, TraceReach, TraceScope};
use crate::object::Uid;
use crate::source::{Scope, Select, SourceKey};
use crate::status::Status;

use super::neighbour_rules::policy::policies_source;
use super::plan::{dependent_sources, judgement_plan, plan_members, with_dependent_sources};
use super::roots::{MAX_EXPANDED, Rank, Root, Roots};
use super::service::repeats_its_pods;
use super::{JudgementPlan, Model};

/// Which objects a view shows besides the requested ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ViewExtent {
    /// Their dependents.
    #[default]
    Dependents,
    /// Everything that they are connected to, as far as this.
    Connections(TraceReach),
}

/// The sources that the model wants to follow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    /// The sources of what the view shows: the requested objects first.
    shown: Vec<SourceKey>,
    /// The sources of the dependents of the requested objects.
    dependents: Vec<SourceKey>,
    /// The sources of which only the connected objects count.
    connected: Vec<Lookup>,
    /// The sources that decide and explain the states.
    plan: JudgementPlan,
}

impl Model {
    /// Requests the objects of these sources. They are the roots of the view.
    pub fn request(&mut self, sources: Vec<SourceKey>) {
        self.follow(sources);
        self.requested = self.store.coverage.sources().cloned().collect();
        let is_named = |key: &SourceKey| key.select.name().is_some();
        let shows_dependents = self.extent == ViewExtent::Dependents;
        if shows_dependents && self.requested.iter().all(is_named) {
            // A Pod that is well stays well, but without the objects that it names no container of it could start again.
            self.store.needs_of_well_pods = Tier::Unwell;
        }
        let is_everywhere =
            |key: &SourceKey| key.resource.namespaced && key.scope == Scope::Cluster;
        let is_wide = self.requested.len() > 1 && self.requested.iter().any(is_everywhere);
        self.roots = Roots::new(is_wide);
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
        self.wanted.dependents.contains(source) || self.wanted.plan.has_member(source)
    }

    /// Applies the effects of events and of time, and follows the sources that the states and the view then need.
    /// `story` names the sources that only this view needs. Returns every object that may be different now.
    pub fn step(&mut self, now: Timestamp, story: Vec<SourceKey>) -> BTreeSet<Uid> {
        let mut touched = self.refresh(now);
        self.update_roots(&touched);
        self.rank_roots(&touched, now);
        self.roots.expand(MAX_EXPANDED);
        let wanted = self.wanted(story);
        let is_new = wanted != self.wanted;
        if is_new {
            self.wanted = wanted;
            self.follow_wanted();
        }
        if is_new || !self.is_fresh() {
            let again = self.refresh(now);
            self.rank_roots(&again, now);
            touched.extend(again);
        }
        if self.store.coverage.has_answers() {
            self.roots.loaded();
        }
        touched
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
        self.requested.iter().any(|own| covers(own, source))
    }

    /// Updates which of these objects have dependents in sources of their own.
    fn update_roots(&mut self, touched: &BTreeSet<Uid>) {
        for uid in touched {
            if !self.store.by_uid.contains_key(uid) {
                self.roots.remove(uid);
            }
        }
        let is_root = |uid: &&Uid| self.roots.get(uid).is_some();
        let is_there = |uid: &&Uid| self.store.graph.node(uid).is_some();
        let roots = touched.iter().filter(|uid| is_root(uid) && is_there(uid));
        let roots: Vec<&Uid> = roots.collect();
        let owners = self.owners_of_sources(roots.iter().copied(), |_| false);
        let owners: BTreeSet<Uid> = owners.into_iter().cloned().collect();
        self.roots.note_owners(&roots, &owners);
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
    fn wanted(&self, story: Vec<SourceKey>) -> Wanted {
        let cluster = |root: &Root| &self.requested[root.place.requested].cluster;
        let followed = self.roots.followed();
        let followed = followed.map(|(uid, root)| (uid, cluster(root)));
        let mut dependents = dependent_sources(self.around(), followed);
        dependents.retain(|source| !self.is_requested(source));
        let named = self.roots.named().map(|(uid, root)| (uid, cluster(root)));
        let plan = judgement_plan(self.around(), named);
        let listed = self.listed_inventories().into_iter();
        let listed = listed.map(|(uid, root)| (uid, cluster(root)));
        let (connected, lookups) = self.connections();
        let mut shown = self.requested.clone();
        shown.extend(story.into_iter().chain(connected));
        Wanted {
            shown,
            dependents,
            connected: lookups,
            plan: plan_members(self.around(), plan, listed),
        }
    }

    /// The sources that show what the named objects are connected to.
    fn connections(&self) -> (Vec<SourceKey>, Vec<Lookup>) {
        let ViewExtent::Connections(reach) = &self.extent else {
            return (Vec::new(), Vec::new());
        };
        let followed: Vec<SourceKey> = self.store.coverage.sources().cloned().collect();
        let mut connected = (Vec::new(), Vec::new());
        for (uid, root) in self.roots.named() {
            let Some(node) = self.store.graph.node(uid) else {
                continue;
            };
            let scope = TraceScope {
                cluster: &self.requested[root.place.requested].cluster,
                types: &self.store.types,
                reach,
                followed: &followed,
            };
            let plan = self.store.graph.trace_plan(&node.object, &scope);
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

    fn follow_wanted(&mut self) {
        let Wanted {
            shown,
            dependents,
            connected,
            plan,
        } = self.wanted.clone();
        self.follow_plan(
            [shown, dependents].concat(),
            &plan.looking_through(connected),
        );
    }
}

/// Whether a requested source shows everything that another one does.
fn covers(requested: &SourceKey, other: &SourceKey) -> bool {
    requested.resource == other.resource
        && requested.select == Select::All
        && (requested.scope == Scope::Cluster || requested.scope == other.scope)
}
