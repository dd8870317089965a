//! Tests of output and exit codes if a look-back is refused or out of time, or if the server goes away or
//! never answers.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;

use insta::assert_snapshot;
use kubectl_spy::sandbox::{
    Effect, ErrorBody, Fault, Place, Request, Rule, Target, User, Verb, Writer,
};
use serde_json::{Value, json};

use super::support::Ran;
use super::support::cluster::{Cluster, config_map, deployment, pod};

fn code(ran: &Ran) -> Option<i32> {
    ran.status.code()
}

/// The exit code, then all output.
fn ended(ran: &Ran) -> String {
    format!("{:?}\n{}", code(ran), ran.transcript())
}

/// A `ConfigMap` with four versions.
async fn edited() -> Cluster {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"mode": "a"})));
    for mode in ["b", "c", "d"] {
        cluster.edit("configmaps", "flags", &json!({"data": {"mode": mode}}));
    }
    cluster
}

/// The server does not answer the `nth` list of this resource, nor any later one.
fn stall(cluster: &Cluster, resource: &str, nth: u32) {
    let at = Place::BeforeHeaders;
    let fault = Fault::on(Verb::List, resource, Effect::Stall { at });
    cluster.sandbox.inject(fault.range(nth..=u32::MAX));
}

/// The server answers the `nth` list of this resource, and every later one, with this status.
fn refuse(cluster: &Cluster, (resource, code): (&str, u16), nth: u32) {
    let status = Effect::Status {
        code,
        retry_after: None,
        body: ErrorBody::Status,
    };
    let fault = Fault::on(Verb::List, resource, status);
    cluster.sandbox.inject(fault.range(nth..=u32::MAX));
}

/// Waits until the server has got this many lists of this resource.
async fn listed(cluster: &Cluster, resource: &str, times: usize) {
    let is_list = |request: &&Request| {
        request.path.contains(&format!("/{resource}?")) && !request.path.contains("watch=")
    };
    let enough = |requests: &[Request]| requests.iter().filter(is_list).count() >= times;
    cluster.sandbox.requests_until(enough).await;
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
        refused
            .stderr
            .contains("may not specify resource arguments"),
        "{}",
        refused.stderr
    );
    fs::remove_file(&path).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_after_the_newest_revision_is_said_at_once() {
    let cluster = edited().await;
    for object in ["cm", "cm/flags"] {
        let args = ["changes", object, "--since-rv=99999", "--once"];
        let ran = cluster.spy().run(&args);
        let said = "the newest resourceVersion is ";
        assert!(
            ran.transcript().contains(said),
            "{object}: {}",
            ran.transcript()
        );
    }
    let requests = cluster.sandbox.requests_until(|_| true).await;
    let future = requests.iter().filter(|it| it.path.contains("99999"));
    assert_eq!(future.count(), 0, "{requests:#?}");
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

#[tokio::test(flavor = "multi_thread")]
async fn a_look_back_out_of_time_prints_the_versions_found() {
    let cluster = edited().await;
    cluster.sandbox.expire_watch_window();
    stall(&cluster, "configmaps", 3);
    let late = ["changes", "cm/flags", "--since=all", "--timeout=2s"];
    let run = |more: &[&str]| cluster.spy().run(&[&late[..], more].concat());
    assert_snapshot!(ended(&run(&[])), @r#"
    Some(1)
    2026-03-02T12:00:04Z MODIFIED configmap/flags  4→5  4m56s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: c → d
    look-back interrupted: earlier versions of configmaps/flags in namespace "shop" may be missing
    ── 1 earlier version read, back to 2026-03-02T12:00:04Z ──
    ! error: timed out waiting for earlier versions of configmaps/flags in namespace "shop"
    ! hint: use a longer --timeout
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_back_out_of_time_has_no_answer() {
    for (more, expect) in [
        (&["--once"][..], 1),
        (&["--exit-code"], 4),
        (&["--exit-code", "--once"], 4),
        (&["--for=create"], 1),
        (&["--for=delete", "--exit-code"], 3),
        (&["-o=json"], 1),
        (&["-o=yaml", "--exit-code"], 4),
    ] {
        let cluster = edited().await;
        cluster.sandbox.expire_watch_window();
        stall(&cluster, "configmaps", 3);
        let late = ["changes", "cm/flags", "--since=all", "--timeout=2s"];
        let ran = cluster.spy().run(&[&late[..], more].concat());
        assert_eq!(code(&ran), Some(expect), "{more:?}: {}", ran.transcript());
        assert!(ran.stdout.contains('d'), "{more:?}: {}", ran.transcript());
        assert!(
            ran.stderr.contains("error: timed out waiting for"),
            "{more:?}: {}",
            ran.transcript()
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn logs_whose_pods_were_not_read_in_time_are_an_error() {
    let cluster = Cluster::start().await;
    stall(&cluster, "pods", 0);
    let ran = cluster.spy().run(&["logs", "web", "-f", "--timeout=1s"]);
    assert_eq!(code(&ran), Some(1), "{}", ran.transcript());
    assert!(
        ran.stderr.contains("error: timed out waiting for"),
        "{}",
        ran.transcript()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_kinds_that_a_look_back_did_not_reach_are_named() {
    let cluster = edited().await;
    cluster.put(pod("web", &json!({})));
    stall(&cluster, "pods", 2);
    let late = ["changes", "cm,pods", "--since=all", "--timeout=2s"];
    assert_snapshot!(ended(&cluster.spy().run(&late)), @r#"
    Some(1)
    2026-03-02T12:00:01Z CREATED configmap/flags  2  4m59s ago  by kubectl-create
    + .data.mode: a
    2026-03-02T12:00:02Z MODIFIED configmap/flags  2→3  +1s  4m58s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: a → b
    2026-03-02T12:00:03Z MODIFIED configmap/flags  3→4  +1s  4m57s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: b → c
    2026-03-02T12:00:04Z MODIFIED configmap/flags  4→5  +1s  4m56s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: c → d
    2026-03-02T12:00:05Z CREATED pod/web  6  4m55s ago  by kubectl-create
    + .spec.containers: [{image: app:1, name: app}]
    look-back interrupted: earlier versions of pods in namespace "shop" may be missing
    ── 5 earlier versions read, back to 2026-03-02T12:00:01Z ──
    ! error: timed out waiting for earlier versions of pods in namespace "shop"
    ! hint: use a longer --timeout
    "#);
    cluster.sandbox.clear_faults();
    stall(&cluster, "pods", 2);
    let ran = cluster.spy().run(&[&late[..], &["-o=json"]].concat());
    let records = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let of = |record: &Value| record["type"] == "lookback" || record["type"] == "seam";
    let records: Vec<String> = records
        .filter(of)
        .map(|record| record.to_string())
        .collect();
    assert_snapshot!(records.join("\n"), @r#"
    {"cluster":"demo","complete":"1","completeTime":"2026-03-02T12:00:01.000Z","end":"limit","from":"1","seen":"2026-03-02T12:05:00.000Z","source":"configmaps in namespace \"shop\"","time":"2026-03-02T12:00:01.000Z","type":"lookback","v":1}
    {"cluster":"demo","complete":null,"end":"interrupted","from":null,"seen":"2026-03-02T12:05:00.000Z","source":"pods in namespace \"shop\"","type":"lookback","v":1}
    {"cluster":"demo","live":false,"seen":"2026-03-02T12:05:00.000Z","type":"seam","v":1,"versions":5}
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_during_a_look_back_prints_the_versions_found() {
    let cluster = edited().await;
    cluster.sandbox.expire_watch_window();
    stall(&cluster, "configmaps", 3);
    let run = cluster.spy().start(&["changes", "cm/flags", "--since=all"]);
    listed(&cluster, "configmaps", 3).await;
    let ran = run.interrupt();
    assert_eq!(ran.status.signal(), Some(2));
    assert_snapshot!(ran.transcript(), @r#"
    2026-03-02T12:00:04Z MODIFIED configmap/flags  4→5  4m56s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: c → d
    look-back interrupted: earlier versions of configmaps/flags in namespace "shop" may be missing
    ── 1 earlier version read, back to 2026-03-02T12:00:04Z ──
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_back_that_is_refused_has_no_answer() {
    for status in [400, 403, 429, 500, 504] {
        for objects in ["cm", "cm/flags"] {
            let cluster = edited().await;
            // Otherwise the watch cache would provide all versions.
            cluster.sandbox.expire_watch_window();
            refuse(&cluster, ("configmaps", status), 2);
            let args = ["changes", objects, "--since=10m", "--once"];
            let ran = cluster.spy().run(&args);
            assert_eq!(code(&ran), Some(0), "{status}: {}", ran.transcript());
            let ran = {
                let cluster = edited().await;
                cluster.sandbox.expire_watch_window();
                refuse(&cluster, ("configmaps", status), 2);
                cluster.spy().run(&[&args[..], &["--exit-code"]].concat())
            };
            assert_eq!(code(&ran), Some(4), "{status}: {}", ran.transcript());
        }
    }
}

/// Who may list and not watch gets the changes of the last listing. So there is one more after the time limit.
#[tokio::test(flavor = "multi_thread")]
async fn the_silence_of_a_source_that_is_only_listed_is_no_answer() {
    let user = User {
        name: "jane".to_owned(),
        token: String::new(),
        rules: vec![Rule::allow("get,list", "configmaps")],
    };
    let cluster = Cluster::start_with(|options| options.users = vec![user]).await;
    cluster.put(config_map("flags", &json!({})));
    let is_list = |request: &&Request| {
        request.path.contains("/configmaps?") && !request.path.contains("watch=")
    };
    let lists = |requests: &[Request]| requests.iter().filter(is_list).count();
    let start = async |verb| {
        let before = lists(&cluster.sandbox.requests());
        let args = [verb, "configmaps", "-o=json", "--timeout=2s", "--exit-code"];
        let running = cluster.spy().start(&args);
        // A second listing follows the refused watch, and the next one is seconds away.
        let is_polled = |requests: &[Request]| lists(requests) >= before + 2;
        cluster.sandbox.requests_until(is_polled).await;
        running
    };
    let quiet = start("changes").await.finish();
    assert_eq!(code(&quiet), Some(0), "{}", quiet.transcript());
    let running = start("changes").await;
    cluster.edit("configmaps", "flags", &json!({"data": {"mode": "on"}}));
    let ran = running.finish();
    assert_eq!(code(&ran), Some(1), "{}", ran.transcript());
    assert!(ran.stdout.contains(r#""new":"on""#), "{}", ran.transcript());
    let silence = Effect::Stall {
        at: Place::BeforeHeaders,
    };
    for verb in ["changes", "status"] {
        cluster.sandbox.clear_faults();
        let running = start(verb).await;
        let fault = Fault::on(Verb::List, "configmaps", silence.clone());
        cluster.sandbox.inject(fault.always());
        let ran = running.finish();
        assert_eq!(code(&ran), Some(4), "{verb}: {}", ran.transcript());
        let why = "configmaps in namespace \"shop\": not listed again within 3 s";
        assert!(ran.stderr.contains(why), "{verb}: {}", ran.stderr);
    }
}

/// A cluster in which the user may read the one `ConfigMap`, and nothing else.
async fn with_config_maps_alone() -> Cluster {
    let user = User {
        name: "jane".to_owned(),
        token: String::new(),
        rules: vec![Rule::allow("*", "configmaps")],
    };
    let cluster = Cluster::start_with(|options| options.users = vec![user]).await;
    cluster.put(config_map("flags", &json!({})));
    cluster
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forbidden_kind_leaves_the_question_open() {
    let cluster = with_config_maps_alone().await;
    let forbidden = "Error from server (Forbidden): secrets";
    for args in [
        &["changes", "cm,secrets", "--once"][..],
        &["changes", "cm,secrets", "--since=10m", "--once"],
        &["status", "cm,secrets", "--once"],
        &["trace", "cm/flags", "secret/db", "--once"],
    ] {
        let ran = cluster.spy().run(args);
        assert_eq!(code(&ran), Some(1), "{args:?}: {}", ran.transcript());
        let said = ran.transcript().matches(forbidden).count();
        assert_eq!(said, 1, "{args:?}: {}", ran.transcript());
        let ran = cluster.spy().run(&[args, &["--exit-code"]].concat());
        assert_eq!(code(&ran), Some(4), "{args:?}: {}", ran.transcript());
        assert_eq!(ran.stderr.matches(forbidden).count(), 1, "{args:?}");
        assert!(!ran.stdout.contains(forbidden), "{args:?}: {}", ran.stdout);
    }
    // A program may read standard output alone.
    for format in ["json", "yaml"] {
        let args = ["changes", "cm,secrets", "--once", "-o", format];
        let ran = cluster.spy().run(&args);
        assert_eq!(code(&ran), Some(1), "{format}: {}", ran.transcript());
        assert_eq!(ran.stderr.matches(forbidden).count(), 1, "{}", ran.stderr);
        let is_in_stream = ran.stdout.contains(forbidden);
        assert_eq!(is_in_stream, format == "json", "{}", ran.stdout);
    }
}

/// A user who may read Pods and their logs, and nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn a_forbidden_object_beside_logs_is_said_once() {
    let pods = ["pods", "pods/log"].map(|resource| Rule::allow("*", resource));
    let user = User {
        name: "jane".to_owned(),
        token: String::new(),
        rules: pods.into(),
    };
    let cluster = Cluster::start_with(|options| options.users = vec![user]).await;
    cluster.put(pod("web", &json!({})));
    for more in [&[][..], &["-o", "json"]] {
        let args = ["logs", "pod/web", "secret/db", "cm/flags"];
        let ran = cluster.spy().run(&[&args[..], more].concat());
        assert_eq!(code(&ran), Some(1), "{}", ran.transcript());
        for kind in ["secrets", "configmaps"] {
            let forbidden = format!("Error from server (Forbidden): {kind}");
            let said = ran.stderr.matches(&forbidden).count();
            assert_eq!(said, 1, "{more:?} {}", ran.transcript());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_kinds_of_a_whole_namespace_that_are_forbidden_are_one_line() {
    let cluster = with_config_maps_alone().await;
    let ran = cluster.spy().run(&["status", "--unhealthy", "--once"]);
    assert_eq!(code(&ran), Some(0), "{}", ran.transcript());
    let (first, last) = (ran.stderr.lines().next(), ran.stderr.lines().last());
    let not_read = |line: &str| line.starts_with("not read: Error from server (Forbidden): ");
    assert!(last.is_some_and(not_read), "{}", ran.stderr);
    assert!(ran.stderr.contains("; also "), "{}", ran.stderr);
    let nothing = "Nothing unhealthy among the objects in namespace shop that could be read.";
    assert!(first == last || first == Some(nothing), "{}", ran.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_goes_away_leaves_the_question_open() {
    for verb in ["changes", "status"] {
        let mut cluster = Cluster::start().await;
        cluster.put(config_map("flags", &json!({})));
        let mut run = cluster
            .spy()
            .start(&[verb, "cm/flags", "--exit-code", "--timeout=5s"]);
        run.until("flags");
        cluster.sandbox.stop().await;
        let ran = run.finish();
        assert_eq!(code(&ran), Some(4), "{verb}: {}", ran.transcript());
        let words = "was refused - did you specify the right host or port?\n";
        assert!(ran.stderr.ends_with(words), "{verb}: {}", ran.stderr);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_never_answers_leaves_the_question_open() {
    let cluster = Cluster::start().await;
    cluster.put(deployment("web", 1));
    stall(&cluster, "deployments", 1);
    for verb in ["changes", "status"] {
        for (more, expect) in [
            (&[][..], 1),
            (&["--once"], 1),
            (&["--exit-code"], 4),
            (&["--exit-code", "--once"], 4),
            (&["--for=create", "--exit-code"], 4),
        ] {
            let args = [verb, "deploy/web", "--timeout=500ms"];
            let ran = cluster.spy().run(&[&args[..], more].concat());
            assert_eq!(code(&ran), Some(expect), "{verb} {more:?}");
            assert!(
                ran.stderr.contains("error: timed out waiting for"),
                "{verb} {more:?}: {}",
                ran.stderr
            );
        }
    }
}

/// Renews a Lease, as a component of the server does.
fn renew(cluster: &Cluster, second: u32) {
    cluster.tick(1);
    let time = format!("2026-03-02T12:00:{second:02}.000000Z");
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": "x", "namespace": "shop"}, "spec": {"renewTime": time},
    });
    let by = Writer::new("kubelet");
    cluster.sandbox.apply(lease, &by).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn printed_versions_of_a_lease_are_counted() {
    let cluster = Cluster::start().await;
    renew(&cluster, 0);
    let args = ["changes", "lease/x", "--exit-code", "--count=1"];
    let mut run = cluster.spy().start(&args);
    run.until("EXISTING");
    renew(&cluster, 1);
    let ran = run.finish();
    assert_eq!(code(&ran), Some(1), "{}", ran.transcript());
    for second in 2..24 {
        renew(&cluster, second);
    }
    let ran = cluster.spy().run(&["changes", "lease/x", "--once"]);
    assert_eq!(ran.stdout.matches("MODIFIED").count(), 20, "{}", ran.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn versions_of_other_managers_do_not_count() {
    let cluster = edited().await;
    let others = Writer::new("controller");
    let target = Target::new("configmaps", "shop", "flags");
    for count in 0..21 {
        cluster.tick(1);
        let patch = json!({"data": {"count": count.to_string()}});
        cluster.sandbox.patch(&target, &patch, &others).unwrap();
    }
    let args = ["changes", "cm/flags", "--by=kubectl-edit", "--once"];
    assert_snapshot!(cluster.spy().run(&args).transcript(), @r#"
    2026-03-02T12:00:02Z MODIFIED configmap/flags  2→3  +1s  4m58s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: a → b
    2026-03-02T12:00:03Z MODIFIED configmap/flags  3→4  +1s  4m57s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: b → c
    2026-03-02T12:00:04Z MODIFIED configmap/flags  4→5  +1s  4m56s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: c → d
    ── 3 earlier versions (22 hidden), back to 2026-03-02T12:00:02Z ──
    "#);
}
