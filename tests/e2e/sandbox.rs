//! The real kubectl against the embedded API server. Tests on the sandbox are only valid if a client that was
//! not written for it works with it as with a real server.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use kubectl_spy::sandbox::scenario::{self, Scenario};
use serde_json::{Value, json};

use crate::controlplane::built_kubectl;
use crate::support::cluster::Cluster;

/// kubectl with a sandbox as its only server.
struct Kubectl {
    server: String,
}

impl Kubectl {
    fn new(cluster: &Cluster) -> Kubectl {
        Kubectl {
            server: format!("--server={}", cluster.sandbox.url()),
        }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(built_kubectl());
        command
            .arg(&self.server)
            .args(args)
            .env_clear()
            .env("KUBECONFIG", "/dev/null")
            .env("HOME", env!("CARGO_TARGET_TMPDIR"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs kubectl to a success; returns stdout.
    fn run(&self, args: &[&str]) -> String {
        let output = self.command(args).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "kubectl {args:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs kubectl to an error; returns stderr.
    fn refused(&self, args: &[&str]) -> String {
        let output = self.command(args).output().unwrap();
        assert!(!output.status.success(), "kubectl {args:?} succeeded");
        String::from_utf8(output.stderr).unwrap()
    }
}

fn scenario(name: &str) -> Scenario {
    let mut all = scenario::all().into_iter();
    all.find(|scenario| scenario.name == name).unwrap()
}

/// The first column of a table, without its header.
fn names(table: &str) -> Vec<&str> {
    let rows = table.lines().skip(1);
    rows.filter_map(|row| row.split_whitespace().next())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_lists_the_objects_of_a_scenario() {
    let cluster = Cluster::start().await;
    scenario::play_at_once(&cluster.sandbox, &scenario("rollout")).unwrap();
    let kubectl = Kubectl::new(&cluster);

    let table = kubectl.run(&["get", "deploy,rs,svc", "-n", "shop"]);
    for heading in ["UP-TO-DATE", "DESIRED", "CLUSTER-IP"] {
        assert!(table.contains(heading), "{table}");
    }
    let pods = kubectl.run(&["get", "pods", "-n", "shop"]);
    let list: Value =
        serde_json::from_str(&kubectl.run(&["get", "pods", "-n", "shop", "-o", "json"])).unwrap();
    let items = list["items"].as_array().unwrap();
    assert!(!items.is_empty());
    let listed: Vec<&str> = items
        .iter()
        .map(|pod| pod["metadata"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names(&pods), listed);
    let one = format!("pod/{}", listed[0]);
    assert_eq!(
        kubectl
            .run(&["get", &one, "-n", "shop", "-o", "name"])
            .trim(),
        one
    );
    let described = kubectl.run(&["describe", &one, "-n", "shop"]);
    assert!(described.contains("Controlled By:"), "{described}");
}

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_can_discover_and_select_and_prints_errors() {
    let cluster = Cluster::start().await;
    let kubectl = Kubectl::new(&cluster);
    // For a missing object, kubectl also checks whether its namespace exists.
    cluster.put(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}));
    for (name, tier) in [("a", "web"), ("b", "web"), ("c", "db")] {
        cluster.put(json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": "shop", "labels": {"tier": tier}},
        }));
    }
    let resources = kubectl.run(&["api-resources", "--api-group=apps", "-o", "name"]);
    assert!(
        resources.lines().any(|line| line == "deployments.apps"),
        "{resources}"
    );
    let get = |selector: &str| kubectl.run(&["get", "cm", "-n", "shop", selector, "-o", "name"]);
    assert_eq!(
        get("--selector=tier in (web)"),
        "configmap/a\nconfigmap/b\n"
    );
    assert_eq!(get("--field-selector=metadata.name=c"), "configmap/c\n");
    // Pages of one item each.
    assert_eq!(
        get("--chunk-size=1"),
        "configmap/a\nconfigmap/b\nconfigmap/c\n"
    );
    assert_eq!(
        kubectl.refused(&["get", "cm", "d", "-n", "shop"]),
        "Error from server (NotFound): configmaps \"d\" not found\n"
    );
    assert!(
        kubectl
            .refused(&["get", "widgets"])
            .contains("the server doesn't have a resource type \"widgets\"")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_watches() {
    let cluster = Cluster::start().await;
    cluster.put(json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "app", "namespace": "shop"}, "data": {"a": "1"},
    }));
    let kubectl = Kubectl::new(&cluster);
    let args = ["get", "cm", "-n", "shop", "-w", "--output-watch-events"];
    let mut child = kubectl.command(&args).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    let words = |line: String| {
        let words = line.split_whitespace().take(3);
        words.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(words(next()), "EVENT NAME DATA");
    assert_eq!(words(next()), "ADDED app 1");
    // kubectl lists, prints, and then watches from the version of the listing, so that no change is lost.
    cluster.edit("configmaps", "app", &json!({"data": {"b": "2"}}));
    assert_eq!(words(next()), "MODIFIED app 2");
    child.kill().unwrap();
    child.wait().unwrap();
}
