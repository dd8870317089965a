//! Tests of `logs --for` against the sandbox: the lines of a rollout until it is complete, has failed or takes too long.

use insta::assert_snapshot;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::last_lines::viewer;
use super::support::Running;
use super::support::cluster::{Cluster, deployment, owned_by, pod};

/// A program prints a line, this many seconds after noon.
pub(super) fn print(cluster: &Cluster, pod: &str, second: i64, line: &str) {
    let noon: Timestamp = "2026-03-02T12:00:00Z".parse().unwrap();
    let time = noon + SignedDuration::from_secs(second);
    cluster
        .sandbox
        .print(&format!("{pod}/app#0"), time, line.as_bytes());
}

/// The status of a Pod whose only container is in this state.
pub(super) fn status(name: &str, state: &Value, is_ready: bool) -> Value {
    let ready = if is_ready { "True" } else { "False" };
    json!({
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": ready}],
        "containerStatuses": [{
            "name": "app", "ready": is_ready, "restartCount": 0, "containerID": format!("{name}/app#0"),
            "state": state, "lastState": {},
        }],
    })
}

/// The status of the Deployment or of one of its `ReplicaSet`s while so many of its Pods are available.
pub(super) fn counts(available: u32) -> Value {
    let is_available = if available > 0 { "True" } else { "False" };
    json!({
        "observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "fullyLabeledReplicas": 1,
        "readyReplicas": available, "availableReplicas": available,
        "conditions": [
            {"type": "Available", "status": is_available},
            {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"},
        ],
    })
}

/// A Deployment in a rollout: `web-old-a` is still there, and `web-new-b` runs but is not ready.
pub(super) async fn rollout() -> Cluster {
    let cluster = Cluster::start().await;
    let mut web = deployment("web", 1);
    web["spec"]["template"]["spec"]["containers"][0]["image"] = "app:2".into();
    web["status"] = counts(0);
    let web = cluster.put(web);
    for (set, pod_name, image, is_ready) in [
        ("web-old", "web-old-a", "app:1", true),
        ("web-new", "web-new-b", "app:2", false),
    ] {
        let mut replica_set = web.clone();
        replica_set["kind"] = "ReplicaSet".into();
        replica_set["metadata"] =
            json!({"name": set, "namespace": "shop", "labels": {"app": "web"}});
        replica_set["spec"]["template"]["spec"]["containers"][0]["image"] = image.into();
        replica_set["status"] = counts(u32::from(is_ready));
        let replica_set = cluster.put(owned_by(replica_set, &web));
        let mut pod = pod(pod_name, &json!({"app": "web"}));
        pod["spec"]["nodeName"] = "worker-1".into();
        pod["status"] = status(pod_name, &json!({"running": {}}), is_ready);
        cluster.put(owned_by(pod, &replica_set));
    }
    print(&cluster, "web-old-a", 0, "old 1");
    print(&cluster, "web-new-b", 1, "new 1");
    cluster
}

/// The new Pod prints a last line and becomes ready, and its controllers report that.
pub(super) fn finish(cluster: &Cluster) {
    print(cluster, "web-new-b", 2, "listening");
    cluster.delete("pods", "web-old-a");
    cluster.delete("replicasets", "web-old");
    let ready = status("web-new-b", &json!({"running": {}}), true);
    cluster.report("pods", "web-new-b", &ready);
    cluster.report("replicasets", "web-new", &counts(1));
    cluster.report("deployments", "web", &counts(1));
}

fn start(cluster: &Cluster, args: &[&str]) -> Running {
    cluster
        .spy()
        .start(&[&["logs", "deploy/web", "--for=current"], args].concat())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lines_of_a_rollout_end_when_it_is_complete() {
    let cluster = rollout().await;
    let mut run = start(&cluster, &["-q"]);
    run.until("new 1");
    finish(&cluster);
    let ran = run.finish();
    assert_eq!(ran.status.code(), Some(0));
    assert_snapshot!(ran.transcript(), @"
    a old 1
    b new 1
    b listening
    ! deployment.apps/web condition met
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_pods_of_the_current_revision_are_shown() {
    let cluster = rollout().await;
    let mut run = start(&cluster, &["--current-revision", "-q"]);
    run.until("new 1");
    print(&cluster, "web-old-a", 1, "old 2");
    finish(&cluster);
    assert_snapshot!(run.finish().transcript(), @"
    new 1
    listening
    ! deployment.apps/web condition met
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pods_that_were_current_are_shown_to_their_end() {
    let cluster = rollout().await;
    let mut run = start(&cluster, &["--current-revision"]);
    run.until("new 1");
    let image = json!([{"name": "app", "image": "app:3"}]);
    let template = json!({"template": {"spec": {"containers": image}}});
    cluster.edit("deployments", "web", &json!({"spec": template}));
    print(&cluster, "web-new-b", 2, "no longer new");
    run.until("no longer new");
    run.interrupt();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_lines_of_a_failure_come_before_its_error() {
    let cluster = rollout().await;
    let mut run = start(&cluster, &["--current-revision", "--allow-restarts=1"]);
    run.until("new 1");
    print(&cluster, "web-new-b", 2, "panic: no such host");
    let end =
        json!({"terminated": {"exitCode": 2, "reason": "Error", "containerID": "web-new-b/app#0"}});
    let mut crashed = status(
        "web-new-b",
        &json!({"waiting": {"reason": "CrashLoopBackOff"}}),
        false,
    );
    crashed["containerStatuses"][0]["restartCount"] = 1.into();
    crashed["containerStatuses"][0]["lastState"] = end;
    cluster.report("pods", "web-new-b", &crashed);
    let ran = run.finish();
    assert_eq!(ran.status.code(), Some(2));
    assert_snapshot!(ran.transcript(), @"
    new 1
    panic: no such host
    ! + pod/web-new-b app
    ! - pod/web-new-b app: exit 2
    ! error: deployment.apps/web has failed: 0 of 1 pods ready: 1 CrashLoopBackOff: pod/web-new-b: app: CrashLoopBackOff, exit 2, 1 restart
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_goal_that_is_not_met_in_time_is_an_error() {
    let cluster = rollout().await;
    for limit in ["--timeout=3s", "--timeout=0"] {
        let mut run = start(&cluster, &["--current-revision", "-q", limit]);
        run.until("new 1");
        let ran = run.finish();
        assert_eq!(ran.status.code(), Some(3), "{limit} {}", ran.transcript());
        let words = if limit == "--timeout=0" {
            "condition not met for"
        } else {
            "timed out waiting for the condition on"
        };
        let expect = format!("new 1\n! error: {words} deployments/web");
        assert!(
            ran.transcript().starts_with(&expect),
            "{}",
            ran.transcript()
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_does_not_exist_is_not_found_at_one_check() {
    let cluster = Cluster::start().await;
    let ran = start(&cluster, &["--timeout=0"]).finish();
    assert_eq!(ran.status.code(), Some(1));
    assert_snapshot!(ran.transcript(), @r#"
    ! Error from server (NotFound): deployments.apps "web" not found
    ! hint: to wait until it is created, use a longer --timeout
    "#);
}

/// The goal is about the objects. What cannot be read of the logs is said.
#[tokio::test(flavor = "multi_thread")]
async fn a_goal_is_met_without_the_right_to_logs() {
    let cluster = rollout().await;
    let rights = viewer(&[("list", "*"), ("watch", "*")]);
    cluster.sandbox.set_users(rights);
    let mut run = start(&cluster, &["--current-revision"]);
    run.until("(Forbidden)");
    finish(&cluster);
    let ran = run.finish();
    assert_eq!(ran.status.code(), Some(0), "{}", ran.transcript());
    assert_snapshot!(ran.transcript(), @r#"
    ! ! pod/web-new-b app: Error from server (Forbidden): pods "web-new-b" is forbidden: User "viewer" cannot get resource "pods/log" in API group "" in the namespace "shop"
    ! deployment.apps/web condition met
    "#);
}
