//! Tests of tokens, rules, and the journal of requests.

use super::client::{get, get_with};
use super::*;

async fn guarded(rules: Vec<Rule>) -> Sandbox {
    let mut options = options();
    options.users = vec![User {
        name: "dev".to_owned(),
        token: "t0".to_owned(),
        rules,
    }];
    let sandbox = Sandbox::start(options).await.expect("the sandbox starts");
    put(&sandbox, pod("a", &json!({})));
    sandbox
}

const TOKEN: &str = "authorization: Bearer t0";

#[tokio::test]
async fn rules_decide_by_verb_group_resource_namespace_and_name() {
    let rules = vec![
        Rule::allow("get,list,watch", "pods").within("shop"),
        Rule::allow("list,get", "deployments.apps"),
        Rule::allow("get,list,watch", "configmaps")
            .within("shop")
            .named("flags"),
        Rule::allow("*", "services"),
        Rule::deny("watch", "services"),
    ];
    let sandbox = guarded(rules).await;
    let cases = [
        ("/api/v1/namespaces/shop/pods", 200),
        ("/api/v1/namespaces/shop/pods/a", 200),
        ("/api/v1/pods", 403),
        ("/api/v1/namespaces/other/pods", 403),
        ("/apis/apps/v1/deployments", 200),
        ("/apis/apps/v1/deployments?watch=1&timeoutSeconds=0", 403),
        ("/api/v1/namespaces/shop/configmaps", 403),
        (
            "/api/v1/namespaces/shop/configmaps?fieldSelector=metadata.name%3Dflags",
            200,
        ),
        (
            "/api/v1/namespaces/shop/configmaps?fieldSelector=metadata.name%3Dother",
            403,
        ),
        (
            "/api/v1/namespaces/shop/configmaps?fieldSelector=metadata.name%3Dflags&watch=1&timeoutSeconds=0",
            200,
        ),
        ("/api/v1/namespaces/shop/configmaps/flags", 404),
        ("/api/v1/services", 200),
        ("/api/v1/services?watch=true&timeoutSeconds=0", 403),
        ("/apis", 200),
        ("/version", 200),
    ];
    for (path, code) in cases {
        assert_eq!(get_with(&sandbox, path, TOKEN).await.code(), code, "{path}");
    }
}

#[tokio::test]
async fn a_refusal_names_the_user_the_verb_and_the_resource() {
    let sandbox = guarded(Vec::new()).await;
    let cases = [
        (
            "/apis/apps/v1/namespaces/shop/deployments",
            "deployments.apps is forbidden: User \"dev\" cannot list resource \"deployments\" in API group \"apps\" in \
             the namespace \"shop\"",
        ),
        (
            "/api/v1/nodes?watch=1",
            "nodes is forbidden: User \"dev\" cannot watch resource \"nodes\" in API group \"\" at the cluster scope",
        ),
        (
            "/api/v1/namespaces/shop/pods/x",
            "pods \"x\" is forbidden: User \"dev\" cannot get resource \"pods\" in API group \"\" in the namespace \
             \"shop\"",
        ),
    ];
    for (path, message) in cases {
        let answer = get_with(&sandbox, path, TOKEN).await;
        assert_eq!(
            (answer.code(), &answer.json()["message"]),
            (403, &json!(message)),
            "{path}"
        );
    }
}

#[tokio::test]
async fn only_known_tokens_are_accepted() {
    let sandbox = guarded(vec![Rule::everything()]).await;
    for header in [
        "authorization: Bearer t1",
        "authorization: Basic dDA=",
        "x-nothing: 1",
    ] {
        let answer = get_with(&sandbox, "/api/v1/pods", header).await;
        assert_eq!(
            (answer.code(), &answer.json()["reason"]),
            (401, &json!("Unauthorized")),
            "{header}"
        );
    }
    assert_eq!(get_with(&sandbox, "/api/v1/pods", TOKEN).await.code(), 200);
    sandbox.set_users(Vec::new());
    assert_eq!(get(&sandbox, "/api/v1/pods").await.code(), 200);
}

#[tokio::test]
async fn requests_are_recorded() {
    let sandbox = guarded(vec![Rule::everything()]).await;
    get_with(
        &sandbox,
        "/api/v1/pods?limit=1",
        &format!("{TOKEN}\r\nuser-agent: spy/1\r\naccept: application/json"),
    )
    .await;
    let requests = sandbox
        .requests_until(|requests| !requests.is_empty())
        .await;
    let request = &requests[0];
    assert_eq!(
        (request.method.as_str(), request.path.as_str()),
        ("GET", "/api/v1/pods?limit=1")
    );
    assert_eq!(
        (request.user.as_deref(), request.user_agent.as_str()),
        (Some("dev"), "spy/1")
    );
    assert_eq!(
        (request.accept.as_str(), request.status, request.connection),
        ("application/json", Some(200), 0)
    );
    assert!(request.bytes > 100);
    assert!(sandbox.connections()[0].bytes > request.bytes);
}

#[tokio::test]
async fn the_kubeconfig_points_to_the_sandbox() {
    let sandbox = guarded(Vec::new()).await;
    let config: Value = serde_json::from_str(&sandbox.kubeconfig()).expect("JSON is YAML");
    assert_eq!(config["current-context"], "demo");
    assert_eq!(config["clusters"][0]["cluster"]["server"], sandbox.url());
    assert_eq!(config["users"][0]["user"]["token"], "t0");
    assert_eq!(
        config["contexts"][0]["context"],
        json!({"cluster": "demo", "user": "dev", "namespace": "default"})
    );
}

#[tokio::test]
async fn a_cancelled_watch_is_over() {
    let sandbox = guarded(Vec::new()).await;
    sandbox.set_users(Vec::new());
    let watch = super::client::Exchange::get(&sandbox, "/api/v1/pods?watch=1").await;
    assert!(!sandbox.requests()[0].ended);
    drop(watch);
    let requests = sandbox
        .requests_until(|requests| requests.iter().all(|request| request.ended))
        .await;
    assert_eq!(requests.len(), 1);
}
