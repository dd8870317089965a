//! Tests of `serve --api=kubernetes` against the sandbox: what comes from memory, and what the API server answers.

use insta::assert_snapshot;
use kubectl_spy::sandbox::{Rule, User};
use serde_json::{Value, json};

use super::serve::{Reply, Served};
use super::support::cluster::{Cluster, config_map, pod};

/// The names of a list, sorted as they come.
fn names(reply: &Reply) -> String {
    assert_eq!(reply.code, 200, "{}", reply.body);
    let list: Value = serde_json::from_str(&unchunked(&reply.body)).unwrap();
    let items = list["items"].as_array().unwrap().iter();
    let names = items.map(|item| item["metadata"]["name"].as_str().unwrap().to_owned());
    names.collect::<Vec<_>>().join(",")
}

/// A body whose length was not known before.
fn unchunked(body: &str) -> String {
    let (mut text, mut rest) = (String::new(), body);
    if body.starts_with('{') {
        return body.to_owned();
    }
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        text.push_str(&after[..size]);
        rest = after[size..].trim_start_matches("\r\n");
    }
    text
}

fn status(reply: &Reply) -> String {
    let body = unchunked(&reply.body);
    let status: Value = serde_json::from_str(&body).unwrap_or_else(|_| panic!("{body}"));
    assert_eq!(status["kind"], "Status", "{body}");
    assert_eq!(status["code"], reply.code, "{body}");
    let text = |field: &str| status[field].as_str().unwrap_or_default().to_owned();
    format!("{} {}: {}", reply.code, text("reason"), text("message"))
}

async fn three_maps() -> Cluster {
    let cluster = Cluster::start().await;
    for (name, tier) in [("a", "web"), ("b", "db"), ("c", "web")] {
        let mut map = config_map(name, &json!({"k": name}));
        map["metadata"]["labels"] = json!({"tier": tier});
        cluster.put(map);
    }
    cluster
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_come_from_memory() {
    let cluster = three_maps().await;
    let served = Served::start(&cluster.spy(), &["cm", "--api=kubernetes"]);
    let before = cluster.sandbox.requests().len();
    let path = "/api/v1/namespaces/shop/configmaps";
    let found = [
        "",
        "?limit=1",
        "?labelSelector=tier%3Dweb",
        "?labelSelector=tier!%3Dweb",
        "?labelSelector=tier%20in%20(web,db),!gone",
        "?fieldSelector=metadata.name%3Da",
        // Conditions are an AND, also when one of them has no match.
        "?fieldSelector=metadata.name%3Da,metadata.namespace%3Dzzz",
        "?fieldSelector=metadata.name%3Da&labelSelector=tier%3Ddb",
        "?resourceVersion=0",
    ]
    .map(|query| {
        format!(
            "{query}: [{}]",
            names(&served.get(&format!("{path}{query}")))
        )
    });
    assert_snapshot!(found.join("\n"), @"
    : [a,b,c]
    ?limit=1: [a,b,c]
    ?labelSelector=tier%3Dweb: [a,c]
    ?labelSelector=tier!%3Dweb: [b]
    ?labelSelector=tier%20in%20(web,db),!gone: [a,b,c]
    ?fieldSelector=metadata.name%3Da: [a]
    ?fieldSelector=metadata.name%3Da,metadata.namespace%3Dzzz: []
    ?fieldSelector=metadata.name%3Da&labelSelector=tier%3Ddb: []
    ?resourceVersion=0: [a,b,c]
    ");
    assert_eq!(cluster.sandbox.requests().len(), before);
    // It is the list that the API server sends.
    let reply = served.get(path);
    let list: Value = serde_json::from_str(&unchunked(&reply.body)).unwrap();
    assert_eq!(
        (&list["kind"], &list["apiVersion"]),
        (&json!("ConfigMapList"), &json!("v1"))
    );
    let version: u64 = list["metadata"]["resourceVersion"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(version, cluster.sandbox.revision());
    // A change arrives.
    cluster.delete("configmaps", "b");
    served.until(path, |reply| names(reply) == "a,c");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rest_is_passed_on() {
    let cluster = three_maps().await;
    cluster.put(pod("web", &json!({})));
    let served = Served::start(&cluster.spy(), &["cm", "--api=kubernetes"]);
    let sent = |path: &str| {
        let before = cluster.sandbox.requests().len();
        let reply = served.get(path);
        let requests = cluster.sandbox.requests();
        let new = requests[before..]
            .iter()
            .map(|request| request.path.clone());
        format!("{} {}", reply.code, new.collect::<Vec<_>>().join(" "))
    };
    let all = [
        "/api/v1/namespaces/shop/configmaps/a",
        "/api/v1/namespaces/shop/pods",
        "/api/v1/namespaces/shop/secrets",
        "/api/v1/namespaces/shop/configmaps?resourceVersion=1&resourceVersionMatch=Exact",
        "/apis",
        "/api/v1",
        "/version",
    ]
    .map(&sent);
    assert_snapshot!(all.join("\n"), @"
    200 /api/v1/namespaces/shop/configmaps/a
    200 /api/v1/namespaces/shop/pods
    200 /api/v1/namespaces/shop/secrets
    200 /api/v1/namespaces/shop/configmaps?resourceVersion=1&resourceVersionMatch=Exact
    200 /apis
    200 /api/v1
    200 /version
    ");
    let passed = served.get("/api/v1/namespaces/shop/configmaps/a");
    let policy = "content-security-policy: default-src 'none'; sandbox";
    assert!(passed.head.contains(policy), "{}", passed.head);
    let none = served.get("/api/v1/namespaces/shop/configmaps/nope");
    assert_snapshot!(status(&none), @r#"404 NotFound: configmaps "nope" not found"#);
    let exec = served.get("/api/v1/namespaces/shop/pods/web/exec?command=x");
    assert_snapshot!(status(&exec), @"403 Forbidden: this server only reads: it opens no connection to containers and services");
    let bearer = served.bearer();
    for method in ["POST", "PUT", "PATCH", "DELETE"] {
        let reply = served.ask(method, "/api/v1/namespaces/shop/configmaps/a", &[&bearer]);
        assert!(
            status(&reply).starts_with("405 MethodNotAllowed: this server only reads"),
            "{method}: {}",
            reply.body
        );
    }
    let out = served.get("/api/v1/%2e%2e/%2e%2e/metrics");
    assert_eq!(out.code, 400, "{}", out.body);
    let unknown = served.ask("GET", "/api/v1/pods", &[]);
    assert_snapshot!(status(&unknown), @"401 Unauthorized: Unauthorized");
    assert!(
        cluster
            .sandbox
            .requests()
            .iter()
            .all(|request| request.method == "GET")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_continues_a_list_from_memory() {
    let cluster = three_maps().await;
    let served = Served::start(&cluster.spy(), &["cm", "--api=kubernetes"]);
    let path = "/api/v1/namespaces/shop/configmaps";
    let list = served.get(&format!("{path}?labelSelector=tier%3Dweb"));
    let list: Value = serde_json::from_str(&unchunked(&list.body)).unwrap();
    let version = list["metadata"]["resourceVersion"].as_str().unwrap();
    // It changes between the list and the watch, and no longer matches.
    cluster.edit(
        "configmaps",
        "a",
        &json!({"metadata": {"labels": {"tier": "db"}}}),
    );
    let mut events = served.events(
        &format!("{path}?watch=true&labelSelector=tier%3Dweb&resourceVersion={version}"),
        None,
    );
    let event = events.line(|line| line.starts_with('{'));
    let event: Value = serde_json::from_str(&event).unwrap();
    assert_eq!(
        (&event["type"], &event["object"]["metadata"]["name"]),
        (&json!("DELETED"), &json!("a"))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_lists_with_rights_of_his_own() {
    let user = |name: &str, token: &str, rules: Vec<Rule>| User {
        name: name.to_owned(),
        token: token.to_owned(),
        rules,
    };
    let users = vec![
        user("owner", "", vec![Rule::everything()]),
        user(
            "alice",
            "alice",
            vec![Rule::allow("list", "configmaps").within("shop")],
        ),
        user("bob", "bob", vec![]),
    ];
    let cluster = Cluster::start_with(|options| options.users = users).await;
    cluster.put(config_map("a", &json!({})));
    let mut served = Served::begin(&cluster.spy(), &["cm", "--api=kubernetes", "--auth=kube"]);
    served.read_by("alice");
    served.until("/readyz", |reply| reply.code == 200);
    let path = "/api/v1/namespaces/shop/configmaps";
    assert_eq!(names(&served.get(path)), "a");
    // A right to list is none to get.
    assert_snapshot!(status(&served.get(&format!("{path}/a"))), @r#"403 Forbidden: configmaps "a" is forbidden: User "alice" cannot get resource "configmaps" in API group "" in the namespace "shop""#);
    served.read_by("bob");
    assert_snapshot!(status(&served.get(path)), @r#"403 Forbidden: configmaps is forbidden: User "bob" cannot list resource "configmaps" in API group "" in the namespace "shop""#);
    served.read_by("mallory");
    assert_snapshot!(status(&served.get(path)), @"401 Unauthorized: Unauthorized");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_flag_there_is_no_such_api() {
    let cluster = three_maps().await;
    let served = Served::start(&cluster.spy(), &["cm"]);
    let reply = served.get("/api/v1/namespaces/shop/secrets");
    assert_eq!(reply.code, 404);
    assert!(
        reply
            .body
            .contains("hint: kubectl spy serve --api=kubernetes"),
        "{}",
        reply.body
    );
}
