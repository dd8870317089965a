//! A namespace of 10,000 Pods: 100 Deployments of 100 Pods, each with a Service and a `ConfigMap`. The second
//! Deployment cannot pull its image.

use std::time::Duration;

use kube::Client;
use serde_json::{Value, json};

use crate::load::{NAMESPACE, create_namespace, exists, pod, request};

const DEPLOYMENTS: usize = 100;
const REPLICAS: usize = 100;

/// Creates the namespace if there is none from a run that was interrupted, and waits until all Pods are Running except the
/// broken ones.
pub(crate) async fn create(client: &Client) {
    if !exists(client, &format!("/api/v1/namespaces/{NAMESPACE}")).await {
        create_namespace(client).await;
        for index in 0..DEPLOYMENTS {
            for (path, object) in objects(index) {
                request(client, "POST", &format!("/{path}"), object).await;
            }
        }
    }
    while ready(client).await < (DEPLOYMENTS - 1) * REPLICAS {
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    // Controllers write for a little longer.
    tokio::time::sleep(Duration::from_secs(5)).await;
}

/// The names of the Pods of one Deployment, or of all of them.
pub(crate) async fn pod_names(client: &Client, deployment: &str) -> Vec<String> {
    let selector = if deployment.is_empty() {
        String::new()
    } else {
        format!("?labelSelector=app%3D{deployment}")
    };
    let path = format!("/api/v1/namespaces/{NAMESPACE}/pods{selector}");
    let names = items(client, &path).await.into_iter();
    let names = names.map(|pod| pod["metadata"]["name"].as_str().unwrap().to_owned());
    names.collect()
}

/// Sets an annotation on a Pod.
pub(crate) async fn annotate(client: &Client, pod: &str, value: &str) {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/pods/{pod}");
    let body = json!({ "metadata": { "annotations": { "bench": value } } });
    request(client, "PATCH", &path, body).await;
}

async fn ready(client: &Client) -> usize {
    let path = format!("/apis/apps/v1/namespaces/{NAMESPACE}/deployments");
    let deployments = items(client, &path).await.into_iter();
    let ready = deployments.filter_map(|item| item["status"]["readyReplicas"].as_u64());
    usize::try_from(ready.sum::<u64>()).unwrap()
}

async fn items(client: &Client, path: &str) -> Vec<Value> {
    let request = http::Request::get(path).body(Vec::new()).unwrap();
    let text = client.request_text(request).await.unwrap();
    let mut list: Value = serde_json::from_str(&text).unwrap();
    list["items"].as_array_mut().map(std::mem::take).unwrap()
}

/// The objects of one Deployment, each with the path to create it at.
fn objects(index: usize) -> [(String, Value); 3] {
    let name = format!("x-{index}");
    let labels = json!({ "app": name });
    let metadata = json!({ "name": name });
    let mut pod = pod();
    pod["metadata"]["labels"] = labels.clone();
    pod["spec"]["volumes"][0]["configMap"]["name"] = name.as_str().into();
    if index == 1 {
        pod["spec"]["containers"][0]["image"] = "bad:1".into();
    }
    let core = format!("api/v1/namespaces/{NAMESPACE}");
    [
        (
            format!("{core}/configmaps"),
            json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": { "a": "1" } }),
        ),
        (
            format!("{core}/services"),
            json!({ "apiVersion": "v1", "kind": "Service", "metadata": metadata,
                "spec": { "selector": labels, "ports": [{ "port": 80, "targetPort": 8080 }] } }),
        ),
        (
            format!("apis/apps/v1/namespaces/{NAMESPACE}/deployments"),
            json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata,
                "spec": { "replicas": REPLICAS, "selector": { "matchLabels": labels },
                    "template": { "metadata": pod["metadata"], "spec": pod["spec"] } } }),
        ),
    ]
}
