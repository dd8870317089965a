//! Tests of `record` and `store` against the sandbox.

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use kubectl_spy::record::{FileReader, Store, StoreFile};
use serde_json::json;

use super::support::cluster::{Cluster, config_map};
use super::support::{Ran, Running, Spy};

/// A directory for the record of one test.
struct Folder(PathBuf);

impl Folder {
    fn of(cluster: &Cluster) -> Folder {
        let port = cluster.sandbox.address().port();
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("store-{port}"));
        let _gone = fs::remove_dir_all(&path);
        Folder(path)
    }

    fn spy(&self, cluster: &Cluster) -> Spy {
        let path = self.0.to_str().unwrap();
        cluster.spy().var("KUBECTL_SPY_STORE", path)
    }

    fn files(&self) -> Vec<StoreFile> {
        let store = Store::open(&self.0).unwrap();
        let clusters = store.clusters().unwrap();
        clusters.iter().flat_map(|it| it.list().unwrap()).collect()
    }

    /// The rows of the view `versions`: name, revision, why.
    fn versions(&self) -> Vec<String> {
        let mut rows = Vec::new();
        for file in self.files() {
            let db = rusqlite::Connection::open(&file.path).unwrap();
            let sql = "SELECT name || ' ' || revision || ' ' || why FROM versions WHERE namespace = 'shop'";
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
fn wait_for(folder: &Folder, row: &str) {
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
    let file = FileReader::open(&file.path).unwrap();
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
    assert!(texts.len() > 4, "{}", texts.len());
    for text in texts {
        for (clear, coded) in VALUES {
            assert!(!text.contains(clear) && !text.contains(coded), "{text}");
        }
    }
}

/// The texts of all versions.
fn texts(folder: &Folder) -> Vec<String> {
    let mut texts = Vec::new();
    for file in folder.files() {
        let mut file = FileReader::open(&file.path).unwrap();
        for recorded in file.all_versions().unwrap() {
            texts.push(recorded.version.body.text().to_string());
        }
    }
    texts
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
}

#[test]
fn a_store_that_does_not_exist_is_an_error() {
    let ran = Spy::alone().run(&["store", "ls", "--store", "/nowhere"]);
    assert_snapshot!(ran.transcript(), @"
    ! error: /nowhere: no record
    ! hint: start one with `kubectl spy record`, or name another with --store
    ");
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
    let document = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/record.md");
    let document = fs::read_to_string(document).unwrap();
    let typed = document
        .lines()
        .filter_map(|line| line.strip_prefix("$ kubectl spy "));
    let mut ran = 0;
    for line in typed {
        let words: Vec<&str> = line.split(' ').collect();
        let mut run = folder.spy(&cluster).start(&words);
        if words[0] == "record" {
            run.until("recording");
            run.interrupt();
        } else {
            let ended = run.finish();
            assert!(ended.status.success(), "{line}: {}", ended.transcript());
        }
        ran += 1;
    }
    assert!(ran > 5, "{ran}");
}
