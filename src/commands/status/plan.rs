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
        let mut plan = self.model.plan(named);
        if self
            .requested
            .iter()
            .any(JudgementPlan::may_have_inventories)
        {
            let listed = self.roots.iter().filter(|(_, root)| {
                let requested = &self.requested[root.place.requested];
                !root.is_named() && JudgementPlan::may_have_inventories(requested)
            });
            let listed = listed.map(|(uid, root)| (uid, cluster(root)));
            plan = self.model.plan_members(plan, listed);
        }
        self.is_plan_old |= plan != self.plan;
        self.plan = plan;
    }

    /// Follows the dependents of the roots, or of the worst of them if there are too many roots.
    pub(super) fn follow_dependents(&mut self) {
        let dependents = self.roots.expand(MAX_EXPANDED);
        let sources: Vec<SourceKey> = self.requested.iter().cloned().chain(dependents).collect();
        self.model.follow_plan(sources, &self.plan);
    }
}
