//! Tests of the rules about an object and those around it, on a model that has read every object.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use crate::model::tests::{at, event};
use crate::model::{Model, Retention};
use crate::object::{Doc, ObjectRef, Resource, ResourceVersion, ServedTypes, Uid, well_known_type};
use crate::source::{Event, Scope, Select, SourceKey, Version, Why};
use crate::status::Rules;

/// A model of a trace that has read these objects: YAML documents, separated by `---`. The uid of an object is its name,
/// if it has none.
pub(in crate::model) struct Read {
    pub(in crate::model) model: Model,
}

impl Read {
    pub(in crate::model) fn of(yaml: &str) -> Read {
        let model = Model::new(Rules::Spy, Retention::None).with_links(ServedTypes::default());
        Read::into(model, yaml)
    }

    /// The same, in a model as of `status`.
    pub(in crate::model) fn for_status(yaml: &str) -> Read {
        Read::into(Model::new(Rules::Spy, Retention::None), yaml)
    }

    fn into(mut model: Model, yaml: &str) -> Read {
        let versions: Vec<Arc<Version>> = yaml.split("\n---\n").map(version).collect();
        let sources: Vec<Arc<SourceKey>> = versions.iter().map(|version| source(version)).collect();
        let mut followed: Vec<SourceKey> = sources.iter().map(|key| (**key).clone()).collect();
        followed.dedup();
        model.objects.follow(followed, Vec::new());
        for (source, version) in sources.iter().zip(&versions) {
            model.apply(source, &event(Why::Listed, version.clone()), at(0));
        }
        for source in &sources {
            model.apply(source, &Event::synced(1), at(0));
        }
        model.refresh(at(0));
        Read { model }
    }

    /// Applies a new version of an object.
    pub(super) fn put(&mut self, yaml: &str) -> &mut Read {
        self.apply(Why::Modified, yaml)
    }

    /// Deletes an object.
    pub(super) fn delete(&mut self, yaml: &str) -> &mut Read {
        self.apply(Why::Deleted, yaml)
    }

    fn apply(&mut self, why: Why, yaml: &str) -> &mut Read {
        let version = version(yaml);
        let now: Timestamp = at(1);
        self.model
            .apply(&source(&version), &event(why, version), now);
        self.model.refresh(now);
        self
    }

    /// Reads one more source, which has no object that is not known yet.
    pub(in crate::model) fn look(&mut self, source: SourceKey) -> &mut Read {
        let sources = self.model.coverage().sources().cloned();
        let sources = sources.chain([source.clone()]).collect();
        self.model.objects.follow(sources, Vec::new());
        self.model
            .apply(&Arc::new(source), &Event::synced(0), at(1));
        self.model.refresh(at(1));
        self
    }

    /// Reads what explains the unwell objects: these objects, and none besides.
    pub(in crate::model) fn explain(&mut self, objects: &[String]) -> &mut Read {
        let evidence = crate::model::evidence_sources::evidence_sources(self.model.around());
        let followed = self.model.coverage().sources();
        let followed = followed.filter(|source| !self.model.objects.evidence.is_of(source));
        let followed: Vec<SourceKey> = followed.cloned().collect();
        self.model.objects.follow(followed, evidence.clone());
        let versions: Vec<Arc<Version>> = objects.iter().map(|yaml| version(yaml)).collect();
        for source in evidence.into_iter().map(Arc::new) {
            let of_kind = versions.iter();
            for version in of_kind.filter(|it| it.object.kind == source.resource.kind) {
                let listed = event(Why::Listed, version.clone());
                self.model.apply(&source, &listed, at(1));
            }
            self.model.apply(&source, &Event::synced(0), at(1));
        }
        self.model.refresh(at(1));
        self
    }

    /// The state of an object and its causes.
    pub(in crate::model) fn state(&self, uid: &str) -> String {
        let object = self.model.object(&Uid::new(uid)).expect("it exists");
        let mut lines = vec![object.assessment.status().to_string()];
        let causes = object.assessment.causes.iter();
        lines.extend(causes.map(|cause| format!("{}: {}", cause.rule.as_str(), cause.text)));
        lines.join("\n")
    }
}

fn version(yaml: &str) -> Arc<Version> {
    let mut object: serde_json::Value = serde_saphyr::from_str(yaml).expect("YAML");
    let metadata = &mut object["metadata"];
    if metadata["uid"].is_null() {
        metadata["uid"] = metadata["name"].clone();
    }
    let doc = Doc::parse(object.to_string()).expect("JSON");
    Arc::new(Version {
        object: ObjectRef::of(doc.root()).into(),
        version: ResourceVersion::new("1"),
        body: object.to_string().into(),
    })
}

/// The source of all objects of the version's type, in its namespace.
fn source(version: &Version) -> Arc<SourceKey> {
    let object = &version.object;
    let namespace = object.namespace.clone();
    Arc::new(SourceKey {
        scope: namespace.map_or(Scope::Cluster, Scope::Namespace),
        resource: resource(object),
        ..SourceKey::all("", "Pod")
    })
}

/// The type of an object.
fn resource(object: &ObjectRef) -> Resource {
    let found = well_known_type(object.group(), &object.kind);
    found.map_or_else(
        || Resource {
            group: object.group().into(),
            version: "v1".into(),
            plural: format!("{}s", object.kind.to_lowercase()).into(),
            kind: object.kind.clone(),
            namespaced: true,
        },
        |found| found.resource.clone(),
    )
}

/// A Deployment in which revision 2 replaces revision 1.
const ROLLOUT: &str = "\
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop, annotations: {deployment.kubernetes.io/revision: '2'}}, spec: {replicas: 3}}
---
{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: old, namespace: shop, annotations: {deployment.kubernetes.io/revision: '1'}, ownerReferences: [{uid: web, controller: true}]}, spec: {replicas: 2}, status: {replicas: 2, fullyLabeledReplicas: 2, readyReplicas: 2, availableReplicas: 2}}";

const NEW_SET: &str = "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: new, namespace: shop, annotations: {deployment.kubernetes.io/revision: '2'}, ownerReferences: [{uid: web, controller: true}]}, spec: {replicas: 2}, status: {replicas: 2, fullyLabeledReplicas: 2, readyReplicas: 2, availableReplicas: 2}}";

#[test]
fn an_old_replica_set_names_the_replicas_that_the_rollout_removes() {
    let mut read = Read::for_status(ROLLOUT);
    assert_eq!(read.state("old"), "Current", "there is no newer one yet");
    read.put(NEW_SET);
    assert_eq!(
        read.state("old"),
        "Current\nOldReplicas: old revision, 2 replicas are still to be removed"
    );
    assert_eq!(read.state("new"), "Current");
    let one = "{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: old, namespace: shop, annotations: {deployment.kubernetes.io/revision: '1'}, ownerReferences: [{uid: web, controller: true}]}, spec: {replicas: 0}, status: {replicas: 1, fullyLabeledReplicas: 1, readyReplicas: 1, availableReplicas: 1}}";
    read.put(one);
    assert_eq!(
        read.state("old"),
        "InProgress\nOldReplicas: old revision, 1 replica is still to be removed"
    );
    read.put(&one.replace("status: {replicas: 1", "status: {replicas: 0"));
    assert_eq!(read.state("old"), "Current");
    read.put(ROLLOUT.rsplit("\n---\n").next().expect("the old one"));
    assert!(read.state("old").contains("2 replicas"));
    read.delete(NEW_SET);
    assert_eq!(read.state("old"), "Current", "no rollout replaces it");
}

#[test]
fn a_workload_that_no_service_selects_is_noted_once_all_services_are_read() {
    let workload = "{apiVersion: apps/v1, kind: KIND, metadata: {name: web, namespace: shop}, spec: {template: {metadata: {labels: {app: web}}}}}";
    let service = "{apiVersion: v1, kind: Service, metadata: {name: front, namespace: shop}, spec: {selector: SELECTOR}}";
    let note = |kind: &str, selector: &str| {
        let objects = format!("{workload}\n---\n{service}");
        let objects = objects.replace("KIND", kind).replace("SELECTOR", selector);
        let read = Read::of(&objects);
        let note = super::gateways::missing_in_front(read.model.around(), &Uid::new("web"));
        note.map_or(String::new(), |note| note.text)
    };
    let unmatched = "no Service selects its pods";
    for (kind, selector, expected) in [
        ("Deployment", "{app: web}", ""),
        ("Deployment", "{app: other}", unmatched),
        ("StatefulSet", "{app: web, tier: front}", unmatched),
        ("DaemonSet", "{}", unmatched),
        ("ReplicaSet", "{app: other}", ""),
    ] {
        assert_eq!(note(kind, selector), expected, "{kind} {selector}");
    }
    let alone = Read::of(&workload.replace("KIND", "Deployment"));
    assert_eq!(
        super::gateways::missing_in_front(alone.model.around(), &Uid::new("web")),
        None
    );
}

/// A volume that names a claim.
fn volume(phase: &str, uid: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: PersistentVolume, metadata: {{name: pv}}, spec: {{accessModes: [ReadWriteOnce], claimRef: {{namespace: shop, name: data{uid}}}}}, status: {{phase: {phase}}}}}"
    )
}

fn claim(uid: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {{name: data, namespace: shop, uid: {uid}}}, spec: {{volumeName: pv}}, status: {{phase: Bound}}}}"
    )
}

#[test]
fn a_volume_says_whether_its_claim_is_gone_or_another_one() {
    let (own, released) = (
        ", uid: claim",
        "InProgress\nVolumeReleased: its claim shop/data is gone (reclaim policy Retain)",
    );
    let replaced =
        "Current\nReplacedClaim: its claim shop/data was replaced by a new one of the same name";
    let both = released.replace("InProgress", &replaced.replace("Current", "InProgress"));
    for (phase, uid, there, expected) in [
        ("Bound", own, "claim", "Current"),
        ("Bound", own, "other", replaced),
        ("Released", own, "other", &both),
        ("Available", "", "other", "Current"),
    ] {
        let read = Read::of(&format!("{}\n---\n{}", volume(phase, uid), claim(there)));
        assert_eq!(read.state("pv"), expected, "{phase} {uid} {there}");
    }
    // A volume that is not well reads its claim in `status`, too.
    let objects = format!("{}\n---\n{}", volume("Released", own), claim("other"));
    assert_eq!(Read::for_status(&objects).state("pv"), both);
    let named = SourceKey {
        scope: Scope::Namespace("shop".into()),
        select: Select::Name("data".into()),
        ..SourceKey::all("", "PersistentVolumeClaim")
    };
    let dangling = "Current\nDanglingVolume: dangling: its claim shop/data does not exist";
    for (phase, uid, expected) in [
        ("Bound", own, dangling),
        ("Released", own, released),
        ("Available", "", "Current"),
    ] {
        let mut read = Read::of(&volume(phase, uid));
        assert_ne!(read.state("pv"), dangling, "the claim is not read");
        assert_eq!(read.look(named.clone()).state("pv"), expected, "{phase}");
    }
}

fn attachment(node: &str, fields: &str) -> String {
    format!(
        "{{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {{name: to-{node}{fields}}}, spec: {{attacher: disks, nodeName: {node}, source: {{persistentVolumeName: pv}}}}, status: {{attached: true}}}}"
    )
}

#[test]
fn a_volume_for_one_node_must_not_be_attached_to_two() {
    let volume = volume("Bound", ", uid: claim");
    let second = attachment("n2", "");
    let objects = format!("{volume}\n---\n{}", attachment("n1", ""));
    let mut read = Read::of(&objects);
    assert_eq!(read.state("pv"), "Current");
    read.put(&second);
    assert_eq!(
        read.state("pv"),
        "Current\nAttachedTwice: attached to the nodes n1 and n2, but only one may use it (ReadWriteOnce)"
    );
    read.put(&attachment(
        "n1",
        ", deletionTimestamp: '2026-11-23T00:00:00Z'",
    ));
    assert_eq!(read.state("pv"), "Current", "the first one is about to end");
    read.put(&attachment("n1", ""));
    read.put(&second.replace("attached: true", "attached: false"));
    assert_eq!(read.state("pv"), "Current", "the second one has to wait");
    read.put(&second);
    read.put(&volume.replace("ReadWriteOnce", "ReadWriteMany"));
    assert_eq!(read.state("pv"), "Current", "many nodes may use it");
    read.put(&volume);
    read.delete(&second);
    assert_eq!(read.state("pv"), "Current");
}

/// A certificate for web.example.com.
const CERTIFICATE: &str = crate::status::CERTIFICATE_OF_WEB;

#[test]
fn a_certificate_must_name_the_hosts_that_use_it() {
    let secret = format!(
        "{{apiVersion: v1, kind: Secret, metadata: {{name: cert, namespace: shop}}, type: kubernetes.io/tls, data: {{tls.crt: {CERTIFICATE}, tls.key: aGlkZGVu}}}}"
    );
    let ingress = "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: front, namespace: shop}, spec: {tls: [{secretName: cert, hosts: [HOST]}]}}";
    let gateway = "{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: front, namespace: shop}, spec: {listeners: [{hostname: HOST, tls: {certificateRefs: [{name: cert}]}}]}}";
    let state = |object: &str, host: &str| {
        let object = object.replace("HOST", &format!("'{host}'"));
        let read = Read::for_status(&format!("{object}\n---\n{secret}"));
        assert!(!read.state("front").contains("hidden"));
        read.state("front")
    };
    for object in [ingress, gateway] {
        assert_eq!(state(object, "web.example.com"), "Current");
        for host in ["shop.example.com", "*.example.com", "example.com"] {
            let expected = format!(
                "InProgress\nUnnamedHost: certificate secret/cert does not name the host {host}; it names web.example.com"
            );
            assert_eq!(state(object, host), expected);
        }
    }
    let mut read = Read::for_status(&ingress.replace("HOST", "shop.example.com"));
    assert_eq!(read.state("front"), "Current", "the Secret is not read");
    read.look(SourceKey {
        scope: Scope::Namespace("shop".into()),
        ..SourceKey::all("", "Secret")
    });
    read.put(&secret);
    assert!(
        read.state("front")
            .contains("does not name the host shop.example.com")
    );
}

fn budget(name: &str, selector: &str) -> String {
    format!(
        "{{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {{name: {name}, namespace: shop}}, spec: {{selector: {selector}}}, status: {{expectedPods: 1, disruptionsAllowed: 1}}}}"
    )
}

#[test]
fn two_budgets_with_one_pod_let_its_evictions_fail() {
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: web-a, namespace: shop, labels: {app: web}}, status: {phase: Running}}";
    let other = budget("other", "{matchLabels: {app: other}}");
    let objects = [pod, &budget("web", "{matchLabels: {app: web}}"), &other];
    let mut read = Read::of(&objects.join("\n---\n"));
    assert_eq!(read.state("web"), "Current");
    read.put(&budget("other", "{}"));
    let shared = |other: &str| {
        format!(
            "Current\nBudgetsOverlap: pod/web-a is also under poddisruptionbudget/{other}: evictions will fail"
        )
    };
    assert_eq!(read.state("web"), shared("other"));
    assert_eq!(read.state("other"), shared("web"));
    read.delete(&budget("other", "{}"));
    assert_eq!(read.state("web"), "Current");
}

#[test]
fn a_network_policy_names_the_directions_that_it_restricts() {
    for (spec, expected) in [
        ("ingress: [{}]", "ingress restricted"),
        ("egress: [{}], ingress: [{}]", "ingress, egress restricted"),
        ("policyTypes: [Egress], egress: [{}]", "egress restricted"),
    ] {
        let policy = format!(
            "{{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {{name: all, namespace: shop}}, spec: {{{spec}}}}}"
        );
        let expected = format!("Current\nRestricts: {expected}");
        assert_eq!(Read::of(&policy).state("all"), expected);
        assert_eq!(Read::for_status(&policy).state("all"), "Current");
    }
}

/// A node with room for two Pods, and a Pod on it.
const NODE: &str = "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: '1', memory: 1Gi, pods: '2'}, conditions: [{type: Ready, status: 'True'}]}}";

fn pod_on_node(name: &str, fields: &str, phase: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, namespace: shop}}, spec: {{nodeName: n1, {fields}}}, status: {{phase: {phase}, qosClass: BestEffort, conditions: [{{type: Ready, status: 'True'}}]}}}}"
    )
}

#[test]
fn a_node_counts_its_pods_and_their_limits() {
    let limit =
        |cpu: &str| format!("containers: [{{name: a, resources: {{limits: {{cpu: {cpu}}}}}}}]");
    let sidecar = "initContainers: [{name: once, resources: {limits: {memory: 9Gi}}}, {name: proxy, restartPolicy: Always, resources: {limits: {memory: 1Gi}}}]";
    let small = pod_on_node("a", &limit("250m"), "Running");
    let ended = pod_on_node("c", &limit("'4'"), "Succeeded");
    let mut read = Read::of(&[NODE, &small, &ended].join("\n---\n"));
    let pods = SourceKey {
        select: Select::matching(None, Some("spec.nodeName=n1")),
        ..SourceKey::all("", "Pod")
    };
    read.put(&pod_on_node("b", &limit("800m"), "Running"));
    assert_eq!(
        read.state("n1"),
        "Current",
        "another source may have more pods"
    );
    read.look(pods);
    read.put(&small);
    assert_eq!(
        read.state("n1"),
        "Current\nMaxPods: reached max Pods: 2 of 2\nOvercommitted: CPU overcommitted: the limits are 105% of 1"
    );
    read.delete(&pod_on_node("b", &limit("800m"), "Running"));
    assert_eq!(read.state("n1"), "Current");
    read.put(&pod_on_node("a", sidecar, "Running"));
    assert_eq!(
        read.state("n1"),
        "Current\nOvercommitted: memory overcommitted: the limits are 100% of 1Gi"
    );
}

#[test]
fn a_best_effort_pod_is_at_risk_on_a_node_without_memory() {
    let pressed = NODE.replace(
        "conditions: [",
        "conditions: [{type: MemoryPressure, status: 'True'}, ",
    );
    let pod = pod_on_node("a", "containers: []", "Running");
    let mut read = Read::of(&[NODE, &pod].join("\n---\n"));
    assert_eq!(read.state("a"), "Current");
    read.put(&pressed);
    assert_eq!(
        read.state("a"),
        "Current\nEvictionRisk: eviction risk: node n1 has too little memory, and the pod is BestEffort"
    );
    read.put(&pod.replace("BestEffort", "Burstable"));
    assert_eq!(read.state("a"), "Current");
}

#[test]
fn a_mesh_route_must_lead_to_a_service_and_a_subset() {
    let route = |host: &str, subset: &str| {
        format!(
            "{{apiVersion: networking.istio.io/v1, kind: VirtualService, metadata: {{name: route, namespace: shop}}, spec: {{http: [{{route: [{{destination: {{host: {host}{subset}}}}}]}}]}}}}"
        )
    };
    let service = "{apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop}, spec: {clusterIP: None}}";
    let rule = "{apiVersion: networking.istio.io/v1, kind: DestinationRule, metadata: {name: rule, namespace: shop}, spec: {host: web, subsets: [{name: v1}]}}";
    let state = |host: &str, subset: &str| {
        Read::of(&[&route(host, subset), service, rule].join("\n---\n")).state("route")
    };
    let missing = |host: &str| {
        format!("Current\nMissingSubset: no DestinationRule of {host} has the subset v2")
    };
    let full = "web.shop.svc.cluster.local";
    assert_eq!(state("web", ""), "Current");
    assert_eq!(state(full, ", subset: v1"), "Current");
    assert_eq!(state("web", ", subset: v2"), missing("web"));
    assert_eq!(state(full, ", subset: v2"), missing(full));
    assert_eq!(state("example.com", ", subset: v2"), "Current");
    let beside_external = "web}}, {destination: {host: web.shop.com";
    assert_eq!(state(beside_external, ", subset: v2"), "Current");
    let mut read = Read::of(&[&route("web", ", subset: v2"), service].join("\n---\n"));
    assert_eq!(read.state("route"), "Current", "no rule is read");
    let read = read.look(SourceKey {
        scope: Scope::Namespace("shop".into()),
        select: Select::Name("gone".into()),
        ..SourceKey::all("", "Service")
    });
    read.put(&route("gone", ""));
    assert_eq!(
        read.state("route"),
        "Failed\nMissingReference: destination service/gone does not exist"
    );
}

#[test]
fn a_pod_without_a_controller_is_noted() {
    let pod = |owners: &str| {
        let pod = format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: a, namespace: shop{owners}}}, status: {{phase: Running}}}}"
        );
        let note = super::gateways::missing_in_front(Read::of(&pod).model.around(), &Uid::new("a"));
        note.map(|note| note.text)
    };
    assert_eq!(
        pod("").as_deref(),
        Some("Standalone: no controller replaces it")
    );
    assert_eq!(
        pod(", ownerReferences: [{uid: set, controller: true}]"),
        None
    );
}

#[test]
fn a_pod_names_the_taints_of_its_node_that_it_does_not_tolerate() {
    let node = NODE.replace("status:", "spec: {taints: [{key: gpu, value: a, effect: NoExecute}, {key: node.kubernetes.io/not-ready, effect: NoExecute}, {key: soft, effect: PreferNoSchedule}]}, status:");
    let expected = "Untolerated: untolerated taint gpu=a:NoExecute of node n1";
    for (toleration, is_tolerated) in [
        ("", false),
        ("{operator: Exists}", true),
        ("{key: gpu, operator: Exists}", true),
        ("{key: gpu, value: a}", true),
        ("{key: gpu, value: a, effect: NoExecute}", true),
        ("{key: gpu, value: b}", false),
        ("{key: other, operator: Exists}", false),
        ("{key: gpu, operator: Exists, effect: NoSchedule}", false),
        ("{value: a}", false),
    ] {
        let pod = pod_on_node("a", &format!("tolerations: [{toleration}]"), "Pending");
        let read = Read::of(&[&*node, &pod].join("\n---\n"));
        assert_eq!(
            !read.state("a").contains(expected),
            is_tolerated,
            "{toleration}"
        );
        assert_eq!(read.state("a").matches("taint").count() > 0, !is_tolerated);
    }
}

#[test]
fn a_pod_without_a_node_names_what_the_scheduler_must_respect() {
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}, spec: {SPEC}, status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: no node}]}}";
    let claim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: shop}, spec: {volumeName: pv}, status: {phase: Bound}}";
    let volume = "{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv}, spec: {nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [a]}]}]}}}, status: {phase: Bound}}";
    let beside = "requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {app: web}}, topologyKey: host}]";
    for (spec, expected) in [
        ("topologySpreadConstraints: [{topologyKey: zone, maxSkew: 2, whenUnsatisfiable: DoNotSchedule}]".to_owned(), "must spread over zone, maxSkew 2"),
        ("topologySpreadConstraints: [{topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]".to_owned(), ""),
        (format!("affinity: {{podAffinity: {{{beside}}}}}"), "must run beside pods with app=web, by host"),
        (format!("affinity: {{podAntiAffinity: {{{beside}}}}}"), "must not run beside pods with app=web, by host"),
        ("volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]".to_owned(), "persistentvolume/pv is only on nodes with zone=a"),
    ] {
        let objects = [&*pod.replace("SPEC", &spec), claim, volume].join("\n---\n");
        let state = Read::of(&objects).state("a");
        let constraints = state.lines().filter_map(|line| line.strip_prefix("Constraint: "));
        assert_eq!(constraints.collect::<Vec<_>>().join("\n"), expected, "{spec}");
        assert!(state.contains("Unschedulable: no node"), "{state}");
    }
}

#[test]
fn a_pod_without_a_node_names_the_pod_that_holds_its_claim() {
    let claim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: shop}, spec: {accessModes: [MODE]}, status: {phase: Bound}}";
    let pod = |name: &str, spec: &str, status: &str| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, namespace: shop}}, spec: {{{spec}volumes: [{{name: d, persistentVolumeClaim: {{claimName: data}}}}]}}, status: {{{status}}}}}"
        )
    };
    let waits = "phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: no node}]";
    let other =
        "Constraint: pod/b has persistentvolumeclaim/data, which is for one pod (ReadWriteOncePod)";
    for (mode, phase, is_held) in [
        ("ReadWriteOncePod", "Running", true),
        ("ReadWriteOnce", "Running", false),
        ("ReadWriteOncePod", "Succeeded", false),
    ] {
        let objects = [
            claim.replace("MODE", mode),
            pod("a", "", waits),
            pod("b", "nodeName: n1, ", &format!("phase: {phase}")),
        ];
        let state = Read::for_status(&objects.join("\n---\n")).state("a");
        assert_eq!(state.lines().any(|line| line == other), is_held, "{state}");
    }
}

#[test]
fn a_pod_without_a_node_says_whether_a_node_reaches_its_volume() {
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}, spec: {volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}, status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: no node}]}}";
    let claim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: shop}, spec: {volumeName: pv}, status: {phase: Bound}}";
    let volume = "{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv}, spec: {nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: host, operator: In, values: [n1]}]}]}}}, status: {phase: Bound}}";
    let node = |name: &str, fields: &str| {
        format!(
            "{{apiVersion: v1, kind: Node, metadata: {{name: {name}, labels: {{host: n1}}}}, {fields}}}"
        )
    };
    let cordoned = |name| node(name, "spec: {unschedulable: true}");
    let (one, other) = (node("n1", "spec: {}"), cordoned("n2"));
    let lost = node(
        "n5",
        "status: {conditions: [{type: Ready, status: Unknown}]}",
    );
    for (nodes, expected) in [
        (vec![], "Fact: , and no node has it"),
        (vec![one.clone()], "Constraint: , which only node n1 has"),
        (
            vec![one, other.clone()],
            "Constraint: , which only the nodes n1, n2 (cordoned) have",
        ),
        (
            vec![other.clone()],
            "Fact: , which only node n2 (cordoned) has",
        ),
        (
            vec![cordoned("n1"), other.clone()],
            "Fact: , which only the nodes n1 (cordoned), n2 (cordoned) have",
        ),
        (
            vec![lost.clone()],
            "Fact: , which only node n5 (not ready) has",
        ),
        (
            vec![lost, other.clone()],
            "Fact: , which only the nodes n2 (cordoned), n5 (not ready) have",
        ),
        (
            vec![cordoned("n1"), cordoned("n3"), cordoned("n4"), other],
            "Fact: , which 4 nodes have (cordoned)",
        ),
    ] {
        let mut read = Read::for_status(&[pod, claim].join("\n---\n"));
        let place = "persistentvolume/pv is only on nodes with host=n1";
        assert!(!read.state("a").contains(place), "the volume is not read");
        let known = [vec![volume.to_owned()], nodes].concat();
        let state = read.explain(&known[..1]).state("a");
        assert!(state.ends_with(&format!("Constraint: {place}")), "{state}");
        let state = read.explain(&known).state("a");
        let expected = expected.replace(": ", &format!(": {place}"));
        let mut lines = state.lines();
        assert!(lines.any(|line| line == expected), "{expected}\n{state}");
    }
}

#[test]
fn a_claim_that_waits_for_its_pod_names_where_its_volumes_may_be() {
    let read = Read::for_status(
        "\
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: shop}, spec: {storageClassName: fast}, status: {phase: Pending}}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast}, volumeBindingMode: WaitForFirstConsumer, allowedTopologies: [{matchLabelExpressions: [{key: zone, values: [a, b]}]}]}",
    );
    let expected = "WaitsForPod: storage class fast waits for a pod that uses the claim to be scheduled (WaitForFirstConsumer), and has volumes only where zone is a or b";
    let state = read.state("data");
    assert!(state.lines().any(|line| line == expected), "{state}");
}

/// A claim whose volume is created once a Pod has a place, and its class.
const LATE_CLAIM: &str = "\
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: shop, creationTimestamp: '2026-05-04T10:00:00Z'}, spec: {storageClassName: late}, status: {phase: Pending}}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: late}, volumeBindingMode: WaitForFirstConsumer, provisioner: example.com/disks}";

/// A Pod that uses the claim, with the rest of its spec and its status.
fn user_of_claim(name: &str, spec: &str, status: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, namespace: shop, creationTimestamp: '2026-05-04T11:00:00Z'}}, spec: {{volumes: [{{name: d, persistentVolumeClaim: {{claimName: data}}}}]{spec}}}, status: {{{status}}}}}"
    )
}

#[test]
fn a_claim_names_the_pods_that_it_waits_for() {
    const PENDING: &str = "phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: no node}]";
    const PLACED: &str = "phase: Pending, conditions: [{type: PodScheduled, status: 'True', lastTransitionTime: '2026-05-04T11:00:01Z'}]";
    let waiting = |name: &str| user_of_claim(name, "", PENDING);
    let bypassing = |status: &str| user_of_claim("sly", ", nodeName: n1", status);
    let before = bypassing(PLACED).replace("T11:", "T09:");
    let unknown = "a pod that uses the claim to be scheduled (WaitForFirstConsumer)";
    let sly = "; the claim is not bound for pod sly: spec.nodeName bypasses the scheduler";
    for (pods, expected) in [
        (vec![], unknown.to_owned()),
        (
            vec![waiting("a")],
            "pod a to be scheduled (WaitForFirstConsumer)".to_owned(),
        ),
        (
            ["d", "b", "a", "c"].map(waiting).to_vec(),
            "pods a, b, c and 1 more to be scheduled (WaitForFirstConsumer)".to_owned(),
        ),
        (vec![bypassing(PLACED)], format!("{unknown}{sly}")),
        (
            vec![bypassing("phase: Pending"), waiting("b")],
            format!("pod b to be scheduled (WaitForFirstConsumer){sly}"),
        ),
        // It may have used an earlier claim of the same name.
        (vec![before], unknown.to_owned()),
        (vec![bypassing("phase: Failed")], unknown.to_owned()),
    ] {
        let objects = [vec![LATE_CLAIM.to_owned()], pods.clone()].concat();
        let objects = objects.join("\n---\n");
        for read in [Read::of(&objects), Read::for_status(&objects)] {
            let state = read.state("data");
            let line = format!("WaitsForPod: storage class late waits for {expected}");
            assert!(state.lines().any(|own| own == line), "{pods:?}\n{state}");
        }
    }
}

#[test]
fn a_claim_is_judged_again_when_its_pods_come_and_go() {
    let pod = user_of_claim("a", "", "phase: Pending");
    let mut read = Read::for_status(&[LATE_CLAIM, &pod].join("\n---\n"));
    let waits = "waits for pod a to be scheduled";
    assert!(read.state("data").contains(waits));
    read.delete(&pod);
    assert!(!read.state("data").contains(waits));
    read.put(&pod);
    assert!(read.state("data").contains(waits));
    let sly = user_of_claim("a", ", nodeName: n1", "phase: Pending");
    read.put(&sly);
    let reason = "for pod a: spec.nodeName bypasses the scheduler";
    assert!(read.state("data").contains(reason));
    let state = read.state("a");
    let problem = "FailedReference: volume persistentvolumeclaim/data is not bound: spec.nodeName bypasses the scheduler";
    assert!(state.contains(problem), "{state}");
}

#[test]
fn a_warning_about_an_absence_ends_once_the_object_exists() {
    let claim = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: shop}, spec: {storageClassName: fast}, status: {phase: Pending}}";
    let class = "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: NAME}, provisioner: example.com/disks}";
    for (type_, name, is_shown) in [
        ("storageclass.storage.k8s.io", "fast", false),
        ("storageclass", "fast", false),
        ("storageclasses.storage.k8s.io", "fast", false),
        ("storageclass.storage.k8s.io", "slow", true),
        ("secret", "fast", true),
    ] {
        let event = format!(
            "{{apiVersion: v1, kind: Event, metadata: {{name: e, namespace: shop}}, involvedObject: {{kind: PersistentVolumeClaim, name: data, namespace: shop, uid: data}}, type: Warning, reason: ProvisioningFailed, message: '{type_} \"{name}\" not found'}}"
        );
        let objects = [claim, &class.replace("NAME", "fast")].join("\n---\n");
        let mut read = Read::for_status(&objects);
        let state = read.explain(&[event]).state("data");
        assert_eq!(
            state.contains("not found"),
            is_shown,
            "{type_} {name} {state}"
        );
    }
}

#[test]
fn a_webhook_without_its_service_says_what_the_api_server_does() {
    let (fail, ignore) = (", failurePolicy: Fail", ", failurePolicy: Ignore");
    for (webhooks, expected) in [
        (webhook("a", fail), REFUSED),
        (webhook("a", ""), REFUSED),
        (webhook("a", ignore), IGNORED),
        (
            [webhook("a", ignore), webhook("b", fail)].join(", "),
            REFUSED,
        ),
    ] {
        let mut read = Read::for_status(&webhooks_of_guard(&webhooks));
        assert_eq!(read.state("guard"), "Current", "the Service is not read");
        assert_eq!(read.look(guard()).state("guard"), expected, "{webhooks}");
    }
}

#[test]
fn an_edited_failure_policy_changes_what_the_api_server_does() {
    let (fail, ignore) = (", failurePolicy: Fail", ", failurePolicy: Ignore");
    let version = |policy| webhooks_of_guard(&webhook("a", policy));
    let mut read = Read::for_status(&version(fail));
    assert_eq!(read.look(guard()).state("guard"), REFUSED);
    assert_eq!(read.put(&version(ignore)).state("guard"), IGNORED);
    assert_eq!(read.put(&version(fail)).state("guard"), REFUSED);
}

const REFUSED: &str = "Failed\nMissingReference: webhook service/guard -n shop does not exist\nUncalledWebhook: without service/guard, the API server refuses matching requests (failurePolicy Fail)";
const IGNORED: &str = "InProgress\nMissingReference: webhook service/guard -n shop does not exist\nUncalledWebhook: without service/guard, the API server lets matching requests pass (failurePolicy Ignore)";

/// A webhook that calls the Service `guard`.
fn webhook(name: &str, policy: &str) -> String {
    format!(
        "{{name: {name}.example.com{policy}, clientConfig: {{service: {{namespace: shop, name: guard}}}}}}"
    )
}

fn webhooks_of_guard(webhooks: &str) -> String {
    format!(
        "{{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {{name: guard}}, webhooks: [{webhooks}]}}"
    )
}

/// The source of the Service `guard`.
fn guard() -> SourceKey {
    SourceKey {
        scope: Scope::Namespace("shop".into()),
        select: Select::Name("guard".into()),
        ..SourceKey::all("", "Service")
    }
}

#[test]
fn a_default_binding_may_be_for_a_controller_that_does_not_run() {
    let state = |labels: &str| {
        let binding = format!(
            "{{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {{name: b, labels: {{{labels}}}}},
  subjects: [{{kind: ServiceAccount, name: gone, namespace: shop}}]}}"
        );
        let mut read = Read::of(&binding);
        let read = read.look(SourceKey {
            scope: Scope::Namespace("shop".into()),
            select: Select::Name("gone".into()),
            ..SourceKey::all("", "ServiceAccount")
        });
        read.put(&binding).state("b")
    };
    let missing =
        "InProgress\nMissingReference: subject serviceaccount/gone -n shop does not exist";
    assert_eq!(state(""), missing);
    assert_eq!(
        state("kubernetes.io/bootstrapping: rbac-defaults"),
        "Current"
    );
}

#[test]
fn a_node_short_of_space_does_not_explain_a_pod_that_runs() {
    let state = |condition: &str, status: &str| {
        let node = format!(
            "{{apiVersion: v1, kind: Node, metadata: {{name: node-1}}, status: {{conditions: [{{type: Ready, status: 'True'}}, {{type: {condition}, status: '{status}', reason: NodeReason}}]}}}}"
        );
        let pod = "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: shop}, spec: {nodeName: node-1, containers: [{name: c}]},
  status: {phase: Running, conditions: [{type: Ready, status: 'False', reason: ContainersNotReady}],
    containerStatuses: [{name: c, ready: false, state: {running: {startedAt: '2026-01-01T00:00:00Z'}}}]}}";
        let mut read = Read::of(&[&node, pod].join("\n---\n"));
        read.put(pod).state("p")
    };
    let own = "NotReady: c: running, not ready";
    assert_eq!(state("DiskPressure", "True"), format!("InProgress\n{own}"));
    let node = "FailedReference: node/node-1: NodeReason";
    assert_eq!(
        state("Ready", "Unknown"),
        format!("InProgress\n{node}\n{own}")
    );
}

/// A Pod of the namespace `shop` that is not ready, with these fields in its spec and its status.
fn unready(spec: &str, status: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: a, namespace: shop}}, spec: {{{spec}}}, status: {{phase: Pending{status}}}}}"
    )
}

/// A node that takes no new Pods, and whose drain a budget of another namespace holds up.
fn closed_node(ready: &str) -> String {
    [
        &*format!("{{apiVersion: v1, kind: Node, metadata: {{name: n1}}, spec: {{unschedulable: true, taints: [{{key: dedicated, value: ml, effect: NoSchedule}}]}}, status: {{conditions: [{{type: Ready, {ready}}}]}}}}"),
        "{apiVersion: v1, kind: Pod, metadata: {name: db, namespace: data, labels: {app: db}}, spec: {nodeName: n1}, status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}}",
        "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: guard, namespace: data}, spec: {selector: {matchLabels: {app: db}}}, status: {expectedPods: 1, currentHealthy: 1, desiredHealthy: 1, disruptionsAllowed: 0}}",
    ]
    .join("\n---\n")
}

#[test]
fn what_keeps_pods_from_a_node_explains_no_pod_that_has_it() {
    const REFUSED: &str = ", conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable, message: '0/1 nodes are available: 1 node(s) were unschedulable.'}]";
    let spread = "nodeName: n1, nodeSelector: {gpu: large}, topologySpreadConstraints: [{topologyKey: zone}]";
    let event = "{apiVersion: v1, kind: Event, metadata: {name: e, namespace: shop}, involvedObject: {kind: Pod, name: a, namespace: shop, uid: a}, type: Warning, reason: FailedScheduling, message: no node is free}";
    for (spec, status) in [("nodeName: n1", ""), (spread, ""), (spread, REFUSED)] {
        let objects = format!(
            "{}\n---\n{}",
            unready(spec, status),
            closed_node("status: 'True'")
        );
        for mut read in [Read::of(&objects), Read::for_status(&objects)] {
            let state = read.explain(&[event.to_owned()]).state("a");
            for word in [
                "cordon", "taint", "drain", "db", "gpu", "zone", "no node", "0/1",
            ] {
                assert!(!state.contains(word), "{word}: {state}");
            }
        }
    }
    // The warning explains a Pod without a node.
    let objects = unready("", "");
    let state = Read::for_status(&objects)
        .explain(&[event.to_owned()])
        .state("a");
    assert!(state.contains("no node is free"), "{state}");
}

#[test]
fn a_pod_names_the_problem_of_its_node_in_the_words_of_that_problem() {
    let node = closed_node("status: 'False', reason: KubeletNotReady, message: no network plugin");
    let objects = format!("{}\n---\n{node}", unready("nodeName: n1", ""));
    for read in [Read::of(&objects), Read::for_status(&objects)] {
        let state = read.state("a");
        assert!(state.contains("node/n1: "), "{state}");
        assert!(state.contains("no network plugin"), "{state}");
        for word in ["cordon", "taint", "drain", "db"] {
            assert!(!state.contains(word), "{word}: {state}");
        }
    }
}

#[test]
fn a_claim_without_devices_explains_only_a_pod_without_a_node() {
    let claim = "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: gpu, namespace: shop}}";
    let named = "resourceClaims: [{name: gpu, resourceClaimName: gpu}]";
    for (node, is_waiting) in [("", true), ("nodeName: n1, ", false)] {
        let pod = unready(&format!("{node}{named}"), "");
        let state = Read::for_status(&format!("{pod}\n---\n{claim}")).state("a");
        assert_eq!(state.contains("not allocated"), is_waiting, "{state}");
    }
}

#[test]
fn only_taints_that_evict_matter_to_a_pod_on_the_node() {
    for (effect, matters) in [("NoSchedule", false), ("NoExecute", true)] {
        let node = format!(
            "{{apiVersion: v1, kind: Node, metadata: {{name: n1}}, spec: {{taints: [{{key: gpu, effect: {effect}}}]}}, status: {{conditions: [{{type: Ready, status: 'True'}}]}}}}"
        );
        let state = Read::of(&format!("{}\n---\n{node}", unready("nodeName: n1", ""))).state("a");
        assert_eq!(state.contains("untolerated taint"), matters, "{state}");
    }
}

#[test]
fn a_budget_holds_up_a_drain_only_for_pods_that_the_drain_evicts() {
    let node = closed_node("status: 'True'");
    let held = |objects: &str| Read::of(objects).state("n1").contains("a drain would wait");
    assert!(held(&node));
    for (from, to) in [
        ("phase: Running", "phase: Succeeded"),
        (
            "name: db, namespace: data, labels",
            "name: db, namespace: data, deletionTimestamp: '2026-01-01T00:00:00Z', labels",
        ),
        (
            "name: db, namespace: data, labels",
            "name: db, namespace: data, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: db, uid: set, controller: true}], labels",
        ),
        (
            "metadata: {name: guard, namespace: data}",
            "metadata: {name: guard, namespace: shop}",
        ),
    ] {
        assert!(!held(&node.replace(from, to)), "{to}");
    }
}

#[test]
fn only_rules_that_read_a_changed_kind_are_applied_again() {
    let objects = "\
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: shop}, spec: {serviceName: peers}}
---
{apiVersion: v1, kind: Service, metadata: {name: peers, namespace: shop}}
---
{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: shop, ownerReferences: [{uid: hidden, controller: true}]}}";
    let read = Read::for_status(objects);
    for (changed, removed, expected) in [
        (&["peers"][..], &[][..], &["db"][..]),
        (&["web"], &[], &[]),
        // An owner that no view shows.
        (&["hidden"], &[], &[]),
        (&["gone"], &["Pod"], &[]),
        (&["gone"], &["Service"], &["db"]),
    ] {
        let uids: BTreeSet<Uid> = changed.iter().map(|uid| Uid::new(*uid)).collect();
        let kinds: BTreeSet<Arc<str>> = removed.iter().map(|kind| Arc::from(*kind)).collect();
        let due = super::to_judge_again(read.model.around(), &uids, &kinds);
        let due: Vec<&str> = due.iter().map(Uid::as_str).collect();
        assert_eq!(due, expected, "{changed:?} {removed:?}");
    }
}

/// Each change asks for the objects of these kinds.
#[test]
fn a_rule_about_all_objects_of_a_kind_does_not_go_over_the_whole_graph() {
    for rule in super::RULES {
        if rule.sources_for_all().is_some() || !rule.reads.is_empty() {
            assert!(crate::graph::indexed(rule.kind).is_some(), "{}", rule.kind);
        }
    }
}
