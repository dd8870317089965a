//! Tests of `--at` of several clusters: each is as it was at that time, and says what is known of it.

use insta::assert_snapshot;
use serde_json::json;

use super::super::record::{Folder, wait_for};
use super::super::support::Spy;
use super::super::support::cluster::config_map;
use super::{Fleet, failing, ready};

/// A time at which both clusters had the Pod `a` alone.
const THEN: &str = "2026-03-02T12:01:00Z";

/// Two clusters whose Leases are renewed every ten seconds. Each has the Pod `a`, and later one that is `late`.
async fn aged() -> Fleet {
    let fleet = Fleet::start().await;
    fleet.put(&ready("a"));
    for cluster in &fleet.clusters {
        for _ in 0..9 {
            cluster.renew();
            cluster.tick(9);
        }
    }
    fleet.put(&ready("late"));
    for cluster in &fleet.clusters {
        cluster.renew();
    }
    fleet
}

/// Lets the second server forget everything but the present.
fn forget(fleet: &Fleet) {
    let sandbox = &fleet.clusters[1].sandbox;
    sandbox.compact(sandbox.revision());
    sandbox.expire_watch_window();
}

#[tokio::test(flavor = "multi_thread")]
async fn each_cluster_is_shown_as_it_was() {
    let fleet = aged().await;
    let now = fleet.run(&["status", "pods", "--once"]);
    assert!(now.stdout.contains("late"), "{}", now.transcript());
    let then = fleet.run(&["status", "pods", "--at", THEN]);
    assert_eq!(then.status.code(), Some(0), "{}", then.transcript());
    assert_snapshot!(then.stdout, @"
    2 Current
    CLUSTER   NAME      READY   STATUS    RESTARTS   AGE   NODE   IP
    eu        ● pod/a   1/1     Running   0          59s   -      -
    us        ● pod/a   1/1     Running   0          59s   -      -
    ");
    for name in ["prod-eu", "prod-us"] {
        let note = format!("{name}: everything as it was at {THEN}, or up to ");
        assert!(then.stderr.contains(&note), "{}", then.transcript());
    }
    let json = fleet.run(&["status", "pods", "-o", "json", "--at", THEN]);
    assert_eq!(json.stdout.lines().count(), 2, "{}", json.transcript());
    let future = fleet.run(&["status", "pods", "--at", "2026-03-02T13:00:00Z"]);
    assert!(
        future.stderr.contains("has not come yet"),
        "{}",
        future.transcript()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_has_forgotten_the_time_is_an_error_after_the_others() {
    let fleet = aged().await;
    forget(&fleet);
    let then = fleet.run(&["status", "pods", "--at", THEN]);
    assert_eq!(then.status.code(), Some(1), "{}", then.transcript());
    let rows = then.stdout.matches("pod/").count();
    assert_eq!(rows, 1, "{}", then.transcript());
    let error = format!("prod-us: error: the server has forgotten what was at {THEN}");
    assert!(then.stderr.contains(&error), "{}", then.transcript());
}

/// Two clusters like [`aged`], in the first of which the Pod `a` has failed since, and in the second `a` is gone.
async fn broken() -> Fleet {
    let fleet = aged().await;
    fleet.clusters[0].report("pods", "a", &failing("a")["status"]);
    fleet.clusters[1].delete("pods", "a");
    fleet
}

#[tokio::test(flavor = "multi_thread")]
async fn since_compares_each_cluster_with_itself() {
    let fleet = broken().await;
    let since = fleet.run(&["status", "pods", "--since", THEN]);
    assert_eq!(since.status.code(), Some(0), "{}", since.transcript());
    assert_snapshot!(since.stdout, @"
    eu ✗ pod/a  ImagePullBackOff 0/1 (was Running 1/1): app: no such image
    eu ● pod/late  Running 1/1 (new)
    us ● pod/late  Running 1/1 (new)
    us ∅ pod/a  gone (was Running 1/1)
    4 of 4 objects in another state
    ");
    for name in ["prod-eu", "prod-us"] {
        let note = format!("{name}: everything as it was at {THEN}, or up to ");
        assert_eq!(
            since.stderr.matches(&note).count(),
            1,
            "{}",
            since.transcript()
        );
    }
    let json = fleet.run(&["status", "pods", "--since", THEN, "-o", "json"]);
    let records = json.stdout.lines().map(|line| {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        let (object, was) = (&record["ref"], &record["was"]["word"]);
        format!(
            "{} {} {} {was}",
            object["cluster"], object["name"], record["word"]
        )
    });
    assert_snapshot!(records.collect::<Vec<_>>().join("\n"), @r#"
    "prod-eu" "a" "ImagePullBackOff" "Running"
    "prod-eu" "late" "Running" null
    "prod-us" "late" "Running" null
    "prod-us" "a" "NotFound" "Running"
    "#);
    // The Pod existed in one of them.
    let one = fleet.run(&["status", "pod/a", "--since", THEN]);
    assert_eq!(one.status.code(), Some(0), "{}", one.transcript());
    let none = fleet.run(&["status", "pod/none", "--since", THEN]);
    assert!(
        none.stderr.contains("\"none\" not found"),
        "{}",
        none.transcript()
    );
    assert_eq!(none.status.code(), Some(1), "{}", none.transcript());
}

#[tokio::test(flavor = "multi_thread")]
async fn since_compares_what_can_be_read_and_a_line_names_the_rest() {
    let mut fleet = broken().await;
    forget(&fleet);
    let since = fleet.run(&["status", "pods", "--since", THEN]);
    assert_eq!(since.status.code(), Some(1), "{}", since.transcript());
    assert!(
        since.stdout.contains("2 of 2 objects"),
        "{}",
        since.transcript()
    );
    let error = format!("prod-us: error: the server has forgotten what was at {THEN}");
    assert_eq!(
        since.stderr.matches(&error).count(),
        1,
        "{}",
        since.transcript()
    );
    fleet.clusters[1].sandbox.stop().await;
    let since = fleet.run(&["status", "pods", "--since", THEN]);
    assert_eq!(since.status.code(), Some(1), "{}", since.transcript());
    assert!(
        since.stdout.contains("2 of 2 objects"),
        "{}",
        since.transcript()
    );
    let lines = since.stderr.lines();
    let lines = lines.filter(|line| line.contains("prod-us"));
    assert_eq!(lines.count(), 1, "{}", since.transcript());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_has_forgotten_the_time_is_read_from_its_record() {
    let fleet = aged().await;
    let folder = Folder::of(&fleet.clusters[0]);
    let spy = |now: &str| -> Spy {
        let spy = fleet.spy().var("KUBECTL_SPY_STORE", folder.path());
        spy.var("KUBECTL_SPY_NOW", now)
    };
    let args = ["record", "pods", "--context", "prod-us"];
    let mut run = spy("2026-03-02T12:00:30Z").start(&args);
    run.until("recording");
    wait_for(&folder, "late 14 Listed");
    run.signal("KILL");
    fleet.put_in(1, config_map("flags", &json!({})));
    forget(&fleet);
    let args = ["status", "pods", "--contexts", "prod-*", "--at", THEN];
    let then = spy("2026-03-02T12:05:00Z").run(&args);
    assert_eq!(then.status.code(), Some(0), "{}", then.transcript());
    let hole =
        "prod-us: everything as it was at 2026-03-02T12:00:30Z: the record ends then".to_owned();
    let server = format!("prod-eu: everything as it was at {THEN}");
    for note in [hole, server] {
        assert!(then.stderr.contains(&note), "{}", then.transcript());
    }
    // By its clock, the recorder has listed the later Pod before that time.
    let late: Vec<&str> = then
        .stdout
        .lines()
        .filter(|row| row.contains("late"))
        .collect();
    assert!(
        late.len() == 1 && late[0].starts_with("us "),
        "{}",
        then.transcript()
    );
}

/// Two clusters whose `ConfigMap` is turned `on` after the time that the tests ask for.
async fn turned_on() -> Fleet {
    let fleet = Fleet::start().await;
    fleet.put(&config_map("flags", &json!({"mode": "off"})));
    for cluster in &fleet.clusters {
        for _ in 0..9 {
            cluster.renew();
            cluster.tick(9);
        }
    }
    fleet.put(&ready("late"));
    for cluster in &fleet.clusters {
        cluster.edit("configmaps", "flags", &json!({"data": {"mode": "on"}}));
        cluster.renew();
    }
    fleet
}

#[tokio::test(flavor = "multi_thread")]
async fn each_object_is_printed_as_it_was_in_each_cluster() {
    let fleet = turned_on().await;
    let changes = ["changes", "cm/flags", "--at", THEN];
    let then = fleet.run(&changes);
    assert_eq!(then.status.code(), Some(0), "{}", then.transcript());
    assert_snapshot!(then.stdout, @r#"
    2026-03-02T12:00:01Z eu CREATED configmap/flags  2  59s ago  by kubectl-create
    + .data.mode: "off"
    prod-eu: ── 1 earlier version, back to 2026-03-02T12:00:01Z ──
    2026-03-02T12:00:01Z us CREATED configmap/flags  2  59s ago  by kubectl-create
    + .data.mode: "off"
    prod-us: ── 1 earlier version, back to 2026-03-02T12:00:01Z ──
    "#);
    for name in ["prod-eu", "prod-us"] {
        let note = format!("{name}: everything as it was at {THEN}, or up to ");
        assert!(then.stderr.contains(&note), "{}", then.transcript());
    }
    let yaml = fleet.run(&[&changes[..], &["-o", "yaml"]].concat());
    assert_snapshot!(yaml.stdout, @r#"
    ---
    # 2026-03-02T12:01:00Z eu EXISTING configmap/flags  2
    apiVersion: v1
    data:
      mode: "off"
    kind: ConfigMap
    metadata:
      creationTimestamp: "2026-03-02T12:00:01Z"
      name: flags
      namespace: shop
      uid: a833bdcd-b6d1-4eb1-88dc-97e5aab5fe3d
    status: null
    ---
    # 2026-03-02T12:01:00Z us EXISTING configmap/flags  2
    apiVersion: v1
    data:
      mode: "off"
    kind: ConfigMap
    metadata:
      creationTimestamp: "2026-03-02T12:00:01Z"
      name: flags
      namespace: shop
      uid: a833bdcd-b6d1-4eb1-88dc-97e5aab5fe3d
    status: null
    "#);
    let json = fleet.run(&[&changes[..], &["-o", "json"]].concat());
    for name in ["prod-eu", "prod-us"] {
        let cluster = format!(r#""cluster":"{name}""#);
        let own = || json.stdout.lines().filter(|line| line.contains(&cluster));
        let seen = r#""seen":"2026-03-02T12:01:00.000Z""#;
        let baselines = own().filter(|line| line.contains("baseline") && line.contains(seen));
        assert_eq!(baselines.count(), 1, "{name}: {}", json.transcript());
        let later = own().filter(|line| line.contains(r#""on""#));
        assert_eq!(later.count(), 0, "{name}: {}", json.transcript());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_counts_from_the_time_that_is_shown_in_each_cluster() {
    let fleet = turned_on().await;
    for (since, count) in [("70s", 2), ("30s", 0)] {
        let window = ["changes", "--since", since, "--at", THEN, "-o", "short"];
        let window = fleet.run(&window);
        let created = window
            .stdout
            .matches("configmap/flags  kubectl-create  created");
        assert_eq!(created.count(), count, "{since}: {}", window.transcript());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_has_forgotten_an_object_is_an_error_or_is_read_from_its_record() {
    let fleet = turned_on().await;
    let folder = Folder::of(&fleet.clusters[0]);
    let spy = |now: &str| -> Spy {
        let spy = fleet.spy().var("KUBECTL_SPY_STORE", folder.path());
        spy.var("KUBECTL_SPY_NOW", now)
    };
    let mut run = spy("2026-03-02T12:04:00Z").start(&["record", "cm", "--context", "prod-us"]);
    run.until("recording");
    wait_for(&folder, "flags 14 Listed");
    run.signal("KILL");
    fleet.clusters[1].edit("configmaps", "flags", &json!({"data": {"mode": "later"}}));
    forget(&fleet);
    let changes = |at: &str, more: &[&str]| {
        let args = [
            "changes",
            "cm/flags",
            "--contexts",
            "prod-*",
            "-o",
            "yaml",
            "--at",
            at,
        ];
        spy("2026-03-02T12:05:00Z").run(&[&args[..], more].concat())
    };
    let early = changes(THEN, &[]);
    assert_eq!(early.status.code(), Some(1), "{}", early.transcript());
    assert!(
        early.stdout.contains("mode: \"off\""),
        "{}",
        early.transcript()
    );
    let error = format!("prod-us: error: the record begins at 2026-03-02T12:04:00Z, after {THEN}");
    assert!(early.stderr.contains(&error), "{}", early.transcript());
    let late = changes("2026-03-02T12:04:30Z", &[]);
    assert_eq!(late.status.code(), Some(0), "{}", late.transcript());
    assert_eq!(
        late.stdout.matches("mode: \"on\"").count(),
        2,
        "{}",
        late.transcript()
    );
    let hole = "prod-us: everything as it was at 2026-03-02T12:04:00Z: the record ends then";
    assert!(late.stderr.contains(hole), "{}", late.transcript());
    let without = changes("2026-03-02T12:04:30Z", &["--no-store"]);
    let error = "prod-us: error: the server has forgotten what was at 2026-03-02T12:04:30Z";
    assert!(without.stderr.contains(error), "{}", without.transcript());
}
