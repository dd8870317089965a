//! The clusters that the browser shows: a shop with a failed rollout, one whose text is hostile, and a large one.

use jiff::SignedDuration;
use kubectl_spy::sandbox::{Rule, Target, User, Writer};
use serde_json::{Value, json};

use super::support::cluster::{Cluster, config_map, deployment, owned_by, pod};
use super::support::fleet::Fleet;

/// What the server follows.
pub const KINDS: [&str; 1] = ["deploy,rs,pods,cm,svc,jobs"];

/// The state of a container.
enum Container {
    Running,
    /// It waits for this reason, with this message.
    Waiting(&'static str, &'static str),
}

/// The status of a Pod with one container.
fn pod_status(name: &str, container: &Container) -> Value {
    let is_ready = matches!(container, Container::Running);
    let word = if is_ready { "True" } else { "False" };
    let state = match container {
        Container::Running => json!({"running": {"startedAt": "2026-03-02T12:00:00Z"}}),
        Container::Waiting(reason, message) => {
            json!({"waiting": {"reason": reason, "message": message}})
        }
    };
    // A container that has never run has no id, and no log.
    let id = if is_ready {
        format!("{name}#0")
    } else {
        String::new()
    };
    json!({
        "phase": if is_ready { "Running" } else { "Pending" },
        "conditions": [
            {"type": "Ready", "status": word, "reason": "ContainersNotReady"},
            {"type": "ContainersReady", "status": word},
        ],
        "containerStatuses": [{
            "name": "app", "ready": is_ready, "restartCount": 0, "image": "app:1",
            "containerID": id, "state": state, "lastState": {},
        }],
    })
}

/// The status of a Deployment or a `ReplicaSet`, of which so many of `replicas` Pods are ready.
fn workload_status(generation: u32, replicas: u32, ready: u32) -> Value {
    json!({
        "observedGeneration": generation, "replicas": replicas, "updatedReplicas": replicas, "fullyLabeledReplicas": replicas,
        "readyReplicas": ready, "availableReplicas": ready, "unavailableReplicas": replicas - ready,
        "conditions": [
            {"type": "Available", "status": if ready == replicas { "True" } else { "False" }},
            {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"},
        ],
    })
}

fn report(cluster: &Cluster, resource: &str, name: &str, status: &Value) {
    cluster.report(resource, name, status);
}

/// A Pod of an owner, on a node.
fn pod_of(cluster: &Cluster, owner: &Value, name: &str, container: &Container) {
    let mut it = pod(name, &owner["spec"]["selector"]["matchLabels"]);
    it["spec"]["nodeName"] = json!("worker-1");
    it["spec"]["containers"][0]["envFrom"] = json!([{"configMapRef": {"name": "flags"}}]);
    cluster.put(owned_by(it, owner));
    report(cluster, "pods", name, &pod_status(name, container));
}

/// A `ReplicaSet` of a Deployment, of this revision.
fn set_of(cluster: &Cluster, owner: &Value, name: &str, revision: u32) -> Value {
    let mut set = deployment(name, 2);
    set["kind"] = json!("ReplicaSet");
    set["spec"]["selector"] = owner["spec"]["selector"].clone();
    set["spec"]["template"] = owner["spec"]["template"].clone();
    set["metadata"]["labels"] = owner["spec"]["selector"]["matchLabels"].clone();
    let revision = revision.to_string();
    set["metadata"]["annotations"] = json!({"deployment.kubernetes.io/revision": revision});
    cluster.put(owned_by(set, owner))
}

/// A Deployment with its `ReplicaSet` and two running Pods.
fn app(cluster: &Cluster, name: &str) -> Value {
    let app = cluster.put(deployment(name, 2));
    report(cluster, "deployments", name, &workload_status(1, 2, 0));
    let set_name = format!("{name}-7d9f6");
    let set = set_of(cluster, &app, &set_name, 1);
    for end in ["2kx4p", "9vbnq"] {
        let name = format!("{set_name}-{end}");
        pod_of(cluster, &set, &name, &Container::Running);
        cluster
            .sandbox
            .print(&format!("{name}#0"), cluster.now(), b"listening on :8080");
    }
    report(cluster, "replicasets", &set_name, &workload_status(1, 2, 2));
    report(cluster, "deployments", name, &workload_status(1, 2, 2));
    app
}

/// A warning about a Pod.
fn warning(cluster: &Cluster, about: &str, reason: &str, message: &str) {
    let time = cluster.now().to_string();
    let by = Writer::new("kubelet");
    let event = json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": {"name": format!("{about}.{}", reason.to_lowercase()), "namespace": "shop"},
        "involvedObject": {"apiVersion": "v1", "kind": "Pod", "namespace": "shop", "name": about},
        "type": "Warning", "reason": reason, "message": message, "count": 3,
        "firstTimestamp": time, "lastTimestamp": time, "source": {"component": "kubelet"},
    });
    cluster.sandbox.create(event, &by).unwrap();
}

/// A shop: `web` is well, `api` has a rollout whose image does not exist, `cart` is a Pod of its own.
pub async fn shop() -> Cluster {
    let cluster = calm_shop().await;
    roll_out(&cluster);
    cluster.renew();
    cluster
}

/// The clusters `prod-eu` and `prod-us` with the same objects. Only `prod-eu` has the rollout that fails.
pub async fn fleet() -> Fleet {
    Fleet::of(
        vec![shop().await, calm_shop().await],
        &["prod-eu", "prod-us"],
    )
}

/// A shop before that rollout.
async fn calm_shop() -> Cluster {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"limit": "10"})));
    app(&cluster, "web");
    app(&cluster, "api");
    let mut cart = pod("cart", &json!({"app": "cart"}));
    cart["spec"]["nodeName"] = json!("worker-2");
    cluster.put(cart);
    report(
        &cluster,
        "pods",
        "cart",
        &pod_status("cart", &Container::Running),
    );
    cluster.put(json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "api", "namespace": "shop"},
        "spec": {"selector": {"app": "api"}, "ports": [{"port": 80}]},
    }));
    cluster.edit("configmaps", "flags", &json!({"data": {"limit": "25"}}));
    for _ in 0..6 {
        cluster.renew();
        cluster.tick(9);
    }
    cluster
}

/// `api` gets an image that does not exist.
fn roll_out(cluster: &Cluster) {
    let image = json!({"spec": {"template": {"spec": {"containers": [{"name": "app", "image": "shop/api:bad-2"}]}}}});
    cluster.tick(1);
    let by = Writer::new("kubectl-set");
    let target = Target::new("deployments", "shop", "api");
    let api = cluster.sandbox.patch(&target, &image, &by).unwrap();
    let set = set_of(cluster, &api, "api-5f5f7", 2);
    let message = "Back-off pulling image \"shop/api:bad-2\": ErrImagePull: not found";
    pod_of(
        cluster,
        &set,
        "api-5f5f7-db5ch",
        &Container::Waiting("ImagePullBackOff", message),
    );
    warning(
        cluster,
        "api-5f5f7-db5ch",
        "Failed",
        "Error: ImagePullBackOff",
    );
    report(
        cluster,
        "replicasets",
        "api-5f5f7",
        &workload_status(1, 1, 0),
    );
    report(cluster, "deployments", "api", &workload_status(2, 3, 2));
}

/// A Pod fails.
pub fn fail(cluster: &Cluster, name: &str) {
    let status = pod_status(
        name,
        &Container::Waiting("CreateContainerConfigError", "secret \"db\" not found"),
    );
    report(cluster, "pods", name, &status);
}

/// Texts that a page must not obey.
const HOSTILE: [&str; 6] = [
    "<script>window.hacked = 1</script>",
    "\"><img src=x onerror=\"window.hacked = 1\">",
    "'; window.hacked = 1; //",
    "javascript:window.hacked=1",
    "</style></title></svg><svg onload=window.hacked=1>",
    "\u{202e}gnp.exe\u{202c} https://evil.example/?x=<y>&z",
];

/// A cluster in which names, reasons, messages, managers, values and log lines are hostile or very long.
pub async fn hostile() -> Cluster {
    let cluster = Cluster::start().await;
    let long = "x".repeat(253);
    for (number, text) in HOSTILE.iter().enumerate() {
        let mut it = pod(text, &json!({"app": text}));
        it["spec"]["nodeName"] = json!(text);
        cluster.put(it);
        let waiting = json!({"waiting": {"reason": text, "message": format!("{text} {long}")}});
        let mut status = pod_status(text, &Container::Running);
        status["containerStatuses"][0]["state"] = waiting;
        status["phase"] = json!("Pending");
        report(&cluster, "pods", text, &status);
        let name = format!("flags-{number}");
        cluster.put(config_map(&name, &json!({"text": "plain"})));
        cluster.tick(1);
        let by = Writer::new(text);
        let target = Target::new("configmaps", "shop", &name);
        let patch = json!({"data": {"text": text, (*text): long}});
        cluster.sandbox.patch(&target, &patch, &by).unwrap();
    }
    cluster.put(pod(&long, &json!({})));
    fail(&cluster, &long);
    cluster
}

/// Clusters whose contexts have hostile names. Each has a Pod `web` that fails.
pub async fn hostile_contexts() -> Fleet {
    let mut clusters = Vec::new();
    for _ in HOSTILE {
        let cluster = Cluster::start().await;
        cluster.put(pod("web", &json!({})));
        fail(&cluster, "web");
        clusters.push(cluster);
    }
    Fleet::of(clusters, &HOSTILE)
}

/// A Pod and a `ConfigMap`, and a reader `alice` who may list these resources. Her token is her name.
pub async fn shop_of_alice(resources: &[&str]) -> Cluster {
    let cluster = Cluster::start_with(|options| options.users = readers(Some(resources))).await;
    cluster.put(pod("cart", &json!({})));
    cluster.put(config_map("flags", &json!({})));
    cluster
}

/// The server's own user, and `alice`, if the API server knows her.
pub fn readers(of_alice: Option<&[&str]>) -> Vec<User> {
    let user = |name: &str, token: &str, rules: Vec<Rule>| User {
        name: name.to_owned(),
        token: token.to_owned(),
        rules,
    };
    let lists = |resource: &&str| Rule::allow("get,list,watch", resource);
    let alice = of_alice.map(|resources| {
        let rules = resources.iter().map(lists).collect();
        user("alice", "alice", rules)
    });
    let owner = user("owner", "", vec![Rule::everything()]);
    [owner].into_iter().chain(alice).collect()
}

/// So many Pods, of which each hundredth fails.
pub async fn many(pods: usize) -> Cluster {
    let cluster = Cluster::start().await;
    let by = Writer::new("kubectl-create");
    for number in 0..pods {
        let name = format!("web-{number:05}");
        let mut it = pod(&name, &json!({"app": "web"}));
        let container = match number % 100 {
            0 => Container::Waiting("ImagePullBackOff", "no such image"),
            _ => Container::Running,
        };
        it["status"] = pod_status(&name, &container);
        cluster.sandbox.create(it, &by).unwrap();
    }
    cluster.tick(SignedDuration::from_mins(1).as_secs());
    cluster
}
