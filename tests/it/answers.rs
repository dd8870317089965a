//! What a command is about, and whether its question is answered: what it prints and with which code it exits
//! when a look-back is refused or out of time, and when a server is lost or never answers.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use super::support::Ran;
use super::support::cluster::{Cluster, config_map, pod};

fn code(ran: &Ran) -> Option<i32> {
    ran.status.code()
}

/// A `ConfigMap` of four versions.
async fn edited() -> Cluster {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"mode": "a"})));
    for mode in ["b", "c", "d"] {
        cluster.edit("configmaps", "flags", &json!({"data": {"mode": mode}}));
    }
    cluster
}

#[tokio::test(flavor = "multi_thread")]
async fn manifests_name_the_objects_of_a_look_back() {
    let cluster = edited().await;
    cluster.put(config_map("other", &json!({})));
    let mut team = config_map("flags", &json!({"mode": "x"}));
    team["metadata"]["namespace"] = json!("team");
    cluster.put(team.clone());
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("look-back-at.json");
    fs::write(&path, team.to_string()).unwrap();
    let file = path.to_str().unwrap();
    for since in ["--since=10m", "--since=all", "--since-rv=1"] {
        let args = ["changes", "-f", file, since, "--once", "--exit-code"];
        let ran = cluster.spy().run(&args);
        assert_eq!(code(&ran), Some(1), "{since}: {}", ran.transcript());
        assert!(
            ran.stdout.contains("CREATED configmap/flags"),
            "{since}: {}",
            ran.stdout
        );
        for foreign in ["other", "mode: a", "pods"] {
            assert!(!ran.stdout.contains(foreign), "{since}: {}", ran.stdout);
        }
    }
    let both = ["changes", "cm", "-f", file, "--since=all"];
    let refused = cluster.spy().run(&both);
    assert!(
        refused.stderr.contains("may not specify a resource"),
        "{}",
        refused.stderr
    );
    fs::remove_file(&path).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_selector_alone_selects_among_every_kind() {
    let cluster = Cluster::start().await;
    cluster.put(pod("web", &json!({"app": "web"})));
    cluster.put(pod("db", &json!({"app": "db"})));
    let args = [
        "changes",
        "-l",
        "app=web",
        "--since=all",
        "--once",
        "-o=name",
    ];
    let ran = cluster.spy().run(&args);
    assert_eq!((code(&ran), &*ran.stdout), (Some(0), "pod/web\n"));
}
