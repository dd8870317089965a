//! Tests of the words about what `changes` has of the past, if a record begins later than the window.

use insta::assert_snapshot;
use serde_json::json;

use super::record::{Folder, wait_for};
use super::support::Running;
use super::support::cluster::{Cluster, config_map, deployment};

/// Starts a recorder at 12:01 or later, and waits until a file has this row.
fn record(folder: &Folder, cluster: &Cluster, now: &str, row: &str) -> Running {
    let spy = folder.spy(cluster).var("KUBECTL_SPY_NOW", now);
    let mut run = spy.start(&["record", "cm", "-n", "shop"]);
    run.until("recording");
    wait_for(folder, row);
    run
}

/// A record of the `ConfigMaps` of a namespace, of which one existed only briefly. The recorder still runs.
async fn recorded() -> (Cluster, Folder, Running) {
    let cluster = Cluster::start().await;
    let folder = Folder::of(&cluster);
    cluster.put(config_map("flags", &json!({"mode": "a"})));
    let run = record(&folder, &cluster, "2026-03-02T12:01:00Z", "flags 2 Listed");
    cluster.put(config_map("short", &json!({})));
    cluster.delete("configmaps", "short");
    wait_for(&folder, "short 4 Deleted");
    (cluster, folder, run)
}

fn forget(cluster: &Cluster) {
    cluster.sandbox.compact(cluster.sandbox.revision());
    cluster.sandbox.expire_watch_window();
}

/// The changes of the last hour. The server has forgotten most of them.
fn changes(cluster: &Cluster, folder: &Folder, args: &[&str]) -> String {
    let all = ["changes", "--since=1h", "--once", "-o", "short"];
    let spy = folder.spy(cluster);
    spy.run(&[&all[..], args].concat()).transcript()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_existed_only_briefly_in_the_record_is_shown() {
    let (cluster, folder, run) = recorded().await;
    run.interrupt();
    forget(&cluster);
    assert_snapshot!(changes(&cluster, &folder, &["cm"]), @"
    2026-03-02T12:00:02Z configmap/short  kubectl-create  created
    2026-03-02T12:01:00Z configmap/short  deleted  existed 58s
    created in the window, before the record begins: configmap/flags
    ── 1 of 2 objects changed, in 1 kind, back to 2026-03-02T12:00:02Z · recorded since 2026-03-02T12:01:00Z ──
    ── complete since 2026-03-02T12:01:00Z ──
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hole_is_named_and_nothing_is_complete_before_its_end() {
    let (cluster, folder, run) = recorded().await;
    run.signal("KILL");
    cluster.put(config_map("unseen", &json!({})));
    cluster.delete("configmaps", "unseen");
    forget(&cluster);
    let run = record(&folder, &cluster, "2026-03-02T12:04:00Z", "flags 2 Listed");
    cluster.edit("configmaps", "flags", &json!({"data": {"mode": "b"}}));
    wait_for(&folder, "flags 7 Modified");
    run.interrupt();
    forget(&cluster);
    assert_snapshot!(changes(&cluster, &folder, &["cm"]), @"
    2026-03-02T12:00:02Z configmap/short  kubectl-create  created
    2026-03-02T12:01:00Z configmap/short  deleted  existed 58s
    2026-03-02T12:00:06Z configmap/flags  kubectl-edit  mode: a → b
    created in the window, before the record begins: configmap/flags
    ── 2 of 2 objects changed, in 1 kind, back to 2026-03-02T12:00:02Z ──
    ── recorded since 2026-03-02T12:01:00Z, except 2026-03-02T12:01:00Z–2026-03-02T12:04:00Z: nobody recorded ──
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_whose_recorder_has_died_is_not_complete_until_now() {
    let (cluster, folder, run) = recorded().await;
    run.signal("KILL");
    cluster.put(config_map("unseen", &json!({})));
    cluster.delete("configmaps", "unseen");
    forget(&cluster);
    assert_snapshot!(changes(&cluster, &folder, &["cm"]), @"
    created in the window, before the record begins: configmap/flags
    ── none of 1 object changed ──
    ── recorded since 2026-03-02T12:01:00Z, except 2026-03-02T12:01:00Z–2026-03-02T12:05:00Z: nobody recorded ──
    ── objects created and deleted in between may be missing ──
    ");
    cluster.edit("configmaps", "flags", &json!({"data": {"mode": "b"}}));
    assert_snapshot!(changes(&cluster, &folder, &["cm"]), @"
    2026-03-02T12:00:06Z configmap/flags  kubectl-edit  mode: a → b
    created in the window, before the record begins: configmap/flags
    ── 1 of 1 object changed, in 1 kind, back to 2026-03-02T12:00:06Z ──
    ── recorded since 2026-03-02T12:01:00Z, except 2026-03-02T12:01:00Z–2026-03-02T12:05:00Z: nobody recorded ──
    ── complete since 2026-03-02T12:00:06Z: objects created and deleted before then may be missing ──
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kind_and_a_namespace_that_nobody_recorded_are_not_complete() {
    let (cluster, folder, run) = recorded().await;
    cluster.put(deployment("web", 1));
    run.interrupt();
    forget(&cluster);
    assert_snapshot!(changes(&cluster, &folder, &["cm,deploy"]), @"
    created in the window, before the record begins: configmap/flags, deployment/web
    ── none of 2 objects changed · recorded since 2026-03-02T12:01:00Z · the server has compacted older versions ──
    ── objects created and deleted in between may be missing ──
    ");
    // Other namespaces than that of the record have only the server's history.
    assert_snapshot!(changes(&cluster, &folder, &["cm", "-A"]), @"
    created in the window, but the server has compacted that version: configmap/flags
    ── none of 1 object changed · the server has compacted older versions ──
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_cannot_be_read_is_not_the_beginning() {
    let (cluster, folder, run) = recorded().await;
    run.interrupt();
    forget(&cluster);
    let [file] = &folder.files()[..] else {
        panic!("one file");
    };
    std::fs::write(&file.path, "no database").unwrap();
    let shown = changes(&cluster, &folder, &["cm"]);
    let shown = shown.replace(file.path.to_str().unwrap(), "FILE");
    assert_snapshot!(shown, @"
    created in the window, but the server has compacted that version: configmap/flags
    ── none of 1 object changed · the server has compacted older versions ──
    ── objects created and deleted in between may be missing ──
    ! the record is not used: FILE: not a file of a record
    ");
}
