//! Tests of `logs --with` against the sandbox: what stands between the lines, and in which order.

use insta::assert_snapshot;
use jiff::{SignedDuration, Timestamp};
use kubectl_spy::sandbox::{Effect, Expiry, Fault, Permission, Rule, User, Verb};
use serde_json::{Value, json};

use super::schema::Schema;
use super::support::Running;
use super::support::cluster::{Cluster, config_map, deployment, owned_by, pod};

/// The status of the Pod after instance `number` has started or, with `exit`, ended.
fn status(number: u32, exit: Option<u32>) -> Value {
    let id = |number: u32| format!("web-1/app#{number}");
    let ended = |number: u32, code: u32| json!({"terminated": {"exitCode": code, "reason": "Error", "containerID": id(number)}});
    let state = match exit {
        Some(code) => ended(number, code),
        None => json!({"running": {"startedAt": "2026-03-02T12:00:00Z"}}),
    };
    let last = number.checked_sub(1).map(|number| ended(number, 1));
    let ready = if exit.is_none() { "True" } else { "False" };
    json!({
        "phase": "Running", "conditions": [{"type": "Ready", "status": ready}],
        "containerStatuses": [{
            "name": "app", "restartCount": number, "containerID": id(number), "ready": exit.is_none(),
            "state": state, "lastState": last.unwrap_or_else(|| json!({})),
        }],
    })
}

/// The Deployment `web` with one Pod, which uses the `ConfigMap` `flags` and the Secret `db`. At 12:00:06 the Pod runs.
async fn web() -> Cluster {
    let cluster = Cluster::start().await;
    put_web(&cluster);
    cluster
}

fn put_web(cluster: &Cluster) {
    cluster.put(config_map("flags", &json!({"dark-mode": "off"})));
    cluster.put(json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db", "namespace": "shop"},
        "stringData": {}, "data": {"password": "aHVudGVyMg=="},
    }));
    let workload = cluster.put(deployment("web", 1));
    let mut set = deployment("web-7d9", 1);
    set["kind"] = "ReplicaSet".into();
    set["metadata"]["labels"] = json!({"app": "web"});
    let set = cluster.put(owned_by(set, &workload));
    let mut pod = pod("web-1", &json!({"app": "web"}));
    pod["spec"] = json!({"nodeName": "worker-1", "containers": [{
        "name": "app", "image": "app:1", "envFrom": [{"configMapRef": {"name": "flags"}}, {"secretRef": {"name": "db"}}],
    }]});
    cluster.put(owned_by(pod, &set));
    cluster.report("pods", "web-1", &status(0, None));
    print(cluster, 0, 6500, "listening");
}

fn print(cluster: &Cluster, number: u32, millisecond: i64, line: &str) {
    let noon: Timestamp = "2026-03-02T12:00:00Z".parse().unwrap();
    let at = noon + SignedDuration::from_millis(millisecond);
    let id = format!("web-1/app#{number}");
    cluster.sandbox.print(&id, at, line.as_bytes());
}

/// The configuration changes at 12:00:07 and 12:00:08, and the program ends at 12:00:09.
fn break_it(cluster: &Cluster) {
    cluster.edit(
        "configmaps",
        "flags",
        &json!({"data": {"dark-mode": "maybe"}}),
    );
    cluster.edit(
        "secrets",
        "db",
        &json!({"data": {"password": "c3dvcmRmaXNo"}}),
    );
    print(cluster, 0, 9100, "panic: dark-mode: maybe");
    cluster.report("pods", "web-1", &status(0, Some(1)));
    warn(cluster);
}

fn warn(cluster: &Cluster) {
    warn_at(cluster, "web-1.1", "2026-03-02T12:00:10Z");
}

/// A Warning about the Pod, with this time.
fn warn_at(cluster: &Cluster, name: &str, time: &str) {
    cluster.put(json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": name, "namespace": "shop"},
        "involvedObject": {"apiVersion": "v1", "kind": "Pod", "namespace": "shop", "name": "web-1"},
        "type": "Warning", "reason": "BackOff", "message": "Back-off restarting failed container app\u{1b}[2J", "count": 3,
        "lastTimestamp": time,
    }));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_past_is_told_in_the_order_of_causes() {
    let cluster = web().await;
    break_it(&cluster);
    let args = ["logs", "deploy/web", "--since", "10m", "--with", "all"];
    let spy = cluster.spy();
    let ran = tokio::task::block_in_place(|| spy.run(&args));
    assert_snapshot!(ran.transcript(), @r#"
    2026-03-02T12:00:01Z      change  configmap/flags  kubectl-create  created
    2026-03-02T12:00:02Z      change  secret/db  kubectl-create  created: password
    2026-03-02T12:00:03Z      change  deployment/web  kubectl-create  created: app:1
    2026-03-02T12:00:03Z      status  deployment/web  InProgress 0/1
    2026-03-02T12:00:04Z      change  replicaset/web-7d9  kubectl-create  created: app:1
    2026-03-02T12:00:05Z      change  pod/web-1  kubectl-create  created: app:1
    2026-03-02T12:00:05Z      status  pod/web-1  InProgress 0/1
    2026-03-02T12:00:06Z      status  pod/web-1  Running 1/1 (was InProgress 0/1)
    2026-03-02T12:00:06.500Z  listening
    2026-03-02T12:00:07Z      change  configmap/flags  kubectl-edit  dark-mode: "off" → maybe
    2026-03-02T12:00:08Z      change  secret/db  kubectl-edit  password: <secret 7 B #1> → <secret 9 B #2>
    2026-03-02T12:00:09.100Z  panic: dark-mode: maybe
    2026-03-02T12:00:09Z      status  pod/web-1  Error 0/1 (was Running 1/1): app: exit 1
    2026-03-02T12:00:10Z      event  pod/web-1  BackOff: Back-off restarting failed container app^[[2J ×3
    "#);
    assert_eq!(ran.status.code(), Some(0));
    let ran = tokio::task::block_in_place(|| spy.run(&[&args[..], &["-o", "json"]].concat()));
    let schema = Schema::of("logs");
    ran.stdout.lines().for_each(|line| drop(schema.check(line)));
    let mut lines = ran.stdout.lines();
    let change = lines.find(|line| line.contains("maybe")).unwrap();
    let (before, after) = change.split_once(r#","uid":""#).unwrap();
    let (_, after) = after.split_once('"').unwrap();
    let expect = r#"{"v":1,"type":"change","time":"2026-03-02T12:00:07.000Z","ref":{"cluster":"demo","apiVersion":"v1","kind":"ConfigMap","namespace":"shop","name":"flags"},"managers":"kubectl-edit","message":"dark-mode: \"off\" → maybe"}"#;
    assert_eq!(format!("{before}{after}"), expect);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happens_from_now_on_stands_between_the_lines() {
    let cluster = web().await;
    let mut run = followed(&cluster).await;
    cluster.edit(
        "configmaps",
        "flags",
        &json!({"data": {"dark-mode": "maybe"}}),
    );
    run.until("maybe");
    cluster.report("pods", "web-1", &status(0, Some(1)));
    run.until("Error 0/1");
    warn(&cluster);
    run.until("BackOff");
    cluster.report("pods", "web-1", &status(1, None));
    run.until("Running 1/1");
    cluster.delete("pods", "web-1");
    run.until("deleted");
    let ran = run.interrupt();
    assert_snapshot!(ran.stdout, @r#"
    2026-03-02T12:00:06.500Z  listening
    2026-03-02T12:05:00Z      change  configmap/flags  kubectl-edit  dark-mode: "off" → maybe
    2026-03-02T12:05:00Z      status  pod/web-1  Error 0/1 (was Running 1/1): app: exit 1
    2026-03-02T12:05:00Z      event  pod/web-1  BackOff: Back-off restarting failed container app^[[2J ×3
    2026-03-02T12:05:00Z      status  pod/web-1  Running 1/1 restarts 1 (was Error 0/1)
    2026-03-02T12:05:00Z      status  pod/web-1  deleted
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_of_the_timeline_can_be_chosen() {
    let cluster = web().await;
    break_it(&cluster);
    let kinds = |parts: &str| {
        let spy = cluster.spy();
        let args = [
            "logs",
            "deploy/web",
            "--since",
            "10m",
            "--with",
            parts,
            "-o",
            "json",
        ];
        let ran = tokio::task::block_in_place(|| spy.run(&args));
        let records = ran
            .stdout
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut kinds: Vec<String> = records
            .map(|record| record["type"].as_str().unwrap().to_owned())
            .collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds.join(" ")
    };
    assert_eq!(kinds("changes"), "change log");
    assert_eq!(kinds("events"), "event log");
    assert_eq!(kinds("status"), "log status");
    assert_eq!(kinds("status,changes"), "change log status");
    let ran = tokio::task::block_in_place(|| {
        let args = ["logs", "deploy/web", "--with", "all", "-o", "raw"];
        cluster.spy().run(&args)
    });
    assert!(
        ran.stderr
            .starts_with("error: --with needs -o short or -o json"),
        "{}",
        ran.stderr
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_may_not_be_read_is_said() {
    let rule = |permission, verbs: &[&str], resource: &str| Rule {
        permission,
        verbs: verbs.iter().map(|&verb| verb.to_owned()).collect(),
        group: "*".to_owned(),
        resource: resource.to_owned(),
        namespace: None,
        names: Vec::new(),
    };
    let cluster = Cluster::start_with(|options| {
        options.users = vec![User {
            name: "dev".to_owned(),
            token: String::new(),
            rules: vec![
                rule(Permission::Allow, &["*"], "*"),
                rule(Permission::Deny, &["list", "watch"], "secrets"),
                rule(Permission::Deny, &["list", "watch"], "events"),
            ],
        }];
    })
    .await;
    put_web(&cluster);
    let args = ["logs", "deploy/web", "--since", "10m", "--with", "all"];
    let spy = cluster.spy();
    let ran = tokio::task::block_in_place(|| spy.run(&args));
    assert_snapshot!(ran.stderr, @r#"
    events in namespace "shop" with fields type=Warning: forbidden: Error from server (Forbidden): events is forbidden: User "dev" cannot list resource "events" in API group "" in the namespace "shop"
    secrets/db in namespace "shop": forbidden: Error from server (Forbidden): secrets "db" is forbidden: User "dev" cannot list resource "secrets" in API group "" in the namespace "shop"
    "#);
    assert!(ran.stdout.contains("listening"), "{}", ran.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn warnings_are_those_of_the_time_in_its_order() {
    let cluster = web().await;
    for (name, time) in [("c", "12:04:59"), ("a", "11:30:00"), ("b", "12:04:30")] {
        warn_at(&cluster, name, &format!("2026-03-02T{time}Z"));
    }
    let spy = cluster.spy();
    for parts in ["events", "events,changes"] {
        let args = ["logs", "deploy/web", "--since", "2m", "--with", parts];
        let ran = tokio::task::block_in_place(|| spy.run(&args));
        let events = ran.stdout.lines().filter(|line| line.contains("  event  "));
        let times: Vec<&str> = events.map(|line| &line[11..19]).collect();
        assert_eq!(times, ["12:04:30", "12:04:59"], "{parts}");
    }
}

/// The program while it shows all that happens to the Deployment.
async fn followed(cluster: &Cluster) -> Running {
    let mut run = cluster
        .spy()
        .start(&["logs", "deploy/web", "-f", "--with", "all"]);
    run.until("listening");
    for resource in ["configmaps", "secrets", "pods", "events"] {
        cluster.watched(resource).await;
    }
    run
}

#[tokio::test(flavor = "multi_thread")]
async fn a_warning_that_the_server_forgets_is_no_news() {
    let cluster = web().await;
    let mut run = followed(&cluster).await;
    warn(&cluster);
    run.until("BackOff");
    cluster.delete("events", "web-1.1");
    warn_at(&cluster, "web-1.2", "2026-03-02T12:00:11Z");
    run.until("BackOff");
    let ran = run.interrupt();
    assert_eq!(ran.stdout.matches("BackOff").count(), 2, "{}", ran.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn versions_that_may_be_missing_are_said() {
    let mut cluster = web().await;
    let mut run = followed(&cluster).await;
    cluster.sandbox.stop().await;
    run.until("retrying");
    let turn = |state: &str| json!({"data": {"dark-mode": state}});
    cluster.edit("configmaps", "flags", &turn("maybe"));
    cluster.edit("configmaps", "flags", &turn("on"));
    cluster.sandbox.compact(cluster.sandbox.revision());
    let fault = Effect::Expire(Expiry::InStream(0));
    cluster
        .sandbox
        .inject(Fault::on(Verb::Watch, "configmaps", fault));
    cluster.sandbox.restart().await.unwrap();
    run.until("\"off\" → \"on\"");
    let ran = run.interrupt();
    let words = "versions after 7 up to 9 may be missing: the server has compacted them";
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn more_configuration_than_is_followed_is_said() {
    let cluster = Cluster::start().await;
    let names =
        (0..26).map(|n| json!({"configMapRef": {"name": format!("c{n}"), "optional": true}}));
    let mut pod = pod("web-1", &json!({"app": "web"}));
    pod["spec"] = json!({"nodeName": "worker-1", "containers": [
        {"name": "app", "image": "app:1", "envFrom": names.collect::<Vec<_>>()},
    ]});
    pod["status"] = status(0, None);
    cluster.put(pod);
    let spy = cluster.spy();
    let args = ["logs", "web-1", "--with", "changes"];
    let ran = tokio::task::block_in_place(|| spy.run(&args));
    let words = "changes of 24 ConfigMaps and Secrets are shown, those of 2 more are not\n";
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
}
