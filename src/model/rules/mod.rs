//! The rules about an object and the objects around it, as data: one row for each rule.
//!
//! A rule of this table reads objects that the model has anyway. It never makes the model read more. Four rules are
//! exceptions with sources of their own: a claim that only an existing volume can serve, an object that selects no Pod, an
//! Ingress that names no class, and a `DaemonSet` that some nodes keep out.

pub(super) mod dependents;
pub(super) mod gateways;
pub(super) mod members;
pub(super) mod nodes;
pub(super) mod policies;
pub(super) mod references;
pub(super) mod scheduling;
pub(super) mod selectors;
pub(super) mod services;
pub(super) mod storage;
#[cfg(test)]
pub(super) mod tests;
pub(super) mod webhooks;
pub(super) mod workloads;

use std::collections::BTreeSet;

use crate::graph::{Node, Tier};
use crate::object::Uid;
use crate::source::SourceKey;
use crate::status::{Cause, Finding, Status};

use crate::model::around::Around;
use gateways::{
    missing_subsets, other_default_classes, unnamed_hosts_of_gateway, unnamed_hosts_of_ingress,
    without_class,
};
use nodes::{crowded_node, evicted_by_taints, eviction_risk};
use policies::{held_drain, isolated, restrictions, shared_pod};
use references::near_names_sources;
use scheduling::{node_sources, placement_facts, volume_place_sources};
use selectors::{
    beside_source, nearby_pods_source, selecting_none, selects_none, template_sources,
    undeclared_ports,
};
use storage::{attached_twice, claim_fact, lost_claim, no_volume_fits, unusable_volume};
use webhooks::{uncalled_webhooks, webhook_fact, webhook_sources};
use workloads::{
    blocking_pod, busy_sets, ending_pod, kept_out, looked_at_sets, old_revision,
    sources_of_its_nodes,
};

/// A rule about an object and the objects around it. The `CauseRule` of each finding names the document that the rule
/// comes from.
struct NeighbourRule {
    /// The group of the object.
    group: &'static str,
    /// The kind of the object.
    kind: &'static str,
    /// The links that the rule follows. The model knows those of [`Tier::Trace`] only in a trace, and may know those of
    /// [`Tier::Unwell`] only there, except those of unwell objects. Rules about others find notes alone, so that `status` and
    /// `trace` agree on the state.
    needs: Tier,
    /// The kinds that the rule reads although no reference links them to the object. A change of one makes the model judge
    /// the object again.
    reads: &'static [&'static str],
    /// Finds the problems and the notes.
    find: fn(Around<'_>, &Node) -> Vec<Finding>,
}

/// Defines the rules, one line for each.
macro_rules! rules {
    ($($group:literal $kind:literal $needs:ident $reads:expr => $find:ident;)*) => {
        /// All rules about an object and the objects around it.
        static RULES: &[NeighbourRule] = &[$(NeighbourRule {
            group: $group,
            kind: $kind,
            needs: Tier::$needs,
            reads: &$reads,
            find: $find,
        },)*];
    };
}

rules! {
    "" "Node" Trace ["Pod"] => crowded_node;
    "" "Node" Trace ["Pod", "PodDisruptionBudget"] => held_drain;
    "" "PersistentVolume" Trace ["VolumeAttachment"] => attached_twice;
    "" "PersistentVolume" Unwell [] => lost_claim;
    "" "PersistentVolumeClaim" Unwell ["PersistentVolume"] => no_volume_fits;
    "" "PersistentVolumeClaim" Unwell [] => unusable_volume;
    "" "Pod" Unwell [] => eviction_risk;
    "" "Pod" Trace ["NetworkPolicy"] => isolated;
    "" "Pod" Unwell [] => evicted_by_taints;
    "" "Service" Always [] => selects_none;
    "" "Service" Always [] => undeclared_ports;
    "admissionregistration.k8s.io" "MutatingWebhookConfiguration" Always [] => uncalled_webhooks;
    "admissionregistration.k8s.io" "ValidatingWebhookConfiguration" Always [] => uncalled_webhooks;
    "apps" "DaemonSet" Always ["Node"] => kept_out;
    "apps" "ReplicaSet" Always [] => old_revision;
    "gateway.networking.k8s.io" "Gateway" Always [] => unnamed_hosts_of_gateway;
    "networking.istio.io" "VirtualService" Trace ["DestinationRule"] => missing_subsets;
    "networking.k8s.io" "Ingress" Always [] => unnamed_hosts_of_ingress;
    "networking.k8s.io" "Ingress" Always ["IngressClass"] => without_class;
    "networking.k8s.io" "IngressClass" Always ["IngressClass"] => other_default_classes;
    "networking.k8s.io" "NetworkPolicy" Trace ["Pod"] => selects_none;
    "networking.k8s.io" "NetworkPolicy" Trace [] => restrictions;
    "policy" "PodDisruptionBudget" Always [] => selects_none;
    "policy" "PodDisruptionBudget" Trace ["Pod", "PodDisruptionBudget"] => shared_pod;
    "storage.k8s.io" "StorageClass" Always ["StorageClass"] => other_default_classes;
}

/// What the objects around an object say about it.
pub(in crate::model) fn neighbour_findings(around: Around<'_>, node: &Node) -> Vec<Finding> {
    let (group, kind) = (node.object.group(), &*node.object.kind);
    let rules = RULES
        .iter()
        .filter(|rule| rule.kind == kind && rule.group == group);
    let known = rules.filter(|rule| knows(around, rule));
    let found = known.flat_map(|rule| {
        let found = (rule.find)(around, node);
        let are_notes = found.iter().all(|found| found.status == Status::Current);
        let needs = around.object(&node.uid).map_or(Tier::Always, |it| it.needs);
        debug_assert!(rule.needs <= needs || are_notes, "{found:?}");
        found
    });
    found.collect()
}

/// The objects to judge again because others around them have changed.
pub(in crate::model) fn to_judge_again(
    around: Around<'_>,
    changed: &BTreeSet<Uid>,
) -> BTreeSet<Uid> {
    let revisions = changed.iter().flat_map(|uid| busy_sets(around, uid));
    let mut due: BTreeSet<Uid> = revisions.map(|set| set.uid.clone()).collect();
    for rule in RULES.iter().filter(|rule| knows(around, rule)) {
        // An object that is gone may have had any kind.
        let is_read = |uid: &Uid| {
            let node = around.graph().node(uid);
            node.is_none_or(|node| rule.reads.contains(&&*node.object.kind))
        };
        if !rule.reads.is_empty() && changed.iter().any(is_read) {
            let of_kind = around.graph().of_kind(rule.kind);
            due.extend(of_kind.map(|node| node.uid.clone()));
        }
    }
    due
}

/// Whether the model has the links that a rule follows. Those that matter to unwell objects it has for these.
fn knows(around: Around<'_>, rule: &NeighbourRule) -> bool {
    rule.needs < Tier::Trace || around.links_upto() == Tier::Trace
}

/// The most sources for facts. Each costs a list and a watch.
const MAX_SOURCES: usize = 6;

/// The facts about an object that is not well.
pub(in crate::model) fn facts(around: Around<'_>, uid: &Uid) -> Vec<Cause> {
    let Some(node) = around.graph().node(uid) else {
        return Vec::new();
    };
    let mut facts = match (node.object.group(), &*node.object.kind) {
        ("", "Pod") => placement_facts(around, node),
        ("", "PersistentVolumeClaim") => Vec::from_iter(claim_fact(around, node)),
        ("apps", "Deployment") => Vec::from_iter(ending_pod(around, node)),
        ("apps", "StatefulSet") => Vec::from_iter(blocking_pod(around, node)),
        _ => Vec::new(),
    };
    facts.extend(webhook_fact(around, node));
    facts
}

/// The sources that facts need.
pub(in crate::model) fn fact_sources(around: Around<'_>) -> Vec<SourceKey> {
    let mut sources = Vec::new();
    for node in around
        .unwell()
        .iter()
        .filter_map(|uid| around.graph().node(uid))
    {
        let found = node_sources(around, node).into_iter();
        let nearby = nearby_pods_source(around, node).into_iter();
        let found = found.chain(nearby).chain(template_sources(around, node));
        let found = found.chain(volume_place_sources(around, node));
        let found = found.chain(webhook_sources(around, node));
        for source in found.chain(near_names_sources(around, node)) {
            if sources.len() == MAX_SOURCES {
                return sources;
            }
            if !sources.contains(&source) {
                sources.push(source);
            }
        }
    }
    let beside = selecting_none(around);
    let beside = beside.filter_map(|node| beside_source(around, node));
    let nodes = looked_at_sets(around);
    let nodes = nodes.flat_map(|set| sources_of_its_nodes(around, set));
    for source in beside.chain(nodes) {
        if !sources.contains(&source) && sources.len() < MAX_SOURCES {
            sources.push(source);
        }
    }
    sources
}
