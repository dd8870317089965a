//! Tests of `trace` against the sandbox: the chains of a Service and of a Deployment.

use insta::assert_snapshot;
use kubectl_spy::sandbox::scenario::{Stage, rollout};
use kubectl_spy::sandbox::{Effect, ErrorBody, Fault, Request, Verb};
use serde_json::{Value, json};

use super::schema::Schema;
use super::support::cluster::{Cluster, deployment, pod};
use super::support::{Ran, Spy};

/// A Service `api` for the Pods with a label.
fn service() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "api", "namespace": "shop"},
        "spec": {"clusterIP": "10.96.0.10", "selector": {"app": "api"}, "ports": [{"port": 80, "targetPort": 8080}]},
    })
}

/// A slice of `api` with these endpoints.
fn slice(endpoints: &Value) -> Value {
    json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
        "metadata": {
            "name": "api-1", "namespace": "shop", "labels": {"kubernetes.io/service-name": "api"},
        },
        "ports": [{"port": 8080}], "endpoints": endpoints,
    })
}

/// An endpoint for a Pod.
fn endpoint(address: &str, pod: &Value, ready: bool) -> Value {
    json!({
        "addresses": [address], "conditions": {"ready": ready},
        "targetRef": {"kind": "Pod", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]},
    })
}

/// Refuses every request for a resource.
fn forbid(cluster: &Cluster, resource: &str) {
    let forbidden = Effect::Status {
        code: 403,
        retry_after: None,
        body: ErrorBody::Status,
    };
    cluster
        .sandbox
        .inject(Fault::on(Verb::Any, resource, forbidden).range(1..=u32::MAX));
}

/// The paths of the requests for objects, without the parts that differ between runs.
fn requested_paths(requests: &[Request]) -> Vec<String> {
    let mut paths: Vec<String> = requests
        .iter()
        .filter(|request| !request.path.contains("watch="))
        .map(|request| {
            let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
            let selectors: Vec<&str> = query
                .split('&')
                .filter(|part| part.contains("Selector="))
                .collect();
            format!("{path} {}", selectors.join("&"))
        })
        .collect();
    paths.sort();
    paths
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_with_once() {
    let cluster = Cluster::start().await;
    let mut stage = Stage::set(&cluster.sandbox, &rollout()).unwrap();
    stage.play_until(12_000).unwrap();
    let ran = cluster.spy().run(&["trace", "svc/web", "--once"]);
    assert_eq!(ran.status.code(), Some(0));
    assert_snapshot!(ran.transcript(), @r#"
    service/web  -n shop  ClusterIP 10.96.41.7  http 80->8080/TCP
    ~ degraded 3/4 ready: 1 ImagePullBackOff  selector app=web   4 pods match, 3 ready
    ENDPOINT                 TARGET                     READY   STATE      SERVING   NODE       AGE     OWNER
    ├─ endpointslice/web-cgb6d  IPv4  3 ready, 1 not ready, 0 terminating
    │ ├─● 10.244.0.13:8080   pod/web-7f45f79f9d-268rp   1/1     Ready      yes       worker-1   41d     deployment/web #1
    │ ├─● 10.244.1.13:8080   pod/web-7f45f79f9d-dxq6g   1/1     Ready      yes       worker-2   41d     deployment/web #1
    │ ├─● 10.244.2.13:8080   pod/web-7f45f79f9d-pkjqf   1/1     Ready      yes       worker-3   41d     deployment/web #1
    │ └─✗ 10.244.0.14:8080   pod/web-5cc54d4d56-dcqxn   0/1     NotReady   no        worker-1   4m58s   deployment/web #2
    │     └ ImagePullBackOff: web: Back-off pulling image "registry.example.com/shop/web:v2.4.1-rc1": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "registry.example.com/shop/web:v2.4.1-rc1": failed to resolve reference "registry.example.com/shop/web:v2.4.1-rc1": registry.example.com/shop/web:v2.4.1-rc1: not found
    ├─ owners: deployment/web > replicaset/web-5cc54d4d56 #2   1/1 pods, 0 available
    └─ owners: deployment/web > replicaset/web-7f45f79f9d #1   3/3 pods, 3 available
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deployment_with_once() {
    let cluster = Cluster::start().await;
    let mut stage = Stage::set(&cluster.sandbox, &rollout()).unwrap();
    stage.play_until(12_000).unwrap();
    let ran = cluster.spy().run(&["trace", "deploy", "web", "--once"]);
    assert_eq!(ran.status.code(), Some(0));
    assert_snapshot!(ran.transcript(), @r#"
    deployment/web  -n shop  3 replicas  RollingUpdate, surge 1, unavailable 0
    ✗ rolling out: 1/3 updated, 3 available, 1 failing   5m2s to the deadline
    ✓ +0s     spec change   gen 2 by kubectl-set, 4m58s ago
        ~ .spec.template.spec.containers[name=web].image: registry.example.com/shop/web:v2.3.9 → registry.example.com/shop/web:v2.4.1-rc1
    ✓ +0s     replicaset    web-5cc54d4d56 #2, 1/3 pods
    ~ ...     scheduled     1/3 pods (worker-1)
    ✗         images        0/3 pulled; web-5cc54d4d56-dcqxn ImagePullBackOff
    · ...     available     0/3 new, 3 old kept
    · ...     old pods      0/3 terminated
    · ...     complete
    ~ no budget: 4 pods of at most 4, 3 available of at least 3
    ● Available=True MinimumReplicasAvailable  41d
    ~ Progressing=True NewReplicaSetCreated  4m58s
    REVISION                           READY   IMAGE / STATUS     AGE     NODE
    ├─✗ replicaset/web-5cc54d4d56 #2   0/1     web:v2.4.1-rc1     4m58s
    │ └─✗ pod/web-5cc54d4d56-dcqxn     0/1     ImagePullBackOff   4m58s   worker-1
    │     └ web: Back-off pulling image "registry.example.com/shop/web:v2.4.1-rc1": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "registry.example.com/shop/web:v2.4.1-rc1": failed to resolve reference "registry.example.com/shop/web:v2.4.1-rc1": registry.example.com/shop/web:v2.4.1-rc1: not found
    └─● replicaset/web-7f45f79f9d #1   3/3     web:v2.3.9         41d
      ├─● pod/web-7f45f79f9d-268rp     1/1     Running            41d     worker-1
      ├─● pod/web-7f45f79f9d-dxq6g     1/1     Running            41d     worker-2
      └─● pod/web-7f45f79f9d-pkjqf     1/1     Running            41d     worker-3
    CONNECTED           RELATION   STATE        AGE
    └─ in front
      └─~ service/web   selects    InProgress   41d
          └ degraded 3/4 ready: 1 ImagePullBackOff
    looked through 1 service
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rollout_on_a_pipe() {
    let cluster = Cluster::start().await;
    let mut stage = Stage::set(&cluster.sandbox, &rollout()).unwrap();
    let mut run = cluster.spy().start(&["trace", "deploy/web"]);
    run.until("Current: complete");
    stage.play_until(12_000).unwrap();
    run.until("images failed");
    // The old Pods are counted from the change of the spec, so the program must see it before they are
    // removed.
    stage.play_until(18_000).unwrap();
    run.until("spec change: gen 3");
    stage.play_until(60_000).unwrap();
    run.until("old pods done");
    let ran = run.interrupt();
    assert_eq!(ran.stderr, "");
    let printed = ran.stdout.lines().map(|line| {
        let (_, printed) = line.split_once("deployment/web ").unwrap();
        printed
    });
    let fixed: Vec<&str> = printed
        .skip_while(|line| !line.starts_with("spec change: gen 3"))
        .collect();
    let last = |phase: &&str| {
        let mut lines = fixed.iter().filter(|line| line.starts_with(*phase));
        lines.next_back().map_or("", |line| *line)
    };
    let phases = [
        "spec change",
        "replicaset",
        "scheduled",
        "images",
        "available",
        "complete",
        "old pods",
    ];
    assert_snapshot!(phases.iter().map(last).collect::<Vec<_>>().join("\n"), @"
        spec change: gen 3 by kubectl-client-side-apply: ~ .spec.template.spec.containers[name=web].image: registry.example.com/shop/web:v2.4.1-rc1 -> registry.example.com/shop/web:v2.4.1
        replicaset done: web-589f5c6bfc #3, 3/3 pods
        scheduled done: 3/3 pods (worker-1, worker-2, worker-3)
        images done: 3/3 pulled
        available done: 3/3 new
        complete done: 3 replicas
        old pods done: 4/4 terminated
        ");
}

#[tokio::test(flavor = "multi_thread")]
async fn endpoints_on_a_pipe() {
    let cluster = Cluster::start().await;
    cluster.put(service());
    let pod = cluster.put(pod("api-a", &json!({"app": "api"})));
    cluster.put(slice(&json!([endpoint("10.0.0.1", &pod, true)])));
    let mut run = cluster.spy().start(&["trace", "service", "api"]);
    run.until("1/1 ready");
    cluster.edit(
        "endpointslices",
        "api-1",
        &json!({"endpoints": [endpoint("10.0.0.1", &pod, false)]}),
    );
    run.until("0/1 ready");
    cluster.delete("services", "api");
    run.until("deleted");
    assert_snapshot!(run.interrupt().transcript(), @"
    2026-03-02T12:05:00Z endpoint 10.0.0.1:8080 pod/api-a Ready
    2026-03-02T12:05:00Z service/api Current: 1/1 ready
    2026-03-02T12:05:00Z endpoint 10.0.0.1:8080 pod/api-a NotReady (was Ready)
    2026-03-02T12:05:00Z service/api Failed: 0/1 ready
    2026-03-02T12:05:00Z service/api NotFound: deleted; its endpoints still exist
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_object_is_waited_for_without_once() {
    let cluster = Cluster::start().await;
    let mut run = cluster.spy().start(&["trace", "svc/api"]);
    run.until("waiting for");
    cluster.put(service());
    run.until("no pod matches app=api");
    assert_snapshot!(run.interrupt().transcript(), @r#"
    2026-03-02T12:05:00Z service/api NotFound: waiting for service/api to be created
    2026-03-02T12:05:00Z service/api Failed: no pod matches app=api
    ! waiting for services/api in namespace "shop"
    "#);
    let ran = cluster.spy().run(&["trace", "svc/apj", "--once"]);
    assert_eq!(ran.status.code(), Some(1));
    assert_snapshot!(ran.transcript(), @r#"
    ! Error from server (NotFound): services "apj" not found
    ! hint: did you mean api in namespace "shop"?
    ! hint: to wait until it is created, drop --once
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_targets_of_a_trace_are_refused() {
    let cluster = Cluster::start().await;
    let refused = |args: &[&str]| {
        let ran = cluster.spy().run(args);
        assert_eq!((ran.status.code(), ran.stdout.as_str()), (Some(1), ""));
        ran.stderr
    };
    assert_snapshot!(refused(&["trace", "svc"]), @r#"
    error: no object matches in namespace "shop"
    hint: to wait until an object is created, name it: trace TYPE/NAME
    "#);
    let unknown = |relations| refused(&["trace", "svc/api", "--relations", relations]);
    assert_snapshot!(unknown("backend,best-friend"), @r#"
    error: no relation is named "best-friend"
    hint: the rows of a trace name their relations, and Tab completes them
    "#);
    assert_snapshot!(unknown("scale-targt"), @r#"
    error: no relation is named "scale-targt"
    hint: did you mean scale-target?
    "#);
    for at in 0..17 {
        cluster.put(config_map(&format!("c{at}")));
    }
    assert_snapshot!(refused(&["trace", "cm"]), @r"
    error: 17 objects match, but a trace shows at most 16
    hint: name some of them, or use `kubectl spy status`
    ");
}

fn config_map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop", "labels": {"app": "api"}}})
}

/// A Pod that uses the `ConfigMap` of a name.
fn pod_with(name: &str, settings: &str) -> Value {
    let mut pod = pod(name, &json!({"app": "api"}));
    pod["spec"]["containers"][0]["envFrom"] = json!([{"configMapRef": {"name": settings}}]);
    pod
}

#[tokio::test(flavor = "multi_thread")]
async fn each_object_has_a_block_of_its_own() {
    let cluster = Cluster::start().await;
    for name in ["a", "b"] {
        cluster.put(config_map(name));
    }
    cluster.put(pod_with("one", "a"));
    cluster.put(pod_with("two", "gone"));
    let page = |args: &[&str]| {
        let ran = cluster.spy().run(&[&["trace"], args, &["--once"]].concat());
        assert_eq!(ran.status.code(), Some(0), "{}", ran.stderr);
        ran.transcript()
    };
    let maps = page(&["cm", "-l", "app=api"]);
    for part in [
        "configmap/a  -n shop",
        "\n\nconfigmap/b  -n shop",
        "pod/one",
    ] {
        assert!(maps.contains(part), "{part} in {maps}");
    }
    let pods = page(&["pod/one", "pod/two", "--down"]);
    for part in ["configmap/a", "configmap/gone", "does not exist"] {
        assert!(pods.contains(part), "{part} in {pods}");
    }
    let missing = cluster
        .spy()
        .run(&["trace", "cm/a", "cm/c", "cm/d", "--once"]);
    assert_eq!(missing.status.code(), Some(1));
    for name in ["c", "d"] {
        assert!(
            missing
                .stderr
                .contains(&format!("configmaps \"{name}\" not found")),
            "{}",
            missing.stderr
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_users_of_a_config_map_on_a_pipe() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("a"));
    cluster.put(pod_with("other", "b"));
    let mut run = cluster.spy().start(&["trace", "cm/a"]);
    run.until("configmap/a Current");
    cluster.put(pod_with("one", "a"));
    run.until("pod/one");
    cluster.delete("pods", "one");
    run.until("gone");
    let ran = run.interrupt();
    assert!(!ran.stdout.contains("pod/other"), "{}", ran.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_is_printed_once() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("a"));
    cluster.put(pod_with("one", "a"));
    let picture = |format: &str| {
        let ran = cluster.spy().run(&["trace", "cm/a", "-o", format]);
        assert_eq!(ran.status.code(), Some(0), "{}", ran.stderr);
        ran.stdout
    };
    let dot = picture("dot");
    assert!(
        dot.contains("label=\"environment\"") && dot.ends_with("}\n"),
        "{dot}"
    );
    let mermaid = picture("mermaid");
    assert!(mermaid.contains("|\"environment\"|"), "{mermaid}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forbidden_kind_hides_no_other() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("a"));
    cluster.put(pod_with("one", "a"));
    forbid(&cluster, "deployments");
    let ran = cluster.spy().run(&["trace", "cm/a", "--once"]);
    assert_eq!(ran.status.code(), Some(0));
    assert!(ran.stdout.contains("pod/one"), "{}", ran.stdout);
    assert!(ran.stderr.contains("deployments.apps"), "{}", ran.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forbidden_kind_is_one_line() {
    let cluster = Cluster::start().await;
    cluster.put(service());
    let pod = cluster.put(pod("api-a", &json!({"app": "api"})));
    cluster.put(slice(&json!([endpoint("10.0.0.1", &pod, true)])));
    forbid(&cluster, "pods");
    let ran = cluster.spy().run(&["trace", "svc/api", "--once"]);
    assert_eq!(ran.status.code(), Some(0));
    assert_snapshot!(ran.transcript(), @r#"
    service/api  -n shop  ClusterIP 10.96.0.10  80->8080/TCP
    ● 1/1 ready  selector app=api   pods not read
    ENDPOINT              TARGET      STATE   SERVING
    └─ endpointslice/api-1  IPv4  1 ready, 0 not ready, 0 terminating
      └─● 10.0.0.1:8080   pod/api-a   Ready   yes
    ! pods in namespace "shop" with labels app=api: forbidden: Error from server (Forbidden): forbidden
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forbidden_target_is_an_error() {
    let cluster = Cluster::start().await;
    cluster.put(service());
    forbid(&cluster, "deployments");
    forbid(&cluster, "services");
    for (object, hint) in [
        ("deploy/web", "deployments.apps/web"),
        ("svc/api", "services/api"),
    ] {
        for args in [&["trace", object][..], &["trace", object, "--once"]] {
            let ran = cluster.spy().run(args);
            assert_eq!((ran.status.code(), ran.stdout.as_str()), (Some(1), ""));
            let printed = format!(
                "Error from server (Forbidden): forbidden\n\
                 hint: try `kubectl auth can-i list {hint} -n shop`\n"
            );
            assert_eq!(ran.stderr, printed, "{args:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unread_parts_of_a_rollout_are_shown_as_unread() {
    let cluster = Cluster::start().await;
    let mut stage = Stage::set(&cluster.sandbox, &rollout()).unwrap();
    stage.play_until(12_000).unwrap();
    let page = || {
        let ran = cluster.spy().run(&["trace", "deploy/web", "--once"]);
        assert_eq!(ran.status.code(), Some(0));
        ran.stdout
    };
    forbid(&cluster, "pods");
    assert_snapshot!(page(), @"
    deployment/web  -n shop  3 replicas  RollingUpdate, surge 1, unavailable 0
    ~ rolling out: 1/3 updated, 3 available   5m2s to the deadline
    ✓ +0s     spec change   gen 2 by kubectl-set, 4m58s ago
        ~ .spec.template.spec.containers[name=web].image: registry.example.com/shop/web:v2.3.9 → registry.example.com/shop/web:v2.4.1-rc1
    ✓ +0s     replicaset    web-5cc54d4d56 #2, 1/3 pods
    ?         scheduled     pods not read
    ?         images        pods not read
    · ...     available     0/3 new, 3 old kept
    ?         old pods      pods not read
    · ...     complete
    ~ no budget: 4 pods of at most 4, 3 available of at least 3
    ● Available=True MinimumReplicasAvailable  41d
    ~ Progressing=True NewReplicaSetCreated  4m58s
    REVISION                           READY   IMAGE / STATUS   AGE
    ├─~ replicaset/web-5cc54d4d56 #2   0/1     web:v2.4.1-rc1   4m58s
    ├─● replicaset/web-7f45f79f9d #1   3/3     web:v2.3.9       41d
    └─ pods not read
    CONNECTED           RELATION   STATE        AGE
    └─ in front
      └─~ service/web   selects    InProgress   41d
          └ degraded 3/4 ready
    looked through 1 service
    ");
    forbid(&cluster, "replicasets");
    assert_snapshot!(page(), @"
    deployment/web  -n shop  3 replicas  RollingUpdate, surge 1, unavailable 0
    ~ rolling out: 1/3 updated, 3 available   5m2s to the deadline
    ✓ +0s     spec change   gen 2 probably by kubectl-set, 4m58s ago
    ?         replicaset    replicasets not read
    ?         scheduled     replicasets not read
    ?         images        replicasets not read
    ?         available     replicasets not read
    ?         old pods      replicasets not read
    · ...     complete
    ● Available=True MinimumReplicasAvailable  41d
    ~ Progressing=True NewReplicaSetCreated  4m58s
    ├─ replicasets not read
    └─ pods not read
    CONNECTED           RELATION   STATE        AGE
    └─ in front
      └─~ service/web   selects    InProgress   41d
          └ degraded 3/4 ready
    looked through 1 service
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn phases_whose_objects_are_unread_are_unknown() {
    let cluster = Cluster::start().await;
    let mut stage = Stage::set(&cluster.sandbox, &rollout()).unwrap();
    stage.play_until(12_000).unwrap();
    forbid(&cluster, "pods");
    forbid(&cluster, "replicasets");
    let ran = cluster
        .spy()
        .run(&["trace", "deploy/web", "--once", "-o", "json"]);
    let record = Schema::of("trace").check(&ran.stdout);
    let phases = record["phases"].as_array().unwrap().iter();
    let unknown: Vec<&Value> = phases
        .filter(|phase| phase["state"] == "unknown")
        .map(|phase| &phase["phase"])
        .collect();
    assert_eq!(
        unknown,
        ["replicaset", "scheduled", "images", "available", "old pods"]
    );
}

/// Writes the objects of a cluster to a file.
fn dumped(cluster: &Cluster, name: &str) -> String {
    let file = format!("{}/{name}.json", env!("CARGO_TARGET_TMPDIR"));
    let log = cluster.sandbox.log();
    let objects: Vec<&str> = log
        .iter()
        .map(|record| std::str::from_utf8(&record.after).unwrap())
        .collect();
    std::fs::write(&file, objects.join("\n")).unwrap();
    file
}

/// Traces objects in a file.
fn of_file(file: &str, args: &[&str]) -> Ran {
    let now = ["--from", file, "--now", "2026-03-02T12:05:00Z"];
    Spy::alone().run(&[&["trace"], args, &now[..]].concat())
}

/// A file with a Service with an endpoint, another Service in another namespace, and a Deployment.
async fn several(name: &str) -> String {
    let cluster = Cluster::start().await;
    cluster.put(service());
    let pod = cluster.put(pod("api-a", &json!({"app": "api"})));
    cluster.put(slice(&json!([endpoint("10.0.0.1", &pod, true)])));
    let mut other = service();
    other["metadata"]["name"] = "other".into();
    other["metadata"]["namespace"] = "lab".into();
    cluster.put(other);
    cluster.put(deployment("web", 0));
    dumped(&cluster, name)
}

#[tokio::test(flavor = "multi_thread")]
async fn all_traceable_objects_of_a_file_are_traced() {
    let file = several("trace-several").await;
    assert_snapshot!(of_file(&file, &["--once"]).transcript(), @"
    service/api  -n shop  ClusterIP 10.96.0.10  80->8080/TCP
    ● 1/1 ready  selector app=api   1 pod matches, 0 ready
    ENDPOINT              TARGET      READY   STATE   SERVING   AGE
    ├─ endpointslice/api-1  IPv4  1 ready, 0 not ready, 0 terminating
    │ └─● 10.0.0.1:8080   pod/api-a   0/1     Ready   yes       4m58s
    └─ owners: 1 pod has none

    service/other  -n lab  ClusterIP 10.96.0.10  80->8080/TCP
    ? its endpoints are not in the file  selector app=api   0 pods match, 0 ready

    deployment/web  -n shop  0 replicas  RollingUpdate
    ~ not yet observed by the controller (generation 1, observed 0)
    ✓ +0s     spec change   gen 1 by kubectl-create: created, 4m55s ago
    ~ ...     observed      not yet by the controller (generation 1, observed 0)
    · ...     replicaset    to be created by the controller
    · ...     complete
    looked through 1 service
    ");
    assert_snapshot!(of_file(&file, &[]).transcript(), @"
    2026-03-02T12:05:00Z endpoint 10.0.0.1:8080 pod/api-a Ready
    2026-03-02T12:05:00Z service/api Current: 1/1 ready
    2026-03-02T12:05:00Z service/other Unknown: its endpoints are not in the file
    2026-03-02T12:05:00Z deployment/web spec change: gen 1 by kubectl-create: created
    2026-03-02T12:05:00Z deployment/web observed underway: not yet by the controller (generation 1, observed 0)
    2026-03-02T12:05:00Z deployment/web InProgress: not yet observed by the controller (generation 1, observed 0)
    ");
    let ran = of_file(&file, &["-o", "json"]);
    let schema = Schema::of("trace");
    let records = ran.stdout.lines().map(|line| schema.check(line));
    assert_eq!(records.count(), 3, "{}", ran.stdout);
}

/// `kubectl get all` does not get slices.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_without_slices_says_nothing_about_the_endpoints_of_pods() {
    let cluster = Cluster::start().await;
    cluster.put(service());
    cluster.put(pod("api-a", &json!({"app": "api"})));
    let file = dumped(&cluster, "trace-no-slices");
    assert_snapshot!(of_file(&file, &["svc/api", "-n", "shop", "--once"]).transcript(), @"
    service/api  -n shop  ClusterIP 10.96.0.10  80->8080/TCP
    ? its endpoints are not in the file  selector app=api   1 pod matches, 0 ready
    └─ owners: 1 pod has none
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_type_can_be_traced_in_a_file_and_missing_objects_are_named() {
    let file = several("trace-types").await;
    let printed =
        |file: &str, args: &[&str]| of_file(file, args).transcript().replace(file, "FILE");
    assert_snapshot!(printed(&file, &["svc", "-n", "lab", "--once"]), @r"
    service/other  -n lab  ClusterIP 10.96.0.10  80->8080/TCP
    ? its endpoints are not in the file  selector app=api   0 pods match, 0 ready
    ");
    assert_snapshot!(printed(&file, &["svc", "-n", "tea"]), @r#"
    ! error: nothing to trace in FILE in namespace "tea"
    ! hint: name a type or an object: trace TYPE/NAME --from FILE
    "#);
    let empty = dumped(&Cluster::start().await, "trace-nothing");
    assert_snapshot!(printed(&empty, &[]), @r"
    ! error: no objects passed to trace
    ! hint: check the command that writes the input
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_receives_no_other_pods_and_services() {
    let cluster = Cluster::start().await;
    cluster.put(service());
    cluster.put(pod("api-a", &json!({"app": "api"})));
    cluster.put(pod("other", &json!({"app": "other"})));
    let ran = cluster.spy().run(&["trace", "svc/api", "--once"]);
    assert_eq!(ran.status.code(), Some(0), "{}", ran.stderr);
    let paths = requested_paths(&cluster.sandbox.requests());
    let of = |resource: &str| -> Vec<&str> {
        let prefix = format!("/api/v1/namespaces/shop/{resource} ");
        paths
            .iter()
            .filter_map(|path| path.strip_prefix(&prefix))
            .collect()
    };
    assert_eq!(of("pods"), ["labelSelector=app%3Dapi"]);
    // The look-back at its last change reads it again.
    let mut services = of("services");
    services.dedup();
    assert_eq!(services, ["fieldSelector=metadata.name%3Dapi"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_of_the_server_is_shown_and_survived() {
    let mut cluster = Cluster::start().await;
    cluster.put(service());
    let mut run = cluster.spy().start(&["trace", "svc/api"]);
    run.until("no pod matches app=api");
    cluster.sandbox.stop().await;
    run.until("retrying");
    let pod = cluster.put(pod("api-a", &json!({"app": "api"})));
    cluster.put(slice(&json!([endpoint("10.0.0.1", &pod, true)])));
    cluster.sandbox.restart().await.unwrap();
    run.until("1/1 ready");
    run.interrupt();
}

#[tokio::test(flavor = "multi_thread")]
async fn records_follow_their_schema() {
    let schema = Schema::of("trace");
    let cluster = Cluster::start().await;
    let mut stage = Stage::set(&cluster.sandbox, &rollout()).unwrap();
    let mut runs = ["svc/web", "deploy/web"].map(|object| {
        let mut run = cluster.spy().start(&["trace", object, "-o", "json"]);
        run.until("\"nodes\"");
        run
    });
    stage.play_until(60_000).unwrap();
    for run in &mut runs {
        run.until_where("the last pod, ready, and no old one", |line| {
            let record: Value = serde_json::from_str(line).unwrap();
            let nodes = record["nodes"].as_array().unwrap().iter();
            let pods: Vec<&Value> = nodes.filter(|node| node["ref"]["kind"] == "Pod").collect();
            pods.len() == 3
                && pods.iter().all(|pod| {
                    let name = pod["ref"]["name"].as_str().unwrap();
                    pod["ready"] == "1/1" && name.starts_with("web-589f")
                })
        });
    }
    for run in runs {
        let ran = run.interrupt();
        let records: Vec<Value> = ran.stdout.lines().map(|line| schema.check(line)).collect();
        assert!(records.len() > 1);
        for pair in records.windows(2) {
            let graph =
                |record: &Value| json!([record["nodes"], record["edges"], record["phases"]]);
            assert_ne!(
                graph(&pair[0]),
                graph(&pair[1]),
                "a record without a change"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ghosts_and_addresses_are_nodes() {
    let cluster = Cluster::start().await;
    cluster.put(service());
    let ghost = json!({"metadata": {"name": "api-gone", "uid": "u1"}});
    cluster.put(slice(&json!([
        endpoint("10.0.0.1", &ghost, true),
        {"addresses": ["192.0.2.7"]},
    ])));
    let ran = cluster
        .spy()
        .run(&["trace", "svc/api", "--once", "-o", "json"]);
    let record = Schema::of("trace").check(&ran.stdout);
    let ids: Vec<&str> = record["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|node| node["ref"]["uid"].is_null() || node["ghost"] == true)
        .map(|node| node["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["/Pod/shop/api-gone", "ip:192.0.2.7"]);
    let to: Vec<&Value> = record["edges"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|edge| edge["relation"] == "endpoint")
        .map(|edge| &edge["to"])
        .collect();
    assert_eq!(to, ids);
}
