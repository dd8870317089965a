//! Several sandboxes for one test, and one kubeconfig with a context for each.

use std::fs;
use std::path::PathBuf;

use kubectl_spy::sandbox::{Kind, Target, Writer};
use serde_json::{Value, json};

use super::cluster::{Cluster, LATER};
use super::{Ran, Spy};

/// Several clusters, the first of which is the current context.
pub struct Fleet {
    pub clusters: Vec<Cluster>,
    pub kubeconfig: PathBuf,
}

impl Fleet {
    /// The clusters `prod-eu` and `prod-us`.
    pub async fn start() -> Fleet {
        let clusters = vec![Cluster::start().await, Cluster::start().await];
        Fleet::of(clusters, &["prod-eu", "prod-us"])
    }

    /// The same clusters. Only the first one serves widgets.
    pub async fn with_widgets_in_one() -> Fleet {
        let with_widgets = Cluster::start_with(|options| {
            let kind = Kind::custom("example.com", "v1", "Widget", "widgets");
            options.kinds.push(kind);
        })
        .await;
        let clusters = vec![with_widgets, Cluster::start().await];
        Fleet::of(clusters, &["prod-eu", "prod-us"])
    }

    /// Clusters with these contexts, all of the namespace `shop`.
    pub fn of(clusters: Vec<Cluster>, names: &[&str]) -> Fleet {
        let urls = clusters.iter().map(|cluster| cluster.sandbox.url());
        let contexts: Vec<(&str, String)> = names.iter().copied().zip(urls).collect();
        let port = clusters[0].sandbox.address().port();
        let kubeconfig = kubeconfig(&format!("fleet-{port}"), &contexts, &json!({}));
        Fleet {
            clusters,
            kubeconfig,
        }
    }

    pub fn spy(&self) -> Spy {
        let path = self.kubeconfig.to_str().unwrap();
        Spy::with_kubeconfig(path).var("KUBECTL_SPY_NOW", LATER)
    }

    /// Runs a command line in all clusters of `prod-*`.
    pub fn run(&self, args: &[&str]) -> Ran {
        self.spy().run(&[args, &["--contexts", "prod-*"]].concat())
    }

    /// Writes an object in all clusters.
    pub fn put(&self, object: &Value) {
        for place in 0..self.clusters.len() {
            self.put_in(place, object.clone());
        }
    }

    /// Writes an object in one cluster, and then its status.
    pub fn put_in(&self, place: usize, mut object: Value) {
        let status = object["status"].take();
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        let namespace = object["metadata"]["namespace"].as_str().unwrap().to_owned();
        let cluster = &self.clusters[place];
        cluster.put(object);
        if !status.is_null() {
            let target = Target::new("pods", &namespace, &name);
            let by = Writer::new("kubelet").on("status");
            let patch = json!({"status": status});
            cluster.sandbox.patch(&target, &patch, &by).unwrap();
        }
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        let _already_gone = fs::remove_file(&self.kubeconfig);
    }
}

/// Writes a kubeconfig with these contexts and servers, and one user for all.
pub fn kubeconfig(name: &str, contexts: &[(&str, String)], user: &Value) -> PathBuf {
    let cluster = |(name, url): &(&str, String)| {
        let is_tls = url.starts_with("https");
        json!({"name": name, "cluster": {"server": url, "insecure-skip-tls-verify": is_tls}})
    };
    let context = |(name, _): &(&str, String)| {
        let context = json!({"cluster": name, "user": format!("of-{name}"), "namespace": "shop"});
        json!({"name": name, "context": context})
    };
    let login =
        |(name, _): &(&str, String)| json!({"name": format!("of-{name}"), "user": user.clone()});
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": contexts[0].0,
        "clusters": contexts.iter().map(cluster).collect::<Vec<_>>(),
        "contexts": contexts.iter().map(context).collect::<Vec<_>>(),
        "users": contexts.iter().map(login).collect::<Vec<_>>(),
    });
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, config.to_string()).unwrap();
    path
}
