//! Rules about workloads: what their rollouts wait for, and the nodes that keep a `DaemonSet` out.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::graph::{Labels, Node, Standing, node_selectors, well_known};
use crate::model::around::Around;
use crate::model::coverage::Reading;
use crate::model::evidence::EvidenceObject;
use crate::model::rules::scheduling::{nodes_source, whole_nodes};
use crate::object::managed_fields::{ManagedFieldsEntry, entries};
use crate::object::selector::LabelSelector;
use crate::object::{Doc, Uid, Value, first_updated, imposed_taints, near, untolerated_taints};
use crate::source::{Form, Select, SourceKey};
use crate::status::{Assessment, Cause, CauseRule, Finding, Status};

/// The most nodes that are looked at.
const MAX_NODES: usize = 100;

/// The most nodes that are named.
const MAX_NAMES: usize = 3;

/// How long ago somebody may have closed a node to Pods that are missing there.
const LATELY: SignedDuration = SignedDuration::from_mins(30);

/// The taints that the Pods of each `DaemonSet` tolerate
/// (<https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/#taints-and-tolerations>).
const TOLERATED: [&str; 6] = [
    "node.kubernetes.io/disk-pressure:NoSchedule",
    "node.kubernetes.io/memory-pressure:NoSchedule",
    "node.kubernetes.io/not-ready:NoExecute",
    "node.kubernetes.io/pid-pressure:NoSchedule",
    "node.kubernetes.io/unreachable:NoExecute",
    "node.kubernetes.io/unschedulable:NoSchedule",
];

/// The nodes that match a `DaemonSet`.
struct MatchingNodes {
    /// Their number.
    all: usize,
    /// How many of them the controller leaves out.
    left_out: usize,
    /// Those that somebody has tainted.
    tainted: Vec<EvidenceObject>,
}

/// The note of a `DaemonSet` that some nodes keep out.
pub(in crate::model) fn kept_out(around: Around<'_>, set: &Node) -> Option<Finding> {
    let doc = around.doc(&set.uid)?;
    let nodes = matching_nodes(around, set, doc.root())?;
    let mut of_taint: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (node, text) in &nodes.tainted {
        let taint = imposed_taints(text.root(), template(doc.root())?).next()?;
        of_taint.entry(taint).or_default().push(&node.name);
    }
    let taints = of_taint.into_iter().map(|(taint, names)| {
        let verb = if names.len() == 1 { "has" } else { "have" };
        let names = match names.len() {
            ..=MAX_NAMES => names.join(", "),
            more => format!("{more} nodes"),
        };
        format!("{names} {verb} taint {taint}")
    });
    let taints: Vec<String> = taints.collect();
    (!taints.is_empty()).then(|| {
        let MatchingNodes { all, left_out, .. } = nodes;
        let text = format!("{} of {all} nodes: {}", all - left_out, taints.join("; "));
        Finding::new(CauseRule::KeptOut, Status::Current, text)
    })
}

/// The nodes that match a `DaemonSet` and have taints that keep it out, with their texts.
pub fn nodes_that_keep_out(around: Around<'_>, set: &Uid) -> Vec<EvidenceObject> {
    let node = around.graph().node(set);
    let nodes = node.and_then(|node| matching_nodes(around, node, around.doc(set)?.root()));
    nodes.map_or_else(Vec::new, |nodes| nodes.tainted)
}

/// Whether someone has written the taints of a node that keeps a `DaemonSet` out, or the `DaemonSet`, a short time ago. A
/// node of a control plane has its taints from the start.
pub fn was_closed_out_lately(around: Around<'_>, set: &Uid, now: Timestamp) -> bool {
    let nodes = nodes_that_keep_out(around, set);
    let mut nodes = nodes.iter().map(|(_, node)| node.root());
    let is_node = nodes.any(|node| {
        let mut late = written_lately(node, now).into_iter();
        late.any(|entry| {
            let mut owned = entry.owned_fields(node).into_iter();
            owned.any(|field| field.path.starts_with(".spec.taints"))
        })
    });
    let is_own = |set: Doc| {
        let mut late = written_lately(set.root(), now).into_iter();
        late.any(|entry| entry.subresource.is_empty())
    };
    is_node || around.doc(set).is_some_and(is_own)
}

/// The nodes that match a `DaemonSet`; `None` if they are not known, or if its controller comes to another number.
fn matching_nodes(around: Around<'_>, set: &Node, object: Value<'_>) -> Option<MatchingNodes> {
    let desired = object.i64_at(&["status", "desiredNumberScheduled"])?;
    let desired = usize::try_from(desired).ok()?;
    let template = template(object)?;
    let nodes = nodes_with(around, set, &node_selectors(template), desired)?;
    let all = nodes.len();
    let mut left_out = nodes;
    left_out.retain(|(_, node)| {
        let mut taints = untolerated_taints(node.root(), template);
        taints.any(|taint| !TOLERATED.contains(&&*taint))
    });
    let mut nodes = MatchingNodes {
        all,
        left_out: left_out.len(),
        tainted: left_out,
    };
    nodes.tainted.retain(|(_, node)| {
        let mut taints = imposed_taints(node.root(), template);
        taints.next().is_some()
    });
    (desired + nodes.left_out == all).then_some(nodes)
}

/// The nodes that match one of the selectors, if they are known and more than a `DaemonSet` runs on. Those that the model
/// has need no source.
fn nodes_with(
    around: Around<'_>,
    set: &Node,
    selectors: &[LabelSelector],
    desired: usize,
) -> Option<Vec<EvidenceObject>> {
    let is_match = |labels: &Labels| {
        let mut matching = selectors.iter();
        selectors.is_empty() || matching.any(|own| own.matches(|key| labels.get(key)))
    };
    let mut nodes: Vec<EvidenceObject> = if has_all_nodes(around, set) {
        let nodes = around.graph().of_kind("Node");
        let nodes = nodes.filter(|node| around.is_there(&node.uid) && is_match(&node.labels));
        let nodes: Vec<&Node> = nodes.collect();
        if nodes.len() <= desired || nodes.len() > MAX_NODES {
            return None;
        }
        let docs = nodes.into_iter();
        docs.filter_map(|node| Some((node.object.clone(), around.doc(&node.uid)?)))
            .collect()
    } else {
        let whole = whole_nodes(around, labels_of_its_nodes(around, set, selectors)?)?;
        let is_read = around.coverage().is_read(&whole);
        is_read.then(|| around.evidence().objects(&whole).cloned().collect())?
    };
    nodes.sort_by(|(a, _), (b, _)| a.cmp(b));
    (nodes.len() > desired).then_some(nodes)
}

/// Whether the model has all nodes of the cluster anyway.
fn has_all_nodes(around: Around<'_>, set: &Node) -> bool {
    let cluster = around.cluster_of(&set.uid);
    let mut sources = around.coverage().sources();
    sources.any(|source| {
        let is_of_nodes = &*source.resource.kind == "Node" && source.resource.group.is_empty();
        is_of_nodes
            && source.select == Select::All
            && source.form != Form::Metadata
            && Some(&source.cluster) == cluster
            && around.coverage().is_read(source)
            && !around.evidence().is_of(source)
    })
}

/// The sources of the nodes of a `DaemonSet` that some of them may keep out: their labels, and if they are few, all of
/// them. They are read in a trace, if it was requested by name, and if its numbers have changed a short time ago.
pub(in crate::model) fn nodes_of_set(around: Around<'_>, set: &Node) -> Vec<SourceKey> {
    let is_interesting = around.is_of_few() || has_moved_lately(around, set);
    if has_all_nodes(around, set) || !is_interesting {
        return Vec::new();
    }
    let labels = around.doc(&set.uid).and_then(|doc| {
        let selectors = node_selectors(template(doc.root())?);
        labels_of_its_nodes(around, set, &selectors)
    });
    let whole = labels.clone();
    let whole = whole.and_then(|labels| whole_nodes(around, labels));
    labels.into_iter().chain(whole).collect()
}

/// Whether the controller has written the numbers of a `DaemonSet` a short time ago.
fn has_moved_lately(around: Around<'_>, set: &Node) -> bool {
    let written = set.workload().and_then(|set| set.status_written);
    written.is_some_and(|written| around.refreshed().duration_since(written) <= LATELY)
}

/// The source of the labels of the nodes that match a selector; `None` if there are several selectors.
fn labels_of_its_nodes(
    around: Around<'_>,
    set: &Node,
    selectors: &[LabelSelector],
) -> Option<SourceKey> {
    match selectors {
        [] => nodes_source(around, set, &LabelSelector::default()),
        [selector] => nodes_source(around, set, selector),
        [_, _, ..] => None,
    }
}

/// The managers that have written an object a short time ago.
fn written_lately(object: Value<'_>, now: Timestamp) -> Vec<ManagedFieldsEntry<'_>> {
    let mut entries = entries(object);
    entries.retain(|entry| {
        let age = entry.time().map(|written| now.duration_since(written));
        age.is_some_and(|age| age <= LATELY)
    });
    entries
}

/// The Pod template of a `DaemonSet`, which reads like a Pod.
fn template(set: Value<'_>) -> Option<Value<'_>> {
    set.at(&["spec", "template"])
}

/// The note of a `ReplicaSet` that a rollout replaces and that still has replicas. There is no rollout before the
/// newest `ReplicaSet` exists.
pub(in crate::model) fn old_revision(around: Around<'_>, set: &Node) -> Vec<Finding> {
    let owner = around.graph().owners(&set.uid).next();
    let current = owner.and_then(|owner| around.graph().current_replica_set(&owner.uid));
    let replicas = set
        .workload()
        .and_then(|set| set.counts)
        .map_or(0, |counts| counts.there);
    if replicas <= 0 || current.is_none_or(|current| current.uid == set.uid) {
        return Vec::new();
    }
    let rule = CauseRule::OldReplicas;
    let are = if replicas == 1 {
        "replica is"
    } else {
        "replicas are"
    };
    let text = format!("old revision, {replicas} {are} still to be removed");
    vec![Finding::new(rule, Status::Current, text)]
}

/// The `ReplicaSets` of a Deployment that have replicas or want some.
pub(in crate::model) fn busy_sets<'m>(
    around: Around<'m>,
    deployment: &Uid,
) -> impl Iterator<Item = &'m Node> {
    let is_deployment = |node: &&Node| &*node.object.kind == "Deployment";
    let deployment = around.graph().node(deployment).filter(is_deployment);
    let sets = deployment.map(|deployment| around.graph().children(&deployment.uid));
    sets.into_iter().flatten().filter(|set| !set.is_idle())
}

/// The old Pod that a Deployment waits for.
pub(in crate::model) fn ending_pod(
    around: Around<'_>,
    deployment: &Node,
    _: &[Finding],
) -> Option<Cause> {
    let doc = around.doc(&deployment.uid)?;
    let strategy = doc.root().str_at(&["spec", "strategy", "type"]);
    let updated = doc.root().i64_at(&["status", "updatedReplicas"]);
    if strategy.as_deref() != Some("Recreate") || updated.unwrap_or(0) > 0 {
        return None;
    }
    let sets = around.graph().children(&deployment.uid).into_iter();
    let mut pods = sets.flat_map(|set| around.graph().children(&set.uid));
    let mut standings = around.graph().standings();
    let (pod, assessment) = pods.find_map(|pod| {
        let assessment: &Assessment = &around.object(&pod.uid)?.assessment;
        let is_ending = assessment.status() == Status::Terminating;
        (is_ending && standings.of(&pod.uid) == Standing::Old).then_some((pod, assessment))
    })?;
    let why = assessment.causes.first();
    let why = why.map_or(String::new(), |cause| format!(", which is {}", cause.text));
    let text = format!("Recreate: new pods wait for {} to end{why}", pod.object);
    Some(Cause::new(CauseRule::Fact, text))
}

/// The Pod that blocks the rollout of a `StatefulSet`; `None` for other kinds. The controller waits for a broken Pod
/// of an old revision, and replaces it only after it is ready
/// (<https://github.com/kubernetes/kubernetes/issues/67250>).
pub(in crate::model) fn blocked_rollout(around: Around<'_>, set: &Node) -> Option<Finding> {
    let pod = awaited_pod(around, set).filter(|pod| is_old(around, pod))?;
    let doc = around.doc(&set.uid)?;
    let strategy = doc.root().str_at(&["spec", "updateStrategy", "type"]);
    let is_rolling = strategy.is_none_or(|strategy| strategy == "RollingUpdate");
    let is_blocked = is_rolling && pod.ordinal()? >= first_updated(doc.root());
    is_blocked.then(|| {
        let name = &pod.object.name;
        let namespace = pod.object.namespace.as_deref().unwrap_or("default");
        let text = format!(
            "rollout blocked by {}; to unblock it: kubectl delete pod {name} -n {namespace}",
            pod.object
        );
        Finding::new(CauseRule::BlockedRollout, Status::Failed, text)
    })
}

/// Why a `StatefulSet` makes no progress. A Pod of an old revision is a problem of its own.
pub(in crate::model) fn blocking_pod(
    around: Around<'_>,
    set: &Node,
    _: &[Finding],
) -> Option<Cause> {
    let pod = awaited_pod(around, set).filter(|pod| !is_old(around, pod))?;
    let text = format!("waits for {}, which is not ready", pod.object);
    Some(Cause::new(CauseRule::BlockedByPod, text))
}

/// The Pod that a `StatefulSet` waits for; `None` for other kinds. This is the first Pod that is not ready, once it
/// has had the time to become ready. A Pod that has ended is replaced.
fn awaited_pod<'m>(around: Around<'m>, set: &Node) -> Option<&'m Node> {
    if &*set.object.kind != "StatefulSet" || set.object.group() != "apps" {
        return None;
    }
    let mut pods = around.graph().children(&set.uid).into_iter();
    let is_unready = |pod: &&Node| pod.pod().is_some() && !pod.is_ready_pod();
    let pod = pods.find(is_unready).filter(|pod| !pod.deleting)?;
    let object = around.object(&pod.uid)?;
    let is_late = object.assessment.is_failing() || !object.is_starting;
    let doc = around.doc(&set.uid)?;
    let policy = doc.root().str_at(&["spec", "podManagementPolicy"]);
    let is_ordered = policy.is_none_or(|policy| policy == "OrderedReady");
    (is_ordered && is_late && !pod.pod()?.has_ended).then_some(pod)
}

/// The source of the names of all Services beside a `StatefulSet` that names one, unless the model has the Services anyway.
pub(in crate::model) fn services_beside(around: Around<'_>, set: &Node) -> Vec<SourceKey> {
    let source = governing_service(around, set)
        .and_then(|_| services_source(around, set))
        .filter(|names| !has_services(around, names));
    Vec::from_iter(source)
}

/// The note of a `StatefulSet` whose governing Service does not exist. Its Pods run, but each lacks the DNS name by which
/// others know it. Nothing recreates the Service.
pub(in crate::model) fn no_governing_service(around: Around<'_>, set: &Node) -> Option<Finding> {
    let name = governing_service(around, set)?;
    let near = near_services(around, set, name)?;
    let text =
        format!("governing service {name} does not exist{near}: its pods have no stable DNS names");
    Some(Finding::new(
        CauseRule::NoGoverningService,
        Status::Current,
        text,
    ))
}

/// The words for the nearest of the Services beside a `StatefulSet`; `None` if one has this name, or not all are known.
fn near_services(around: Around<'_>, set: &Node, name: &str) -> Option<String> {
    let source = services_source(around, set)?;
    around.knows_absence().then_some(())?;
    let near = if has_services(around, &source) {
        let namespace = set.object.namespace.as_ref();
        let is_there =
            |service: &&Node| service.service().is_some() && around.is_there(&service.uid);
        let mut own = around.graph().of_name("Service", namespace, name);
        if own.any(|own| is_there(&own)) {
            return None;
        }
        let beside = around.graph().of_kind_in("Service", namespace);
        near(name, beside.filter(is_there).map(|it| &*it.object.name))
    } else {
        around.coverage().is_read(&source).then_some(())?;
        let names = || around.evidence().names(&source);
        if names().any(|own| own == name) {
            return None;
        }
        near(name, names())
    };
    let words = near.first().map(|near| format!("; there is {near}"));
    Some(words.unwrap_or_default())
}

/// The name of the governing Service of a `StatefulSet`, if it has one.
fn governing_service<'n>(around: Around<'_>, set: &'n Node) -> Option<&'n str> {
    let name = set.workload()?.governing_service.as_deref();
    name.filter(|_| around.is_there(&set.uid))
}

/// The source of the names of all Services beside an object.
fn services_source(around: Around<'_>, node: &Node) -> Option<SourceKey> {
    let cluster = around.cluster_of(&node.uid)?;
    let namespace = node.object.namespace.clone()?;
    let services = well_known("", "Service");
    let all = SourceKey::of(cluster, services, Some(namespace), Select::All);
    let form = Form::Metadata;
    Some(SourceKey { form, ..all })
}

/// Whether the model has all Services that a source of their names has.
fn has_services(around: Around<'_>, names: &SourceKey) -> bool {
    let whole = SourceKey {
        form: Form::Full,
        ..names.clone()
    };
    around.coverage().reading_of_all(&whole) == Some(&Reading::All) && !around.lookups().has(&whole)
}

fn is_old(around: Around<'_>, pod: &Node) -> bool {
    around.graph().standings().of(&pod.uid) == Standing::Old
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::model::rules::tests::Read;
    use crate::model::tests::at;
    use crate::source::{Event, SourceState};

    fn set(desired: usize, pod: &str) -> String {
        format!(
            "{{apiVersion: apps/v1, kind: DaemonSet, metadata: {{name: agent, namespace: shop, generation: 1}}, spec: {{selector: {{matchLabels: {{app: agent}}}}, template: {{spec: {{{pod}}}}}}}, status: {{observedGeneration: 1, desiredNumberScheduled: {desired}, currentNumberScheduled: {desired}, numberReady: {desired}, numberAvailable: {desired}, updatedNumberScheduled: {desired}}}}}"
        )
    }

    fn node(name: &str, taints: &str) -> String {
        format!(
            "{{apiVersion: v1, kind: Node, metadata: {{name: {name}, labels: {{node: {name}}}}}, spec: {{taints: [{taints}]}}, status: {{conditions: [{{type: Ready, status: 'True'}}]}}}}"
        )
    }

    const GPU: &str = "{key: dedicated, value: gpu, effect: NoSchedule}";
    const SPOT: &str = "{key: spot, effect: NoExecute}";
    const SOFT: &str = "{key: spot, effect: PreferNoSchedule}";
    const CORDONED: &str = "{key: node.kubernetes.io/unschedulable, effect: NoSchedule}";
    const UNREADY: &str = "{key: node.kubernetes.io/not-ready, effect: NoSchedule}";

    /// The note of a set that runs on so many nodes, among nodes with these taints.
    fn note(desired: usize, pod: &str, taints: &[&str]) -> String {
        let nodes = taints.iter().enumerate();
        let nodes = nodes.map(|(at, taints)| node(&format!("n{at}"), taints));
        let objects: Vec<String> = [set(desired, pod)].into_iter().chain(nodes).collect();
        let state = Read::for_status(&objects.join("\n---\n")).state("agent");
        let found = state.strip_prefix("Current").unwrap_or(&state).trim();
        found.strip_prefix("KeptOut: ").unwrap_or(found).to_owned()
    }

    #[test]
    fn the_nodes_that_keep_a_daemon_set_out_are_named_with_their_taints() {
        let tolerates = "tolerations: [{key: dedicated, operator: Exists}]";
        let on_n1_or_n2 = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: node, operator: In, values: [n1, n2]}]}]}}}";
        for (desired, pod, taints, expect) in [
            (
                2,
                "",
                &[GPU, "", ""][..],
                "2 of 3 nodes: n0 has taint dedicated=gpu:NoSchedule",
            ),
            (
                1,
                "",
                &[GPU, SPOT, ""],
                "1 of 3 nodes: n0 has taint dedicated=gpu:NoSchedule; n1 has taint spot:NoExecute",
            ),
            (
                1,
                "",
                &[GPU, GPU, ""],
                "1 of 3 nodes: n0, n1 have taint dedicated=gpu:NoSchedule",
            ),
            (
                1,
                "",
                &[GPU, GPU, GPU, GPU, ""],
                "1 of 5 nodes: 4 nodes have taint dedicated=gpu:NoSchedule",
            ),
            (3, "", &["", "", ""], ""),
            (3, tolerates, &[GPU, "", ""], ""),
            (2, "", &[SOFT, CORDONED], ""),
            // A node that is not ready is not the work of anybody.
            (1, "", &[UNREADY, ""], ""),
            (
                1,
                "",
                &[UNREADY, "", GPU],
                "1 of 3 nodes: n2 has taint dedicated=gpu:NoSchedule",
            ),
            (1, "nodeSelector: {node: n1}", &[GPU, ""], ""),
            (
                0,
                "nodeSelector: {node: n0}",
                &[GPU, ""],
                "0 of 1 nodes: n0 has taint dedicated=gpu:NoSchedule\nNoNodeSelected: no node has node=n0",
            ),
            (
                1,
                on_n1_or_n2,
                &[GPU, GPU, ""],
                "1 of 2 nodes: n1 has taint dedicated=gpu:NoSchedule",
            ),
            // The controller comes to another number: it has not looked yet, or knows more.
            (3, "", &[GPU, "", ""], ""),
            (1, "", &[GPU, "", ""], ""),
        ] {
            assert_eq!(
                note(desired, pod, taints),
                expect,
                "{desired} {pod} {taints:?}"
            );
        }
    }

    #[test]
    fn nodes_are_read_for_a_daemon_set_that_was_requested_by_name() {
        let mut read = Read::for_status(&set(1, ""));
        assert!(crate::model::evidence_sources::evidence_sources(read.model.around()).is_empty());
        read.model.objects.needs_of_well_pods = crate::graph::Tier::Unwell;
        let nodes = [node("n0", GPU), node("n1", "")];
        read.explain(&nodes);
        let sources = crate::model::evidence_sources::evidence_sources(read.model.around());
        assert_eq!(sources.len(), 2, "{sources:?}");
        read.explain(&nodes);
        let expect = "Current\nKeptOut: 1 of 2 nodes: n0 has taint dedicated=gpu:NoSchedule";
        assert_eq!(read.state("agent"), expect);
    }

    /// The state of a `StatefulSet` with this governing Service, beside Services of these names.
    fn governed(service: &str, services: &[&str], is_requested: bool) -> String {
        let set = format!(
            "{{apiVersion: apps/v1, kind: StatefulSet, metadata: {{name: db, namespace: shop, generation: 1}}, spec: {{replicas: 0, {service}}}, status: {{observedGeneration: 1, replicas: 0}}}}"
        );
        let service = |name: &&str| {
            format!(
                "{{apiVersion: v1, kind: Service, metadata: {{name: {name}, namespace: shop}}, spec: {{type: ExternalName, externalName: a.example}}}}"
            )
        };
        let services: Vec<String> = services.iter().map(service).collect();
        if is_requested {
            let objects: Vec<String> = [set].into_iter().chain(services).collect();
            Read::for_status(&objects.join("\n---\n")).state("db")
        } else {
            Read::for_status(&set).explain(&services).state("db")
        }
    }

    #[test]
    fn a_stateful_set_without_its_governing_service_has_no_stable_names() {
        let note = |near: &str| {
            format!(
                "NoGoverningService: governing service db-peers does not exist{near}: its pods have no stable DNS names"
            )
        };
        let named = "serviceName: db-peers";
        for (spec, services, is_requested, expect) in [
            (named, &["db"][..], false, Some(note(""))),
            (
                named,
                &["db", "db-peer"],
                false,
                Some(note("; there is db-peer")),
            ),
            (
                named,
                &["db", "db-peer"],
                true,
                Some(note("; there is db-peer")),
            ),
            (named, &["db", "db-peers"], false, None),
            (named, &["db-peers"], true, None),
            ("serviceName: ''", &["db"], false, None),
            ("", &["db"], true, None),
        ] {
            let state = governed(spec, services, is_requested);
            assert!(state.starts_with("Current"), "{state}");
            let found = state.lines().find(|line| line.starts_with("NoGoverning"));
            assert_eq!(
                found,
                expect.as_deref(),
                "{spec} {services:?} {is_requested}"
            );
        }
    }

    #[test]
    fn the_service_of_another_namespace_or_group_governs_no_stateful_set() {
        let set = "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: shop}, spec: {replicas: 0, serviceName: peers}}";
        let service = "{apiVersion: v1, kind: Service, metadata: {name: SERVICE, namespace: shop}, spec: {type: ExternalName, externalName: a.example}}";
        for (other, is_governed) in [
            (service.replace("SERVICE", "peers"), true),
            (
                service.replace("SERVICE", "peers").replace("shop", "prod"),
                false,
            ),
            (
                service
                    .replace("SERVICE", "peers, uid: p")
                    .replace("v1", "serving.knative.dev/v1"),
                false,
            ),
        ] {
            let beside = service.replace("SERVICE", "beside");
            let read = Read::for_status(&[set, &beside, &other].join("\n---\n"));
            let is_lacking = read.state("db").contains("NoGoverning");
            assert_eq!(is_lacking, !is_governed, "{other}");
        }
    }

    #[test]
    fn nothing_is_said_of_services_that_are_not_read() {
        let set = "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: shop}, spec: {replicas: 0, serviceName: db}}";
        let mut read = Read::for_status(set);
        let wanted = crate::model::evidence_sources::evidence_sources(read.model.around());
        assert_eq!(wanted.len(), 1, "{wanted:?}");
        assert!(!read.state("db").contains("NoGoverning"));
        let followed = read.model.coverage().sources().cloned().collect();
        read.model.objects.follow(followed, wanted.clone());
        let cause = "forbidden".into();
        let refused = Event::State(SourceState::Forbidden { cause });
        read.model
            .apply(&Arc::new(wanted[0].clone()), &refused, at(1));
        read.model.refresh(at(1));
        assert!(!read.state("db").contains("NoGoverning"));
    }

    #[test]
    fn the_new_pods_of_a_recreated_deployment_wait_for_an_old_one() {
        let state = |strategy: &str, updated: u32| {
            let owned = |kind: &str, owner: &str| {
                format!(
                    "ownerReferences: [{{apiVersion: apps/v1, kind: {kind}, name: {owner}, uid: {owner}, controller: true}}]"
                )
            };
            let objects = [
                format!(
                    "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web, namespace: shop, generation: 2}},
  spec: {{replicas: 1, strategy: {{type: {strategy}}}}}, status: {{observedGeneration: 2, replicas: 0, updatedReplicas: {updated}}}}}"
                ),
                format!(
                    "{{apiVersion: apps/v1, kind: ReplicaSet, metadata: {{name: web-1, namespace: shop, {}}}, spec: {{replicas: 0}}}}",
                    owned("Deployment", "web")
                ),
                format!(
                    "{{apiVersion: v1, kind: Pod, metadata: {{name: web-1-a, namespace: shop, deletionTimestamp: '2020-01-01T00:00:00Z', finalizers: [example.com/backup], {}}}}}",
                    owned("ReplicaSet", "web-1")
                ),
            ];
            Read::for_status(&objects.join("\n---\n")).state("web")
        };
        let waits = "Fact: Recreate: new pods wait for pod/web-1-a to end, which is waiting for finalizers: example.com/backup";
        assert!(
            state("Recreate", 0).ends_with(waits),
            "{}",
            state("Recreate", 0)
        );
        assert!(!state("Recreate", 1).contains("Fact"));
        assert!(!state("RollingUpdate", 0).contains("Fact"));
    }
}
