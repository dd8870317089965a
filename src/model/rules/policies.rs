//! Rules about policies: Pods that a budget keeps from eviction, and what network policies restrict.

use std::sync::Arc;

use crate::graph::{Facts, Node, well_known};
use crate::model::around::Around;
use crate::object::{ObjectRef, Uid, denied, is_cordoned, restricted};
use crate::source::{ClusterId, Select, SourceKey};
use crate::status::{CauseRule, Finding, Status};

/// How many budgets are named.
const MAX_BUDGETS: usize = 2;

/// The notes of a cordoned node about the budgets that allow no eviction of its Pods. Only a trace reads these.
pub(in crate::model) fn held_drain(around: Around<'_>, node: &Node) -> Vec<Finding> {
    let doc = around.doc(&node.uid);
    if !doc.is_some_and(|doc| is_cordoned(doc.root())) {
        return Vec::new();
    }
    let pods = around.graph().referrers(&node.object);
    let pods = pods.filter_map(|uid| around.graph().node(uid));
    let pods: Vec<&Node> = pods.filter(|pod| is_drained(around, pod)).collect();
    let budgets = around.graph().of_kind("PodDisruptionBudget");
    let held = budgets.filter_map(|budget| {
        let own = &around.object(&budget.uid)?.own;
        let mut rules = [CauseRule::EvictionsBlocked, CauseRule::BudgetViolated].into_iter();
        let rule = rules.find(|rule| own.has_cause(*rule))?;
        let mut pods = pods.iter();
        let pod = pods.find(|pod| around.graph().selects_by_relations(&budget.uid, pod))?;
        let (namespace, budget) = (pod.object.namespace.as_deref()?, &budget.object);
        let pod = &pod.object;
        let text =
            format!("a drain would wait: {budget} -n {namespace} allows no eviction of {pod}");
        Some(Finding::new(rule, Status::Current, text))
    });
    held.take(MAX_BUDGETS).collect()
}

/// Whether a drain of the node evicts a Pod, so that a budget can hold it up. It leaves those of a `DaemonSet` alone. A Pod
/// that has ended or is being deleted needs no permission.
fn is_drained(around: Around<'_>, pod: &Node) -> bool {
    let runs = pod.pod().is_some_and(|facts| !facts.has_ended) && !pod.deleting;
    let mut owners = pod.owners.iter();
    let is_of_daemon_set = owners.any(|owner| owner.controller && &*owner.kind == "DaemonSet");
    runs && !is_of_daemon_set && around.is_there(&pod.uid)
}

/// The note of a budget that shares a Pod with another one: the API server refuses to evict such a Pod.
pub(in crate::model) fn shared_pod(around: Around<'_>, budget: &Node) -> Vec<Finding> {
    let others = around.graph().of_kind("PodDisruptionBudget");
    let others: Vec<&Node> = others
        .filter(|other| {
            let is_beside = other.object.namespace == budget.object.namespace;
            other.uid != budget.uid && is_beside && around.is_there(&other.uid)
        })
        .collect();
    if others.is_empty() {
        return Vec::new();
    }
    let mut pods = around.graph().selected_by_relations(&budget.uid);
    pods.retain(|pod| pod.pod().is_some_and(|facts| !facts.has_ended) && !pod.deleting);
    let is_shared = |other: &&Node| {
        let mut pods = pods.iter();
        pods.find(|pod| around.graph().selects_by_relations(&other.uid, pod))
            .copied()
    };
    let shared = others
        .iter()
        .find_map(|other| Some((*other, is_shared(other)?)));
    let note = shared.map(|(other, pod)| {
        let text = format!(
            "{} is also under {}: evictions will fail",
            pod.object, other.object
        );
        Finding::new(CauseRule::BudgetsOverlap, Status::Current, text)
    });
    Vec::from_iter(note)
}

/// The note about the directions of traffic that a policy restricts. It has another one about those that it denies.
pub(in crate::model) fn restrictions(around: Around<'_>, policy: &Node) -> Vec<Finding> {
    let doc = around.doc(&policy.uid);
    let directions = doc.map(|doc| restricted(doc.root()).join(", "));
    let directions = directions.filter(|directions| !directions.is_empty());
    let note = |directions| {
        let text = format!("{directions} restricted");
        Finding::new(CauseRule::Restricts, Status::Current, text)
    };
    directions.map(note).into_iter().collect()
}

/// The notes of a Pod that gets no traffic, or may send none, because no policy that selects it allows any. A Pod that is not
/// well has other problems: the kubelet probes it whatever the policies say.
pub(in crate::model) fn isolated(around: Around<'_>, pod: &Node) -> Vec<Finding> {
    let object = around.object(&pod.uid);
    if !object.is_some_and(|object| object.own.is_well()) {
        return Vec::new();
    }
    let of_direction = |direction: &&str| {
        let policies = policies_without(around, pod, direction)?;
        let names = policies.iter().map(ToString::to_string);
        let names: Vec<String> = names.collect();
        let verb = if names.len() == 1 { "allows" } else { "allow" };
        let text = format!("{} {verb} no {direction}", names.join(", "));
        Some(Finding::new(CauseRule::Isolated, Status::Current, text))
    };
    ["ingress", "egress"]
        .iter()
        .filter_map(of_direction)
        .collect()
}

/// The policies that isolate a Pod, or the Pods of a Service.
pub fn isolating_policies(around: Around<'_>, uid: &Uid) -> Vec<Arc<ObjectRef>> {
    let node = around.graph().node(uid).into_iter();
    let pods = node.flat_map(|node| match node.facts {
        Facts::Pod(_) => vec![node],
        _ => around.graph().selected_pods(&node.uid),
    });
    let pods = pods.filter(|pod| {
        let object = around.object(&pod.uid);
        object.is_some_and(|object| object.assessment.has_cause(CauseRule::Isolated))
    });
    let policies = pods.flat_map(|pod| {
        let policies = ["ingress", "egress"].map(|it| policies_without(around, pod, it));
        policies.into_iter().flatten().flatten()
    });
    let mut policies: Vec<Arc<ObjectRef>> = policies.collect();
    policies.sort();
    policies.dedup();
    policies
}

/// The policies that restrict a direction of a Pod's traffic, if all are known and none allows any of it. Policies do not
/// count for a Pod in the network of its node.
fn policies_without(
    around: Around<'_>,
    pod: &Node,
    direction: &str,
) -> Option<Vec<Arc<ObjectRef>>> {
    let source = network_policies(pod, around.cluster_of(&pod.uid)?)?;
    let is_whole = around.coverage().is_read(&source) && !around.lookups().has(&source);
    let doc = around.doc(&pod.uid).filter(|_| is_whole)?;
    let has_own_network = doc.root().bool_at(&["spec", "hostNetwork"]) != Some(true);
    let has_ended = pod.pod().is_some_and(|pod| pod.has_ended);
    (has_own_network && !has_ended).then_some(())?;
    let policies = around.graph().of_kind("NetworkPolicy");
    let policies = policies.filter(|policy| {
        policy.object.group() == "networking.k8s.io"
            && around.is_there(&policy.uid)
            && around.graph().selects_by_relations(&policy.uid, pod)
    });
    let mut found = Vec::new();
    for policy in policies {
        let doc = around.doc(&policy.uid)?;
        if restricted(doc.root()).contains(&direction) {
            return None;
        }
        let denies = denied(doc.root()).contains(&direction);
        found.extend(denies.then(|| policy.object.clone()));
    }
    found.sort();
    (!found.is_empty()).then_some(found)
}

/// The source of the policies that may isolate a Pod, or the Pods of a Service. Only all of them tell it.
pub(in crate::model) fn policies_source(around: Around<'_>, uid: &Uid) -> Option<SourceKey> {
    let node = around.graph().node(uid)?;
    let has_pods = match node.facts {
        Facts::Pod(_) => true,
        Facts::Service(_) => node.selector().is_some(),
        _ => false,
    };
    network_policies(node, around.cluster_of(uid)?).filter(|_| has_pods)
}

/// The source of all network policies in the namespace of an object.
fn network_policies(node: &Node, cluster: &ClusterId) -> Option<SourceKey> {
    let namespace = node.object.namespace.clone()?;
    let kind = well_known("networking.k8s.io", "NetworkPolicy");
    Some(SourceKey::of(cluster, kind, Some(namespace), Select::All))
}

#[cfg(test)]
mod tests {
    use crate::model::rules::tests::Read;
    use crate::source::{Scope, SourceKey};

    fn policy(name: &str, spec: &str) -> String {
        format!(
            "{{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {{name: {name}, namespace: shop}}, spec: {{{spec}}}}}"
        )
    }

    fn pod(spec: &str) -> String {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: web, namespace: shop, labels: {{app: web}}}}, spec: {{nodeName: n1, {spec}}}, status: {{phase: Running, conditions: [{{type: Ready, status: 'True'}}]}}}}"
        )
    }

    const WEB: &str = "podSelector: {matchLabels: {app: web}}";

    #[test]
    fn a_pod_is_isolated_if_no_policy_allows_anything() {
        let deny = policy("deny", "podSelector: {}");
        let of_web = |name, rules: &str| policy(name, &format!("{WEB}, {rules}"));
        let other = "podSelector: {matchLabels: {app: db}}";
        let no_ingress = "Isolated: networkpolicy/deny allows no ingress";
        for (policies, expect) in [
            (vec![deny.clone()], no_ingress),
            // Policies are additive.
            (vec![deny.clone(), of_web("allow", "ingress: [{}]")], ""),
            (
                vec![
                    deny.clone(),
                    of_web("some", "ingress: [{from: [{ipBlock: {cidr: 10.0.0.0/8}}]}]"),
                ],
                "",
            ),
            (
                vec![
                    deny.clone(),
                    policy("db", &format!("{other}, ingress: [{{}}]")),
                ],
                no_ingress,
            ),
            (vec![policy("db", other)], ""),
            // An egress policy allows no ingress, and restricts none.
            (
                vec![
                    deny.clone(),
                    of_web("out", "policyTypes: [Egress], egress: [{}]"),
                ],
                no_ingress,
            ),
            (
                vec![of_web("out", "policyTypes: [Egress]")],
                "Isolated: networkpolicy/out allows no egress",
            ),
            (
                vec![deny.clone(), of_web("also", "policyTypes: [Ingress]")],
                "Isolated: networkpolicy/also, networkpolicy/deny allow no ingress",
            ),
        ] {
            let objects = [vec![pod("")], policies].concat();
            let state = Read::of(&objects.join("\n---\n")).state("web");
            let found = state.strip_prefix("Current").map(str::trim);
            assert_eq!(found, Some(expect), "{objects:?}");
        }
    }

    #[test]
    fn a_pod_is_not_called_isolated_without_certainty() {
        let deny = policy("deny", "podSelector: {}");
        let unready = pod("").replace("'True'", "'False'");
        let state = Read::of(&format!("{unready}\n---\n{deny}")).state("web");
        assert!(!state.contains("Isolated"), "{state}");
        let both = |pod: String| format!("{pod}\n---\n{deny}");
        // Nobody says what a policy does to a Pod in the network of its node.
        let state = Read::of(&both(pod("hostNetwork: true"))).state("web");
        assert_eq!(state, "Current");
        // `status` does not read the policies.
        assert_eq!(Read::for_status(&both(pod(""))).state("web"), "Current");
        let mut read = Read::of(&pod(""));
        read.put(&deny);
        assert_eq!(read.state("web"), "Current");
        read.look(SourceKey {
            scope: Scope::Namespace("shop".into()),
            ..SourceKey::all("networking.k8s.io", "NetworkPolicy")
        });
        read.put(&deny);
        assert!(read.state("web").ends_with("allows no ingress"));
        read.delete(&deny);
        assert_eq!(read.state("web"), "Current");
    }
}
