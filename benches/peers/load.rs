//! The watched objects and the writes to them: one Deployment, or 10,000 Pods of realistic size.

use std::time::Duration;

use futures::StreamExt;
use kube::Client;
use serde_json::{Value, json};

/// The namespace of the watched objects, which contains no others.
pub(crate) const NAMESPACE: &str = "spy-bench";

/// The watched objects, and the writes to them.
pub(crate) struct Load {
    /// The argument that selects the objects in each tool.
    pub(crate) subject: &'static str,
    resource: &'static str,
    /// The number of objects, which are patched in turn.
    pub(crate) objects: usize,
    /// The number of patches, and the interval between them.
    pub(crate) patches: usize,
    pub(crate) every: Duration,
    /// The number of measurements of the time to first output. The median counts.
    pub(crate) starts: usize,
}

/// Each patch gives two versions, because the Deployment controller updates `observedGeneration`.
pub(crate) const DEPLOYMENT: Load = Load {
    subject: "deploy/x-0",
    resource: "apis/apps/v1/namespaces/spy-bench/deployments",
    objects: 1,
    patches: 400,
    every: Duration::from_millis(50),
    starts: 11,
};

pub(crate) const PODS: Load = Load {
    subject: "pods",
    resource: "api/v1/namespaces/spy-bench/pods",
    objects: 10_000,
    patches: 3_000,
    every: Duration::from_millis(5),
    starts: 3,
};

/// Creates the objects in a namespace of their own.
pub(crate) async fn create(client: &Client, load: &Load) {
    create_namespace(client).await;
    let put = objects(load).map(|object| put(client, load, object));
    let mut put = futures::stream::iter(put).buffer_unordered(16);
    while put.next().await.is_some() {}
}

/// Creates the namespace, and waits until Pods are admitted.
pub(crate) async fn create_namespace(client: &Client) {
    let namespace =
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": NAMESPACE } });
    request(client, "POST", "/api/v1/namespaces", namespace).await;
    // Pods are only admitted once the controller has created this ServiceAccount.
    let account = format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default");
    while !exists(client, &account).await {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn put(client: &Client, load: &Load, (object, status): (Value, Option<Value>)) {
    let path = format!("/{}", load.resource);
    let status_path = format!(
        "{path}/{}/status",
        object["metadata"]["name"].as_str().unwrap()
    );
    request(client, "POST", &path, object).await;
    if let Some(status) = status {
        request(client, "PATCH", &status_path, status).await;
    }
}

/// Deletes the namespace with all objects.
pub(crate) async fn delete(client: &Client) {
    let namespace = format!("/api/v1/namespaces/{NAMESPACE}");
    request(client, "DELETE", &namespace, json!({})).await;
    while exists(client, &namespace).await {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

pub(crate) async fn exists(client: &Client, path: &str) -> bool {
    let request = http::Request::get(path).body(Vec::new()).unwrap();
    client.request_text(request).await.is_ok()
}

/// Sets an annotation on the next object in turn.
pub(crate) async fn patch(client: &Client, load: &Load, (count, annotation): (usize, String)) {
    let path = format!("/{}/x-{}", load.resource, count % load.objects);
    let body = json!({ "metadata": { "annotations": { "bench": annotation } } });
    request(client, "PATCH", &path, body).await;
}

/// The watched objects, and the statuses to write to them.
fn objects(load: &Load) -> impl Iterator<Item = (Value, Option<Value>)> {
    (0..load.objects).map(|index| {
        let (mut object, status) = if load.objects > 1 {
            (pod(), Some(running(index)))
        } else {
            (deployment(), None)
        };
        object["metadata"]["name"] = format!("x-{index}").into();
        (object, status)
    })
}

fn deployment() -> Value {
    let labels = json!({ "app": NAMESPACE });
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {},
        "spec": {
            "replicas": 1,
            "selector": { "matchLabels": labels },
            "template": { "metadata": { "labels": labels }, "spec": { "containers": [{ "name": "web", "image": "web:1" }] } },
        },
    })
}

/// A Pod as charts define it: two containers with the usual fields.
pub(crate) fn pod() -> Value {
    let probe =
        |path: &str| json!({ "httpGet": { "path": path, "port": "http" }, "periodSeconds": 10 });
    let variable = |index: usize| json!({ "name": format!("SETTING_{index}"), "value": format!("value-{index}") });
    let variables: Vec<Value> = (0..12).map(variable).collect();
    let container = |name: &str, port: u16| {
        json!({
            "name": name,
            "image": format!("registry.example.com/shop/{name}:1.24.3"),
            "args": ["--config=/etc/app/config.yaml", "--log-level=info"],
            "env": variables,
            "ports": [{ "name": "http", "containerPort": port }],
            "resources": { "requests": { "cpu": "100m", "memory": "128Mi" }, "limits": { "memory": "256Mi" } },
            "livenessProbe": probe("/healthz"),
            "readinessProbe": probe("/ready"),
            "volumeMounts": [{ "name": "config", "mountPath": "/etc/app" }],
        })
    };
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "labels": { "app": NAMESPACE, "app.kubernetes.io/part-of": "shop", "app.kubernetes.io/version": "1.24.3" },
            "annotations": { "prometheus.io/scrape": "true", "prometheus.io/port": "9090" },
        },
        "spec": {
            "containers": [container("web", 8080), container("proxy", 9090)],
            "volumes": [{ "name": "config", "configMap": { "name": "app" } }],
        },
    })
}

/// The status that a kubelet reports for this Pod.
fn running(index: usize) -> Value {
    let since = "2026-01-02T03:04:05Z";
    let condition = |name: &str| json!({ "type": name, "status": "True", "lastProbeTime": null, "lastTransitionTime": since });
    let container = |name: &str| {
        let image = format!("registry.example.com/shop/{name}");
        json!({
            "name": name, "image": format!("{image}:1.24.3"), "imageID": format!("{image}@sha256:{index:064x}"),
            "containerID": format!("containerd://{index:064x}"), "ready": true, "started": true, "restartCount": 0,
            "state": { "running": { "startedAt": since } }, "lastState": {},
        })
    };
    let ip = format!("10.{}.{}.{}", index >> 16, (index >> 8) & 255, index & 255);
    let names =
        "PodReadyToStartContainers Initialized Ready ContainersReady PodScheduled".split(' ');
    let conditions: Vec<Value> = names.map(condition).collect();
    let containers = ["web", "proxy"].map(container);
    json!({ "status": {
        "phase": "Running", "podIP": ip, "podIPs": [{ "ip": ip }], "hostIP": "10.0.0.1", "startTime": since,
        "conditions": conditions, "containerStatuses": containers,
    } })
}

/// Sends a request that must succeed.
pub(crate) async fn request(client: &Client, method: &str, path: &str, body: Value) {
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header(
            "content-type",
            if method == "PATCH" {
                "application/merge-patch+json"
            } else {
                "application/json"
            },
        )
        .body(body.to_string().into_bytes())
        .unwrap();
    client.request_text(request).await.unwrap();
}
