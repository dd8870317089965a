//! Tests of `--at` over a record: everything as it was, long after the server has forgotten it.

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::record::{Folder, wait_for};
use super::support::cluster::{Cluster, config_map, deployment, owned_by, pod};
use super::support::{Ran, Running, Spy};

/// The state of a Pod whose container runs, or waits for this reason.
fn state(waits_for: Option<&str>) -> Value {
    let state = match waits_for {
        Some(reason) => json!({"waiting": {"reason": reason, "message": "no"}}),
        None => json!({"running": {"startedAt": "2026-03-02T12:00:01Z"}}),
    };
    let ready = waits_for.is_none();
    json!({
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": if ready { "True" } else { "False" }}],
        "containerStatuses": [{"name": "app", "ready": ready, "restartCount": 0, "state": state}],
    })
}

/// Starts a recorder whose clock stands at a time, and waits until a file has this row.
fn record(folder: &Folder, cluster: &Cluster, now: &str, row: &str) -> Running {
    let spy = folder.spy(cluster).var("KUBECTL_SPY_NOW", now);
    let mut run = spy.start(&["record", "pods,deploy,rs,cm", "-A"]);
    run.until("recording");
    wait_for(folder, row);
    run
}

/// A Pod that ran at 12:10 and had failed at 12:40. Nobody recorded in between, and the server has forgotten it.
async fn recorded_twice() -> (Cluster, Folder) {
    let cluster = Cluster::start().await;
    let folder = Folder::of(&cluster);
    let web = cluster.put(deployment("web", 1));
    cluster.put(owned_by(pod("web-1", &json!({"app": "web"})), &web));
    cluster.report("pods", "web-1", &state(None));
    let run = record(&folder, &cluster, "2026-03-02T12:10:00Z", "web-1 4 Listed");
    run.signal("KILL");
    cluster.report("pods", "web-1", &state(Some("ErrImagePull")));
    cluster.edit("deployments", "web", &json!({"spec": {"replicas": 2}}));
    cluster.report("pods", "web-1", &state(Some("ImagePullBackOff")));
    cluster.sandbox.compact(cluster.sandbox.revision());
    cluster.sandbox.expire_watch_window();
    let run = record(&folder, &cluster, "2026-03-02T12:40:00Z", "web-1 7 Skipped");
    cluster.put(config_map("flags", &json!({})));
    wait_for(&folder, "flags 8 Added");
    run.interrupt();
    (cluster, folder)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_shows_every_time_that_it_has_and_says_which() {
    let (_cluster, folder) = recorded_twice().await;
    let store = folder.path();
    let at = |at: &str| {
        let args = ["status", "pods", "-n", "shop", "--from", store, "--at", at];
        Spy::alone().run(&args).transcript()
    };
    assert_snapshot!(at("2026-03-02T12:10:00Z"), @"
    NAME          READY   STATUS    RESTARTS   AGE     NODE   IP
    ● pod/web-1   1/1     Running   0          9m58s   -      -
    ! everything as it was recorded at 2026-03-02T12:10:00Z
    ");
    assert_snapshot!(at("2026-03-02T12:25:00Z"), @"
    NAME          READY   STATUS    RESTARTS   AGE     NODE   IP
    ● pod/web-1   1/1     Running   0          9m58s   -      -
    ! everything as it was at 2026-03-02T12:10:00Z: nobody recorded from then until 2026-03-02T12:40:00Z
    ");
    assert_snapshot!(at("2026-03-02T12:40:00Z"), @r#"
    NAME          READY   STATUS             RESTARTS   AGE   NODE   IP
    ✗ pod/web-1   0/1     ImagePullBackOff   0          39m   -      -
      └ app: no
    ! everything as it was recorded at 2026-03-02T12:40:00Z
    ! events in namespace "shop" with fields type=Warning: failed: error: nobody recorded events
    "#);
    assert_snapshot!(at("2026-03-02T13:00:00Z"), @r#"
    NAME          READY   STATUS             RESTARTS   AGE   NODE   IP
    ✗ pod/web-1   0/1     ImagePullBackOff   0          39m   -      -
      └ app: no
    ! everything as it was at 2026-03-02T12:40:00Z: the record ends then
    ! events in namespace "shop" with fields type=Warning: failed: error: nobody recorded events
    "#);
    assert_snapshot!(at("2026-03-02T11:00:00Z"), @"
    ! error: the record begins at 2026-03-02T12:10:00Z, after 2026-03-02T11:00:00Z
    ");
    let then = ["--from", store, "--at", "2026-03-02T12:10:00Z"];
    let later = [&["status", "cm/flags", "-n", "shop"], &then[..]].concat();
    assert_snapshot!(Spy::alone().run(&later).transcript(), @r#"
    ! everything as it was recorded at 2026-03-02T12:10:00Z
    ! error: configmaps/flags in namespace "shop" is not in the record of demo at that time
    ! hint: choose another time, or name its namespace with -n
    "#);
    let args = ["status", "deploy/web", "-n", "shop", "--from", store];
    assert_snapshot!(Spy::alone().run(&args).transcript(), @r#"
    NAME               READY   STATUS             RESTARTS   AGE   NODE   IP
    ✗ deployment/web   0/2     Failed             -          39m   -      -
    │ └ 0 of 2 pods ready: 1 ImagePullBackOff
    │ └ created 39m ago by kubectl-create
    └─✗ pod/web-1      0/1     ImagePullBackOff   0          39m   -      -
        └ app: no
    ! everything as it was recorded at 2026-03-02T12:40:00Z
    ! events in namespace "shop" with fields type=Warning: failed: error: nobody recorded events
    "#);
}

/// A transcript with its messages in the order of the alphabet. Files are read on several threads, so sources fail in any order.
fn with_sorted_messages(ran: &Ran) -> String {
    let text = ran.transcript();
    let (mut messages, mut lines): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with("! "));
    messages.sort_unstable();
    lines.append(&mut messages);
    lines.join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kind_that_nobody_recorded_is_named() {
    let (_cluster, folder) = recorded_twice().await;
    let store = folder.path();
    let args = [
        "trace",
        "deploy/web",
        "-n",
        "shop",
        "--from",
        store,
        "--at",
        "2026-03-02T12:10:00Z",
    ];
    assert_snapshot!(with_sorted_messages(&Spy::alone().run(&args)), @r#"
    deployment/web  -n shop  1 replica  RollingUpdate
    ~ not yet observed by the controller (generation 1, observed 0)
    ✓ +0s     spec change   gen 1 by kubectl-create: created, 9m59s ago
    ~ ...     observed      not yet by the controller (generation 1, observed 0)
    · ...     replicaset    to be created by the controller
    · ...     scheduled     0/1 pods
    · ...     images        0/1 pulled
    · ...     available     0/1 new
    · ...     complete
    ! events in namespace "shop" with fields type=Warning: failed: error: nobody recorded events
    ! everything as it was recorded at 2026-03-02T12:10:00Z
    ! horizontalpodautoscalers.autoscaling in namespace "shop": failed: error: nobody recorded horizontalpodautoscalers.autoscaling
    ! networkpolicies.networking.k8s.io in namespace "shop": failed: error: nobody recorded networkpolicies.networking.k8s.io
    ! poddisruptionbudgets.policy in namespace "shop": failed: error: nobody recorded poddisruptionbudgets.policy
    ! services in namespace "shop": failed: error: nobody recorded services
    "#);
    let args = ["status", "svc", "-n", "shop", "--from", store];
    assert_snapshot!(Spy::alone().run(&args).transcript(), @"
    ! everything as it was recorded at 2026-03-02T12:40:00Z
    ! error: nobody recorded services
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_server_has_forgotten_comes_from_the_record() {
    let (cluster, folder) = recorded_twice().await;
    let args = ["status", "pods", "--at", "2026-03-02T12:10:00Z"];
    let spy = || {
        folder
            .spy(&cluster)
            .var("KUBECTL_SPY_NOW", "2026-03-02T12:50:00Z")
    };
    assert_snapshot!(spy().run(&args).transcript(), @"
    NAME          READY   STATUS    RESTARTS   AGE     NODE   IP
    ● pod/web-1   1/1     Running   0          9m58s   -      -
    ! everything as it was recorded at 2026-03-02T12:10:00Z
    ");
    let args = [&args[..], &["--no-store"]].concat();
    assert_snapshot!(spy().run(&args).transcript(), @"
    ! error: the server has forgotten what was at 2026-03-02T12:10:00Z
    ! hint: etcd keeps five to ten minutes, as a rule: try 3m, or keep more with `kubectl spy record`
    ");
    let yaml = [
        "changes",
        "pod/web-1",
        "-o",
        "yaml",
        "--at",
        "2026-03-02T12:10:00Z",
    ];
    let ran = spy().run(&yaml);
    assert!(ran.stdout.contains("running:"), "{}", ran.transcript());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_change_before_a_failure_comes_from_the_record() {
    let cluster = Cluster::start().await;
    let folder = Folder::of(&cluster);
    let web = cluster.put(deployment("web", 1));
    cluster.put(owned_by(pod("web-1", &json!({"app": "web"})), &web));
    let run = record(&folder, &cluster, "2026-03-02T12:01:00Z", "web 2 Listed");
    let image = json!({"spec": {"template": {"spec": {"containers": [{"name": "app", "image": "app:2"}]}}}});
    cluster.edit("deployments", "web", &image);
    wait_for(&folder, "web 4 Modified");
    run.interrupt();
    cluster.report("pods", "web-1", &state(Some("ImagePullBackOff")));
    cluster.sandbox.compact(cluster.sandbox.revision());
    cluster.sandbox.expire_watch_window();
    let args = ["status", "deploy/web", "--once"];
    assert_snapshot!(folder.spy(&cluster).run(&args).transcript(), @"
    NAME               READY   STATUS             RESTARTS   AGE     NODE   IP
    ✗ deployment/web   0/1     Failed             -          4m59s   -      -
    │ └ 0 of 1 pods ready: 1 ImagePullBackOff
    │ └ changed 4m57s ago by kubectl-edit: containers[app].image: app:1 → app:2
    └─✗ pod/web-1      0/1     ImagePullBackOff   0          4m58s   -      -
        └ app: no
    ");
    let args = [&args[..], &["--no-store"]].concat();
    assert_snapshot!(folder.spy(&cluster).run(&args).transcript(), @"
    NAME               READY   STATUS             RESTARTS   AGE     NODE   IP
    ✗ deployment/web   0/1     Failed             -          4m59s   -      -
    │ └ 0 of 1 pods ready: 1 ImagePullBackOff
    │ └ last written 4m57s ago by kubectl-edit: containers[app].image (the old value is compacted)
    └─✗ pod/web-1      0/1     ImagePullBackOff   0          4m58s   -      -
        └ app: no
    ");
    // So does the story of its logs.
    let args = ["logs", "deploy/web", "--with", "all", "--since", "10m"];
    assert_snapshot!(folder.spy(&cluster).run(&args).transcript(), @r#"
    2026-03-02T12:00:03Z      change  deployment/web  kubectl-edit  containers[app].image: app:1 → app:2
    2026-03-02T12:00:04Z      status  pod/web-1  ImagePullBackOff 0/1 (was InProgress 0/1): app: no
    ! created in the window, before the record begins: deployment/web, pod/web-1
    ! error: container "app" in pod "web-1" has not started: the pod has no node
    "#);
    let args = [&args[..], &["--no-store"]].concat();
    assert_snapshot!(folder.spy(&cluster).run(&args).transcript(), @r#"
    ! created in the window, but the server has compacted that version: deployment/web, pod/web-1
    ! error: container "app" in pod "web-1" has not started: the pod has no node
    "#);
}
