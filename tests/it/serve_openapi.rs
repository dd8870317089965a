//! Tests of the paths of `serve` for programs: the `OpenAPI` document, and what is followed.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::schema::Schema;
use super::serve::Served;
use super::support::cluster::{Cluster, config_map, deployment, pod};

/// Objects about which every path has an answer.
fn fill(cluster: &Cluster) {
    cluster.put(deployment("web", 1));
    cluster.put(config_map("flags", &json!({"beta": "off"})));
    cluster.edit("configmaps", "flags", &json!({"data": {"beta": "on"}}));
    let mut running = pod("job", &json!({"app.kubernetes.io/part-of": "store"}));
    let state = json!({"running": {"startedAt": "2026-03-02T12:00:00Z"}});
    running["spec"]["nodeName"] = json!("node-1");
    running["status"] = json!({"phase": "Running", "containerStatuses": [
        {"name": "app", "restartCount": 0, "containerID": "job/app#0", "state": state, "lastState": {}},
    ]});
    cluster.put(running);
    cluster.sandbox.print("job/app#0", cluster.now(), b"hello");
}

/// A configuration of one test.
fn configuration(cluster: &Cluster, text: &str) -> PathBuf {
    let port = cluster.sandbox.address().port();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("serve-{port}"));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("serve.yaml");
    fs::write(&path, format!("outbox: outbox\n{text}")).unwrap();
    path
}

/// Each documented parameter of a path is taken.
fn check_parameters(served: &Served, path: &str, operation: &Value) {
    for parameter in operation["parameters"].as_array().unwrap() {
        let name = parameter["name"].as_str().unwrap();
        // A value that no parameter can have, so that nothing is read: only the name must be known.
        let answer = match parameter["schema"]["type"].as_str().unwrap() {
            "boolean" => served.get(&format!("{path}?{name}=neither")).body,
            _ if path.ends_with("/events") => continue,
            _ => served.get(&format!("{path}?{name}=%00")).body,
        };
        let is_taken = !answer.contains("unknown parameter");
        assert!(is_taken, "{path} {name}: {answer}");
    }
}

/// Every documented path and parameter is taken, no other one is, and every answer has the documented form.
#[tokio::test(flavor = "multi_thread")]
async fn the_openapi_document_describes_what_the_server_does() {
    let cluster = Cluster::start().await;
    fill(&cluster);
    let config = configuration(
        &cluster,
        "packages: {from: [{label: app.kubernetes.io/part-of}]}\n",
    );
    let served = Served::start(
        &cluster.spy(),
        &["deploy,cm,po", "-f", config.to_str().unwrap()],
    );
    let document = served.get("/spy/v1/openapi.json");
    assert!(
        document.head.contains("content-type: application/json"),
        "{}",
        document.head
    );
    let document: Value = serde_json::from_str(&document.body).unwrap();
    assert_eq!(document["openapi"], "3.1.0");
    let query = |path: &str| match path {
        "/spy/v1/trace" => "object=deploy/web",
        "/spy/v1/changes" => "object=cm/flags&since=all",
        "/spy/v1/logs" => "object=pod/job",
        _ => "",
    };
    for (path, operations) in document["paths"].as_object().unwrap() {
        let operation = &operations["get"];
        let unknown = served.get(&format!("{path}?nothing-like-this=1"));
        assert_eq!(unknown.code, 400, "{path}: {}", unknown.body);
        check_parameters(&served, path, operation);
        let content = operation["responses"]["200"]["content"]
            .as_object()
            .unwrap();
        let (media_type, form) = content.iter().next().unwrap();
        if media_type == "text/event-stream" {
            continue;
        }
        let answer = served.get(&format!("{path}?{}", query(path)));
        assert_eq!(answer.code, 200, "{path}: {}", answer.body);
        assert!(
            answer.head.contains(&format!("content-type: {media_type}")),
            "{path}"
        );
        let schema = form["schema"]["$ref"].as_str().unwrap_or_default();
        let Some(name) = schema.strip_prefix("#/components/schemas/") else {
            continue;
        };
        assert!(!answer.body.is_empty(), "{path} has no record to check");
        let schema = Schema::of(name);
        for line in answer.body.lines() {
            schema.check(line);
        }
    }
}

/// `resource state` of each requested source.
fn watches(body: &str) -> Vec<String> {
    let record = |line: &str| serde_json::from_str::<Value>(line).unwrap();
    let records = body
        .lines()
        .map(record)
        .filter(|record| record["requested"] == true);
    let text = |record: &Value, field: &str| record[field].as_str().unwrap().to_owned();
    let words =
        records.map(|record| format!("{} {}", text(&record, "resource"), text(&record, "state")));
    words.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn kinds_come_and_go_while_the_other_watches_stay() {
    let cluster = Cluster::start().await;
    cluster.put(deployment("web", 1));
    cluster.put(config_map("flags", &json!({})));
    let config = configuration(&cluster, "kinds: [deploy]\n");
    let args = ["--api=kubernetes", "-f", config.to_str().unwrap()];
    let mut served = Served::start(&cluster.spy(), &args);
    served.until("/spy/v1/watches", |reply| {
        watches(&reply.body) == ["deployments.apps live"]
    });
    let lists = |resource: &str| {
        let requests = cluster.sandbox.requests();
        let part = format!("/{resource}?");
        requests
            .iter()
            .filter(|request| request.path.contains(&part))
            .count()
    };
    let before = lists("deployments");
    configuration(&cluster, "kinds: [deploy, cm]\n");
    served.running.hang_up();
    served.running.until("config: read again");
    served.until("/spy/v1/watches", |reply| {
        watches(&reply.body) == ["configmaps live", "deployments.apps live"]
    });
    served.until("/spy/v1/status", |reply| reply.body.lines().count() == 2);
    // The API of Kubernetes has the new kind in memory, and the old one no longer.
    let is_passed = |path: &str| {
        assert_eq!(served.get(path).code, 200);
        cluster.sandbox.requests().iter().any(|it| it.path == path)
    };
    assert!(!is_passed("/api/v1/namespaces/shop/configmaps"));
    assert!(!is_passed("/apis/apps/v1/namespaces/shop/deployments"));
    configuration(&cluster, "kinds: [cm]\n");
    served.running.hang_up();
    served.until("/spy/v1/status", |reply| {
        reply.body.lines().count() == 1 && reply.body.contains("ConfigMap")
    });
    assert_eq!(
        watches(&served.get("/spy/v1/watches").body),
        ["configmaps live"]
    );
    assert_eq!(
        lists("deployments"),
        before,
        "its list and watch stay as they are"
    );
    assert_eq!(
        served.get("/apis/apps/v1/namespaces/shop/deployments").code,
        200
    );
    let requests = cluster.sandbox.requests();
    let mut passed = requests.iter().map(|it| &*it.path);
    assert!(passed.any(|it| it == "/apis/apps/v1/namespaces/shop/deployments"));
    // What is followed still changes.
    cluster.put(config_map("more", &json!({})));
    served.until("/spy/v1/status", |reply| reply.body.lines().count() == 2);
    // A kind that does not exist changes nothing.
    configuration(&cluster, "kinds: [widgets]\n");
    served.running.hang_up();
    served.running.until("the old one stays");
    assert_eq!(served.get("/spy/v1/status").body.lines().count(), 2);
}
