//! `serve` over several clusters.

use std::net::TcpListener;
use std::path::PathBuf;

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::super::serve::{Reply, Sent, Served};
use super::super::serve_kube_api::{names, status};
use super::super::webhooks::Hook;
use super::{Fleet, failing, kubeconfig, ready};
use crate::support::Spy;
use crate::support::cluster::{Cluster, config_map};

/// Serves Pods of both clusters: `web` fails in `prod-us`, and `api` is only there.
async fn fleet() -> Fleet {
    let fleet = Fleet::start().await;
    fleet.put_in(0, ready("web"));
    fleet.put_in(1, failing("web"));
    fleet.put_in(1, ready("api"));
    fleet
}

fn serve(fleet: &Fleet, args: &[&str]) -> Served {
    Served::start(&fleet.spy(), &[args, &["--contexts", "prod-*"]].concat())
}

/// `CLUSTER KIND/NAME STATUS` of each record.
fn rows(reply: &Reply) -> String {
    assert_eq!(reply.code, 200, "{}", reply.body);
    let row = |line: &str| {
        let record: Value = serde_json::from_str(line).unwrap();
        let object = &record["ref"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        format!(
            "{} {}/{} {}",
            text(&object["cluster"]),
            text(&object["kind"]),
            text(&object["name"]),
            text(&record["status"])
        )
    };
    let lines = reply.body.lines().filter(|line| line.starts_with('{'));
    lines.map(row).collect::<Vec<_>>().join("\n")
}

fn warnings(reply: &Reply) -> Vec<&str> {
    let lines = reply.head.lines();
    let found = lines.filter_map(|line| line.strip_prefix("warning: "));
    found.collect()
}

/// A context of a server that refuses connections.
fn closed_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_shows_the_worst_of_all_clusters_first() {
    let fleet = fleet().await;
    let served = serve(&fleet, &["pods"]);
    assert_snapshot!(rows(&served.get("/spy/v1/status")), @"
    prod-us Pod/web Failed
    prod-eu Pod/web Current
    prod-us Pod/api Current
    ");
    assert_snapshot!(rows(&served.get("/spy/v1/status?cluster=prod-eu")), @"prod-eu Pod/web Current");
    let unknown = served.get("/spy/v1/status?cluster=prod");
    assert_eq!(unknown.code, 404);
    assert_snapshot!(unknown.body, @r#"
    error: the server does not follow the cluster "prod"
    hint: it follows prod-eu, prod-us
    "#);
    let page = served.get("/?q=web").body;
    assert!(page.contains(r#"<th scope="col">Cluster</th>"#), "{page}");
    assert!(page.contains(r#"href="/o/prod-us/Pod/shop/web""#), "{page}");
    assert!(page.contains(r#"href="/o/prod-eu/Pod/shop/web""#), "{page}");
    let page = served.get("/?kind=Pod&q=web&cluster=prod-eu").body;
    assert!(!page.contains("/o/prod-us/"), "{page}");
    assert!(page.contains("--context prod-eu"), "{page}");
    assert_eq!(served.get("/o/prod-us/Pod/shop/api").code, 200);
    assert_eq!(served.get("/o/prod-eu/Pod/shop/api").code, 404);
    let metrics = served.get("/metrics").body;
    for sample in [
        r#"spy_cluster_up{cluster="prod-eu"} 1"#,
        r#"spy_cluster_up{cluster="prod-us"} 1"#,
        r#"spy_objects{cluster="prod-us",group="",kind="Pod",status="Failed"} 1"#,
        r#"spy_watch_up{cluster="prod-eu",resource="pods",namespace="shop"} 1"#,
    ] {
        assert!(metrics.contains(sample), "{metrics}");
    }
    let watches = served.get("/spy/v1/watches?cluster=prod-us").body;
    assert!(
        watches.contains(r#""cluster":"prod-us""#) && !watches.contains("prod-eu"),
        "{watches}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_in_each_cluster_is_an_event() {
    let fleet = fleet().await;
    let served = serve(&fleet, &["pods"]);
    let mut all = served.events("/spy/v1/events", None);
    let mut one = served.events("/spy/v1/events?cluster=prod-eu", None);
    let is = |name: &'static str| move |sent: &Sent| sent.name == name;
    all.until(is("synced"));
    one.until(is("synced"));
    for cluster in [1, 0] {
        fleet.clusters[cluster].delete("pods", "web");
    }
    let cluster = |sent: Sent| sent.data["ref"]["cluster"].as_str().unwrap().to_owned();
    let first = cluster(all.until(is("status")));
    let other = all.until(|sent| sent.name == "status" && sent.data["ref"]["cluster"] != *first);
    let mut both = [first, cluster(other)];
    both.sort();
    assert_eq!(both, ["prod-eu", "prod-us"]);
    assert_eq!(cluster(one.until(is("status"))), "prod-eu");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_cannot_be_read_is_named_and_stops_no_other() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({})));
    let contexts = [
        ("edge-1", cluster.sandbox.url()),
        ("edge-2", closed_server()),
    ];
    let port = cluster.sandbox.address().port();
    let config = kubeconfig(&format!("edges-{port}"), &contexts, &json!({}));
    let spy = Spy::with_kubeconfig(config.to_str().unwrap());
    let served = Served::start(&spy, &["cm", "--all-contexts"]);
    assert_eq!(served.get("/readyz").body, "ok\nnot read: edge-2\n");
    let reply = served.get("/spy/v1/status");
    assert_eq!(rows(&reply), "edge-1 ConfigMap/flags Current");
    let warned = warnings(&reply);
    assert!(
        warned.len() == 1
            && warned[0].starts_with("299 - \"edge-2: connection refused (retrying, "),
        "{warned:?}"
    );
    let changes = served.get("/spy/v1/changes?since=1h");
    assert!(
        changes.code == 200 && warnings(&changes).len() == 1,
        "{}",
        changes.head
    );
    let reply = served.get("/spy/v1/status?cluster=edge-2");
    assert!(
        reply.code == 503 && reply.body.contains("edge-2: connection refused"),
        "{}",
        reply.body
    );
    assert!(warnings(&served.get("/spy/v1/status?cluster=edge-1")).is_empty());
    let page = served.get("/").body;
    assert!(page.contains("edge-2: connection refused"), "{page}");
    let metrics = served.get("/metrics").body;
    assert!(
        metrics.contains(r#"spy_cluster_up{cluster="edge-2"} 0"#),
        "{metrics}"
    );
    assert!(served.stop().contains("edge-2: "));
    std::fs::remove_file(config).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_for_one_cluster_or_for_all() {
    let fleet = fleet().await;
    fleet.put(&config_map("flags", &json!({"dark": "on"})));
    let served = serve(&fleet, &["pods"]);
    let clusters = |reply: &Reply| -> Vec<String> {
        assert_eq!(reply.code, 200, "{}", reply.body);
        let found = ["prod-eu", "prod-us"].into_iter();
        let is_there = |name: &&str| reply.body.contains(&format!("\"cluster\":\"{name}\""));
        found.filter(is_there).map(str::to_owned).collect()
    };
    let path = "/spy/v1/changes?object=cm/flags&since=1h";
    assert_eq!(clusters(&served.get(path)), ["prod-eu", "prod-us"]);
    let one = served.get(&format!("{path}&cluster=prod-us"));
    assert_eq!(clusters(&one), ["prod-us"]);
    // What only one of them has is no error.
    assert_eq!(
        clusters(&served.get("/spy/v1/trace?object=pod/api")),
        ["prod-us"]
    );
    let absent = served.get("/spy/v1/trace?object=pod/api&cluster=prod-eu");
    assert_eq!(absent.code, 404, "{}", absent.body);
    let unknown = served.get("/spy/v1/logs?object=pod/api&cluster=other");
    assert_eq!(unknown.code, 404, "{}", unknown.body);
    let timeline = served.get("/t?since=1h").body;
    assert!(
        timeline.contains("/c/prod-eu/ConfigMap/shop/flags"),
        "{timeline}"
    );
    assert!(
        timeline.contains("/c/prod-us/ConfigMap/shop/flags"),
        "{timeline}"
    );
    let timeline = served.get("/t?since=1h&cluster=prod-us").body;
    assert!(!timeline.contains("/c/prod-eu/"), "{timeline}");
    assert_eq!(served.get("/g/prod-us/Pod/shop/api").code, 200);
    assert_eq!(served.get("/g/other/Pod/shop/api").code, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_cluster_has_its_own_api() {
    let fleet = fleet().await;
    let served = serve(&fleet, &["pods", "--api=kubernetes"]);
    let path = "/api/v1/namespaces/shop/pods";
    let list = |cluster: &str| names(&served.get(&format!("/clusters/{cluster}{path}")));
    assert_eq!(list("prod-us"), "api,web");
    let requests = fleet.clusters[1].sandbox.requests();
    let is_passed = |asked: &str| asked == path;
    assert!(
        !requests.iter().any(|it| is_passed(&it.path)),
        "it is in memory"
    );
    assert_eq!(list("prod-eu"), "web");
    let watch = "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1";
    let watched = served.get(&format!("/clusters/prod-us{path}{watch}"));
    assert!(
        watched.body.contains("initial-events-end"),
        "{}",
        watched.body
    );
    let requests = fleet.clusters[1].sandbox.requests();
    let is_passed = |asked: &str| asked.contains("sendInitialEvents=true&resourceVersionMatch");
    assert!(
        !requests.iter().any(|it| is_passed(&it.path)),
        "it is in memory"
    );
    // What is not followed comes from the API server of that cluster.
    let maps = served.get("/clusters/prod-us/api/v1/namespaces/shop/configmaps");
    assert_eq!(names(&maps), "");
    assert_snapshot!(status(&served.get(path)), @"400 BadRequest: this server follows several clusters: name one, as in /clusters/prod-eu/api/v1/namespaces/shop/pods");
    assert_snapshot!(status(&served.get(&format!("/clusters/other{path}"))), @r#"404 NotFound: this server does not follow the cluster "other""#);
    for outside in [
        "/clusters/prod-us/spy/v1/status",
        "/clusters/prod-us/",
        "/clusters/prod-us/livez",
    ] {
        assert_eq!(served.get(outside).code, 404, "{outside}");
    }
    let exec = served.get(&format!("/clusters/prod-us{path}/web/exec"));
    assert_eq!(exec.code, 403, "{}", exec.body);
    let nobody = served.ask("GET", &format!("/clusters/prod-us{path}"), &[]);
    assert!(
        status(&nobody).starts_with("401 Unauthorized"),
        "{}",
        nobody.body
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_several_clusters_cannot_have_is_refused() {
    let fleet = Fleet::start().await;
    assert_snapshot!(fleet.run(&["serve", "cm", "--auth=kube"]).stderr, @"
    error: --auth=kube is for one cluster: each cluster knows its own tokens
    hint: run one server for each cluster, or use the printed token
    See 'kubectl spy serve -h' for help and examples
    ");
    let printed = fleet.run(&["serve", "cm", "--print-manifest", "--tls-secret", "x"]);
    assert!(
        printed.stderr.contains("this command reads one cluster"),
        "{}",
        printed.stderr
    );
}

/// A receiver of the Pods that go, and the configuration of a server that tells it.
struct Told {
    hook: Hook,
    folder: PathBuf,
}

impl Told {
    fn of(fleet: &Fleet) -> Told {
        let hook = Hook::listen(&[]);
        let folder = fleet.kubeconfig.with_extension("hooks");
        std::fs::create_dir_all(&folder).unwrap();
        let when = "{to: [NotFound], kind: [pods]}";
        let text = format!(
            "outbox: outbox\nsinks: [{{name: ops, webhook: 'http://127.0.0.1:{}/', when: {when}}}]\n",
            hook.port
        );
        let told = Told { hook, folder };
        std::fs::write(told.config(), text).unwrap();
        told
    }

    fn config(&self) -> String {
        let path = self.folder.join("serve.yaml");
        path.to_str().unwrap().to_owned()
    }

    /// Serves both clusters. The states of those that can be read are known then.
    fn serve(&self, fleet: &Fleet, args: &[&str]) -> Served {
        let served = serve(fleet, &[args, &["-f", &self.config()]].concat());
        served.until("/metrics", |reply| {
            reply.body.contains("spy_sink_lag{sink=\"ops\"} 0\n")
        });
        served
    }

    /// The next change: `CLUSTER NAME FROM>TO`.
    fn change(&self) -> String {
        let record = self.hook.next().record();
        let object = &record["object"]["ref"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (cluster, name) = (text(&object["cluster"]), text(&object["name"]));
        format!(
            "{cluster} {name} {}>{}",
            text(&record["from"]),
            text(&record["to"])
        )
    }

    /// Ends a server that has sent so many messages. None is sent again then.
    fn stop(served: Served, delivered: usize) {
        let sample = format!("spy_sink_delivered_total{{sink=\"ops\"}} {delivered}\n");
        served.until("/metrics", |reply| reply.body.contains(&sample));
        served.stop();
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        let _gone = std::fs::remove_dir_all(&self.folder);
    }
}

/// An object that was deleted while no server ran is reported with its own cluster, too.
#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_learns_the_cluster_of_a_change() {
    let fleet = fleet().await;
    let told = Told::of(&fleet);
    let served = told.serve(&fleet, &["pods"]);
    fleet.clusters[1].delete("pods", "web");
    assert_eq!(told.change(), "prod-us web Failed>NotFound");
    Told::stop(served, 1);
    fleet.clusters[0].delete("pods", "web");
    let served = told.serve(&fleet, &["pods"]);
    assert_eq!(told.change(), "prod-eu web Current>NotFound");
    served.stop();
    let topic = "sinks: [{name: all, kafka: {brokers: ['127.0.0.1:1'], topic: t}}]\n";
    std::fs::write(told.config(), topic).unwrap();
    let ran = fleet.run(&["serve", "pods", "-f", &told.config()]);
    assert!(ran.stderr.starts_with("error: "), "{}", ran.transcript());
}

/// Each cluster may serve other types, so a word is wrong only if none of them knows it.
#[tokio::test(flavor = "multi_thread")]
async fn a_type_that_no_cluster_serves_is_named() {
    let fleet = fleet().await;
    let told = Told::of(&fleet);
    let text = std::fs::read_to_string(told.config()).unwrap();
    let text = text.replace("kind: [pods]", "kind: [pods,\n  depoly]");
    std::fs::write(told.config(), text).unwrap();
    let mut served = told.serve(&fleet, &["pods"]);
    let line = format!(
        "config: {}:3: no cluster has a resource type \"depoly\"",
        told.config()
    );
    served.running.until(&line);
    fleet.clusters[1].delete("pods", "web");
    assert_eq!(told.change(), "prod-us web Failed>NotFound");
    served.stop();
}

/// A cluster that has not joined, and one that has joined and cannot be read, delay no other. What happened in it meanwhile is
/// sent when it can be read, and only once.
#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_goes_out_although_a_cluster_was_never_read() {
    for args in [&["pods"][..], &[]] {
        let mut fleet = fleet().await;
        fleet.put_in(0, ready("spare"));
        fleet.put_in(1, ready("spare"));
        let told = Told::of(&fleet);
        let served = told.serve(&fleet, args);
        served.until("/readyz", |reply| reply.body == "ok\n");
        // What is told of a cluster shows that its first states are kept.
        for cluster in &fleet.clusters {
            cluster.delete("pods", "spare");
            assert!(told.change().ends_with(" spare Current>NotFound"));
        }
        Told::stop(served, 2);
        fleet.clusters[1].delete("pods", "web");
        fleet.clusters[1].sandbox.stop().await;
        let served = told.serve(&fleet, args);
        fleet.clusters[0].delete("pods", "web");
        assert_eq!(told.change(), "prod-eu web Current>NotFound", "{args:?}");
        fleet.clusters[1].sandbox.restart().await.unwrap();
        assert_eq!(told.change(), "prod-us web Failed>NotFound", "{args:?}");
        Told::stop(served, 2);
        let served = told.serve(&fleet, args);
        fleet.clusters[1].delete("pods", "api");
        assert_eq!(told.change(), "prod-us api Current>NotFound", "{args:?}");
        Told::stop(served, 1);
    }
}
