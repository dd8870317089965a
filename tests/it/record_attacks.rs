//! Tests of a store that is not as `record` has left it: what is no file, what is in use, what belongs to another one.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use insta::assert_snapshot;
use serde_json::json;

use super::record::{Folder, wait_for};
use super::support::cluster::{Cluster, config_map};
use super::support::{Ran, Spy};

/// A record of one version of `configmap/flags`.
async fn recorded() -> (Cluster, Folder) {
    let cluster = Cluster::start().await;
    let folder = Folder::of(&cluster);
    cluster.put(config_map("flags", &json!({"mode": "a"})));
    let mut run = folder.spy(&cluster).start(&["record", "cm", "-n", "shop"]);
    run.until("recording");
    wait_for(&folder, "flags 2 Listed");
    run.interrupt();
    (cluster, folder)
}

/// The only file of a record.
fn file(folder: &Folder) -> PathBuf {
    let [file] = &folder.files()[..] else {
        panic!("one file");
    };
    file.path.clone()
}

/// Runs `store`, at a time after that of all files.
fn store(folder: &Folder, args: &[&str]) -> Ran {
    let spy = Spy::alone().var("KUBECTL_SPY_NOW", "2036-01-01T00:00:00Z");
    spy.run(&[&["store"], args, &["--store", folder.path()]].concat())
}

/// The directory with the files of the only cluster.
fn file_parent(folder: &Folder) -> PathBuf {
    let clusters = fs::read_dir(folder.path()).unwrap();
    let mut inside = clusters.map(|entry| entry.unwrap().path());
    inside.find(|path| path.is_dir()).unwrap()
}

fn pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_file_is_named_and_nobody_waits_for_it() {
    let (cluster, folder) = recorded().await;
    let odd = file_parent(&folder).join("20200101T000000000-odd.spy");
    for (kind, cause) in [
        ("pipe", "not a file of a record"),
        ("directory", "not a file of a record"),
        ("loop", "symbolic links"),
        ("link to nowhere", "no such file"),
    ] {
        match kind {
            "pipe" => pipe(&odd),
            "directory" => fs::create_dir(&odd).unwrap(),
            "loop" => symlink(&odd, &odd).unwrap(),
            _ => symlink("nowhere", &odd).unwrap(),
        }
        let listed = store(&folder, &["ls"]);
        // By its name, it may have something from before the other file.
        assert_eq!(listed.stdout.lines().count(), 3, "{}", listed.transcript());
        let checked = store(&folder, &["check"]);
        assert!(checked.stdout.contains(": ok"), "{}", checked.transcript());
        assert!(checked.stdout.contains(cause), "{}", checked.transcript());
        let args = ["changes", "cm/flags", "--since=1h", "--once"];
        let changes = folder.spy(&cluster).run(&args);
        for ran in [&listed, &changes] {
            assert!(ran.stderr.contains(cause), "{}", ran.transcript());
        }
        assert_eq!(listed.status.code(), Some(1), "{}", listed.transcript());
        assert!(listed.stderr.contains("hint: "), "{}", listed.transcript());
        let _removed = fs::remove_file(&odd).or_else(|_| fs::remove_dir(&odd));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_no_file_is_an_error() {
    let (_cluster, folder) = recorded().await;
    let key = Path::new(folder.path()).join("key");
    fs::remove_file(&key).unwrap();
    pipe(&key);
    let ran = store(&folder, &["ls"]);
    assert!(
        ran.stderr.contains("key: not a file"),
        "{}",
        ran.transcript()
    );
    let ran = Spy::alone().run(&["status", "cm", "--from", folder.path()]);
    assert_eq!(ran.status.code(), Some(1), "{}", ran.transcript());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_in_use_is_not_deleted() {
    let (_cluster, folder) = recorded().await;
    let path = file(&folder);
    let ran = store(&folder, &["rm", "--before", "2036-01-01T00:00:01Z"]);
    assert_snapshot!(ran.transcript(), @"
    ! error: --before 2036-01-01T00:00:01Z has not come yet: it is 2036-01-01T00:00:00Z
    ! See 'kubectl spy store rm -h' for help and examples
    ");
    let written = |seconds: u64| {
        let epoch = SystemTime::UNIX_EPOCH;
        let time = epoch + Duration::from_secs(2_082_758_400 - seconds);
        let opened = fs::File::options().append(true).open(&path).unwrap();
        opened.set_modified(time).unwrap();
    };
    written(60);
    let ran = store(&folder, &["rm", "--before", "10s"]);
    assert!(
        ran.stderr.contains("is kept: a recorder"),
        "{}",
        ran.transcript()
    );
    assert!(path.exists());
    written(600);
    let ran = store(&folder, &["rm", "--before", "10s"]);
    assert!(ran.stdout.contains(" deleted"), "{}", ran.transcript());
    assert!(!path.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_cannot_be_deleted_does_not_keep_the_others() {
    let (_cluster, folder) = recorded().await;
    let path = file(&folder);
    let stuck = file_parent(&folder).join("20200101T000000000-stuck.spy");
    fs::copy(&path, &stuck).unwrap();
    // Nothing takes the place of a directory.
    let log = stuck.with_extension("spy-wal");
    fs::write(&log, "").unwrap();
    fs::create_dir(stuck.with_extension("spy-wal-deleted")).unwrap();
    let ran = store(&folder, &["rm", "--before", "10s"]);
    assert_eq!(ran.status.code(), Some(1), "{}", ran.transcript());
    let words = ["stuck.spy is kept: ", "error: 1 file could not be deleted"];
    for words in words {
        assert!(ran.stderr.contains(words), "{}", ran.transcript());
    }
    assert!(ran.stdout.contains(" deleted"), "{}", ran.transcript());
    assert_eq!((stuck.exists(), path.exists()), (true, false));
    assert!(log.exists(), "it has the newest versions of the file");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_without_its_file_is_named() {
    let (_cluster, folder) = recorded().await;
    let lost = file_parent(&folder).join("20200101T000000000-lost.spy-wal");
    fs::write(&lost, "versions").unwrap();
    let ran = store(&folder, &["check"]);
    assert_eq!(ran.status.code(), Some(1), "{}", ran.transcript());
    let words = "lost.spy-wal: its file is missing, so its versions are lost";
    assert!(ran.stdout.contains(words), "{}", ran.transcript());
}

#[tokio::test(flavor = "multi_thread")]
async fn two_clusters_of_one_name_are_chosen_by_their_ids() {
    let (_cluster, folder) = recorded().await;
    // Another server with the same context.
    let other = Cluster::start().await;
    other.put(config_map("flags", &json!({"mode": "a"})));
    other.edit("configmaps", "flags", &json!({"data": {"mode": "b"}}));
    let mut run = folder.spy(&other).start(&["record", "cm", "-n", "shop"]);
    run.until("recording");
    wait_for(&folder, "flags 3 Listed");
    run.interrupt();
    let from = |args: &[&str]| {
        let args = [
            &["status", "cm", "-n", "shop", "--from", folder.path()],
            args,
        ]
        .concat();
        Spy::alone().run(&args)
    };
    let ran = from(&[]);
    let hint = ran
        .stderr
        .lines()
        .find(|line| line.starts_with("hint: "))
        .unwrap();
    let (_, words) = hint.split_once("--context: ").unwrap();
    let words: Vec<&str> = words.split(", ").collect();
    assert_eq!(words.len(), 2, "{hint}");
    for word in words {
        let ran = from(&["--context", word]);
        assert!(
            ran.stdout.contains("configmap/flags"),
            "{}",
            ran.transcript()
        );
        let export = Spy::alone().run(&[
            "store",
            "export",
            "--store",
            folder.path(),
            "--context",
            word,
        ]);
        assert_eq!(export.stdout.lines().count(), 1, "{}", export.transcript());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_of_the_size_of_files_is_an_error_and_what_was_written_stays() {
    let cluster = Cluster::start().await;
    let folder = Folder::of(&cluster);
    cluster.put(config_map("flags", &json!({"mode": "a"})));
    let script = "ulimit -f 1000; exec \"$0\" \"$@\"";
    let args = ["record", "cm", "-n", "shop"];
    let mut child = folder.spy(&cluster).spawn_in_shell(script, &args);
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut lines = lines.map(Result::unwrap);
    assert!(lines.any(|line| line.starts_with("recording ")));
    wait_for(&folder, "flags 2 Listed");
    let mut random = fastrand::Rng::with_seed(7);
    let mut noise = |length| -> String {
        std::iter::repeat_with(|| random.alphanumeric())
            .take(length)
            .collect()
    };
    for _ in 0..12 {
        let data = json!({"data": {"noise": noise(100_000)}});
        cluster.edit("configmaps", "flags", &data);
    }
    // It says so, and goes on.
    assert!(lines.any(|line| line.starts_with("not recording: ")));
    let status = child.try_wait().unwrap();
    assert!(status.is_none(), "{status:?}");
    let killed = Command::new("kill").arg(child.id().to_string()).status();
    assert!(killed.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let ran = store(&folder, &["check"]);
    assert_eq!(ran.status.code(), Some(0), "{}", ran.transcript());
}
