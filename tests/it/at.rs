//! Tests of `--at`: everything as it was at a time, from the memory of the sandbox.

use insta::assert_snapshot;
use kubectl_spy::sandbox::{Rule, User};
use serde_json::{Value, json};

use super::support::cluster::{Cluster, config_map, deployment, owned_by, pod};

/// The state of a Pod whose container runs, or waits for this reason.
fn state(waits_for: Option<&str>) -> Value {
    let state = match waits_for {
        Some(reason) => json!({"waiting": {"reason": reason, "message": "no"}}),
        None => json!({"running": {"startedAt": "2026-03-02T12:00:01Z"}}),
    };
    let ready = waits_for.is_none();
    let condition = if ready { "True" } else { "False" };
    json!({"status": {
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": condition}],
        "containerStatuses": [{"name": "app", "ready": ready, "restartCount": 0, "state": state}],
    }})
}

/// A Pod that runs, whose container then cannot be pulled. The Leases are renewed every ten seconds.
async fn broken_since_a_minute() -> Cluster {
    let cluster = Cluster::start().await;
    let web = cluster.put(deployment("web", 1));
    cluster.put(owned_by(pod("web-1", &json!({"app": "web"})), &web));
    cluster.report("pods", "web-1", &state(None)["status"]);
    cluster.put(config_map("flags", &json!({"mode": "off"})));
    for _ in 0..9 {
        cluster.renew();
        cluster.tick(9);
    }
    cluster.report("pods", "web-1", &state(Some("ImagePullBackOff"))["status"]);
    cluster.edit("configmaps", "flags", &json!({"data": {"mode": "on"}}));
    cluster.put(pod("late", &json!({})));
    cluster.renew();
    cluster
}

/// A time at which the Pod ran.
const THEN: &str = "2026-03-02T12:01:00Z";

#[tokio::test(flavor = "multi_thread")]
async fn the_state_then_is_shown_with_its_ages() {
    let cluster = broken_since_a_minute().await;
    let now = cluster.spy().run(&["status", "pods", "--once"]);
    assert!(now.stdout.contains("ImagePullBackOff"), "{}", now.stdout);
    let then = cluster.spy().run(&["status", "pods", "--at", THEN]);
    assert_snapshot!(then.transcript(), @"
    NAME          READY   STATUS    RESTARTS   AGE   NODE   IP
    ● pod/web-1   1/1     Running   0          58s   -      -
    ! everything as it was at 2026-03-02T12:01:00Z, or up to 5s before
    ");
    let then = cluster.spy().run(&["trace", "deploy/web", "--at", THEN]);
    assert_snapshot!(then.transcript(), @"
    deployment/web  -n shop  1 replica  RollingUpdate
    ~ not yet observed by the controller (generation 1, observed 0)
    ✓ +0s     spec change   gen 1 by kubectl-create: created, 59s ago
    ~ ...     observed      not yet by the controller (generation 1, observed 0)
    · ...     replicaset    to be created by the controller
    · ...     scheduled     0/1 pods
    · ...     images        0/1 pulled
    · ...     available     0/1 new
    · ...     complete
    └─ in front
      └─ no Service selects its pods
    ! everything as it was at 2026-03-02T12:01:00Z, or up to 5s before
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_is_printed_as_it_was() {
    let cluster = broken_since_a_minute().await;
    let yaml = ["changes", "cm/flags", "-o", "yaml", "--at"];
    for (at, mode) in [(THEN, "mode: \"off\""), ("2s", "mode: \"on\"")] {
        let ran = cluster.spy().run(&[&yaml[..], &[at]].concat());
        assert!(ran.stdout.contains(mode), "{at}: {}", ran.transcript());
    }
    let before = ["changes", "cm/flags", "--at", THEN];
    assert_snapshot!(cluster.spy().run(&before).transcript(), @r#"
    2026-03-02T12:00:04Z CREATED configmap/flags  5  56s ago  by kubectl-create
    + .data.mode: "off"
    ── 1 earlier version, back to 2026-03-02T12:00:04Z ──
    ! everything as it was at 2026-03-02T12:01:00Z, or up to 5s before
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_time_that_the_server_has_forgotten_is_an_error() {
    let cluster = broken_since_a_minute().await;
    let status = |at: &str| {
        cluster
            .spy()
            .run(&["status", "pods", "--at", at])
            .transcript()
    };
    assert_snapshot!(status("2026-03-02T11:00:00Z"), @"
    ! error: the server has forgotten what was at 2026-03-02T11:00:00Z
    ! hint: etcd keeps five to ten minutes, as a rule: try 3m, or keep more with `kubectl spy record`
    ");
    cluster.sandbox.compact(cluster.sandbox.revision());
    assert_snapshot!(status(THEN), @"
    ! error: the server has forgotten what was at 2026-03-02T12:01:00Z
    ! hint: etcd keeps five to ten minutes, as a rule: try 3m, or keep more with `kubectl spy record`
    ");
    let ran = cluster.spy().run(&["status", "pod/none", "--at", "2s"]);
    assert_snapshot!(ran.transcript(), @r#"
    ! everything as it was at 2026-03-02T12:04:58Z, or up to 3m20s before
    ! Error from server (NotFound): pods "none" not found
    "#);
    let json = ["status", "pods", "--at", THEN, "--for=current"];
    assert_snapshot!(cluster.spy().run(&json).transcript(), @"
    ! error: --at and --for cannot be used together
    ! See 'kubectl spy status --help' for usage.
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_tells_no_time_is_an_error_with_the_reason() {
    let cluster = broken_since_a_minute().await;
    let status = |at: &str| {
        let ran = cluster.spy().run(&["status", "pods", "--at", at]);
        ran.transcript()
    };
    assert_snapshot!(status("2026-03-02T12:06:00Z"), @"
    ! error: 2026-03-02T12:06:00Z has not come yet: it is 2026-03-02T12:05:00Z
    ! See 'kubectl spy status -h' for help and examples
    ");
    let reader = User {
        name: "jane".to_owned(),
        token: String::new(),
        rules: vec![Rule::allow("*", "pods")],
    };
    cluster.sandbox.set_users(vec![reader]);
    assert_snapshot!(status(THEN), @r#"
    ! Error from server (Forbidden): leases.coordination.k8s.io is forbidden: User "jane" cannot list resource "leases" in API group "coordination.k8s.io" in the namespace "kube-system"
    ! hint: the past needs the right to list leases in the namespace kube-system: their renewals have times
    "#);
}

/// In the order of their rows then, and not in that of their uids.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_gone_has_the_order_of_its_rows() {
    let cluster = broken_since_a_minute().await;
    let names = ["gone-a", "gone-b", "gone-c", "gone-d", "gone-e", "gone-f"];
    for name in names {
        cluster.put(pod(name, &json!({})));
        cluster.report("pods", name, &state(None)["status"]);
    }
    cluster.renew();
    cluster.tick(60);
    for name in names {
        cluster.delete("pods", name);
    }
    let spy = cluster.spy().var("KUBECTL_SPY_NOW", "2026-03-02T12:06:00Z");
    let ran = spy.run(&["status", "pods", "--since", "20s"]);
    let lines = ran.stdout.lines();
    let gone: Vec<&str> = lines.filter(|line| line.starts_with('∅')).collect();
    let expect = names.map(|name| format!("∅ pod/{name}  gone (was Running 1/1)"));
    assert_eq!(gone, expect, "{}", ran.transcript());
}

#[tokio::test(flavor = "multi_thread")]
async fn since_shows_what_was_different_then() {
    let cluster = broken_since_a_minute().await;
    cluster.put(pod("gone", &json!({})));
    cluster.report("pods", "gone", &state(None)["status"]);
    cluster.renew();
    cluster.tick(60);
    cluster.delete("pods", "gone");
    let status = |args: &[&str]| {
        let spy = cluster.spy().var("KUBECTL_SPY_NOW", "2026-03-02T12:06:00Z");
        spy.run(&[&["status"], args].concat()).transcript()
    };
    assert_snapshot!(status(&["pods", "--since", THEN]), @"
    ✗ pod/web-1  ImagePullBackOff 0/1 (was Running 1/1): app: no
    ~ pod/late  InProgress 0/1 (new)
    2 of 2 objects in another state
    ! everything as it was at 2026-03-02T12:01:00Z, or up to 5s before
    ");
    assert_snapshot!(status(&["pods", "--since", "20s"]), @"
    ∅ pod/gone  gone (was Running 1/1)
    1 of 3 objects in another state
    ! everything as it was at 2026-03-02T12:05:40Z, or up to 3m59s before
    ");
    assert_snapshot!(status(&["pod/gone", "--since", "20s", "-o", "json"]), @r#"
    {"v":1,"time":"2026-03-02T12:06:00.000Z","ref":{"cluster":"demo","apiVersion":"v1","kind":"Pod","namespace":"shop","name":"gone","uid":"104a64fb-4fa6-448b-a8f3-5694b4165947"},"owner":null,"depth":0,"status":"NotFound","message":"Resource not found","conditions":[],"word":"NotFound","causes":[],"was":{"status":"Current","word":"Running","ready":"1/1"}}
    ! everything as it was at 2026-03-02T12:05:40Z, or up to 3m59s before
    "#);
    let schema = super::schema::Schema::of("status");
    let records = cluster
        .spy()
        .run(&["status", "pods", "--since", THEN, "-o", "json"]);
    assert!(
        records.stdout.contains(r#""was":null"#),
        "{}",
        records.transcript()
    );
    for line in records.stdout.lines() {
        schema.check(line);
    }
    assert_snapshot!(status(&["deploy/web", "cm/flags", "--since", THEN]), @"
    ✗ deployment/web  Failed 0/1 (was InProgress 0/1): 0 of 1 pods ready: 1 ImagePullBackOff
    ✗ pod/web-1  ImagePullBackOff 0/1 (was Running 1/1): app: no
    2 of 3 objects in another state
    ! everything as it was at 2026-03-02T12:01:00Z, or up to 5s before
    ");
    assert_snapshot!(status(&["pod/none", "--since", THEN]), @r#"
    ! everything as it was at 2026-03-02T12:01:00Z, or up to 5s before
    ! Error from server (NotFound): pods "none" not found
    "#);
    assert_snapshot!(status(&["pods", "--since", THEN, "-o", "yaml"]), @"
    ! error: --since prints text or JSON: use -o json
    ! See 'kubectl spy status -h' for help and examples
    ");
}

/// A `ReplicaSet` of this revision that wants and has no Pods, beside one for the current template.
fn replica_set(revision: u32, replicas: u32) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {
            "name": format!("web-{revision}"), "namespace": "shop", "labels": {"app": "web"},
            "annotations": {"deployment.kubernetes.io/revision": revision.to_string()},
        },
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "app", "image": format!("app:{revision}")}]},
            },
        },
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_replica_sets_are_no_objects_in_the_same_state() {
    let cluster = Cluster::start().await;
    for _ in 0..9 {
        cluster.renew();
        cluster.tick(9);
    }
    let web = cluster.put(deployment("web", 0));
    for revision in [1, 2, 3] {
        cluster.put(owned_by(replica_set(revision, 0), &web));
    }
    let status = |args: &[&str]| {
        let all = [
            &["status", "deploy/web", "--since", "2026-03-02T12:01:00Z"],
            args,
        ]
        .concat();
        cluster.spy().run(&all)
    };
    assert_snapshot!(status(&[]).transcript(), @"
    ~ deployment/web  InProgress 0/0 (new): scaled to 0
    ● replicaset/web-1  Current 0/0 (new)
    2 of 2 objects in another state
    + 2 idle replicasets in another state (--show-idle)
    ! everything as it was at 2026-03-02T12:01:00Z, or up to 9s before
    ");
    assert_snapshot!(status(&["--show-idle"]).transcript(), @"
    ~ deployment/web  InProgress 0/0 (new): scaled to 0
    ● replicaset/web-3  Current 0/0 (new)
    ● replicaset/web-2  Current 0/0 (new)
    ● replicaset/web-1  Current 0/0 (new)
    4 of 4 objects in another state
    ! everything as it was at 2026-03-02T12:01:00Z, or up to 9s before
    ");
    let records = status(&["-o", "json"]).stdout;
    assert_eq!(records.lines().count(), 2, "{records}");
}
