//! Tests of WATCH over HTTP. The clock is paused, so an idle watch times out at once.

use super::client::{Exchange, get, get_with};
use super::*;

const WATCH: &str = "/api/v1/namespaces/shop/configmaps?watch=1&timeoutSeconds=30";

#[tokio::test(start_paused = true)]
async fn a_watch_resumes_at_its_revision_and_times_out() {
    let sandbox = sandbox().await;
    put(&sandbox, config_map("a", &json!({"n": "0"})));
    set(&sandbox, "a", &json!({"n": "1"}));
    put(&sandbox, pod("other", &json!({})));
    sandbox
        .delete(
            &Target::new("configmaps", "shop", "a"),
            Deletion::Immediate,
            &tester(),
        )
        .expect("the deletion succeeds");
    put(&sandbox, config_map("b", &json!({})));
    let cases = [
        ("", "ADDED b 6"),
        ("&resourceVersion=0", "ADDED b 6"),
        (
            "&resourceVersion=1",
            "ADDED a 2,MODIFIED a 3,DELETED a 5,ADDED b 6",
        ),
        ("&resourceVersion=3", "DELETED a 5,ADDED b 6"),
        ("&resourceVersion=6", ""),
        ("&resourceVersion=99", ""),
    ];
    for (from, expect) in cases {
        let answer = get(&sandbox, &format!("{WATCH}{from}")).await;
        assert_eq!(answer.events().join(","), expect, "{from}");
        assert_eq!(answer.ended, Some(super::client::Ended::Clean));
    }
}

#[tokio::test(start_paused = true)]
async fn events_are_sent_as_they_happen() {
    let sandbox = sandbox().await;
    let mut watch =
        Exchange::get(&sandbox, "/api/v1/configmaps?watch=true&resourceVersion=1").await;
    for n in 0..3 {
        put(&sandbox, config_map(&format!("c{n}"), &json!({})));
        let line = String::from_utf8(watch.chunk().await.expect("an event")).expect("UTF-8");
        assert_eq!(super::client::event(&line), format!("ADDED c{n} {}", n + 2));
        assert!(
            line.contains(r#""object":{"kind":"ConfigMap","apiVersion":"v1","#),
            "{line}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn objects_enter_and_leave_a_selector() {
    let sandbox = sandbox().await;
    put(&sandbox, pod("a", &json!({"app": "web"})));
    let target = Target::new("pods", "shop", "a");
    for app in ["api", "db", "web"] {
        let patch = json!({"metadata": {"labels": {"app": app}}});
        sandbox
            .patch(&target, &patch, &tester())
            .expect("the patch succeeds");
    }
    sandbox
        .patch(
            &target,
            &json!({"status": {"phase": "Failed"}}),
            &tester().on("status"),
        )
        .expect("the patch succeeds");
    let watch = "/api/v1/pods?watch=1&timeoutSeconds=9&resourceVersion=2";
    let labels = get(&sandbox, &format!("{watch}&labelSelector=app%3Dweb")).await;
    assert_eq!(
        labels.events(),
        ["DELETED a 3", "ADDED a 5", "MODIFIED a 6"]
    );
    let left: Value =
        serde_json::from_str(labels.text().lines().next().expect("a line")).expect("JSON");
    assert_eq!(left["object"]["metadata"]["labels"]["app"], "web");
    let fields = get(
        &sandbox,
        &format!("{watch}&fieldSelector=status.phase%3DRunning,metadata.name%3Da"),
    )
    .await;
    assert_eq!(
        fields.events(),
        [
            "MODIFIED a 3",
            "MODIFIED a 4",
            "MODIFIED a 5",
            "DELETED a 6"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn bookmarks_are_sent_on_request() {
    let mut options = options();
    options.bookmark_interval = std::time::Duration::from_secs(10);
    let sandbox = Sandbox::start(options).await.expect("the sandbox starts");
    put(&sandbox, pod("a", &json!({})));
    let quiet = "/api/v1/configmaps?watch=1&timeoutSeconds=25&resourceVersion=1";
    assert_eq!(get(&sandbox, quiet).await.events(), [""; 0]);
    let marked = get(&sandbox, &format!("{quiet}&allowWatchBookmarks=true")).await;
    assert_eq!(
        marked.events(),
        ["BOOKMARK - 2", "BOOKMARK - 2", "BOOKMARK - 2"]
    );
    assert!(marked.text().starts_with(
        r#"{"type":"BOOKMARK","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"#
    ));
}

#[tokio::test(start_paused = true)]
async fn a_watch_from_before_the_window_gets_410() {
    let mut sandbox = sandbox().await;
    for n in 0..3 {
        put(&sandbox, config_map(&format!("c{n}"), &json!({})));
    }
    sandbox.expire_watch_window();
    put(&sandbox, config_map("d", &json!({})));
    let from = |revision: u64| format!("{WATCH}&resourceVersion={revision}");
    let expired = get(&sandbox, &from(3)).await;
    assert_eq!(
        (expired.code(), expired.events()),
        (
            200,
            vec!["ERROR 410 too old resource version: 3 (4)".to_owned()]
        )
    );
    assert!(expired.text().contains(r#""reason":"Expired""#));
    assert_eq!(get(&sandbox, &from(4)).await.events(), ["ADDED d 5"]);
    sandbox.restart().await.expect("the same port");
    assert_eq!(
        get(&sandbox, &from(4)).await.events(),
        ["ERROR 410 too old resource version: 4 (5)"]
    );
    assert_eq!(get(&sandbox, &from(5)).await.events(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn watched_tables_list_their_columns_once() {
    let sandbox = sandbox().await;
    put(&sandbox, config_map("a", &json!({"n": "0"})));
    set(&sandbox, "a", &json!({"m": "1"}));
    let accept = "accept: application/json;as=Table;v=v1;g=meta.k8s.io";
    let answer = get_with(&sandbox, &format!("{WATCH}&resourceVersion=1"), accept).await;
    let tables: Vec<Value> = answer
        .text()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["object"].clone())
        .collect();
    assert_eq!(
        tables[0]["columnDefinitions"].as_array().map(Vec::len),
        Some(3)
    );
    assert_eq!(tables[1]["columnDefinitions"], Value::Null);
    assert_eq!(tables[1]["rows"][0]["cells"], json!(["a", 2, "0s"]));
    let accept = "accept: application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
    let answer = get_with(&sandbox, &format!("{WATCH}&resourceVersion=2"), accept).await;
    assert!(answer.text().contains(r#""kind":"PartialObjectMetadata""#));
    assert_eq!(answer.events(), ["MODIFIED a 3"]);
}

#[tokio::test(start_paused = true)]
async fn stopping_breaks_watches_and_dropping_frees_the_port() {
    let mut sandbox = sandbox().await;
    let watch = Exchange::get(&sandbox, WATCH).await;
    sandbox.stop().await;
    assert_ne!(watch.rest().await.ended, Some(super::client::Ended::Clean));
    assert!(
        tokio::net::TcpStream::connect(sandbox.address())
            .await
            .is_err()
    );
    sandbox.restart().await.expect("the same port");
    assert_eq!(get(&sandbox, "/readyz").await.code(), 200);
}
