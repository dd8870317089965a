//! Tests of the requests for schemas, and of the responses.

use super::*;
use crate::cluster::ClusterConfig;
use crate::cluster::kubeconfig::tests::Files;
use crate::cluster::testing::{Scripted, ScriptedReply, answer};

const INDEX: &str = r#"{"paths":{
    "api/v1":{"serverRelativeURL":"/openapi/v3/api/v1?hash=AA"},
    "apis/example.com/v1":{"serverRelativeURL":"/openapi/v3/apis/example.com/v1?hash=BB"}}}"#;
const DOCUMENT: &str = r#"{"openapi":"3.0.0","components":{"schemas":{"com.example.v1.Route":{
    "x-kubernetes-group-version-kind":[{"group":"example.com","version":"v1","kind":"Route"}],
    "properties":{"spec":{"properties":{"tags":{"type":"array","items":{"type":"string"},
    "x-kubernetes-list-type":"set"}}}}}}}}"#;

/// The kinds of the document.
const ROUTE: Option<&str> = Some("Route");

fn ok(body: &str) -> ScriptedReply {
    answer(200, "", body)
}

/// Requests the schema of `example.com/v1` from a server with these replies. Returns its kinds, and the requests.
async fn fetched(
    replies: impl IntoIterator<Item = ScriptedReply>,
    cache: Option<&Path>,
) -> (Option<String>, Vec<String>) {
    let server = Scripted::start(replies).await;
    // Each server has its own port, so the cache must know them under one name.
    let config = ClusterConfig::plain(&server.url, "test").expect("a server");
    let client = Client::new(config).await.expect("no credentials");
    let mut openapi = OpenApi::new(client, None);
    openapi.cache = cache.map(|dir| Arc::new(Cache::new(dir, "openapi", "server")));
    let schema = openapi.schema("example.com", "v1").await;
    let kinds = schema.map(|schema| schema.kinds().collect::<Vec<_>>().join(","));
    (kinds, server.targets())
}

#[tokio::test]
async fn a_document_is_requested_with_its_hash() {
    let (kinds, requests) = fetched([ok(INDEX), ok(DOCUMENT)], None).await;
    assert_eq!(kinds.as_deref(), ROUTE);
    assert_eq!(
        requests,
        ["/openapi/v3", "/openapi/v3/apis/example.com/v1?hash=BB"]
    );
}

#[tokio::test]
async fn the_second_run_needs_only_the_index() {
    let files = Files::new(&[]);
    let cache = files.path("cache");
    let (kinds, _) = fetched([ok(INDEX), ok(DOCUMENT)], Some(&cache)).await;
    assert_eq!(kinds.as_deref(), ROUTE);
    let (kinds, requests) = fetched([ok(INDEX)], Some(&cache)).await;
    assert_eq!(kinds.as_deref(), ROUTE);
    assert_eq!(requests, ["/openapi/v3"]);
    // Another hash means another document, and this one is not available.
    let newer = INDEX.replace("BB", "CC");
    let (kinds, requests) = fetched([ok(&newer), answer(404, "", "")], Some(&cache)).await;
    assert_eq!(kinds, None);
    assert_eq!(requests.len(), 2);
}

#[tokio::test]
async fn an_invalid_file_is_requested_again() {
    let kept = "cache/spy/openapi/server/apis_example.com_v1.json";
    for damage in [
        "BB\n{\"components\":{\"sche",
        "BB\n\u{1}",
        "BB\n{}",
        "BB",
        "",
    ] {
        let files = Files::new(&[(kept, damage)]);
        let cache = files.path("cache");
        let (kinds, requests) = fetched([ok(INDEX), ok(DOCUMENT)], Some(&cache)).await;
        assert_eq!((kinds.as_deref(), requests.len()), (ROUTE, 2), "{damage:?}");
        let written = std::fs::read_to_string(files.path(kept)).expect("text");
        assert_eq!(written, format!("BB\n{DOCUMENT}"), "{damage:?}");
    }
}

#[tokio::test]
async fn other_responses_give_no_schema() {
    let files = Files::new(&[]);
    let cache = files.path("cache");
    let without = INDEX.replace("example.com", "example.org");
    for replies in [
        vec![answer(403, "", "no")],
        vec![answer(404, "", "404 page not found")],
        vec![ok("<html>")],
        vec![ok("{}")],
        vec![ok(r#"{"paths":7}"#)],
        vec![ok(&without)],
        vec![ok(INDEX), answer(403, "", "no")],
        vec![ok(INDEX), answer(301, "Location: /elsewhere\r\n", "")],
        vec![ok(INDEX), ok("<html>")],
        vec![ok(INDEX), ok("{}")],
        vec![ok(INDEX), ScriptedReply::ThenReset(Vec::new())],
    ] {
        let scripted = replies.len();
        let (kinds, requests) = fetched(replies, Some(&cache)).await;
        assert_eq!(kinds, None, "{requests:?}");
        assert!(requests.len() >= scripted, "{requests:?}");
    }
    assert!(!files.path("cache/spy").exists(), "nothing is kept of it");
}

#[test]
fn a_hash_has_only_letters_and_digits() {
    let check = |url: &str, expect: Option<&str>| assert_eq!(hash(url), expect, "{url}");
    check("/openapi/v3/apis/a/v1?hash=0F", Some("0F"));
    check("/openapi/v3/apis/a/v1?x=1&hash=0F", Some("0F"));
    check("/openapi/v3/apis/a/v1", None);
    check("/openapi/v3/apis/a/v1?hash=", None);
    check("/openapi/v3/apis/a/v1?hash=a%0Ab", None);
}
