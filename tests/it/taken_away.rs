//! Tests of changes that take something away from objects that stay well: the nodes of a `DaemonSet`, and the traffic of Pods.

use kubectl_spy::sandbox::Target;
use serde_json::{Value, json};

use super::support::cluster::{Cluster, pod};

/// A `DaemonSet` that runs on so many nodes.
fn agent(nodes: u32) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": "shop", "generation": 1},
        "spec": {
            "selector": {"matchLabels": {"app": "agent"}},
            "template": {"metadata": {"labels": {"app": "agent"}}, "spec": {"containers": [{"name": "agent", "image": "agent:1"}]}},
        },
        "status": {
            "observedGeneration": 1, "desiredNumberScheduled": nodes, "currentNumberScheduled": nodes,
            "numberReady": nodes, "numberAvailable": nodes, "updatedNumberScheduled": nodes,
        },
    })
}

fn node(name: &str, taints: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": {"taints": taints},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    })
}

fn taints(taints: &[(&str, &str)]) -> Value {
    let taints = taints.iter();
    taints
        .map(|(key, value)| json!({"key": key, "value": value, "effect": "NoSchedule"}))
        .collect()
}

/// Someone sets the taints of a node.
fn taint(cluster: &Cluster, node: &str, taints: &Value) {
    let target = Target::new("nodes", "", node);
    cluster.edit_at(&target, &json!({"spec": {"taints": taints}}));
}

/// The lines of a run that hold one of these words, without the tree.
fn lines(cluster: &Cluster, args: &[&str], words: &[&str]) -> Vec<String> {
    let ran = cluster.spy().run(args);
    let lines = ran.stdout.lines();
    let lines = lines.map(|line| line.trim_start_matches(['│', '├', '─', '●', ' ', '└']));
    let lines = lines.filter(|line| words.iter().any(|word| line.contains(word)));
    lines.map(str::to_owned).collect()
}

const CONTROL_PLANE: (&str, &str) = ("node-role.kubernetes.io/control-plane", "");

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_set_that_a_taint_keeps_out_has_who_set_it() {
    let cluster = Cluster::start().await;
    cluster.put(node("cp", &taints(&[CONTROL_PLANE])));
    cluster.put(node("n1", &json!([])));
    cluster.put(node("n2", &json!([])));
    cluster.put(agent(1));
    taint(&cluster, "n2", &taints(&[("dedicated", "gpu")]));
    let kept_out = "1 of 3 nodes: n2 has taint dedicated=gpu:NoSchedule; cp has taint node-role.kubernetes.io/control-plane:NoSchedule";
    let words = ["of 3 nodes", "changed", "was created"];
    for args in [
        &["status", "ds/agent", "--once"][..],
        &["status", "--unhealthy", "-A", "--once"],
        &["trace", "ds/agent", "--once"],
    ] {
        let found = lines(&cluster, args, &words);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.contains(&kept_out.to_owned()), "{found:?}");
        let changed = |line: &String| {
            line.starts_with("node/n2 changed ") && line.contains(" by kubectl-edit: taints[")
        };
        assert!(found.iter().any(changed), "{found:?}");
    }
    for verb in ["status", "trace"] {
        let mut run = cluster.spy().start(&[verb, "ds/agent"]);
        let line = run.until(" changed at ");
        assert!(
            line.contains("daemonset/agent is affected: node/n2 changed at "),
            "{line}"
        );
        run.interrupt();
    }
    let of_node = lines(&cluster, &["status", "node/n2", "--once"], &["taint"]);
    assert_eq!(of_node[0], "taint dedicated=gpu:NoSchedule");
    assert!(
        of_node[1].contains("by kubectl-edit: taints["),
        "{of_node:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_set_that_never_ran_on_a_node_is_not_unhealthy() {
    let cluster = Cluster::start().await;
    cluster.put(node("cp", &taints(&[CONTROL_PLANE])));
    cluster.put(node("n1", &json!([])));
    cluster.put(agent(1));
    let found = lines(
        &cluster,
        &["status", "--unhealthy", "-A", "--once"],
        &["agent"],
    );
    assert!(found.is_empty(), "{found:?}");
    let found = lines(
        &cluster,
        &["status", "ds/agent", "--once"],
        &["of 2", "changed", "created"],
    );
    let expect = "1 of 2 nodes: cp has taint node-role.kubernetes.io/control-plane:NoSchedule";
    assert_eq!(found, [expect]);
}

/// A Pod that is ready, behind a Service.
fn served(cluster: &Cluster) {
    let mut web = pod("web", &json!({"app": "web"}));
    web["spec"]["nodeName"] = json!("n1");
    web["status"] = json!({
        "phase": "Running", "podIPs": [{"ip": "10.1.0.1"}],
        "conditions": [{"type": "Ready", "status": "True"}],
        "containerStatuses": [{"name": "app", "ready": true, "state": {"running": {}}}],
    });
    let web = cluster.put(web);
    cluster.put(json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"clusterIP": "10.96.0.1", "selector": {"app": "web"}, "ports": [{"port": 80}]},
    }));
    cluster.put(json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
        "metadata": {"name": "web-1", "namespace": "shop", "labels": {"kubernetes.io/service-name": "web"}},
        "endpoints": [{
            "addresses": ["10.1.0.1"], "conditions": {"ready": true},
            "targetRef": {"kind": "Pod", "name": "web", "namespace": "shop", "uid": web["metadata"]["uid"]},
        }],
        "ports": [{"port": 80}],
    }));
}

fn policy(name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
        "metadata": {"name": name, "namespace": "shop", "generation": 1}, "spec": spec,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_policy_that_lets_nothing_in_has_who_created_or_closed_it() {
    let cluster = Cluster::start().await;
    served(&cluster);
    let of = |object: &str| {
        let words = ["no ingress", "created", "changed"];
        lines(&cluster, &["trace", object, "--once"], &words)
    };
    assert!(of("svc/web").is_empty());
    cluster.put(policy("deny", &json!({"podSelector": {}})));
    let denied = "networkpolicy/deny allows no ingress";
    let created = "networkpolicy/deny was created 4m56s ago by kubectl-create";
    assert_eq!(of("svc/web"), [created, denied]);
    let of_pod = of("pod/web");
    let mark = created.strip_prefix("networkpolicy/deny was ").unwrap();
    assert_eq!(of_pod, [created, denied, "allows no ingress", mark]);
    // Another policy lets something in.
    let allow = policy(
        "allow",
        &json!({"podSelector": {"matchLabels": {"app": "web"}}, "ingress": [{}]}),
    );
    cluster.put(allow);
    assert!(of("svc/web").is_empty());
    cluster.edit(
        "networkpolicies.networking.k8s.io",
        "allow",
        &json!({"spec": {"ingress": []}}),
    );
    let found = of("svc/web");
    let changed = "networkpolicy/allow changed 4m54s ago by kubectl-edit: ingress";
    assert!(found[0].starts_with(changed), "{found:?}");
    assert_eq!(
        found[2],
        "networkpolicy/allow, networkpolicy/deny allow no ingress"
    );
}
