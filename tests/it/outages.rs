//! Tests of what the verbs print while the API server of one cluster is away.

use super::record::Folder;
use super::support::cluster::{Cluster, config_map, deployment, pod};
use super::support::{Ran, Running};
use serde_json::{Value, json};

const KINDS: [&str; 5] = [
    "configmaps",
    "deployments",
    "pods",
    "secrets",
    "serviceaccounts",
];

/// A cluster with an object of some kinds.
async fn cluster() -> Cluster {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({})));
    cluster.put(deployment("web", 1));
    cluster.put(pod("a", &json!({})));
    cluster
}

/// What a verb prints that follows these kinds while the server goes and comes back.
async fn interrupted(cluster: &mut Cluster, mut run: Running) -> Ran {
    for kind in KINDS {
        cluster.watched(kind).await;
    }
    cluster.sandbox.stop().await;
    run.until("retrying: ");
    cluster.sandbox.restart().await.unwrap();
    run.until(": live");
    run.interrupt()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_of_many_kinds_is_one_line() {
    let kinds = KINDS.join(",");
    for args in [
        &["record", &*kinds][..],
        &["status", &kinds],
        &["changes", &kinds, "--since=0"],
        &["serve", &kinds, "--listen=127.0.0.1:0"],
    ] {
        let mut cluster = cluster().await;
        let folder = Folder::of(&cluster);
        let run = folder.spy(&cluster).start(args);
        let ran = interrupted(&mut cluster, run).await;
        let of_state = |state: &str| {
            let lines = ran.stderr.lines().filter(|line| line.contains(state));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        let (away, back) = (of_state("retrying"), of_state(": live"));
        assert_eq!((away.len(), back.len()), (1, 1), "{}", ran.transcript());
        let words = "demo: retrying: ";
        assert!(away[0].starts_with(words), "{}", ran.transcript());
        assert!(away[0].contains(" sources: The connection to the server "));
        assert!(back[0].starts_with("demo: live: "), "{}", ran.transcript());
    }
}

/// Programs read the state of each source.
#[tokio::test(flavor = "multi_thread")]
async fn in_records_each_source_keeps_its_states() {
    let mut cluster = cluster().await;
    let kinds = KINDS.join(",");
    let args = ["changes", &*kinds, "--since=0", "-o=json"];
    let mut run = cluster.spy().start(&args);
    for kind in KINDS {
        cluster.watched(kind).await;
    }
    cluster.sandbox.stop().await;
    let of = |state: &str| {
        let state = format!("\"state\":\"{state}\"");
        move |line: &str| line.contains(&state)
    };
    for _ in KINDS {
        run.until_where("a lost source", of("retrying"));
    }
    cluster.sandbox.restart().await.unwrap();
    for _ in KINDS {
        run.until_where("a live source", of("live"));
    }
    let ran = run.interrupt();
    assert_eq!(ran.stderr, "");
    let records = ran.stdout.lines().map(serde_json::from_str::<Value>);
    let mut live: Vec<String> = records
        .map(Result::unwrap)
        .filter(|record| record["state"] == "live")
        .map(|record| record["source"].as_str().unwrap().to_owned())
        .collect();
    live.sort_unstable();
    live.dedup();
    assert_eq!(live.len(), KINDS.len(), "{}", ran.transcript());
}
