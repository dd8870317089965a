//! Tests of what `status` and `trace` show of a Service that was created anew, if a failure names its former address.

use kubectl_spy::sandbox::{Target, Writer};
use serde_json::{Value, json};

use super::schema::Schema;
use super::support::cluster::{Cluster, pod};

/// A Service with these addresses in the cluster.
fn service(namespace: &str, addresses: &[&str]) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "db", "namespace": namespace},
        "spec": {
            "clusterIP": addresses[0], "clusterIPs": addresses,
            "selector": {"app": "db"}, "ports": [{"port": 80}],
        },
    })
}

/// A Pod that ends with this message again and again.
fn crashing(message: &str) -> Value {
    let mut web = pod("web", &json!({"app": "web"}));
    let ended = json!({"exitCode": 1, "reason": "Error", "message": message});
    web["status"] = json!({
        "phase": "Running", "podIP": "10.1.0.9",
        "containerStatuses": [{
            "name": "app", "ready": false, "restartCount": 3,
            "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}},
            "lastState": {"terminated": ended},
        }],
    });
    web
}

/// Creates, deletes and creates a Service, and then a Pod that fails with a message. Other Services come and go unchanged.
async fn failing(namespace: &str, lives: [&[&str]; 2], pod: Value) -> Cluster {
    let cluster = Cluster::start().await;
    let mut other = service("shop", &["10.96.0.99"]);
    other["metadata"]["name"] = json!("other");
    cluster.put(other);
    cluster.put(service(namespace, lives[0]));
    cluster.tick(1);
    let target = Target::new("services", namespace, "db");
    let by = Writer::new("kubectl");
    let deletion = kubectl_spy::sandbox::Deletion::Immediate;
    cluster.sandbox.delete(&target, deletion, &by).unwrap();
    cluster.tick(1);
    let by = Writer::new("nina");
    let anew = service(namespace, lives[1]);
    cluster.sandbox.create(anew, &by).unwrap();
    cluster.put(pod);
    cluster
}

/// The lines about a re-creation.
fn recreated(cluster: &Cluster, verb: &str) -> Vec<String> {
    let ran = cluster.spy().run(&[verb, "pod/web", "--once"]);
    let lines = ran.stdout.lines();
    let lines = lines.filter(|line| line.contains(" recreated "));
    let lines = lines.map(|line| line.trim_start_matches(['│', ' ', '└']).to_owned());
    lines.collect()
}

const OLD: &str = "10.96.165.178";
const NEW: &str = "10.96.11.75";

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_that_names_the_former_address_of_a_service_names_its_re_creation() {
    let message = format!("dial tcp {OLD}:80: connect: no route to host");
    let mut waiting = crashing("");
    let blocked = json!({"reason": "CreateContainerError", "message": message});
    waiting["status"]["containerStatuses"] =
        json!([{"name": "app", "ready": false, "state": {"waiting": blocked}}]);
    let ipv4 = "clusterIP: 10.96.165.178 → 10.96.11.75";
    for (lives, pod, fields) in [
        ([&[OLD][..], &[NEW]], crashing(&message), ipv4),
        ([&[OLD], &[NEW]], waiting, ipv4),
        (
            [&["10.96.0.1", "fd00::1"], &["10.96.0.2", "fd00::2"]],
            crashing("dial tcp [fd00::1]:80: i/o timeout"),
            "clusterIP: fd00::1 → fd00::2",
        ),
        (
            [&[OLD], &["None"]],
            crashing(&message),
            "clusterIP: 10.96.165.178 → (none)",
        ),
    ] {
        let cluster = failing("shop", lives, pod).await;
        for verb in ["status", "trace"] {
            let found = recreated(&cluster, verb);
            let expect = format!("service/db recreated 4m56s ago by nina: {fields}");
            assert_eq!(found, [expect], "{verb}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn records_have_the_re_creation_with_few_requests() {
    let pod = crashing(&format!("dial tcp {OLD}:80"));
    let cluster = failing("shop", [&[OLD], &[NEW]], pod).await;
    let ran = cluster
        .spy()
        .run(&["status", "pod/web", "--once", "-o", "json"]);
    let record = Schema::of("status").check(ran.stdout.lines().next().unwrap());
    let change = &record["lastChanges"][0];
    assert_eq!(change["ref"]["name"], "db");
    assert_eq!(change["created"], true);
    let fields = json!(["clusterIP: 10.96.165.178 → 10.96.11.75"]);
    assert_eq!(change["changes"], fields);
    assert_eq!(change["by"], "nina");
    let requests = cluster.sandbox.requests_until(|_| true).await;
    let of_services = requests
        .iter()
        .filter(|it| it.path.contains("/services?"))
        .count();
    assert!((1..=4).contains(&of_services), "{of_services}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_that_names_no_former_address_names_no_re_creation() {
    for (namespace, message) in [
        ("shop", "no such host".to_owned()),
        ("shop", format!("dial tcp {NEW}:80: connection refused")),
        (
            "shop",
            "dial tcp 10.96.0.99:80: connection refused".to_owned(),
        ),
        (
            "shop",
            "dial tcp 192.0.2.1:80: connection refused".to_owned(),
        ),
        ("shop", "Get http://10.1.0.9:8080/ready: refused".to_owned()),
        ("other", format!("dial tcp {OLD}:80: no route to host")),
    ] {
        let cluster = failing(namespace, [&[OLD], &[NEW]], crashing(&message)).await;
        let found = recreated(&cluster, "status");
        assert!(found.is_empty(), "{message}: {found:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_was_created_anew_long_ago_is_not_named() {
    let pod = crashing(&format!("dial tcp {OLD}:80"));
    let cluster = failing("shop", [&[OLD], &[NEW]], pod).await;
    let later = "2026-03-02T12:45:00Z";
    let spy = cluster.spy().var("KUBECTL_SPY_NOW", later);
    let ran = spy.run(&["status", "pod/web", "--once"]);
    assert!(ran.stdout.contains(OLD), "{}", ran.stdout);
    assert!(!ran.stdout.contains("recreated"), "{}", ran.stdout);
}
