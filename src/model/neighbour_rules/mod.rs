//! The rules about an object and the objects around it, as data: one row for each rule.
//!
//! A rule of this table reads objects that the model has anyway. It never makes the model read more. Four rules are
//! exceptions with sources of their own: a claim that only an existing volume can serve, an object that selects no Pod, an
//! Ingress that names no class, and a `DaemonSet` that some nodes keep out.

pub(super) mod budget;
pub(super) mod certificate;
pub(super) mod claim;
pub(super) mod daemon_set;
pub(super) mod default_class;
pub(super) mod front;
pub(super) mod mesh;
pub(super) mod node;
pub(super) mod policy;
pub(super) mod revision;
pub(super) mod selects_none;
pub(super) mod static_volume;
pub(super) mod taint;
#[cfg(test)]
pub(super) mod tests;
pub(super) mod undeclared_port;
pub(super) mod volume;
pub(super) mod webhook;

use std::collections::BTreeSet;

use crate::graph::{Node, Tier};
use crate::object::Uid;
use crate::status::{Finding, Status};

use super::around::Around;
use budget::{held_drain, shared_pod};
use certificate::{unnamed_hosts_of_gateway, unnamed_hosts_of_ingress};
use claim::unusable_volume;
use daemon_set::kept_out;
use default_class::{other_default_classes, without_class};
use mesh::missing_subsets;
use node::{crowded_node, eviction_risk};
use policy::{isolated, restrictions};
use revision::{busy_sets, old_revision};
use selects_none::selects_none;
use static_volume::no_volume_fits;
use taint::untolerated_taints;
use undeclared_port::undeclared_ports;
use volume::{attached_twice, lost_claim};
use webhook::uncalled_webhooks;

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
macro_rules! neighbour_rules {
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

neighbour_rules! {
    "" "Node" Trace ["Pod"] => crowded_node;
    "" "Node" Trace ["Pod", "PodDisruptionBudget"] => held_drain;
    "" "PersistentVolume" Trace ["VolumeAttachment"] => attached_twice;
    "" "PersistentVolume" Unwell [] => lost_claim;
    "" "PersistentVolumeClaim" Unwell ["PersistentVolume"] => no_volume_fits;
    "" "PersistentVolumeClaim" Unwell [] => unusable_volume;
    "" "Pod" Unwell [] => eviction_risk;
    "" "Pod" Trace ["NetworkPolicy"] => isolated;
    "" "Pod" Unwell [] => untolerated_taints;
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
