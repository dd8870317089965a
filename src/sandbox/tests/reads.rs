//! Tests of GET, LIST, discovery and tables over HTTP.

use std::io::Read;

use super::client::{Exchange, get, get_with};
use super::*;

const CONFIG_MAPS: &str = "/api/v1/namespaces/shop/configmaps";

fn names(list: &Value) -> Vec<String> {
    let items = list["items"].as_array().into_iter().flatten();
    items
        .map(|item| {
            item["metadata"]["name"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        })
        .collect()
}

async fn with_config_maps(count: u32) -> Sandbox {
    let sandbox = sandbox().await;
    for index in 0..count {
        put(
            &sandbox,
            config_map(&format!("c{index}"), &json!({"n": "0"})),
        );
    }
    sandbox
}

/// Path, code, reason and message.
const REFUSALS: [(&str, u16, &str, &str); 13] = [
    (
        "/foo",
        404,
        "NotFound",
        "the server could not find the requested resource",
    ),
    (
        "/openapi/v3/apis/apps/v1",
        404,
        "NotFound",
        "the server could not find the requested resource",
    ),
    (
        "/api/v1/foos",
        404,
        "NotFound",
        "the server could not find the requested resource",
    ),
    (
        "/api/v1/namespaces/shop/nodes",
        404,
        "NotFound",
        "the server could not find the requested resource",
    ),
    (
        "/api/v1/namespaces/shop/pods/x",
        404,
        "NotFound",
        "pods \"x\" not found",
    ),
    (
        "/apis/apps/v1/namespaces/shop/deployments/x",
        404,
        "NotFound",
        "deployments.apps \"x\" not found",
    ),
    (
        "/api/v1/pods?fieldSelector=spec.foo%3D1",
        400,
        "BadRequest",
        "field label not supported: spec.foo",
    ),
    (
        "/api/v1/configmaps?fieldSelector=data.a=1",
        400,
        "BadRequest",
        "\"data.a\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
    ),
    (
        "/api/v1/pods?limit=x",
        400,
        "BadRequest",
        "invalid value for parameter limit: \"x\"",
    ),
    (
        "/api/v1/pods?continue=zz",
        400,
        "BadRequest",
        "continue key is not valid",
    ),
    (
        "/api/v1/pods?resourceVersion=99",
        504,
        "Timeout",
        "Timeout: Too large resource version: 99, current: 2",
    ),
    (
        "/api/v1/pods?resourceVersion=99&resourceVersionMatch=Exact",
        504,
        "Timeout",
        "Timeout: Too large resource version: 99, current: 2",
    ),
    (
        "/api/v1/pods?resourceVersionMatch=Exact",
        422,
        "Invalid",
        "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden \
             unless resourceVersion is provided",
    ),
];

#[tokio::test]
async fn errors_have_the_words_of_kubernetes() {
    let sandbox = with_config_maps(1).await;
    for (path, code, reason, message) in REFUSALS {
        let answer = get(&sandbox, path).await;
        let status = answer.json();
        assert_eq!(answer.code(), code, "{path}");
        assert_eq!(status["code"], code, "{path}");
        assert_eq!(
            (&status["kind"], &status["status"]),
            (&json!("Status"), &json!("Failure")),
            "{path}"
        );
        assert_eq!(
            (&status["reason"], &status["message"]),
            (&json!(reason), &json!(message)),
            "{path}"
        );
    }
    let details = get(&sandbox, "/apis/apps/v1/namespaces/shop/deployments/x")
        .await
        .json()["details"]
        .clone();
    assert_eq!(
        details,
        json!({"name": "x", "group": "apps", "kind": "deployments"})
    );
}

#[tokio::test]
async fn only_get_is_allowed() {
    let sandbox = with_config_maps(1).await;
    for method in ["POST", "PUT", "PATCH", "DELETE"] {
        let mut answer =
            Exchange::send(&sandbox, &format!("{method} {CONFIG_MAPS}/c0 HTTP/1.1")).await;
        answer.read_head().await;
        let answer = answer.rest().await;
        assert_eq!(
            (answer.code(), &answer.json()["reason"]),
            (405, &json!("MethodNotAllowed")),
            "{method}"
        );
    }
    assert_eq!(sandbox.log().len(), 1);
}

#[tokio::test]
async fn items_of_built_in_lists_have_no_kind_and_api_version() {
    let mut options = options();
    options.kinds = vec![Kind::custom("example.com", "v1", "Widget", "widgets")];
    let sandbox = Sandbox::start(options).await.expect("the sandbox starts");
    put(&sandbox, config_map("c0", &json!({})));
    put(
        &sandbox,
        json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "shop"}}),
    );
    let list = get(&sandbox, CONFIG_MAPS).await.json();
    assert_eq!(
        (&list["kind"], &list["apiVersion"]),
        (&json!("ConfigMapList"), &json!("v1"))
    );
    assert_eq!(list["metadata"], json!({"resourceVersion": "3"}));
    assert_eq!(list["items"][0].get("kind"), None);
    let one = get(&sandbox, &format!("{CONFIG_MAPS}/c0")).await.text();
    assert!(
        one.starts_with(r#"{"kind":"ConfigMap","apiVersion":"v1","data":"#),
        "{one}"
    );
    let widgets = get(&sandbox, "/apis/example.com/v1/widgets").await.json();
    assert_eq!(widgets["items"][0]["kind"], "Widget");
    assert_eq!(
        get(
            &sandbox,
            "/apis/example.com/v1/namespaces/shop/widgets/w/status"
        )
        .await
        .code(),
        200
    );
}

#[tokio::test]
async fn lists_are_narrowed_by_namespace_labels_and_fields() {
    let sandbox = sandbox().await;
    put(&sandbox, pod("a", &json!({"app": "web"})));
    put(&sandbox, pod("b", &json!({"app": "api"})));
    let mut elsewhere = pod("c", &json!({"app": "web"}));
    elsewhere["metadata"]["namespace"] = json!("other");
    elsewhere["status"]["phase"] = json!("Pending");
    put(&sandbox, elsewhere);
    let cases = [
        ("/api/v1/pods", "c,a,b"),
        ("/api/v1/namespaces/shop/pods", "a,b"),
        ("/api/v1/namespaces/none/pods", ""),
        ("/api/v1/pods?labelSelector=app%3Dweb", "c,a"),
        ("/api/v1/pods?labelSelector=app+in+%28api%2Cdb%29", "b"),
        ("/api/v1/pods?fieldSelector=metadata.name%3Da", "a"),
        ("/api/v1/pods?fieldSelector=status.phase%21%3DRunning", "c"),
        (
            "/api/v1/pods?fieldSelector=spec.nodeName=node-1,metadata.namespace=shop",
            "a,b",
        ),
    ];
    for (path, expect) in cases {
        assert_eq!(
            names(&get(&sandbox, path).await.json()).join(","),
            expect,
            "{path}"
        );
    }
}

#[tokio::test]
async fn pages_keep_their_revision_and_expire() {
    let sandbox = with_config_maps(5).await;
    let first = get(&sandbox, &format!("{CONFIG_MAPS}?limit=2"))
        .await
        .json();
    assert_eq!(names(&first), ["c0", "c1"]);
    assert_eq!(first["metadata"]["remainingItemCount"], 3);
    sandbox
        .delete(
            &Target::new("configmaps", "shop", "c3"),
            Deletion::Immediate,
            &tester(),
        )
        .expect("the deletion succeeds");
    let next = |page: &Value| {
        let token = page["metadata"]["continue"]
            .as_str()
            .expect("there is more")
            .to_owned();
        format!("{CONFIG_MAPS}?limit=2&continue={token}")
    };
    let second = get(&sandbox, &next(&first)).await.json();
    assert_eq!(
        (names(&second), &second["metadata"]["resourceVersion"]),
        (vec!["c2".into(), "c3".into()], &json!("6"))
    );
    let third = get(&sandbox, &next(&second)).await.json();
    assert_eq!(
        (names(&third), third["metadata"].get("continue")),
        (vec!["c4".into()], None)
    );
    sandbox.compact(sandbox.revision());
    let expired = get(&sandbox, &next(&first)).await;
    let status = expired.json();
    assert_eq!(
        (expired.code(), &status["reason"]),
        (410, &json!("Expired"))
    );
    assert!(
        status["message"]
            .as_str()
            .is_some_and(|text| text.starts_with("The provided continue parameter is too old"))
    );
    assert_eq!(
        names(&get(&sandbox, &next(&status)).await.json()),
        ["c2", "c4"]
    );
    let selective = get(&sandbox, &format!("{CONFIG_MAPS}?limit=1&labelSelector=!a"))
        .await
        .json();
    assert_eq!(selective["metadata"].get("remainingItemCount"), None);
}

#[tokio::test]
async fn an_exact_revision_returns_the_state_at_that_time() {
    let sandbox = with_config_maps(1).await;
    for n in ["1", "2"] {
        set(&sandbox, "c0", &json!({"n": n}));
    }
    sandbox
        .delete(
            &Target::new("configmaps", "shop", "c0"),
            Deletion::Immediate,
            &tester(),
        )
        .expect("the deletion succeeds");
    let at = |revision: u64| {
        format!(
            "{CONFIG_MAPS}?fieldSelector=metadata.name%3Dc0&resourceVersionMatch=Exact&resourceVersion={revision}"
        )
    };
    let mut seen = Vec::new();
    for revision in 1..=5 {
        let list = get(&sandbox, &at(revision)).await.json();
        assert_eq!(list["metadata"]["resourceVersion"], revision.to_string());
        let item = &list["items"][0];
        seen.push((
            item["data"]["n"].as_str().map(str::to_owned),
            item["metadata"]["resourceVersion"].clone(),
        ));
    }
    let version = |n: &str, revision: &str| (Some(n.to_owned()), json!(revision));
    let gone = (None, Value::Null);
    assert_eq!(
        seen,
        [
            gone.clone(),
            version("0", "2"),
            version("1", "3"),
            version("2", "4"),
            gone
        ]
    );
    sandbox.compact(3);
    assert_eq!(get(&sandbox, &at(3)).await.code(), 200);
    let forgotten = get(&sandbox, &at(2)).await;
    assert_eq!(
        (forgotten.code(), &forgotten.json()["message"]),
        (
            410,
            &json!("The resourceVersion for the provided list is too old.")
        )
    );
}

#[tokio::test]
async fn long_answers_are_compressed_on_request() {
    let sandbox = with_config_maps(20).await;
    let plain = get(&sandbox, CONFIG_MAPS).await;
    assert!(!plain.head.contains("content-encoding"));
    let packed = get_with(&sandbox, CONFIG_MAPS, "accept-encoding: br, gzip;q=1").await;
    assert!(packed.head.contains("content-encoding: gzip"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed.body().as_slice())
        .read_to_string(&mut text)
        .expect("gzip");
    assert_eq!(text, plain.text());
    let sent: Vec<u64> = sandbox
        .requests()
        .iter()
        .map(|request| request.bytes)
        .collect();
    assert_eq!(
        sent,
        [plain.body().len() as u64, packed.body().len() as u64]
    );
    let short = get_with(
        &sandbox,
        &format!("{CONFIG_MAPS}/c0"),
        "accept-encoding: gzip",
    )
    .await;
    assert!(!short.head.contains("content-encoding"));
}

const TABLE: &str = "accept: application/json;as=Table;v=v1;g=meta.k8s.io, application/json";

#[tokio::test]
async fn tables_have_kubectls_columns() {
    let sandbox = sandbox().await;
    put(&sandbox, pod("a", &json!({"app": "web"})));
    let table = get_with(&sandbox, "/api/v1/pods", TABLE).await.json();
    let columns: Vec<&str> = table["columnDefinitions"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|column| column["name"].as_str())
        .collect();
    assert_eq!(columns[..5], ["Name", "Ready", "Status", "Restarts", "Age"]);
    assert_eq!(
        table["rows"][0]["cells"].as_array().map(Vec::len),
        Some(columns.len())
    );
    assert_eq!(
        table["rows"][0]["cells"].as_array().expect("cells")[..6],
        json!(["a", "1/1", "Running", "0", "0s", "10.0.0.7"])
            .as_array()
            .expect("cells")[..]
    );
    assert_eq!(table["rows"][0]["object"]["kind"], "PartialObjectMetadata");
    for (include, kind) in [("None", Value::Null), ("Object", json!("Pod"))] {
        let table = get_with(
            &sandbox,
            &format!("/api/v1/pods?includeObject={include}"),
            TABLE,
        )
        .await
        .json();
        assert_eq!(table["rows"][0]["object"]["kind"], kind, "{include}");
    }
    let all = get(&sandbox, "/apis").await.json();
    assert!(
        all["groups"]
            .as_array()
            .is_some_and(|groups| groups.len() > 5)
    );
}

#[tokio::test]
async fn every_table_has_as_many_cells_as_columns() {
    for kind in super::super::kinds::built_in() {
        let columns = super::super::table::definitions(&kind);
        let cells = super::super::table::cells(&kind, &json!({}), noon());
        assert_eq!(
            columns.as_array().map(Vec::len),
            Some(cells.len()),
            "{}",
            kind.resource.plural
        );
    }
}

#[tokio::test]
async fn metadata_is_sent_alone_on_request() {
    let sandbox = with_config_maps(1).await;
    let accept = "accept: application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    let list = get_with(&sandbox, CONFIG_MAPS, accept).await.json();
    assert_eq!(list["kind"], "PartialObjectMetadataList");
    let item = list["items"][0].as_object().expect("an object");
    assert_eq!(
        item.keys().collect::<Vec<_>>(),
        ["apiVersion", "kind", "metadata"]
    );
    let protobuf = get_with(
        &sandbox,
        CONFIG_MAPS,
        "accept: application/vnd.kubernetes.protobuf",
    )
    .await;
    assert_eq!(protobuf.code(), 406);
}

#[tokio::test]
async fn discovery_has_both_forms() {
    let sandbox = sandbox().await;
    let accept = "accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
    let aggregated = get_with(&sandbox, "/apis", accept).await;
    assert!(aggregated.head.contains(
        "content-type: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    ));
    let groups = aggregated.json();
    let apps = groups["items"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|group| group["metadata"]["name"] == "apps");
    let deployments = apps.and_then(|apps| {
        let resources = apps["versions"][0]["resources"].as_array()?;
        resources
            .iter()
            .find(|resource| resource["resource"] == "deployments")
    });
    assert_eq!(
        *deployments.expect("apps/v1 has deployments"),
        json!({
            "resource": "deployments", "responseKind": {"group": "apps", "version": "v1", "kind": "Deployment"},
            "scope": "Namespaced", "singularResource": "deployment", "verbs": ["get", "list", "watch"],
            "shortNames": ["deploy"], "categories": ["all"],
            "subresources": [{
                "subresource": "status", "verbs": ["get"],
                "responseKind": {"group": "apps", "version": "v1", "kind": "Deployment"},
            }],
        })
    );
    let core = get_with(&sandbox, "/api", accept).await.json();
    assert_eq!(core["items"][0]["versions"][0]["version"], "v1");
    assert_eq!(
        get(&sandbox, "/api").await.json()["versions"],
        json!(["v1"])
    );
    let plain = get(&sandbox, "/apis/apps/v1").await.json();
    assert_eq!(
        (&plain["kind"], &plain["groupVersion"]),
        (&json!("APIResourceList"), &json!("apps/v1"))
    );
    assert_eq!(
        get(&sandbox, "/apis/apps").await.json()["preferredVersion"]["version"],
        "v1"
    );
    assert_eq!(get(&sandbox, "/version").await.json()["major"], "1");
    assert_eq!(get(&sandbox, "/readyz?verbose").await.text(), "ok");
}

#[tokio::test(start_paused = true)]
async fn extreme_parameters_get_an_answer() {
    let sandbox = with_config_maps(2).await;
    let most = u64::MAX;
    let limited = get(&sandbox, &format!("{CONFIG_MAPS}?limit={most}"))
        .await
        .json();
    assert_eq!(names(&limited), ["c0", "c1"]);
    let watch = get(
        &sandbox,
        &format!("{CONFIG_MAPS}?watch=1&timeoutSeconds={most}&resourceVersion={most}"),
    )
    .await;
    assert_eq!((watch.code(), watch.body().len()), (200, 0));
    assert_eq!(
        get(&sandbox, &format!("{CONFIG_MAPS}?continue=31"))
            .await
            .code(),
        400
    );
    assert_eq!(
        get(&sandbox, "/api/v1/pods?labelSelector=%ff%zz%")
            .await
            .code(),
        400
    );
}

#[tokio::test]
async fn schemas_are_found_by_the_index() {
    let mut options = options();
    let with = Kind {
        schema: Some(json!({"type": "object"})),
        ..Kind::custom("example.com", "v1", "Widget", "widgets")
    };
    let without = Kind::custom("example.org", "v1", "Gadget", "gadgets");
    options.kinds = vec![with, without];
    let sandbox = Sandbox::start(options).await.expect("the sandbox starts");
    let index = get(&sandbox, "/openapi/v3").await.json();
    let paths = index["paths"].as_object().expect("paths");
    assert_eq!(paths.keys().collect::<Vec<_>>(), ["apis/example.com/v1"]);
    let entry = &paths["apis/example.com/v1"]["serverRelativeURL"];
    let url = entry.as_str().expect("a URL");
    assert!(
        url.starts_with("/openapi/v3/apis/example.com/v1?hash="),
        "{url}"
    );
    let document = get(&sandbox, url).await.json();
    assert_eq!(
        document["components"]["schemas"]["com.example.v1.Widget"],
        json!({
            "type": "object",
            "x-kubernetes-group-version-kind": [{"group": "example.com", "kind": "Widget", "version": "v1"}],
        })
    );
}
