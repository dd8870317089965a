//! Tests of the versions that `changes` prints from before its start.

use insta::assert_snapshot;
use kubectl_spy::sandbox::{Effect, ErrorBody, Fault, Place, Rule, Target, User, Verb, Writer};
use serde_json::{Value, json};

use super::super::support::Ran;
use super::super::support::cluster::{Cluster, config_map, dated, deployment, pod};

fn turn(cluster: &Cluster, mode: &str) {
    let patch = json!({"data": {"mode": mode}});
    cluster.edit("configmaps", "flags", &patch);
}

/// A `ConfigMap` that is deleted and re-created, and a change of another object in between.
async fn two_lives() -> Cluster {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"mode": "off"})));
    turn(&cluster, "on");
    cluster.delete("configmaps", "flags");
    cluster.put(pod("web", &json!({})));
    cluster.put(config_map("flags", &json!({"mode": "a"})));
    turn(&cluster, "b");
    cluster
}

#[tokio::test(flavor = "multi_thread")]
async fn named_objects_begin_with_their_last_versions() {
    let cluster = two_lives().await;
    let mut run = cluster.spy().start(&["changes", "cm/flags"]);
    run.until("live since");
    turn(&cluster, "c");
    run.until("b → c");
    assert_snapshot!(super::interrupted(run).transcript(), @r#"
    2026-03-02T12:00:01Z CREATED configmap/flags  2  4m59s ago  by kubectl-create
    + .data.mode: "off"
    2026-03-02T12:00:02Z MODIFIED configmap/flags  2→3  +1s  4m58s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: "off" → "on"
    2026-03-02T12:00:02Z–2026-03-02T12:00:05Z DELETED configmap/flags  4  4m55s–4m58s ago  existed up to 4s
    2026-03-02T12:00:05Z RECREATED configmap/flags  6  4m55s ago  by kubectl-create
    + .data.mode: a
      compared with the deleted object 4, another life:
    ~ .data.mode: "on" → a
    2026-03-02T12:00:06Z MODIFIED configmap/flags  6→7  +1s  4m54s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: a → b
    ── live since 2026-03-02T12:05:00Z · 5 earlier versions, back to 2026-03-02T12:00:01Z ──
    2026-03-02T12:05:00Z MODIFIED configmap/flags  7→8  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: b → c
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_object_is_shown() {
    let cluster = two_lives().await;
    cluster.delete("configmaps", "flags");
    let since_all = ["changes", "cm/flags", "--since", "all", "--once"];
    let ran = cluster.spy().run(&since_all);
    assert!(ran.status.success());
    assert_snapshot!(ran.transcript(), @r#"
    2026-03-02T12:00:01Z CREATED configmap/flags  2  4m59s ago  by kubectl-create
    + .data.mode: "off"
    2026-03-02T12:00:02Z MODIFIED configmap/flags  2→3  +1s  4m58s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: "off" → "on"
    2026-03-02T12:00:02Z–2026-03-02T12:00:05Z DELETED configmap/flags  4  4m55s–4m58s ago  existed up to 4s
    2026-03-02T12:00:05Z RECREATED configmap/flags  6  4m55s ago  by kubectl-create
    + .data.mode: a
      compared with the deleted object 4, another life:
    ~ .data.mode: "on" → a
    2026-03-02T12:00:06Z MODIFIED configmap/flags  6→7  +1s  4m54s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: a → b
    2026-03-02T12:00:06Z–2026-03-02T12:05:00Z DELETED configmap/flags  8  0s–4m54s ago  existed up to 4m55s
    ── 6 earlier versions, back to 2026-03-02T12:00:01Z ──
    "#);
    // An object that never existed is still not found, and no version of it is missing.
    let mut run = cluster.spy().start(&["changes", "cm/none"]);
    run.until("live since");
    assert_snapshot!(super::interrupted(run).transcript(), @r#"
    ── live since 2026-03-02T12:05:00Z · no earlier version ──
    ! waiting for configmaps/none in namespace "shop"
    "#);
    let ran = cluster
        .spy()
        .run(&["changes", "cm/none", "--since", "all", "--once"]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(ran.stderr.contains("NotFound"), "{}", ran.stderr);
}

fn service(address: &str, port: u32) -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"clusterIP": address, "ports": [{"name": "http", "port": port, "protocol": "TCP"}]}})
}

/// The label names two lives. Nobody is the author of the difference.
#[tokio::test(flavor = "multi_thread")]
async fn a_re_created_object_is_compared_with_its_former_life() {
    let cluster = Cluster::start().await;
    cluster.put(service("10.96.165.178", 80));
    cluster.delete("services", "web");
    cluster.put(service("10.96.11.75", 80));
    let args = ["changes", "svc/web", "--since-rv=1", "--once", "-o"];
    let run = |format: &str| cluster.spy().run(&[&args[..], &[format]].concat());
    assert_snapshot!(run("paths").transcript(), @"
    2026-03-02T12:00:01Z CREATED service/web  2  4m59s ago  by kubectl-create
    + .spec.clusterIP: 10.96.165.178
    + .spec.ports: [{name: http, port: 80, protocol: TCP}]
    2026-03-02T12:00:01Z–2026-03-02T12:00:03Z DELETED service/web  3  4m57s–4m59s ago  existed up to 2s
    2026-03-02T12:00:03Z RECREATED service/web  4  4m57s ago  by kubectl-create
    + .spec.clusterIP: 10.96.11.75
    + .spec.ports: [{name: http, port: 80, protocol: TCP}]
      compared with the deleted object 3, another life:
    ~ .spec.clusterIP: 10.96.165.178 → 10.96.11.75
    ── 3 earlier versions, back to 2026-03-02T12:00:01Z ──
    ");
    assert_snapshot!(run("short").transcript(), @"
    2026-03-02T12:00:01Z service/web  kubectl-create  created
    2026-03-02T12:00:01Z–2026-03-02T12:00:03Z service/web  deleted  existed up to 2s
    2026-03-02T12:00:03Z service/web  kubectl-create  recreated  clusterIP: 10.96.165.178 → 10.96.11.75
    ── 3 earlier versions, back to 2026-03-02T12:00:01Z ──
    ");
    assert_snapshot!(run("tree").transcript(), @r#"
    2026-03-02T12:00:01Z CREATED service/web  2  4m59s ago  by kubectl-create
    + .spec.clusterIP: 10.96.165.178
    + .spec.ports: [{name: http, port: 80, protocol: TCP}]
    2026-03-02T12:00:01Z–2026-03-02T12:00:03Z DELETED service/web  3  4m57s–4m59s ago  existed up to 2s
    2026-03-02T12:00:03Z RECREATED service/web  4  4m57s ago  by kubectl-create
    + .spec.clusterIP: 10.96.11.75
    + .spec.ports: [{name: http, port: 80, protocol: TCP}]
      compared with the deleted object 3, another life:
      { ⋯ 3
        "spec": {
    ~     "clusterIP": "10.96.165.178" → "10.96.11.75", ⋯ 1 } }
    ── 3 earlier versions, back to 2026-03-02T12:00:01Z ──
    "#);
    let records = super::json::records(&run("json"));
    let of = |record: &&Value| record["type"] == "recreated";
    let recreated = records.iter().find(of).expect("a record");
    assert_eq!(recreated["changes"], json!([]));
    assert_snapshot!(recreated["former"].to_string(), @r#"{"changes":[{"new":"10.96.11.75","old":"10.96.165.178","op":"replace","path":".spec.clusterIP","pointer":"/spec/clusterIP"}],"version":"3"}"#);
    let only = [&args[..4], &["--only", "spec.ports"]].concat();
    let ran = cluster.spy().run(&only).transcript();
    assert!(!ran.contains("another life"), "{ran}");
    let mut run = cluster.spy().start(&["changes", "svc/web", "--since=0"]);
    run.until("EXISTING");
    cluster.delete("services", "web");
    run.until("DELETED");
    cluster.put(service("10.96.11.75", 8080));
    run.until("another life");
    let live = super::interrupted(run).transcript();
    let (_, lives) = live.split_once("another life:").expect("a label");
    assert_snapshot!(lives, @"
    - .spec.ports[port=80,protocol=TCP]: {name: http}
    + .spec.ports[port=8080,protocol=TCP]: {name: http}  (same except port)
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_yaml_of_a_deleted_object_is_its_last_version() {
    let cluster = two_lives().await;
    cluster.delete("configmaps", "flags");
    cluster.put(config_map("there", &json!({"mode": "x"})));
    let yaml = |names: &[&str]| {
        let args = [&["changes"], names, &["--once", "-o", "yaml"]].concat();
        cluster.spy().run(&args)
    };
    let ran = yaml(&["cm/flags"]);
    assert_eq!((ran.status.code(), &*ran.stderr), (Some(0), ""));
    let text: Vec<&str> = ran
        .stdout
        .lines()
        .filter(|line| !line.contains("uid: "))
        .collect();
    assert_snapshot!(text.join("\n"), @r#"
    # 2026-03-02T12:00:05Z–2026-03-02T12:05:00Z DELETED configmap/flags  8  0s–4m55s ago
    apiVersion: v1
    data:
      mode: b
    kind: ConfigMap
    metadata:
      creationTimestamp: "2026-03-02T12:00:05Z"
      name: flags
      namespace: shop
    "#);
    // An existing object needs no look-back.
    let ran = yaml(&["cm/there"]);
    assert!(!ran.stdout.contains("---"), "{}", ran.transcript());
    assert!(ran.stdout.contains("mode: x"), "{}", ran.transcript());
    let ran = yaml(&["cm/none"]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(ran.stderr.contains("NotFound"), "{}", ran.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn records_of_the_past_are_marked() {
    let cluster = two_lives().await;
    let args = [
        "changes",
        "cm/flags",
        "--since-rv",
        "3",
        "-o",
        "json",
        "--once",
    ];
    let ran = cluster.spy().run(&args);
    let is_version = |record: &Value| record.get("ref").is_some();
    let records: Vec<String> = super::json::records(&ran)
        .into_iter()
        .filter(is_version)
        .map(|record| {
            let time = record["timeUntil"]
                .as_str()
                .map(|until| format!(" until {until}"));
            format!(
                "{} {} {}→{} seen {} at {}{}",
                record["past"],
                record["type"],
                record["from"],
                record["to"],
                record["seen"],
                record["time"],
                time.unwrap_or_default()
            )
        })
        .collect();
    assert_snapshot!(records.join("\n"), @r#"
    true "deleted" "3"→"4" seen null at "2026-03-02T12:00:01.000Z" until 2026-03-02T12:00:05.000Z
    true "recreated" null→"6" seen null at "2026-03-02T12:00:05.000Z"
    true "modified" "6"→"7" seen null at "2026-03-02T12:00:06.000Z"
    false "baseline" null→"7" seen "2026-03-02T12:05:00.000Z" at null
    "#);
}

/// The JSON records between the past and the live versions: those that are not versions of objects.
fn divider(ran: &Ran) -> String {
    let records = super::json::records(ran).into_iter();
    let divider = records.filter(|record| record["type"] == "lookback" || record["type"] == "seam");
    let lines: Vec<String> = divider.map(|record| record.to_string()).collect();
    lines.join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn records_state_how_far_back_all_versions_are_known() {
    let cluster = two_lives().await;
    let args = ["changes", "cm/flags", "-o", "json", "--once"];
    assert_snapshot!(divider(&cluster.spy().run(&args)), @r#"
    {"cluster":"demo","complete":"2","completeTime":"2026-03-02T12:00:01.000Z","end":"limit","from":"2","seen":"2026-03-02T12:05:00.000Z","source":"configmaps/flags in namespace \"shop\"","time":"2026-03-02T12:00:01.000Z","type":"lookback","v":1}
    {"cluster":"demo","live":false,"seen":"2026-03-02T12:05:00.000Z","type":"seam","v":1,"versions":5}
    "#);
    cluster.sandbox.compact(cluster.sandbox.revision() - 1);
    // The watch cache has the versions that the store has compacted.
    let named = args;
    assert_snapshot!(divider(&cluster.spy().run(&named)), @r#"
    {"cluster":"demo","complete":"2","completeTime":"2026-03-02T12:00:01.000Z","end":"limit","from":"2","seen":"2026-03-02T12:05:00.000Z","source":"configmaps/flags in namespace \"shop\"","time":"2026-03-02T12:00:01.000Z","type":"lookback","v":1}
    {"cluster":"demo","live":false,"seen":"2026-03-02T12:05:00.000Z","type":"seam","v":1,"versions":5}
    "#);
    let args = [
        "changes", "--since", "10m", "-o", "json", "--once", "cm,pods",
    ];
    assert_snapshot!(divider(&cluster.spy().run(&args)), @r#"
    {"cluster":"demo","complete":"1","completeTime":"2026-03-02T12:00:01.000Z","end":"limit","from":"1","seen":"2026-03-02T12:05:00.000Z","source":"configmaps in namespace \"shop\"","time":"2026-03-02T12:00:01.000Z","type":"lookback","v":1}
    {"cluster":"demo","complete":"1","completeTime":"2026-03-02T12:00:01.000Z","end":"limit","from":"1","seen":"2026-03-02T12:05:00.000Z","source":"pods in namespace \"shop\"","time":"2026-03-02T12:00:01.000Z","type":"lookback","v":1}
    {"cluster":"demo","live":false,"seen":"2026-03-02T12:05:00.000Z","type":"seam","v":1,"versions":6}
    "#);
    cluster.sandbox.expire_watch_window();
    assert_snapshot!(divider(&cluster.spy().run(&named)), @r#"
    {"cluster":"demo","complete":"6","completeTime":"2026-03-02T12:00:06.000Z","end":"forgotten","from":"6","seen":"2026-03-02T12:05:00.000Z","source":"configmaps/flags in namespace \"shop\"","time":"2026-03-02T12:00:06.000Z","type":"lookback","v":1}
    {"cluster":"demo","live":false,"seen":"2026-03-02T12:05:00.000Z","type":"seam","v":1,"versions":1}
    "#);
    assert_snapshot!(divider(&cluster.spy().run(&args)), @r#"
    {"cluster":"demo","compacted":[{"created":true,"ref":{"apiVersion":"v1","cluster":"demo","kind":"ConfigMap","name":"flags","namespace":"shop","uid":"027a617d-2237-46c9-87f4-e5c44c95357a"}}],"complete":null,"end":"forgotten","from":"6","seen":"2026-03-02T12:05:00.000Z","source":"configmaps in namespace \"shop\"","time":"2026-03-02T12:00:06.000Z","type":"lookback","v":1}
    {"cluster":"demo","compacted":[{"created":true,"ref":{"apiVersion":"v1","cluster":"demo","kind":"Pod","name":"web","namespace":"shop","uid":"3d58bb03-f31a-4686-8763-de764d6fe1b0"}}],"complete":null,"end":"forgotten","from":"6","seen":"2026-03-02T12:05:00.000Z","source":"pods in namespace \"shop\"","time":"2026-03-02T12:00:06.000Z","type":"lookback","v":1}
    {"cluster":"demo","live":false,"seen":"2026-03-02T12:05:00.000Z","type":"seam","v":1,"versions":1}
    "#);
    let refusal = Effect::Status {
        code: 400,
        retry_after: None,
        body: ErrorBody::Status,
    };
    let fault = Fault::on(Verb::List, "configmaps", refusal);
    cluster.sandbox.inject(fault.range(2..=100));
    assert_snapshot!(divider(&cluster.spy().run(&args)), @r#"
    {"cause":"Error from server (BadRequest): the server rejected our request for an unknown reason","cluster":"demo","complete":null,"end":"notOffered","from":null,"seen":"2026-03-02T12:05:00.000Z","source":"configmaps in namespace \"shop\"","type":"lookback","v":1}
    {"cluster":"demo","compacted":[{"created":true,"ref":{"apiVersion":"v1","cluster":"demo","kind":"Pod","name":"web","namespace":"shop","uid":"3d58bb03-f31a-4686-8763-de764d6fe1b0"}}],"complete":null,"end":"forgotten","from":"6","seen":"2026-03-02T12:05:00.000Z","source":"pods in namespace \"shop\"","type":"lookback","v":1}
    {"cluster":"demo","live":false,"seen":"2026-03-02T12:05:00.000Z","type":"seam","v":1,"versions":0}
    "#);
}

/// No Lease dates the start of the window, and the watch cache begins after it.
#[tokio::test(flavor = "multi_thread")]
async fn what_existed_at_an_undated_start_is_told_to_its_end() {
    let cluster = Cluster::start().await;
    for name in ["flags", "gone", "app"] {
        cluster.put(config_map(name, &json!({"mode": "off"})));
    }
    cluster.tick(200);
    turn(&cluster, "on");
    for _ in 0..2 {
        cluster.delete("configmaps", "flags");
        cluster.put(config_map("flags", &json!({"mode": "a"})));
    }
    cluster.delete("configmaps", "gone");
    cluster.sandbox.expire_watch_window();
    let since = ["changes", "cm", "--once", "--since", "2m"];
    assert_snapshot!(cluster.spy().run(&since).transcript(), @r#"
    2026-03-02T12:03:24Z MODIFIED configmap/flags  2→5  96s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: "off" → "on"
    2026-03-02T12:03:24Z–2026-03-02T12:03:26Z DELETED configmap/flags  6  94–96s ago  existed up to 3m25s
    2026-03-02T12:03:26Z RECREATED configmap/flags  7  94s ago  by kubectl-create
    + .data.mode: a
      compared with the deleted object 6, another life:
    ~ .data.mode: "on" → a
    2026-03-02T12:03:26Z–2026-03-02T12:03:28Z DELETED configmap/flags  8  92–94s ago  existed up to 2s
    2026-03-02T12:03:28Z RECREATED configmap/flags  9  92s ago  by kubectl-create
    + .data.mode: a
    2026-03-02T12:03:28Z–2026-03-02T12:05:00Z DELETED configmap/gone  10  0–92s ago  existed up to 4m58s
    ── 2 of 3 objects changed, in 1 kind, back to 2026-03-02T12:03:24Z ──
    ── objects created and deleted in between may be missing ──
    "#);
    let json = [&since[..], &["-o", "json"]].concat();
    let told = cluster.spy().run(&json);
    let lines = told
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let lines: Vec<Value> = lines.collect();
    let end = lines
        .iter()
        .find(|line| line["type"] == "lookback")
        .unwrap();
    // The newest version from before the window.
    assert_eq!((&end["from"], &end["end"]), (&json!("4"), &json!("limit")));
}

#[tokio::test(flavor = "multi_thread")]
async fn leases_date_past_versions() {
    let cluster = Cluster::start().await;
    for name in ["early", "late", "flags"] {
        cluster.put(config_map(name, &json!({"mode": "off"})));
    }
    cluster.renew();
    cluster.delete("configmaps", "early");
    cluster.renew();
    cluster.tick(200);
    cluster.renew();
    cluster.delete("configmaps", "late");
    cluster.put(config_map("short", &json!({})));
    cluster.delete("configmaps", "short");
    cluster.renew();
    cluster.tick(30);
    turn(&cluster, "on");
    let since = |since| ["changes", "cm", "--once", "--since", since];
    assert_snapshot!(cluster.spy().run(&since("2m")).transcript(), @r#"
    2026-03-02T12:03:27Z–2026-03-02T12:03:29Z DELETED configmap/late  9  91–93s ago  existed up to 3m27s
    2026-03-02T12:03:29Z CREATED configmap/short  10  91s ago  by kubectl-create
    2026-03-02T12:03:29Z–2026-03-02T12:03:31Z DELETED configmap/short  11  89–91s ago  existed up to 2s
    2026-03-02T12:04:02Z MODIFIED configmap/flags  4→13  58s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: "off" → "on"
    ── 3 of 3 objects changed, in 1 kind, back to 2026-03-02T12:03:27Z–2026-03-02T12:03:29Z ──
    ── complete since 2026-03-02T12:03:00Z ──
    "#);
    assert_snapshot!(cluster.spy().run(&since("10m")).transcript(), @r#"
    2026-03-02T12:00:01Z CREATED configmap/early  2  4m59s ago  by kubectl-create
    + .data.mode: "off"
    2026-03-02T12:00:02Z CREATED configmap/late  3  4m58s ago  by kubectl-create
    + .data.mode: "off"
    2026-03-02T12:00:03Z CREATED configmap/flags  4  4m57s ago  by kubectl-create
    + .data.mode: "off"
    2026-03-02T12:00:04Z–2026-03-02T12:00:06Z DELETED configmap/early  6  4m54s–4m56s ago  existed up to 5s
    2026-03-02T12:03:27Z–2026-03-02T12:03:29Z DELETED configmap/late  9  91–93s ago  existed up to 3m27s
    2026-03-02T12:03:29Z CREATED configmap/short  10  91s ago  by kubectl-create
    2026-03-02T12:03:29Z–2026-03-02T12:03:31Z DELETED configmap/short  11  89–91s ago  existed up to 2s
    2026-03-02T12:04:02Z MODIFIED configmap/flags  4→13  +3m59s  58s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: "off" → "on"
    ── 4 of 4 objects changed, in 1 kind, back to 2026-03-02T12:00:01Z · complete since 2026-03-02T12:00:01Z ──
    "#);
    // The watch cache has versions and renewals that the store has compacted.
    cluster.sandbox.compact(cluster.sandbox.revision() - 4);
    assert_snapshot!(cluster.spy().run(&since("10m")).transcript(), @r#"
    2026-03-02T12:00:01Z CREATED configmap/early  2  4m59s ago  by kubectl-create
    + .data.mode: "off"
    2026-03-02T12:00:02Z CREATED configmap/late  3  4m58s ago  by kubectl-create
    + .data.mode: "off"
    2026-03-02T12:00:03Z CREATED configmap/flags  4  4m57s ago  by kubectl-create
    + .data.mode: "off"
    2026-03-02T12:00:04Z–2026-03-02T12:00:06Z DELETED configmap/early  6  4m54s–4m56s ago  existed up to 5s
    2026-03-02T12:03:27Z–2026-03-02T12:03:29Z DELETED configmap/late  9  91–93s ago  existed up to 3m27s
    2026-03-02T12:03:29Z CREATED configmap/short  10  91s ago  by kubectl-create
    2026-03-02T12:03:29Z–2026-03-02T12:03:31Z DELETED configmap/short  11  89–91s ago  existed up to 2s
    2026-03-02T12:04:02Z MODIFIED configmap/flags  4→13  +3m59s  58s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: "off" → "on"
    ── 4 of 4 objects changed, in 1 kind, back to 2026-03-02T12:00:01Z · complete since 2026-03-02T12:00:01Z ──
    "#);
}

/// A renewal contains the time at which it was sent, but reaches the store a moment later. So a version
/// stored before it may still be within the window.
#[tokio::test(flavor = "multi_thread")]
async fn a_version_at_the_edge_of_the_window_is_shown() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"mode": "off"})));
    cluster.renew();
    cluster.tick(177);
    cluster.delete("configmaps", "flags");
    cluster.tick(-2);
    cluster.renew();
    let args = ["changes", "cm", "--once", "--since", "2m"];
    assert_snapshot!(cluster.spy().run(&args).transcript(), @"
    2026-03-02T12:00:02Z–2026-03-02T12:02:59Z DELETED configmap/flags  4  2m1s–4m58s ago  existed up to 2m58s
    ── 1 of 1 object changed, in 1 kind, back to 2026-03-02T12:00:02Z–2026-03-02T12:02:59Z ──
    ── complete since 2026-03-02T12:03:00Z ──
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_short_line_has_the_interval_of_a_version_without_a_time() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"mode": "off", "old": "x"})));
    cluster.edit("configmaps", "flags", &json!({"data": {"old": null}}));
    let args = ["changes", "cm/flags", "--once", "-o", "short"];
    assert_snapshot!(cluster.spy().run(&args).transcript(), @"
    2026-03-02T12:00:01Z configmap/flags  kubectl-create  created
    2026-03-02T12:00:01Z–2026-03-02T12:05:00Z configmap/flags  (was kubectl-create's)  old: x → (none)
    ── 2 earlier versions, back to 2026-03-02T12:00:01Z ──
    ");
}

/// Renewals after the last version date it, if it is older than the window.
#[tokio::test(flavor = "multi_thread")]
async fn an_old_version_without_a_time_is_not_in_the_window() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"mode": "off", "old": "x"})));
    cluster.renew();
    cluster.edit("configmaps", "flags", &json!({"data": {"old": null}}));
    cluster.renew();
    cluster.tick(200);
    cluster.renew();
    for objects in ["cm", "cm/flags"] {
        let args = ["changes", objects, "--once", "--exit-code", "--since"];
        for (since, code) in [("2m", 0), ("10m", 1)] {
            let ran = cluster.spy().run(&[&args[..], &[since]].concat());
            assert_eq!(ran.status.code(), Some(code), "{}", ran.transcript());
        }
    }
}

/// An update that only removes fields leaves neither a time nor a manager.
#[tokio::test(flavor = "multi_thread")]
async fn a_version_without_a_manager_is_newer_than_its_predecessor() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"mode": "off", "old": "x"})));
    cluster.renew();
    cluster.tick(200);
    cluster.renew();
    cluster.edit("configmaps", "flags", &json!({"data": {"old": null}}));
    cluster.renew();
    cluster.tick(30);
    turn(&cluster, "on");
    for objects in ["cm", "cm/flags"] {
        let args = ["changes", objects, "--once", "--since", "2m"];
        let printed = cluster.spy().run(&args).transcript();
        let (first, _) = printed.split_once(" MODIFIED").expect("a version");
        assert_eq!(
            first, "2026-03-02T12:03:23Z–2026-03-02T12:03:25Z",
            "{printed}"
        );
        assert!(printed.contains("- .data.old: x"), "{printed}");
    }
    let args = ["changes", "cm/flags", "--once", "--since=all", "-o", "json"];
    let records = super::json::records(&cluster.spy().run(&args));
    let times = records.iter().filter(|record| record["type"] == "modified");
    let times: Vec<String> = times
        .map(|record| format!("{}–{}", record["time"], record["timeUntil"]))
        .collect();
    assert_eq!(
        times,
        [
            r#""2026-03-02T12:03:23.000Z"–"2026-03-02T12:03:25.000Z""#,
            r#""2026-03-02T12:03:56.000Z"–null"#,
        ]
    );
}

/// An autoscaler scales the Deployment `web`.
fn scale(cluster: &Cluster, replicas: u32) {
    cluster.tick(1);
    let by = Writer::new("kube-controller-manager").on("scale");
    let target = Target::new("deployments", "shop", "web");
    let patch = json!({"spec": {"replicas": replicas}});
    cluster.sandbox.patch(&target, &patch, &by).unwrap();
}

/// A Deployment that was scaled three minutes after its creation.
async fn scaled() -> Cluster {
    let cluster = Cluster::start().await;
    cluster.put(deployment("web", 1));
    cluster.tick(179);
    cluster.put(config_map("flags", &json!({"mode": "off"})));
    scale(&cluster, 2);
    scale(&cluster, 3);
    cluster.tick(9);
    turn(&cluster, "on");
    cluster
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scale_has_no_time_of_its_own() {
    let cluster = scaled().await;
    let all = ["changes", "deploy,cm", "--since", "all", "--once"];
    assert_snapshot!(cluster.spy().run(&all).transcript(), @r#"
    2026-03-02T12:00:01Z CREATED deployment/web  2  4m59s ago  by kubectl-create
    + .spec.replicas: 1
    + .spec.selector: {matchLabels: {app: web}}
    + .spec.template: {metadata: {labels: {app: web}}, spec: {containers: [{image: app:1, name: app}]}}
    + .spec.template.spec.containers[name=app].image: app:1
    2026-03-02T12:03:01Z CREATED configmap/flags  3  119s ago  by kubectl-create
    + .data.mode: "off"
    2026-03-02T12:03:01Z–2026-03-02T12:03:13Z MODIFIED deployment/web  2→4  107–119s ago  by kube-controller-manager (scale)  1 change, 3 hidden
    ~ .spec.replicas: 1 → 2
    2026-03-02T12:03:01Z–2026-03-02T12:03:13Z MODIFIED deployment/web  4→5  107–119s ago  probably by kube-controller-manager (scale)  1 change, 2 hidden
    ~ .spec.replicas: 2 → 3
    2026-03-02T12:03:13Z MODIFIED configmap/flags  3→6  +12s  107s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: "off" → "on"
      probably by X: no writer is recorded, and X owned these values before
    ── 2 of 2 objects changed, in 2 kinds, back to 2026-03-02T12:00:01Z · complete since 2026-03-02T12:00:01Z ──
    "#);
    // The scale is newer than the version recorded before it.
    for objects in ["deploy/web", "deploy"] {
        let lately = ["changes", objects, "--since", "3m", "--once"];
        let printed = cluster.spy().run(&lately).transcript();
        let first = printed.find(".spec.replicas: 1 → 2");
        assert!(first < printed.find(".spec.replicas: 2 → 3"), "{printed}");
        assert!(first.is_some() && !printed.contains("CREATED"), "{printed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreadable_kind_is_one_line() {
    let user = User {
        name: "jane".to_owned(),
        token: String::new(),
        rules: vec![Rule::allow("*", "configmaps")],
    };
    let cluster = Cluster::start_with(|options| options.users = vec![user]).await;
    cluster.put(config_map("flags", &json!({"mode": "off"})));
    let args = ["changes", "cm,secrets,pods", "--since", "10m", "--once"];
    assert_snapshot!(cluster.spy().run(&args).transcript(), @r#"
    2026-03-02T12:00:01Z CREATED configmap/flags  2  4m59s ago  by kubectl-create
    + .data.mode: "off"
    ── 1 of 1 object changed, in 1 kind, back to 2026-03-02T12:00:01Z ──
    ! Error from server (Forbidden): secrets is forbidden: User "jane" cannot list resource "secrets" in API group "" in the namespace "shop"
    ! Error from server (Forbidden): pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "shop"
    "#);
    let none = ["changes", "secrets", "--since", "10m", "--once"];
    assert_snapshot!(cluster.spy().run(&none).transcript(), @r#"
    ! Error from server (Forbidden): secrets is forbidden: User "jane" cannot list resource "secrets" in API group "" in the namespace "shop"
    ! hint: try `kubectl auth can-i list secrets -n shop`
    "#);
    // The JSON output still contains the end of the past.
    let ran = cluster.spy().run(&[&none[..], &["-o", "json"]].concat());
    assert_snapshot!(divider(&ran), @r#"
    {"cause":"Error from server (Forbidden): secrets is forbidden: User \"jane\" cannot list resource \"secrets\" in API group \"\" in the namespace \"shop\"","cluster":"demo","complete":null,"end":"notRead","from":null,"seen":"2026-03-02T12:05:00.000Z","source":"secrets in namespace \"shop\"","type":"lookback","v":1}
    {"cluster":"demo","live":false,"seen":"2026-03-02T12:05:00.000Z","type":"seam","v":1,"versions":0}
    "#);
    let ran = cluster.spy().run(&[&args[..], &["-o", "json"]].concat());
    assert_snapshot!(divider(&ran), @r#"
    {"cluster":"demo","complete":"1","completeTime":"2026-03-02T12:00:01.000Z","end":"limit","from":"1","seen":"2026-03-02T12:05:00.000Z","source":"configmaps in namespace \"shop\"","time":"2026-03-02T12:00:01.000Z","type":"lookback","v":1}
    {"cause":"Error from server (Forbidden): pods is forbidden: User \"jane\" cannot list resource \"pods\" in API group \"\" in the namespace \"shop\"","cluster":"demo","complete":null,"end":"notRead","from":null,"seen":"2026-03-02T12:05:00.000Z","source":"pods in namespace \"shop\"","type":"lookback","v":1}
    {"cause":"Error from server (Forbidden): secrets is forbidden: User \"jane\" cannot list resource \"secrets\" in API group \"\" in the namespace \"shop\"","cluster":"demo","complete":null,"end":"notRead","from":null,"seen":"2026-03-02T12:05:00.000Z","source":"secrets in namespace \"shop\"","type":"lookback","v":1}
    {"cluster":"demo","live":false,"seen":"2026-03-02T12:05:00.000Z","type":"seam","v":1,"versions":1}
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_leaves_a_selector_is_not_deleted() {
    let cluster = Cluster::start().await;
    cluster.put(pod("web", &json!({"app": "web"})));
    cluster.put(pod("gone", &json!({"app": "web"})));
    let label = json!({"metadata": {"labels": {"app": "db"}}});
    cluster.edit("pods", "web", &label);
    cluster.delete("pods", "gone");
    let args = [
        "changes",
        "pods",
        "-l",
        "app=web",
        "--since-rv",
        "3",
        "--once",
    ];
    assert_snapshot!(cluster.spy().run(&args).transcript(), @r#"
    2026-03-02T12:00:01Z–2026-03-02T12:05:00Z LEFT pod/web  4  0s–4m59s ago
    2026-03-02T12:00:02Z–2026-03-02T12:05:00Z DELETED pod/gone  5  0s–4m58s ago  existed up to 4m58s
    ── 2 of 2 objects changed, in 1 kind, back to 2026-03-02T12:00:01Z–2026-03-02T12:05:00Z · complete ──
    "#);
}

/// An object that starts to match a selector is not created, whether its version before can be read or not.
#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_joins_a_selector_is_not_created() {
    let cluster = Cluster::start().await;
    cluster.put(pod("web", &json!({"app": "db"})));
    cluster.tick(60);
    let label = json!({"metadata": {"labels": {"app": "web"}}});
    cluster.edit("pods", "web", &label);
    cluster.put(pod("new", &json!({"app": "web"})));
    let args = [
        "changes",
        "pods",
        "-l",
        "app=web",
        "--since-rv",
        "2",
        "--once",
    ];
    assert_snapshot!(cluster.spy().run(&args).transcript(), @r"
    2026-03-02T12:01:02Z MODIFIED pod/web  2→3  3m58s ago  by kubectl-edit  1 change, 2 hidden
    ~ .metadata.labels.app: db → web
    2026-03-02T12:01:03Z CREATED pod/new  4  3m57s ago  by kubectl-create
    + .metadata.labels: {app: web}
    + .spec.containers: [{image: app:1, name: app}]
    ── 2 of 2 objects changed, in 1 kind, back to 2026-03-02T12:01:02Z · complete since 2026-03-02T12:01:02Z ──
    ");
    cluster.put(config_map("flags", &json!({})));
    cluster.sandbox.compact(cluster.sandbox.revision());
    let printed = cluster.spy().run(&args).transcript();
    assert!(!printed.contains("CREATED pod/web"), "{printed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn versions_with_only_noise_are_counted() {
    let cluster = two_lives().await;
    let same = config_map("flags", &json!({"mode": "b"}));
    for manager in ["argocd", "flux"] {
        cluster.tick(1);
        cluster
            .sandbox
            .apply(same.clone(), &Writer::new(manager))
            .unwrap();
    }
    let ran = cluster
        .spy()
        .run(&["changes", "cm/flags", "--once", "--since-rv", "6"]);
    assert_snapshot!(ran.transcript(), @r#"
    2026-03-02T12:00:06Z MODIFIED configmap/flags  6→7  4m54s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: a → b
    ── 1 earlier version (2 hidden), back to 2026-03-02T12:00:06Z ──
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_the_servers_history_is_shown() {
    let cluster = two_lives().await;
    turn(&cluster, "c");
    cluster.sandbox.compact(cluster.sandbox.revision() - 1);
    cluster.sandbox.expire_watch_window();
    let ran = cluster.spy().run(&["changes", "cm/flags", "--once"]);
    assert_snapshot!(ran.transcript(), @r#"
    2026-03-02T12:00:07Z MODIFIED configmap/flags  7→8  4m53s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: b → c
    ── 1 earlier version, back to 2026-03-02T12:00:07Z · the server's history starts before 2026-03-02T12:00:07Z ──
    "#);
    cluster.sandbox.compact(cluster.sandbox.revision());
    let ran = cluster.spy().run(&["changes", "cm/flags", "--once"]);
    assert_snapshot!(ran.transcript(), @r#"
    ── no earlier version · the server has compacted older versions ──
    2026-03-02T12:05:00Z EXISTING configmap/flags  8
    "#);
}

/// The store has no old version any more, but the watch cache has every event.
#[tokio::test(flavor = "multi_thread")]
async fn compacted_versions_come_from_the_watch_cache() {
    let cluster = two_lives().await;
    let run = |args: &[&str]| {
        cluster
            .spy()
            .run(&[&["changes"], args].concat())
            .transcript()
    };
    let commands: [&[&str]; 5] = [
        &["cm/flags", "--once"],
        &["cm/flags", "--once", "--since", "all"],
        &["cm/flags", "--once", "--since-rv", "1"],
        &["cm/flags", "--once", "--since", "10m", "-o", "json"],
        &["cm/flags", "--once", "-o", "yaml"],
    ];
    for is_deleted in [false, true] {
        if is_deleted {
            cluster.delete("configmaps", "flags");
            cluster.put(pod("other", &json!({})));
        }
        let before: Vec<String> = commands.iter().map(|args| run(args)).collect();
        cluster.sandbox.compact(cluster.sandbox.revision());
        let after: Vec<String> = commands.iter().map(|args| run(args)).collect();
        assert_eq!(after, before);
    }
    assert!(run(commands[1]).contains("6 earlier versions"));
    assert!(run(commands[4]).contains("mode: b"));
}

/// The watch cache begins in the middle of a lifetime.
#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_the_watch_cache_is_shown() {
    let cluster = two_lives().await;
    cluster.sandbox.expire_watch_window();
    turn(&cluster, "c");
    turn(&cluster, "d");
    cluster.sandbox.compact(cluster.sandbox.revision());
    let all = ["changes", "cm/flags", "--once", "--since", "all"];
    assert_snapshot!(cluster.spy().run(&all).transcript(), @r#"
    2026-03-02T12:00:08Z MODIFIED configmap/flags  8→9  4m52s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: c → d
    ── 1 earlier version, back to 2026-03-02T12:00:08Z · the server's history starts before 2026-03-02T12:00:08Z ──
    "#);
    // Only the event of the deletion is left, which has the last state.
    cluster.sandbox.expire_watch_window();
    cluster.delete("configmaps", "flags");
    cluster.sandbox.compact(cluster.sandbox.revision());
    let yaml = ["changes", "cm/flags", "--once", "-o", "yaml"];
    let ran = cluster.spy().run(&yaml);
    assert_eq!(ran.status.code(), Some(0), "{}", ran.transcript());
    assert!(ran.stdout.contains("mode: d"), "{}", ran.transcript());
    // Now nothing is left, and a message shows why.
    cluster.sandbox.expire_watch_window();
    cluster.put(pod("other", &json!({})));
    cluster.sandbox.compact(cluster.sandbox.revision());
    let ran = cluster.spy().run(&yaml);
    assert_eq!(ran.status.code(), Some(1));
    assert_snapshot!(ran.stderr, @r#"
    no earlier version of configmaps/flags in namespace "shop": the server has compacted older versions
    Error from server (NotFound): configmaps "flags" not found
    hint: to wait until it is created, drop --once
    "#);
}

/// Nothing is left of the window but the objects themselves. What they record of it counts.
#[tokio::test(flavor = "multi_thread")]
async fn a_write_in_the_window_counts_although_its_version_is_compacted() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("old", &json!({"mode": "off"})));
    cluster.put(config_map("same", &json!({"mode": "off"})));
    cluster.tick(120);
    cluster.put(config_map("new", &json!({"mode": "off"})));
    cluster.edit("configmaps", "old", &json!({"data": {"mode": "on"}}));
    cluster.put(pod("other", &json!({})));
    cluster.sandbox.compact(cluster.sandbox.revision());
    cluster.sandbox.expire_watch_window();
    let created = "created in the window, but the server has compacted that version: configmap/new";
    let changed =
        "changed in the window, but the server has compacted the version before: configmap/old";
    for (args, code, words) in [
        // The window begins before both writes, between them, and after them.
        (&["cm/new", "--since=4m"][..], 1, &[created][..]),
        (&["cm/old", "--since=4m"], 1, &[changed]),
        (&["cm", "--since=4m"], 1, &[created, changed]),
        (&["--since=4m"], 1, &["configmap/new"]),
        (&["cm/old", "cm/new", "--since=176s"], 1, &[changed]),
        (&["cm", "--since=1m"], 0, &[]),
        (&["cm/same", "--since=4m"], 0, &[]),
        (&["cm/new", "--since=10m", "-o", "name"], 1, &[created]),
        // A window by revisions.
        (&["cm/old", "--since-rv=4"], 1, &[changed]),
        (&["cm", "--since-rv=4"], 1, &[changed]),
        (&["cm/same", "--since-rv=4"], 0, &[]),
        // A window without a start has no writes before the first versions.
        (&["cm", "--since=all"], 0, &[]),
        // Nobody knows who wrote, and what.
        (
            &["cm", "--since=4m", "--by=kubectl-*"],
            0,
            &[created, changed],
        ),
        (&["cm/old", "--since=4m", "--only=data"], 0, &[changed]),
        (&["cm/new", "--since=4m", "--only=data"], 1, &[created]),
    ] {
        let args = [&["changes", "--once", "--exit-code"], args].concat();
        let ran = cluster.spy().run(&args);
        let printed = ran.transcript();
        assert_eq!(ran.status.code(), Some(code), "{args:?}: {printed}");
        let told = printed.matches("in the window").count();
        assert!(
            words.iter().all(|words| printed.contains(words)),
            "{args:?}: {printed}"
        );
        assert!(
            told >= words.len() && (told == 0) == words.is_empty(),
            "{args:?}: {printed}"
        );
    }
    let json = ["changes", "cm/new", "--since=4m", "--once", "-o", "json"];
    let records = super::json::records(&cluster.spy().run(&json));
    let lookback = records.iter().find(|record| record["type"] == "lookback");
    let compacted = &lookback.unwrap()["compacted"][0];
    assert_eq!(compacted["ref"]["name"], "new");
    assert_eq!(compacted["created"], true);
}

/// The watch cache begins after the start of the window: its first event is a change, but the version before is unknown.
#[tokio::test(flavor = "multi_thread")]
async fn the_first_change_in_the_watch_cache_is_named() {
    let cluster = two_lives().await;
    cluster.sandbox.expire_watch_window();
    turn(&cluster, "c");
    turn(&cluster, "d");
    cluster.delete("configmaps", "flags");
    cluster.put(pod("other", &json!({})));
    cluster.sandbox.compact(cluster.sandbox.revision());
    let args = ["changes", "cm/flags", "--once", "--since-rv", "6"];
    assert_snapshot!(cluster.spy().run(&args).transcript(), @r"
    2026-03-02T12:00:08Z MODIFIED configmap/flags  8→9  4m52s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: c → d
    2026-03-02T12:00:08Z–2026-03-02T12:05:00Z DELETED configmap/flags  10  0s–4m52s ago  existed up to 4m55s
    changed in the window, but the server has compacted the version before: configmap/flags
    ── 2 earlier versions, back to 2026-03-02T12:00:08Z · the server's history starts before 2026-03-02T12:00:08Z ──
    ");
    let args = ["changes", "cm", "--once", "--since-rv", "6"];
    let printed = cluster.spy().run(&args).transcript();
    assert!(printed.contains("DELETED configmap/flags"), "{printed}");
}

/// The version before a deletion is unknown, so the deletion has an interval, which begins with the creation.
#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_without_a_version_before_it_has_no_exact_time() {
    let cluster = two_lives().await;
    cluster.sandbox.compact(cluster.sandbox.revision());
    for objects in ["cm/flags", "cm"] {
        let args = ["changes", objects, "--once", "--since-rv", "3"];
        let printed = cluster.spy().run(&args).transcript();
        let first = "2026-03-02T12:00:01Z–2026-03-02T12:00:05Z DELETED configmap/flags  4";
        assert!(printed.starts_with(first), "{objects}: {printed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_yaml_of_a_deleted_object_names_the_reason_for_nothing() {
    let cluster = two_lives().await;
    cluster.delete("configmaps", "flags");
    cluster.sandbox.expire_watch_window();
    for (code, cause) in [(400, "BadRequest"), (501, "unknown"), (403, "Forbidden")] {
        let refusal = Effect::Status {
            code,
            retry_after: None,
            body: ErrorBody::Status,
        };
        cluster.sandbox.clear_faults();
        let fault = Fault::on(Verb::List, "configmaps", refusal);
        cluster.sandbox.inject(fault.range(2..=100));
        let ran = cluster
            .spy()
            .run(&["changes", "cm/flags", "--once", "-o", "yaml"]);
        assert_eq!(ran.status.code(), Some(1), "{}", ran.transcript());
        let reason = "no look-back for configmaps/flags in namespace \"shop\": Error from server";
        assert!(ran.stderr.contains(reason), "{cause}: {}", ran.stderr);
    }
}

/// An object that left the selector was not deleted, even if no version of that time can be read.
#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_left_a_selector_is_known_from_the_watch_cache() {
    let cluster = Cluster::start().await;
    cluster.put(pod("web", &json!({"app": "web"})));
    cluster.put(pod("gone", &json!({"app": "web"})));
    let label = json!({"metadata": {"labels": {"app": "db"}}});
    cluster.edit("pods", "web", &label);
    cluster.delete("pods", "gone");
    cluster.put(config_map("flags", &json!({})));
    cluster.sandbox.compact(cluster.sandbox.revision());
    let args = [
        "changes",
        "pods",
        "-l",
        "app=web",
        "--since-rv",
        "3",
        "--once",
    ];
    let printed = cluster.spy().run(&args).transcript();
    assert!(printed.contains(" LEFT pod/web"), "{printed}");
    assert!(printed.contains(" DELETED pod/gone"), "{printed}");
}

/// The time of the default look-back ends before it has read anything, or before it has read everything.
#[tokio::test(flavor = "multi_thread")]
async fn versions_that_are_not_read_in_time_are_not_called_absent() {
    let silence = Effect::Stall {
        at: Place::BeforeHeaders,
    };
    let run = async |nth: u32, more: &[&str]| {
        let cluster = two_lives().await;
        cluster.sandbox.expire_watch_window();
        let fault = Fault::on(Verb::List, "configmaps", silence.clone());
        cluster.sandbox.inject(fault.range(nth..=100));
        let args = [&["changes", "cm/flags", "--once"], more].concat();
        cluster.spy().run(&args)
    };
    assert_snapshot!(run(2, &[]).await.transcript(), @"
    ── earlier versions not read in 1 s: --since 5m ──
    2026-03-02T12:05:00Z EXISTING configmap/flags  7
    ");
    assert_snapshot!(run(3, &[]).await.transcript(), @r#"
    2026-03-02T12:00:06Z MODIFIED configmap/flags  6→7  4m54s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: a → b
    ── 1 earlier version read, back to 2026-03-02T12:00:06Z · older versions not read in 1 s: --since 5m ──
    "#);
    for nth in [2, 3] {
        let ran = run(nth, &["-o", "json"]).await;
        let divider = divider(&ran);
        let (lookback, _) = divider.split_once('\n').unwrap();
        assert_eq!(
            lookback,
            r#"{"cause":"not read in 1 s","cluster":"demo","complete":null,"end":"interrupted","from":null,"seen":"2026-03-02T12:05:00.000Z","source":"configmaps/flags in namespace \"shop\"","type":"lookback","v":1}"#
        );
    }
}

/// A server that answers the default look-back with an error is named with that error.
#[tokio::test(flavor = "multi_thread")]
async fn an_error_during_the_default_look_back_is_shown() {
    let cluster = two_lives().await;
    cluster.sandbox.expire_watch_window();
    let failure = Effect::Status {
        code: 500,
        retry_after: None,
        body: ErrorBody::Status,
    };
    let fault = Fault::on(Verb::List, "configmaps", failure);
    cluster.sandbox.inject(fault.clone().range(2..=100));
    let ran = cluster.spy().run(&["changes", "cm/flags", "--once"]);
    let first = ran.stdout.lines().next().unwrap();
    let cause = "no look-back for configmaps/flags in namespace \"shop\": Error from server (InternalError): ";
    assert!(first.starts_with(cause), "{}", ran.transcript());
    assert!(!ran.stdout.contains("──"), "{}", ran.transcript());
    cluster.sandbox.clear_faults();
    cluster.sandbox.inject(fault.range(2..=100));
    let ran = cluster
        .spy()
        .run(&["changes", "cm/flags", "--once", "-o", "json"]);
    let divider = divider(&ran);
    assert!(divider.contains(r#""end":"failed""#), "{divider}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_has_one_timeline() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"mode": "off"})));
    cluster.put(config_map("same", &json!({})));
    cluster.put(pod("gone", &json!({})));
    let then = cluster.sandbox.revision().to_string();
    turn(&cluster, "on");
    cluster.put(pod("web", &json!({})));
    cluster.delete("pods", "gone");
    turn(&cluster, "auto");
    let ran = cluster
        .spy()
        .run(&["changes", "--since-rv", &then, "--once"]);
    assert_snapshot!(ran.transcript(), @r#"
    2026-03-02T12:00:04Z MODIFIED configmap/flags  2→5  4m56s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: "off" → "on"
    2026-03-02T12:00:05Z CREATED pod/web  6  4m55s ago  by kubectl-create
    + .spec.containers: [{image: app:1, name: app}]
    2026-03-02T12:00:05Z–2026-03-02T12:00:07Z DELETED pod/gone  7  4m53s–4m55s ago  existed up to 4s
    2026-03-02T12:00:07Z MODIFIED configmap/flags  5→8  +3s  4m53s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: "on" → auto
    ── 3 of 4 objects changed, in 2 kinds, back to 2026-03-02T12:00:04Z · complete since 2026-03-02T12:00:04Z ──
    ── cluster-scoped kinds are not read: -A ──
    "#);
}

/// An Event about an object.
fn event_about(object: &serde_json::Value) -> serde_json::Value {
    json!({
        "apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": "Evicted",
        "message": "The node was low on memory",
        "metadata": {"name": format!("{}.1", object["metadata"]["name"].as_str().unwrap()), "namespace": "shop"},
        "involvedObject": {
            "apiVersion": object["apiVersion"], "kind": object["kind"], "namespace": "shop",
            "name": object["metadata"]["name"], "uid": object["metadata"]["uid"],
        },
    })
}

/// The watch cache no longer has the deletion, and only an Event in the listings of now names the object.
#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_is_found_without_the_watch_cache() {
    let cluster = Cluster::start().await;
    let before = cluster.sandbox.revision().to_string();
    let gone = cluster.put(pod("gone", &json!({})));
    let then = cluster.sandbox.revision().to_string();
    cluster.put(event_about(&gone));
    cluster.delete("pods", "gone");
    cluster.put(config_map("flags", &json!({"mode": "off"})));
    cluster.sandbox.expire_watch_window();
    let since = |then: &str| {
        let args = ["changes", "--since-rv", then, "--once"];
        cluster.spy().run(&args).transcript()
    };
    assert_snapshot!(since(&then), @r#"
    2026-03-02T12:00:02Z Warning Evicted pod/gone: The node was low on memory
    2026-03-02T12:00:02Z–2026-03-02T12:00:04Z DELETED pod/gone  4  4m56s–4m58s ago  existed up to 3s
    2026-03-02T12:00:04Z CREATED configmap/flags  5  4m56s ago  by kubectl-create
    + .data.mode: "off"
    ── 3 of 3 objects changed, in 3 kinds, back to 2026-03-02T12:00:02Z ──
    ── objects created and deleted in between may be missing · cluster-scoped kinds are not read: -A ──
    "#);
    // It was created after the start, so neither listing has it.
    assert_snapshot!(since(&before), @r#"
    2026-03-02T12:00:02Z Warning Evicted pod/gone: The node was low on memory
    2026-03-02T12:00:04Z CREATED configmap/flags  5  4m56s ago  by kubectl-create
    + .data.mode: "off"
    ── 2 of 2 objects changed, in 2 kinds, back to 2026-03-02T12:00:02Z ──
    ── objects created and deleted in between may be missing · cluster-scoped kinds are not read: -A ──
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_a_past_is_reported_once() {
    let cluster = two_lives().await;
    cluster.sandbox.expire_watch_window();
    let refusal = Effect::Status {
        code: 400,
        retry_after: None,
        body: ErrorBody::Status,
    };
    let fault = Fault::on(Verb::List, "configmaps", refusal);
    cluster.sandbox.inject(fault.range(2..=100));
    let mut run = cluster.spy().start(&["changes", "cm/flags"]);
    run.until("EXISTING");
    turn(&cluster, "c");
    run.until("b → c");
    assert_snapshot!(super::interrupted(run).transcript(), @r#"
    no look-back for configmaps/flags in namespace "shop": Error from server (BadRequest): the server rejected our request for an unknown reason
    2026-03-02T12:05:00Z EXISTING configmap/flags  7
    2026-03-02T12:05:00Z MODIFIED configmap/flags  7→8  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: b → c
    "#);
}

/// The program waits for a missing object, and reports that its past is unknown.
#[tokio::test(flavor = "multi_thread")]
async fn a_look_back_without_an_answer_ends_with_a_message() {
    let cluster = two_lives().await;
    cluster.sandbox.expire_watch_window();
    let silence = Effect::Stall {
        at: Place::BeforeHeaders,
    };
    let fault = Fault::on(Verb::List, "configmaps", silence);
    cluster.sandbox.inject(fault.range(2..=100));
    let mut run = cluster.spy().start(&["changes", "cm/none"]);
    run.until("waiting for");
    assert_snapshot!(super::interrupted(run).transcript(), @r#"
    ── live since 2026-03-02T12:05:00Z · earlier versions not read in 1 s: --since 5m ──
    ! waiting for configmaps/none in namespace "shop"
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_number_without_a_unit_is_refused() {
    let ran = Cluster::start()
        .await
        .spy()
        .run(&["changes", "cm/flags", "--since", "300"]);
    assert_eq!(ran.status.code(), Some(1));
    assert_snapshot!(ran.stderr, @r#"
    error: invalid argument "300" for "--since" flag: add a unit: 300s or 300m; for a resourceVersion, use --since-rv
    See 'kubectl spy changes --help' for usage.
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn since_uses_the_servers_clock() {
    // This machine's clock is five minutes ahead.
    let cluster = Cluster::start_with(dated).await;
    cluster.put(config_map("old", &json!({"mode": "off"})));
    cluster.tick(600);
    cluster.put(config_map("new", &json!({"mode": "off"})));
    let noon_and = cluster.now();
    let now = noon_and + jiff::SignedDuration::from_secs(300);
    let spy = cluster.spy().var("KUBECTL_SPY_NOW", &now.to_string());
    let ran = spy.run(&["changes", "cm", "--since", "1m", "--once"]);
    assert_snapshot!(ran.transcript(), @r#"
    2026-03-02T12:10:02Z CREATED configmap/new  3  0s ago  by kubectl-create
    + .data.mode: "off"
    ── 1 of 2 objects changed, in 1 kind, back to 2026-03-02T12:10:02Z · complete since 2026-03-02T12:09:02Z ──
    ! this machine's clock is 5m ahead of the Date of the server's responses; earlier versions show the server's time
    "#);
    // Clocks that agree are not mentioned.
    let spy = cluster.spy().var("KUBECTL_SPY_NOW", &noon_and.to_string());
    let ran = spy.run(&["changes", "cm", "--since", "1m", "--once"]);
    assert!(ran.stdout.contains("configmap/new"), "{}", ran.transcript());
    assert_eq!(ran.stderr, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_read_is_retried() {
    let cluster = Cluster::start().await;
    for at in 0..10 {
        cluster.put(config_map(&format!("a{at}"), &json!({"mode": "off"})));
    }
    for at in 0..10 {
        let patch = json!({"data": {"mode": "on"}});
        cluster.edit("configmaps", &format!("a{at}"), &patch);
    }
    // The first read is the listing.
    let overload = Effect::Status {
        code: 429,
        retry_after: Some(0),
        body: ErrorBody::Status,
    };
    let fault = Fault::on(Verb::List, "configmaps", overload).range(2..=4);
    cluster.sandbox.inject(fault);
    let since = ["changes", "cm", "--since-rv", "11", "--once"];
    let ran = cluster.spy().run(&since);
    let changed = ran.stdout.matches("MODIFIED").count();
    assert_eq!(changed, 10, "{}", ran.transcript());
    let whole = "── 10 of 10 objects changed, in 1 kind";
    assert!(ran.stdout.contains(whole), "{}", ran.transcript());
}
