//! Tests of `record` of several clusters.

use std::fs;

use kubectl_spy::sandbox::{Kind, Rule, User};
use serde_json::{Value, json};

use super::super::record::{Folder, wait_for};
use super::super::support::cluster::{Cluster, config_map};
use super::super::support::{Ran, Running, Spy};
use super::Fleet;

const ARGS: [&str; 4] = ["record", "cm", "--contexts", "prod-*"];

/// A line about each cluster.
const BOTH: [&str; 2] = ["recording prod-eu in", "recording prod-us in"];

fn spy(fleet: &Fleet, folder: &Folder) -> Spy {
    fleet.spy().var("KUBECTL_SPY_STORE", folder.path())
}

fn start(fleet: &Fleet, folder: &Folder) -> Running {
    spy(fleet, folder).start(&ARGS)
}

/// Two clusters with an object each, whose names differ, and the record of them.
async fn fleet() -> (Fleet, Folder) {
    let fleet = Fleet::start().await;
    fleet.put_in(0, config_map("west", &json!({"mode": "a"})));
    fleet.put_in(1, config_map("east", &json!({"mode": "a"})));
    let folder = Folder::of(&fleet.clusters[0]);
    (fleet, folder)
}

/// Writes to the object of the second cluster.
fn turn(fleet: &Fleet, mode: &str) {
    fleet.clusters[1].edit("configmaps", "east", &json!({"data": {"mode": mode}}));
}

/// What `store ls` prints.
fn listed(fleet: &Fleet, folder: &Folder) -> Ran {
    spy(fleet, folder).run(&["store", "ls"])
}

/// The names of the clusters that it lists.
fn names(listed: &Ran) -> Vec<&str> {
    let rows = listed.stdout.lines().skip(1);
    let rows = rows.filter(|row| !row.starts_with(' '));
    let mut names: Vec<&str> = rows.filter_map(|row| row.split(' ').next()).collect();
    names.sort_unstable();
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn each_cluster_has_a_record_of_its_own() {
    let (fleet, folder) = fleet().await;
    let mut run = start(&fleet, &folder);
    run.until_each(&BOTH);
    wait_for(&folder, "west 2 Listed");
    wait_for(&folder, "east 2 Listed");
    let ran = run.interrupt();
    let end = ran.stderr.lines().last().unwrap_or_default();
    assert!(end.contains("recorded 2 objects, 2 versions, "), "{end}");
    assert!(end.contains(" in 2 files, 0 gaps"), "{end}");
    let listed = listed(&fleet, &folder);
    assert_eq!(names(&listed), ["prod-eu", "prod-us"]);
    // Each cluster is read from its own record.
    let args = ["status", "cm", "--from", folder.path(), "-n", "shop"];
    for (context, has, lacks) in [("prod-eu", "west", "east"), ("prod-us", "east", "west")] {
        let ran = fleet
            .spy()
            .run(&[&args[..], &["--context", context]].concat());
        assert!(ran.stdout.contains(has), "{}", ran.transcript());
        assert!(!ran.stdout.contains(lacks), "{}", ran.transcript());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recorder_of_several_clusters_resumes_in_each() {
    let (fleet, folder) = fleet().await;
    let mut run = start(&fleet, &folder);
    run.until_each(&BOTH);
    wait_for(&folder, "west 2 Listed");
    wait_for(&folder, "east 2 Listed");
    run.signal("KILL");
    // Nobody records this, but the servers remember.
    turn(&fleet, "b");
    for place in [0, 1] {
        fleet.put_in(place, config_map("short", &json!({})));
        fleet.clusters[place].delete("configmaps", "short");
    }
    let mut run = start(&fleet, &folder);
    run.until_each(&BOTH);
    for row in ["short 4 Deleted", "east 3 Modified", "short 5 Deleted"] {
        wait_for(&folder, row);
    }
    run.interrupt();
    let listed = listed(&fleet, &folder);
    assert_eq!(names(&listed), ["prod-eu", "prod-us"]);
    assert!(!listed.stdout.contains("missing"), "{}", listed.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_is_away_at_the_start_is_recorded_later() {
    let (mut fleet, folder) = fleet().await;
    fleet.clusters[1].sandbox.stop().await;
    let mut run = start(&fleet, &folder);
    run.until_each(&[
        "prod-us: The connection to the server",
        "recording prod-eu in",
    ]);
    wait_for(&folder, "west 2 Listed");
    fleet.clusters[1].sandbox.restart().await.unwrap();
    run.until("recording prod-us in");
    wait_for(&folder, "east 2 Listed");
    turn(&fleet, "b");
    wait_for(&folder, "east 3 Modified");
    run.interrupt();
    assert_eq!(names(&listed(&fleet, &folder)), ["prod-eu", "prod-us"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_dies_leaves_a_hole_in_its_record_alone() {
    let (mut fleet, folder) = fleet().await;
    let mut run = start(&fleet, &folder);
    run.until_each(&BOTH);
    wait_for(&folder, "west 2 Listed");
    wait_for(&folder, "east 2 Listed");
    fleet.clusters[1].sandbox.stop().await;
    run.until("prod-us: retrying");
    turn(&fleet, "b");
    turn(&fleet, "c");
    let sandbox = &mut fleet.clusters[1].sandbox;
    sandbox.compact(sandbox.revision());
    sandbox.expire_watch_window();
    // The other cluster is recorded meanwhile.
    fleet.put_in(0, config_map("meanwhile", &json!({})));
    wait_for(&folder, "meanwhile 3 Added");
    fleet.clusters[1].sandbox.restart().await.unwrap();
    run.until("prod-us: live");
    wait_for(&folder, "east 4 Skipped");
    run.interrupt();
    let listed = listed(&fleet, &folder);
    let holes: Vec<&str> = listed.stdout.lines().collect();
    let at = |text: &str| holes.iter().position(|line| line.contains(text));
    assert_eq!(
        listed.stdout.matches("versions may be missing").count(),
        1,
        "{}",
        listed.stdout
    );
    let below = at("prod-us").map(|row| row + 1);
    assert_eq!(at("versions may be missing"), below, "{}", listed.stdout);
}

/// Its record would have another id, because its Namespaces cannot be read.
#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_refuses_the_credentials_has_no_record() {
    let (fleet, folder) = fleet().await;
    let admin = User {
        name: "admin".to_owned(),
        token: "of-another".to_owned(),
        rules: vec![Rule::allow("*", "*")],
    };
    fleet.clusters[1].sandbox.set_users(vec![admin]);
    let mut run = start(&fleet, &folder);
    run.until_each(&[
        "prod-us: error: You must be logged in to the server",
        "recording prod-eu in",
    ]);
    wait_for(&folder, "west 2 Listed");
    run.interrupt();
    assert_eq!(names(&listed(&fleet, &folder)), ["prod-eu"]);
}

/// Adds a context for the first cluster, with another user.
fn add_context(fleet: &Fleet, name: &str, namespace: &str) {
    let path = &fleet.kubeconfig;
    let mut config: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let context = json!({"cluster": "prod-eu", "user": "of-prod-us", "namespace": namespace});
    let contexts = config["contexts"].as_array_mut().unwrap();
    contexts.push(json!({"name": name, "context": context}));
    fs::write(path, config.to_string()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_with_two_contexts_is_recorded_once() {
    let (fleet, folder) = fleet().await;
    let system =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system"}});
    fleet.clusters[0].put(system);
    add_context(&fleet, "prod-again", "shop");
    let mut run = start(&fleet, &folder);
    run.until_each(&["the same cluster as prod-", "recording prod-us in"]);
    wait_for(&folder, "west 2 Listed");
    wait_for(&folder, "east 2 Listed");
    let ran = run.interrupt();
    assert!(
        ran.stderr.contains("recorded 2 objects, "),
        "{}",
        ran.stderr
    );
    assert_eq!(names(&listed(&fleet, &folder)).len(), 2);
    // Another namespace of the same cluster is no repetition.
    add_context(&fleet, "prod-web", "web");
    let mut elsewhere = config_map("elsewhere", &json!({}));
    elsewhere["metadata"]["namespace"] = json!("web");
    fleet.put_in(0, elsewhere);
    let mut run = start(&fleet, &folder);
    run.until_each(&["the same cluster as prod-", "recording prod-web in"]);
    wait_for(&folder, "elsewhere 4 Listed");
    let ran = run.interrupt();
    assert!(
        ran.stderr.contains("recorded 3 objects, "),
        "{}",
        ran.stderr
    );
    assert_eq!(names(&listed(&fleet, &folder)).len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_without_a_kind_to_redact_is_not_recorded() {
    let with_widgets = Cluster::start_with(|options| {
        let kind = Kind::custom("example.com", "v1", "Widget", "widgets");
        options.kinds.push(kind);
    });
    let clusters = vec![with_widgets.await, Cluster::start().await];
    let fleet = Fleet::of(clusters, &["prod-eu", "prod-us"]);
    let folder = Folder::of(&fleet.clusters[0]);
    let args = ["record", "--contexts", "prod-*", "--redact"];
    let mut run = spy(&fleet, &folder).start(&[&args[..], &["widget .spec.token"]].concat());
    run.until_each(&[
        "recording prod-eu in",
        "prod-us: error: --redact \"widget .spec.token\": no recorded kind is widget",
    ]);
    run.interrupt();
    assert_eq!(names(&listed(&fleet, &folder)), ["prod-eu"]);
    // What is wrong everywhere ends the command.
    let ran = spy(&fleet, &folder).run(&[&args[..], &["cm .data["]].concat());
    assert_eq!(ran.status.code(), Some(1), "{}", ran.transcript());
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn the_footer_of_a_recording_counts_all_clusters() {
    let (mut fleet, folder) = fleet().await;
    let mut terminal = spy(&fleet, &folder).on_terminal((100, 20), &ARGS);
    terminal.until_shown("both clusters", |shown| {
        shown.contains("2 objects  2 versions  ") && shown.contains("● live 2 of 2 clusters")
    });
    fleet.clusters[1].sandbox.stop().await;
    terminal.until_shown("the lost cluster", |shown| {
        shown.contains("✗ prod-us: connection refused (retrying, ")
            && shown.contains("● live 1 of 2 clusters")
            && shown.contains("2 objects  2 versions  ")
    });
    terminal.type_in(b"q");
    assert!(terminal.finish().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recorder_of_nothing_in_any_cluster_is_an_error() {
    let (fleet, folder) = fleet().await;
    let args = ["record", "secret", "--exclude-secrets"];
    let ran = spy(&fleet, &folder).run(&[&args[..], &["--contexts", "prod-*"]].concat());
    assert_eq!(ran.status.code(), Some(1), "{}", ran.transcript());
    assert!(
        ran.stderr.contains("error: nothing to record"),
        "{}",
        ran.transcript()
    );
}
