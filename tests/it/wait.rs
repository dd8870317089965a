//! Tests of `--for`, `--timeout`, `--count` and `--exit-code` against the sandbox: when a verb ends by
//! itself, with which output and which exit code.

use std::fs;
use std::path::PathBuf;

use insta::assert_snapshot;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use kubectl_spy::sandbox::{Kind, Rule, User};

use super::support::Ran;
use super::support::cluster::{Cluster, config_map, deployment, pod};

/// A Deployment whose condition `Available` has this status.
fn available(name: &str, status: &str) -> Value {
    let mut object = deployment(name, 1);
    object["status"] = conditions(status);
    object
}

fn conditions(status: &str) -> Value {
    json!({"observedGeneration": 1, "conditions": [{"type": "Available", "status": status}]})
}

fn code(ran: &Ran) -> Option<i32> {
    ran.status.code()
}

/// The exit code, then all output.
fn ended(ran: &Ran) -> String {
    format!("{:?}\n{}", code(ran), ran.transcript())
}

/// A file that is deleted after its test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, text: &str) -> Scratch {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::write(&path, text).unwrap();
        Scratch(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _already_gone = fs::remove_file(&self.0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_condition_that_is_already_met_ends_it_at_once() {
    let cluster = Cluster::start().await;
    cluster.put(available("web", "True"));
    let goal = "--for=condition=Available";
    let ran = cluster.spy().run(&["changes", "deploy/web", goal]);
    assert_snapshot!(ended(&ran), @"
    Some(0)
    2026-03-02T12:05:00Z EXISTING deployment/web  2
    ! deployment.apps/web condition met
    ");
    let ran = cluster
        .spy()
        .run(&["changes", "deploy/web", goal, "-o", "json"]);
    assert_eq!((code(&ran), ran.stdout.lines().count()), (Some(0), 1));
    assert_eq!(ran.stderr, "deployment.apps/web condition met\n");
    let ran = cluster.spy().run(&["status", "deploy/web", goal]);
    assert_snapshot!(ended(&ran), @"
    Some(0)
    2026-03-02T12:05:00Z deployment/web InProgress 0/1
    ! deployment.apps/web condition met
    ");
    let ran = cluster.spy().run(&["changes", "deploy", goal, "--once"]);
    assert_snapshot!(ended(&ran), @r#"
    Some(0)
    watching 1 deployment.apps in namespace "shop"
    ! deployment.apps/web condition met
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_waits_until_all_objects_meet_the_condition() {
    let cluster = Cluster::start().await;
    cluster.put(available("web", "False"));
    let args = [
        "changes",
        "deploy/web",
        "deploy/api",
        "--for=condition=Available",
    ];
    let mut run = cluster.spy().start(&args);
    for _ in 0..2 {
        let is_start = |line: &str| line.contains("EXISTING") || line.contains("waiting for");
        run.until_where("the start", is_start);
    }
    cluster.report("deployments", "web", &conditions("True"));
    run.until("web condition met");
    cluster.put(available("api", "True"));
    assert_snapshot!(ended(&run.finish()), @r#"
    Some(0)
    2026-03-02T12:05:00Z EXISTING deployment/web  2
    2026-03-02T12:05:00Z MODIFIED deployment/web  2→3  by kubelet (status)  1 change, 2 hidden
    ~ .status.conditions[type=Available]: False → True
    2026-03-02T12:05:00Z CREATED deployment/api  4  by kubectl-create
    + .spec.replicas: 1
    + .spec.selector: {matchLabels: {app: api}}
    + .spec.template: {metadata: {labels: {app: api}}, spec: {containers: [{image: app:1, name: app}]}}
    + .spec.template.spec.containers[name=app].image: app:1
    ! waiting for deployments.apps/api in namespace "shop"
    ! deployment.apps/web condition met
    ! deployment.apps/api condition met
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_is_the_condition_or_a_failure() {
    let cluster = Cluster::start().await;
    cluster.put(available("web", "False"));
    let mut waits = cluster
        .spy()
        .start(&["changes", "deploy/web", "--for=delete"]);
    let mut fails = cluster
        .spy()
        .start(&["status", "deploy/web", "--for=condition=Available"]);
    waits.until("EXISTING");
    fails.until("web");
    cluster.delete("deployments", "web");
    let (waits, fails) = (waits.finish(), fails.finish());
    assert_eq!((code(&waits), code(&fails)), (Some(0), Some(2)));
    assert!(
        waits.stdout.contains("DELETED deployment/web"),
        "{}",
        waits.stdout
    );
    assert_snapshot!(waits.stderr, @"deployment.apps/web condition met");
    assert_snapshot!(fails.stderr, @"error: deployment.apps/web was deleted before the condition was met");
    for verb in ["changes", "status"] {
        let ran = cluster.spy().run(&[verb, "deploy/web", "--for=delete"]);
        assert_eq!((code(&ran), ran.stderr.as_str()), (Some(0), ""), "{verb}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_object_ends_the_wait() {
    let cluster = Cluster::start().await;
    let mut object = deployment("web", 1);
    let stuck =
        json!({"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"});
    object["status"] = json!({"observedGeneration": 1, "conditions": [stuck]});
    cluster.put(object);
    let ran = cluster
        .spy()
        .run(&["changes", "deploy/web", "--for=condition=Available"]);
    assert_snapshot!(ended(&ran), @"
    Some(2)
    2026-03-02T12:05:00Z EXISTING deployment/web  2
    ! error: deployment.apps/web has failed: no progress for 600s
    ");
    let ran = cluster
        .spy()
        .run(&["changes", "deploy/web", "--for=condition=Progressing=False"]);
    assert_eq!(code(&ran), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_time_limit_ends_it() {
    let cluster = Cluster::start().await;
    cluster.put(available("web", "False"));
    let goal = "--for=jsonpath={.status.conditions[?(@.type==\"Available\")].status}=True";
    let verbs = ["changes", "status"];
    let waits = verbs.map(|verb| vec![verb, "deploy/web", "cm/flags", goal, "--timeout=3s"]);
    let waits = cluster.spy().run_together(&waits);
    for (verb, ran) in verbs.into_iter().zip(waits) {
        let run = |args: &[&str]| cluster.spy().run(&[&[verb], args].concat());
        assert_eq!(code(&ran), Some(3), "{verb}: {}", ran.transcript());
        let words = "error: timed out waiting for the condition on";
        let lines = format!("{words} deployments/web\n{words} configmaps/flags\n");
        assert!(ran.stderr.ends_with(&lines), "{}", ran.stderr);
        // A single check is not a wait, and a limit is not a condition.
        let ran = run(&["deploy/web", goal, "--timeout=0"]);
        assert_eq!(code(&ran), Some(3));
        assert_eq!(ran.stderr, "error: condition not met for deployments/web\n");
        assert_eq!(run(&["deploy/web", goal, "--once"]).stderr, ran.stderr);
        assert_eq!(code(&run(&["deploy/web", "--timeout=3s"])), Some(0));
        assert_eq!(code(&run(&["deploy/web", "--timeout=0"])), Some(0));
        // A missing object is kubectl's error, unless the condition is about its existence.
        let ran = run(&["cm/flags", goal, "--once"]);
        assert_eq!(code(&ran), Some(1));
        assert!(
            ran.stderr.contains("configmaps \"flags\" not found"),
            "{}",
            ran.stderr
        );
        let ran = run(&["cm/flags", "--for=create", "--once"]);
        assert_eq!(code(&ran), Some(3), "{}", ran.transcript());
        assert_eq!(code(&run(&["cm/flags", "--for=delete", "--once"])), Some(0));
    }
    let ran = cluster
        .spy()
        .run(&["changes", "pods", "--for=create", "--timeout=3s"]);
    assert_eq!(
        ran.stderr,
        "error: timed out waiting for the condition on pods: no matching resources found\n"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_flags_are_errors() {
    let cluster = Cluster::start().await;
    let printed = |flag: &str| {
        let ran = cluster.spy().run(&["changes", "deploy/web", flag]);
        assert_eq!(code(&ran), Some(1), "{flag}");
        ran.stderr
    };
    assert_snapshot!(printed("--for=readyy"), @r#"
    error: unrecognized condition: "readyy"
    See 'kubectl spy changes --help' for usage.
    "#);
    assert_snapshot!(printed("--timeout=30"), @r#"
    error: invalid argument "30" for "--timeout" flag: time: missing unit in duration "30"
    See 'kubectl spy changes --help' for usage.
    "#);
    assert_snapshot!(printed("--count=0"), @r#"
    error: invalid argument "0" for "--count" flag: must be greater than 0
    See 'kubectl spy changes --help' for usage.
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_survives_a_server_restart() {
    let mut cluster = Cluster::start().await;
    cluster.put(available("web", "False"));
    let args = ["changes", "deploy/web", "--for=condition=Available"];
    let mut run = cluster.spy().start(&args);
    run.until("EXISTING");
    cluster.sandbox.stop().await;
    run.until("retrying");
    cluster.report("deployments", "web", &conditions("True"));
    cluster.sandbox.restart().await.unwrap();
    run.until("condition met");
    assert_eq!(code(&run.finish()), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timeout_ends_it_even_if_the_server_does_not_answer() {
    let mut cluster = Cluster::start().await;
    cluster.sandbox.stop().await;
    let _silent = TcpListener::bind(cluster.sandbox.address()).await.unwrap();
    let of = ["widgets.example.com/a", "--timeout=500ms"];
    for verb in ["changes", "status"] {
        let ran = cluster.spy().run(&[&[verb], &of[..]].concat());
        let error = "error: timed out waiting for the server's list of types\nhint: check that the server answers: kubectl get --raw /readyz\n";
        assert_eq!((code(&ran), &ran.stderr[..]), (Some(1), error));
    }
    let ran = cluster
        .spy()
        .run(&[&["status", "--for=create"], &of[..]].concat());
    assert_eq!(code(&ran), Some(1));
    // Whether a goal is met is unknown of what was never read.
    for (args, name) in [
        (
            &["status", "deploy/web", "--for=current"][..],
            "deployments/web",
        ),
        (
            &["changes", "deploy/web", "--for=condition=Available"],
            "deployments/web",
        ),
        (&["logs", "deploy/web", "--for=current"], "deployments/web"),
        (&["status", "deploy", "--for=current"], "deployments"),
    ] {
        let ran = cluster.spy().run(&[args, &["--timeout=500ms"]].concat());
        let error = format!(
            "error: timed out waiting for {name}: not read: the server has not answered\n\
             hint: check that the server answers: kubectl get --raw /readyz\n"
        );
        assert_eq!((code(&ran), ran.stderr), (Some(1), error), "{args:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_ends_a_wait() {
    let cluster = Cluster::start().await;
    cluster.put(available("web", "False"));
    let args = [
        "changes",
        "deploy/web",
        "--for=condition=Available",
        "--timeout=1h",
        "--exit-code",
    ];
    let mut run = cluster.spy().start(&args);
    run.until("EXISTING");
    let ran = run.interrupt();
    assert_eq!(
        std::os::unix::process::ExitStatusExt::signal(&ran.status),
        Some(2)
    );
    assert_eq!(ran.stderr, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn count_ends_it_after_that_many_versions() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"a": "0"})));
    let mut text = cluster.spy().start(&["changes", "cm/flags", "--count=2"]);
    let mut json = cluster
        .spy()
        .start(&["changes", "cm/flags", "--count=3", "-o", "json"]);
    text.until("EXISTING");
    json.until("baseline");
    cluster.edit("configmaps", "flags", &json!({"data": {"a": "1"}}));
    // The only difference is an entry of another manager. Text output has no version for it, JSON has one.
    let by = kubectl_spy::sandbox::Writer::new("argocd");
    let same = config_map("flags", &json!({"a": "1"}));
    cluster.sandbox.apply(same, &by).unwrap();
    cluster.edit("configmaps", "flags", &json!({"data": {"a": "2"}}));
    let (text, json) = (text.finish(), json.finish());
    assert_snapshot!(ended(&text), @r#"
    Some(0)
    2026-03-02T12:05:00Z EXISTING configmap/flags  2
    2026-03-02T12:05:00Z MODIFIED configmap/flags  2→3  by kubectl-edit  1 change, 2 hidden
    ~ .data.a: "0" → "1"
    2026-03-02T12:05:00Z MODIFIED configmap/flags  4→5  +0s  by kubectl-edit  1 change, 2 hidden
    ~ .data.a: "1" → "2"
    "#);
    assert_eq!((code(&json), json.stdout.lines().count()), (Some(0), 4));
}

fn with<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [&["changes", "cm/flags", "--exit-code"], args].concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_exit_code_shows_whether_an_object_has_changed() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"a": "0"})));
    let ran = cluster.spy().run(&with(&["--once"]));
    assert_eq!(code(&ran), Some(0), "{}", ran.transcript());
    for (args, expect) in [
        (&["--count=1"][..], 1),
        (&["--count=1", "-o", "json"], 1),
        (&["--count=1", "-o", "json", "--ignore", "data"], 0),
        (&["--for=jsonpath={.data.a}=1"], 1),
        (&["--for=jsonpath={.data.a}=1", "--ignore", "data"], 0),
    ] {
        cluster.edit("configmaps", "flags", &json!({"data": {"a": "0"}}));
        let mut run = cluster.spy().start(&with(args));
        run.until_where("the object", |line| {
            line.contains("EXISTING") || line.contains("baseline")
        });
        cluster.edit("configmaps", "flags", &json!({"data": {"a": "1"}}));
        let ran = run.finish();
        assert_eq!(code(&ran), Some(expect), "{args:?}: {}", ran.transcript());
    }
    // One look from now on can find nothing.
    let hint = "hint: --exit-code starts from now, and --once ends now; to ask what changed, add --since 10m\n";
    for (args, expect, said) in [
        (&["--once"][..], 0, hint),
        (&["--timeout=0"], 0, hint),
        (&["--once", "--since=0"], 0, ""),
        (&["--once", "--since=1h"], 1, ""),
    ] {
        let ran = cluster.spy().run(&with(args));
        assert_eq!(
            (ran.status.code(), &*ran.stderr),
            (Some(expect), said),
            "{args:?}"
        );
    }
    // With `--exit-code`, errors have an exit code of their own.
    for args in [
        &["changes", "nothing", "--exit-code"][..],
        &["changes", "--exit-code", "--nonsense"],
    ] {
        assert_eq!(code(&cluster.spy().run(args)), Some(4), "{args:?}");
    }
    let ran = cluster
        .spy()
        .run(&with(&["--for=create", "--for=delete", "--timeout=3s"]));
    assert_eq!(code(&ran), Some(3));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_exit_code_shows_whether_all_objects_are_healthy() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({})));
    let run = |args: &[&str]| {
        cluster
            .spy()
            .run(&[&["status", "--once", "--exit-code"], args].concat())
    };
    assert_eq!(code(&run(&["cm/flags"])), Some(0));
    assert_eq!(code(&run(&["pods"])), Some(4), "nothing was checked");
    cluster.put(pod("web", &json!({})));
    assert_eq!(code(&run(&["cm,pods"])), Some(1));
    assert_eq!(code(&run(&["cm/none"])), Some(4));
    let file = Scratch::new(
        "well.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
    );
    assert_eq!(code(&run(&["--from", file.path()])), Some(0));
    let pending = Scratch::new(
        "ill.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n",
    );
    assert_eq!(code(&run(&["--from", pending.path()])), Some(1));
}

#[test]
fn a_run_on_a_file_ends_with_the_file() {
    let event = |kind: &str, a: u32| {
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "flags", "namespace": "shop", "uid": "u"}, "data": {"a": a.to_string()},
        });
        format!("{}\n", json!({"type": kind, "object": object}))
    };
    let text =
        event("ADDED", 0) + &event("MODIFIED", 1) + &event("MODIFIED", 2) + &event("DELETED", 2);
    let file = Scratch::new("events.json", &text);
    let run = |args: &[&str]| {
        let from = [
            "changes",
            "--from",
            file.path(),
            "--now=2026-03-02T12:00:00Z",
        ];
        super::support::Spy::alone().run(&[&from, args].concat())
    };
    let ran = run(&["--for=jsonpath={.data.a}=1"]);
    assert_eq!(code(&ran), Some(0), "{}", ran.transcript());
    assert_eq!(ran.stderr, "configmap/flags condition met\n");
    let ran = run(&["cm/flags", "-n", "shop", "--for=jsonpath={.data.a}=7"]);
    assert_eq!(code(&ran), Some(2));
    let words = "error: configmap/flags was deleted before the condition was met\n";
    assert!(ran.stderr.ends_with(words), "{}", ran.stderr);
    let ran = run(&["--for=jsonpath={.data.a}=7"]);
    assert_eq!(code(&ran), Some(3));
    assert_eq!(
        ran.stderr,
        "error: the input ended before the condition was met on configmaps: no matching resources found\n"
    );
    assert_eq!(code(&run(&["--for=delete"])), Some(0));
    assert_eq!(code(&run(&["--exit-code"])), Some(1));
    let ran = run(&["--count=2", "--exit-code"]);
    assert_eq!(code(&ran), Some(1));
    assert_eq!(
        ran.stdout.matches(" configmap/flags").count(),
        2,
        "{}",
        ran.stdout
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_of_no_object_is_an_error() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({})));
    let error = "error: no matching resources found\nhint: correct the type, the selector or the namespace: nothing was checked\n";
    for args in [
        &["status", "pods", "--once"][..],
        &["status", "pods", "--timeout=2s"],
        &["status", "cm", "-l", "app=typo", "--once"],
        &[
            "status",
            "cm",
            "--field-selector=metadata.name=typo",
            "--once",
        ],
        &["status", "pods,deploy", "-A", "--once"],
        &["status", "pods", "--once", "-o", "json"],
        &["changes", "pods", "--since=10m", "--once"],
        &["changes", "cm", "-l", "app=typo", "--since=10m", "--once"],
        &["changes", "pods", "--timeout=2s"],
    ] {
        let ran = cluster.spy().run(&[args, &["--exit-code"]].concat());
        assert_eq!(code(&ran), Some(4), "{args:?} {}", ran.transcript());
        assert!(ran.stderr.ends_with(error), "{args:?} {}", ran.stderr);
        // Without a check, an empty list is an answer.
        assert_eq!(code(&cluster.spy().run(args)), Some(0), "{args:?}");
    }
    let ran = cluster
        .spy()
        .run(&["changes", "cm/none", "--exit-code", "--timeout=2s"]);
    assert_eq!(code(&ran), Some(4), "{}", ran.transcript());
    assert!(
        ran.stderr.contains("configmaps \"none\" not found"),
        "{}",
        ran.stderr
    );
    let ran = cluster
        .spy()
        .run(&["status", "cm/none", "--exit-code", "--timeout=2s"]);
    assert_eq!(code(&ran), Some(1), "{}", ran.transcript());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_that_does_not_exist_is_named() {
    let cluster = Cluster::start().await;
    let words = "namespaces \"nope\" not found\n";
    for (args, check) in [
        (&["status", "pods", "--once"][..], "--exit-code"),
        (&["status", "pods", "--timeout=2s"], "--for=current"),
        (&["status", "--unhealthy", "--once"], "--exit-code"),
        (&["changes", "pods", "--once", "--since=10m"], "--exit-code"),
        (&["changes", "--once", "--since=10m"], "--exit-code"),
        (&["changes", "pods", "--timeout=2s"], "--for=current"),
    ] {
        let args = [args, &["-n", "nope"]].concat();
        let ran = cluster.spy().run(&args);
        assert_eq!(code(&ran), Some(0), "{args:?} {}", ran.transcript());
        assert!(ran.stderr.contains(words), "{args:?} {}", ran.stderr);
        let ran = cluster.spy().run(&[&args[..], &[check]].concat());
        assert_ne!(code(&ran), Some(0), "{args:?} {}", ran.transcript());
        let error = format!("Error from server (NotFound): {words}");
        assert!(ran.stderr.contains(&error), "{args:?} {}", ran.stderr);
    }
    // Without -n, no namespace has to exist.
    let ran = cluster.spy().run(&["status", "pods", "-A", "--once"]);
    assert_eq!(
        (code(&ran), &*ran.stderr),
        (Some(0), "No resources found\n")
    );
    let gone = cluster
        .spy()
        .run(&["status", "pod/x", "-n", "nope", "--for=delete"]);
    assert_eq!(code(&gone), Some(0));
    assert!(gone.stderr.contains(words), "{}", gone.stderr);
    let mut live = cluster.spy().start(&["changes", "pods", "-n", "nope"]);
    live.until(words.trim_end());
    live.interrupt();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_was_never_read_is_not_an_empty_one() {
    let cluster = Cluster::start().await;
    cluster.put(available("web", "True"));
    let jane = User {
        name: "jane".to_owned(),
        token: String::new(),
        rules: vec![Rule::everything(), Rule::deny("*", "pods")],
    };
    cluster.sandbox.set_users(vec![jane]);
    let ran = cluster.spy().run(&[
        "changes",
        "deploy,pods",
        "--for=condition=Available=False",
        "--timeout=3s",
    ]);
    assert_eq!(code(&ran), Some(3), "{}", ran.transcript());
    assert!(
        !ran.stderr.contains("no matching resources"),
        "{}",
        ran.stderr
    );
    // The dependents decide the state of a traced object, too.
    for verb in ["trace", "status"] {
        let args = [verb, "deploy/web", "--once", "--exit-code"];
        let ran = cluster.spy().run(&args);
        assert_eq!(code(&ran), Some(4), "{verb} {}", ran.transcript());
        assert!(ran.stderr.contains("pods is forbidden"), "{}", ran.stderr);
        assert_eq!(code(&cluster.spy().run(&args[..3])), Some(0), "{verb}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_custom_resource_without_a_status_waits_for_its_controller() {
    let widget = Kind::custom("example.com", "v1", "Widget", "widgets");
    let plain = Kind {
        has_status: false,
        ..Kind::custom("example.com", "v1", "Plain", "plains")
    };
    let cluster = Cluster::start_with(|options| options.kinds = vec![widget, plain]).await;
    let object = |kind: &str| {
        json!({
            "apiVersion": "example.com/v1", "kind": kind,
            "metadata": {"name": "a", "namespace": "shop"}, "spec": {"size": 1},
        })
    };
    cluster.put(object("Widget"));
    cluster.put(object("Plain"));
    let reason = "widgets/a: not observed by its controller\n";
    for args in [
        &["status", "widget/a"][..],
        &["status", "widgets"],
        &["changes", "widget/a"],
        &["changes", "widgets"],
        &["trace", "widget/a"],
    ] {
        let run = |flags: &[&str]| cluster.spy().run(&[args, flags].concat());
        let ran = run(&["--for=current", "--once"]);
        assert_eq!(code(&ran), Some(3), "{args:?} {}", ran.transcript());
        assert!(ran.stderr.ends_with(reason), "{args:?} {}", ran.stderr);
    }
    for verb in ["status", "trace"] {
        let ran = cluster
            .spy()
            .run(&[verb, "widget/a", "--exit-code", "--once"]);
        assert_eq!(code(&ran), Some(1), "{verb} {}", ran.transcript());
        // Its controller has nowhere to report.
        let ran = cluster
            .spy()
            .run(&[verb, "plain/a", "--exit-code", "--once"]);
        assert_eq!(code(&ran), Some(0), "{verb} {}", ran.transcript());
    }
    let args = [
        "status",
        "widget/a",
        "--rules=kstatus",
        "--exit-code",
        "--once",
    ];
    assert_eq!(code(&cluster.spy().run(&args)), Some(0));
    cluster.report(
        "widgets.example.com",
        "a",
        &json!({"observedGeneration": 1}),
    );
    let ran = cluster
        .spy()
        .run(&["status", "widget/a", "--for=current", "--timeout=2s"]);
    assert_eq!(code(&ran), Some(0), "{}", ran.transcript());
}
