//! What `changes` tells of the time before it was started.

use insta::assert_snapshot;
use kubectl_spy::sandbox::{Effect, ErrorBody, Fault, Verb};
use serde_json::json;

use super::super::support::cluster::{Cluster, config_map, pod};

fn turn(cluster: &Cluster, mode: &str) {
    let patch = json!({"data": {"mode": mode}});
    cluster.edit("configmaps", "flags", &patch);
}

/// A `ConfigMap` with two lives, and a change of another object between them.
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
    2026-03-02T12:00:01.000Z CREATED configmap/flags  2  4m59s ago  by kubectl-create
    + .data.mode: "off"
    2026-03-02T12:00:02.000Z MODIFIED configmap/flags  2→3  +1s  4m58s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: "off" → "on"
    2026-03-02T12:00:02.000Z–2026-03-02T12:00:05.000Z DELETED configmap/flags  4  4m58s ago  after 1s
    2026-03-02T12:00:05.000Z RECREATED configmap/flags  6  4m55s ago  by kubectl-create
    + .data.mode: a
    2026-03-02T12:00:06.000Z MODIFIED configmap/flags  6→7  +1s  4m54s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: a → b
    ── live since 2026-03-02T12:05:00.000Z · 5 earlier versions, back to 2026-03-02T12:00:01.000Z ──
    2026-03-02T12:05:00.000Z MODIFIED configmap/flags  7→8  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: b → c
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_is_gone_is_told_of() {
    let cluster = two_lives().await;
    cluster.delete("configmaps", "flags");
    let since_all = ["changes", "cm/flags", "--since", "all", "--once"];
    let ran = cluster.spy().run(&since_all);
    assert!(ran.status.success());
    assert_snapshot!(ran.transcript(), @r#"
    2026-03-02T12:00:01.000Z CREATED configmap/flags  2  4m59s ago  by kubectl-create
    + .data.mode: "off"
    2026-03-02T12:00:02.000Z MODIFIED configmap/flags  2→3  +1s  4m58s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: "off" → "on"
    2026-03-02T12:00:02.000Z–2026-03-02T12:00:05.000Z DELETED configmap/flags  4  4m58s ago  after 1s
    2026-03-02T12:00:05.000Z RECREATED configmap/flags  6  4m55s ago  by kubectl-create
    + .data.mode: a
    2026-03-02T12:00:06.000Z MODIFIED configmap/flags  6→7  +1s  4m54s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: a → b
    2026-03-02T12:00:06.000Z–2026-03-02T12:05:00.000Z DELETED configmap/flags  8  4m54s ago  after 1s
    ── 6 earlier versions, back to 2026-03-02T12:00:01.000Z ──
    "#);
    // One that never was is still not found.
    let ran = cluster
        .spy()
        .run(&["changes", "cm/none", "--since", "all", "--once"]);
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
    let records: Vec<String> = ran
        .stdout
        .lines()
        .map(|line| {
            let record = super::json::record(line);
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
    true "deleted" "3"→"4" seen null at "2026-03-02T12:00:02.000Z" until 2026-03-02T12:00:05.000Z
    true "recreated" null→"6" seen null at "2026-03-02T12:00:05.000Z"
    true "modified" "6"→"7" seen null at "2026-03-02T12:00:06.000Z"
    false "baseline" null→"7" seen "2026-03-02T12:05:00.000Z" at "2026-03-02T12:00:06.000Z"
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_the_servers_memory_is_named() {
    let cluster = two_lives().await;
    turn(&cluster, "c");
    cluster.sandbox.compact(cluster.sandbox.revision() - 1);
    let ran = cluster.spy().run(&["changes", "cm/flags", "--once"]);
    assert_snapshot!(ran.transcript(), @r#"
    2026-03-02T12:00:07.000Z MODIFIED configmap/flags  7→8  +1s  4m53s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: b → c
    ── 1 earlier version, back to 2026-03-02T12:00:07.000Z · the server has forgotten what was before ──
    "#);
    cluster.sandbox.compact(cluster.sandbox.revision());
    let ran = cluster.spy().run(&["changes", "cm/flags", "--once"]);
    assert_snapshot!(ran.transcript(), @r#"
    ── no earlier version · the server has forgotten what was before ──
    2026-03-02T12:05:00.000Z EXISTING configmap/flags  8
    "#);
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
    2026-03-02T12:00:04.000Z MODIFIED configmap/flags  2→5  +3s  4m56s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: "off" → "on"
    2026-03-02T12:00:05.000Z CREATED pod/web  6  4m55s ago  by kubectl-create
    + .spec.containers: [{image: app:1, name: app}]
    2026-03-02T12:00:05.000Z–2026-03-02T12:00:07.000Z DELETED pod/gone  7  4m55s ago  after 2s
    2026-03-02T12:00:07.000Z MODIFIED configmap/flags  5→8  +3s  4m53s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: "on" → auto
    ── 3 of 3 objects changed in 2 kinds, back to 2026-03-02T12:00:04.000Z · objects that lived only in between may be missing ──
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_a_past_is_said_so_once() {
    let cluster = two_lives().await;
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
    2026-03-02T12:05:00.000Z EXISTING configmap/flags  7
    2026-03-02T12:05:00.000Z MODIFIED configmap/flags  7→8  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: b → c
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
    error: invalid value '300' for '--since <DURATION|all|0>': a duration has a unit: 300s or 300m? A resourceVersion is given to --since-rv
    See 'kubectl spy --help' for usage.
    "#);
}
