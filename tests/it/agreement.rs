//! A law: no verb calls an object well that another verb calls broken. Each case is a random namespace; every
//! object of it is shown by `status` and by `trace`, as text and as JSON, and judged by `--exit-code`. Another law: an
//! object has the same verdict by its name and in a list, whatever it owns.

use std::collections::BTreeMap;

use kubectl_spy::object::Resource;
use kubectl_spy::sandbox::{Effect, ErrorBody, Fault, Kind, Options, Verb};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::{Value, json};

use super::support::cluster::{self, Cluster, config_map, deployment, pod};

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

/// Runs a law on random cases.
fn check<T: std::fmt::Debug>(
    worlds: impl Strategy<Value = T>,
    law: impl AsyncFn(T) -> Result<(), TestCaseError>,
) {
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
    let law = |world: T| runtime.block_on(law(world));
    runner.run(&worlds, law).unwrap();
}

#[test]
fn no_verb_calls_an_object_well_that_another_calls_broken() {
    check(worlds(), async |world| {
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
    });
}

/// A custom resource, and what it owns.
#[derive(Clone, Debug)]
struct Family {
    is_cluster_scoped: bool,
    owner: Health,
    dependents: Vec<Dependent>,
}

#[derive(Clone, Debug)]
struct Dependent {
    kind: DependentKind,
    health: Health,
    /// Whether another dependent owns it: a custom resource of a group of its own.
    is_deep: bool,
}

#[derive(Clone, Copy, Debug)]
enum DependentKind {
    ConfigMap,
    Ingress,
    Deployment,
    Budget,
    Custom,
    /// Only a cluster-scoped owner has cluster-scoped dependents.
    ClusterScoped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Health {
    Good,
    Late,
    Broken,
}

fn families() -> impl Strategy<Value = Family> {
    use DependentKind as D;
    let kind = select(&[
        D::ConfigMap,
        D::Ingress,
        D::Deployment,
        D::Budget,
        D::Custom,
        D::Custom,
        D::ClusterScoped,
    ]);
    let health = || select(&[Health::Good, Health::Good, Health::Late, Health::Broken]);
    let dependent = (kind, health(), any::<bool>()).prop_map(|(kind, health, is_deep)| Dependent {
        kind,
        health,
        is_deep,
    });
    let dependents = prop::collection::vec(dependent, 1..4);
    (any::<bool>(), health(), dependents).prop_map(|(is_cluster_scoped, owner, dependents)| {
        Family {
            is_cluster_scoped,
            owner,
            dependents,
        }
    })
}

/// The kinds of four API groups. A `Package` and a `Grant` are cluster-scoped.
fn custom_kinds(options: &mut Options) {
    options.kinds = vec![
        Kind::custom("obs.example.com", "v1", "Collector", "collectors"),
        Kind::custom("net.example.org", "v1", "Probe", "probes"),
        Kind::custom("pkg.example.dev", "v1", "Package", "packages"),
        Kind::custom("auth.example.net", "v1", "Grant", "grants"),
    ];
    for kind in &mut options.kinds[2..] {
        kind.resource = Resource {
            namespaced: false,
            ..kind.resource.clone()
        };
    }
}

impl Family {
    /// Creates the objects. Returns them as `TYPE/NAME`.
    fn build(&self, cluster: &Cluster) -> Vec<String> {
        let owner = if self.is_cluster_scoped {
            custom("pkg.example.dev/v1", "Package", "top", self.owner)
        } else {
            custom("obs.example.com/v1", "Collector", "top", self.owner)
        };
        let owner = cluster.put(owner);
        let between = custom("net.example.org/v1", "Probe", "between", Health::Good);
        let between = cluster.put(cluster::owned_by(between, &owner));
        let mut objects = vec![named(&owner), named(&between)];
        for (number, dependent) in self.dependents.iter().enumerate() {
            let kind = match dependent.kind {
                DependentKind::ClusterScoped if !self.is_cluster_scoped => DependentKind::Custom,
                kind => kind,
            };
            let object = kind.object(&format!("d{number}"), dependent.health);
            let is_deep = dependent.is_deep && object["metadata"]["namespace"] == "shop";
            let owner = if is_deep { &between } else { &owner };
            objects.push(named(&cluster.put(cluster::owned_by(object, owner))));
        }
        objects
    }
}

fn named(object: &Value) -> String {
    let kind = object["kind"].as_str().unwrap().to_lowercase();
    format!("{kind}/{}", object["metadata"]["name"].as_str().unwrap())
}

/// A custom resource in `shop`, or in no namespace, as its controller reports it.
fn custom(api_version: &str, kind: &str, name: &str, health: Health) -> Value {
    let ready = if health == Health::Good {
        "True"
    } else {
        "False"
    };
    let stalled = if health == Health::Broken {
        "True"
    } else {
        "False"
    };
    let mut object = json!({
        "apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": {},
        "status": {"observedGeneration": 1, "conditions": [
            {"type": "Ready", "status": ready, "reason": "Checked", "message": "it was checked"},
            {"type": "Stalled", "status": stalled, "reason": "NoRoute", "message": "no route to host"},
        ]},
    });
    if !["Package", "Grant"].contains(&kind) {
        object["metadata"]["namespace"] = "shop".into();
    }
    object
}

impl DependentKind {
    fn object(self, name: &str, health: Health) -> Value {
        let is_good = health == Health::Good;
        let metadata = json!({"name": name, "namespace": "shop"});
        match self {
            DependentKind::Custom => custom("net.example.org/v1", "Probe", name, health),
            DependentKind::ClusterScoped => custom("auth.example.net/v1", "Grant", name, health),
            DependentKind::ConfigMap => config_map(name, &json!({"a": "b"})),
            DependentKind::Ingress => json!({
                "apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": metadata,
                "spec": if is_good { json!({}) } else {
                    json!({"defaultBackend": {"service": {"name": "absent", "port": {"number": 80}}}})
                },
                "status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}},
            }),
            DependentKind::Deployment => {
                let mut workload = deployment(name, 1);
                let count = u32::from(is_good);
                workload["status"] = json!({
                    "observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": count,
                    "availableReplicas": count, "conditions": [
                        {"type": "Available", "status": if is_good { "True" } else { "False" }},
                        {"type": "ReplicaFailure", "status": if health == Health::Broken { "True" } else { "False" },
                         "reason": "FailedCreate", "message": "exceeded quota"},
                    ],
                });
                workload
            }
            DependentKind::Budget => json!({
                "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata,
                "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": name}}},
                "status": {
                    "currentHealthy": if is_good { 3 } else { 1 }, "desiredHealthy": 2, "expectedPods": 3,
                    "disruptionsAllowed": i32::from(is_good), "observedGeneration": 1,
                },
            }),
        }
    }
}

/// The records of the requested objects, by their names: the state and its causes.
fn verdicts(cluster: &Cluster, args: &[&str]) -> BTreeMap<String, (Value, Value)> {
    let args = [&["status", "--once", "-o", "json"], args].concat();
    let ran = tokio::task::block_in_place(|| cluster.spy().run(&args));
    assert_eq!(ran.status.code(), Some(0), "{args:?} {}", ran.stderr);
    let records = ran.stdout.lines();
    let records = records.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let verdicts = records.map(|record| {
        let name = record["ref"]["name"].as_str().unwrap();
        let kind = record["ref"]["kind"].as_str().unwrap().to_lowercase();
        let verdict = (record["status"].clone(), record["causes"].clone());
        (format!("{kind}/{name}"), verdict)
    });
    verdicts.collect()
}

#[test]
fn an_object_has_the_same_verdict_by_its_name_and_in_a_list() {
    check(families(), async |family| {
        let cluster = Cluster::start_with(custom_kinds).await;
        let objects = family.build(&cluster);
        let unhealthy = verdicts(&cluster, &["--unhealthy", "-A"]);
        let of_type = verdicts(&cluster, &["collectors,packages"]);
        for object in &objects {
            let own = verdicts(&cluster, &[object]);
            let own = &own[object];
            if let Some(listed) = unhealthy.get(object) {
                prop_assert_eq!(own, listed, "{}", object);
            } else {
                prop_assert_eq!(&own.0, "Current", "{}", object);
            }
            if let Some(listed) = of_type.get(object) {
                prop_assert_eq!(own, listed, "{}", object);
            }
        }
        Ok(())
    });
}
