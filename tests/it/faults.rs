//! Tests of the program behind a faulty proxy. Whatever the proxy does, each version is printed once.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::Spy;
use crate::support::cluster::{Cluster, config_map};
use crate::support::fault_proxy::{End, FaultProxy, Protocol, Sides, Weather};

/// The limit of any wait. No working operation takes this long.
const PATIENCE: Duration = Duration::from_secs(30);

/// The faults that the proxy can apply to bytes.
const BYTES: [Weather; 6] = [
    Weather::Fair,
    Weather::Stalled,
    Weather::Throttled(4000),
    Weather::Delayed(Duration::from_millis(20)),
    Weather::Refusing,
    Weather::Leaky(200),
];
/// The faults that the proxy can apply to HTTP.
const HTTP: [Weather; 3] = [
    Weather::Failing(1),
    Weather::Repeating(1),
    Weather::Garbling(1),
];

#[test]
fn no_fault_of_the_proxy_loses_or_repeats_a_version() {
    let of = |protocol| move |weather| (protocol, weather);
    let bytes = BYTES.map(of(Protocol::Bytes));
    let http = BYTES.into_iter().chain(HTTP).map(of(Protocol::Http));
    let running: Vec<_> = bytes
        .into_iter()
        .chain(http)
        .map(|(protocol, weather)| thread::spawn(move || check(protocol, weather)))
        .collect();
    for run in running {
        run.join().unwrap();
    }
}

/// A proxy in front of a cluster, and the path of a kubeconfig that leads to it.
fn in_front_of(cluster: &Cluster, protocol: Protocol) -> (FaultProxy, String) {
    let server = cluster.sandbox.address();
    let proxy = FaultProxy::start(protocol, Sides::plain(server), 0);
    let path = format!(
        "{}/behind-{}.json",
        env!("CARGO_TARGET_TMPDIR"),
        server.port()
    );
    let (server, behind) = (server.to_string(), proxy.address().to_string());
    let kubeconfig = cluster.sandbox.kubeconfig().replace(&server, &behind);
    std::fs::write(&path, kubeconfig).unwrap();
    (proxy, path)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_silence_of_a_server_that_hangs_is_no_answer() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("counter", &json!({ "n": "0" })));
    let (proxy, path) = in_front_of(&cluster, Protocol::Bytes);
    let spy = Spy::with_kubeconfig(&path);
    for (verb, first) in [("changes", "synced"), ("status", "counter")] {
        proxy.set(Weather::Fair);
        let args = [verb, "configmaps", "-o=json", "--timeout=3s", "--exit-code"];
        let mut running = spy.start(&args);
        running.until(first);
        proxy.set(Weather::Stalled);
        let ran = running.finish();
        assert_eq!(ran.status.code(), Some(4), "{verb} {}", ran.transcript());
        let why = "Unable to connect to the server: no answer within 3 s";
        assert!(ran.stderr.contains(why), "{verb} {}", ran.stderr);
    }
    std::fs::remove_file(&path).unwrap();
}

#[tokio::main]
async fn check(protocol: Protocol, weather: Weather) {
    let cluster = Cluster::start().await;
    cluster.put(config_map("counter", &json!({ "n": "0" })));
    let (proxy, path) = in_front_of(&cluster, protocol);
    let spy = Spy::with_kubeconfig(&path);
    let mut running = spy.start(&["changes", "configmaps", "--since=0", "-o=json"]);
    running.until("synced");

    count(&cluster, 1..=5);
    running.until(&written(5));
    proxy.set(weather);
    let end = [End::Closed, End::Reset][usize::from(protocol == Protocol::Http)];
    proxy.end_all(end);
    count(&cluster, 6..=10);
    let has_struck = proxy.until(PATIENCE, |struck| struck.of(weather) != Some(0));
    assert!(has_struck, "{protocol:?} {weather:?}");
    proxy.set(Weather::Fair);
    count(&cluster, 11..=15);
    running.until(&written(15));
    let ran = running.interrupt();
    std::fs::remove_file(&path).unwrap();
    let numbers: Vec<u32> = ran.stdout.lines().filter_map(number).collect();
    let all: Vec<u32> = (1..=15).collect();
    assert_eq!(
        numbers,
        all,
        "{protocol:?} {weather:?}: {}",
        ran.transcript()
    );
    assert!(
        !ran.stdout.contains(r#""type":"gap""#),
        "{}",
        ran.transcript()
    );
    let struck = proxy.struck();
    assert!(
        struck.of(weather).is_some() || struck.ended > 0,
        "{struck:?}"
    );
}

fn count(cluster: &Cluster, numbers: std::ops::RangeInclusive<u32>) {
    for number in numbers {
        let patch = json!({ "data": { "n": number.to_string() } });
        cluster.edit("configmaps", "counter", &patch);
    }
}

/// The text in the record of a version that identifies it.
fn written(number: u32) -> String {
    format!(r#""new":"{number}""#)
}

fn number(line: &str) -> Option<u32> {
    let record: Value = serde_json::from_str(line).unwrap();
    let new = record.pointer("/changes/0/new")?.as_str()?;
    new.parse().ok()
}
