//! Tests of `logs` of several clusters.

use insta::assert_snapshot;
use jiff::Timestamp;
use kubectl_spy::sandbox::{Rule, User};
use serde_json::{Value, json};

use super::super::support::cluster::{config_map, pod};
use super::Fleet;

const ARGS: [&str; 4] = ["logs", "pods", "--contexts", "prod-*"];

/// A Pod that runs and uses the `ConfigMap` `flags`. Its instance is `NAME/app#0`.
fn running(name: &str) -> Value {
    let mut running = pod(name, &json!({"app": "web"}));
    running["spec"] = json!({"nodeName": "worker-1", "containers": [{
        "name": "app", "image": "app:1", "envFrom": [{"configMapRef": {"name": "flags"}}],
    }]});
    running["status"] = json!({"phase": "Running", "containerStatuses": [{
        "name": "app", "restartCount": 0, "containerID": format!("{name}/app#0"), "ready": true,
        "state": {"running": {"startedAt": "2026-03-02T12:00:00Z"}}, "lastState": {},
    }]});
    running
}

/// A Pod, such as `eu web-x`, prints a line so many seconds after noon.
fn print(fleet: &Fleet, pod: &str, second: i64, line: &str) {
    let (cluster, name) = pod.split_once(' ').unwrap();
    let noon: Timestamp = "2026-03-02T12:00:00Z".parse().unwrap();
    let at = noon + jiff::SignedDuration::from_secs(second);
    let sandbox = &fleet.clusters[usize::from(cluster == "us")].sandbox;
    sandbox.print(&format!("{name}/app#0"), at, line.as_bytes());
}

/// The Pod `web-x` in both clusters, each with two lines, and `api-y` in the second one.
async fn fleet() -> Fleet {
    let fleet = Fleet::start().await;
    fleet.put(&running("web-x"));
    fleet.put_in(1, running("api-y"));
    print(&fleet, "eu web-x", 1, "first");
    print(&fleet, "us web-x", 2, "second");
    print(&fleet, "eu web-x", 3, "third");
    print(&fleet, "us api-y", 4, "fourth");
    fleet
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_of_all_clusters_come_in_the_order_of_their_times() {
    let fleet = fleet().await;
    let ran = fleet.run(&["logs", "pods"]);
    assert!(ran.status.success(), "{}", ran.transcript());
    assert_snapshot!(ran.transcript(), @"
    eu x first
    us x second
    eu x third
    us y fourth
    ");
    let ran = fleet.run(&["logs", "pods", "--prefix", "-o", "raw"]);
    assert_snapshot!(ran.transcript(), @"
    eu [pod/web-x/app] first
    us [pod/web-x/app] second
    eu [pod/web-x/app] third
    us [pod/api-y/app] fourth
    ");
    let ran = fleet.run(&["logs", "pods", "-o", "json"]);
    let records = ran.stdout.lines();
    let records = records.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let lines = records.filter(|record| record["type"] == "log");
    let clusters: Vec<Value> = lines.map(|record| record["cluster"].clone()).collect();
    assert_eq!(clusters, ["prod-eu", "prod-us", "prod-eu", "prod-us"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_is_an_error_only_if_no_cluster_has_it() {
    let fleet = fleet().await;
    let ran = fleet.run(&["logs", "pod/api-y"]);
    assert!(ran.status.success(), "{}", ran.transcript());
    assert_snapshot!(ran.transcript(), @"us fourth");
    let ran = fleet.run(&["logs", "pod/none"]);
    assert_eq!(ran.status.code(), Some(1));
    assert_snapshot!(ran.transcript(), @r#"
    ! prod-eu: Error from server (NotFound): pods "none" not found
    ! prod-us: Error from server (NotFound): pods "none" not found
    ! hint: to wait until it is created, add --follow
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_logs_of_a_cluster_that_is_away_come_when_it_is_there() {
    let mut fleet = fleet().await;
    fleet.clusters[1].sandbox.stop().await;
    // Without --follow, the others are shown, and the error follows.
    let ran = fleet.run(&["logs", "pods"]);
    assert_eq!(ran.status.code(), Some(1), "{}", ran.transcript());
    assert_eq!(ran.stdout, "eu first\neu third\n");
    let last = ran.stderr.lines().last().unwrap_or_default();
    let error = "prod-us: The connection to the server";
    assert!(last.starts_with(error), "{}", ran.transcript());
    let mut run = fleet.spy().start(&[&ARGS[..], &["-f"]].concat());
    run.until_each(&["prod-us: retrying: ", "third"]);
    print(&fleet, "eu web-x", 5, "fifth");
    run.until("fifth");
    fleet.clusters[1].sandbox.restart().await.unwrap();
    run.until_each(&["us x second", "us y fourth"]);
    print(&fleet, "us web-x", 6, "sixth");
    run.until("us x sixth");
    let ran = run.interrupt();
    assert!(
        ran.stderr.contains("+ prod-us: pod/web-x app"),
        "{}",
        ran.transcript()
    );
}

/// One server goes and comes back while it is followed. No line is lost, none is printed twice.
#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_is_lost_goes_on_where_it_was() {
    let mut fleet = fleet().await;
    let mut run = fleet.spy().start(&[&ARGS[..], &["-f"]].concat());
    run.until_each(&["us x second", "us y fourth", "eu x third"]);
    fleet.clusters[1].sandbox.stop().await;
    run.until("prod-us: retrying: ");
    print(&fleet, "eu web-x", 5, "fifth");
    run.until("eu x fifth");
    print(&fleet, "us web-x", 6, "sixth");
    fleet.clusters[1].sandbox.restart().await.unwrap();
    run.until("us x sixth");
    let ran = run.interrupt();
    let mut lines: Vec<&str> = ran.stdout.lines().collect();
    lines.sort_unstable();
    let expected = [
        "eu x fifth",
        "eu x first",
        "eu x third",
        "us x second",
        "us x sixth",
        "us y fourth",
    ];
    assert_eq!(lines, expected, "{}", ran.transcript());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_forbids_logs_is_named() {
    let fleet = fleet().await;
    let reader = User {
        name: "reader".to_owned(),
        token: String::new(),
        rules: vec![Rule::allow("*", "pods")],
    };
    fleet.clusters[1].sandbox.set_users(vec![reader]);
    let ran = fleet.run(&["logs", "pods"]);
    assert_eq!(ran.status.code(), Some(1));
    assert_snapshot!(ran.transcript(), @r#"
    eu x first
    eu x third
    ! ! prod-us: pod/api-y app: Error from server (Forbidden): pods "api-y" is forbidden: User "reader" cannot get resource "pods/log" in API group "" in the namespace "shop"
    ! error: 2 of 3 logs could not be read
    ! hint: try `kubectl auth can-i get pods/log -n shop --context prod-us`
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happened_in_each_cluster_stands_between_the_lines() {
    let fleet = Fleet::start().await;
    fleet.put(&config_map("flags", &json!({"mode": "a"})));
    fleet.put(&running("web-x"));
    print(&fleet, "eu web-x", 6, "listening");
    print(&fleet, "us web-x", 7, "listening");
    fleet.clusters[1].edit("configmaps", "flags", &json!({"data": {"mode": "b"}}));
    print(&fleet, "us web-x", 9, "panic");
    let ran = fleet.run(&["logs", "pods", "--with", "changes", "--since", "10m"]);
    assert_snapshot!(ran.transcript(), @"
    2026-03-02T12:00:01Z      eu change  configmap/flags  kubectl-create  created
    2026-03-02T12:00:01Z      us change  configmap/flags  kubectl-create  created
    2026-03-02T12:00:02Z      eu change  pod/web-x  kubectl-create  created: app:1
    2026-03-02T12:00:02Z      us change  pod/web-x  kubectl-create  created: app:1
    2026-03-02T12:00:03Z      us change  configmap/flags  kubectl-edit  mode: a → b
    2026-03-02T12:00:06.000Z  eu x listening
    2026-03-02T12:00:07.000Z  us x listening
    2026-03-02T12:00:09.000Z  us x panic
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_shows_the_lines_of_all_clusters() {
    let fleet = fleet().await;
    let wait = "--for=jsonpath={.status.phase}=Succeeded";
    let ran = fleet.run(&["status", "pods", wait, "--timeout=3s", "--logs=all"]);
    assert_eq!(ran.status.code(), Some(3), "{}", ran.transcript());
    for line in [
        "+ prod-eu: pod/web-x app\n",
        "eu x first\n",
        "us x second\n",
        "eu x third\n",
        "us y fourth\n",
    ] {
        assert_eq!(ran.stderr.matches(line).count(), 1, "{}", ran.stderr);
    }
}
