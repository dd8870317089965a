//! Tests of the program on API servers that differ from a fast kube-apiserver on etcd. The program must not
//! claim more about the past than such a server lets it know.

use std::thread;
use std::time::Duration;

use kubectl_spy::sandbox::{Effect, ErrorBody, Fault, Verb};
use serde_json::{Value, json};

use super::support::Ran;
use super::support::cluster::{Cluster, config_map};

/// Sets the data of the `ConfigMap` `flags`.
fn turn(cluster: &Cluster, mode: &str) {
    cluster.edit("configmaps", "flags", &json!({ "data": { "mode": mode } }));
}

/// Writes a `ConfigMap` with three versions, and one that is deleted.
fn write_past(cluster: &Cluster) {
    cluster.put(config_map("flags", &json!({ "mode": "a" })));
    turn(cluster, "b");
    turn(cluster, "c");
    cluster.put(config_map("gone", &json!({ "mode": "x" })));
    cluster.delete("configmaps", "gone");
}

/// A server with that past, and a fault in each request that it hits.
async fn server(fault: Fault) -> Cluster {
    let cluster = Cluster::start().await;
    write_past(&cluster);
    cluster.sandbox.inject(fault);
    cluster
}

fn refusal(code: u16) -> Effect {
    Effect::Status {
        code,
        retry_after: (code == 429).then_some(0),
        body: ErrorBody::Status,
    }
}

/// The named object, then all kinds of interest.
const ALL: [&str; 5] = ["changes", "cm/flags", "--once", "--since", "all"];
const TIMELINE: [&str; 5] = ["changes", "cm,secrets,pods", "--once", "--since", "5m"];

/// The words with which the program claims to know the past.
const CLAIMS: [&str; 3] = ["no earlier version", "complete since", "earlier versions"];

/// What a run says about the versions of the past: each version's verb, and each change of its data.
fn versions(ran: &Ran) -> Vec<&str> {
    let told = ran.stdout.lines().filter_map(|line| {
        let time = line.starts_with("2026-").then(|| line.split(' ').nth(1));
        time.unwrap_or_else(|| line.strip_prefix("~ .data.mode: "))
    });
    told.collect()
}

fn assert_told(ran: &Ran, expect: &[&str]) {
    assert_eq!(versions(ran), expect, "{}", ran.transcript());
    assert!(ran.status.success(), "{}", ran.transcript());
    assert!(!ran.stdout.contains("no look-back"), "{}", ran.transcript());
}

const FLAGS: [&str; 5] = ["CREATED", "MODIFIED", "a → b", "MODIFIED", "b → c"];
const BOTH: [&str; 7] = [
    "CREATED", "MODIFIED", "a → b", "MODIFIED", "b → c", "CREATED", "DELETED",
];

/// Asserts that the run knows nothing of the past, gives the reason, and claims nothing.
fn assert_unknown(ran: &Ran, reason: &str) {
    let line = format!("no look-back for configmaps/flags in namespace \"shop\": {reason}");
    assert!(ran.stdout.starts_with(&line), "{}", ran.transcript());
    assert_eq!(versions(ran), ["EXISTING"], "{}", ran.transcript());
    let is_made = |claim: &&str| ran.stdout.contains(*claim);
    assert_eq!(
        CLAIMS.iter().find(|claim| is_made(claim)),
        None,
        "{}",
        ran.transcript()
    );
}

/// Writes more versions while the program looks, and asserts that it prints each once and in order.
fn assert_live(cluster: &Cluster) {
    let mut run = cluster
        .spy()
        .start(&["changes", "cm", "--since=0", "-o=json"]);
    run.until("synced");
    for number in 0..10 {
        turn(cluster, &number.to_string());
    }
    run.until("\"new\":\"9\"");
    let ran = run.interrupt();
    let numbers: Vec<u32> = ran.stdout.lines().filter_map(number).collect();
    assert_eq!(numbers, (0..10).collect::<Vec<_>>(), "{}", ran.transcript());
}

/// The number that a version in JSON changes the data to.
fn number(line: &str) -> Option<u32> {
    let record: Value = serde_json::from_str(line).unwrap();
    record.pointer("/changes/0/new")?.as_str()?.parse().ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn opaque_versions_have_a_present_and_no_past() {
    let cluster = Cluster::start_with(|options| options.version_prefix = "v-").await;
    write_past(&cluster);
    let reason = "its resourceVersions are not numbers";
    assert_unknown(&cluster.spy().run(&ALL), reason);
    assert_unknown(&cluster.spy().run(&ALL[..3]), reason);
    let timeline = cluster.spy().run(&TIMELINE);
    assert_eq!(versions(&timeline), [""; 0], "{}", timeline.transcript());
    assert!(
        timeline.stdout.contains(reason),
        "{}",
        timeline.transcript()
    );
    assert!(
        !timeline.stdout.contains("complete"),
        "{}",
        timeline.transcript()
    );
    for args in [&["-o", "yaml"][..], &["--since", "5m"]] {
        let gone = cluster
            .spy()
            .run(&[&["changes", "cm/gone", "--once"], args].concat());
        assert_eq!(gone.status.code(), Some(1), "{}", gone.transcript());
        assert!(gone.stderr.contains("NotFound"), "{}", gone.transcript());
    }
    assert_live(&cluster);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_server_is_waited_for() {
    let slow = |verb, milliseconds| {
        let latency = Effect::Latency(Duration::from_millis(milliseconds));
        server(Fault::on(verb, "*", latency).always())
    };
    // The second one answers about the past later than the default look-back waits.
    for cluster in [slow(Verb::Any, 30).await, slow(Verb::Exact, 1200).await] {
        assert_told(&cluster.spy().run(&ALL), &FLAGS);
        assert_told(&cluster.spy().run(&TIMELINE), &BOTH);
        let yaml = ["changes", "cm/gone", "--once", "-o", "yaml"];
        let gone = cluster.spy().run(&yaml);
        assert!(
            gone.stdout.contains("\n  mode: x\n"),
            "{}",
            gone.transcript()
        );
    }
    assert_live(&slow(Verb::Any, 30).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_throttling_server_is_asked_again() {
    for verb in [Verb::List, Verb::Watch] {
        // Each kind has a count of its own. With one for all, the order of requests could refuse the same kind each time.
        let fault = |kind| Fault::on(verb, kind, refusal(429)).every(2);
        let cluster = server(fault("configmaps")).await;
        for kind in ["secrets", "pods"] {
            cluster.sandbox.inject(fault(kind));
        }
        for _ in 0..2 {
            assert_told(&cluster.spy().run(&ALL), &FLAGS);
            assert_told(&cluster.spy().run(&TIMELINE), &BOTH);
        }
        let status = cluster.spy().run(&["status", "cm/flags", "--once"]);
        assert!(status.stdout.contains("Current"), "{}", status.transcript());
        assert_live(&cluster);
    }
}

#[test]
fn the_watch_cache_stands_in_for_a_past_that_the_server_refuses() {
    // The program repeats its requests for some seconds; the runs do so side by side.
    let runs = [500, 501, 504].map(|code| thread::spawn(move || refuse_the_past(code)));
    for run in runs {
        run.join().unwrap();
    }
}

/// Both a named object and the timeline have what the watch cache holds.
#[tokio::main]
async fn refuse_the_past(code: u16) {
    let cluster = server(Fault::on(Verb::Exact, "*", refusal(code)).always()).await;
    let timeline = cluster.spy().start(&TIMELINE);
    assert_told(&cluster.spy().run(&ALL), &FLAGS);
    assert_told(&timeline.finish(), &BOTH);
    assert_live(&cluster);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ignores_the_question_for_the_past_is_not_believed() {
    let cluster = server(Fault::on(Verb::Exact, "*", Effect::PresentInsteadOfPast).always()).await;
    assert_told(&cluster.spy().run(&ALL), &FLAGS);
    assert_told(&cluster.spy().run(&ALL[..3]), &FLAGS);
    assert_told(&cluster.spy().run(&TIMELINE), &BOTH);
    assert_live(&cluster);
}
