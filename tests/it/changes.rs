//! Tests of `changes` against the sandbox: its output for events of an object.

mod json;
mod keys;
mod outputs;
mod past;
mod timeline;
mod widths;

use insta::assert_snapshot;
use kubectl_spy::sandbox::{Kind, Target, Writer};
use serde_json::{Value, json};

use super::support::Spy;
use super::support::cluster::{Cluster, config_map, deployment, pod};
use super::support::{Ran, Running};

/// Follows an existing object while `happen` changes it, up to the output line that contains `last`.
async fn follow(
    object: Value,
    args: &[&str],
    (happen, last): (impl FnOnce(&Cluster), &str),
) -> Ran {
    let cluster = Cluster::start().await;
    cluster.put(object);
    let mut run = cluster
        .spy()
        .start(&[&["changes", "--since=0"], args].concat());
    run.until("EXISTING");
    happen(&cluster);
    run.until(last);
    interrupted(run)
}

/// Ends a run with Ctrl-C.
fn interrupted(run: Running) -> Ran {
    let ran = run.interrupt();
    assert_eq!(signal(&ran), Some(2), "{}", ran.transcript());
    ran
}

fn signal(ran: &Ran) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&ran.status)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_object_is_waited_for() {
    let cluster = Cluster::start().await;
    let mut run = cluster.spy().start(&["changes", "--since=0", "cm/flags"]);
    run.until("waiting for");
    cluster.put(config_map("flags", &json!({"dark-mode": "off"})));
    run.until("CREATED");
    assert_snapshot!(interrupted(run).transcript(), @r#"
    2026-03-02T12:05:00Z CREATED configmap/flags  2  by kubectl-create
    + .data.dark-mode: "off"
    ! waiting for configmaps/flags in namespace "shop"
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_existing_object_is_not_shown_as_created() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"dark-mode": "off"})));
    let mut run = cluster.spy().start(&["changes", "--since=0", "cm/flags"]);
    run.until("EXISTING");
    assert_snapshot!(interrupted(run).transcript(), @"2026-03-02T12:05:00Z EXISTING configmap/flags  2");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_status_is_one_path() {
    let happen = |cluster: &Cluster| {
        cluster.report("pods", "web", &json!({"phase": "Pending"}));
    };
    let ran = follow(
        pod("web", &json!({})),
        &["pod/web", "--only", "status"],
        (happen, "MODIFIED"),
    );
    assert_snapshot!(ran.await.transcript(), @"
    2026-03-02T12:05:00Z EXISTING pod/web  2
    2026-03-02T12:05:00Z MODIFIED pod/web  2→3  by kubelet (status)  1 change
    + .status: {phase: Pending}
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn unselected_changes_are_not_printed() {
    let happen = |cluster: &Cluster| {
        cluster.edit(
            "pods",
            "web",
            &json!({"metadata": {"labels": {"tier": "front"}}}),
        );
        cluster.report("pods", "web", &json!({"phase": "Pending"}));
    };
    let ran = follow(
        pod("web", &json!({})),
        &["pod/web", "--only", "status"],
        (happen, "MODIFIED"),
    );
    assert_snapshot!(ran.await.transcript(), @"
    2026-03-02T12:05:00Z EXISTING pod/web  2
    2026-03-02T12:05:00Z MODIFIED pod/web  3→4  +0s  by kubelet (status)  1 change
    + .status: {phase: Pending}
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn noise_alone_prints_nothing() {
    let happen = |cluster: &Cluster| {
        // A server-side apply of the same data changes only the resourceVersion and the manager.
        let by = Writer::new("argocd");
        let same = config_map("flags", &json!({"dark-mode": "off"}));
        cluster.sandbox.apply(same, &by).unwrap();
        cluster.edit("configmaps", "flags", &json!({"data": {"dark-mode": "on"}}));
    };
    let object = config_map("flags", &json!({"dark-mode": "off"}));
    let ran = follow(object, &["cm/flags"], (happen, "MODIFIED"));
    assert_snapshot!(ran.await.transcript(), @r#"
    2026-03-02T12:05:00Z EXISTING configmap/flags  2
    2026-03-02T12:05:00Z MODIFIED configmap/flags  3→4  +0s  by kubectl-edit  1 change, 2 hidden
    ~ .data.dark-mode: "off" → "on"
    "#);
}

/// A condition without a time.
fn condition(kind: &str, status: &str, message: Option<&str>) -> Value {
    let mut condition = json!({"type": kind, "status": status});
    if let Some(message) = message {
        condition["message"] = json!(message);
    }
    condition
}

#[tokio::test(flavor = "multi_thread")]
async fn conditions_are_told_apart_by_their_type() {
    let (a, b) = (
        condition("A", "True", None),
        condition("B", "False", Some("not yet")),
    );
    let mut object = pod("web", &json!({}));
    object["status"] = json!({"conditions": [a, b]});
    let happen = |cluster: &Cluster| {
        cluster.report("pods", "web", &json!({"conditions": [b, a]}));
        let (b, c) = (condition("B", "True", None), condition("C", "True", None));
        cluster.report("pods", "web", &json!({"conditions": [b, c, a]}));
    };
    let ran = follow(object, &["pod/web"], (happen, "MODIFIED"));
    assert_snapshot!(ran.await.transcript(), @"
    2026-03-02T12:05:00Z EXISTING pod/web  2
    2026-03-02T12:05:00Z MODIFIED pod/web  3→4  +0s  by kubelet (status)  3 changes, 2 hidden
    ~ .status.conditions[type=B]: False → True  was not yet  (was kubectl-create's)
    + .status.conditions[type=C]: True
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn text_stays_on_its_line_and_is_escaped() {
    let happen = |cluster: &Cluster| {
        let message = "say \"hi\"\nthere \u{1b}[2J";
        cluster.report("pods", "web", &json!({ "message": message }));
    };
    let ran = follow(pod("web", &json!({})), &["pod/web"], (happen, "MODIFIED"));
    assert_snapshot!(ran.await.transcript(), @r#"
    2026-03-02T12:05:00Z EXISTING pod/web  2
    2026-03-02T12:05:00Z MODIFIED pod/web  2→3  by kubelet (status)  1 change, 2 hidden
    + .status: {message: "say \"hi\"\nthere \u001b[2J"}
    "#);
}

/// The status of a waiting container.
fn waiting(reason: &str, message: Option<&str>) -> Value {
    let mut state = json!({"reason": reason});
    if let Some(message) = message {
        state["message"] = json!(message);
    }
    json!([{
        "name": "app", "image": "app:1", "imageID": "", "ready": false, "restartCount": 0,
        "state": {"waiting": state}, "lastState": {},
    }])
}

/// A condition of a Pod that has lasted since noon.
fn pod_condition(kind: &str, status: &str) -> Value {
    json!({"type": kind, "status": status, "lastProbeTime": null, "lastTransitionTime": "2026-03-02T12:00:00Z"})
}

fn not_ready(kind: &str) -> Value {
    let mut condition = pod_condition(kind, "False");
    condition["reason"] = json!("ContainersNotReady");
    condition["message"] = json!("containers with unready status: [app]");
    condition
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pod_with_a_failing_image_pull() {
    let mut object = pod("web", &json!({}));
    object["status"] = json!({"phase": "Pending", "qosClass": "BestEffort"});
    let scheduled = pod_condition("PodScheduled", "True");
    let conditions = json!([
        pod_condition("Initialized", "True"),
        not_ready("Ready"),
        scheduled
    ]);
    let happen = |cluster: &Cluster| {
        let report = |status: Value| cluster.report("pods", "web", &status);
        report(json!({"conditions": [scheduled]}));
        report(json!({
            "conditions": conditions, "containerStatuses": waiting("ContainerCreating", None),
            "hostIP": "10.0.0.11", "startTime": "2026-03-02T12:00:01Z",
        }));
        let message = "rpc error: pull access denied for app";
        report(
            json!({"containerStatuses": waiting("ErrImagePull", Some(message)), "podIP": "10.244.0.5"}),
        );
        let message = "Back-off pulling image \"app:1\"";
        report(json!({"containerStatuses": waiting("ImagePullBackOff", Some(message))}));
    };
    let ran = follow(
        object,
        &["pod/web", "--only", "status"],
        (happen, "ImagePullBackOff"),
    );
    assert_snapshot!(ran.await.transcript(), @r#"
    2026-03-02T12:05:00Z EXISTING pod/web  2
    2026-03-02T12:05:00Z MODIFIED pod/web  2→3  by kubelet (status)  1 change
    + .status.conditions: [{lastProbeTime: null, lastTransitionTime: 2026-03-02T12:00:00Z, status: "True", type: PodScheduled}]
    2026-03-02T12:05:00Z MODIFIED pod/web  3→4  +0s  by kubelet (status)  5 changes
    + .status.containerStatuses: [{image: app:1, imageID: "", lastState: {}, name: app, ready: false, restartCount: 0, state: {waiting: {reason: ContainerCreating}}}]
    + .status.hostIP: 10.0.0.11
    + .status.startTime: 2026-03-02T12:00:01Z
    + .status.conditions[type=Initialized]: True  12:00:00
    + .status.conditions[type=Ready]: False  12:00:00  ContainersNotReady: containers with unready status: [app]
    2026-03-02T12:05:00Z MODIFIED pod/web  4→5  +0s  by kubelet (status)  3 changes
    + .status.podIP: 10.244.0.5
    ~ .status.containerStatuses[name=app].state: waiting ContainerCreating → waiting ErrImagePull: rpc error: pull access denied for app
    2026-03-02T12:05:00Z MODIFIED pod/web  5→6  +0s  by kubelet (status)  2 changes
    ~ .status.containerStatuses[name=app].state: waiting ErrImagePull → waiting ImagePullBackOff: Back-off pulling image "app:1"
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_start_of_a_pod() {
    let mut object = pod("web", &json!({}));
    object["status"] = json!({
        "phase": "Pending", "conditions": [not_ready("Ready")],
        "containerStatuses": waiting("ContainerCreating", None),
    });
    let happen = |cluster: &Cluster| {
        cluster.report("pods", "web", &json!({
            "phase": "Running", "podIP": "10.244.0.5", "conditions": [pod_condition("Ready", "True")],
            "containerStatuses": [{
                "name": "app", "image": "app:1", "imageID": "app@sha256:0123456789abcdef", "ready": true,
                "restartCount": 0, "containerID": "containerd://fedcba9876543210",
                "state": {"running": {"startedAt": "2026-03-02T12:00:03Z"}}, "lastState": {},
            }],
        }));
    };
    let ran = follow(
        object,
        &["pod/web", "--only", "status"],
        (happen, "MODIFIED"),
    );
    assert_snapshot!(ran.await.transcript(), @r#"
    2026-03-02T12:05:00Z EXISTING pod/web  2
    2026-03-02T12:05:00Z MODIFIED pod/web  2→3  by kubelet (status)  10 changes
    ~ .status.phase: Pending → Running
    + .status.podIP: 10.244.0.5
    ~ .status.conditions[type=Ready]: False → True  12:00:00  was ContainersNotReady: containers with unready status: [app]  (was kubectl-create's)
    ~ .status.containerStatuses[name=app]
        + containerID: containerd://fedcba9876543210
        ~ imageID: "" → app@sha256:0123456789abcdef
        ~ ready: false → true
        ~ state: waiting ContainerCreating → running since 12:00:03
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recreated_object_is_a_new_object() {
    let happen = |cluster: &Cluster| {
        cluster.delete("configmaps", "flags");
        cluster.put(config_map("flags", &json!({"dark-mode": "on"})));
        cluster.edit(
            "configmaps",
            "flags",
            &json!({"data": {"dark-mode": "auto"}}),
        );
    };
    let object = config_map("flags", &json!({"dark-mode": "off", "legacy": "on"}));
    let ran = follow(object, &["cm/flags"], (happen, "MODIFIED"));
    assert_snapshot!(ran.await.transcript(), @r#"
    2026-03-02T12:05:00Z EXISTING configmap/flags  2
    2026-03-02T12:05:00Z DELETED configmap/flags  3  existed 4m59s
    2026-03-02T12:05:00Z RECREATED configmap/flags  4  by kubectl-create
    + .data.dark-mode: "on"
      compared with the deleted object 3, another life:
    ~ .data.dark-mode: "off" → "on"
    - .data.legacy: "on"
    2026-03-02T12:05:00Z MODIFIED configmap/flags  4→5  +0s  by kubectl-edit  1 change, 2 hidden
    ~ .data.dark-mode: "on" → auto
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_a_secret_is_shown_without_its_values() {
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {"name": "db", "namespace": "shop"}, "data": {"password": "aHVudGVyMg=="},
    });
    let happen = |cluster: &Cluster| {
        cluster.edit(
            "secrets",
            "db",
            &json!({"data": {"password": "aHVudGVyMw=="}}),
        );
        cluster.edit(
            "secrets",
            "db",
            &json!({"data": {"password": "aHVudGVyMg=="}}),
        );
        cluster.edit("secrets", "db", &json!({"data": {"user": "cm9vdA=="}}));
    };
    let ran = follow(secret, &["secret/db"], (happen, ".user"));
    assert_snapshot!(ran.await.transcript(), @"
    2026-03-02T12:05:00Z EXISTING secret/db  2
    2026-03-02T12:05:00Z MODIFIED secret/db  2→3  by kubectl-edit  1 change, 2 hidden
    ~ .data.password: <secret 7 B #1> → <secret 7 B #2>
    2026-03-02T12:05:00Z MODIFIED secret/db  3→4  +0s  by kubectl-edit  1 change, 2 hidden
    ~ .data.password: <secret 7 B #2> → <secret 7 B #1>
    2026-03-02T12:05:00Z MODIFIED secret/db  4→5  +0s  by kubectl-edit  1 change, 2 hidden
    + .data.user: <secret 4 B #3>
    ");
}

/// Whether a run with these variables and flags writes colours to a pipe.
async fn paints(variables: &[(&str, &str)], args: &[&str]) -> bool {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"dark-mode": "off"})));
    let mut spy = cluster.spy();
    for (name, value) in variables {
        spy = spy.var(name, value);
    }
    let mut run = spy.start(&[&["changes", "--since=0", "cm/flags"], args].concat());
    run.until("flags");
    cluster.edit("configmaps", "flags", &json!({"data": {"dark-mode": "on"}}));
    run.until("dark-mode");
    interrupted(run).transcript().contains('\u{1b}')
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pipe_gets_no_escape_sequences_unless_requested() {
    assert!(!paints(&[], &[]).await);
    assert!(!paints(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], &[]).await);
    assert!(!paints(&[("CLICOLOR_FORCE", "1")], &["--color=never"]).await);
    assert!(!paints(&[("CLICOLOR_FORCE", "1")], &["-o", "json"]).await);
    assert!(paints(&[("NO_COLOR", "1")], &["--color=always"]).await);
    assert!(paints(&[("CLICOLOR_FORCE", "1")], &[]).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn colours_agree_with_the_marks() {
    let happen = |cluster: &Cluster| {
        let patch = json!({"data": {"changed": "new", "gone": null, "new": "1"}});
        cluster.edit("configmaps", "flags", &patch);
    };
    let object = config_map("flags", &json!({"changed": "old", "gone": "1"}));
    let ran = follow(
        object,
        &["cm/flags", "--color=always"],
        (happen, ".data.new"),
    )
    .await;
    let text = ran.stdout.replace('\u{1b}', "ESC");
    assert_snapshot!(text, @r#"
    ESC[2m2026-03-02T12:05:00ZESC[0m ESC[2mEXISTINGESC[0m ESC[1mconfigmap/flagsESC[0m  ESC[2m2ESC[0m
    ESC[2m2026-03-02T12:05:00ZESC[0m ESC[33mMODIFIEDESC[0m ESC[1mconfigmap/flagsESC[0m  ESC[2m2→3ESC[0m  by kubectl-edit  ESC[2m3 changes, 2 hiddenESC[0m
    ESC[33m~ ESC[0m.data.changed: oldESC[2m → ESC[0mnew
    ESC[31m- ESC[0mESC[31m.data.goneESC[0mESC[31m: ESC[0mESC[31m"1"ESC[0mESC[2m  (was kubectl-create's)ESC[0m
    ESC[32m+ ESC[0mESC[32m.data.newESC[0mESC[32m: ESC[0mESC[32m"1"ESC[0m
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn values_keep_their_json() {
    let gadget = |values: &Value| {
        json!({
            "apiVersion": "example.com/v1", "kind": "Gadget",
            "metadata": {"name": "one", "namespace": "shop"}, "spec": values,
        })
    };
    let cluster = Cluster::start_with(|options| {
        options.kinds = vec![Kind::custom("example.com", "v1", "Gadget", "gadgets")];
    })
    .await;
    let other = json!("other");
    cluster.put(gadget(&json!({
        "bool": other, "emptyList": other, "emptyMap": other, "float": other, "int": other, "null": other,
    })));
    let mut run = cluster.spy().start(&[
        "changes",
        "--since=0",
        "--since=0",
        "gadgets.example.com/one",
        "--only",
        "spec",
    ]);
    run.until("EXISTING");
    let values = json!({
        "bool": true, "emptyList": [], "emptyMap": {}, "float": 1.5, "int": 3, "null": null,
    });
    cluster
        .sandbox
        .update(gadget(&values), &Writer::new("kubectl-replace"))
        .unwrap();
    run.until("MODIFIED");
    assert_snapshot!(interrupted(run).transcript(), @"
    2026-03-02T12:05:00Z EXISTING gadget/one  2
    2026-03-02T12:05:00Z MODIFIED gadget/one  2→3  by kubectl-replace  6 changes
    ~ .spec.bool: other → true  (string → boolean)
    ~ .spec.emptyList: other → []  (string → list)
    ~ .spec.emptyMap: other → {}  (string → object)
    ~ .spec.float: other → 1.5  (string → number)
    ~ .spec.int: other → 3  (string → number)
    ~ .spec.null: other → null
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_type_is_named_with_similar_ones() {
    let cluster = Cluster::start().await;
    for args in [
        ["changes", "--since=0", "deploymnt/web"],
        ["changes", "--since=0", "gadgets"],
    ] {
        let ran = cluster.spy().run(&args);
        assert_eq!(ran.status.code(), Some(1));
        assert_eq!(ran.stdout, "");
    }
    assert_snapshot!(cluster.spy().run(&["changes", "--since=0", "deploymnt/web"]).transcript(), @r#"
    ! error: the server doesn't have a resource type "deploymnt"
    ! hint: did you mean deployment, deployments, deploy?
    "#);
    assert_snapshot!(cluster.spy().run(&["changes", "--since=0", "gadgets"]).transcript(), @r#"! error: the server doesn't have a resource type "gadgets""#);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_arguments_of_kubespy_are_accepted() {
    let cluster = Cluster::start().await;
    cluster.put(pod("web", &json!({})));
    let mut run = cluster
        .spy()
        .start(&["changes", "--since=0", "v1", "Pod", "shop/web"]);
    run.until("EXISTING");
    assert_snapshot!(interrupted(run).transcript(), @r"
    2026-03-02T12:05:00Z EXISTING pod/web  2
    ! hint: use `kubectl spy changes pod/web -n shop`
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn several_objects_are_followed_at_once() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"dark-mode": "off"})));
    cluster.put(deployment("web", 1));
    let mut run = cluster
        .spy()
        .start(&["changes", "--since=0", "cm/flags", "deploy/web"]);
    run.until_each(&["EXISTING configmap/flags", "EXISTING deployment/web"]);
    cluster.edit("configmaps", "flags", &json!({"data": {"dark-mode": "on"}}));
    run.until("dark-mode");
    cluster.edit("deployments", "web", &json!({"spec": {"replicas": 3}}));
    run.until("replicas");
    let mut lines: Vec<String> = interrupted(run)
        .transcript()
        .lines()
        .map(str::to_owned)
        .collect();
    lines[..2].sort_unstable(); // the order of the two watches is random
    assert_snapshot!(lines.join("\n"), @r#"
    2026-03-02T12:05:00Z EXISTING configmap/flags  2
    2026-03-02T12:05:00Z EXISTING deployment/web  3
    2026-03-02T12:05:00Z MODIFIED configmap/flags  2→4  by kubectl-edit  1 change, 2 hidden
    ~ .data.dark-mode: "off" → "on"
    2026-03-02T12:05:00Z MODIFIED deployment/web  3→5  by kubectl-edit  1 change, 3 hidden
    ~ .spec.replicas: 1 → 3
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wide_scope_shows_when_its_listing_is_complete() {
    let cluster = Cluster::start().await;
    for (name, app) in [("web-1", "web"), ("web-2", "web"), ("db-0", "db")] {
        cluster.put(pod(name, &json!({"app": app})));
    }
    let mut run = cluster
        .spy()
        .start(&["changes", "--since=0", "pods", "-l", "app=web"]);
    run.until("watching");
    cluster.edit(
        "pods",
        "db-0",
        &json!({"metadata": {"labels": {"tier": "back"}}}),
    );
    cluster.edit(
        "pods",
        "web-1",
        &json!({"metadata": {"labels": {"tier": "front"}}}),
    );
    cluster.tick(290);
    cluster.put(pod("web-3", &json!({"app": "web"})));
    cluster.edit(
        "pods",
        "web-2",
        &json!({"metadata": {"labels": {"app": "old"}}}),
    );
    cluster.delete("pods", "web-1");
    run.until("DELETED");
    assert_snapshot!(interrupted(run).transcript(), @r#"
    watching 2 pods in namespace "shop" with labels app=web
    2026-03-02T12:05:00Z MODIFIED pod/web-1  2→6  by kubectl-edit  1 change, 2 hidden
    + .metadata.labels.tier: front
    2026-03-02T12:05:00Z CREATED pod/web-3  7  by kubectl-create
    + .metadata.labels: {app: web}
    + .spec.containers: [{image: app:1, name: app}]
    2026-03-02T12:05:00Z LEFT pod/web-2  8
    2026-03-02T12:05:00Z DELETED pod/web-1  9  existed 4m59s
    "#);
}

/// Nobody is named, because it may only have started to match.
#[tokio::test(flavor = "multi_thread")]
async fn an_older_object_joins_a_selector() {
    let cluster = Cluster::start().await;
    cluster.put(pod("web", &json!({"app": "db"})));
    let mut run = cluster
        .spy()
        .start(&["changes", "--since=0", "pods", "-l", "app=web"]);
    run.until("watching");
    cluster.tick(60);
    let label = json!({"metadata": {"labels": {"app": "web"}}});
    cluster.edit("pods", "web", &label);
    run.until("pod/web");
    assert_snapshot!(interrupted(run).transcript(), @r#"
    watching 0 pods in namespace "shop" with labels app=web
    2026-03-02T12:05:00Z JOINED pod/web  3
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn all_namespaces_and_field_selectors_work() {
    let cluster = Cluster::start().await;
    cluster.put(pod("web", &json!({})));
    let mut elsewhere = pod("db", &json!({}));
    elsewhere["metadata"]["namespace"] = json!("data");
    cluster.put(elsewhere);
    let mut run = cluster.spy().start(&["changes", "--since=0", "pods", "-A"]);
    run.until("watching");
    let label = json!({"metadata": {"labels": {"tier": "back"}}});
    let by = Writer::new("kubectl-edit");
    cluster
        .sandbox
        .patch(&Target::new("pods", "data", "db"), &label, &by)
        .unwrap();
    run.until("MODIFIED");
    assert_snapshot!(interrupted(run).transcript(), @"
    watching 2 pods
    2026-03-02T12:05:00Z MODIFIED pod/db  3→4  -n data  by kubectl-edit  1 change, 2 hidden
    + .metadata.labels.tier: back
    ");

    let args = [
        "changes",
        "pods",
        "--field-selector",
        "spec.nodeName=node-1",
    ];
    let mut run = cluster.spy().start(&args);
    run.until("watching");
    cluster.edit(
        "pods",
        "web",
        &json!({"metadata": {"labels": {"tier": "front"}}}),
    );
    cluster.edit("pods", "web", &json!({"spec": {"nodeName": "node-1"}}));
    run.until("JOINED");
    assert_snapshot!(interrupted(run).transcript(), @r#"
    watching 0 pods in namespace "shop" with fields spec.nodeName=node-1
    2026-03-02T12:05:00Z JOINED pod/web  6
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_and_ignore_select_paths() {
    let cluster = Cluster::start().await;
    cluster.put(deployment("web", 1));
    let image = "spec.template.spec.containers[*].image";
    let args = [
        "changes",
        "--since=0",
        "deploy/web",
        "--only",
        "spec",
        "--ignore",
        image,
    ];
    let mut run = cluster.spy().start(&args);
    run.until("EXISTING");
    let containers = json!([{"name": "app", "image": "app:2"}]);
    let template = json!({"spec": {"containers": containers}});
    cluster.edit(
        "deployments",
        "web",
        &json!({"spec": {"template": template}}),
    );
    cluster.edit(
        "deployments",
        "web",
        &json!({"metadata": {"labels": {"a": "b"}}}),
    );
    cluster.edit("deployments", "web", &json!({"spec": {"replicas": 3}}));
    run.until("replicas");
    assert_snapshot!(interrupted(run).transcript(), @"
    2026-03-02T12:05:00Z EXISTING deployment/web  2
    2026-03-02T12:05:00Z MODIFIED deployment/web  4→5  +0s  by kubectl-edit  1 change
    ~ .spec.replicas: 1 → 3
    ");
}

#[test]
fn noise_is_shown_on_request() {
    let version = |version: u32, cpu: &str, manager: &str| {
        format!(
            r#"{{"type":"{}","object":{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"a","namespace":"default","uid":"u1","resourceVersion":"{version}",
            "managedFields":[{{"manager":"{manager}","operation":"Update","time":"2026-03-02T12:00:0{version}Z"}}]}},"spec":{{"limits":{{"cpu":"{cpu}"}}}},
            "status":{{"conditions":[{{"type":"Ready","lastProbeTime":"2026-03-02T12:00:0{version}Z"}}]}}}}}}"#,
            if version == 1 { "ADDED" } else { "MODIFIED" }
        )
    };
    let path = format!("{}/noise.json", env!("CARGO_TARGET_TMPDIR"));
    let text = [version(1, "1000m", "a"), version(2, "1", "b")].join("\n");
    std::fs::write(&path, text).unwrap();
    let printed = |flags: &[&str]| {
        let mut args = vec![
            "changes",
            "pod/a",
            "--from",
            &path,
            "--now",
            "2026-03-02T12:05:00Z",
        ];
        args.extend(flags);
        Spy::alone().run(&args).transcript()
    };
    assert_snapshot!(printed(&[]), @r#"
    2026-03-02T12:05:00Z EXISTING pod/a  1
    "#);
    assert_snapshot!(printed(&["--show-noise"]), @r#"
    2026-03-02T12:05:00Z EXISTING pod/a  1
    2026-03-02T12:05:00Z MODIFIED pod/a  1→2  by b  4 changes
    ~ .metadata.managedFields: [{manager: a, operation: Update, time: 2026-03-02T12:00:01Z}] → [{manager: b, operation: Update, time: 2026-03-02T12:00:02Z}]
    ~ .metadata.resourceVersion: "1" → "2"
    ≈ .spec.limits.cpu: 1000m → "1"
    ~ .status.conditions[type=Ready].lastProbeTime: 2026-03-02T12:00:01Z → 2026-03-02T12:00:02Z  (+1s)
    "#);
    assert_snapshot!(printed(&["--show-noise=equivalent,version"]), @r#"
    2026-03-02T12:05:00Z EXISTING pod/a  1
    2026-03-02T12:05:00Z MODIFIED pod/a  1→2  by b  2 changes, 2 hidden
    ~ .metadata.resourceVersion: "1" → "2"
    ≈ .spec.limits.cpu: 1000m → "1"
    "#);
    assert_snapshot!(printed(&["--show-managed-fields"]), @r#"
    2026-03-02T12:05:00Z EXISTING pod/a  1
    2026-03-02T12:05:00Z MODIFIED pod/a  1→2  by b  1 change, 3 hidden
    ~ .metadata.managedFields: [{manager: a, operation: Update, time: 2026-03-02T12:00:01Z}] → [{manager: b, operation: Update, time: 2026-03-02T12:00:02Z}]
    "#);
    assert_snapshot!(printed(&["--show-noise=probes"]), @r#"
    ! error: invalid argument "probes" for "--show-noise" flag: no such value
    ! hint: use one of all, version, managedFields, heartbeat, order, equivalent
    ! See 'kubectl spy changes --help' for usage.
    "#);
}

#[test]
fn renewals_of_a_named_lease_are_shown() {
    let version = |version: u32| {
        format!(
            r#"{{"type":"{}","object":{{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{{"name":"a","namespace":"default","uid":"u1","resourceVersion":"{version}"}},
            "spec":{{"holderIdentity":"x","renewTime":"2026-03-02T12:00:0{version}.000000Z"}}}}}}"#,
            if version == 1 { "ADDED" } else { "MODIFIED" }
        )
    };
    let path = format!("{}/lease.json", env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(&path, [version(1), version(2)].join("\n")).unwrap();
    let printed = |args: &[&str]| {
        let mut all = vec!["changes", "--from", &path, "--now", "2026-03-02T12:05:00Z"];
        all.extend(args);
        Spy::alone().run(&all).transcript()
    };
    assert_snapshot!(printed(&["lease/a"]), @r#"
    2026-03-02T12:05:00Z EXISTING lease/a  1
    2026-03-02T12:05:00Z MODIFIED lease/a  1→2  1 change, 1 hidden
    ~ .spec.renewTime: 2026-03-02T12:00:01.000000Z → 2026-03-02T12:00:02.000000Z  (+1s)
    "#);
    assert!(!printed(&[]).contains("MODIFIED"), "{}", printed(&[]));
}

#[test]
fn lists_are_keyed_by_the_flag() {
    let version = |version: u32, servers: &str| {
        format!(
            r#"{{"type":"{}","object":{{"apiVersion":"example.com/v1","kind":"Gate","metadata":{{"name":"a","namespace":"default","uid":"u1","resourceVersion":"{version}"}},"spec":{{"servers":{servers}}}}}}}"#,
            if version == 1 { "ADDED" } else { "MODIFIED" }
        )
    };
    let path = format!("{}/gate.json", env!("CARGO_TARGET_TMPDIR"));
    let old = r#"[{"host":"a","port":80,"up":1},{"host":"a","port":443,"up":1}]"#;
    let new = r#"[{"host":"a","port":443,"up":0},{"host":"a","port":80,"up":1}]"#;
    std::fs::write(&path, [version(1, old), version(2, new)].join("\n")).unwrap();
    let printed = |flags: &[&str]| {
        let mut args = vec!["changes", "--from", &path, "--now", "2026-03-02T12:05:00Z"];
        args.extend(flags);
        Spy::alone().run(&args).transcript()
    };
    assert_snapshot!(printed(&["--list-key", "spec.servers=host,port"]), @"
    watching 1 gate.example.com
    2026-03-02T12:05:00Z MODIFIED gate/a  1→2  2 changes, 1 hidden
    ↕ .spec.servers[host=a,port=443]: 1 → 0
    ~ .spec.servers[host=a,port=443].up: 1 → 0
    ");
    assert_snapshot!(printed(&["--list-key", "spec.servers"]), @r#"
    ! error: invalid argument "spec.servers" for "--list-key" flag: expected PATH=KEY[,KEY], as in .spec.servers=host,port
    ! See 'kubectl spy changes --help' for usage.
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_path_is_an_error_with_its_position() {
    let cluster = Cluster::start().await;
    for path in [".spec.containers[name=app", "spec..replicas", ""] {
        let ran = cluster
            .spy()
            .run(&["changes", "--since=0", "deploy/web", "--only", path]);
        assert_eq!(
            (ran.status.code(), ran.stdout.as_str()),
            (Some(1), ""),
            "{path}"
        );
    }
    let printed = |flag, path| {
        cluster
            .spy()
            .run(&["changes", "--since=0", "deploy/web", flag, path])
            .stderr
    };
    assert_snapshot!(printed("--only", ".spec.containers[name=app"), @r#"
    error: invalid argument ".spec.containers[name=app" for "--only" flag: expected `]` at position 26, found the end
    See 'kubectl spy changes --help' for usage.
    "#);
    assert_snapshot!(printed("--ignore", "spec..replicas"), @r#"
    error: invalid argument "spec..replicas" for "--ignore" flag: expected a field's name, `*`, `**` or `[` at position 6, found `.`
    See 'kubectl spy changes --help' for usage.
    "#);
    assert_eq!(cluster.sandbox.requests(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn once_prints_the_current_state_and_exits() {
    let cluster = Cluster::start().await;
    cluster.put(deployment("web", 1));
    let ran = cluster
        .spy()
        .run(&["changes", "--since=0", "deploy/web", "--once"]);
    assert_eq!(ran.status.code(), Some(0));
    assert_snapshot!(ran.transcript(), @"2026-03-02T12:05:00Z EXISTING deployment/web  2");
    let ran = cluster
        .spy()
        .run(&["changes", "--since=0", "deploy", "--watch=false"]);
    assert_eq!(ran.status.code(), Some(0));
    assert_snapshot!(ran.transcript(), @r#"watching 1 deployment.apps in namespace "shop""#);
    let ran = cluster
        .spy()
        .run(&["changes", "--since=0", "deploy/wbe", "--once"]);
    assert_eq!(ran.status.code(), Some(1));
    assert_snapshot!(ran.transcript(), @r#"
    ! Error from server (NotFound): deployments.apps "wbe" not found
    ! hint: did you mean web in namespace "shop"?
    ! hint: to wait until it is created, drop --once
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_that_does_not_exist_is_named() {
    let cluster = Cluster::start().await;
    cluster.put(deployment("web", 1));
    for verb in ["changes", "status", "trace"] {
        let ran = cluster
            .spy()
            .run(&[verb, "deploy/web", "--once", "-n", "shpo"]);
        assert_eq!(ran.status.code(), Some(1));
        let words = "Error from server (NotFound): namespaces \"shpo\" not found\n";
        assert!(ran.stderr.starts_with(words), "{}", ran.stderr);
    }
}
