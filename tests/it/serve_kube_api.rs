//! Tests of `serve --api=kubernetes` against the sandbox: what comes from memory, and what the API server answers.

use std::time::{Duration, Instant};

use insta::assert_snapshot;
use kubectl_spy::sandbox::{Rule, Target, User};
use serde_json::{Value, json};

use super::serve::{Events, Reply, Served};
use super::support::cluster::{Cluster, config_map, pod};

/// The names of a list, sorted as they come.
pub(super) fn names(reply: &Reply) -> String {
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

pub(super) fn status(reply: &Reply) -> String {
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

/// The paths of the requests so far. Leases are left out: they show the server's clock if its first answer was slow.
fn sent(cluster: &Cluster) -> Vec<String> {
    let requests = cluster.sandbox.requests().into_iter();
    let paths = requests.map(|request| request.path);
    paths.filter(|path| !path.contains("/leases")).collect()
}

/// The number of requests once the followed type is watched. The server prints its address before.
fn requests_once_watched(cluster: &Cluster) -> usize {
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        let sent = sent(cluster);
        if sent.iter().any(|path| path.contains("watch=")) {
            return sent.len();
        }
        assert!(Instant::now() < until, "{sent:?}");
        std::thread::yield_now();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_come_from_memory() {
    let cluster = three_maps().await;
    let served = Served::start(&cluster.spy(), &["cm", "--api=kubernetes"]);
    let before = requests_once_watched(&cluster);
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
    assert_eq!(sent(&cluster).len(), before);
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
    let passed = |path: &str| {
        let before = requests_once_watched(&cluster);
        let reply = served.get(path);
        format!("{} {}", reply.code, sent(&cluster)[before..].join(" "))
    };
    let all = [
        "/api/v1/namespaces/shop/configmaps/nope",
        "/api/v1/namespaces/shop/configmaps/a?pretty=true",
        "/api/v1/namespaces/shop/pods",
        "/api/v1/namespaces/shop/pods/web",
        "/api/v1/namespaces/shop/secrets",
        "/api/v1/namespaces/shop/configmaps?resourceVersion=1&resourceVersionMatch=Exact",
        // The API server refuses a bad value in its own words.
        "/api/v1/namespaces/shop/configmaps?limit=x",
        "/api/v1/namespaces/shop/configmaps?timeoutSeconds=x",
        "/api/v1/namespaces/shop/configmaps/",
        "/apis",
        "/api/v1",
        "/version",
    ]
    .map(&passed);
    assert_snapshot!(all.join("\n"), @"
    404 /api/v1/namespaces/shop/configmaps/nope
    200 /api/v1/namespaces/shop/configmaps/a?pretty=true
    200 /api/v1/namespaces/shop/pods
    200 /api/v1/namespaces/shop/pods/web
    200 /api/v1/namespaces/shop/secrets
    200 /api/v1/namespaces/shop/configmaps?resourceVersion=1&resourceVersionMatch=Exact
    400 /api/v1/namespaces/shop/configmaps?limit=x
    200 /api/v1/namespaces/shop/configmaps?timeoutSeconds=x
    200 /api/v1/namespaces/shop/configmaps/
    200 /apis
    200 /api/v1
    200 /version
    ");
    let passed = served.get("/api/v1/namespaces/shop/pods/web");
    let policy = "content-security-policy: default-src 'none'; sandbox";
    assert!(passed.head.contains(policy), "{}", passed.head);
    let none = served.get("/api/v1/namespaces/shop/configmaps/nope");
    assert_snapshot!(status(&none), @r#"404 NotFound: configmaps "nope" not found"#);
    let exec = served.get("/api/v1/namespaces/shop/pods/web/exec?command=x");
    assert_snapshot!(status(&exec), @"403 Forbidden: this server only reads: it opens no connection to containers and services");
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
async fn the_api_only_reads() {
    let cluster = three_maps().await;
    let served = Served::start(&cluster.spy(), &["cm", "--api=kubernetes"]);
    let bearer = served.bearer();
    for method in ["POST", "PUT", "PATCH", "DELETE"] {
        let reply = served.ask(method, "/api/v1/namespaces/shop/configmaps/a", &[&bearer]);
        assert!(
            status(&reply).starts_with("405 MethodNotAllowed: this server only reads"),
            "{method}: {}",
            reply.body
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn single_objects_come_from_memory() {
    let cluster = three_maps().await;
    let served = Served::start(&cluster.spy(), &["cm", "--api=kubernetes"]);
    let before = requests_once_watched(&cluster);
    let path = "/api/v1/namespaces/shop/configmaps/a";
    let whole: Value = serde_json::from_str(&served.get(path).body).unwrap();
    let target = Target::new("configmaps", "shop", "a");
    let mut expect = cluster.sandbox.get(&target).unwrap();
    expect["apiVersion"] = json!("v1");
    expect["kind"] = json!("ConfigMap");
    assert_eq!(whole, expect);
    let bearer = served.bearer();
    let accept = "Accept: application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    let partial = served.ask("GET", path, &[&bearer, accept]);
    let partial: Value = serde_json::from_str(&partial.body).unwrap();
    assert_eq!(
        partial,
        json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": expect["metadata"]})
    );
    assert_eq!(sent(&cluster).len(), before);
    // A version that the memory has not reached.
    let ahead = format!("{path}?resourceVersion=999999");
    served.get(&ahead);
    assert_eq!(sent(&cluster)[before], ahead);
}

/// The next event of a watch: its type, and the name and the version of its object.
fn event(events: &mut Events) -> String {
    let line = events.line(|line| line.starts_with('{'));
    let event: Value = serde_json::from_str(&line).unwrap();
    let metadata = &event["object"]["metadata"];
    let of = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let name = match &event["object"]["code"] {
        Value::Null => of(&metadata["name"]),
        code => format!("{code} {}", of(&event["object"]["message"])),
    };
    let end = metadata["annotations"]["k8s.io/initial-events-end"].as_str();
    let end = if end.is_some() { "end" } else { "" };
    let text = format!(
        "{} {} {name}{end}",
        of(&event["type"]),
        of(&event["object"]["kind"])
    );
    text.trim_end().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn watches_come_from_memory() {
    let cluster = three_maps().await;
    let served = Served::start(&cluster.spy(), &["cm", "--api=kubernetes"]);
    let before = requests_once_watched(&cluster);
    let path = "/api/v1/namespaces/shop/configmaps";
    let list: Value = serde_json::from_str(&unchunked(&served.get(path).body)).unwrap();
    let version = list["metadata"]["resourceVersion"].as_str().unwrap();
    let mut several: Vec<Events> = (0..3)
        .map(|_| {
            served.events(
                &format!("{path}?watch=true&resourceVersion={version}"),
                None,
            )
        })
        .collect();
    let present = format!(
        "{path}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=tier%3Dweb"
    );
    let mut web = served.events(&present, None);
    let begin = [event(&mut web), event(&mut web), event(&mut web)];
    assert_snapshot!(begin.join("\n"), @"
    ADDED ConfigMap a
    ADDED ConfigMap c
    BOOKMARK ConfigMap end
    ");
    let accept = "Accept: application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    let bearer = served.bearer();
    let one = format!("{path}?watch=1&fieldSelector=metadata.name%3Da");
    let metadata = served.send("GET", &one, &[&bearer, accept]);
    let mut metadata = Events::of(metadata);
    assert_eq!(event(&mut metadata), "ADDED PartialObjectMetadata a");
    cluster.edit(
        "configmaps",
        "a",
        &json!({"metadata": {"labels": {"tier": "db"}}}),
    );
    cluster.delete("configmaps", "c");
    for watch in &mut several {
        let events = [event(watch), event(watch)];
        assert_eq!(
            events.join(", "),
            "MODIFIED ConfigMap a, DELETED ConfigMap c"
        );
    }
    let events = [event(&mut web), event(&mut web)];
    assert_eq!(
        events.join(", "),
        "DELETED ConfigMap a, DELETED ConfigMap c"
    );
    assert_eq!(event(&mut metadata), "MODIFIED PartialObjectMetadata a");
    assert_eq!(sent(&cluster).len(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_begins_where_the_memory_reaches_and_ends_at_its_time() {
    let cluster = three_maps().await;
    let served = Served::start(&cluster.spy(), &["cm", "--api=kubernetes"]);
    let before = requests_once_watched(&cluster);
    let path = "/api/v1/namespaces/shop/configmaps";
    let version = cluster.sandbox.revision();
    cluster.delete("configmaps", "c");
    served.until(path, |reply| names(reply) == "a,b");
    // A version from before the first listing.
    let mut old = served.events(&format!("{path}?watch=true&resourceVersion=1"), None);
    assert_eq!(
        event(&mut old),
        "ERROR Status 410 too old resource version: 1"
    );
    let short = format!("{path}?watch=true&resourceVersion={version}&timeoutSeconds=1");
    let ended = served.get(&short);
    assert!(ended.body.contains("DELETED"), "{}", ended.body);
    assert_eq!(sent(&cluster).len(), before);
    let ahead = format!("{path}?watch=true&resourceVersion=999999&timeoutSeconds=1");
    served.get(&ahead);
    assert_eq!(sent(&cluster)[before], ahead);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watch_from_memory_lives_through_an_outage_and_ends_if_events_may_be_missing() {
    let mut cluster = three_maps().await;
    let served = Served::start(&cluster.spy(), &["cm", "--api=kubernetes"]);
    let path = "/api/v1/namespaces/shop/configmaps";
    let of_a = format!("{path}?watch=true&fieldSelector=metadata.name%3Da");
    let mut watch = served.events(&of_a, None);
    assert_eq!(event(&mut watch), "ADDED ConfigMap a");
    let version = cluster.sandbox.revision();
    cluster.sandbox.stop().await;
    cluster.sandbox.restart().await.unwrap();
    for value in ["1", "2", "3"] {
        cluster.edit("configmaps", "a", &json!({"data": {"k": value}}));
    }
    let mut values = Vec::new();
    for _ in 0..3 {
        let line = watch.line(|line| line.starts_with('{'));
        let event: Value = serde_json::from_str(&line).unwrap();
        values.push(event["object"]["data"]["k"].clone());
    }
    assert_eq!(values, ["1", "2", "3"]);
    // An API server that was away has no events of that time.
    cluster.sandbox.stop().await;
    cluster.edit("configmaps", "a", &json!({"data": {"k": "4"}}));
    cluster.sandbox.restart().await.unwrap();
    assert_eq!(watch.rest(), "");
    served.until(&format!("{path}/a"), |reply| {
        reply.body.contains(r#""k":"4""#)
    });
    let again = format!("{path}?watch=true&resourceVersion={version}");
    let refused = event(&mut served.events(&again, None));
    // As long as the server is not back, the API server answers, with words of its own.
    let expect = format!("ERROR Status 410 too old resource version: {version}");
    assert!(refused.starts_with(&expect), "{refused}");
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

/// A right to list is none to watch, and the other way round.
#[tokio::test(flavor = "multi_thread")]
async fn a_reader_watches_with_rights_of_his_own() {
    let user = |name: &str, token: &str, rules: Vec<Rule>| User {
        name: name.to_owned(),
        token: token.to_owned(),
        rules,
    };
    let in_shop = |verbs| vec![Rule::allow(verbs, "configmaps").within("shop")];
    let users = vec![
        user("owner", "", vec![Rule::everything()]),
        user("lists", "lists", in_shop("list")),
        user("watches", "watches", in_shop("watch,get")),
    ];
    let cluster = Cluster::start_with(|options| options.users = users).await;
    cluster.put(config_map("a", &json!({})));
    let mut served = Served::begin(&cluster.spy(), &["cm", "--api=kubernetes", "--auth=kube"]);
    served.read_by("lists");
    served.until("/readyz", |reply| reply.code == 200);
    let path = "/api/v1/namespaces/shop/configmaps";
    assert_snapshot!(status(&served.get(&format!("{path}?watch=true"))), @r#"403 Forbidden: configmaps is forbidden: User "lists" cannot watch resource "configmaps" in API group "" in the namespace "shop""#);
    served.read_by("watches");
    let mut watch = served.events(&format!("{path}?watch=true"), None);
    assert_eq!(event(&mut watch), "ADDED ConfigMap a");
    assert_eq!(served.get(&format!("{path}/a")).code, 200);
    assert_snapshot!(status(&served.get("/api/v1/configmaps?watch=true")), @r#"403 Forbidden: configmaps is forbidden: User "watches" cannot watch resource "configmaps" in API group "" at the cluster scope"#);
    assert_snapshot!(status(&served.get(path)), @r#"403 Forbidden: configmaps is forbidden: User "watches" cannot list resource "configmaps" in API group "" in the namespace "shop""#);
    // Each right was asked for once, and nothing else.
    let requests = cluster.sandbox.requests();
    let asked = requests
        .iter()
        .filter(|request| request.path.contains("/-") || request.path.contains("%3D-"));
    let asked: Vec<&str> = asked
        .map(|request| &*request.path)
        .filter(|path| path.contains("/shop/"))
        .collect();
    assert_snapshot!(asked.join("\n"), @"
    /api/v1/namespaces/shop/configmaps?watch=true&timeoutSeconds=1&resourceVersion=0&fieldSelector=metadata.name%3D-
    /api/v1/namespaces/shop/configmaps?watch=true&timeoutSeconds=1&resourceVersion=0&fieldSelector=metadata.name%3D-
    /api/v1/namespaces/shop/configmaps/-
    /api/v1/namespaces/shop/configmaps?limit=1&resourceVersion=0&fieldSelector=metadata.name%3D-
    ");
}

/// A GET of a proxy reaches another program, which may change something.
#[tokio::test(flavor = "multi_thread")]
async fn no_spelling_of_a_path_reaches_another_program() {
    let cluster = three_maps().await;
    let served = Served::start(&cluster.spy(), &["cm", "--api=kubernetes"]);
    for path in [
        "/api/v1/namespaces/shop/pods/web/proxy",
        "/api/v1/namespaces/shop/pods/web/%70roxy",
        "/api/v1/namespaces/shop/services/web/pro%78y/drop/table",
        "/api/v1/nodes/a/%70%72%6f%78%79/run",
        "/api/v1/%70roxy/nodes/a",
        "/api/v1/namespaces/shop/pods/web/%65xec?command=reboot",
    ] {
        assert_eq!(served.get(path).code, 403, "{path}");
    }
    let requests = cluster.sandbox.requests();
    let is_reached = |path: &str| path.contains("proxy") || path.contains("exec");
    assert!(
        !requests.iter().any(|it| is_reached(&it.path)),
        "nothing is sent"
    );
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
