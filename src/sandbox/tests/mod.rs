//! Tests of the sandbox over raw sockets, so that every byte is visible.

mod access;
mod client;
mod faults;
mod http2;
mod laws;
mod managed;
mod reads;
mod watches;
mod writes;

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::*;

/// The time at which the tests' clock stands still.
fn noon() -> Timestamp {
    "2026-03-02T12:00:00Z".parse().expect("a time")
}

fn options() -> Options {
    Options::new(Arc::new(noon))
}

async fn sandbox() -> Sandbox {
    Sandbox::start(options()).await.expect("a free port")
}

fn tester() -> Writer {
    Writer::new("tester")
}

fn config_map(name: &str, data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop"}, "data": data})
}

fn pod(name: &str, labels: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "labels": labels},
        "spec": {"nodeName": "node-1", "containers": [{"name": "app", "image": "app:1"}]},
        "status": {"phase": "Running", "podIP": "10.0.0.7", "containerStatuses": [
            {"name": "app", "ready": true, "restartCount": 0, "state": {"running": {}}},
        ]},
    })
}

fn deployment(name: &str, replicas: u32) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "app", "image": "app:1", "ports": [{"containerPort": 80, "protocol": "TCP"}]}]},
            },
        },
    })
}

/// Creates an object for a test.
fn put(sandbox: &Sandbox, object: Value) -> Value {
    sandbox
        .create(object, &tester())
        .expect("the creation succeeds")
}

/// Patches `data` of a `ConfigMap` in `shop`.
fn set(sandbox: &Sandbox, name: &str, data: &Value) -> Value {
    let target = Target::new("configmaps", "shop", name);
    sandbox
        .patch(&target, &json!({"data": data}), &tester())
        .expect("the patch succeeds")
}
