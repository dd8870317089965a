//! Tests of list keys for custom kinds: `changes` uses the server's schema if it arrives in time.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use kubectl_spy::sandbox::{Effect, ErrorBody, Fault, Kind, Place, Request, Verb};
use serde_json::{Value, json};

use super::super::support::cluster::{Cluster, config_map};
use super::super::support::{Ran, Running};

const INDEX: &str = "openapi/v3";
const DOCUMENT: &str = "openapi/v3/apis/example.com/v1";

/// A cluster with a Route that has two backends. The schema keys them by host and port; by a guess, the host
/// alone would be the key.
async fn routes() -> Cluster {
    let integer = json!({"type": "integer"});
    let backend = json!({
        "type": "object", "properties": {"host": {"type": "string"}, "port": integer, "weight": integer},
    });
    let backends = json!({
        "type": "array", "items": backend,
        "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["host", "port"],
    });
    let spec = json!({"type": "object", "properties": {"backends": backends}});
    let kind = Kind {
        schema: Some(json!({"type": "object", "properties": {"spec": spec}})),
        ..Kind::custom("example.com", "v1", "Route", "routes")
    };
    let cluster = Cluster::start_with(|options| options.kinds = vec![kind]).await;
    cluster.put(json!({
        "apiVersion": "example.com/v1", "kind": "Route",
        "metadata": {"name": "web", "namespace": "shop"}, "spec": backends_of(1),
    }));
    cluster
}

fn backends_of(weight: u32) -> Value {
    json!({"backends": [{"host": "a", "port": 80, "weight": weight}, {"host": "b", "port": 80, "weight": 1}]})
}

fn weigh(cluster: &Cluster, weight: u32) {
    let patch = json!({"spec": backends_of(weight)});
    cluster.edit("routes.example.com", "web", &patch);
}

/// Follows the Route from now on.
fn follow(cluster: &Cluster, more: &[&str]) -> Running {
    let args = ["changes", "--since=0", "routes/web", "--only", "spec"];
    let mut run = cluster.spy().start(&[&args, more].concat());
    run.until("EXISTING");
    run
}

/// Waits until a request for this path is over.
async fn asked(cluster: &Cluster, path: &str) {
    let is_over = |request: &Request| request.path.starts_with(path) && request.ended;
    let is_asked = |requests: &[Request]| requests.iter().any(is_over);
    cluster.sandbox.requests_until(is_asked).await;
}

/// The output for the first change.
fn change(cluster: &Cluster, mut run: Running) -> Ran {
    weigh(cluster, 2);
    run.until("weight");
    super::interrupted(run)
}

fn count(cluster: &Cluster, path: &str) -> usize {
    let requests = cluster.sandbox.requests();
    let is_it = |request: &&Request| request.path.starts_with(path);
    requests.iter().filter(is_it).count()
}

fn refusal(code: u16) -> Effect {
    Effect::Status {
        code,
        retry_after: None,
        body: ErrorBody::Status,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn items_are_keyed_by_the_schema() {
    let cluster = routes().await;
    let run = follow(&cluster, &[]);
    asked(&cluster, "/openapi/v3/apis/example.com/v1?hash=").await;
    assert_snapshot!(change(&cluster, run).transcript(), @r"
    2026-03-02T12:05:00Z EXISTING route/web  2
    2026-03-02T12:05:00Z MODIFIED route/web  2→3  by kubectl-edit  1 change
    ~ .spec.backends[host=a,port=80].weight: 1 → 2
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn past_versions_are_keyed_by_the_schema_too() {
    let cluster = routes().await;
    weigh(&cluster, 2);
    let ran = cluster
        .spy()
        .run(&["changes", "routes/web", "--once", "--only", "spec"]);
    assert_snapshot!(ran.transcript(), @r"
    2026-03-02T12:00:01Z CREATED route/web  2  4m59s ago  by kubectl-create
    + .spec.backends: [{host: a, port: 80, weight: 1}, {host: b, port: 80, weight: 1}]
    2026-03-02T12:00:02Z MODIFIED route/web  2→3  +1s  4m58s ago  by kubectl-edit  1 change
    ~ .spec.backends[host=a,port=80].weight: 1 → 2
    ── 2 earlier versions, back to 2026-03-02T12:00:01Z ──
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_a_schema_is_not_an_error() {
    let stalled = Effect::Stall {
        at: Place::AfterHeaders,
    };
    for (path, effect) in [
        (INDEX, refusal(403)),
        (INDEX, refusal(404)),
        (INDEX, stalled.clone()),
        (DOCUMENT, refusal(403)),
        (DOCUMENT, refusal(404)),
        (DOCUMENT, stalled),
    ] {
        let cluster = routes().await;
        let what = format!("{path} {effect:?}");
        cluster.sandbox.inject(Fault::on(Verb::Get, path, effect));
        let mut run = follow(&cluster, &[]);
        weigh(&cluster, 2);
        run.until("weight: 1 → 2");
        weigh(&cluster, 3);
        run.until("weight: 2 → 3");
        let ran = super::interrupted(run);
        assert_eq!(
            ran.stdout.trim_end(),
            "\
2026-03-02T12:05:00Z EXISTING route/web  2
2026-03-02T12:05:00Z MODIFIED route/web  2→3  by kubectl-edit  1 change
~ .spec.backends[host=a].weight: 1 → 2
2026-03-02T12:05:00Z MODIFIED route/web  3→4  +0s  by kubectl-edit  1 change
~ .spec.backends[host=a].weight: 2 → 3",
            "{what}"
        );
        let note = "the keys of lists in custom kinds are guessed";
        let is_refused = what.contains("Status");
        assert_eq!(
            ran.stderr.matches(note).count(),
            usize::from(is_refused),
            "{what}: {}",
            ran.stderr
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_back_does_not_wait_for_a_missing_schema() {
    let cluster = routes().await;
    weigh(&cluster, 2);
    let stalled = Effect::Stall {
        at: Place::BeforeHeaders,
    };
    cluster.sandbox.inject(Fault::on(Verb::Get, INDEX, stalled));
    let args = ["changes", "routes/web", "--once", "--only", "spec"];
    let ran = cluster.spy().run(&args);
    assert!(ran.status.success(), "{}", ran.transcript());
    assert!(
        ran.stdout
            .contains("~ .spec.backends[host=a].weight: 1 → 2"),
        "{}",
        ran.transcript()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_document_is_requested_once() {
    let cluster = routes().await;
    let name = format!("cache-{}", cluster.sandbox.address().port());
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let args = ["--cache-dir", cache.to_str().unwrap()];
    let document = "/openapi/v3/apis/example.com/v1?hash=";
    let run = follow(&cluster, &args);
    asked(&cluster, document).await;
    let first = change(&cluster, run);
    assert!(first.stdout.contains("[host=a,port=80]"), "{first:?}");

    weigh(&cluster, 1);
    let run = follow(&cluster, &args);
    asked(&cluster, "/openapi/v3").await;
    let second = change(&cluster, run);
    assert!(second.stdout.contains("[host=a,port=80]"), "{second:?}");
    assert_eq!(count(&cluster, document), 1);
    fs::remove_dir_all(cache).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn no_schema_is_requested_for_built_in_kinds() {
    let cluster = routes().await;
    cluster.put(config_map("flags", &json!({"mode": "off"})));
    let mut run = cluster.spy().start(&["changes", "--since=0", "cm/flags"]);
    run.until("EXISTING");
    cluster.edit("configmaps", "flags", &json!({"data": {"mode": "on"}}));
    run.until(".data.mode");
    super::interrupted(run);
    assert_eq!(count(&cluster, "/openapi"), 0);
}
