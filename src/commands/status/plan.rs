//! Which sources `status` follows for its objects and their dependents.

use std::collections::BTreeSet;

use super::roots::{MAX_EXPANDED, Root};
use super::state::{StatusState, covers};
use crate::model::JudgementPlan;
use crate::object::Uid;
use crate::source::SourceKey;

impl StatusState {
    /// Updates the sources for the dependents of these objects.
    pub(super) fn update_roots(&mut self, touched: &BTreeSet<Uid>) {
        for uid in touched {
            if self.model.object(uid).is_none() {
                self.is_plan_old |= self.roots.remove(uid);
            }
            if let Some(root) = self.roots.get(uid)
                && self.model.graph().node(uid).is_some()
            {
                let cluster = &self.requested[root.place.requested].cluster;
                let mut dependents = self.model.dependent_sources(uid, cluster);
                dependents.retain(|source| !self.requested.iter().any(|own| covers(own, source)));
                self.is_plan_old |= self.roots.set_dependents(uid, dependents);
            }
        }
    }

    /// Plans again what decides the states of the objects.
    pub(super) fn update_plan(&mut self) {
        let cluster = |root: &Root| &self.requested[root.place.requested].cluster;
        let named = self.roots.named().map(|(uid, root)| (uid, cluster(root)));
        let plan = self.model.plan(named);
        let listed = self.listed_inventories().into_iter();
        let listed = listed.map(|(uid, root)| (uid, cluster(root)));
        let plan = self.model.plan_members(plan, listed);
        self.is_plan_old |= plan != self.plan;
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
        let dependents = self.roots.expand(MAX_EXPANDED);
        let sources: Vec<SourceKey> = self.requested.iter().cloned().chain(dependents).collect();
        self.model.follow_plan(sources, &self.plan);
    }
}
