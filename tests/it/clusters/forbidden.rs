//! Tests of a cluster that forbids everything, alone and beside a cluster that does not answer.

use kubectl_spy::sandbox::{Rule, User};

use super::super::support::cluster::{Cluster, config_map};
use super::{Fleet, ready};

/// A cluster to read, one that lets nobody read what the tests show, and one that does not answer.
async fn fleet() -> Fleet {
    let clusters = vec![
        Cluster::start().await,
        Cluster::start().await,
        Cluster::start().await,
    ];
    let mut fleet = Fleet::of(clusters, &["prod-eu", "prod-us", "prod-dead"]);
    fleet.put_in(0, ready("a"));
    fleet.put_in(0, config_map("flags", &serde_json::json!({"mode": "a"})));
    fleet.clusters[1].sandbox.set_users(vec![User {
        name: "nobody".to_owned(),
        token: String::new(),
        rules: vec![Rule::allow("*", "leases")],
    }]);
    fleet.clusters[2].sandbox.stop().await;
    fleet
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_cluster_hides_no_cluster_that_forbids_everything() {
    let fleet = fleet().await;
    for args in [
        &["status", "pods", "--once"][..],
        &["status", "pod/a", "--once"],
        &["changes", "pod/a", "--once"],
        &["trace", "pod/a", "--once"],
        &["logs", "pod/a"],
        &["status", "--unhealthy", "--once"],
        &["changes", "--since", "1m", "--once"],
    ] {
        let ran = fleet.run(args);
        assert_eq!(ran.status.code(), Some(1), "{args:?} {}", ran.transcript());
        let lines = || ran.stderr.lines();
        let is_dead = |line: &str| line.starts_with("prod-dead: The connection");
        assert!(lines().any(is_dead), "{args:?} {}", ran.transcript());
        let refused: Vec<&str> = lines()
            .filter(|line| line.starts_with("prod-us: "))
            .collect();
        assert_eq!(refused.len(), 1, "{args:?} {}", ran.transcript());
        let is_forbidden = refused[0].contains("Error from server (Forbidden)");
        assert!(is_forbidden, "{args:?} {}", ran.transcript());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_view_of_every_kind_fails_if_a_cluster_forbids_everything() {
    let fleet = fleet().await;
    for args in [
        &["status", "--unhealthy", "--once"][..],
        &["changes", "--since", "1m", "--once"],
    ] {
        let args = [args, &["--contexts", "prod-eu,prod-us"]].concat();
        let ran = fleet.spy().run(&args);
        assert_eq!(ran.status.code(), Some(1), "{args:?} {}", ran.transcript());
        let is_error =
            |line: &&str| line.starts_with("prod-us: not read: Error from server (Forbidden)");
        let count = ran.stderr.lines().filter(is_error).count();
        assert_eq!(count, 1, "{args:?} {}", ran.transcript());
    }
}
