//! Which sources `status` follows for its objects and their dependents.

use std::collections::BTreeSet;

use super::roots::{MAX_EXPANDED, Root};
use super::state::{StatusState, covers};
use crate::model::JudgementPlan;
use crate::object::Uid;
use crate::source::SourceKey;

impl StatusState {
    /// Updates which of these objects have dependents in sources of their own.
    pub(super) fn update_roots(&mut self, touched: &BTreeSet<Uid>) {
        for uid in touched {
            if self.model.object(uid).is_none() {
                self.is_plan_old |= self.roots.remove(uid);
            }
        }
        let is_root = |uid: &&Uid| self.roots.get(uid).is_some();
        let is_there = |uid: &&Uid| self.model.graph().node(uid).is_some();
        let roots = touched.iter().filter(|uid| is_root(uid) && is_there(uid));
        let roots: Vec<&Uid> = roots.collect();
        let owners = self.owners_of_sources(roots.iter().copied(), |_| false);
        let owners: BTreeSet<Uid> = owners.into_iter().cloned().collect();
        self.is_plan_old |= self.roots.note_owners(&roots, &owners);
    }

    /// Those of these objects whose dependents are in sources that nobody requested, without the sources that are left out.
    pub(super) fn owners_of_sources<'u>(
        &self,
        uids: impl Iterator<Item = &'u Uid>,
        is_left_out: impl Fn(&SourceKey) -> bool,
    ) -> BTreeSet<&'u Uid> {
        let Some(first) = self.requested.first() else {
            return BTreeSet::new();
        };
        let is_left_out = |source: &SourceKey| self.is_requested(source) || is_left_out(source);
        let model = &self.model;
        model.with_dependent_sources(&uids.collect(), &first.cluster, is_left_out)
    }

    fn is_requested(&self, source: &SourceKey) -> bool {
        self.requested.iter().any(|own| covers(own, source))
    }

    /// The sources of the dependents that are followed.
    pub(super) fn followed_dependents(&self) -> Vec<SourceKey> {
        let cluster = |root: &Root| &self.requested[root.place.requested].cluster;
        let followed = self
            .roots
            .followed()
            .map(|(uid, root)| (uid, cluster(root)));
        let mut sources = self.model.dependent_sources(followed);
        sources.retain(|source| !self.is_requested(source));
        sources
    }

    /// Plans again what decides the states of the objects.
    pub(super) fn update_plan(&mut self) {
        let cluster = |root: &Root| &self.requested[root.place.requested].cluster;
        let named = self.roots.named().map(|(uid, root)| (uid, cluster(root)));
        let plan = self.model.plan(named);
        let listed = self.listed_inventories().into_iter();
        let listed = listed.map(|(uid, root)| (uid, cluster(root)));
        let plan = self.model.plan_members(plan, listed);
        self.is_plan_old |= plan != self.plan || self.followed_dependents() != self.dependents;
        self.plan = plan;
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

    /// Follows the dependents of the roots, or of the worst of them if there are too many roots.
    pub(super) fn follow_dependents(&mut self) {
        self.roots.expand(MAX_EXPANDED);
        self.dependents = self.followed_dependents();
        let sources = [&self.requested[..], &self.dependents].concat();
        self.model.follow_plan(sources, &self.plan);
    }
}
