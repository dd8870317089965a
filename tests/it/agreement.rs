//! A law: no verb calls an object well that another verb calls broken. Each case is a random namespace; every
//! object of it is shown by `status` and by `trace`, as text and as JSON, and judged by `--exit-code`.

use kubectl_spy::sandbox::{Effect, ErrorBody, Fault, Verb};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use super::support::cluster::{Cluster, config_map, deployment, pod};

/// The parts of a namespace that vary.
#[derive(Clone, Debug)]
struct World {
    rollout: Rollout,
    wanted: u32,
    /// What the Pods of the newest revision do.
    pods: Vec<PodState>,
    service: ServiceKind,
    /// How many Pods the Service's slices list as ready.
    listed: usize,
    backend: &'static str,
    port: i64,
    has_config: bool,
    has_class: bool,
    is_bound: bool,
    healthy: i64,
    scaling: &'static str,
    /// A resource that may not be read.
    forbidden: Option<&'static str>,
}

#[derive(Clone, Copy, Debug)]
enum Rollout {
    Complete,
    Progressing,
    DeadlineExceeded,
    ReplicaFailure,
    Unobserved,
    Paused,
}

#[derive(Clone, Copy, Debug)]
enum PodState {
    Running,
    NotReady,
    Crashing,
    NoImage,
    Unschedulable,
    Evicted,
    MissingConfig,
}

#[derive(Clone, Copy, Debug)]
enum ServiceKind {
    Matching,
    Missing,
    Headless,
    NoSelector,
    External,
    PendingLoadBalancer,
}

/// A value that appears twice in a list is chosen twice as often.
fn worlds() -> impl Strategy<Value = World> {
    use {PodState as P, Rollout as R, ServiceKind as S};
    let pod = select(&[
        P::Running,
        P::Running,
        P::NotReady,
        P::Crashing,
        P::NoImage,
        P::Unschedulable,
        P::Evicted,
        P::MissingConfig,
    ]);
    let rollout = select(&[
        R::Complete,
        R::Progressing,
        R::DeadlineExceeded,
        R::ReplicaFailure,
        R::Unobserved,
        R::Paused,
    ]);
    let service = select(&[
        S::Matching,
        S::Matching,
        S::Missing,
        S::Headless,
        S::NoSelector,
        S::External,
        S::PendingLoadBalancer,
    ]);
    let workload = (rollout, 0..4_u32, prop::collection::vec(pod, 0..4));
    let service = (service, 0..3_usize, select(&["api", "api", "absent"]));
    let others = (select(&[80, 80, 81]), any::<[bool; 3]>(), 0..3_i64);
    let rest = (select(&["True", "False"]), select(&FORBIDDEN));
    let parts = (workload, service, others, rest);
    parts.prop_map(|(workload, service, others, rest)| World {
        rollout: workload.0,
        wanted: workload.1,
        pods: workload.2,
        service: service.0,
        listed: service.1,
        backend: service.2,
        port: others.0,
        has_config: others.1[0],
        has_class: others.1[1],
        is_bound: others.1[2],
        healthy: others.2,
        scaling: rest.0,
        forbidden: rest.1,
    })
}

const FORBIDDEN: [Option<&str>; 7] = [
    None,
    None,
    Some("services"),
    Some("endpointslices"),
    Some("pods"),
    Some("configmaps"),
    Some("storageclasses"),
];

fn select<T: Clone + std::fmt::Debug>(values: &'static [T]) -> impl Strategy<Value = T> {
    prop::sample::select(values)
}

impl World {
    /// Creates the objects. Returns them as `TYPE/NAME`.
    fn build(&self, cluster: &Cluster) -> Vec<String> {
        let set = self.put_workload(cluster);
        let mut pods = Vec::new();
        for (number, state) in self.pods.iter().enumerate() {
            let mut pod = pod(&format!("api-1-{number}"), &json!({"app": "api"}));
            pod["metadata"]["ownerReferences"] = owned_by(&set);
            pod["spec"]["volumes"] = json!([{"name": "config", "configMap": {"name": "flags"}}]);
            pod["status"] = state.status();
            pods.push(cluster.put(pod));
        }
        self.put_service(cluster, &pods);
        self.put_others(cluster);
        let mut names = vec![
            "deployment/api",
            "replicaset/api-1",
            "service/api",
            "ingress/api",
            "horizontalpodautoscaler/api",
            "persistentvolumeclaim/data",
            "poddisruptionbudget/api",
        ]
        .into_iter()
        .map(str::to_owned)
        .collect::<Vec<_>>();
        names.extend((0..pods.len()).map(|number| format!("pod/api-1-{number}")));
        if self.has_config {
            names.push("configmap/flags".to_owned());
        }
        names
    }

    /// Creates the Deployment and its `ReplicaSet`, which is returned.
    fn put_workload(&self, cluster: &Cluster) -> Value {
        let is_ready = |state: &&PodState| matches!(state, PodState::Running);
        let ready = self.pods.iter().filter(is_ready).count();
        let (observed, progressing, reason, failure) = match self.rollout {
            Rollout::Complete => (1, "True", "NewReplicaSetAvailable", "False"),
            Rollout::Progressing | Rollout::Paused => (1, "True", "ReplicaSetUpdated", "False"),
            Rollout::DeadlineExceeded => (1, "False", "ProgressDeadlineExceeded", "False"),
            Rollout::ReplicaFailure => (1, "True", "ReplicaSetUpdated", "True"),
            Rollout::Unobserved => (0, "True", "NewReplicaSetAvailable", "False"),
        };
        let is_available = ready >= self.wanted as usize;
        let counts = json!({
            "observedGeneration": observed, "replicas": self.pods.len(), "updatedReplicas": self.pods.len(),
            "readyReplicas": ready, "availableReplicas": ready, "fullyLabeledReplicas": self.pods.len(),
        });
        let mut workload = deployment("api", self.wanted);
        workload["spec"]["paused"] = matches!(self.rollout, Rollout::Paused).into();
        workload["status"] = counts.clone();
        workload["status"]["conditions"] = json!([
            {"type": "Available", "status": if is_available { "True" } else { "False" }},
            {"type": "Progressing", "status": progressing, "reason": reason},
            {"type": "ReplicaFailure", "status": failure, "reason": "FailedCreate", "message": "exceeded quota: small"},
        ]);
        let workload = cluster.put(workload);
        let mut set = deployment("api-1", self.wanted);
        set["kind"] = "ReplicaSet".into();
        set["metadata"]["labels"] = json!({"app": "api"});
        set["metadata"]["ownerReferences"] = owned_by(&workload);
        set["spec"]["selector"] = workload["spec"]["selector"].clone();
        set["spec"]["template"] = workload["spec"]["template"].clone();
        set["status"] = counts;
        cluster.put(set)
    }

    fn put_service(&self, cluster: &Cluster, pods: &[Value]) {
        let mut spec = json!({
            "clusterIP": "10.96.0.10", "selector": {"app": "api"}, "ports": [{"port": 80, "targetPort": 8080}],
        });
        match self.service {
            ServiceKind::Matching => {}
            ServiceKind::Missing => spec["selector"] = json!({"app": "apo"}),
            ServiceKind::Headless => spec["clusterIP"] = "None".into(),
            ServiceKind::NoSelector => spec["selector"] = Value::Null,
            ServiceKind::External => {
                spec = json!({"type": "ExternalName", "externalName": "api.example"});
            }
            ServiceKind::PendingLoadBalancer => spec["type"] = "LoadBalancer".into(),
        }
        cluster.put(json!({
            "apiVersion": "v1", "kind": "Service", "metadata": {"name": "api", "namespace": "shop"},
            "spec": spec, "status": {"loadBalancer": {}},
        }));
        let endpoints = pods.iter().enumerate().map(|(number, pod)| {
            json!({
                "addresses": [format!("10.0.0.{number}")], "conditions": {"ready": number < self.listed},
                "targetRef": {"kind": "Pod", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]},
            })
        });
        cluster.put(json!({
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
            "metadata": {
                "name": "api-1", "namespace": "shop", "labels": {"kubernetes.io/service-name": "api"},
            },
            "ports": [{"port": 8080}], "endpoints": endpoints.collect::<Vec<_>>(),
        }));
    }

    fn put_others(&self, cluster: &Cluster) {
        cluster.put(json!({
            "apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
            "metadata": {"name": "api", "namespace": "shop"},
            "spec": {"rules": [{"http": {"paths": [{
                "path": "/", "backend": {"service": {"name": self.backend, "port": {"number": self.port}}},
            }]}}]},
            "status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}},
        }));
        let scaling = json!([{
            "type": "ScalingActive", "status": self.scaling, "reason": "FailedGetScale", "message": "no metrics",
            "lastTransitionTime": "2026-03-02T11:00:00Z",
        }]);
        cluster.put(json!({
            "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "api", "namespace": "shop"},
            "spec": {
                "maxReplicas": 3,
                "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": self.backend},
            },
            "status": {"conditions": scaling},
        }));
        let phase = if self.is_bound { "Bound" } else { "Pending" };
        cluster.put(json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "shop"},
            "spec": {"storageClassName": "fast"}, "status": {"phase": phase},
        }));
        cluster.put(json!({
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"name": "api", "namespace": "shop"},
            "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "api"}}},
            "status": {
                "currentHealthy": self.healthy, "desiredHealthy": 2, "expectedPods": 3, "disruptionsAllowed": 0,
                "observedGeneration": 1,
            },
        }));
        if self.has_config {
            cluster.put(config_map("flags", &json!({"a": "on"})));
        }
        if self.has_class {
            cluster.put(json!({
                "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "fast"},
                "provisioner": "example.com/fast",
            }));
        }
    }
}

impl PodState {
    fn status(self) -> Value {
        let container = |ready: bool, state: Value| json!([{"name": "app", "ready": ready, "restartCount": 0, "state": state}]);
        let waiting =
            |reason: &str| json!({"waiting": {"reason": reason, "message": "it says why"}});
        let (phase, ready, containers) = match self {
            PodState::Running => ("Running", "True", container(true, json!({"running": {}}))),
            PodState::NotReady => ("Running", "False", container(false, json!({"running": {}}))),
            PodState::Crashing => {
                let waiting = waiting("CrashLoopBackOff");
                ("Running", "False", container(false, waiting))
            }
            PodState::NoImage => {
                let waiting = waiting("ImagePullBackOff");
                ("Pending", "False", container(false, waiting))
            }
            PodState::MissingConfig => {
                let waiting = waiting("ContainerCreating");
                ("Pending", "False", container(false, waiting))
            }
            PodState::Unschedulable => ("Pending", "False", json!([])),
            PodState::Evicted => {
                return json!({"phase": "Failed", "reason": "Evicted", "message": "disk pressure"});
            }
        };
        let mut conditions = vec![json!({"type": "Ready", "status": ready})];
        if matches!(self, PodState::Unschedulable) {
            conditions.push(json!({
                "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes",
            }));
        }
        json!({"phase": phase, "conditions": conditions, "containerStatuses": containers})
    }
}

fn owned_by(owner: &Value) -> Value {
    json!([{
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "controller": true,
        "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"],
    }])
}

/// Whether each verb says that an object is well.
fn answers(cluster: &Cluster, object: &str) -> Vec<(&'static str, bool)> {
    let run = |args: &[&str]| {
        let spy = cluster.spy();
        tokio::task::block_in_place(|| spy.run(args))
    };
    let (kind, name) = object.split_once('/').unwrap();
    let record = |line: &str| serde_json::from_str::<Value>(line).unwrap();
    let is_current = |record: Value| record["status"] == "Current";

    let status = run(&["status", object, "--once", "-o", "json"]).stdout;
    let is_root = |record: &Value| record["depth"] == 0 && record["ref"]["name"] == name;
    let root = status.lines().map(record).find(is_root);
    let text = run(&["status", object, "--once"]).stdout;
    let mut answers = vec![
        ("status -o json", root.is_some_and(is_current)),
        ("status", has_good_symbol(&text)),
    ];
    for verb in ["status", "trace"] {
        let code = run(&[verb, object, "--once", "--exit-code"]).status;
        // With code 4 there is no answer: a part could not be read.
        if code.code() != Some(4) {
            answers.push(("--exit-code", code.success()));
        }
    }
    let graph = run(&["trace", object, "--once", "-o", "json"]).stdout;
    let graph = graph.lines().next().map(record).unwrap_or_default();
    let nodes = graph["nodes"].as_array().into_iter().flatten().cloned();
    let is_of_kind = |node: &Value| {
        let own = node["ref"]["kind"].as_str().unwrap_or_default();
        own.to_lowercase() == kind && node["ref"]["name"] == name
    };
    let node = nodes.into_iter().find(is_of_kind);
    let text = run(&["trace", object, "--once"]).stdout;
    answers.push(("trace -o json", node.is_some_and(is_current)));
    answers.push(("trace", has_good_symbol(&text)));
    answers
}

/// Whether the first row below the title has the symbol of a Current object.
fn has_good_symbol(text: &str) -> bool {
    let row = text.lines().nth(1).unwrap_or_default();
    row.starts_with('●')
}

#[test]
fn no_verb_calls_an_object_well_that_another_calls_broken() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let cases = std::env::var("SPY_WORLDS").map_or(6, |cases| cases.parse().unwrap());
    let mut runner = TestRunner::new_with_rng(
        Config {
            cases,
            failure_persistence: None,
            max_shrink_iters: 64,
            ..Config::default()
        },
        prop::test_runner::TestRng::deterministic_rng(prop::test_runner::RngAlgorithm::ChaCha),
    );
    let law = |world: World| {
        runtime.block_on(async {
            let cluster = Cluster::start().await;
            let objects = world.build(&cluster);
            if let Some(resource) = world.forbidden {
                let forbidden = Effect::Status {
                    code: 403,
                    retry_after: None,
                    body: ErrorBody::Status,
                };
                let fault = Fault::on(Verb::Any, resource, forbidden);
                cluster.sandbox.inject(fault.range(1..=u32::MAX));
            }
            for object in &objects {
                let said = answers(&cluster, object);
                let is_one = said.iter().all(|(_, is_well)| *is_well == said[0].1);
                prop_assert!(is_one, "{object}: {said:?}");
            }
            Ok(())
        })
    };
    runner.run(&worlds(), law).unwrap();
}
