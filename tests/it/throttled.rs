//! Tests of servers that put requests off: 429 and 503, with and without `Retry-After`.

use kubectl_spy::sandbox::{Effect, ErrorBody, Fault, Verb};
use serde_json::json;

use super::support::Ran;
use super::support::cluster::{Cluster, config_map};

/// The server answers these requests for a resource or a path with this status code.
fn put_off(
    cluster: &Cluster,
    (verb, resource): (Verb, &str),
    (code, retry_after): (u16, Option<u32>),
    nth: std::ops::RangeInclusive<u32>,
) {
    let status = Effect::Status {
        code,
        retry_after,
        body: ErrorBody::Status,
    };
    cluster
        .sandbox
        .inject(Fault::on(verb, resource, status).range(nth));
}

fn run(cluster: &Cluster, args: &[&str]) -> Ran {
    cluster.spy().run(args)
}

#[tokio::test(flavor = "multi_thread")]
async fn discovery_is_repeated_when_the_server_says_so() {
    for (code, retry_after) in [(429, Some(0)), (503, Some(0)), (503, None)] {
        let cluster = Cluster::start().await;
        put_off(&cluster, (Verb::Get, "apis"), (code, retry_after), 1..=2);
        put_off(&cluster, (Verb::Get, "api"), (code, retry_after), 1..=1);
        let ran = run(&cluster, &["status", "pools", "--once"]);
        let words = "the server doesn't have a resource type \"pools\"";
        assert!(ran.stderr.contains(words), "{code}: {}", ran.stderr);
    }
    // Other refusals are final.
    let cluster = Cluster::start().await;
    put_off(&cluster, (Verb::Get, "apis"), (403, Some(0)), 1..=9);
    let ran = run(&cluster, &["status", "pools", "--once"]);
    assert!(ran.stderr.contains("Forbidden"), "{}", ran.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_wait_is_reported_and_limited() {
    let cluster = Cluster::start().await;
    put_off(&cluster, (Verb::Get, "apis"), (429, Some(86_400)), 1..=9);
    let args = ["status", "pools", "--once", "--timeout=1s"];
    let ran = run(&cluster, &args);
    assert_ne!(ran.status.code(), Some(0));
    let line = "! waiting for 60s, as the server asks: Error from server (TooManyRequests)";
    assert!(ran.stderr.contains(line), "{}", ran.stderr);
    // A wait beyond the limit of a request is not begun.
    let args = ["status", "pools", "--once", "--request-timeout=2s"];
    let ran = run(&cluster, &args);
    assert!(!ran.stderr.contains("waiting"), "{}", ran.stderr);
    assert!(ran.stderr.contains("TooManyRequests"), "{}", ran.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_read_is_printed_although_a_kind_does_not_answer() {
    let cluster = Cluster::start().await;
    cluster.put(json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"defaultBackend": {"service": {"name": "web", "port": {"number": 80}}}},
    }));
    put_off(&cluster, (Verb::List, "jobs"), (500, None), 1..=u32::MAX);
    let ran = run(&cluster, &["status", "--unhealthy", "--once"]);
    assert_eq!(ran.status.code(), Some(1), "{}", ran.transcript());
    assert!(ran.stdout.contains("✗ ingress/web"), "{}", ran.transcript());
    assert!(ran.stderr.contains("jobs"), "{}", ran.transcript());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_kind_is_read_at_a_later_attempt() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({})));
    put_off(&cluster, (Verb::List, "jobs"), (429, Some(0)), 1..=4);
    let ran = run(&cluster, &["status", "--unhealthy", "--once"]);
    assert_eq!(ran.status.code(), Some(0), "{}", ran.transcript());
}
