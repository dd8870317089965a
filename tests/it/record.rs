//! Tests of `record` and `store` against the sandbox.

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use jiff::{SignedDuration, Timestamp};
use kubectl_spy::record::{ExportedEvent, RecordExport, Store, StoreFile, StoreFileReader};
use serde_json::{Value, json};

use super::support::cluster::{Cluster, config_map, dated, deployment};
use super::support::{Ran, Running, Spy};

/// A directory for the record of one test.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn of(cluster: &Cluster) -> Folder {
        let port = cluster.sandbox.address().port();
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("store-{port}"));
        let _gone = fs::remove_dir_all(&path);
        Folder(path)
    }

    pub(super) fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    pub(super) fn spy(&self, cluster: &Cluster) -> Spy {
        cluster.spy().var("KUBECTL_SPY_STORE", self.path())
    }

    pub(super) fn files(&self) -> Vec<StoreFile> {
        let store = Store::open(&self.0).unwrap();
        let clusters = store.clusters().unwrap();
        clusters.iter().flat_map(|it| it.list().unwrap()).collect()
    }

    /// The rows of the view `versions` of two namespaces: name, revision, why.
    fn versions(&self) -> Vec<String> {
        let mut rows = Vec::new();
        for file in self.files() {
            let db = rusqlite::Connection::open(&file.path).unwrap();
            let sql = "SELECT name || ' ' || revision || ' ' || why FROM versions WHERE namespace IN ('shop', 'web')";
            let mut rows_of_file = db.prepare(sql).unwrap();
            let found = rows_of_file.query_map([], |row| row.get(0)).unwrap();
            rows.extend(found.map(Result::unwrap));
        }
        rows
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _gone = fs::remove_dir_all(&self.0);
    }
}

/// Starts a recorder, and waits until a file has this row.
fn record(folder: &Folder, cluster: &Cluster, args: &[&str], row: &str) -> Running {
    let mut run = folder.spy(cluster).start(&[&["record"], args].concat());
    run.until("recording");
    wait_for(folder, row);
    run
}

/// Waits until the record has a row. Only what is committed is visible.
pub(super) fn wait_for(folder: &Folder, row: &str) {
    let until = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while !folder.versions().iter().any(|it| it == row) {
        assert!(std::time::Instant::now() < until, "{:?}", folder.versions());
        std::thread::yield_now();
    }
}

fn without_path(folder: &Folder, ran: &Ran) -> String {
    let text = ran.transcript();
    let text = text.replace(folder.0.to_str().unwrap(), "STORE");
    text.lines()
        .map(|line| match line.split_once(".spy") {
            Some((_, rest)) => format!("FILE{rest}"),
            None => line.to_owned(),
        })
        .collect::<Vec<_>>()
        .join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_answer_at_the_start_is_recorded_later() {
    let mut cluster = Cluster::start().await;
    let folder = Folder::of(&cluster);
    cluster.put(config_map("flags", &json!({"dark": "off"})));
    cluster.sandbox.stop().await;
    let mut run = folder.spy(&cluster).start(&["record", "cm"]);
    run.until("The connection to the server");
    cluster.sandbox.restart().await.unwrap();
    run.until("recording");
    wait_for(&folder, "flags 2 Listed");
    run.interrupt();
    // What waiting does not help is an error at once.
    let wrong = ["record", "cm", "--context", "nowhere"];
    let ran = folder.spy(&cluster).run(&wrong);
    assert_eq!(ran.status.code(), Some(1), "{}", ran.transcript());
    assert!(
        ran.stderr.contains("\"nowhere\" does not exist"),
        "{}",
        ran.transcript()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_leaves_no_hole() {
    let cluster = Cluster::start().await;
    let folder = Folder::of(&cluster);
    cluster.put(config_map("flags", &json!({"dark": "off"})));
    let run = record(&folder, &cluster, &["cm"], "flags 2 Listed");
    run.signal("KILL");
    // Nobody records this, but the server remembers.
    cluster.edit("configmaps", "flags", &json!({"data": {"dark": "on"}}));
    cluster.put(config_map("short", &json!({})));
    cluster.delete("configmaps", "short");
    let run = record(&folder, &cluster, &["cm"], "short 5 Deleted");
    let ran = run.interrupt();
    assert!(
        ran.stderr.contains("recorded 1 object, "),
        "{}",
        ran.transcript()
    );
    let mut rows = folder.versions();
    rows.sort();
    assert_snapshot!(rows.join("\n"), @"
    flags 2 Listed
    flags 2 Listed
    flags 3 Modified
    short 4 Added
    short 5 Deleted
    ");
    let ran = folder.spy(&cluster).run(&["store", "ls"]);
    assert_eq!(ran.stdout.lines().count(), 2, "{}", ran.transcript());
}

/// Whether this test runs under `nohup`. Then the programs that it starts ignore SIGHUP, too.
#[cfg(target_os = "linux")]
fn is_under_nohup() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let mut lines = status.lines();
    let mask = lines.find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() & 1 == 1
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_that_hangs_up_ends_a_recorder_without_loss() {
    use std::os::unix::process::ExitStatusExt;
    let cluster = Cluster::start().await;
    let folder = Folder::of(&cluster);
    cluster.put(config_map("flags", &json!({"dark": "off"})));
    let run = record(&folder, &cluster, &["cm"], "flags 2 Listed");
    if is_under_nohup() {
        run.hang_up();
        cluster.edit("configmaps", "flags", &json!({"data": {"dark": "on"}}));
        wait_for(&folder, "flags 3 Modified");
        run.interrupt();
        return;
    }
    let ran = run.signal("HUP");
    assert_eq!(ran.status.signal(), Some(1), "{}", ran.transcript());
    assert!(
        ran.stderr.contains("recorded 1 object, "),
        "{}",
        ran.transcript()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_is_recorded_by_default() {
    let cluster = Cluster::start().await;
    let folder = Folder::of(&cluster);
    cluster.put(config_map("flags", &json!({})));
    let run = record(&folder, &cluster, &[], "flags 2 Listed");
    run.interrupt();
    let [file] = &folder.files()[..] else {
        panic!("one file");
    };
    let file = StoreFileReader::open(&file.path).unwrap();
    let kinds: Vec<&str> = file
        .sources()
        .iter()
        .map(|it| &*it.key.resource.kind)
        .collect();
    for kind in ["Pod", "Event", "Secret", "Node"] {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
    for kind in ["Lease", "Endpoints"] {
        assert!(!kinds.contains(&kind), "{kind}: {kinds:?}");
    }
}

/// The values of Secrets, as they are and in base64.
const VALUES: [(&str, &str); 2] = [
    ("correct-horse-battery", "Y29ycmVjdC1ob3JzZS1iYXR0ZXJ5"),
    ("staple-8147-purple", "c3RhcGxlLTgxNDctcHVycGxl"),
];

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_value_enters_the_record() {
    let cluster = Cluster::start().await;
    let folder = Folder::of(&cluster);
    let secret = |value: usize| {
        let (clear, coded) = VALUES[value];
        let manifest = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db"},
            "stringData": {"password": clear}});
        let applied = "kubectl.kubernetes.io/last-applied-configuration";
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db", "namespace": "shop",
            "annotations": {applied: manifest.to_string(), "x": clear}}, "data": {"password": coded}})
    };
    cluster.put(secret(0));
    let copy = json!({"copy": secret(0).to_string()});
    let mut carrier = config_map("carrier", &json!({}));
    carrier["metadata"]["annotations"] = copy;
    cluster.put(carrier);
    let run = record(&folder, &cluster, &["cm,secret"], "db 2 Listed");
    cluster.edit("secrets", "db", &json!({"data": {"password": VALUES[1].1}}));
    wait_for(&folder, "db 4 Modified");
    // A recorder that resumes has only digests.
    run.signal("KILL");
    let run = record(&folder, &cluster, &["cm,secret"], "db 4 Listed");
    cluster.edit("secrets", "db", &json!({"data": {"password": VALUES[0].1}}));
    wait_for(&folder, "db 5 Modified");
    run.interrupt();
    for path in walk(&folder.0) {
        let bytes = fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        for (clear, coded) in VALUES {
            assert!(!text.contains(clear) && !text.contains(coded), "{path:?}");
        }
    }
    // The same in the unpacked texts.
    let texts = texts(&folder);
    assert_eq!(texts.len(), 4);
    for text in texts {
        for (clear, coded) in VALUES {
            assert!(!text.contains(clear) && !text.contains(coded), "{text}");
        }
    }
}

/// The texts of all versions.
fn texts(folder: &Folder) -> Vec<String> {
    let store = Store::open(&folder.0).unwrap();
    let clusters = store.clusters().unwrap();
    let events = clusters
        .iter()
        .flat_map(|files| RecordExport::open(files).unwrap());
    let versions = events.map(|event| match event {
        ExportedEvent::Version(recorded) => recorded.version.body.text().to_string(),
        other => panic!("{other:?}"),
    });
    versions.collect()
}

fn walk(path: &Path) -> Vec<PathBuf> {
    let inside = fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    inside
        .flat_map(|path| {
            if path.is_dir() {
                walk(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_file_is_named() {
    let cluster = Cluster::start().await;
    let folder = Folder::of(&cluster);
    cluster.put(config_map("flags", &json!({})));
    record(&folder, &cluster, &["cm"], "flags 2 Listed").interrupt();
    let ran = folder.spy(&cluster).run(&["store", "check"]);
    assert_snapshot!(without_path(&folder, &ran), @"FILE: ok");
    let path = folder.files()[0].path.clone();
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute("UPDATE block SET data = zeroblob(length(data))", [])
        .unwrap();
    drop(db);
    let ran = folder.spy(&cluster).run(&["store", "check"]);
    assert_snapshot!(without_path(&folder, &ran), @"
    FILE: damaged: the block of version 1
    ! error: 1 file is damaged, of 1
    ! hint: the versions that are whole are still read
    ");
    assert_eq!(ran.status.code(), Some(1));
    // A recorder was killed before it gave another file its name.
    fs::write(path.with_extension("0.new"), "").unwrap();
    fs::write(&path, "").unwrap();
    let ran = folder.spy(&cluster).run(&["store", "check"]);
    assert_snapshot!(without_path(&folder, &ran), @"
    FILE: damaged: it is empty
    ! error: 1 file is damaged, of 1
    ! hint: the versions that are whole are still read
    ");
    assert_eq!(ran.status.code(), Some(1));
    let ran = folder.spy(&cluster).run(&["store", "ls"]);
    assert_snapshot!(without_path(&folder, &ran), @"
    FILE: damaged: it is empty
    ! error: 1 file cannot be read
    ! hint: see what is wrong with `kubectl spy store check`
    ");
    assert_eq!(ran.status.code(), Some(1));
}

#[test]
fn a_store_that_does_not_exist_is_an_error() {
    let ran = Spy::alone().run(&["store", "ls", "--store", "/nowhere"]);
    assert_snapshot!(ran.transcript(), @r#"
    ! error: the path "/nowhere" does not exist
    ! hint: start one with `kubectl spy record`, or name another with --store
    "#);
    let ran = Spy::alone().run(&["store", "ls"]);
    assert_snapshot!(ran.transcript(), @"
    ! error: there is no home directory for the record
    ! hint: name a directory with --store
    ");
    let ran = Spy::alone().run(&["record", "--keep", "7"]);
    assert_snapshot!(ran.stderr.lines().next().unwrap(), @r#"error: invalid argument "7" for "--keep" flag: expected a duration, for example 12h, 7d or 1d12h"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_of_the_document_is_valid() {
    let cluster = Cluster::start().await;
    let folder = Folder::of(&cluster);
    cluster.put(deployment("web", 1));
    let document = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/record.md");
    let document = fs::read_to_string(document).unwrap();
    let typed = document
        .lines()
        .filter_map(|line| line.strip_prefix("$ kubectl spy "));
    let mut ran = 0;
    for line in typed {
        let store = folder.0.to_str().unwrap();
        let words = line.split(' ');
        let words = words.map(|word| match word {
            "DIR" => store,
            "prod" => "shop",
            // The record of this test begins then.
            time if line.contains(" --at ") && time.ends_with(":00Z") => "2026-03-02T12:05:00Z",
            word => word,
        });
        let words: Vec<&str> = words.collect();
        let mut run = folder.spy(&cluster).start(&words);
        if words[0] == "record" && !words.contains(&"--print-manifest") {
            run.until("recording");
            if words == ["record"] {
                wait_for(&folder, "web 2 Listed");
            }
            run.interrupt();
        } else {
            let ended = run.finish();
            assert!(ended.status.success(), "{line}: {}", ended.transcript());
        }
        ran += 1;
    }
    assert!(ran > 9, "{ran}");
}

/// A record of `configmap/flags`, with a hole between the revisions 3 and 5: the server has forgotten revision 4.
async fn with_hole() -> (Cluster, Folder) {
    let cluster = Cluster::start().await;
    let folder = Folder::of(&cluster);
    let edit = |mode: &str| cluster.edit("configmaps", "flags", &json!({"data": {"mode": mode}}));
    cluster.put(config_map("flags", &json!({"mode": "a"})));
    let run = record(&folder, &cluster, &["cm"], "flags 2 Listed");
    edit("b");
    wait_for(&folder, "flags 3 Modified");
    run.signal("KILL");
    edit("c");
    edit("d");
    cluster.sandbox.compact(cluster.sandbox.revision());
    cluster.sandbox.expire_watch_window();
    let run = record(&folder, &cluster, &["cm"], "flags 5 Skipped");
    edit("e");
    wait_for(&folder, "flags 6 Modified");
    cluster.put(config_map("short", &json!({})));
    cluster.delete("configmaps", "short");
    wait_for(&folder, "short 8 Deleted");
    run.interrupt();
    (cluster, folder)
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_reads_a_record_alone_and_names_its_hole() {
    let (_cluster, folder) = with_hole().await;
    let store = folder.0.to_str().unwrap();
    let args = ["changes", "cm/flags", "-n", "shop", "--from", store];
    let ran = Spy::alone().run(&[&args[..], &["--since=all"]].concat());
    assert_snapshot!(ran.transcript(), @r#"
    2026-03-02T12:00:02Z MODIFIED configmap/flags  2→3  4m58s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: a → b
    2026-03-02T12:00:04Z MODIFIED configmap/flags  3→5  +2s  4m56s ago  versions may be missing  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: b → d
    2026-03-02T12:00:05Z MODIFIED configmap/flags  5→6  +1s  4m55s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: d → e
    ── 3 earlier versions, back to 2026-03-02T12:00:02Z ──
    ── recorded since 2026-03-02T12:05:00Z, except 2026-03-02T12:05:00Z: nobody recorded ──
    "#);
    let args = ["changes", "cm/short", "-n", "shop", "--from", store];
    let ran = Spy::alone().run(&[&args[..], &["--since=all"]].concat());
    assert_snapshot!(ran.transcript(), @r#"
    2026-03-02T12:00:06Z CREATED configmap/short  7  4m54s ago  by kubectl-create
    2026-03-02T12:05:00Z DELETED configmap/short  8  0s ago  existed 4m54s
    ── 2 earlier versions, back to 2026-03-02T12:00:06Z ──
    ── recorded since 2026-03-02T12:05:00Z, except 2026-03-02T12:05:00Z: nobody recorded ──
    "#);
    let args = ["changes", "-n", "shop", "--from", store, "--since=all"];
    let ran = Spy::alone().run(&[&args[..], &["-o", "short"]].concat());
    assert_snapshot!(ran.transcript(), @r#"
    2026-03-02T12:00:02Z configmap/flags  kubectl-edit  mode: a → b
    2026-03-02T12:00:04Z configmap/flags  kubectl-edit  mode: b → d
    2026-03-02T12:00:05Z configmap/flags  kubectl-edit  mode: d → e
    2026-03-02T12:00:06Z configmap/short  kubectl-create  created
    2026-03-02T12:05:00Z configmap/short  deleted  existed 4m54s
    ── 2 of 2 objects changed, in 1 kind, back to 2026-03-02T12:00:02Z ──
    ── recorded since 2026-03-02T12:05:00Z, except 2026-03-02T12:05:00Z: nobody recorded ──
    ── cluster-scoped kinds are not read: -A ──
    "#);
    let ran = Spy::alone().run(&[&args[..], &["-o", "json"]].concat());
    let schema = super::schema::Schema::of("changes");
    for line in ran.stdout.lines() {
        schema.check(line);
    }
    assert!(
        ran.stdout.contains(r#""holes":[{"since":"#),
        "{}",
        ran.stdout
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_record_is_the_longer_memory_of_the_server() {
    let (cluster, folder) = with_hole().await;
    cluster.edit("configmaps", "flags", &json!({"data": {"mode": "f"}}));
    cluster.sandbox.compact(cluster.sandbox.revision() - 1);
    cluster.sandbox.expire_watch_window();
    let args = ["changes", "cm/flags", "--since=1h", "--once", "-o", "short"];
    let ran = folder.spy(&cluster).run(&args);
    assert_snapshot!(ran.transcript(), @r#"
    2026-03-02T12:00:02Z configmap/flags  kubectl-edit  mode: a → b
    2026-03-02T12:00:04Z configmap/flags  kubectl-edit  mode: b → d
    2026-03-02T12:00:05Z configmap/flags  kubectl-edit  mode: d → e
    2026-03-02T12:00:08Z configmap/flags  kubectl-edit  mode: e → f
    created in the window, before the record begins: configmap/flags
    ── 4 earlier versions, back to 2026-03-02T12:00:02Z ──
    ── recorded since 2026-03-02T12:05:00Z, except 2026-03-02T12:05:00Z: nobody recorded ──
    "#);
    let ran = folder
        .spy(&cluster)
        .run(&[&args[..], &["--no-store"]].concat());
    assert_snapshot!(ran.transcript(), @r#"
    2026-03-02T12:00:08Z configmap/flags  kubectl-edit  mode: e → f
    created in the window, but the server has compacted that version: configmap/flags
    ── 1 earlier version, back to 2026-03-02T12:00:08Z · the server's history starts before 2026-03-02T12:00:08Z ──
    "#);
}

/// The versions in the output of `changes -o json`: what happened to which object, from which version to which.
fn versions(output: &str) -> Vec<String> {
    let records = output
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let is_version = |record: &Value| {
        let kind = record["type"].as_str().unwrap();
        ["created", "modified", "deleted", "recreated"].contains(&kind)
    };
    let words = records.filter(is_version).map(|record| {
        let name = &record["ref"]["name"];
        let (kind, from, to) = (&record["type"], &record["from"], &record["to"]);
        format!("{kind} {name} {from} {to} {}", record["changes"])
    });
    words.collect()
}

/// Lines without the numbers of Secret values, which are in the order of their first appearance.
fn without_numbers(lines: Vec<String>) -> Vec<String> {
    let without = |text: String| {
        let mut parts = text.split("\"id\":");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| {
            text + part.trim_start_matches(|c: char| c.is_ascii_digit())
        })
    };
    lines.into_iter().map(without).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_through_the_record_equal_live_changes() {
    let cluster = Cluster::start().await;
    let folder = Folder::of(&cluster);
    cluster.put(config_map("flags", &json!({"mode": "a"})));
    let run = record(&folder, &cluster, &["cm,secret"], "flags 2 Listed");
    let args = ["changes", "cm,secret", "--since=0", "-o", "json"];
    let mut live = cluster.spy().start(&args);
    live.until_each(&["\"source\":\"configmaps", "\"source\":\"secrets"]);
    let secret = |name: &str, value: &str| {
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": "shop"},
            "data": {"password": value}})
    };
    for round in 0..4 {
        let mode = json!({"data": {"mode": round.to_string()}});
        cluster.edit("configmaps", "flags", &mode);
        cluster.put(config_map("short", &json!({"round": round.to_string()})));
        cluster.put(secret("db", VALUES[round % 2].1));
        cluster.edit(
            "secrets",
            "db",
            &json!({"data": {"password": VALUES[1 - round % 2].1}}),
        );
        cluster.delete("configmaps", "short");
        cluster.delete("secrets", "db");
    }
    // Each kind is a watch of its own, so each has a last object.
    cluster.put(config_map("last", &json!({})));
    cluster.put(secret("final", VALUES[0].1));
    live.until_each(&["\"last\"", "\"final\""]);
    let live = live.interrupt();
    wait_for(&folder, "last 27 Added");
    wait_for(&folder, "final 28 Added");
    run.interrupt();
    let store = folder.0.to_str().unwrap();
    let args = [
        "changes",
        "cm,secret",
        "-n",
        "shop",
        "--since=all",
        "-o",
        "json",
        "--from",
        store,
    ];
    let past = Spy::alone().run(&args);
    let sorted = |output: &str| {
        let mut versions = versions(output);
        versions.sort();
        versions
    };
    let (live, past) = (sorted(&live.stdout), sorted(&past.stdout));
    assert_eq!(live.len(), 26);
    assert_eq!(without_numbers(past), without_numbers(live));
}

/// The records of an export in words, after a check of their form.
fn export_words(ran: &Ran) -> String {
    let schema = super::schema::Schema::of("export");
    let words = ran.stdout.lines().map(|line| {
        let record = schema.check(line);
        let field = |name: &str| record[name].to_string();
        let names = match record["type"].as_str().unwrap() {
            "version" => ["name", "revision", "why", "managers"],
            _ => ["type", "source", "after", "upto"],
        };
        names.map(field).join(" ")
    });
    words.collect::<Vec<_>>().join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_has_each_version_once_and_the_holes() {
    let (_cluster, folder) = with_hole().await;
    let store = folder.0.to_str().unwrap();
    let export = |more: &[&str]| {
        let args = ["store", "export", "--store", store];
        Spy::alone().run(&[&args[..], more].concat())
    };
    let ran = export(&[]);
    assert_snapshot!(export_words(&ran), @r#"
    "hole" "configmaps" "3" "5"
    "flags" "2" "Listed" ["kubectl-create"]
    "flags" "3" "Modified" ["kubectl-edit"]
    "flags" "5" "Skipped" ["kubectl-edit"]
    "flags" "6" "Modified" ["kubectl-edit"]
    "short" "7" "Added" ["kubectl-create"]
    "short" "8" "Deleted" []
    "#);
    let objects = ran.stdout.lines().filter_map(|line| {
        let record: Value = serde_json::from_str(line).unwrap();
        record["object"]["data"]["mode"].as_str().map(str::to_owned)
    });
    assert_eq!(objects.collect::<String>(), "abde");
    let ran = export(&["cm/short", "-n", "shop", "--since=2026-03-01T00:00:00Z"]);
    assert_snapshot!(export_words(&ran), @r#"
    "hole" "configmaps" "3" "5"
    "short" "7" "Added" ["kubectl-create"]
    "short" "8" "Deleted" []
    "#);
    for nothing in [
        &["secrets"][..],
        &["cm", "-n", "other"],
        &["--since=2026-03-02T12:06:00Z"],
        &["--until=2026-03-01T00:00:00Z"],
    ] {
        let versions = export_words(&export(nothing)).replace(r#""hole" "configmaps" "3" "5""#, "");
        assert_eq!(versions, "", "{nothing:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_times_of_a_record_are_by_the_servers_clock() {
    let cluster = Cluster::start_with(dated).await;
    cluster.renew();
    let folder = Folder::of(&cluster);
    cluster.put(config_map("flags", &json!({"mode": "a"})));
    let own = (cluster.now() - SignedDuration::from_hours(7)).to_string();
    let runs = [
        ("flags 3 Listed", "b", "flags 4 Modified"),
        ("flags 4 Listed", "c", "flags 5 Modified"),
    ];
    for (first, mode, last) in runs {
        let spy = folder.spy(&cluster).var("KUBECTL_SPY_NOW", &own);
        let mut run = spy.start(&["record", "cm"]);
        run.until("recording");
        wait_for(&folder, first);
        cluster.edit("configmaps", "flags", &json!({"data": {"mode": mode}}));
        wait_for(&folder, last);
        run.interrupt();
    }
    let ran = Spy::alone().run(&["store", "export", "--store", folder.path()]);
    let check = |time: &str| {
        let time: Timestamp = time.parse().unwrap();
        let away = time.duration_since(cluster.now()).abs();
        assert!(away < SignedDuration::from_mins(1), "{time}");
    };
    let records = ran.stdout.lines().map(|line| {
        let record: Value = serde_json::from_str(line).unwrap();
        check(record["time"].as_str().unwrap());
    });
    assert_eq!(records.count(), 3, "{}", ran.transcript());
    let ran = Spy::alone().run(&["store", "ls", "--store", folder.path()]);
    let row = ran.stdout.lines().nth(1).unwrap();
    // From when to when it is recorded.
    row.split_whitespace().skip(1).take(2).for_each(check);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_has_documents_and_chooses_a_cluster() {
    let (_cluster, folder) = with_hole().await;
    let store = folder.0.to_str().unwrap();
    let export = |more: &[&str]| {
        let args = ["store", "export", "--store", store];
        Spy::alone().run(&[&args[..], more].concat())
    };
    let ran = export(&["cm/short", "-o", "yaml"]);
    let heads = |line: &&str| line.starts_with(['#', '-', 'k']);
    let heads: Vec<&str> = ran.stdout.lines().filter(heads).collect();
    assert_snapshot!(heads.join("\n"), @"
    # configmaps: versions may be missing from 2026-03-02T12:05:00.000Z to 2026-03-02T12:05:00.000Z
    ---
    # 2026-03-02T12:05:00.000Z Added configmap/short demo
    kind: ConfigMap
    ---
    # 2026-03-02T12:05:00.000Z Deleted configmap/short demo
    kind: ConfigMap
    ");
    let ran = export(&["--context", "elsewhere"]);
    assert_snapshot!(ran.transcript(), @"
    ! error: nothing is recorded of this context
    ! hint: choose one with --context: demo
    ");
    assert_eq!(export(&["--context", "demo"]).stdout.lines().count(), 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_names_what_is_damaged() {
    let (_cluster, folder) = with_hole().await;
    let files = folder.files();
    let db = rusqlite::Connection::open(&files[0].path).unwrap();
    db.execute("UPDATE block SET data = zeroblob(length(data))", [])
        .unwrap();
    drop(db);
    let store = folder.0.to_str().unwrap();
    let ran = Spy::alone().run(&["store", "export", "--store", store, "cm"]);
    let schema = super::schema::Schema::of("export");
    let records = ran.stdout.lines().map(|line| schema.check(line));
    let kinds: Vec<String> = records.map(|record| record["type"].to_string()).collect();
    assert_eq!(kinds.join(" ").matches("damaged").count(), 2, "{kinds:?}");
    assert_eq!(kinds.join(" ").matches("version").count(), 4, "{kinds:?}");
    assert_snapshot!(ran.stderr, @r"
    error: 2 parts of the record cannot be read
    hint: list the damaged files with `kubectl spy store check`
    ");
    assert_eq!(ran.status.code(), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_query_of_the_document_is_valid_sql() {
    let (_cluster, folder) = with_hole().await;
    let document = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/record.md");
    let document = fs::read_to_string(document).unwrap();
    let line = document
        .lines()
        .find_map(|line| line.strip_prefix("$ sqlite3 FILE "));
    let sql = line.unwrap().trim_matches('"');
    let mut rows = Vec::new();
    for file in folder.files() {
        let db = rusqlite::Connection::open(&file.path).unwrap();
        let mut query = db.prepare(sql).unwrap();
        let columns: Vec<String> = query.column_names().map(str::to_owned).collect();
        assert_eq!(columns, ["time", "kind", "namespace", "name", "managers"]);
        let found = query.query_map([], |row| {
            let text = |at| {
                row.get::<_, Option<String>>(at)
                    .map(Option::unwrap_or_default)
            };
            Ok(format!("{} {} {}", text(1)?, text(2)?, text(3)?))
        });
        rows.extend(found.unwrap().map(Result::unwrap));
    }
    assert_eq!(rows, ["ConfigMap shop short"]);
    // Each column of the table of the document, and no other.
    let db = rusqlite::Connection::open(&folder.files()[0].path).unwrap();
    let all = db.prepare("SELECT * FROM versions").unwrap();
    let columns: Vec<String> = all.column_names().map(|it| format!("`{it}`")).collect();
    let documented = document.lines().filter_map(|line| {
        let cell = line.strip_prefix("| `")?.split(" |").next()?;
        Some(format!("`{cell}"))
    });
    assert_eq!(
        documented.collect::<Vec<_>>().join(", "),
        columns.join(", ")
    );
}

/// The documents of `--print-manifest`.
fn manifest(cluster: &Cluster, args: &[&str]) -> Vec<Value> {
    let ran = cluster
        .spy()
        .run(&[&["record", "--print-manifest"], args].concat());
    assert_eq!(ran.status.code(), Some(0), "{}", ran.transcript());
    serde_saphyr::from_multiple(&ran.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_manifest_grants_list_and_watch_of_what_is_recorded() {
    let cluster = Cluster::start().await;
    // Everything: each kind that the recorder would list, and no other.
    let folder = Folder::of(&cluster);
    cluster.put(config_map("flags", &json!({})));
    record(
        &folder,
        &cluster,
        &["-A", "--exclude-secrets"],
        "flags 2 Listed",
    )
    .interrupt();
    let file = StoreFileReader::open(&folder.files()[0].path).unwrap();
    let mut recorded: Vec<String> = file
        .sources()
        .iter()
        .map(|it| format!("{}/{}", it.key.resource.group, it.key.resource.plural))
        .collect();
    let documents = manifest(&cluster, &["-A", "--exclude-secrets"]);
    let role = documents.iter().find(|it| it["kind"] == "ClusterRole");
    let mut granted = Vec::new();
    for rule in role.unwrap()["rules"].as_array().unwrap() {
        assert_eq!(rule["verbs"], json!(["list", "watch"]));
        let group = rule["apiGroups"][0].as_str().unwrap();
        let resources = rule["resources"].as_array().unwrap();
        granted.extend(
            resources
                .iter()
                .map(|it| format!("{group}/{}", it.as_str().unwrap())),
        );
    }
    recorded.sort();
    granted.sort();
    assert_eq!(granted, recorded);
    assert!(!granted.contains(&"/secrets".to_owned()) && granted.len() > 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_manifest_has_the_arguments_of_the_recorder() {
    let cluster = Cluster::start().await;
    let args = [
        "cm/flags",
        "--keep=2d",
        "--max-size=1Gi",
        "--redact=cm .data.token",
        "--image=a/b:1",
    ];
    let documents = manifest(&cluster, &args);
    let [_, role, binding, claim, deployment] = &documents[..] else {
        panic!("{documents:?}");
    };
    assert_eq!(
        role["rules"],
        json!([{"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["flags"],
            "verbs": ["list", "watch"]}])
    );
    assert_eq!(
        (&binding["kind"], &binding["metadata"]["namespace"]),
        (&json!("RoleBinding"), &json!("shop"))
    );
    assert_eq!(claim["spec"]["resources"]["requests"]["storage"], "1127Mi");
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["image"], "a/b:1");
    let words: Vec<&str> = container["args"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(
        words,
        [
            "record",
            "cm/flags",
            "--namespace=shop",
            "--keep=172800s",
            "--max-size=1073741824",
            "--redact=cm .data.token",
            "--store=/record",
            "--cache-dir="
        ]
    );
    // The same words start a recorder.
    let folder = Folder::of(&cluster);
    let own: Vec<&str> = words[1..words.len() - 2].to_vec();
    cluster.put(config_map("flags", &json!({"token": "hunter2-hunter2"})));
    record(&folder, &cluster, &own, "flags 2 Listed").interrupt();
    let text = texts(&folder).join("\n");
    assert!(text.contains("\"token\":\"spy:15:"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manifest_that_the_server_refuses_is_an_error() {
    let cluster = Cluster::start().await;
    let printed = |args: &[&str]| {
        let ran = cluster.spy().run(args);
        assert_eq!((ran.status.code(), &*ran.stdout), (Some(1), ""));
        ran.stderr
    };
    let record = ["record", "cm", "--print-manifest"];
    let serve = ["serve", "cm", "--print-manifest", "--tls-secret=spy-tls"];
    for verb in [&record[..], &serve] {
        let error = printed(&[verb, &["-n", "Acc_Bad Name"]].concat());
        let words = "error: invalid namespace \"Acc_Bad Name\": a lowercase RFC 1123 label must consist of ";
        assert!(error.starts_with(words), "{error}");
        let hint = "\nhint: name the namespace of the program with -n\n";
        assert!(error.ends_with(hint), "{error}");
        let error = printed(&[verb, &["--image", ""]].concat());
        let words = r#"error: invalid argument "" for "--image" flag: expected an image, for example kubectl-spy:"#;
        assert!(error.starts_with(words), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recorder_of_nothing_is_an_error() {
    let cluster = Cluster::start().await;
    let folder = Folder::of(&cluster);
    for args in [
        &["record", "secret", "--exclude-secrets"][..],
        &["record", "secrets/web", "-n", "shop", "--exclude-secrets"],
        &["record", "secret", "--exclude-secrets", "--print-manifest"],
    ] {
        let ran = folder.spy(&cluster).run(args);
        assert_eq!(ran.status.code(), Some(1), "{}", ran.transcript());
        assert_eq!(ran.stdout, "");
        let lines: Vec<&str> = ran.stderr.lines().take(2).collect();
        assert_eq!(
            lines,
            [
                "error: nothing to record: --exclude-secrets leaves out every object that you name",
                "hint: name another type, or leave out --exclude-secrets"
            ]
        );
    }
    let both = ["cm,secret", "--exclude-secrets"];
    cluster.put(config_map("flags", &json!({})));
    record(&folder, &cluster, &both, "flags 2 Listed").interrupt();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redaction_of_nothing_is_an_error() {
    let cluster = Cluster::start().await;
    let refused = |redact: &str| {
        let ran = cluster.spy().run(&["record", "cm", "--redact", redact]);
        assert_eq!(ran.status.code(), Some(1), "{}", ran.transcript());
        ran.stderr
    };
    assert_snapshot!(refused("ConfgMap .data.token"), @r#"
    error: --redact "ConfgMap .data.token": no recorded kind is ConfgMap
    hint: write a type and a path, for example --redact 'cm .data.token'
    See 'kubectl spy record -h' for help and examples
    "#);
    for (redact, why) in [
        ("deploy .spec", "no recorded kind is deploy"),
        ("cm .data[", "expected an index, "),
        ("cm .metadata", "a record needs .metadata.name"),
        (
            "cm data.token",
            "expected a type and a path that begins with a dot",
        ),
    ] {
        let stderr = refused(redact);
        assert!(stderr.contains(&format!("{redact:?}: {why}")), "{stderr}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_through_a_redacted_record_show_digests_of_the_server_too() {
    let cluster = Cluster::start().await;
    let folder = Folder::of(&cluster);
    let token = |token: &str| json!({"data": {"token": token, "mode": "a"}});
    cluster.put(config_map("flags", &token("first-hunter2")["data"]));
    let run = record(
        &folder,
        &cluster,
        &["cm", "--redact", "cm .data.token"],
        "flags 2 Listed",
    );
    cluster.edit("configmaps", "flags", &token("other-hunter2"));
    wait_for(&folder, "flags 3 Modified");
    run.interrupt();
    // This version comes from the server.
    cluster.edit(
        "configmaps",
        "flags",
        &json!({"data": {"token": "other-hunter2", "mode": "b"}}),
    );
    let ran =
        folder
            .spy(&cluster)
            .run(&["changes", "cm/flags", "--since=1h", "--once", "-o", "short"]);
    assert!(!ran.stdout.contains("hunter2"), "{}", ran.stdout);
    let changed: Vec<&str> = ran
        .stdout
        .lines()
        .filter(|line| line.contains("kubectl-edit"))
        .collect();
    assert!(changed[0].contains("token: spy:13:"), "{}", ran.stdout);
    // The token is the same in both.
    assert!(changed[1].ends_with("mode: a → b"), "{}", ran.stdout);
    // The server still knows what was so before there was a record.
    cluster.renew();
    cluster.tick(9);
    cluster.renew();
    for time in ["5s", "1s"] {
        let at = ["changes", "cm/flags", "-o", "yaml", "--at", time];
        let ran = folder.spy(&cluster).run(&at);
        assert!(
            ran.stdout.contains("token: spy:13:"),
            "{}",
            ran.transcript()
        );
    }
}

#[test]
fn a_build_without_kafka_says_so() {
    let store = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("store-kafka");
    let store = store.to_str().unwrap();
    let topic = "kafka://127.0.0.1:1/t";
    let ran = Spy::alone().run(&["record", "--from", topic, "--once", "--store", store]);
    let expect = if cfg!(feature = "kafka") {
        "error: kafka://127.0.0.1:1/t: "
    } else {
        "error: this build has no Kafka\nhint: "
    };
    assert!(ran.stderr.contains(expect), "{}", ran.transcript());
    assert!(!ran.status.success());
}
