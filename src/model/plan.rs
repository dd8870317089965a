//! `JudgementPlan`: the sources that decide and explain the states of objects, beside the sources of the objects
//! themselves. Every verb that judges objects follows the same plan, so that all come to the same judgement.

use std::collections::HashSet;

use crate::graph::{Facts, Lookup, MemberPlan, Node, Tier, one_per_source};
use crate::object::{Uid, well_known_type};
use crate::source::{ClusterId, SourceKey};

use super::Model;

/// How many of the objects that other objects name a view reads. Each costs a list and a watch.
const MAX_REFERENCES: usize = 24;

/// How many workloads a trace reads the Pods of one by one, besides those that it shows with their Pods.
const MAX_WORKLOADS: usize = 8;

/// The sources around objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JudgementPlan {
    /// The endpoints of Services, and the objects that others name.
    neighbours: Vec<SourceKey>,
    /// What explains an object that is not well.
    evidence: Vec<SourceKey>,
    /// The sources that may have dependents of custom resources.
    lookups: Vec<Lookup>,
    /// The members of inventories.
    members: MemberPlan,
}

impl JudgementPlan {
    /// Whether the plan for a requested source depends on the types that the cluster serves: it selects one object by its
    /// name that may own, list or name objects of custom kinds. This is a custom resource, a `ConfigMap`, which may be an
    /// inventory, or a `PersistentVolumeClaim`, which may be restored from a snapshot.
    pub fn needs_types(requested: &SourceKey) -> bool {
        let resource = &requested.resource;
        let is_custom = well_known_type(&resource.group, &resource.kind).is_none();
        let may_be = ["ConfigMap", "PersistentVolumeClaim"].contains(&&*resource.kind);
        (is_custom || may_be) && requested.select.name().is_some()
    }

    /// The plan that also looks through these sources.
    #[must_use]
    pub fn looking_through(mut self, lookups: Vec<Lookup>) -> JudgementPlan {
        self.lookups.extend(lookups);
        self
    }

    /// Whether a source is in the plan.
    pub fn contains(&self, source: &SourceKey) -> bool {
        let lookups = self.lookups.iter().chain(&self.members.lookups);
        let mut looked_through = lookups.map(|lookup| &lookup.source);
        looked_through.any(|other| other == source)
            || self.neighbours.contains(source)
            || self.members.sources.contains(source)
            || self.evidence.contains(source)
    }
}

impl Model {
    /// The plan for the objects as of the last refresh. Of the `named` objects of a cluster, it also has the dependents
    /// of custom resources and the members of inventories. The named objects may be gone already.
    pub fn plan<'u>(&self, named: impl Iterator<Item = (&'u Uid, &'u ClusterId)>) -> JudgementPlan {
        let mut neighbours = self.service_sources();
        neighbours.extend(self.reference_sources(MAX_REFERENCES));
        neighbours.extend(self.unwell_workload_sources());
        let mut plan = JudgementPlan {
            neighbours,
            evidence: self.evidence_sources(),
            ..JudgementPlan::default()
        };
        for (uid, cluster) in named {
            let (graph, types) = (&self.graph, &self.types);
            plan.lookups
                .extend(graph.owned_lookups(uid, cluster, types));
            plan.members.add(graph.member_plan(uid, cluster, types));
        }
        plan
    }

    /// The sources of the dependents of workloads that are not well, in a trace: one of a namespace shows its workloads
    /// without their Pods. Those of many workloads are read whole. Only its Jobs say whether a `CronJob` is well.
    fn unwell_workload_sources(&self) -> Vec<SourceKey> {
        if self.links_upto != Tier::Trace {
            return Vec::new();
        }
        let nodes = self.objects.keys().filter_map(|uid| self.graph.node(uid));
        let workloads = nodes.filter(|node| match node.facts {
            Facts::Workload(_) => node.owners.is_empty() && self.unwell.contains(&node.uid),
            _ => &*node.object.kind == "CronJob",
        });
        let workloads: Vec<&Node> = workloads.collect();
        let sources = workloads.iter().filter_map(|node| {
            let cluster = self.cluster_of(&node.uid)?;
            Some(node.dependent_sources(cluster))
        });
        let mut sources: Vec<SourceKey> = sources.flatten().collect();
        if workloads.len() > MAX_WORKLOADS {
            sources = sources.iter().map(SourceKey::of_all).collect();
            let mut seen = HashSet::new();
            sources.retain(|source| seen.insert(source.clone()));
        }
        sources
    }

    /// The sources that show the dependents of an object; of a custom resource, those of the dependents found so far.
    pub fn dependent_sources(&self, uid: &Uid, cluster: &ClusterId) -> Vec<SourceKey> {
        let graph = &self.graph;
        let Some(node) = graph.node(uid) else {
            return Vec::new();
        };
        let mut sources = node.dependent_sources(cluster);
        if node.is_custom() && !graph.is_inventory(uid) {
            for (_, below) in graph.tree(uid) {
                let below = graph.node(&below).into_iter();
                sources.extend(below.flat_map(|node| node.dependent_sources(cluster)));
            }
        }
        sources
    }

    /// Follows these sources and those of the plan.
    pub fn follow_plan(&mut self, sources: Vec<SourceKey>, plan: &JudgementPlan) {
        let mut sources = sources;
        sources.extend(plan.members.sources.iter().cloned());
        sources.extend(plan.neighbours.iter().cloned());
        let lookups = plan.lookups.iter().chain(&plan.members.lookups);
        let mut lookups = one_per_source(lookups.cloned().collect());
        lookups.retain(|lookup| !sources.contains(&lookup.source));
        sources.extend(lookups.iter().map(|lookup| lookup.source.clone()));
        self.follow_with_evidence(sources, plan.evidence.clone());
        self.look_through(lookups);
        self.expect_members(plan.members.clone());
    }
}

#[cfg(test)]
mod tests {
    use crate::model::neighbour_rules::tests::Read;
    use crate::object::Uid;

    #[test]
    fn a_trace_reads_the_pods_of_workloads_that_are_not_well() {
        let deployment = |name: &str, available: u32| {
            format!(
                "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: {name}, namespace: shop}}, spec: {{replicas: 1, selector: {{matchLabels: {{app: {name}}}}}}}, status: {{replicas: 1, updatedReplicas: 1, readyReplicas: {available}, availableReplicas: {available}, conditions: [{{type: Available, status: 'True'}}]}}}}"
            )
        };
        let both = [deployment("good", 1), deployment("bad", 0)].join("\n---\n");
        let many: Vec<String> = (0..9).map(|n| deployment(&format!("bad-{n}"), 0)).collect();
        let cron =
            "{apiVersion: batch/v1, kind: CronJob, metadata: {name: nightly, namespace: shop}}";
        for (read, expected) in [
            (Read::of(&both), "replicasets app=bad, pods app=bad"),
            (Read::of(&many.join("\n---\n")), "replicasets all, pods all"),
            (
                Read::of(cron),
                "jobs all, pods batch.kubernetes.io/job-name",
            ),
            (Read::for_status(&both), ""),
        ] {
            let plan = read.model.plan(std::iter::empty::<(&Uid, _)>());
            let sources = plan.neighbours.iter();
            let sources = sources.map(|source| {
                let labels = source.select.label_selector().unwrap_or("all");
                format!("{} {labels}", source.resource.plural)
            });
            assert_eq!(sources.collect::<Vec<_>>().join(", "), expected);
        }
    }
}
