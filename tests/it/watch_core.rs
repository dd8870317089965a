//! Tests of the watch core through the program: its output if servers and networks fail, and its requests.

use std::io::{BufRead, BufReader, Read};
use std::process::Command;

use insta::assert_snapshot;
use kubectl_spy::sandbox::{Effect, End, Expiry, Fault, Place, Request, Rule, User, Verb};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::support::Ran;
use super::support::cluster::{Cluster, config_map, deployment, pod};

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "`Iterator::filter` passes a reference to a reference"
)]
fn is_watch(request: &&Request) -> bool {
    request.path.contains("watch=")
}

/// The requests, without the timeouts of watches, which are random.
fn asked(requests: &[Request]) -> String {
    let line = |request: &Request| {
        let kept = request.path.split('&');
        let kept: Vec<&str> = kept
            .filter(|part| !part.starts_with("timeoutSeconds="))
            .collect();
        format!("{} {}\n", request.method, kept.join("&"))
    };
    requests.iter().map(line).collect()
}

/// All output, without the server's port, which is random.
fn without_port(cluster: &Cluster, ran: &Ran) -> String {
    let address = cluster.sandbox.address().to_string();
    ran.transcript().replace(&address, "SERVER")
}

async fn flags() -> Cluster {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"dark-mode": "off"})));
    cluster
}

fn turn(cluster: &Cluster, state: &str) {
    cluster.edit(
        "configmaps",
        "flags",
        &json!({"data": {"dark-mode": state}}),
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_that_ends_is_resumed_where_it_was() {
    let cluster = flags().await;
    let cut = Effect::Cut {
        at: Place::AfterEvents(2),
        end: End::Clean,
    };
    cluster
        .sandbox
        .inject(Fault::on(Verb::Watch, "configmaps", cut));
    let mut run = cluster.spy().start(&["changes", "--since=0", "cm/flags"]);
    run.until("EXISTING");
    for state in ["on", "auto", "dim"] {
        turn(&cluster, state);
    }
    run.until("dim");
    turn(&cluster, "bright");
    run.until("bright");
    assert_snapshot!(run.interrupt().transcript(), @r#"
    2026-03-02T12:05:00Z EXISTING configmap/flags  2
    2026-03-02T12:05:00Z MODIFIED configmap/flags  2→3  by kubectl-edit  1 change, 2 hidden
    ~ .data.dark-mode: "off" → "on"
    2026-03-02T12:05:00Z MODIFIED configmap/flags  3→4  +0s  by kubectl-edit  1 change, 2 hidden
    ~ .data.dark-mode: "on" → auto
    2026-03-02T12:05:00Z MODIFIED configmap/flags  4→5  +0s  by kubectl-edit  1 change, 2 hidden
    ~ .data.dark-mode: auto → dim
    2026-03-02T12:05:00Z MODIFIED configmap/flags  5→6  +0s  by kubectl-edit  1 change, 2 hidden
    ~ .data.dark-mode: dim → bright
    "#);
    assert_snapshot!(asked(&cluster.sandbox.requests()), @"
    GET /api/v1/namespaces/shop/configmaps?fieldSelector=metadata.name%3Dflags&limit=500
    GET /api/v1/namespaces/shop/configmaps?fieldSelector=metadata.name%3Dflags&watch=true&allowWatchBookmarks=true&resourceVersion=2
    GET /api/v1/namespaces/shop/configmaps?fieldSelector=metadata.name%3Dflags&watch=true&allowWatchBookmarks=true&resourceVersion=4
    GET /api/v1/namespaces/shop/configmaps?fieldSelector=metadata.name%3Dflags&limit=1
    GET /api/v1/namespaces/shop/configmaps?fieldSelector=metadata.name%3Dflags&resourceVersion=4&resourceVersionMatch=Exact
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ends_every_watch_gets_few_requests() {
    let cluster = flags().await;
    let cut = Effect::Cut {
        at: Place::AfterHeaders,
        end: End::Clean,
    };
    cluster
        .sandbox
        .inject(Fault::on(Verb::Watch, "configmaps", cut).range(1..=3));
    let mut run = cluster.spy().start(&["changes", "--since=0", "cm/flags"]);
    run.until("EXISTING");
    let watches = |requests: &[Request]| requests.iter().filter(is_watch).count();
    cluster
        .sandbox
        .requests_until(|requests| watches(requests) == 4)
        .await;
    turn(&cluster, "on");
    run.until("MODIFIED");
    let ran = run.interrupt();
    assert_eq!(ran.stdout.matches("EXISTING").count(), 1, "{}", ran.stdout);
    assert_eq!(ran.stdout.matches("MODIFIED").count(), 1, "{}", ran.stdout);
    let requests = cluster.sandbox.requests();
    // One listing, and for each further watch two reads that show whether the server was restored.
    assert_eq!(
        (watches(&requests), requests.len()),
        (4, 11),
        "{}",
        asked(&requests)
    );
}

/// The output if the server forgets the version to resume from while it is down. Of three objects, one is
/// changed twice, one is deleted and one is unchanged. A fourth one is created.
async fn forgotten(expiry: Expiry, args: &[&str]) -> Ran {
    let mut cluster = Cluster::start().await;
    for name in ["changed", "gone", "same"] {
        cluster.put(config_map(name, &json!({"state": "old"})));
    }
    let mut run = cluster
        .spy()
        .start(&[&["changes", "--since=0", "cm"], args].concat());
    run.until_where("a listing", |line| {
        line.contains("watching") || line.contains("synced")
    });
    cluster.watched("configmaps").await;
    cluster.sandbox.stop().await;
    run.until("retrying");
    cluster.edit(
        "configmaps",
        "changed",
        &json!({"data": {"state": "newer"}}),
    );
    cluster.edit(
        "configmaps",
        "changed",
        &json!({"data": {"state": "newest"}}),
    );
    cluster.delete("configmaps", "gone");
    cluster.put(config_map("new", &json!({})));
    cluster.sandbox.compact(cluster.sandbox.revision());
    let fault = Effect::Expire(expiry);
    cluster
        .sandbox
        .inject(Fault::on(Verb::Watch, "configmaps", fault));
    cluster.sandbox.restart().await.unwrap();
    run.until("/new");
    cluster.edit("configmaps", "changed", &json!({"data": {"state": "last"}}));
    run.until("last");
    let ran = run.interrupt();
    let asked_for = cluster.sandbox.requests();
    assert_eq!(
        asked_for
            .iter()
            .filter(|request| request.path.contains("limit=500"))
            .count(),
        2,
        "{}",
        asked(&asked_for)
    );
    ran
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_during_an_outage_are_printed_with_a_gap() {
    let ran = forgotten(Expiry::InStream(0), &[]).await;
    assert_snapshot!(ran.stdout, @r#"
    watching 3 configmaps in namespace "shop"
    -- versions after 4 up to 8 may be missing: the server has compacted them --
    2026-03-02T12:05:00Z DELETED configmap/gone  3  existed up to 4m58s  while disconnected
    2026-03-02T12:05:00Z MODIFIED configmap/changed  2→6  versions may be missing  by kubectl-edit  1 change, 2 hidden
    ~ .data.state: old → newest
    2026-03-02T12:05:00Z CREATED configmap/new  8  by kubectl-create
    2026-03-02T12:05:00Z MODIFIED configmap/changed  6→9  +0s  by kubectl-edit  1 change, 2 hidden
    ~ .data.state: newest → last
    "#);
    let http = forgotten(Expiry::HttpStatus, &[]).await;
    assert_eq!(http.stdout, ran.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_down_is_waited_for() {
    let mut cluster = flags().await;
    let mut run = cluster.spy().start(&["changes", "--since=0", "cm/flags"]);
    run.until("EXISTING");
    cluster.watched("configmaps").await;
    cluster.sandbox.stop().await;
    run.until("refused");
    cluster.sandbox.restart().await.unwrap();
    run.until("live");
    turn(&cluster, "on");
    run.until("dark-mode");
    let ran = run.interrupt();
    assert_snapshot!(ran.stdout, @r#"
    2026-03-02T12:05:00Z EXISTING configmap/flags  2
    2026-03-02T12:05:00Z MODIFIED configmap/flags  2→3  by kubectl-edit  1 change, 2 hidden
    ~ .data.dark-mode: "off" → "on"
    "#);
    let printed = without_port(&cluster, &ran);
    let last: Vec<&str> = printed.lines().rev().take(2).collect();
    assert_snapshot!(format!("{}\n{}", last[1], last[0]), @r#"
    ! configmaps/flags in namespace "shop": retrying: The connection to the server SERVER was refused - did you specify the right host or port?
    ! configmaps/flags in namespace "shop": live
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_starting_is_waited_for() {
    let mut cluster = flags().await;
    cluster.sandbox.stop().await;
    let starting = TcpListener::bind(cluster.sandbox.address()).await.unwrap();
    let mut run = cluster.spy().start(&["changes", "--since=0", "cm/flags"]);
    let (mut client, _) = starting.accept().await.unwrap();
    // If the server closed the connection with unread bytes, it would be reset, and the client would retry by
    // itself.
    let mut request = [0; 4096];
    assert!(client.read(&mut request).await.unwrap() > 0);
    let busy = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";
    client.write_all(busy).await.unwrap();
    drop((client, starting));
    cluster.sandbox.restart().await.unwrap();
    run.until("EXISTING");
    run.until(": live");
    assert_snapshot!(without_port(&cluster, &run.interrupt()), @r#"
    2026-03-02T12:05:00Z EXISTING configmap/flags  2
    ! configmaps/flags in namespace "shop": retrying: Error from server (ServiceUnavailable): the server is currently unable to handle the request (get configmaps)
    ! configmaps/flags in namespace "shop": live
    "#);
}

/// More bytes than the buffer of a pipe.
const MORE_THAN_A_PIPE: usize = 300_000;

#[tokio::test(flavor = "multi_thread")]
async fn a_full_pipe_does_not_stop_the_watches() {
    let mut cluster = flags().await;
    let args = ["changes", "--since=0", "cm/flags", "-o", "json"];
    let mut child = cluster.spy().spawn(&args);
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
    turn(&cluster, &"x".repeat(MORE_THAN_A_PIPE));
    output.read_exact(&mut [0; 8]).unwrap(); // after this read, the program waits for a reader
    cluster.sandbox.stop().await;
    let before = cluster.sandbox.requests().len();
    cluster.sandbox.restart().await.unwrap();
    let again = |requests: &[Request]| requests[before..].iter().any(|request| is_watch(&request));
    cluster.sandbox.requests_until(again).await;
    for state in ["on", "off"] {
        turn(&cluster, state);
    }
    let lines = output.lines().map(|line| line.unwrap());
    let versions = lines.filter(|line| line.contains("\"to\":"));
    assert_eq!(versions.take(3).count(), 3);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_ends_a_run_that_waits_for_a_reader() {
    use std::os::unix::process::ExitStatusExt;
    let cluster = flags().await;
    let args = ["changes", "--since=0", "cm/flags", "-o", "json"];
    let mut child = cluster.spy().spawn(&args);
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
    turn(&cluster, &"x".repeat(MORE_THAN_A_PIPE));
    output.read_exact(&mut [0; 8]).unwrap();
    let kill = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    assert_eq!(child.wait().unwrap().signal(), Some(2));
}

/// A cluster with a `ConfigMap`, and a user with these rules.
async fn with_rules(rules: Vec<Rule>) -> Cluster {
    let user = User {
        name: "jane".to_owned(),
        token: String::new(),
        rules,
    };
    let cluster = Cluster::start_with(|options| options.users = vec![user]).await;
    cluster.put(config_map("flags", &json!({"dark-mode": "off"})));
    cluster
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forbidden_kind_ends_it_with_kubectls_error() {
    let cluster = with_rules(vec![Rule::allow("*", "configmaps")]).await;
    for args in [
        &["changes", "--since=0", "secrets"][..],
        &["changes", "--since=0", "secret/db"],
        &["changes", "--since=0", "secrets", "-A"],
    ] {
        let ran = cluster.spy().run(args);
        assert_eq!(ran.status.code(), Some(1), "{args:?}");
    }
    assert_snapshot!(cluster.spy().run(&["changes", "--since=0", "secrets"]).transcript(), @r#"
    ! Error from server (Forbidden): secrets is forbidden: User "jane" cannot list resource "secrets" in API group "" in the namespace "shop"
    ! hint: try `kubectl auth can-i list secrets -n shop`
    "#);
    assert_snapshot!(cluster.spy().run(&["changes", "--since=0", "secret/db"]).transcript(), @r#"
    ! Error from server (Forbidden): secrets "db" is forbidden: User "jane" cannot list resource "secrets" in API group "" in the namespace "shop"
    ! hint: try `kubectl auth can-i list secrets/db -n shop`
    "#);
    assert_snapshot!(cluster.spy().run(&["changes", "--since=0", "secrets", "-A"]).transcript(), @r#"
    ! Error from server (Forbidden): secrets is forbidden: User "jane" cannot list resource "secrets" in API group "" at the cluster scope
    ! hint: try `kubectl auth can-i list secrets -A`, or name a namespace with -n
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forbidden_kind_does_not_stop_the_others() {
    let cluster = with_rules(vec![Rule::allow("*", "configmaps")]).await;
    let mut run = cluster.spy().start(&["changes", "--since=0", "cm,secrets"]);
    run.until("forbidden");
    cluster.watched("configmaps").await;
    turn(&cluster, "on");
    run.until("dark-mode");
    assert_snapshot!(run.interrupt().transcript(), @r#"
    watching 1 configmap in namespace "shop"
    2026-03-02T12:05:00Z MODIFIED configmap/flags  2→3  by kubectl-edit  1 change, 2 hidden
    ~ .data.dark-mode: "off" → "on"
    ! secrets in namespace "shop": forbidden: Error from server (Forbidden): secrets is forbidden: User "jane" cannot list resource "secrets" in API group "" in the namespace "shop"
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_right_to_one_name_is_enough_for_it() {
    let cluster = with_rules(vec![
        Rule::allow("get,list,watch", "configmaps").named("flags"),
    ])
    .await;
    let mut run = cluster.spy().start(&["changes", "--since=0", "cm/flags"]);
    run.until("EXISTING");
    turn(&cluster, "on");
    run.until("dark-mode");
    assert_eq!(run.interrupt().stderr, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_named_object_takes_two_requests() {
    let cluster = Cluster::start().await;
    cluster.put(deployment("web", 3));
    cluster.put(deployment("api", 3));
    let mut run = cluster.spy().start(&["changes", "--since=0", "deploy/web"]);
    run.until("EXISTING");
    assert!(cluster.sandbox.requests().len() <= 2);
    cluster.watched("deployments").await;
    cluster.edit("deployments", "web", &json!({"spec": {"replicas": 4}}));
    run.until("replicas");
    drop(run);
    assert_snapshot!(asked(&cluster.sandbox.requests()), @"
    GET /apis/apps/v1/namespaces/shop/deployments?fieldSelector=metadata.name%3Dweb&limit=500
    GET /apis/apps/v1/namespaces/shop/deployments?fieldSelector=metadata.name%3Dweb&watch=true&allowWatchBookmarks=true&resourceVersion=3
    ");
}

/// Ways to select one Pod among many.
const ONE_POD: [&[&str]; 3] = [
    &["changes", "--since=0", "pod/web"],
    &["changes", "--since=0", "pods", "-l", "app=web"],
    &[
        "changes",
        "--since=0",
        "pods",
        "--field-selector",
        "metadata.name=web",
    ],
];

#[tokio::test(flavor = "multi_thread")]
async fn events_of_other_objects_are_not_received() {
    let cluster = Cluster::start().await;
    cluster.put(pod("web", &json!({"app": "web"})));
    for number in 0..2500 {
        cluster.put(pod(&format!("other-{number}"), &json!({"app": "other"})));
    }
    let mut runs = ONE_POD.map(|args| cluster.spy().start(args));
    for run in &mut runs {
        run.until_where("a listing", |line| {
            line.contains("EXISTING") || line.contains("watching")
        });
    }
    let watches = |requests: &[Request]| requests.iter().filter(is_watch).count() == 3;
    cluster.sandbox.requests_until(watches).await;
    for number in 0..2500 {
        let name = format!("other-{number}");
        cluster.report("pods", &name, &json!({"phase": "Running"}));
    }
    cluster.report("pods", "web", &json!({"phase": "Running"}));
    for run in &mut runs {
        run.until("phase");
    }
    drop(runs);
    let connections = cluster.sandbox.connections();
    for connection in &connections {
        assert!(connection.bytes < 8192, "{connections:?}");
    }
    let requests = cluster.sandbox.requests();
    assert_eq!(requests.len(), 6, "{}", asked(&requests));
}
