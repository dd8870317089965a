//! The rules about an object and those around it, as data: one row for each rule. A row alone says what the rule reads beside
//! what a view shows anyway: the plan follows these sources, and the model judges the object again when they change.

pub(super) mod dependents;
pub(super) mod gateways;
pub(super) mod members;
pub(super) mod namespaces;
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
use std::sync::Arc;

use crate::graph::{Node, Tier};
use crate::object::Uid;
use crate::source::SourceKey;
use crate::status::{Cause, Finding, Status};

use super::around::Around;
use gateways::{
    missing_subsets, other_default_classes, unnamed_hosts_of_gateway, unnamed_hosts_of_ingress,
    without_class,
};
use members::member_findings;
use namespaces::{remaining_facts, remaining_sources};
use nodes::{crowded_node, evicted_by_taints, eviction_risk};
use policies::{held_drain, isolated, restrictions, shared_pod};
use references::{near_names_sources, reference_findings};
use scheduling::{claims_of, placement_facts, placement_sources};
use selectors::{labels_beside, selects_none, undeclared_ports};
use services::{endpoint_problems, workloads_beside};
use storage::{
    attached_twice, claim_fact, lost_claim, no_volume_fits, unusable_volume, volumes_for,
};
use webhooks::{uncalled_webhooks, webhook_facts, webhook_sources};
use workloads::{
    blocking_pod, busy_sets, ending_pod, kept_out, no_governing_service, nodes_of_set,
    old_revision, services_beside,
};

/// A rule about an object and the objects around it. The `CauseRule` of what it finds names the document that the rule comes
/// from.
struct Rule {
    /// The group of the object, or `*`.
    group: &'static str,
    /// The kind of the object, or `*`.
    kind: &'static str,
    /// The links that the rule follows. The model knows those of [`Tier::Trace`] only in a trace, and may know those of
    /// [`Tier::Unwell`] only there, except those of unwell objects. Rules about others find notes alone, so that `status` and
    /// `trace` agree on the state.
    needs: Tier,
    /// The kinds that the rule reads although no reference links them to the object. A change of one makes the model judge
    /// the object again.
    reads: &'static [&'static str],
    /// The sources that the rule reads and that no view may show. It says nothing of them while they are not read. `None` if
    /// it reads only what a view shows.
    sources: Option<fn(Around<'_>, &Node) -> Vec<SourceKey>>,
    find: Find,
}

/// What a rule finds.
enum Find {
    /// Problems, which change the state of the object, and notes.
    Findings(fn(Around<'_>, &Node) -> Vec<Finding>),
    /// At most one of them.
    Finding(fn(Around<'_>, &Node) -> Option<Finding>),
    /// What explains the state of an object that is not well, and never changes it.
    Facts(fn(Around<'_>, &Node) -> Vec<Cause>),
    /// At most one such explanation, beside what was found.
    Fact(fn(Around<'_>, &Node, &[Finding]) -> Option<Cause>),
}

/// The most sources that rules read. Each costs a list and a watch.
const MAX_SOURCES: usize = 8;

/// Defines the rules, one line for each. An object has its findings in this order.
macro_rules! rules {
    ($($group:literal $kind:literal $needs:ident $reads:expr, $sources:expr => $what:ident $find:ident;)*) => {
        /// All rules about an object and the objects around it.
        static RULES: &[Rule] = &[$(Rule {
            group: $group,
            kind: $kind,
            needs: Tier::$needs,
            reads: &$reads,
            sources: $sources,
            find: Find::$what($find),
        },)*];
    };
}

rules! {
    "" "Service" Always [], Some(workloads_beside) => Findings endpoint_problems;
    "*" "*" Always [], Some(near_names_sources) => Findings reference_findings;
    "*" "*" Always [], None => Findings member_findings;
    "" "Namespace" Unwell [], Some(remaining_sources) => Facts remaining_facts;
    "" "Node" Trace ["Pod"], None => Findings crowded_node;
    "" "Node" Trace ["Pod", "PodDisruptionBudget"], None => Findings held_drain;
    "" "PersistentVolume" Trace ["VolumeAttachment"], None => Findings attached_twice;
    "" "PersistentVolume" Unwell [], None => Finding lost_claim;
    "" "PersistentVolumeClaim" Unwell [], None => Fact claim_fact;
    "" "PersistentVolumeClaim" Unwell ["PersistentVolume"], Some(volumes_for) => Finding no_volume_fits;
    "" "PersistentVolumeClaim" Unwell [], None => Finding unusable_volume;
    "" "Pod" Unwell [], None => Findings eviction_risk;
    "" "Pod" Trace ["NetworkPolicy"], None => Findings isolated;
    "" "Pod" Unwell [], Some(placement_sources) => Facts placement_facts;
    "" "Pod" Unwell [], None => Findings evicted_by_taints;
    "" "Service" Always [], Some(labels_beside) => Finding selects_none;
    "" "Service" Always [], None => Findings undeclared_ports;
    "admissionregistration.k8s.io" "MutatingWebhookConfiguration" Always [], None => Findings uncalled_webhooks;
    "admissionregistration.k8s.io" "ValidatingWebhookConfiguration" Always [], None => Findings uncalled_webhooks;
    "apps" "DaemonSet" Always ["Node"], Some(nodes_of_set) => Finding kept_out;
    "apps" "Deployment" Unwell [], None => Fact ending_pod;
    "apps" "ReplicaSet" Always [], None => Findings old_revision;
    "apps" "StatefulSet" Always ["Service"], Some(services_beside) => Finding no_governing_service;
    "apps" "StatefulSet" Unwell [], None => Fact blocking_pod;
    "gateway.networking.k8s.io" "Gateway" Always [], None => Findings unnamed_hosts_of_gateway;
    "networking.istio.io" "VirtualService" Trace ["DestinationRule"], None => Findings missing_subsets;
    "networking.k8s.io" "Ingress" Always [], None => Findings unnamed_hosts_of_ingress;
    "networking.k8s.io" "Ingress" Always ["IngressClass"], None => Findings without_class;
    "networking.k8s.io" "IngressClass" Always ["IngressClass"], None => Findings other_default_classes;
    "networking.k8s.io" "NetworkPolicy" Trace ["Pod"], Some(labels_beside) => Finding selects_none;
    "networking.k8s.io" "NetworkPolicy" Trace [], None => Findings restrictions;
    "policy" "PodDisruptionBudget" Always [], Some(labels_beside) => Finding selects_none;
    "policy" "PodDisruptionBudget" Trace ["Pod", "PodDisruptionBudget"], None => Findings shared_pod;
    "storage.k8s.io" "StorageClass" Always ["StorageClass"], None => Findings other_default_classes;
    "*" "*" Unwell [], Some(webhook_sources) => Facts webhook_facts;
}

impl Rule {
    /// Whether the model has the links that it follows. Those that matter to unwell objects it has for these.
    fn is_known(&self, around: Around<'_>) -> bool {
        self.needs < Tier::Trace || around.links_upto() == Tier::Trace
    }

    /// Its sources for all objects of its kind; `None` if it reads none for those that are well.
    fn sources_for_all(&self) -> Option<fn(Around<'_>, &Node) -> Vec<SourceKey>> {
        self.sources
            .filter(|_| self.kind != "*" && self.needs != Tier::Unwell)
    }
}

/// The rules about an object that can be applied.
fn rules_about<'a>(
    around: Around<'a>,
    node: &'a Node,
) -> impl Iterator<Item = &'static Rule> + use<'a> {
    let known = RULES.iter().filter(move |rule| rule.is_known(around));
    known.filter(move |rule| {
        let is_of_kind = rule.kind == &*node.object.kind && rule.group == node.object.group();
        rule.kind == "*" || is_of_kind
    })
}

/// What is wrong with an object by those around it, and what is to be noted.
pub(in crate::model) fn findings(around: Around<'_>, node: &Node) -> Vec<Finding> {
    let found = rules_about(around, node).flat_map(|rule| {
        let found = match rule.find {
            Find::Facts(_) | Find::Fact(_) => Vec::new(),
            Find::Findings(find) => find(around, node),
            Find::Finding(find) => Vec::from_iter(find(around, node)),
        };
        let are_notes = found.iter().all(|found| found.status == Status::Current);
        let needs = around.object(&node.uid).map_or(Tier::Always, |it| it.needs);
        debug_assert!(rule.needs <= needs || are_notes, "{found:?}");
        found
    });
    found.collect()
}

/// What explains the state of an object that is not well, beside what was found.
pub(in crate::model) fn facts(around: Around<'_>, node: &Node, findings: &[Finding]) -> Vec<Cause> {
    let found = rules_about(around, node).flat_map(|rule| match rule.find {
        Find::Facts(find) => find(around, node),
        Find::Fact(find) => Vec::from_iter(find(around, node, findings)),
        Find::Findings(_) | Find::Finding(_) => Vec::new(),
    });
    found.collect()
}

/// The sources that rules read, each once: those for the objects that are not well come first.
pub(in crate::model) fn rule_sources(around: Around<'_>) -> Vec<SourceKey> {
    let unwell = around.unwell().iter();
    let unwell = unwell.filter_map(|uid| around.graph().node(uid));
    let of_unwell = unwell.flat_map(|node| {
        let sources = rules_about(around, node).filter_map(|rule| rule.sources);
        sources.flat_map(move |sources| sources(around, node))
    });
    let of_others = readers(around).flat_map(|(_, sources)| sources);
    let mut sources = Vec::new();
    for source in of_unwell.chain(of_others) {
        if sources.len() == MAX_SOURCES {
            break;
        }
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    sources
}

/// The objects that need sources of rules whatever their states, with these sources.
pub(in crate::model) fn readers(
    around: Around<'_>,
) -> impl Iterator<Item = (&Node, Vec<SourceKey>)> {
    let rules = RULES.iter().filter(move |rule| rule.is_known(around));
    let rules = rules.filter_map(|rule| Some((rule, rule.sources_for_all()?)));
    let asked = rules.flat_map(move |(rule, sources)| {
        let nodes = around.graph().of_kind(rule.kind);
        let nodes = nodes.filter(|node| node.object.group() == rule.group);
        nodes.map(move |node| (node, sources(around, node)))
    });
    asked.filter(|(_, sources)| !sources.is_empty())
}

/// The objects to judge again because others around them have changed, or objects of these kinds were removed.
pub(in crate::model) fn to_judge_again(
    around: Around<'_>,
    changed: &BTreeSet<Uid>,
    removed: &BTreeSet<Arc<str>>,
) -> BTreeSet<Uid> {
    let revisions = changed.iter().flat_map(|uid| busy_sets(around, uid));
    let mut due: BTreeSet<Uid> = revisions.map(|set| set.uid.clone()).collect();
    let changed = changed.iter().filter_map(|uid| around.graph().node(uid));
    let changed: Vec<&Node> = changed.collect();
    // A claim that is not bound names the Pods that it waits for.
    let claims = changed.iter().flat_map(|node| claims_of(around, node));
    due.extend(claims.map(|claim| claim.uid.clone()));
    let changed = changed.into_iter();
    let changed = changed.map(|node| &node.object.kind).chain(removed);
    let changed: BTreeSet<&str> = changed.map(|kind| &**kind).collect();
    for rule in RULES.iter().filter(|rule| rule.is_known(around)) {
        if rule.reads.iter().any(|kind| changed.contains(kind)) {
            let of_kind = around.graph().of_kind(rule.kind);
            due.extend(of_kind.map(|node| node.uid.clone()));
        }
    }
    due
}
