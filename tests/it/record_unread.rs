//! Tests of a record of which one file cannot be read: the others are used, and each command says what is not known and why.

use std::fs;

use insta::assert_snapshot;
use serde_json::json;

use super::record::{Folder, wait_for};
use super::support::cluster::{Cluster, config_map};
use super::support::{Ran, Spy};

/// Records from a time on, until a file has the row that the changes lead to.
fn record(folder: &Folder, cluster: &Cluster, [now, row]: [&str; 2], changes: impl Fn()) {
    let spy = folder.spy(cluster).var("KUBECTL_SPY_NOW", now);
    let mut run = spy.start(&["record", "cm", "-n", "shop"]);
    run.until("recording");
    wait_for(folder, "flags 2 Listed");
    changes();
    wait_for(folder, row);
    run.interrupt();
}

/// Three files: of 12:01, of 12:10 with a deletion and an object that existed only briefly, and of 12:20. The server has
/// forgotten everything.
async fn recorded() -> (Cluster, Folder) {
    let cluster = Cluster::start().await;
    let folder = Folder::of(&cluster);
    cluster.put(config_map("flags", &json!({"mode": "a"})));
    record(
        &folder,
        &cluster,
        ["2026-03-02T12:01:00Z", "old 3 Added"],
        || {
            cluster.put(config_map("old", &json!({})));
        },
    );
    record(
        &folder,
        &cluster,
        ["2026-03-02T12:10:00Z", "short 6 Deleted"],
        || {
            cluster.delete("configmaps", "old");
            cluster.put(config_map("short", &json!({})));
            cluster.delete("configmaps", "short");
        },
    );
    record(
        &folder,
        &cluster,
        ["2026-03-02T12:20:00Z", "flags 7 Modified"],
        || {
            cluster.edit("configmaps", "flags", &json!({"data": {"mode": "b"}}));
        },
    );
    cluster.sandbox.compact(cluster.sandbox.revision());
    cluster.sandbox.expire_watch_window();
    (cluster, folder)
}

/// Makes one of the files one that cannot be read.
fn spoil(folder: &Folder, place: usize) {
    let files = folder.files();
    assert_eq!(files.len(), 3);
    fs::write(&files[place].path, "no database").unwrap();
}

/// What a command says, with the paths and names of the files as `FILE1` to `FILE3`.
fn said(folder: &Folder, ran: &Ran) -> String {
    let mut text = ran.transcript();
    for (place, file) in folder.files().iter().enumerate() {
        let name = file.path.file_name().unwrap().to_str().unwrap();
        let short = format!("FILE{}", place + 1);
        text = text.replace(file.path.to_str().unwrap(), &short);
        text = text.replace(name, &short);
    }
    text
}

/// The changes of the last hour, at 12:30.
fn changes(cluster: &Cluster, folder: &Folder) -> String {
    let spy = folder.spy(cluster);
    let spy = spy.var("KUBECTL_SPY_NOW", "2026-03-02T12:30:00Z");
    let args = ["changes", "cm", "--since=1h", "--once", "-o", "short"];
    said(folder, &spy.run(&args))
}

/// Everything as it was at a time, as the record alone tells it.
fn status_at(folder: &Folder, time: &str) -> String {
    let args = ["status", "cm", "-n", "shop", "--from", folder.path()];
    said(
        folder,
        &Spy::alone().run(&[&args[..], &["--at", time]].concat()),
    )
}

/// What `store` says beside the objects and the sizes of files.
fn store(folder: &Folder, args: &[&str]) -> String {
    let args = [&["store"], args, &["--store", folder.path()]].concat();
    let said = said(folder, &Spy::alone().run(&args));
    let lines = said.lines().map(str::trim).filter(|line| {
        let is_said = line.starts_with("# ") || line.starts_with("! ");
        is_said || line.starts_with("versions may be missing")
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_of_a_bad_file_is_a_hole_with_its_cause() {
    let (cluster, folder) = recorded().await;
    assert_snapshot!(changes(&cluster, &folder), @"
    2026-03-02T12:00:02Z configmap/old  kubectl-create  created
    2026-03-02T12:01:00Z configmap/old  deleted  existed 58s
    2026-03-02T12:00:04Z configmap/short  kubectl-create  created
    2026-03-02T12:01:00Z configmap/short  deleted  existed 56s
    2026-03-02T12:00:06Z configmap/flags  kubectl-edit  mode: a → b
    created in the window, before the record begins: configmap/flags
    ── 3 of 3 objects changed, in 1 kind, back to 2026-03-02T12:00:02Z · recorded since 2026-03-02T12:01:00Z ──
    ── complete since 2026-03-02T12:01:00Z ──
    ");
    spoil(&folder, 1);
    assert_snapshot!(changes(&cluster, &folder), @"
    2026-03-02T12:00:02Z configmap/old  kubectl-create  created
    2026-03-02T12:01:00Z configmap/old  deleted  existed 58s
    2026-03-02T12:00:06Z configmap/flags  kubectl-edit  mode: a → b
    created in the window, before the record begins: configmap/flags
    ── 2 of 2 objects changed, in 1 kind, back to 2026-03-02T12:00:02Z ──
    ── recorded since 2026-03-02T12:01:00Z, except 2026-03-02T12:01:00Z–2026-03-02T12:10:00Z: FILE2 cannot be read: not a file of a record ──
    ! a part of the record is not read: FILE2: not a file of a record
    ");
    assert_snapshot!(status_at(&folder, "2026-03-02T12:15:00Z"), @"
    NAME                READY   STATUS    RESTARTS   AGE     NODE   IP
    ● configmap/flags   -       Current   -          9m59s   -      -
    ! a part of the record is not read: FILE2: not a file of a record
    ! everything as it was at 2026-03-02T12:10:00Z: from then on, FILE2 cannot be read: not a file of a record
    ");
    assert_snapshot!(status_at(&folder, "2026-03-02T12:20:00Z"), @"
    NAME                READY   STATUS    RESTARTS   AGE   NODE   IP
    ● configmap/flags   -       Current   -          19m   -      -
    ! a part of the record is not read: FILE2: not a file of a record
    ! everything as it was recorded at 2026-03-02T12:20:00Z
    ");
    assert_snapshot!(store(&folder, &["ls"]), @"
    versions may be missing from 2026-03-02T12:01:00Z to 2026-03-02T12:10:00Z (9m): FILE2 cannot be read: not a file of a record
    ! FILE2: not a file of a record
    ! error: 1 file cannot be read
    ! hint: see what is wrong with `kubectl spy store check`
    ");
    assert_snapshot!(store(&folder, &["export", "-o", "yaml"]), @"
    # 2026-03-02T12:01:00.000Z Listed configmap/flags demo
    # 2026-03-02T12:01:00.000Z Added configmap/old demo
    # FILE2: not a file of a record
    # configmaps: versions may be missing from 2026-03-02T12:01:00.000Z to 2026-03-02T12:10:00.000Z: FILE2 cannot be read: not a file of a record
    # 2026-03-02T12:20:00.000Z Modified configmap/flags demo
    ! error: 1 part of the record cannot be read
    ! hint: list the damaged files with `kubectl spy store check`
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_first_file_is_not_the_beginning_of_the_record() {
    let (cluster, folder) = recorded().await;
    spoil(&folder, 0);
    assert_snapshot!(changes(&cluster, &folder), @"
    2026-03-02T12:01:00Z configmap/old  deleted  existed 58s
    2026-03-02T12:00:04Z configmap/short  kubectl-create  created
    2026-03-02T12:01:00Z configmap/short  deleted  existed 56s
    2026-03-02T12:00:06Z configmap/flags  kubectl-edit  mode: a → b
    created in the window, before what can be read of the record: configmap/flags, configmap/old
    ── 3 of 3 objects changed, in 1 kind, back to 2026-03-02T12:01:00Z ──
    ── recorded since 2026-03-02T12:01:00Z (before: FILE1 cannot be read: not a file of a record) ──
    ── complete since 2026-03-02T12:01:00Z ──
    ! a part of the record is not read: FILE1: not a file of a record
    ");
    assert_snapshot!(status_at(&folder, "2026-03-02T12:05:00Z"), @"
    2 Current
    NAME                READY   STATUS    RESTARTS   AGE   NODE   IP
    ● configmap/flags   -       Current   -          59s   -      -
    ● configmap/old     -       Current   -          58s   -      -
    ! a part of the record is not read: FILE1: not a file of a record
    ! everything as it was at 2026-03-02T12:01:00Z: from then on, FILE1 cannot be read: not a file of a record
    ");
    assert_snapshot!(store(&folder, &["ls"]), @"
    versions may be missing before 2026-03-02T12:10:00Z: FILE1 cannot be read: not a file of a record
    ! FILE1: not a file of a record
    ! error: 1 file cannot be read
    ! hint: see what is wrong with `kubectl spy store check`
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_last_file_is_not_the_end_of_the_record() {
    let (cluster, folder) = recorded().await;
    spoil(&folder, 2);
    assert_snapshot!(changes(&cluster, &folder), @"
    2026-03-02T12:00:06Z configmap/flags  kubectl-edit  mode: a → b
    created in the window, before the record begins: configmap/flags
    ── 1 of 1 object changed, in 1 kind, back to 2026-03-02T12:00:06Z · recorded since 2026-03-02T12:01:00Z ──
    ── complete since 2026-03-02T12:00:06Z: objects created and deleted before then may be missing ──
    ! a part of the record is not read: FILE3: not a file of a record
    ");
    assert_snapshot!(status_at(&folder, "2026-03-02T12:15:00Z"), @"
    NAME                READY   STATUS    RESTARTS   AGE     NODE   IP
    ● configmap/flags   -       Current   -          9m59s   -      -
    ! a part of the record is not read: FILE3: not a file of a record
    ! everything as it was at 2026-03-02T12:10:00Z: from then on, FILE3 cannot be read: not a file of a record
    ");
    assert_snapshot!(store(&folder, &["ls"]), @"
    versions may be missing after 2026-03-02T12:10:00Z: FILE3 cannot be read: not a file of a record
    ! FILE3: not a file of a record
    ! error: 1 file cannot be read
    ! hint: see what is wrong with `kubectl spy store check`
    ");
}
