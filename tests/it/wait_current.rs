//! Tests of `--for=current` against the sandbox: a rollout that succeeds, one that cannot, and a Service.

use std::fs;
use std::path::PathBuf;

use insta::{allow_duplicates, assert_snapshot};
use kubectl_spy::sandbox::{Effect, End, ErrorBody, Fault, Place, Verb};
use serde_json::{Value, json};

use super::support::Ran;
use super::support::cluster::{Cluster, deployment, pod};

/// The manifests of an application: a Deployment and its Service.
const MANIFESTS: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
";

/// A directory with the manifests.
fn manifests(name: &str) -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("web.yaml"), MANIFESTS).unwrap();
    directory
}

fn service() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"clusterIP": "10.0.0.1", "selector": {"app": "web"}, "ports": [{"port": 80}]},
    })
}

/// The slice of the Service, with one endpoint that is ready or not.
fn slice(is_ready: bool) -> Value {
    json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
        "metadata": {
            "name": "web-1", "namespace": "shop", "labels": {"kubernetes.io/service-name": "web"},
        },
        "addressType": "IPv4", "ports": [{"port": 80}],
        "endpoints": [{
            "addresses": ["10.1.0.1"], "conditions": {"ready": is_ready},
            "targetRef": {"kind": "Pod", "name": "web-1-x"},
        }],
    })
}

/// The status of a Deployment with one wanted Pod and this number of available ones.
fn rolled(available: u32) -> Value {
    let word = if available == 1 { "True" } else { "False" };
    json!({
        "observedGeneration": 1, "replicas": 1, "updatedReplicas": 1,
        "readyReplicas": available, "availableReplicas": available,
        "conditions": [
            {"type": "Available", "status": word},
            {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"},
        ],
    })
}

fn owned(mut object: Value, owner: &Value) -> Value {
    object["metadata"]["ownerReferences"] = json!([{
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "controller": true,
        "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"],
    }]);
    object
}

/// Creates the Deployment with its `ReplicaSet` and a Pod whose container waits for this reason.
fn roll_out(cluster: &Cluster, reason: &str) {
    let mut web = deployment("web", 1);
    web["status"] = rolled(0);
    let web = cluster.put(web);
    let mut set = web.clone();
    set["kind"] = json!("ReplicaSet");
    set["metadata"] = json!({"name": "web-1", "namespace": "shop", "labels": {"app": "web"}});
    set["status"] = json!({"observedGeneration": 1, "replicas": 1});
    let set = cluster.put(owned(set, &web));
    let mut pod = pod("web-1-x", &json!({"app": "web"}));
    let message = "Back-off pulling image \"app:1\"";
    pod["status"] = json!({
        "phase": "Pending",
        "containerStatuses": [{
            "name": "app", "ready": false,
            "state": {"waiting": {"reason": reason, "message": message}},
        }],
    });
    cluster.put(owned(pod, &set));
}

/// The Pod becomes ready, and its controllers report it.
fn finish(cluster: &Cluster) {
    let status = json!({
        "phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
        "containerStatuses": [{"name": "app", "ready": true, "state": {"running": {}}}],
    });
    cluster.report("pods", "web-1-x", &status);
    let counts = json!({
        "observedGeneration": 1, "replicas": 1, "fullyLabeledReplicas": 1,
        "readyReplicas": 1, "availableReplicas": 1,
    });
    cluster.report("replicasets", "web-1", &counts);
    cluster.edit("endpointslices", "web-1", &slice(true));
    cluster.report("deployments", "web", &rolled(1));
}

/// The exit code and the lines of standard error, in alphabetical order.
fn end(ran: &Ran) -> String {
    let mut lines: Vec<&str> = ran.stderr.lines().collect();
    lines.sort_unstable();
    format!("{:?}\n{}", ran.status.code(), lines.join("\n"))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_for_ci_waits_for_manifests_that_are_applied_later() {
    let cluster = Cluster::start().await;
    let directory = manifests("applied-later");
    let directory = format!("{}/", directory.to_str().unwrap());
    let readme = include_str!("../../README.md");
    let command = "kubectl spy status -f manifests/ --for=current --timeout=5m";
    assert!(readme.contains(command));
    let args = ["status", "-f", &directory, "--for=current", "--timeout=5m"];
    let mut run = cluster.spy().start(&args);
    for _ in 0..2 {
        run.until("waiting for");
    }
    cluster.put(service());
    cluster.put(slice(false));
    roll_out(&cluster, "ContainerCreating");
    run.until("pod/web-1-x ContainerCreating");
    finish(&cluster);
    assert_snapshot!(end(&run.finish()), @r#"
    Some(0)
    deployment.apps/web condition met
    service/web condition met
    waiting for deployments.apps/web in namespace "shop"
    waiting for services/web in namespace "shop"
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_image_ends_the_wait_with_its_cause() {
    let cluster = Cluster::start().await;
    roll_out(&cluster, "ImagePullBackOff");
    cluster.put(service());
    cluster.put(slice(false));
    for args in [
        &["status", "deploy/web", "svc/web", "--for=current"][..],
        &["trace", "deploy/web", "--for=ready"],
        &["changes", "deploy/web", "--for=current"],
        &["status", "deploy", "--for=current", "--once"],
    ] {
        let ran = cluster.spy().run(args);
        allow_duplicates!(assert_snapshot!(end(&ran), @r#"
        Some(2)
        error: deployment.apps/web has failed: 0 of 1 pods ready: 1 ImagePullBackOff: pod/web-1-x: app: Back-off pulling image "app:1"
        "#));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_request_is_retried_during_a_wait() {
    let cluster = Cluster::start().await;
    roll_out(&cluster, "ContainerCreating");
    cluster.put(service());
    cluster.put(slice(false));
    let error = |code| Effect::Status {
        code,
        retry_after: None,
        body: ErrorBody::Html,
    };
    let cut = Effect::Cut {
        at: Place::BeforeHeaders,
        end: End::Reset,
    };
    let faults = [
        ("deployments", error(500)),
        ("replicasets", error(504)),
        ("pods", cut),
    ];
    for (resource, effect) in faults {
        cluster
            .sandbox
            .inject(Fault::on(Verb::List, resource, effect).range(1..=2));
    }
    let args = ["status", "deploy/web", "--for=current", "--timeout=5m"];
    let mut run = cluster.spy().start(&args);
    run.until("pod/web-1-x ContainerCreating");
    finish(&cluster);
    let ran = run.finish();
    let is_met = ran.stderr.contains("deployment.apps/web condition met");
    assert!(is_met, "{}", ran.stderr);
    assert_eq!(ran.status.code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_is_ready_when_an_endpoint_is() {
    let cluster = Cluster::start().await;
    cluster.put(service());
    let args = ["trace", "svc/web", "--for=ready"];
    let once = cluster.spy().run(&[&args[..], &["--once"]].concat());
    assert_snapshot!(end(&once), @"
    Some(3)
    error: condition not met for services/web: no pod matches app=web
    ");
    let mut run = cluster.spy().start(&args);
    run.until("service/web");
    roll_out(&cluster, "ContainerCreating");
    cluster.put(slice(false));
    run.until("0/1 ready");
    finish(&cluster);
    assert_snapshot!(end(&run.finish()), @"
    Some(0)
    service/web condition met
    ");
    let code = cluster
        .spy()
        .run(&["trace", "svc/web", "--once", "--exit-code"]);
    assert_eq!(code.status.code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_time_limit_names_what_is_missing() {
    let cluster = Cluster::start().await;
    roll_out(&cluster, "ContainerCreating");
    let verbs = ["status", "changes", "trace"];
    let runs = verbs.map(|verb| vec![verb, "deploy/web", "--for=current", "--timeout=3s"]);
    for ran in cluster.spy().run_together(&runs) {
        allow_duplicates!(assert_snapshot!(end(&ran), @"
        Some(3)
        error: timed out waiting for the condition on deployments/web: Available: 0/1: pod/web-1-x: Pod is in the Pending phase
        "));
    }
    let ran = cluster
        .spy()
        .run(&["trace", "deploy/web", "--once", "--exit-code"]);
    assert_eq!(ran.status.code(), Some(1));
}

/// A list of 1,000 objects is judged at once, and a change of one of them again.
#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_objects_are_waited_for() {
    let cluster = Cluster::start().await;
    for at in 0..1000 {
        let mut web = deployment(&format!("web-{at}"), 1);
        web["status"] = rolled(u32::from(at != 500));
        cluster.put(web);
    }
    let mut run = cluster.spy().start(&["status", "deploy", "--for=current"]);
    run.until("deployment/web-500 InProgress");
    cluster.report("deployments", "web-500", &rolled(1));
    let ran = run.finish();
    assert_eq!(ran.status.code(), Some(0));
    assert_eq!(ran.stderr.lines().count(), 1000);
}
