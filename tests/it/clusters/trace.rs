//! Tests of `trace` of several clusters: a tree for each, under the name of the cluster.

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::super::support::cluster::config_map;
use super::{Fleet, failing, ready};

/// The time at which the tests ask how it was.
const THEN: &str = "2026-03-02T12:01:00Z";

/// A Pod that is ready in the first cluster, and failing in the second.
async fn fleet() -> Fleet {
    let fleet = Fleet::start().await;
    fleet.put_in(0, ready("web"));
    fleet.put_in(1, failing("web"));
    fleet
}

#[tokio::test(flavor = "multi_thread")]
async fn each_cluster_has_a_tree_under_its_name() {
    let fleet = fleet().await;
    let ran = fleet.run(&["trace", "pod/web", "--once"]);
    assert_eq!(ran.status.code(), Some(0), "{}", ran.transcript());
    assert_snapshot!(ran.transcript(), @"
    cluster prod-eu
    pod/web  -n shop  1/1 ready
    ● Pod is Ready   4m59s
    └─ in front
      └─ Standalone: no controller replaces it

    cluster prod-us
    pod/web  -n shop  0/1 ready
    ✗ Containers waiting: app (ImagePullBackOff)   4m59s
    └ app: no such image
    └─ in front
      └─ Standalone: no controller replaces it
    ");
    let json = fleet.run(&["trace", "pod/web", "--once", "-o", "json"]);
    let records: Vec<Value> = json
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let clusters: Vec<Vec<&str>> = records
        .iter()
        .map(|record| {
            let nodes = record["nodes"].as_array().unwrap().iter();
            nodes
                .filter_map(|node| node["ref"]["cluster"].as_str())
                .collect()
        })
        .collect();
    assert_eq!(
        clusters,
        [["prod-eu"], ["prod-us"]],
        "{}",
        json.transcript()
    );
    let dot = fleet.run(&["trace", "pod/web", "-o", "dot"]);
    let comments: Vec<&str> = dot
        .stdout
        .lines()
        .filter(|line| line.starts_with("//"))
        .collect();
    assert_eq!(comments, ["// cluster: prod-eu", "// cluster: prod-us"]);
    let mermaid = fleet.run(&["trace", "pod/web", "-o", "mermaid"]);
    assert!(
        mermaid
            .stdout
            .starts_with("%% cluster: prod-eu\nflowchart LR"),
        "{}",
        mermaid.stdout
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_is_an_error_only_if_no_cluster_has_it() {
    let fleet = fleet().await;
    fleet.put_in(1, config_map("only", &json!({})));
    let ran = fleet.run(&["trace", "cm/only", "--once"]);
    assert_eq!(ran.status.code(), Some(0), "{}", ran.transcript());
    assert_snapshot!(ran.transcript(), @"
    cluster prod-eu
    configmap/only not found

    cluster prod-us
    configmap/only  -n shop
    ● Resource is always ready   4m58s
    looked through 1 pod
    ");
    let ran = fleet.run(&["trace", "cm/none", "--once"]);
    assert_eq!(ran.status.code(), Some(1), "{}", ran.transcript());
    assert_snapshot!(ran.transcript(), @r#"
    ! prod-eu: Error from server (NotFound): configmaps "none" not found
    ! prod-us: Error from server (NotFound): configmaps "none" not found
    ! hint: to wait until it is created, drop --once
    "#);
    // The same of types and selectors: they are resolved in each cluster.
    let ran = fleet.run(&["trace", "cm", "--once"]);
    assert_eq!(ran.status.code(), Some(0), "{}", ran.transcript());
    assert_snapshot!(ran.stdout.lines().take(2).collect::<Vec<_>>().join("\n"), @r#"cluster prod-eu  no object matches in namespace "shop""#);
    let ran = fleet.run(&["trace", "svc", "--once"]);
    assert_eq!(ran.status.code(), Some(1), "{}", ran.transcript());
    assert_snapshot!(ran.transcript(), @r#"
    cluster prod-eu  no object matches in namespace "shop"

    cluster prod-us  no object matches in namespace "shop"
    ! prod-eu: error: no object matches in namespace "shop"
    ! prod-us: error: no object matches in namespace "shop"
    ! hint: to wait until an object is created, name it: trace TYPE/NAME
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_is_away_joins_later_and_one_that_is_lost_goes_on() {
    let mut fleet = fleet().await;
    fleet.clusters[1].sandbox.stop().await;
    let mut run = fleet.spy().start(&["trace", "pod/web", "--all-contexts"]);
    run.until_each(&[
        "prod-eu pod/web Current",
        "prod-us: The connection to the server",
    ]);
    fleet.clusters[1].sandbox.restart().await.unwrap();
    run.until("prod-us pod/web Failed");
    fleet.clusters[0].sandbox.stop().await;
    run.until("prod-eu: retrying");
    fleet.clusters[0].sandbox.restart().await.unwrap();
    run.until("prod-eu: live");
    run.interrupt();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_does_not_answer_is_an_error_after_the_trees_of_the_others() {
    let mut fleet = fleet().await;
    fleet.clusters[1].sandbox.stop().await;
    let ran = fleet.run(&["trace", "pod/web", "--once"]);
    assert_eq!(ran.status.code(), Some(1), "{}", ran.transcript());
    assert!(
        ran.stdout.starts_with("cluster prod-eu\npod/web"),
        "{}",
        ran.transcript()
    );
    let error = "prod-us: The connection to the server";
    assert!(ran.stderr.contains(error), "{}", ran.transcript());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_goal_is_for_the_object_of_each_cluster() {
    let mut fleet = Fleet::start().await;
    fleet.put(&ready("web"));
    let goal = ["trace", "pod/web", "--for=current", "--timeout=30s"];
    let ran = fleet.run(&goal);
    assert_eq!(ran.status.code(), Some(0), "{}", ran.transcript());
    assert_eq!(
        ran.stderr.matches("condition met").count(),
        2,
        "{}",
        ran.transcript()
    );
    // Nothing is known of a cluster that is away.
    fleet.clusters[1].sandbox.stop().await;
    let ran = fleet.run(&["trace", "pod/web", "--for=current", "--timeout=3s"]);
    assert_eq!(ran.status.code(), Some(1), "{}", ran.transcript());
    assert!(
        ran.stderr.contains("cluster prod-us: not read"),
        "{}",
        ran.transcript()
    );
    fleet.clusters[1].sandbox.restart().await.unwrap();
    // A failure in one cluster ends the wait in all.
    fleet.put_in(1, failing("bad"));
    fleet.put_in(0, ready("bad"));
    let ran = fleet.run(&["trace", "pod/bad", "--for=current", "--timeout=30s"]);
    assert_eq!(ran.status.code(), Some(2), "{}", ran.transcript());
    // No object is no success.
    let ran = fleet.run(&["trace", "svc", "--for=current", "--timeout=30s"]);
    assert_eq!(ran.status.code(), Some(1), "{}", ran.transcript());
    let nothing = "prod-us: error: no object matches in namespace \"shop\"";
    assert!(ran.stderr.contains(nothing), "{}", ran.transcript());
}

#[tokio::test(flavor = "multi_thread")]
async fn each_cluster_is_traced_as_it_was() {
    let fleet = Fleet::start().await;
    fleet.put(&ready("web"));
    for cluster in &fleet.clusters {
        for _ in 0..9 {
            cluster.renew();
            cluster.tick(9);
        }
    }
    fleet.clusters[1].report("pods", "web", &failing("web")["status"]);
    for cluster in &fleet.clusters {
        cluster.renew();
    }
    let now = fleet.run(&["trace", "pod/web", "--once"]);
    assert!(
        now.stdout.contains("ImagePullBackOff"),
        "{}",
        now.transcript()
    );
    let then = fleet.run(&["trace", "pod/web", "--at", THEN]);
    assert_eq!(then.status.code(), Some(0), "{}", then.transcript());
    assert!(
        !then.stdout.contains("ImagePullBackOff"),
        "{}",
        then.transcript()
    );
    for name in ["prod-eu", "prod-us"] {
        let heading = format!("cluster {name}\npod/web");
        assert!(then.stdout.contains(&heading), "{}", then.transcript());
        let note = format!("{name}: everything as it was at {THEN}, or up to ");
        assert!(then.stderr.contains(&note), "{}", then.transcript());
    }
    let sandbox = &fleet.clusters[1].sandbox;
    sandbox.compact(sandbox.revision());
    sandbox.expire_watch_window();
    let then = fleet.run(&["trace", "pod/web", "--at", THEN]);
    assert_eq!(then.status.code(), Some(1), "{}", then.transcript());
    assert!(
        then.stdout.starts_with("cluster prod-eu\npod/web"),
        "{}",
        then.transcript()
    );
    let error = format!("prod-us: error: the server has forgotten what was at {THEN}");
    assert!(then.stderr.contains(&error), "{}", then.transcript());
}
