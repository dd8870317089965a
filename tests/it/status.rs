//! Tests of `status` against the sandbox: its requests and its output.

use insta::assert_snapshot;
use kubectl_spy::sandbox::scenario::{Stage, rollout};
use kubectl_spy::sandbox::{Effect, ErrorBody, Fault, Request, Rule, User, Verb};
use serde_json::{Value, json};

use super::schema::Schema;
use super::support::cluster::{Cluster, config_map, deployment, pod};
use super::support::{Ran, Running, Spy};

/// Creates a Deployment that has rolled out, with its `ReplicaSet` and this many ready Pods.
fn put_workload(cluster: &Cluster, name: &str, pods: u32) {
    let mut workload = deployment(name, pods);
    workload["status"] = json!({
        "observedGeneration": 1, "replicas": pods, "updatedReplicas": pods,
        "readyReplicas": pods, "availableReplicas": pods,
        "conditions": [{"type": "Available", "status": "True"}],
    });
    let workload = cluster.put(workload);
    let mut set = deployment(&format!("{name}-a"), pods);
    set["kind"] = "ReplicaSet".into();
    set["metadata"]["labels"] = json!({"app": name});
    set["metadata"]["ownerReferences"] = owned_by(&workload);
    set["spec"]["selector"] = workload["spec"]["selector"].clone();
    set["status"] = json!({
        "observedGeneration": 1, "replicas": pods, "readyReplicas": pods,
        "availableReplicas": pods, "fullyLabeledReplicas": pods,
    });
    let set = cluster.put(set);
    for number in 0..pods {
        put_pod(
            cluster,
            &format!("{name}-a-{number:03}"),
            (name, &set),
            "Running",
        );
    }
}

fn put_pod(cluster: &Cluster, name: &str, (app, owner): (&str, &Value), phase: &str) {
    let mut pod = pod(name, &json!({"app": app}));
    pod["metadata"]["ownerReferences"] = owned_by(owner);
    pod["status"] = json!({
        "phase": phase, "conditions": [{"type": "Ready", "status": "True"}],
        "containerStatuses": [{"name": "app", "ready": true, "state": {"running": {}}}],
    });
    cluster.put(pod);
}

fn owned_by(owner: &Value) -> Value {
    json!([{
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "controller": true,
        "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"],
    }])
}

/// Runs once against the sandbox, until the exit.
fn once(cluster: &Cluster, args: &[&str]) -> Ran {
    let spy = cluster.spy();
    tokio::task::block_in_place(|| spy.run(&[&["status", "--once"], args].concat()))
}

/// The printed records, each checked against the schema.
fn records(ran: &Ran) -> Vec<Value> {
    let schema = Schema::of("status");
    ran.stdout.lines().map(|line| schema.check(line)).collect()
}

fn interrupted(run: Running) -> Ran {
    let ran = run.interrupt();
    let signal = std::os::unix::process::ExitStatusExt::signal(&ran.status);
    assert_eq!(signal, Some(2), "{}", ran.transcript());
    ran
}

#[tokio::test(flavor = "multi_thread")]
async fn once_on_a_pipe_prints_the_whole_table() {
    let cluster = Cluster::start().await;
    let mut stage = Stage::set(&cluster.sandbox, &rollout()).unwrap();
    stage.play_until(8000).unwrap();
    let ran = once(&cluster, &["deploy/web"]);
    assert_eq!(ran.status.code(), Some(0), "{}", ran.stderr);
    assert_snapshot!(ran.transcript(), @r#"
    NAME                               READY   STATUS             RESTARTS   AGE     NODE       IP
    ✗ deployment/web                   3/3     Failed             -          41d     -          -
    │ └ 0 of 3 new pods ready: 1 ImagePullBackOff
    │ └ changed 4m58s ago by kubectl-set: containers[web].image: web:v2.3.9 → web:v2.4.1-rc1
    ├─✗ replicaset/web-5cc54d4d56 #2   0/1     Failed             -          4m58s   -          -
    │ └─✗ pod/web-5cc54d4d56-dcqxn     0/1     ImagePullBackOff   0          4m58s   worker-1   10.244.0.14
    │     └ web: Back-off pulling image "registry.example.com/shop/web:v2.4.1-rc1": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "registry.example.com/shop/web:v2.4.1-rc1": failed to resolve reference "registry.example.com/shop/web:v2.4.1-rc1": registry.example.com/shop/web:v2.4.1-rc1: not found
    └─● replicaset/web-7f45f79f9d #1   3/3     Current            -          41d     -          -
      │ └ old revision, 3 replicas are still to be removed
      ├─● pod/web-7f45f79f9d-268rp     1/1     Running            0          41d     worker-1   10.244.0.13
      ├─● pod/web-7f45f79f9d-dxq6g     1/1     Running            0          41d     worker-2   10.244.1.13
      └─● pod/web-7f45f79f9d-pkjqf     1/1     Running            0          41d     worker-3   10.244.2.13
    "#);
    assert_snapshot!(once(&cluster, &["deploy"]).transcript(), @r#"
    NAME                               READY   STATUS             RESTARTS   AGE     UP-TO-DATE   AVAILABLE   NODE       IP
    ✗ deployment/web                   3/3     Failed             -          41d     1            3           -          -
    │ └ 0 of 3 new pods ready: 1 ImagePullBackOff
    │ └ changed 4m58s ago by kubectl-set: containers[web].image: web:v2.3.9 → web:v2.4.1-rc1
    ├─✗ replicaset/web-5cc54d4d56 #2   0/1     Failed             -          4m58s   -            -           -          -
    │ └─✗ pod/web-5cc54d4d56-dcqxn     0/1     ImagePullBackOff   0          4m58s   -            -           worker-1   10.244.0.14
    │     └ web: Back-off pulling image "registry.example.com/shop/web:v2.4.1-rc1": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "registry.example.com/shop/web:v2.4.1-rc1": failed to resolve reference "registry.example.com/shop/web:v2.4.1-rc1": registry.example.com/shop/web:v2.4.1-rc1: not found
    └─● replicaset/web-7f45f79f9d #1   3/3     Current            -          41d     -            -           -          -
      │ └ old revision, 3 replicas are still to be removed
      ├─● pod/web-7f45f79f9d-268rp     1/1     Running            0          41d     -            -           worker-1   10.244.0.13
      ├─● pod/web-7f45f79f9d-dxq6g     1/1     Running            0          41d     -            -           worker-2   10.244.1.13
      └─● pod/web-7f45f79f9d-pkjqf     1/1     Running            0          41d     -            -           worker-3   10.244.2.13
    "#);
    assert_snapshot!(once(&cluster, &["pod", "-A", "--ascii"]).transcript(), @r#"
    3 Current, 1 Failed
    NAMESPACE   NAME                         READY   STATUS             RESTARTS   AGE     NODE       IP
    shop        x pod/web-5cc54d4d56-dcqxn   0/1     ImagePullBackOff   0          4m58s   worker-1   10.244.0.14
                  ` web: Back-off pulling image "registry.example.com/shop/web:v2.4.1-rc1": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "registry.example.com/shop/web:v2.4.1-rc1": failed to resolve reference "registry.example.com/shop/web:v2.4.1-rc1": registry.example.com/shop/web:v2.4.1-rc1: not found
    shop        * pod/web-7f45f79f9d-268rp   1/1     Running            0          41d     worker-1   10.244.0.13
    shop        * pod/web-7f45f79f9d-dxq6g   1/1     Running            0          41d     worker-2   10.244.1.13
    shop        * pod/web-7f45f79f9d-pkjqf   1/1     Running            0          41d     worker-3   10.244.2.13
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rollout_is_followed_line_by_line() {
    let cluster = Cluster::start().await;
    let mut stage = Stage::set(&cluster.sandbox, &rollout()).unwrap();
    let mut run = cluster.spy().start(&["status", "deploy/web"]);
    run.until("deployment/web Current 3/3");
    run.until("pod/web-7f45f79f9d-pkjqf Running 1/1");
    stage.play_until(8000).unwrap();
    let line = run.until("ImagePullBackOff 0/1");
    assert!(line.contains(": web: Back-off pulling image"), "{line}");
    stage.play_until(60_000).unwrap();
    run.until("deployment/web Current 3/3 (was");
    let ran = interrupted(run);
    let is_dated = |line: &str| line.starts_with("2026-03-02T12:05:00Z ");
    assert!(ran.stdout.lines().all(is_dated), "{}", ran.stdout);
    assert_eq!(ran.stderr, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_record_follows_the_schema() {
    let cluster = Cluster::start().await;
    let mut stage = Stage::set(&cluster.sandbox, &rollout()).unwrap();
    let mut run = cluster.spy().start(&["status", "deploy/web", "-o", "json"]);
    run.until(r#""kind":"Pod""#);
    for end in (0..12_000).step_by(500) {
        stage.play_until(end).unwrap();
    }
    run.until(r#""worst":"Failed""#);
    for end in (12_000..60_000).step_by(500) {
        stage.play_until(end).unwrap();
    }
    run.until_where("the end of the rollout", |line| {
        line.contains(r#""kind":"Deployment""#)
            && line.contains(r#""message":"Deployment is available. Replicas: 3""#)
    });
    cluster.delete("deployments", "web");
    run.until(r#""status":"NotFound""#);
    let ran = interrupted(run);
    let records = records(&ran);
    assert!(records.iter().any(|record| record["worst"] == "Failed"));
    assert!(
        records
            .iter()
            .any(|record| record["causes"][0]["rule"] == "ImagePull")
    );
    let pods = records
        .iter()
        .filter(|record| record["ref"]["kind"] == "Pod");
    assert!(pods.clone().count() > 3 && pods.clone().all(|pod| pod["depth"] == 2));
    assert_eq!(ran.stderr, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_object_is_waited_for_and_followed_by_name() {
    let cluster = Cluster::start().await;
    let mut run = cluster.spy().start(&["status", "deploy/web"]);
    run.until(r#"waiting for deployments.apps/web in namespace "shop""#);
    put_workload(&cluster, "web", 1);
    run.until("pod/web-a-000 Running 1/1");
    cluster.delete("deployments", "web");
    run.until("deployment/web NotFound (was Current 1/1)");
    cluster.put(deployment("web", 2));
    run.until("deployment/web InProgress 0/2");
    interrupted(run);
}

#[tokio::test(flavor = "multi_thread")]
async fn once_reports_missing_objects_as_kubectl_does() {
    let cluster = Cluster::start().await;
    put_workload(&cluster, "web", 1);
    let ran = once(&cluster, &["deploy/wbe"]);
    assert_eq!(ran.status.code(), Some(1));
    assert_snapshot!(ran.transcript(), @r#"
    ! Error from server (NotFound): deployments.apps "wbe" not found
    ! hint: did you mean web in namespace "shop"?
    ! hint: to wait until it is created, drop --once
    "#);
    let ran = once(&cluster, &["deploy/wbe", "deploy/web"]);
    assert_eq!(ran.status.code(), Some(1));
    assert_snapshot!(ran.transcript(), @r#"
    1 Current, 1 NotFound
    NAME                   READY   STATUS     RESTARTS   AGE     NODE   IP
    ∅ deployment/wbe       -       NotFound   -          -       -      -
    ● deployment/web       1/1     Current    -          4m59s   -      -
    └─● replicaset/web-a   1/1     Current    -          4m58s   -      -
      └─● pod/web-a-000    1/1     Running    0          4m57s   -      -
    ! Error from server (NotFound): deployments.apps "wbe" not found
    ! hint: did you mean web in namespace "shop"?
    ! hint: to wait until it is created, drop --once
    "#);
    let ran = once(&cluster, &["sts"]);
    assert_eq!(ran.status.code(), Some(0));
    assert_snapshot!(ran.transcript(), @"! No resources found in shop namespace.");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_namespaces_that_have_a_missing_object_are_named() {
    let cluster = Cluster::start().await;
    for namespace in ["qa", "staging"] {
        let mut web = deployment("web", 1);
        web["metadata"]["namespace"] = namespace.into();
        cluster.put(web);
    }
    let ran = cluster.spy().run(&["status", "deploy/web", "--once"]);
    assert_eq!(
        ran.stderr,
        "Error from server (NotFound): deployments.apps \"web\" not found\n\
         hint: web is in the namespaces qa and staging: choose one with -n\n\
         hint: to wait until it is created, drop --once\n"
    );
    assert_eq!(ran.status.code(), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_are_sorted_by_a_field() {
    let cluster = Cluster::start().await;
    for (name, rank) in [("a", "10"), ("b", "9"), ("c", "")] {
        cluster.put(config_map(name, &json!({"rank": rank})));
    }
    let sorted = |field: &str| {
        let args = ["status", "cm", "--once", "-o", "name", "--sort-by", field];
        cluster.spy().run(&args).stdout
    };
    assert_eq!(
        sorted(".metadata.name"),
        "configmap/a\nconfigmap/b\nconfigmap/c\n"
    );
    for field in [".data.rank", "{.data.rank}", "data.rank"] {
        assert_eq!(sorted(field), "configmap/c\nconfigmap/b\nconfigmap/a\n");
    }
    let table = [
        "status",
        "cm",
        "--once",
        "--no-headers",
        "--sort-by=.data.rank",
    ];
    let table = cluster.spy().run(&table).stdout;
    let names: Vec<_> = table
        .lines()
        .filter_map(|line| line.split_whitespace().nth(1))
        .collect();
    assert_eq!(
        names,
        ["configmap/c", "configmap/b", "configmap/a"],
        "{table}"
    );
    let refused = |field: &str| {
        let ran = cluster
            .spy()
            .run(&["status", "cm", "--once", "--sort-by", field]);
        assert_eq!((&*ran.stdout, ran.status.code()), ("", Some(1)));
        ran.stderr
    };
    assert_snapshot!(refused("{.a"), @"
    error: unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'
    hint: write the path as --sort-by=.metadata.name
    ");
    assert_snapshot!(refused(".rank"), @r#"
    error: couldn't find any field with path "{.rank}" in the list of objects
    hint: did you mean --sort-by=.data.rank?
    "#);
}

/// Nobody expects an object that a field selector would select, not even by its name.
#[tokio::test(flavor = "multi_thread")]
async fn a_name_in_a_field_selector_may_select_nothing() {
    let cluster = Cluster::start().await;
    let selector = "--field-selector=metadata.name=web";
    let ran = cluster.spy().run(&["status", "deploy", selector, "--once"]);
    assert_eq!(ran.stderr, "No resources found in shop namespace.\n");
    assert_eq!(ran.status.code(), Some(0));
    let ran = cluster
        .spy()
        .run(&["changes", "deploy", selector, "--once"]);
    let hint =
        "hint: types start from now, and --once ends now; to see what changed, add --since 10m\n";
    assert_eq!((&*ran.stderr, ran.status.code()), (hint, Some(0)));
}

#[tokio::test(flavor = "multi_thread")]
async fn similar_names_of_a_missing_object_are_shown_once() {
    let cluster = Cluster::start().await;
    put_workload(&cluster, "web", 1);
    cluster.put(deployment("web-2", 1));
    let mut run = cluster.spy().start(&["status", "deploy/wbe", "deploy/api"]);
    run.until_each(&[
        "deployments.apps/wbe not found",
        "waiting for deployments.apps/wbe",
    ]);
    put_workload(&cluster, "wbe", 1);
    run.until("deployment/wbe Current 1/1");
    cluster.delete("deployments", "wbe");
    run.until("deployment/wbe NotFound (was Current 1/1)");
    let printed = interrupted(run).stderr;
    let mut printed: Vec<&str> = printed.lines().collect();
    printed.sort_unstable();
    assert_eq!(
        printed,
        [
            "deployments.apps/wbe not found: did you mean web or web-2?",
            r#"waiting for deployments.apps/api in namespace "shop""#,
            r#"waiting for deployments.apps/wbe in namespace "shop""#,
        ]
    );
    let is_lookup = |path: &&str| path.contains("limit=250");
    let requests = cluster.sandbox.requests();
    let paths = requests.iter().map(|request| &*request.path);
    let lookups: Vec<&str> = paths.filter(is_lookup).collect();
    assert_eq!(
        lookups.len(),
        4,
        "two for each that is waited for, here and in all namespaces: {lookups:#?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_right_to_list_no_similar_names_are_shown() {
    let cluster = Cluster::start().await;
    put_workload(&cluster, "web", 1);
    cluster.sandbox.set_users(vec![User {
        name: "jane".to_owned(),
        token: String::new(),
        rules: vec![Rule {
            names: vec!["wbe".to_owned()],
            ..Rule::allow("*", "deployments.apps")
        }],
    }]);
    let mut run = cluster.spy().start(&["status", "deploy/wbe"]);
    run.until("waiting for");
    let asked = |requests: &[Request]| {
        let mut paths = requests.iter().map(|request| &request.path);
        paths.any(|path| path.contains("limit=250"))
    };
    cluster.sandbox.requests_until(asked).await;
    let ran = interrupted(run);
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_forbidden_kind_is_named() {
    let cluster = Cluster::start().await;
    cluster.sandbox.set_users(vec![User {
        name: "jane".to_owned(),
        token: String::new(),
        rules: Vec::new(),
    }]);
    let ran = once(&cluster, &["sts,svc"]);
    assert_eq!(ran.status.code(), Some(1));
    assert_snapshot!(ran.transcript(), @r#"
    ! Error from server (Forbidden): statefulsets.apps is forbidden: User "jane" cannot list resource "statefulsets" in API group "apps" in the namespace "shop"
    ! Error from server (Forbidden): services is forbidden: User "jane" cannot list resource "services" in API group "" in the namespace "shop"
    ! hint: try `kubectl auth can-i --list -n shop`
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workload_requests_its_own_objects_only() {
    let cluster = Cluster::start().await;
    put_workload(&cluster, "web", 100);
    put_workload(&cluster, "api", 100);
    let ran = once(&cluster, &["deploy/web", "-o", "json"]);
    let records = records(&ran);
    assert_eq!(records.len(), 102, "{}", ran.stderr);
    let requests = cluster.sandbox.requests();
    let paths: Vec<&str> = requests.iter().map(|request| &*request.path).collect();
    assert_eq!(paths.len(), 3, "one list for each type: {paths:#?}");
    let is_narrow = |path: &&str| {
        path.contains("fieldSelector=metadata.name%3Dweb")
            || path.contains("labelSelector=app%3Dweb")
    };
    assert!(paths.iter().all(is_narrow), "{paths:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forbidden_kind_is_one_line_and_the_rest_works() {
    let refused = Effect::Status {
        code: 403,
        retry_after: None,
        body: ErrorBody::Status,
    };
    let cluster = Cluster::start().await;
    cluster
        .sandbox
        .inject(Fault::on(Verb::Any, "pods", refused).always());
    put_workload(&cluster, "web", 1);
    let ran = once(&cluster, &["deploy/web"]);
    assert_eq!(ran.status.code(), Some(0), "{}", ran.transcript());
    assert_snapshot!(ran.transcript(), @r#"
    NAME                   READY   STATUS    RESTARTS   AGE     NODE   IP
    ● deployment/web       1/1     Current   -          4m59s   -      -
    └─● replicaset/web-a   1/1     Current   -          4m58s   -      -
    judged without pods, which you may not read: deployment/web
    ! pods in namespace "shop" with labels app=web: forbidden: Error from server (Forbidden): forbidden
    "#);
    let ran = once(&cluster, &["deploy/web", "--for=current"]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(
        ran.stderr.ends_with("Error from server (Forbidden): forbidden\nhint: to wait for the object alone, use a condition, such as --for=condition=Available\n"),
        "{}",
        ran.transcript()
    );
    let ran = once(&cluster, &["deploy/web", "--exit-code"]);
    assert_eq!(ran.status.code(), Some(4));
    let ran = once(&cluster, &["deploy/web", "--for=create"]);
    assert_eq!(ran.status.code(), Some(0));
    let ran = once(&cluster, &["pods"]);
    assert_eq!(ran.status.code(), Some(1));
    assert_snapshot!(ran.transcript(), @r#"
    ! Error from server (Forbidden): forbidden
    ! hint: try `kubectl auth can-i list pods -n shop`
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn once_gives_up_on_a_server_that_does_not_answer() {
    let mut cluster = Cluster::start().await;
    cluster.sandbox.stop().await;
    let ran = once(&cluster, &["deploy/web"]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(ran.stderr.contains("was refused"), "{}", ran.stderr);
    assert_eq!(ran.stdout, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_object_of_a_file_is_assessed_on_its_own() {
    let file = format!("{}/status-documents.yaml", env!("CARGO_TARGET_TMPDIR"));
    let text = "
kind: Pod
apiVersion: v1
metadata: {name: a, namespace: shop, creationTimestamp: 2026-03-02T11:00:00Z}
status: {phase: Failed, reason: Evicted, message: \"The node was low on \\u001b[31mmemory\\n\"}
---
kind: Deployment
apiVersion: apps/v1
spec: {replicas: 2}
---
{replicas: 3}
---
kind: PodList
apiVersion: v1
items: [{metadata: {name: b}, status: {phase: Succeeded}}]
";
    std::fs::write(&file, text).unwrap();
    let now = ["--from", &file, "--now", "2026-03-02T12:00:00Z"];
    let run = |args: &[&str]| Spy::alone().run(&[&["status", "--once"], &now[..], args].concat());
    assert_snapshot!(run(&[]).stdout, @"
    1 Current, 1 InProgress, 1 Failed
    NAMESPACE   NAME              READY   STATUS       RESTARTS   AGE   NODE   IP
    shop        ✗ pod/a           0/0     Evicted      0          60m   -      -
                  └ Evicted: The node was low on ^[[31mmemory
    -           ● pod/b           0/0     Succeeded    0          -     -      -
    -           ~ deployment/#2   0/2     InProgress   -          -     -      -
    ");
    let ran = run(&["-o", "json", "--rules", "kstatus"]);
    assert_eq!(ran.status.code(), Some(1));
    assert_eq!(
        ran.stderr,
        format!(
            "error: {file}: line 11: Object 'Kind' is missing\n\
             hint: this is no object; if it has the values of a Helm chart: \
             helm template CHART -f FILE | kubectl spy … --from -\n"
        )
    );
    let states: Vec<_> = records(&ran)
        .iter()
        .map(|record| record["status"].clone())
        .collect();
    assert_eq!(states, ["Current", "Current", "InProgress"]);
}

/// Writes the objects of a cluster to a file.
fn saved(cluster: &Cluster, name: &str) -> String {
    let log = cluster.sandbox.log();
    let objects = log
        .iter()
        .map(|record| String::from_utf8(record.after.to_vec()).unwrap());
    let file = format!("{}/{name}", env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(&file, objects.collect::<Vec<_>>().join("\n")).unwrap();
    file
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_of_a_file_are_shown_below_their_owners() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({})));
    put_workload(&cluster, "web", 2);
    cluster.put(pod("stray", &json!({"app": "other"})));
    let file = saved(&cluster, "status-trees.json");
    let now = ["--from", &file, "--now", "2026-03-02T12:05:00Z"];
    let run = |args: &[&str]| Spy::alone().run(&[&["status", "--once"], &now[..], args].concat());
    assert_snapshot!(run(&[]).transcript(), @"
    5 Current, 1 InProgress
    NAME                   READY   STATUS       RESTARTS   AGE     NODE   IP
    ● configmap/flags      -       Current      -          4m59s   -      -
    ● deployment/web       2/2     Current      -          4m58s   -      -
    └─● replicaset/web-a   2/2     Current      -          4m57s   -      -
      ├─● pod/web-a-000    1/1     Running      0          4m56s   -      -
      └─● pod/web-a-001    1/1     Running      0          4m55s   -      -
    ~ pod/stray            0/1     InProgress   0          4m54s   -      -
      └ Pod phase not available
    ");
    assert_snapshot!(run(&["--unhealthy", "--no-headers"]).transcript(), @"
~ pod/stray   0/1     InProgress   0          4m54s   -      -
  └ Pod phase not available
    ");
    assert_snapshot!(run(&["-o", "name"]).transcript(), @"
    configmap/flags
    deployment.apps/web
    replicaset.apps/web-a
    pod/web-a-000
    pod/web-a-001
    pod/stray
    ");
    let ran = run(&["-o", "json"]);
    let places: Vec<_> = records(&ran)
        .iter()
        .map(|record| {
            format!(
                "{} {}",
                record["depth"],
                record["ref"]["name"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        places,
        [
            "0 flags",
            "0 web",
            "1 web-a",
            "2 web-a-000",
            "2 web-a-001",
            "0 stray"
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_objects_only_the_broken_ones_are_expanded_and_listed() {
    let cluster = Cluster::start().await;
    for number in 0..10 {
        put_workload(&cluster, &format!("web-{number}"), 1);
    }
    for number in [2, 5, 7] {
        let status = json!({"readyReplicas": 0, "availableReplicas": 0, "unavailableReplicas": 1});
        cluster.report("deployments", &format!("web-{number}"), &status);
    }
    assert_snapshot!(once(&cluster, &["deploy"]).transcript(), @"
    7 Current, 3 InProgress
    NAME                     READY   STATUS       RESTARTS   AGE     UP-TO-DATE   AVAILABLE   NODE   IP
    ~ deployment/web-2       0/1     InProgress   -          4m53s   1            0           -      -
    └─● replicaset/web-2-a   1/1     Current      -          4m52s   -            -           -      -
      └─● pod/web-2-a-000    1/1     Running      0          4m51s   -            -           -      -
    ~ deployment/web-5       0/1     InProgress   -          4m44s   1            0           -      -
    └─● replicaset/web-5-a   1/1     Current      -          4m43s   -            -           -      -
      └─● pod/web-5-a-000    1/1     Running      0          4m42s   -            -           -      -
    ~ deployment/web-7       0/1     InProgress   -          4m38s   1            0           -      -
    └─● replicaset/web-7-a   1/1     Current      -          4m37s   -            -           -      -
      └─● pod/web-7-a-000    1/1     Running      0          4m36s   -            -           -      -
    ● deployment/web-0       1/1     Current      -          4m59s   1            1           -      -
    ● deployment/web-1       1/1     Current      -          4m56s   1            1           -      -
    ● deployment/web-3       1/1     Current      -          4m50s   1            1           -      -
    ● deployment/web-4       1/1     Current      -          4m47s   1            1           -      -
    ● deployment/web-6       1/1     Current      -          4m41s   1            1           -      -
    ● deployment/web-8       1/1     Current      -          4m35s   1            1           -      -
    ● deployment/web-9       1/1     Current      -          4m32s   1            1           -      -
    dependents of 7 objects not read; name an object to show them
    ");
    assert_snapshot!(once(&cluster, &["deploy", "--unhealthy", "-o", "name"]).transcript(), @"
    deployment.apps/web-2
    deployment.apps/web-5
    deployment.apps/web-7
    ");
    let ran = once(
        &cluster,
        &["deploy", "--unhealthy", "--exit-code", "--no-headers"],
    );
    assert_eq!(ran.status.code(), Some(1), "{}", ran.stderr);
    assert_snapshot!(ran.transcript(), @"
    ~ deployment/web-2   0/1     InProgress   -          4m53s   1            0           -      -
    ~ deployment/web-5   0/1     InProgress   -          4m44s   1            0           -      -
    ~ deployment/web-7   0/1     InProgress   -          4m38s   1            0           -      -
    ");
    let ran = once(&cluster, &["deploy/web-2", "-o", "yaml"]);
    let names = ran
        .stdout
        .lines()
        .filter(|line| line.contains("name: web-2"));
    assert_eq!(names.count(), 1, "{}", ran.stdout);
    assert!(
        ran.stdout
            .starts_with("apiVersion: apps/v1\nkind: Deployment\n")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_well_may_be_of_every_kind() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"limit": "10"})));
    cluster.put(json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}},
        "status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}},
    }));
    let ran = once(&cluster, &["--unhealthy"]);
    assert_snapshot!(ran.transcript(), @"
    1 Current, 1 Failed
    NAME            READY   STATUS   RESTARTS   AGE     NODE   IP
    ✗ ingress/web   -       Failed   -          4m58s   -      -
      └ backend service/web does not exist
      └ created 4m58s ago by kubectl-create
    ");
    let ran = once(&cluster, &["--unhealthy", "-o", "name", "--exit-code"]);
    assert_eq!(ran.stdout, "ingress.networking.k8s.io/web\n");
    assert_eq!(ran.status.code(), Some(1));
    // The namespace may be what is not well.
    cluster.put(json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": "shop", "deletionTimestamp": "2026-03-02T12:00:00Z"},
        "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Terminating"},
    }));
    let ran = once(&cluster, &["--unhealthy", "--no-headers"]);
    let line = "− namespace/shop   -       Terminating";
    assert!(ran.stdout.contains(line), "{}", ran.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_type_has_the_columns_of_the_server() {
    let cluster = Cluster::start().await;
    put_workload(&cluster, "web", 1);
    let ran = once(&cluster, &["deploy"]);
    assert_snapshot!(ran.transcript(), @"
    NAME                   READY   STATUS    RESTARTS   AGE     UP-TO-DATE   AVAILABLE   NODE   IP
    ● deployment/web       1/1     Current   -          4m59s   1            1           -      -
    └─● replicaset/web-a   1/1     Current   -          4m58s   -            -           -      -
      └─● pod/web-a-000    1/1     Running   0          4m57s   -            -           -      -
    ");
    assert_snapshot!(once(&cluster, &["deploy", "-o", "wide", "--no-headers"]).transcript(), @"
    ● deployment/web       1/1     Current   -          4m59s   1            1           app          app:1    app=web    -      -
    └─● replicaset/web-a   1/1     Current   -          4m58s   -            -           -            -        -          -      -
      └─● pod/web-a-000    1/1     Running   0          4m57s   -            -           -            -        -          -      -
    ");
    let lists = |cluster: &Cluster| {
        let requests = cluster.sandbox.requests();
        let tables = requests
            .iter()
            .filter(|request| request.path.contains("includeObject=Object"));
        tables.count()
    };
    assert_eq!(lists(&cluster), 2, "each run lists one table");
    once(&cluster, &["deploy/web"]);
    once(&cluster, &["deploy", "-o", "json"]);
    assert_eq!(lists(&cluster), 2, "nobody reads the columns");
}

#[tokio::test(flavor = "multi_thread")]
async fn names_select_objects_of_a_file_as_of_a_cluster() {
    let cluster = Cluster::start().await;
    put_workload(&cluster, "web", 2);
    cluster.put(config_map("flags", &json!({})));
    let objects: Vec<String> = cluster
        .sandbox
        .log()
        .iter()
        .map(|record| String::from_utf8(record.after.to_vec()).unwrap())
        .collect();
    let file = format!("{}/status-cluster.json", env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(&file, objects.join("\n")).unwrap();
    let now = ["--from", &file, "--now", "2026-03-02T12:05:00Z"];
    let run = |args: &[&str]| Spy::alone().run(&[&["status"], &now[..], args].concat());
    let ran = run(&["deployment/web", "--once"]);
    assert_eq!(ran.status.code(), Some(0), "{}", ran.stderr);
    assert_snapshot!(ran.transcript(), @"
    NAME                   READY   STATUS    RESTARTS   AGE     NODE   IP
    ● deployment/web       2/2     Current   -          4m59s   -      -
    └─● replicaset/web-a   2/2     Current   -          4m58s   -      -
      ├─● pod/web-a-000    1/1     Running   0          4m57s   -      -
      └─● pod/web-a-001    1/1     Running   0          4m56s   -      -
    ");
    assert_snapshot!(run(&[]).transcript(), @"
    5 Current
    NAME                   READY   STATUS    RESTARTS   AGE     NODE   IP
    ● deployment/web       2/2     Current   -          4m59s   -      -
    └─● replicaset/web-a   2/2     Current   -          4m58s   -      -
      ├─● pod/web-a-000    1/1     Running   0          4m57s   -      -
      └─● pod/web-a-001    1/1     Running   0          4m56s   -      -
    ● configmap/flags      -       Current   -          4m55s   -      -
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_terminal_a_rollout_is_one_frame_that_stays() {
    let cluster = Cluster::start().await;
    let mut stage = Stage::set(&cluster.sandbox, &rollout()).unwrap();
    let spy = cluster.spy();
    let mut terminal = spy.in_shell((80, 24), &["status", "deploy/web", "--show-idle"]);
    terminal.until_shown("the pods", |shown| shown.contains("5 objects"));
    assert!(terminal.hides_cursor());
    stage.play_until(8000).unwrap();
    terminal.until_shown("the cause", |shown| shown.contains("└ web: Back-off"));
    terminal.resize(60, 24);
    terminal.until_shown("the narrow frame", |shown| {
        shown.contains("…") && !shown.contains("RESTARTS   AGE")
    });
    terminal.resize(80, 24);
    stage.play_until(60_000).unwrap();
    terminal.until_shown("the end", |shown| shown.contains("● deployment/web "));
    terminal.type_in(b"\x03");
    terminal.until_shown("the shell", |shown| shown.contains("status 130"));
    assert!(!terminal.hides_cursor());
    let stands = terminal.transcript();
    assert_eq!(stands.matches("deployment/web ").count(), 1, "{stands}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rollout_that_finishes_leaves_nothing_among_the_unhealthy() {
    let cluster = Cluster::start().await;
    let mut stage = Stage::set(&cluster.sandbox, &rollout()).unwrap();
    let spy = cluster.spy();
    let mut run = spy.start(&["status", "--unhealthy"]);
    let mut terminal = spy.on_terminal((100, 30), &["status", "--unhealthy"]);
    let well = "Nothing is unhealthy.";
    terminal.until_shown("nothing", |shown| shown.contains(well));
    stage.play_until(8000).unwrap();
    terminal.until_shown("the cause", |shown| shown.contains("└ web: Back-off"));
    run.until("ImagePullBackOff 0/1");
    stage.play_until(60_000).unwrap();
    terminal.until_shown("nothing again", |shown| shown.contains(well));
    for screen in terminal.screens() {
        let shown = screen.contents();
        let is_gone = |line: &str| line.contains("NotFound") && !line.contains("code = NotFound");
        assert!(!shown.lines().any(is_gone), "{shown}");
    }
    run.until("deployment/web Current 3/3 (was");
    let ran = interrupted(run);
    // A Pod that was seen while it terminated was not well.
    let well_pods_end = ran.stdout.contains("NotFound (was Running 1/1)");
    assert!(!well_pods_end, "{}", ran.stdout);
    let end = "pod/web-5cc54d4d56-dcqxn NotFound (was ";
    assert!(ran.stdout.contains(end), "{}", ran.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_server_is_shown_until_it_is_back() {
    let mut cluster = Cluster::start().await;
    put_workload(&cluster, "web", 1);
    let mut terminal = cluster
        .spy()
        .on_terminal((100, 24), &["status", "deploy/web"]);
    terminal.until_shown("the pod", |shown| shown.contains("● live  3 objects"));
    cluster.sandbox.stop().await;
    terminal.until_shown("the loss", |shown| {
        shown.contains("reconnecting") && shown.contains("the view may be out of date")
    });
    let report = json!({"readyReplicas": 0, "availableReplicas": 0, "conditions": null});
    cluster.report("deployments", "web", &report);
    cluster.sandbox.restart().await.unwrap();
    terminal.until_shown("what is now", |shown| {
        shown.contains("● live") && shown.contains("~ deployment/web       0/1")
    });
}

/// A file shows which kinds have a status: by their definitions.
#[test]
fn a_custom_resource_of_a_file_waits_for_its_controller() {
    let path = format!("{}/unobserved.yaml", env!("CARGO_TARGET_TMPDIR"));
    let text = "\
# the definition of the kind
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com}, spec: {group: example.com, scope: Namespaced, names: {plural: widgets, kind: Widget}, versions: [{name: v1, served: true, storage: true, subresources: {status: {}}}]}, status: {conditions: [{type: Established, status: 'True'}]}}
---
# an object of it
{apiVersion: example.com/v1, kind: Widget, metadata: {name: new, namespace: shop, generation: 1}}
";
    std::fs::write(&path, text).unwrap();
    let all = Spy::alone().run(&["status", "--from", &path, "--once", "--unhealthy"]);
    let named = ["status", "widget/new", "--from", &path];
    let waiting = Spy::alone().run(&[&named[..], &["--for=current"]].concat());
    let by_kstatus = Spy::alone().run(&[&named[..], &["--once", "--rules", "kstatus"]].concat());
    assert!(all.stdout.contains("~ widget/new"), "{}", all.transcript());
    let line = "not observed by its controller";
    assert!(all.stdout.contains(line), "{}", all.transcript());
    assert_eq!(waiting.status.code(), Some(3), "{}", waiting.transcript());
    assert!(by_kstatus.stdout.contains("● widget/new"));
}
