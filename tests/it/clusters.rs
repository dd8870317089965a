//! Tests of several clusters in one view: two embedded servers and one kubeconfig.

mod forbidden;
mod logs;
mod past;
mod recording;
mod serving;
mod trace;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use insta::assert_snapshot;
use kubectl_spy::sandbox::{Effect, Fault, Rule, User, Verb, Writer};
use serde_json::{Value, json};

use super::support::Spy;
use super::support::cluster::{Cluster, config_map, deployment, pod};
use super::support::fleet::{Fleet, kubeconfig};

/// A Pod that has failed to get its image.
fn failing(name: &str) -> Value {
    let mut failing = pod(name, &json!({}));
    failing["status"] = json!({"phase": "Pending", "containerStatuses": [{
        "name": "app", "ready": false, "restartCount": 0,
        "state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}},
    }]});
    failing
}

/// A Pod that is ready.
fn ready(name: &str) -> Value {
    let mut ready = pod(name, &json!({}));
    ready["status"] = json!({
        "phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
        "containerStatuses": [{
            "name": "app", "ready": true, "restartCount": 0, "state": {"running": {}},
        }],
    });
    ready
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_all_clusters_are_merged_worst_first() {
    let fleet = Fleet::start().await;
    fleet.put(&ready("a"));
    fleet.put_in(0, ready("b"));
    fleet.put_in(1, failing("c"));
    let ran = fleet.run(&["status", "pods", "--once"]);
    assert!(ran.status.success());
    assert_snapshot!(ran.transcript(), @"
    3 Current, 1 Failed
    CLUSTER   NAME      READY   STATUS             RESTARTS   AGE     NODE   IP
    us        ✗ pod/c   0/1     ImagePullBackOff   0          4m58s   -      -
                └ app: no such image
    eu        ● pod/a   1/1     Running            0          4m59s   -      -
    us        ● pod/a   1/1     Running            0          4m59s   -      -
    eu        ● pod/b   1/1     Running            0          4m58s   -      -
    ");
    // A name is looked for in each cluster, and named objects are sorted, too.
    let ran = fleet.run(&["status", "pod/a", "pod/c", "--once"]);
    assert!(ran.status.success(), "c is in one of the clusters");
    assert_snapshot!(ran.transcript(), @"
    2 Current, 1 NotFound, 1 Failed
    CLUSTER   NAME      READY   STATUS             RESTARTS   AGE     NODE   IP
    us        ✗ pod/c   0/1     ImagePullBackOff   0          4m58s   -      -
                └ app: no such image
    eu        ∅ pod/c   -       NotFound           -          -       -      -
    eu        ● pod/a   1/1     Running            0          4m59s   -      -
    us        ● pod/a   1/1     Running            0          4m59s   -      -
    ");
    let ran = fleet.run(&["status", "pods", "--once", "--unhealthy"]);
    assert_snapshot!(ran.transcript(), @"
    3 Current, 1 Failed
    CLUSTER   NAME      READY   STATUS             RESTARTS   AGE     NODE   IP
    us        ✗ pod/c   0/1     ImagePullBackOff   0          4m58s   -      -
                └ app: no such image
    ");
    let ran = fleet.run(&["status", "pods", "--once", "--sort-by", ".metadata.name"]);
    let names: Vec<&str> = ran.stdout.lines().skip(2).collect();
    assert_eq!(names.len(), 5, "{}", ran.stdout);
    let of = |at: usize| names[at].split_whitespace().take(3).collect::<Vec<_>>();
    assert_eq!(
        [of(0), of(1)].concat(),
        ["eu", "●", "pod/a", "us", "●", "pod/a"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn records_and_documents_name_their_cluster() {
    let fleet = Fleet::start().await;
    fleet.put(&config_map("flags", &json!({"mode": "a"})));
    let ran = fleet.run(&["status", "cm", "--once", "-o", "json"]);
    let records = ran.stdout.lines();
    let records = records.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let clusters: Vec<Value> = records
        .map(|record| record["ref"]["cluster"].clone())
        .collect();
    assert_eq!(clusters, ["prod-eu", "prod-us"]);
    let ran = fleet.run(&["status", "cm", "--once", "-o", "yaml"]);
    let marks: Vec<&str> = ran
        .stdout
        .lines()
        .filter(|line| line.starts_with("# ") || *line == "---")
        .collect();
    assert_eq!(marks, ["# cluster: prod-eu", "---", "# cluster: prod-us"]);
    let mut run = fleet
        .spy()
        .start(&["status", "cm", "--context", "prod-us,prod-eu"]);
    run.until_each(&[
        "prod-us configmap/flags Current",
        "prod-eu configmap/flags Current",
    ]);
    fleet.clusters[1].delete("configmaps", "flags");
    run.until("prod-us configmap/flags");
    run.interrupt();
}

/// One server goes and comes back. The other cluster stays live.
#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_is_lost_is_one_line_until_it_is_back() {
    let mut fleet = Fleet::start().await;
    fleet.put(&ready("a"));
    let mut run = fleet
        .spy()
        .start(&["status", "pods,cm", "--contexts", "prod-*"]);
    run.until_each(&["prod-eu pod/a", "prod-us pod/a"]);
    fleet.clusters[1].sandbox.stop().await;
    run.until("prod-us: retrying: ");
    fleet.put_in(0, ready("b"));
    run.until("prod-eu pod/b");
    fleet.clusters[1].sandbox.restart().await.unwrap();
    fleet.put_in(1, ready("c"));
    run.until_each(&["prod-us pod/c", "prod-us: live"]);
    let ran = run.interrupt();
    let notes = |state: &str| ran.stderr.matches(state).count();
    assert_eq!(notes("prod-us: retrying"), 1, "{}", ran.stderr);
    assert_eq!(notes("prod-us: live"), 1, "{}", ran.stderr);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn the_footer_counts_the_live_clusters() {
    let mut fleet = Fleet::start().await;
    fleet.put(&ready("a"));
    let args = ["status", "pods", "--contexts", "prod-*"];
    let mut terminal = fleet.spy().on_terminal((100, 20), &args);
    terminal.until_shown("both clusters", |shown| {
        shown.contains("● live 2 of 2 clusters") && shown.matches("pod/a").count() == 2
    });
    fleet.clusters[1].sandbox.stop().await;
    terminal.until_shown("the lost cluster", |shown| {
        shown.contains("✗ prod-us: connection refused (retrying, ")
            && shown.contains("● live 1 of 2 clusters")
    });
    fleet.clusters[1].sandbox.restart().await.unwrap();
    terminal.until_shown("both clusters again", |shown| {
        shown.contains("● live 2 of 2 clusters") && !shown.contains("retrying")
    });
    terminal.type_in(b"q");
    assert!(terminal.finish().success());
}

/// A view of every kind needs the types of each cluster. A cluster without them joins when its server is there.
#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_does_not_answer_joins_later() {
    let mut fleet = Fleet::start().await;
    fleet.put(&failing("sick"));
    fleet.clusters[1].sandbox.stop().await;
    let args = ["status", "--unhealthy", "--all-contexts"];
    let mut run = fleet.spy().start(&args);
    run.until_each(&[
        "prod-us: The connection to the server",
        "prod-eu pod/sick ImagePullBackOff",
    ]);
    fleet.clusters[1].sandbox.restart().await.unwrap();
    run.until("prod-us pod/sick ImagePullBackOff");
    run.interrupt();
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_watch_a_cluster_that_does_not_answer_is_an_error_after_the_others() {
    let mut fleet = Fleet::start().await;
    fleet.put(&failing("sick"));
    fleet.clusters[1].sandbox.stop().await;
    for args in [
        &["status", "pods", "--once"][..],
        &["status", "--unhealthy", "--once"],
    ] {
        let ran = fleet.run(args);
        assert_eq!(ran.status.code(), Some(1), "{}", ran.transcript());
        assert!(ran.stdout.contains("sick"), "{}", ran.transcript());
        let error = "prod-us: The connection to the server";
        let last = ran.stderr.lines().last().unwrap_or_default();
        assert!(last.starts_with(error), "{}", ran.transcript());
    }
    // If no cluster answers, nothing is printed but the errors.
    fleet.clusters[0].sandbox.stop().await;
    let ran = fleet.run(&["status", "pods", "--once"]);
    assert_eq!(ran.status.code(), Some(1));
    assert_eq!(ran.stdout, "");
    let lines: Vec<&str> = ran.stderr.lines().rev().take(2).collect();
    assert!(
        lines[0].starts_with("prod-us: The connection"),
        "{}",
        ran.stderr
    );
    assert!(
        lines[1].starts_with("prod-eu: The connection"),
        "{}",
        ran.stderr
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_type_may_exist_in_one_cluster_only() {
    let fleet = Fleet::with_widgets_in_one().await;
    fleet.put_in(
        0,
        json!({
            "apiVersion": "example.com/v1", "kind": "Widget",
            "metadata": {"name": "gear", "namespace": "shop"},
        }),
    );
    let ran = fleet.run(&["status", "widgets", "--once"]);
    assert_eq!(ran.status.code(), Some(1));
    assert_snapshot!(ran.transcript(), @r#"
    CLUSTER   NAME            READY   STATUS       RESTARTS   AGE     NODE   IP
    eu        ~ widget/gear   -       InProgress   -          4m59s   -      -
                └ not observed by its controller
    ! prod-us: error: the server doesn't have a resource type "widgets"
    "#);
    let ran = fleet.run(&["status", "--unhealthy", "--once"]);
    assert!(ran.status.success(), "{}", ran.transcript());
    let ran = fleet.run(&["status", "gadgets", "--once"]);
    assert_eq!(ran.status.code(), Some(1));
    assert_snapshot!(ran.transcript(), @r#"
    ! prod-eu: error: the server doesn't have a resource type "gadgets"
    ! prod-us: error: the server doesn't have a resource type "gadgets"
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_cannot_join_does_not_cut_the_others_short() {
    let fleet = Fleet::with_widgets_in_one().await;
    let whole = &fleet.clusters[0];
    let owned_by = |kind: &str, owner: &Value| {
        json!([{
            "apiVersion": "apps/v1", "kind": kind, "controller": true,
            "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"],
        }])
    };
    let workload = whole.put(deployment("web", 1));
    let mut set = deployment("web-a", 1);
    set["kind"] = "ReplicaSet".into();
    set["metadata"]["ownerReferences"] = owned_by("Deployment", &workload);
    set["metadata"]["labels"] = workload["spec"]["selector"]["matchLabels"].clone();
    set["spec"]["selector"] = workload["spec"]["selector"].clone();
    let set = whole.put(set);
    let mut owned = failing("web-a-1");
    owned["metadata"]["ownerReferences"] = owned_by("ReplicaSet", &set);
    owned["metadata"]["labels"] = set["metadata"]["labels"].clone();
    fleet.put_in(0, owned);
    // The other cluster has failed long before this one answers.
    let late = Effect::Latency(Duration::from_millis(300));
    let listing = Fault::on(Verb::List, "deployments", late);
    whole.sandbox.inject(listing.always());
    let ran = fleet.run(&["status", "deploy,widgets", "--once"]);
    assert_eq!(ran.status.code(), Some(1), "{}", ran.transcript());
    assert_snapshot!(ran.transcript(), @r#"
    CLUSTER   NAME                   READY   STATUS             RESTARTS   AGE     NODE   IP
    eu        ~ deployment/web       0/1     InProgress         -          4m59s   -      -
    eu        └─~ replicaset/web-a   0/1     InProgress         -          4m58s   -      -
    eu          └─✗ pod/web-a-1      0/1     ImagePullBackOff   0          4m57s   -      -
                    └ app: no such image
    ! prod-us: error: the server doesn't have a resource type "widgets"
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_forbids_everything_is_one_line() {
    let fleet = Fleet::start().await;
    fleet.put(&ready("a"));
    let nobody = |rules| User {
        name: "nobody".to_owned(),
        token: String::new(),
        rules,
    };
    let sandbox = &fleet.clusters[1].sandbox;
    sandbox.set_users(vec![nobody(vec![Rule::allow("*", "secrets")])]);
    let ran = fleet.run(&["status", "pods", "--once"]);
    assert_eq!(ran.status.code(), Some(1), "{}", ran.transcript());
    assert_snapshot!(ran.transcript(), @r#"
    CLUSTER   NAME      READY   STATUS    RESTARTS   AGE     NODE   IP
    eu        ● pod/a   1/1     Running   0          4m59s   -      -
    ! prod-us: Error from server (Forbidden): pods is forbidden: User "nobody" cannot list resource "pods" in API group "" in the namespace "shop"
    "#);
    // What is forbidden leaves the question of --exit-code open.
    let ran = fleet.run(&["status", "pods", "--once", "--exit-code"]);
    assert_eq!(ran.status.code(), Some(4), "{}", ran.transcript());
    // One kind of several is a line of the cluster.
    sandbox.set_users(vec![nobody(vec![Rule::allow("*", "pods")])]);
    let ran = fleet.run(&["status", "pods,cm", "--once"]);
    assert!(ran.stdout.contains("us  "), "{}", ran.transcript());
    assert!(
        ran.stderr
            .contains("prod-us: Error from server (Forbidden): configmaps"),
        "{}",
        ran.transcript()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_goal_is_for_all_clusters() {
    let mut fleet = Fleet::start().await;
    fleet.put_in(0, ready("a"));
    let args = ["status", "pod/a", "--for=current", "--contexts", "prod-*"];
    let mut run = fleet.spy().start(&args);
    run.until("prod-eu pod/a");
    fleet.put_in(1, ready("a"));
    let ran = run.finish();
    assert!(ran.status.success(), "{}", ran.transcript());
    for met in [
        "pod/a in prod-eu condition met",
        "pod/a in prod-us condition met",
    ] {
        assert!(ran.stderr.contains(met), "{}", ran.transcript());
    }
    // A cluster that cannot be reached is not known to be well.
    fleet.clusters[1].sandbox.stop().await;
    for objects in ["pod/a", "--unhealthy"] {
        let args = ["status", objects, "--for=current", "--timeout=1s"];
        let ran = fleet.run(&args);
        assert_eq!(
            ran.status.code(),
            Some(1),
            "{objects}: {}",
            ran.transcript()
        );
        assert!(ran.stderr.contains("prod-us"), "{}", ran.transcript());
    }
    // A failure in one cluster ends the wait in all.
    let mut gone = failing("a");
    gone["status"] = json!({"phase": "Failed"});
    fleet.clusters[0].delete("pods", "a");
    fleet.put_in(0, gone);
    let ran = fleet.run(&["status", "pod/a", "--for=current"]);
    assert_eq!(ran.status.code(), Some(2), "{}", ran.transcript());
    assert!(
        ran.stderr.contains("pod/a in prod-eu has failed"),
        "{}",
        ran.transcript()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn contexts_of_the_same_server_user_and_namespace_count_once() {
    let fleet = Fleet::start().await;
    fleet.put(&ready("a"));
    let path = fleet.kubeconfig.clone();
    let mut config: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let contexts = config["contexts"].as_array_mut().unwrap();
    let again = json!({"cluster": "prod-eu", "user": "of-prod-eu", "namespace": "shop"});
    contexts.push(json!({"name": "prod-eu-again", "context": again}));
    let other = json!({"cluster": "prod-eu", "user": "of-prod-eu", "namespace": "web"});
    contexts.push(json!({"name": "eu-web", "context": other}));
    fs::write(&path, config.to_string()).unwrap();
    let ran = fleet.run(&["status", "pods", "--once"]);
    assert_eq!(ran.stdout.matches("pod/a").count(), 2, "{}", ran.stdout);
    // Two contexts of one cluster are one: there is no column.
    let args = [
        "status",
        "pods",
        "--once",
        "--context",
        "prod-eu,prod-eu-again",
    ];
    let ran = fleet.spy().run(&args);
    assert!(!ran.stdout.contains("CLUSTER"), "{}", ran.stdout);
    // Each context has its own namespace.
    let mut pod = ready("b");
    pod["metadata"]["namespace"] = json!("web");
    fleet.put_in(0, pod);
    let args = ["status", "pods", "--once", "--context", "eu-web,prod-us"];
    let ran = fleet.spy().run(&args);
    assert_snapshot!(ran.transcript(), @"
    2 Current
    CLUSTER   NAMESPACE   NAME      READY   STATUS    RESTARTS   AGE     NODE   IP
    prod-us   shop        ● pod/a   1/1     Running   0          4m59s   -      -
    eu-web    web         ● pod/b   1/1     Running   0          4m58s   -      -
    ");
    let ran = fleet.spy().run(&[&args[..], &["-n", "shop"]].concat());
    assert!(!ran.stdout.contains("pod/b"), "{}", ran.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_contexts_are_errors_with_a_hint() {
    let fleet = Fleet::start().await;
    fleet.put(&deployment("web", 0));
    let error = |args: &[&str]| {
        let ran = fleet.spy().run(args);
        assert_eq!(ran.status.code(), Some(1), "{}", ran.transcript());
        assert_eq!(ran.stdout, "");
        ran.stderr
    };
    assert_snapshot!(error(&["status", "pods", "--context", "prod-eu,prod-uss"]), @r#"
    error: context "prod-uss" does not exist
    hint: did you mean prod-us or prod-eu?
    hint: list the contexts: `kubectl config get-contexts`
    "#);
    assert_snapshot!(error(&["status", "pods", "--contexts", "test-*"]), @r#"
    error: no context matches "test-*"
    hint: list the contexts: `kubectl config get-contexts`
    "#);
    assert_snapshot!(error(&["record", "--print-manifest", "--all-contexts"]), @"
    error: this command reads one cluster, and 2 contexts are selected
    hint: choose one with --context: prod-eu, prod-us
    See 'kubectl spy record -h' for help and examples
    ");
    let one = ["trace", "deploy/web", "--once", "--contexts", "*-us"];
    assert!(fleet.spy().run(&one).status.success());
}

/// A login opens a browser, or asks a question. So only one runs at a time, and none that needs the terminal.
#[cfg(unix)]
#[test]
fn logins_run_one_after_the_other_and_without_the_terminal() {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("logins");
    let _left_over = fs::remove_dir_all(&directory);
    fs::create_dir(&directory).unwrap();
    let place = directory.display();
    let script = format!(
        "mkdir {place}/held || echo overlap >> {place}/log; sleep 0.1; rmdir {place}/held; \
         echo login >> {place}/log; echo '{{\"status\":{{\"token\":\"x\"}}}}'"
    );
    let user = |mode: &str| {
        json!({"exec": {
            "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": mode,
            "command": "sh", "args": ["-c", script],
        }})
    };
    let server = || "https://127.0.0.1:1".to_owned();
    let contexts = ["a", "b", "c"].map(|name| (name, server()));
    let run = |mode: &str| {
        let path = kubeconfig(&format!("logins-{mode}"), &contexts, &user(mode));
        let spy = Spy::with_kubeconfig(path.to_str().unwrap()).var("PATH", "/usr/bin:/bin");
        let ran = spy.run(&["status", "pods", "--once", "--all-contexts"]);
        assert_eq!(ran.status.code(), Some(1), "{}", ran.transcript());
        ran.stderr
    };
    assert!(run("Never").contains("c: The connection to the server"));
    let log = fs::read_to_string(directory.join("log")).unwrap();
    assert_eq!(log, "login\nlogin\nlogin\n");
    let needs_a_person = "b: Unable to connect to the server: getting credentials: exec: sh: \
                          standard input is unavailable, and the plugin requires it";
    let stderr = run("Always");
    assert!(stderr.contains(needs_a_person), "{stderr}");
}

/// Two objects of one name and without a uid are two objects, because each cluster has a model of its own.
#[tokio::test(flavor = "multi_thread")]
async fn objects_of_two_clusters_are_never_one() {
    let fleet = Fleet::start().await;
    let mut service = json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "web", "namespace": "shop", "uid": "one-and-the-same"},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]},
    });
    let by = Writer::new("kubectl-create");
    fleet.clusters[0]
        .sandbox
        .create(service.clone(), &by)
        .unwrap();
    service["spec"]["selector"] = Value::Null;
    fleet.clusters[1].sandbox.create(service, &by).unwrap();
    // The Pod of one cluster does not serve the Service of the other.
    let labels = json!({"app": "web"});
    fleet.put_in(1, pod("web", &labels));
    let ran = fleet.run(&["status", "svc", "--once", "-o", "json"]);
    let records: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |cluster: &str| {
        let mut records = records.iter();
        let record = records.find(|record| record["ref"]["cluster"] == cluster);
        record.unwrap()["status"].clone()
    };
    assert_eq!(of("prod-us"), "Current", "{}", ran.stdout);
    assert_ne!(of("prod-eu"), "Current", "{}", ran.stdout);
}

/// Sets the data of the `ConfigMap` `flags`.
fn turn(cluster: &Cluster, mode: &str) {
    cluster.edit("configmaps", "flags", &json!({"data": {"mode": mode}}));
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_name_their_cluster() {
    let fleet = Fleet::start().await;
    fleet.put(&config_map("flags", &json!({"mode": "a"})));
    turn(&fleet.clusters[0], "b");
    turn(&fleet.clusters[1], "c");
    let past = ["changes", "cm/flags", "--once", "--since", "all"];
    let ran = fleet.run(&past);
    assert_snapshot!(ran.transcript(), @"
    2026-03-02T12:00:01Z eu CREATED configmap/flags  2  4m59s ago  by kubectl-create
    + .data.mode: a
    2026-03-02T12:00:02Z eu MODIFIED configmap/flags  2→3  +1s  4m58s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: a → b
    prod-eu: ── 2 earlier versions, back to 2026-03-02T12:00:01Z ──
    2026-03-02T12:00:01Z us CREATED configmap/flags  2  4m59s ago  by kubectl-create
    + .data.mode: a
    2026-03-02T12:00:02Z us MODIFIED configmap/flags  2→3  +1s  4m58s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: a → c
    prod-us: ── 2 earlier versions, back to 2026-03-02T12:00:01Z ──
    ");
    let ran = fleet.run(&[&past[..], &["-o", "short"]].concat());
    assert_snapshot!(ran.transcript(), @"
    2026-03-02T12:00:01Z eu configmap/flags  kubectl-create  created
    2026-03-02T12:00:02Z eu configmap/flags  kubectl-edit  mode: a → b
    prod-eu: ── 2 earlier versions, back to 2026-03-02T12:00:01Z ──
    2026-03-02T12:00:01Z us configmap/flags  kubectl-create  created
    2026-03-02T12:00:02Z us configmap/flags  kubectl-edit  mode: a → c
    prod-us: ── 2 earlier versions, back to 2026-03-02T12:00:01Z ──
    ");
    let ran = fleet.run(&["changes", "--once", "--since", "5m"]);
    assert_snapshot!(ran.transcript(), @"
    2026-03-02T12:00:01Z eu CREATED configmap/flags  2  4m59s ago  by kubectl-create
    + .data.mode: a
    2026-03-02T12:00:02Z eu MODIFIED configmap/flags  2→3  +1s  4m58s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: a → b
    prod-eu: ── 1 of 1 object changed, in 1 kind, back to 2026-03-02T12:00:01Z · complete since 2026-03-02T12:00:01Z ──
    prod-eu: ── cluster-scoped kinds are not read: -A ──
    2026-03-02T12:00:01Z us CREATED configmap/flags  2  4m59s ago  by kubectl-create
    + .data.mode: a
    2026-03-02T12:00:02Z us MODIFIED configmap/flags  2→3  +1s  4m58s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: a → c
    prod-us: ── 1 of 1 object changed, in 1 kind, back to 2026-03-02T12:00:01Z · complete since 2026-03-02T12:00:01Z ──
    prod-us: ── cluster-scoped kinds are not read: -A ──
    ");
    let ran = fleet.run(&[&past[..], &["-o", "json"]].concat());
    let of = |cluster: &str| {
        ran.stdout
            .matches(&format!("\"cluster\":\"{cluster}\""))
            .count()
    };
    assert_eq!(of("prod-eu"), of("prod-us"), "{}", ran.stdout);
    // The limit is for all clusters together.
    let ran = fleet.run(&[
        "changes", "cm/flags", "--since", "all", "--count", "3", "-o", "short",
    ]);
    let versions = ran.stdout.matches("configmap/flags  kubectl").count();
    assert_eq!(versions, 3, "{}", ran.transcript());
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_go_on_in_one_cluster_while_the_other_is_lost() {
    let mut fleet = Fleet::start().await;
    fleet.put(&config_map("flags", &json!({"mode": "a"})));
    let args = [
        "changes",
        "cm",
        "--since=0",
        "-o",
        "short",
        "--all-contexts",
    ];
    let mut run = fleet.spy().start(&args);
    run.until_each(&["prod-eu: watching", "prod-us: watching"]);
    fleet.clusters[1].sandbox.stop().await;
    run.until("prod-us: retrying");
    turn(&fleet.clusters[0], "b");
    run.until("eu configmap/flags");
    // The same name in the other cluster is another object.
    fleet.clusters[0].delete("configmaps", "flags");
    run.until("eu configmap/flags  deleted");
    turn(&fleet.clusters[1], "c");
    fleet.clusters[1].put(config_map("more", &json!({})));
    fleet.clusters[1].sandbox.restart().await.unwrap();
    run.until_each(&["us configmap/flags", "us configmap/more"]);
    let ran = run.interrupt();
    assert!(!ran.stdout.contains("recreated"), "{}", ran.transcript());
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_wait_and_answer_for_all_clusters() {
    let mut fleet = Fleet::start().await;
    fleet.put(&config_map("flags", &json!({"mode": "a"})));
    let check = [
        "changes",
        "cm/flags",
        "--exit-code",
        "--timeout=3s",
        "--since=0",
    ];
    let ran = fleet.run(&check);
    assert!(ran.status.success(), "{}", ran.transcript());
    // A name that only one cluster has is there.
    fleet.put_in(1, config_map("only", &json!({"mode": "a"})));
    let ran = fleet.run(&["changes", "cm/only", "--once"]);
    assert!(ran.status.success(), "{}", ran.transcript());
    let ran = fleet.run(&["changes", "cm/none", "--once"]);
    assert_eq!(ran.status.code(), Some(1), "{}", ran.transcript());
    assert!(
        ran.stderr.contains("prod-us: Error from server (NotFound)"),
        "{}",
        ran.stderr
    );
    // Without an answer of one cluster there is no answer.
    fleet.clusters[1].sandbox.stop().await;
    let ran = fleet.run(&check);
    assert_eq!(ran.status.code(), Some(4), "{}", ran.transcript());
}
