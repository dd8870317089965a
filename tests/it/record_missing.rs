//! Tests of a record that is not there or cannot be read, and of a server that is away beside one.
#![cfg(unix)]

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use insta::assert_snapshot;
use kubectl_spy::sandbox::Kind;
use serde_json::json;

use super::record::{Folder, wait_for};
use super::serve::Served;
use super::support::cluster::{Cluster, config_map, deployment};
use super::support::{Ran, Spy};

/// The commands that read a record beside the server.
const READERS: [&str; 6] = [
    "changes cm --once",
    "changes cm --at 1s",
    "status deploy --once",
    "status deploy --at 1h",
    "trace deploy/web --at 1h",
    "logs deploy/web --with changes --since 1h",
];

/// A cluster with a `ConfigMap` and a Deployment, and the record of it.
async fn recorded() -> (Cluster, Folder) {
    let cluster = Cluster::start().await;
    let folder = Folder::of(&cluster);
    cluster.put(config_map("flags", &json!({"mode": "a"})));
    cluster.put(deployment("web", 1));
    let spy = folder.spy(&cluster);
    let mut run = spy.start(&["record", "cm,deploy", "-n", "shop"]);
    run.until("recording");
    wait_for(&folder, "flags 2 Listed");
    run.interrupt();
    (cluster, folder)
}

/// What a command prints over the store in a directory.
fn over(cluster: &Cluster, command: &str, store: &str) -> Ran {
    let words = command.split(' ').chain(["--store", store]);
    cluster.spy().run(&words.collect::<Vec<_>>())
}

/// Makes the folder of the only cluster one that nobody can read.
fn spoil_cluster(folder: &Folder) {
    let inside = fs::read_dir(folder.path()).unwrap();
    let mut inside = inside.map(|entry| entry.unwrap().path());
    let cluster = inside.find(|path| path.is_dir()).unwrap();
    fs::remove_dir_all(&cluster).unwrap();
    std::os::unix::fs::symlink(&cluster, &cluster).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_named_store_that_is_absent_is_an_error_of_every_reader() {
    let (cluster, folder) = recorded().await;
    let absent = format!("{}-absent", folder.path());
    for command in READERS {
        let ran = over(&cluster, command, &absent);
        assert_eq!(
            ran.status.code(),
            Some(1),
            "{command}: {}",
            ran.transcript()
        );
        assert_eq!(
            ran.transcript(),
            format!(
                "! error: the path \"{absent}\" does not exist\n! hint: start one with `kubectl spy record`, or name another with --store"
            ),
            "{command}"
        );
        assert!(!Path::new(&absent).exists(), "{command}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_named_store_that_cannot_be_read_is_an_error_of_every_reader() {
    let (cluster, folder) = recorded().await;
    let file = Path::new(folder.path()).join("key");
    let cases = [
        (Path::new("/dev/null"), "/dev/null: not a directory"),
        (file.as_path(), "key: not a directory"),
    ];
    for command in READERS {
        for (path, cause) in cases {
            let ran = over(&cluster, command, path.to_str().unwrap());
            assert_eq!(
                ran.status.code(),
                Some(1),
                "{command}: {}",
                ran.transcript()
            );
            assert!(
                ran.stderr.contains(cause),
                "{command}: {}",
                ran.transcript()
            );
            assert!(
                ran.stderr.contains("hint: "),
                "{command}: {}",
                ran.transcript()
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_of_one_part_says_which_part_it_is() {
    let (_cluster, folder) = recorded().await;
    let from = |words: &str| {
        let words = words.split(' ').chain(["--from", folder.path()]);
        Spy::alone().run(&words.collect::<Vec<_>>()).transcript()
    };
    assert_snapshot!(from("status deploy -A"), @r#"
    ! everything as it was recorded at 2026-03-02T12:05:00Z
    ! error: nobody recorded deployments.apps in all namespaces, only deployments.apps in namespace "shop"
    "#);
    assert_snapshot!(from("changes cm -A --once"), @r#"! error: nobody recorded configmaps in all namespaces, only configmaps in namespace "shop""#);
    assert_snapshot!(from("status deploy -n other"), @r#"
    ! everything as it was recorded at 2026-03-02T12:05:00Z
    ! error: nobody recorded deployments.apps in namespace "other", only deployments.apps in namespace "shop"
    "#);
    assert_snapshot!(from("status pods -A"), @"
    ! everything as it was recorded at 2026-03-02T12:05:00Z
    ! error: nobody recorded pods
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_of_a_named_store_that_cannot_be_listed_is_an_error() {
    let (cluster, folder) = recorded().await;
    spoil_cluster(&folder);
    for command in READERS
        .iter()
        .filter(|command| **command != "changes cm --at 1s")
    {
        let ran = over(&cluster, command, folder.path());
        assert_eq!(
            ran.status.code(),
            Some(1),
            "{command}: {}",
            ran.transcript()
        );
        assert!(
            ran.stderr.contains("symbolic links"),
            "{command}: {}",
            ran.transcript()
        );
    }
    for command in [
        "store ls",
        "store check",
        "store export",
        "store rm --before 1h",
    ] {
        let ran = over(&cluster, command, folder.path());
        assert_eq!(
            ran.status.code(),
            Some(1),
            "{command}: {}",
            ran.transcript()
        );
        assert!(
            ran.stderr.contains("symbolic links") || ran.stdout.contains("symbolic links"),
            "{command}: {}",
            ran.transcript()
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_usual_store_may_be_absent_and_a_line_says_that_it_cannot_be_read() {
    let (cluster, folder) = recorded().await;
    let changes = ["changes", "cm", "--once", "--since", "1m"];
    let key = Path::new(folder.path()).join("key");
    let kept = fs::read(&key).unwrap();
    let with_record = folder.spy(&cluster).run(&changes).transcript();
    fs::remove_file(&key).unwrap();
    fs::create_dir(&key).unwrap();
    let locked = folder.spy(&cluster).run(&changes);
    let line = locked.stderr.lines().find(|line| line.contains("key"));
    let line = line.unwrap_or_default().replace(folder.path(), "STORE");
    assert_snapshot!(line, @"the record is not used: STORE/key: not a file");
    assert_eq!(locked.status.code(), Some(0), "{}", locked.transcript());
    fs::remove_dir(&key).unwrap();
    fs::write(&key, kept).unwrap();
    spoil_cluster(&folder);
    let spoilt = folder.spy(&cluster).run(&changes);
    assert!(
        spoilt.stderr.contains("the record is not used: ") && spoilt.stderr.contains("symbolic"),
        "{}",
        spoilt.transcript()
    );
    fs::remove_dir_all(folder.path()).unwrap();
    let absent = folder.spy(&cluster).run(&changes);
    assert!(!absent.stderr.contains("record"), "{}", absent.transcript());
    assert!(!with_record.contains("not used"), "{with_record}");
}

/// A recorder may begin after the server of the page.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_reads_a_named_store_that_comes_later() {
    let cluster = Cluster::start().await;
    let folder = Folder::of(&cluster);
    cluster.put(config_map("flags", &json!({"mode": "a"})));
    let served = Served::start(&cluster.spy(), &["cm", "--store", folder.path()]);
    let changes = "/spy/v1/changes?object=cm/flags&since=1m";
    assert_eq!(served.get(changes).code, 200);
    served.stop();
    let ran = over(&cluster, "serve cm --listen 127.0.0.1:0", "/dev/null");
    assert_eq!(ran.status.code(), Some(1), "{}", ran.transcript());
    assert!(
        ran.stderr.contains("not a directory"),
        "{}",
        ran.transcript()
    );
}

/// Stops the API server. What listens at its address then counts the connections, and closes each.
async fn deaf(cluster: &mut Cluster) -> Arc<AtomicUsize> {
    let address = cluster.sandbox.address();
    cluster.sandbox.stop().await;
    let listener = TcpListener::bind(address).unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            counted.fetch_add(1, Ordering::Relaxed);
            drop(stream);
        }
    });
    count
}

#[tokio::test(flavor = "multi_thread")]
async fn a_time_in_the_past_waits_for_no_server() {
    let (mut cluster, folder) = recorded().await;
    let count = deaf(&mut cluster).await;
    for args in [
        &["status", "deploy", "--at", "1h"][..],
        &["status", "deploy", "--at", "1h", "--no-store"],
        &["trace", "deploy/web", "--at", "1h"],
        &["changes", "cm", "--at", "1h"],
    ] {
        let before = count.load(Ordering::Relaxed);
        let ran = folder.spy(&cluster).run(args);
        let requests = count.load(Ordering::Relaxed) - before;
        assert_eq!(ran.status.code(), Some(1), "{}", ran.transcript());
        // A GET whose connection ends is repeated once.
        assert!(requests <= 2, "{args:?}: {requests} requests");
        // The other line is a hint at the record.
        let lines = if args.contains(&"--no-store") { 1 } else { 2 };
        assert_eq!(ran.stderr.lines().count(), lines, "{}", ran.transcript());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_words_about_a_server_that_is_away_are_printed_once() {
    let (mut cluster, folder) = recorded().await;
    cluster.sandbox.stop().await;
    for args in [
        &["changes", "cm", "--once", "--since", "1m"][..],
        &["status", "deploy", "--once"],
        &["trace", "deploy/web", "--once"],
    ] {
        let ran = folder.spy(&cluster).run(args);
        let words = "The connection to the server";
        let words = ran.stderr.matches(words).count();
        assert_eq!(words, 1, "{args:?}: {}", ran.transcript());
        assert!(
            !ran.stderr.contains("the record is not used"),
            "{args:?}: {}",
            ran.transcript()
        );
    }
}

/// How to read what is recorded of a server that is away.
#[tokio::test(flavor = "multi_thread")]
async fn the_error_of_a_server_that_is_away_names_its_record() {
    let (mut cluster, folder) = recorded().await;
    let (other, other_folder) = recorded().await;
    cluster.sandbox.stop().await;
    let hint = format!("add --from {}", folder.path());
    for command in [
        "changes deploy/web --once",
        "changes cm --since 1h --once",
        "status deploy --once",
        "status deploy --at 1h",
        "trace deploy/web --at 1h",
        "changes gears --once",
    ] {
        let ran = over(&cluster, command, folder.path());
        assert_eq!(ran.status.code(), Some(1), "{command}");
        let lines: Vec<&str> = ran.stderr.lines().collect();
        let error = "The connection to the server";
        assert!(lines[0].starts_with(error), "{}", ran.transcript());
        let words = lines[1].strip_prefix("hint: this cluster is recorded until 2026-03-02T12:");
        let is_hint = words.is_some_and(|words| words.ends_with(&hint));
        assert!(is_hint, "{command}: {}", ran.transcript());
    }
    // The hint works as it is.
    let args = ["changes", "cm", "--since", "1h", "--from", folder.path()];
    let ran = cluster.spy().run(&args);
    assert!(ran.status.success(), "{}", ran.transcript());
    // The words of the hint name what else is needed.
    let ran = over(&cluster, "status deploy --once -n web", folder.path());
    assert!(
        ran.stderr.trim_end().ends_with(&hint),
        "{}",
        ran.transcript()
    );
    // Another server has another record.
    for (command, store) in [
        ("status deploy --once", other_folder.path()),
        ("status deploy --once --no-store", folder.path()),
    ] {
        let ran = over(&cluster, command, store);
        assert!(!ran.stderr.contains("hint"), "{}", ran.transcript());
    }
    drop(other);
}

/// A server without Widgets, at the address of one that had them.
#[tokio::test(flavor = "multi_thread")]
async fn the_error_of_a_type_that_is_gone_names_the_record_that_has_it() {
    let mut cluster = Cluster::start_with(|options| {
        let kind = Kind::custom("example.com", "v1", "Widget", "widgets");
        options.kinds.push(kind);
    })
    .await;
    let folder = Folder::of(&cluster);
    cluster.put(json!({
        "apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": "gear", "namespace": "shop"},
    }));
    let mut run = folder.spy(&cluster).start(&["record", "widgets", "-A"]);
    run.until("recording");
    wait_for(&folder, "gear 2 Listed");
    run.interrupt();
    let address = cluster.sandbox.address();
    cluster.sandbox.stop().await;
    let without = Cluster::start().await;
    forward(address, without.sandbox.address()).await;
    let ran = over(&cluster, "changes widget/gear --once", folder.path());
    let lines: Vec<&str> = ran.stderr.lines().collect();
    let error = "error: the server doesn't have a resource type \"widget\"";
    assert_eq!(lines[0], error, "{}", ran.transcript());
    let flags = format!("add --from {} -n shop", folder.path());
    assert!(lines[1].ends_with(&flags), "{}", ran.transcript());
    // The record has no such type, either.
    let ran = over(&cluster, "changes gadgets --once", folder.path());
    assert!(!ran.stderr.contains("hint"), "{}", ran.transcript());
    // No server is asked.
    let error =
        "error: the record doesn't have a resource type \"gadgets\"\nhint: did you mean widgets?\n";
    for args in [
        ["changes", "gadgets", "--from", folder.path()].as_slice(),
        &["store", "export", "gadgets", "--store", folder.path()],
    ] {
        assert_eq!(cluster.spy().run(args).stderr, error);
    }
}

/// Sends the connections to one address on to another one.
async fn forward(from: SocketAddr, to: SocketAddr) {
    let listener = tokio::net::TcpListener::bind(from).await.unwrap();
    tokio::spawn(async move {
        while let Ok((mut near, _)) = listener.accept().await {
            let mut far = tokio::net::TcpStream::connect(to).await.unwrap();
            tokio::spawn(async move {
                let _closed = tokio::io::copy_bidirectional(&mut near, &mut far).await;
            });
        }
    });
}
