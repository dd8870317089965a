//! A sandbox for one test, and the program with that sandbox as its server. Both clocks stand still, so that
//! all output is predictable.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;
use kubectl_spy::sandbox::{Deletion, Options, Request, Sandbox, Target, Writer};
use serde_json::{Value, json};

use super::Spy;

/// The start time of the server's clock.
const NOON: &str = "2026-03-02T12:00:00Z";
/// The time of the program's clock.
pub const LATER: &str = "2026-03-02T12:05:00Z";

/// A sandbox with a kubeconfig file. The namespace is `shop`.
pub struct Cluster {
    pub sandbox: Sandbox,
    seconds: Arc<AtomicI64>,
    kubeconfig: PathBuf,
}

impl Cluster {
    pub async fn start() -> Cluster {
        Cluster::start_with(|_| {}).await
    }

    /// Starts a sandbox with changed options.
    pub async fn start_with(change: impl FnOnce(&mut Options)) -> Cluster {
        let noon: Timestamp = NOON.parse().unwrap();
        let seconds = Arc::new(AtomicI64::new(0));
        let passed = seconds.clone();
        let now = move || noon + jiff::SignedDuration::from_secs(passed.load(Ordering::SeqCst));
        let mut options = Options::new(Arc::new(now));
        "shop".clone_into(&mut options.namespace);
        change(&mut options);
        let sandbox = Sandbox::start(options).await.unwrap();
        let name = format!("kubeconfig-{}.json", sandbox.address().port());
        let kubeconfig = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::write(&kubeconfig, sandbox.kubeconfig()).unwrap();
        Cluster {
            sandbox,
            seconds,
            kubeconfig,
        }
    }

    /// The program, whose clock is five minutes after the server's start.
    pub fn spy(&self) -> Spy {
        Spy::with_kubeconfig(self.kubeconfig.to_str().unwrap()).var("KUBECTL_SPY_NOW", LATER)
    }

    /// Advances the server's clock.
    pub fn tick(&self, seconds: i64) {
        self.seconds.fetch_add(seconds, Ordering::SeqCst);
    }

    /// The time of the server's clock.
    pub fn now(&self) -> Timestamp {
        let noon: Timestamp = NOON.parse().unwrap();
        noon + jiff::SignedDuration::from_secs(self.seconds.load(Ordering::SeqCst))
    }

    /// Creates an object. This write and the following ones first advance the clock by a second.
    pub fn put(&self, object: Value) -> Value {
        self.tick(1);
        let by = Writer::new("kubectl-create");
        self.sandbox.create(object, &by).unwrap()
    }

    /// Patches an object of the namespace `shop`, as `kubectl edit` does.
    pub fn edit(&self, resource: &str, name: &str, patch: &Value) -> Value {
        self.edit_at(&Target::new(resource, "shop", name), patch)
    }

    /// Patches an object, as `kubectl edit` does.
    pub fn edit_at(&self, target: &Target, patch: &Value) -> Value {
        self.tick(1);
        let by = Writer::new("kubectl-edit");
        self.sandbox.patch(target, patch, &by).unwrap()
    }

    /// Patches the status of an object of the namespace `shop`, as a controller does.
    pub fn report(&self, resource: &str, name: &str, status: &Value) -> Value {
        self.tick(1);
        let by = Writer::new("kubelet").on("status");
        let target = Target::new(resource, "shop", name);
        let patch = json!({ "status": status });
        self.sandbox.patch(&target, &patch, &by).unwrap()
    }

    /// Deletes an object of the namespace `shop` at once.
    pub fn delete(&self, resource: &str, name: &str) {
        self.tick(1);
        let by = Writer::new("kubectl");
        let target = Target::new(resource, "shop", name);
        self.sandbox
            .delete(&target, Deletion::Immediate, &by)
            .unwrap();
    }

    /// A component of the control plane renews its Lease.
    pub fn renew(&self) {
        self.tick(1);
        let lease = json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"name": "kube-scheduler", "namespace": "kube-system"},
            "spec": {"renewTime": format!("{:.6}", self.now())},
        });
        let by = Writer::new("kube-scheduler");
        self.sandbox.apply(lease, &by).unwrap();
    }

    /// Waits until a watch of this resource is answered. Later writes then arrive through the watch, not
    /// through a listing.
    pub async fn watched(&self, resource: &str) {
        let is_watch = |request: &Request| {
            request.path.contains(&format!("/{resource}?")) && request.path.contains("watch=")
        };
        let watches = |requests: &[Request]| requests.iter().any(is_watch);
        self.sandbox.requests_until(watches).await;
    }
}

/// The server's answers have a `Date` header.
pub fn dated(options: &mut Options) {
    options.date = Some(options.clock.clone());
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _already_gone = fs::remove_file(&self.kubeconfig);
    }
}

/// A `ConfigMap` in `shop`.
pub fn config_map(name: &str, data: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "shop"}, "data": data,
    })
}

/// A Pod in `shop` with one container, and no status yet.
pub fn pod(name: &str, labels: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "labels": labels},
        "spec": {"containers": [{"name": "app", "image": "app:1"}]},
    })
}

/// A Deployment in `shop`.
pub fn deployment(name: &str, replicas: u32) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "app", "image": "app:1"}]},
            },
        },
    })
}

/// The same object with a controller.
pub fn owned_by(mut object: Value, owner: &Value) -> Value {
    object["metadata"]["ownerReferences"] = json!([{
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "controller": true,
        "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"],
    }]);
    object
}
