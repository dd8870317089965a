//! Which sources show the dependents of the requested objects.

use std::collections::BTreeSet;

use super::roots::MAX_EXPANDED;
use super::state::{StatusState, covers};
use crate::graph::{Lookup, MemberPlan, one_per_source};
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
                && let Some(node) = self.model.graph().node(uid)
            {
                let cluster = &self.requested[root.requested].cluster;
                let graph = self.model.graph();
                let mut dependents = node.dependent_sources(cluster);
                if node.is_custom() && !graph.is_inventory(uid) {
                    for (_, below) in graph.tree(uid) {
                        let below = graph.node(&below).into_iter();
                        dependents.extend(below.flat_map(|node| node.dependent_sources(cluster)));
                    }
                }
                dependents.retain(|source| !self.requested.iter().any(|own| covers(own, source)));
                self.is_plan_old |= self.roots.set_dependents(uid, dependents);
            }
        }
    }

    /// Follows the dependents of the roots, or of the worst of them if there are too many roots.
    pub(super) fn follow_dependents(&mut self) {
        let dependents = self.roots.expand(MAX_EXPANDED);
        let sources = self.requested.iter().chain(&dependents);
        let sources = sources.chain(&self.members.sources);
        let mut sources: Vec<SourceKey> = sources.chain(&self.neighbours).cloned().collect();
        let lookups = self.lookups.iter().chain(&self.members.lookups);
        let mut lookups = one_per_source(lookups.cloned().collect());
        lookups.retain(|lookup| !sources.contains(&lookup.source));
        sources.extend(lookups.iter().map(|lookup| lookup.source.clone()));
        self.model
            .follow_with_evidence(sources, self.evidence.clone());
        self.model.look_through(lookups);
    }

    /// The sources to look through for the dependents of custom resources that were requested by name.
    pub(super) fn owned_lookups(&self) -> Vec<Lookup> {
        let named = self.roots().filter(|(_, root)| root.is_named());
        let mut all: Vec<Lookup> = Vec::new();
        for (uid, root) in named {
            let cluster = &self.requested[root.requested].cluster;
            let graph = self.model.graph();
            all.extend(graph.owned_lookups(uid, cluster, self.model.types()));
        }
        one_per_source(all)
    }

    /// Plans the sources for the members of the inventories that were requested by name.
    pub(super) fn plan_members(&mut self) {
        let mut plan = MemberPlan::default();
        for (uid, root) in self.roots.iter().filter(|(_, root)| root.is_named()) {
            let cluster = &self.requested[root.requested].cluster;
            let graph = self.model.graph();
            plan.add(graph.member_plan(uid, cluster, self.model.types()));
        }
        if plan != self.members {
            self.is_plan_old = true;
            self.members = plan.clone();
            self.model.expect_members(plan);
        }
    }

    /// Whether a source only adds to what the view shows.
    pub(super) fn is_extra(&self, source: &SourceKey) -> bool {
        let lookups = self.lookups.iter().chain(&self.members.lookups);
        let mut looked_through = lookups.map(|lookup| &lookup.source);
        looked_through.any(|other| other == source)
            || self.neighbours.contains(source)
            || self.members.sources.contains(source)
            || self.evidence.contains(source)
    }
}
