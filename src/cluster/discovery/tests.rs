//! Tests of discovery against scripted servers, and of its documents.

use super::*;
use crate::cluster::kubeconfig::ClusterConfig;
use crate::cluster::testing::{Scripted, ScriptedReply, answer};

const CORE: &str = r#"{"versions":[{"version":"v1","resources":[
    {"resource":"pods","responseKind":{"kind":"Pod"},"scope":"Namespaced","singularResource":"pod","verbs":["get","list","watch"],"shortNames":["po"],"categories":["all"]},
    {"resource":"bindings","responseKind":{"kind":"Binding"},"scope":"Namespaced","singularResource":"binding","verbs":["create"]}]}]}"#;
const GROUPS: &str = r#"{"metadata":{"name":"example.com"},"versions":[
        {"version":"v2","freshness":"Current","resources":[{"resource":"widgets","responseKind":{"kind":"Widget"},"scope":"Cluster","singularResource":"widget","verbs":["list","watch"],"shortNames":["wi"],"categories":["all"]}]},
        {"version":"v1","resources":[{"resource":"widgets","responseKind":{"kind":"Widget"},"scope":"Cluster","singularResource":"widget","verbs":["list","watch"]}]}]},
    {"metadata":{"name":"metrics.k8s.io"},"versions":[{"version":"v1beta1","freshness":"Stale"}]}"#;

fn aggregate(items: &str) -> ScriptedReply {
    let body = format!(r#"{{"kind":"APIGroupDiscoveryList","items":[{items}]}}"#);
    answer(200, "", &body)
}

/// A resolver for a server with these replies.
async fn resolver(replies: Vec<ScriptedReply>) -> (Scripted, Resolver) {
    let server = Scripted::start(replies).await;
    let config = ClusterConfig::plain(&server.url, "test").expect("a URL");
    let client = Client::new(config).await.expect("a client");
    (server, Resolver::new(client))
}

/// A resolver for a server with aggregated discovery. The order of its two requests is not fixed, so one of them
/// gets all types and the other nearly none.
async fn aggregating() -> (Scripted, Resolver) {
    let stale = r#"{"metadata":{"name":"x"},"versions":[{"version":"v1","freshness":"Stale"}]}"#;
    let both = format!("{GROUPS},{CORE}");
    resolver(vec![aggregate(&both), aggregate(stale)]).await
}

#[tokio::test]
async fn well_known_words_need_no_request() {
    let (server, resolver) = resolver(Vec::new()).await;
    for word in ["deploy", "Service", "pods.v1.", "crd"] {
        assert!(resolver.resolve(word).await.is_ok(), "{word}");
    }
    assert!(server.heads().is_empty());
}

#[tokio::test]
async fn all_other_words_need_two_requests() {
    let (server, resolver) = aggregating().await;
    let found = resolver.resolve("wi").await.expect("served");
    assert_eq!(found.api_version(), "example.com/v2");
    assert!(!found.namespaced);
    let older = resolver
        .resolve("widgets.v1.example.com")
        .await
        .expect("served");
    assert_eq!(older.api_version(), "example.com/v1");
    let error = resolver
        .resolve("widgest.example.com")
        .await
        .expect_err("no such type");
    assert_eq!(
        error.to_string(),
        "error: the server doesn't have a resource type \"widgest\""
    );
    let ResolveError::Unknown { near, stale, .. } = error else {
        panic!("{error:?}");
    };
    assert_eq!(near, ["widget", "widgets"]);
    // The very word is no suggestion.
    for (word, expect) in [
        ("widgets.example.org", "widgets.example.com"),
        ("wi.example.org", "widgets.example.com"),
        ("WI", "wi widget widgets"),
    ] {
        match resolver.resolve(word).await {
            Err(ResolveError::Unknown { near, .. }) => assert_eq!(near.join(" "), expect, "{word}"),
            other => panic!("{word}: {other:?}"),
        }
    }
    assert_eq!(stale.len(), 2);
    assert!(stale.contains(&"metrics.k8s.io/v1beta1".to_owned()));
    let all = resolver.category("all").await.expect("a category");
    let names: Vec<String> = all.iter().map(Resource::group_resource).collect();
    assert_eq!(
        names,
        ["widgets.example.com", "pods"],
        "each in one version"
    );
    assert_eq!(resolver.category("nothing").await, None);
    let mut targets = server.targets();
    targets.sort();
    assert_eq!(targets, ["/api", "/apis"]);
    assert!(server.heads()[0].contains("as=APIGroupDiscoveryList"));
}

#[tokio::test]
async fn a_failed_discovery_is_reported() {
    let (_server, resolver) = resolver(vec![answer(403, "", "no"), answer(403, "", "no")]).await;
    let error = resolver.resolve("widgets").await.expect_err("forbidden");
    assert_eq!(error.to_string(), "Error from server (Forbidden): no");
}

#[test]
fn older_documents_are_read_with_the_preferred_version_first() {
    let names = |text: &str| match parse::root(text.as_bytes()).expect("a root") {
        DiscoveryAnswer::Names(names) => names
            .iter()
            .map(|(group, version)| parse::group_version(group, version))
            .collect::<Vec<_>>(),
        DiscoveryAnswer::Types(..) => panic!("no aggregate"),
    };
    assert_eq!(names(r#"{"kind":"APIVersions","versions":["v1"]}"#), ["v1"]);
    let groups = r#"{"kind":"APIGroupList","groups":[{"name":"autoscaling",
        "versions":[{"version":"v1"},{"version":"v2"},{"version":"v2beta2"}],"preferredVersion":{"version":"v2"}}]}"#;
    assert_eq!(
        names(groups),
        ["autoscaling/v2", "autoscaling/v1", "autoscaling/v2beta2"]
    );
    let types = parse::resources(
        br#"{"resources":[{"name":"deployments","singularName":"deployment","namespaced":true,"kind":"Deployment","verbs":["list"],"shortNames":["deploy"]},
            {"name":"deployments/scale","kind":"Scale"}]}"#,
        "apps",
        "v1",
    )
    .expect("a list");
    assert_eq!(types.len(), 1);
    assert!(types[0].listable() && !types[0].watchable());
}

#[tokio::test]
async fn an_empty_aggregate_falls_back_to_the_older_form() {
    // A server that answers every request first with an empty aggregate, then with names.
    let empty = || aggregate("");
    let named = || answer(200, "", r#"{"kind":"APIVersions","versions":["v1"]}"#);
    let types = || {
        answer(
            200,
            "",
            r#"{"resources":[{"name":"widgets","kind":"Widget","verbs":["list"]}]}"#,
        )
    };
    let broken = || answer(503, "", "");
    let replies = vec![empty(), empty(), named(), named(), types(), broken()];
    let (server, resolver) = resolver(replies).await;
    let discovery = resolver.discovery().await.expect("read");
    assert_eq!(discovery.types.len(), 1);
    assert_eq!(
        discovery.stale,
        ["v1"],
        "one group that fails takes no other with it"
    );
    assert_eq!(server.heads().len(), 6);
}

#[test]
fn types_with_invalid_names_are_dropped() {
    let aggregated = |group: &str, version: &str, plural: &str| {
        let body = serde_json::json!({"kind": "APIGroupDiscoveryList", "items": [
            {"metadata": {"name": group}, "versions": [
                {"version": version, "resources": [{"resource": plural}]},
            ]},
        ]});
        match parse::root(body.to_string().as_bytes()).expect("read") {
            DiscoveryAnswer::Types(types, _) => types.len(),
            DiscoveryAnswer::Names(_) => unreachable!("it is aggregated"),
        }
    };
    let old = |group: &str, version: &str, plural: &str| {
        let body = serde_json::json!({"resources": [{"name": plural, "kind": "X"}]}).to_string();
        let types = parse::resources(body.as_bytes(), group, version).expect("read");
        let body =
            serde_json::json!({"groups": [{"name": group, "versions": [{"version": version}]}]});
        match parse::root(body.to_string().as_bytes()).expect("read") {
            DiscoveryAnswer::Names(names) if plural == "widgets" => {
                assert_eq!(names.len(), types.len());
            }
            _ => {}
        }
        types.len()
    };
    for (group, version, plural, count) in [
        ("example.com", "v1", "widgets", 1),
        ("external.metrics.k8s.io", "v1beta1", "queue_length:rate", 1),
        ("example.com/../../api/v1", "v1", "widgets", 0),
        ("..", "v1", "widgets", 0),
        ("example.com", "v1?x=", "widgets", 0),
        ("example.com", "", "widgets", 0),
        ("example.com", "v1", "secrets?x=", 0),
        ("example.com", "v1", "../secrets", 0),
        ("example.com", "v1", "%2e%2e", 0),
        ("example.com", "v1", "\u{1b}[2J", 0),
        ("example.com", "v1", "", 0),
    ] {
        let named = (group, version, plural);
        assert_eq!(aggregated(group, version, plural), count, "{named:?}");
        assert_eq!(old(group, version, plural), count, "{named:?}");
    }
}
