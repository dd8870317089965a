//! Tests of the timeline of every kind, and of `-o short` and `--people`.

use std::time::Duration;

use insta::assert_snapshot;
use jiff::Timestamp;
use kubectl_spy::sandbox::{Effect, Fault, Place, Rule, Target, User, Verb, Writer};
use serde_json::{Value, json};

use super::super::support::Ran;
use super::super::support::cluster::{Cluster, config_map, deployment, owned_by, pod};

fn create(cluster: &Cluster, object: Value, manager: &str) -> Value {
    cluster.tick(1);
    let by = Writer::new(manager);
    cluster.sandbox.create(object, &by).unwrap()
}

fn replica_set(name: &str, owner: &Value) -> Value {
    let mut set = deployment(name, 2);
    set["kind"] = json!("ReplicaSet");
    owned_by(set, owner)
}

/// An Event about an object.
fn event(name: &str, about: &Value, reason: &str) -> Value {
    let is_wrong = reason == "FailedScheduling";
    json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": name, "namespace": "shop"},
        "type": if is_wrong { "Warning" } else { "Normal" }, "reason": reason,
        "message": format!("{reason} of {}, in words that nobody has shortened", about["metadata"]["name"]),
        "count": 2,
        "involvedObject": {
            "apiVersion": about["apiVersion"], "kind": about["kind"], "namespace": "shop",
            "name": about["metadata"]["name"], "uid": about["metadata"]["uid"],
        },
    })
}

fn crash_loop() -> Value {
    json!({"phase": "Running", "containerStatuses": [{
        "name": "app", "ready": false, "restartCount": 3,
        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
    }]})
}

/// A Deployment gets a bad image. Its controllers create Pods, one of which crashes, and report.
async fn incident() -> Cluster {
    let cluster = Cluster::start().await;
    let kcm = "kube-controller-manager";
    let web = cluster.put(deployment("web", 2));
    cluster.edit("deployments", "web", &json!({"spec": {"replicas": 3}}));
    let set = create(&cluster, replica_set("web-1", &web), kcm);
    for name in ["web-1-a", "web-1-b"] {
        let one = create(&cluster, owned_by(pod(name, &json!({})), &set), kcm);
        let started = event(&format!("{name}.1"), &one, "Started");
        create(&cluster, started, "kubelet");
        let unplaced = event(&format!("{name}.2"), &one, "FailedScheduling");
        create(&cluster, unplaced, "kube-scheduler");
    }
    cluster.report("pods", "web-1-b", &crash_loop());
    cluster.tick(1);
    let by = Writer::new(kcm).on("status");
    let target = Target::new("deployments", "shop", "web");
    let status = json!({"status": {"replicas": 3}});
    cluster.sandbox.patch(&target, &status, &by).unwrap();
    cluster.put(config_map("flags", &json!({"mode": "off"})));
    cluster.edit(
        "pods",
        "web-1-a",
        &json!({"metadata": {"labels": {"by": "hand"}}}),
    );
    cluster.delete("pods", "web-1-a");
    cluster.delete("configmaps", "flags");
    cluster
}

/// Runs `changes` over the whole namespace.
async fn timeline(args: &[&str]) -> Ran {
    let every = ["changes", "--since-rv", "1", "--once"];
    incident().await.spy().run(&[&every, args].concat())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timeline_shows_what_people_did_and_counts_what_controllers_did() {
    assert_snapshot!(timeline(&[]).await.transcript(), @r#"
    2026-03-02T12:00:01Z CREATED deployment/web  2  4m59s ago  by kubectl-create
    + .spec.replicas: 2
    + .spec.selector: {matchLabels: {app: web}}
    + .spec.template: {metadata: {labels: {app: web}}, spec: {containers: [{image: app:1, name: app}]}}
    + .spec.template.spec.containers[name=app].image: app:1
    2026-03-02T12:00:02Z MODIFIED deployment/web  2→3  +1s  4m58s ago  by kubectl-edit  1 change, 3 hidden
    ~ .spec.replicas: 2 → 3
      5 versions of 2 pods and 1 replicaset, 1 status report, 2 events, 1 failing (CrashLoopBackOff) (show: --owned)
    2026-03-02T12:00:06Z Warning FailedScheduling pod/web-1-a and 1 more: FailedScheduling of "web-1-a", in words that nobody has shortened ×4
    2026-03-02T12:00:12Z CREATED configmap/flags  13  4m48s ago  by kubectl-create
    + .data.mode: "off"
    2026-03-02T12:00:13Z MODIFIED pod/web-1-a  5→14  +9s  4m47s ago  by kubectl-edit  1 change, 2 hidden
    + .metadata.labels.by: hand
    2026-03-02T12:00:13Z–2026-03-02T12:05:00Z DELETED configmap/flags  16  0s–4m47s ago  existed up to 4m48s
    ── 9 of 9 objects changed, in 5 kinds (8 counted, show: --owned), back to 2026-03-02T12:00:01Z ──
    ── complete since 2026-03-02T12:00:01Z · cluster-scoped kinds are not read: -A ──
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn owned_objects_and_reports_are_shown_on_request() {
    assert_snapshot!(timeline(&["--owned", "-o", "short"]).await.transcript(), @r#"
    2026-03-02T12:00:01Z deployment/web  kubectl-create  created  app:1
    2026-03-02T12:00:02Z deployment/web  kubectl-edit  replicas: 2 → 3
    2026-03-02T12:00:03Z replicaset/web-1  kube-controller-manager  created  app:1
    2026-03-02T12:00:04Z pod/web-1-a  kube-controller-manager  created  app:1
    2026-03-02T12:00:05Z Normal Started pod/web-1-a and 1 more: Started of "web-1-a", in words that nobody has shortened ×4
    2026-03-02T12:00:06Z Warning FailedScheduling pod/web-1-a and 1 more: FailedScheduling of "web-1-a", in words that nobody has shortened ×4
    2026-03-02T12:00:07Z pod/web-1-b  kube-controller-manager  created  app:1
    2026-03-02T12:00:10Z pod/web-1-b  kubelet (status)  status: (none) → {containerStatuses: [{name: app, ready: false, …
    2026-03-02T12:00:11Z deployment/web  kube-controller-manager (status)  status: (none) → {replicas: 3}
    2026-03-02T12:00:12Z configmap/flags  kubectl-create  created
    2026-03-02T12:00:13Z pod/web-1-a  kubectl-edit  metadata.labels.by: (none) → hand
    2026-03-02T12:00:13Z–2026-03-02T12:05:00Z pod/web-1-a  deleted  existed up to 4m56s
    2026-03-02T12:00:13Z–2026-03-02T12:05:00Z configmap/flags  deleted  existed up to 4m48s
    ── 9 of 9 objects changed, in 5 kinds, back to 2026-03-02T12:00:01Z · complete since 2026-03-02T12:00:01Z ──
    ── cluster-scoped kinds are not read: -A ──
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timeline_of_people_has_no_controllers() {
    assert_snapshot!(timeline(&["--people", "-o", "short"]).await.transcript(), @"
    2026-03-02T12:00:01Z deployment/web  kubectl-create  created  app:1
    2026-03-02T12:00:02Z deployment/web  kubectl-edit  replicas: 2 → 3
    2026-03-02T12:00:12Z configmap/flags  kubectl-create  created
    2026-03-02T12:00:13Z pod/web-1-a  kubectl-edit  metadata.labels.by: (none) → hand
    2026-03-02T12:00:13Z–2026-03-02T12:05:00Z configmap/flags  deleted  existed up to 4m48s
    ── 9 of 9 objects changed, in 5 kinds (10 hidden), back to 2026-03-02T12:00:01Z ──
    ── left out: kube-controller-manager 4, kubelet 3, kube-scheduler 2, not recorded 1 ──
    ── complete since 2026-03-02T12:00:01Z · cluster-scoped kinds are not read: -A ──
    ");
}

/// A manager changes an object through a patch.
fn patch(cluster: &Cluster, target: &Target, change: &Value, by: &Writer) {
    cluster.tick(1);
    cluster.sandbox.patch(target, change, by).unwrap();
}

/// What people do to owned objects: the operator `tenants` owns one, and a Pod leaves its controller.
async fn people_and_owned_objects() -> Cluster {
    let cluster = Cluster::start().await;
    let kcm = "kube-controller-manager";
    let set = cluster.put(deployment("web", 1));
    let tenant = cluster.put(config_map("tenant", &json!({})));
    let orders = owned_by(config_map("orders", &json!({"version": "14"})), &tenant);
    create(&cluster, orders, "tenants");
    create(&cluster, owned_by(pod("web-1", &json!({})), &set), kcm);
    let orders = Target::new("configmaps", "shop", "orders");
    let web = Target::new("pods", "shop", "web-1");
    let version = |version: &str| json!({"data": {"version": version}});
    let label = |app: &str| json!({"metadata": {"labels": {"app": app}}});
    patch(&cluster, &orders, &version("15"), &Writer::new("tenants"));
    patch(&cluster, &orders, &version("17"), &Writer::new("rita"));
    let again = version("18"); // in the same second
    let rita = Writer::new("rita");
    cluster.sandbox.patch(&orders, &again, &rita).unwrap();
    let ready = json!({"status": {"phase": "Running"}});
    let kubelet = Writer::new("node-agent").on("status");
    patch(&cluster, &web, &ready, &kubelet);
    patch(&cluster, &web, &label("mine"), &Writer::new("node-agent"));
    patch(&cluster, &web, &label("debug"), &Writer::new("zoe"));
    let released = json!({"metadata": {"ownerReferences": null}});
    patch(&cluster, &web, &released, &Writer::new(kcm));
    cluster
}

/// A manager that made an owned object, or reports about it, is its controller. Others are people.
#[tokio::test(flavor = "multi_thread")]
async fn what_people_do_to_owned_objects_is_not_counted() {
    let cluster = people_and_owned_objects().await;
    let args = ["changes", "--since-rv=3", "--once", "-o=short"];
    assert_snapshot!(cluster.spy().run(&args).transcript(), @r#"
    ·  2026-03-02T12:00:03Z-2026-03-02T12:00:05Z configmap/tenant: 2 versions of 1 configmap (show: --owned)
    ·  2026-03-02T12:00:04Z-2026-03-02T12:05:00Z deployment/web: 4 versions of 1 pod (show: --owned)
    2026-03-02T12:00:06Z configmap/orders  rita  version: "15" → "17"
    2026-03-02T12:00:06Z configmap/orders  probably rita  version: "17" → "18"
    2026-03-02T12:00:09Z pod/web-1  zoe  metadata.labels.app: mine → debug
      probably by X: no writer is recorded, and X owned these values before
    ── 2 of 4 objects changed, in 2 kinds (6 counted, show: --owned), back to 2026-03-02T12:00:06Z ──
    ── complete since 2026-03-02T12:00:03Z · cluster-scoped kinds are not read: -A ──
    "#);
    let people = cluster.spy().run(&[&args[..], &["--people"]].concat());
    assert_snapshot!(people.transcript(), @r#"
    2026-03-02T12:00:06Z configmap/orders  rita  version: "15" → "17"
    2026-03-02T12:00:06Z configmap/orders  probably rita  version: "17" → "18"
    2026-03-02T12:00:09Z pod/web-1  zoe  metadata.labels.app: mine → debug
      probably by X: no writer is recorded, and X owned these values before
    ── 2 of 4 objects changed, in 2 kinds (6 hidden), back to 2026-03-02T12:00:06Z ──
    ── left out: node-agent 2, tenants 2, kube-controller-manager 1, not recorded 1 · complete since 2026-03-02T12:00:03Z ──
    ── cluster-scoped kinds are not read: -A ──
    "#);
}

/// What a GitOps tool and a person do to a Deployment, among the work of controllers.
async fn gitops() -> Cluster {
    let cluster = Cluster::start().await;
    let (kcm, argo) = ("kube-controller-manager", "argocd-controller");
    let web = create(&cluster, deployment("web", 2), argo);
    let target = Target::new("deployments", "shop", "web");
    let scale = |replicas: u32, by: &Writer| {
        patch(
            &cluster,
            &target,
            &json!({"spec": {"replicas": replicas}}),
            by,
        );
    };
    scale(4, &Writer::new("kubectl").on("scale"));
    scale(2, &Writer::new(argo));
    scale(3, &Writer::new(kcm).on("scale"));
    let set = create(&cluster, replica_set("web-1", &web), kcm);
    for name in ["web-1-a", "web-1-b"] {
        create(&cluster, owned_by(pod(name, &json!({})), &set), kcm);
        cluster.report("pods", name, &crash_loop());
    }
    let data = json!({"mode": "off"});
    create(&cluster, config_map("flags", &data), "kustomize-controller");
    let holder = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": "leader", "namespace": "shop"}, "spec": {"holderIdentity": "one"}});
    create(&cluster, holder, "foo-controller");
    let books = json!({"metadata": {"annotations": {"foo.example.com/state": "seen"}}});
    patch(&cluster, &target, &books, &Writer::new("foo-controller"));
    let status = json!({"status": {"replicas": 3}});
    patch(&cluster, &target, &status, &Writer::new(argo).on("status"));
    cluster.delete("pods", "web-1-a");
    cluster
}

/// Who writes the content of objects that it does not own, writes for people, whatever its name. Those who are left out are
/// named.
#[tokio::test(flavor = "multi_thread")]
async fn gitops_tools_are_people_and_the_managers_left_out_are_named() {
    let cluster = gitops().await;
    let args = ["changes", "--since-rv=1", "--people", "--once", "-o"];
    let run = |format: &str| cluster.spy().run(&[&args[..], &[format]].concat());
    assert_snapshot!(run("short").transcript(), @"
    2026-03-02T12:00:01Z deployment/web  argocd-controller  created  app:1
    2026-03-02T12:00:01Z–2026-03-02T12:00:03Z deployment/web  kubectl (scale)  replicas: 2 → 4
    2026-03-02T12:00:03Z deployment/web  argocd-controller  replicas: 4 → 2
    2026-03-02T12:00:10Z configmap/flags  kustomize-controller  created
    ── 6 of 6 objects changed, in 5 kinds (10 hidden), back to 2026-03-02T12:00:01Z ──
    ── left out: kube-controller-manager 4, foo-controller 2, kubelet 2, argocd-controller 1, not recorded 1 ──
    ── complete since 2026-03-02T12:00:01Z · cluster-scoped kinds are not read: -A ──
    ");
    assert_snapshot!(run("name").transcript(), @"
    deployment.apps/web
    deployment.apps/web
    deployment.apps/web
    configmap/flags
    ! left out: kube-controller-manager 4, foo-controller 2, kubelet 2, argocd-controller 1, not recorded 1
    ");
    let records = run("json");
    let seam = records.stdout.lines().find(|line| line.contains("seam"));
    assert_snapshot!(seam.unwrap_or_default(), @r#"{"v":1,"type":"seam","seen":"2026-03-02T12:05:00.000Z","cluster":"demo","versions":4,"live":false,"leftOut":[{"manager":"kube-controller-manager","versions":4},{"manager":"foo-controller","versions":2},{"manager":"kubelet","versions":2},{"manager":"argocd-controller","versions":1},{"manager":null,"versions":1}]}"#);
    let mut live = cluster.spy().on_terminal((80, 20), &args[..3]);
    live.until_shown("the divider", |shown| shown.contains("● live"));
    cluster.report("pods", "web-1-b", &json!({"phase": "Failed"}));
    live.until_shown("the new count", |shown| {
        shown.contains("left out: kubelet 1")
    });
    live.type_in(b"\x03");
    live.finish();
    assert_snapshot!(live.transcript().replace("^C", ""), @r#"
    12:00:01 CREATED deployment/web  2  4m59s ago  by argocd-controller
    + .spec.replicas: 2
    + .spec.selector: {matchLabels: {app: web}}
    + .spec.template: {metadata: {1 field}, spec: {1 field}}
    + .spec.template.spec.containers[name=app].image: app:1
    12:00:01–03 MODIFIED deployment/web  2→3  by kubectl (scale)  1 change, 3 hidden
    ~ .spec.replicas: 2 → 4
    12:00:03 MODIFIED deployment/web  3→4  by argocd-controller  1 change, 3 hidden
    ~ .spec.replicas: 4 → 2
    12:00:10 CREATED configmap/flags  11  4m50s ago  by kustomize-controller
    + .data.mode: "off"
    ── live since 12:05:00 ──
    ── 6 of 6 objects changed, in 5 kinds (10 hidden), back to 12:00:01 ──
    ── left out: kube-controller-manager 4, foo-controller 2, kubelet 2 ──
    ── argocd-controller 1, not recorded 1 · complete since 12:00:01 ──
    ── cluster-scoped kinds are not read: -A ──
    ·  left out: kubelet 1
    15 versions: 14 earlier, 1 live · 2 changes shown, 6 hidden · 0s
    "#);
}

/// A person and a GitOps tool write the same field in turn.
#[tokio::test(flavor = "multi_thread")]
async fn a_field_that_two_managers_write_in_turn_is_named() {
    let cluster = Cluster::start().await;
    create(&cluster, deployment("web", 3), "argocd-controller");
    let target = Target::new("deployments", "shop", "web");
    let scale = |replicas: u32, by: &str| {
        let change = json!({"spec": {"replicas": replicas}});
        patch(&cluster, &target, &change, &Writer::new(by));
    };
    for _ in 0..2 {
        scale(4, "kubectl-edit");
        scale(3, "argocd-controller");
    }
    let args = ["changes", "deploy/web", "--since=1h", "-o=short"];
    let mut run = cluster.spy().start(&args);
    run.until("live since");
    for _ in 0..2 {
        scale(4, "kubectl-edit");
        scale(3, "argocd-controller");
    }
    run.until("flipped 8 times");
    assert_snapshot!(super::interrupted(run).transcript(), @"
    2026-03-02T12:00:01Z deployment/web  argocd-controller  created  app:1
    2026-03-02T12:00:02Z deployment/web  kubectl-edit  replicas: 3 → 4
    2026-03-02T12:00:03Z deployment/web  argocd-controller  replicas: 4 → 3
    2026-03-02T12:00:04Z deployment/web  kubectl-edit  replicas: 3 → 4
    2026-03-02T12:00:05Z deployment/web  argocd-controller  replicas: 4 → 3
    deployment/web  replicas flipped 4 times in 3s between kubectl-edit (4) and argocd-controller (3)
    ── live since 2026-03-02T12:05:00Z · 5 earlier versions, back to 2026-03-02T12:00:01Z ──
    2026-03-02T12:05:00Z deployment/web  kubectl-edit  replicas: 3 → 4
    2026-03-02T12:05:00Z deployment/web  argocd-controller  replicas: 4 → 3
    2026-03-02T12:05:00Z deployment/web  kubectl-edit  replicas: 3 → 4
    2026-03-02T12:05:00Z deployment/web  argocd-controller  replicas: 4 → 3
    deployment/web  replicas flipped 8 times in 4m58s between kubectl-edit (4) and argocd-controller (3)
    ");
}

/// The values of a Secret are hidden. So its keys are named.
#[tokio::test(flavor = "multi_thread")]
async fn a_short_line_names_the_keys_of_a_secret_that_came_and_went() {
    let cluster = Cluster::start().await;
    let secret = |data: &Value| json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db", "namespace": "shop"}, "data": data});
    cluster.put(secret(&json!({"token": "YQ==", "user": "YQ=="})));
    let changed = json!({"data": {"token": null, "password": "Yg==", "user": "Yg=="}});
    cluster.edit("secrets", "db", &changed);
    cluster.edit("secrets", "db", &json!({"data": {"user": "YQ=="}}));
    let args = ["changes", "secret/db", "--since=1h", "--once", "-o"];
    let run = |format: &str| cluster.spy().run(&[&args[..], &[format]].concat());
    assert_snapshot!(run("short").transcript(), @"
    2026-03-02T12:00:01Z secret/db  kubectl-create  created  token, user
    2026-03-02T12:00:02Z secret/db  kubectl-edit  +password, -token, ~user
    2026-03-02T12:00:03Z secret/db  kubectl-edit  user: <secret 1 B #1> → <secret 1 B #2>
    ── 3 earlier versions, back to 2026-03-02T12:00:01Z ──
    ");
    assert_snapshot!(run("paths").transcript(), @"
    2026-03-02T12:00:01Z CREATED secret/db  2  4m59s ago  by kubectl-create
    + .data.token: <secret 1 B #1>
    + .data.user: <secret 1 B #1>
    2026-03-02T12:00:02Z MODIFIED secret/db  2→3  +1s  4m58s ago  by kubectl-edit  3 changes, 2 hidden
    + .data.password: <secret 1 B #2>
    - .data.token: <secret 1 B #1>  (was kubectl-create's)
    ~ .data.user: <secret 1 B #1> → <secret 1 B #2>
    2026-03-02T12:00:03Z MODIFIED secret/db  3→4  +1s  4m57s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.user: <secret 1 B #2> → <secret 1 B #1>
    ── 3 earlier versions, back to 2026-03-02T12:00:01Z ──
    ");
}

/// In each new namespace, a controller makes two objects. The server records no manager for an object without fields.
#[tokio::test(flavor = "multi_thread")]
async fn people_make_neither_the_objects_of_each_namespace_nor_those_of_the_server() {
    let cluster = Cluster::start().await;
    let object = |kind: &str, name: &str| json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": "shop"}});
    let kcm = "kube-controller-manager";
    create(&cluster, object("ServiceAccount", "default"), kcm);
    let certificates = config_map("kube-root-ca.crt", &json!({"ca.crt": "x"}));
    create(&cluster, certificates, kcm);
    create(
        &cluster,
        object("ServiceAccount", "builder"),
        "kubectl-create",
    );
    let server = "api-priority-and-fairness-config-producer-v1";
    create(&cluster, config_map("flows", &json!({"a": "b"})), server);
    cluster.tick(1);
    cluster.delete("configmaps", "kube-root-ca.crt");
    cluster.delete("serviceaccounts", "default");
    let about = cluster.put(config_map("settings", &json!({"a": "b"})));
    create(&cluster, event("e", &about, "Created"), kcm);
    cluster.delete("events", "e");
    let args = ["changes", "--since=1h", "--once", "--people", "-o", "short"];
    assert_snapshot!(cluster.spy().run(&args).transcript(), @"
    2026-03-02T12:00:03Z serviceaccount/builder  created
    2026-03-02T12:00:08Z configmap/settings  kubectl-create  created
    ── 6 of 6 objects changed, in 3 kinds (7 hidden), back to 2026-03-02T12:00:03Z ──
    ── left out: kube-controller-manager 2, api-priority-and-fairness-config-producer-v1 1, not recorded 4 ──
    ── complete since 2026-03-02T12:00:01Z · cluster-scoped kinds are not read: -A ──
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_manager_can_be_a_pattern() {
    assert_snapshot!(timeline(&["--by", "kube-s*", "-o", "short"]).await.transcript(), @r#"
    2026-03-02T12:00:06Z Warning FailedScheduling pod/web-1-a and 1 more: FailedScheduling of "web-1-a", in words that nobody has shortened ×4
    ── 9 of 9 objects changed, in 5 kinds (13 hidden), back to 2026-03-02T12:00:06Z · complete since 2026-03-02T12:00:01Z ──
    ── cluster-scoped kinds are not read: -A ──
    "#);
    let ran = timeline(&["--by", "kubctl*", "-o", "short"]).await;
    assert_snapshot!(ran.transcript(), @"
    ── 9 of 9 objects changed, in 5 kinds (15 hidden) · complete since 2026-03-02T12:00:01Z ──
    ── cluster-scoped kinds are not read: -A ──
    ! no version matches --by; these managers wrote: kube-controller-manager, kube-scheduler, kubectl-create, kubectl-edit, kubelet
    ");
}

/// The server records no time for a deletion. The next write to any object limits it.
#[tokio::test(flavor = "multi_thread")]
async fn an_uncertain_time_is_marked() {
    let cluster = Cluster::start().await;
    for name in ["one", "two"] {
        cluster.put(config_map(name, &json!({})));
        cluster.delete("configmaps", name);
    }
    let args = ["changes", "cm", "--since-rv=1", "--once", "-o=short"];
    let mut terminal = cluster.spy().on_terminal((80, 12), &args);
    terminal.finish();
    let piped = cluster.spy().run(&args).transcript();
    assert_snapshot!(terminal.transcript() + &piped, @"
    12:00:01 configmap/one  kubectl-create  created
    12:00:01–03 configmap/one  deleted  existed up to 2s
    12:00:03 configmap/two  kubectl-create  created
    12:00:03–05:00 configmap/two  deleted  existed up to 4m57s
    ── 2 of 2 objects changed, in 1 kind, back to 12:00:01 ──
    ── complete since 12:00:01 ──
    4 versions: 4 earlier · 0 changes shown, 2 hidden · 0s
    2026-03-02T12:00:01Z configmap/one  kubectl-create  created
    2026-03-02T12:00:01Z–2026-03-02T12:00:03Z configmap/one  deleted  existed up to 2s
    2026-03-02T12:00:03Z configmap/two  kubectl-create  created
    2026-03-02T12:00:03Z–2026-03-02T12:05:00Z configmap/two  deleted  existed up to 4m57s
    ── 2 of 2 objects changed, in 1 kind, back to 2026-03-02T12:00:01Z · complete since 2026-03-02T12:00:01Z ──
    ");
}

/// The reason and the count stay, at any width.
#[tokio::test(flavor = "multi_thread")]
async fn the_line_of_a_warning_fits_a_narrow_terminal() {
    let cluster = Cluster::start().await;
    let about = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data-db-1", "uid": "1"}});
    let warning = event("unplaced", &about, "FailedScheduling");
    create(&cluster, warning, "kube-scheduler");
    let args = ["changes", "--since-rv=1", "--once", "-o=short"];
    let line = |columns| {
        let mut terminal = cluster.spy().on_terminal((columns, 12), &args);
        terminal.finish();
        let shown = terminal.transcript();
        shown.lines().next().unwrap_or_default().to_owned()
    };
    assert_snapshot!([120, 100, 80, 70, 50].map(line).join("\n"), @r#"
    12:00:01 Warning FailedScheduling persistentvolumeclaim/data-db-1: FailedScheduling of "data-db-1", in words that no… ×2
    12:00:01 Warning FailedScheduling persistentvolumeclaim/data-db-1: FailedScheduling of "data-db-… ×2
    12:00:01 Warning FailedScheduling persistentvolumeclaim/data-db-1: FailedSch… ×2
    12:00:01 Warning FailedScheduling persistentvolumeclaim/data-db-1 ×2
    12:00:01 Warning FailedScheduling persis…a-db-1 ×2
    "#);
}

/// The writer and the change stay, and the counts of what controllers did.
#[tokio::test(flavor = "multi_thread")]
async fn a_long_name_is_cut_in_its_middle() {
    let name = "very-long-release-name-frontend-web-canary-blue-7f9d8c6b5d-x2k4q";
    let cluster = Cluster::start().await;
    let web = cluster.put(deployment(name, 2));
    create(
        &cluster,
        replica_set("web-1", &web),
        "kube-controller-manager",
    );
    cluster.edit("deployments", name, &json!({"spec": {"replicas": 3}}));
    let shown = |columns, format| {
        let args = ["changes", "--since-rv=2", "--once", "-o", format];
        let mut terminal = cluster.spy().on_terminal((columns, 12), &args);
        assert!(terminal.finish().success());
        let shown = terminal.transcript();
        let lines = shown.lines().take_while(|line| !line.starts_with('─'));
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(shown(80, "short"), @"
    ·  12:00:02 deployment/very-long-…ue-7f9d8c6b5d-x2k4q: 1 version (show: --owned)
    12:00:03 deployment/very-long-…blue-7f9d8c6b5d-x2k4q  kubectl-edit  replicas → 3
    ");
    assert_snapshot!(shown(60, "short"), @"
    ·  12:00:02 deployment/…b5d-x2k4q: 1 version (show: --owned)
    12:00:03 deployment/…c6b5d-x2k4q  kubectl-edit  replicas → 3
    ");
    assert_snapshot!(shown(80, "paths"), @"
    ·  12:00:02 deployment/very-long-…ue-7f9d8c6b5d-x2k4q: 1 version (show: --owned)
    12:00:03 MODIFIED deployment/very-l…-7f9d8c6b5d-x2k4q  by kubectl-edit  1 change
    ~ .spec.replicas: 2 → 3
    ");
    assert_snapshot!(shown(100, "paths"), @"
    ·  12:00:02 deployment/very-long-release-na…-canary-blue-7f9d8c6b5d-x2k4q: 1 version (show: --owned)
    12:00:03 MODIFIED deployment/very-lon…lue-7f9d8c6b5d-x2k4q  2→4  by kubectl-edit  1 change, 3 hidden
    ~ .spec.replicas: 2 → 3
    ");
}

/// The whole cluster has the kinds that a namespace does not have.
#[tokio::test(flavor = "multi_thread")]
async fn the_timeline_of_all_namespaces_has_cluster_scoped_kinds() {
    let ran = timeline(&["-A", "-o", "short", "--people"]).await;
    assert!(!ran.stdout.contains("cluster-scoped"), "{}", ran.stdout);
}

/// A path that no version has is named, with one that works. A path without changes is not.
#[tokio::test(flavor = "multi_thread")]
async fn a_path_that_no_version_has_is_named() {
    let ran = timeline(&["--only", "image", "-o", "short"]).await;
    assert_snapshot!(ran.transcript(), @"
    ── 9 of 9 objects changed, in 5 kinds (15 hidden) · complete since 2026-03-02T12:00:01Z ──
    ── cluster-scoped kinds are not read: -A ──
    ! --only image matches no field in 15 versions
    ! hint: did you mean --only '**.image'?
    ");
    let ran = timeline(&[
        "--only",
        ".spec.paused",
        "--only",
        ".spec.replica",
        "-o",
        "short",
    ])
    .await;
    assert_snapshot!(ran.transcript(), @"
    ── 9 of 9 objects changed, in 5 kinds (15 hidden) · complete since 2026-03-02T12:00:01Z ──
    ── cluster-scoped kinds are not read: -A ──
    ! --only .spec.paused matches no field in 15 versions
    ! --only .spec.replica matches no field in 15 versions
    ! hint: did you mean --only '.spec.replicas'?
    ");
    let cluster = incident().await;
    for (path, expect) in [
        (
            "spec.Replicas",
            "--only spec.Replicas matches no field in 3 versions\nhint: did you mean --only '.spec.replicas'?\n",
        ),
        (
            "nonsense",
            "--only nonsense matches no field in 3 versions\n",
        ),
        ("spec.selector", ""),
        ("**.image", ""),
    ] {
        for start in ["--since=1h", "--since-rv=1", "--once"] {
            let ran =
                cluster
                    .spy()
                    .run(&["changes", "deploy/web", "--once", "--only", path, start]);
            assert_eq!(ran.stderr, expect, "{path} {start}");
        }
        let now = cluster.spy().run(&[
            "changes",
            "deploy/web",
            "--once",
            "--only",
            path,
            "--since=0",
        ]);
        let expect = expect.replace("3 versions", "1 version");
        assert_eq!(now.stderr, expect, "{path}");
    }
}

/// Formats for programs have every version.
#[tokio::test(flavor = "multi_thread")]
async fn records_and_names_are_not_folded() {
    let names = timeline(&["-o", "name"]).await;
    assert_snapshot!(names.transcript(), @"
    deployment.apps/web
    deployment.apps/web
    replicaset.apps/web-1
    pod/web-1-a
    event/web-1-a.1
    event/web-1-a.2
    pod/web-1-b
    event/web-1-b.1
    event/web-1-b.2
    pod/web-1-b
    deployment.apps/web
    configmap/flags
    pod/web-1-a
    pod/web-1-a
    configmap/flags
    ");
    let records = timeline(&["-o", "json"]).await;
    let count = records.stdout.matches(r#""ref""#).count();
    assert_eq!(count, names.stdout.lines().count());
}

/// The second write of a manager in one second changes no record of its managers.
#[tokio::test(flavor = "multi_thread")]
async fn two_writes_in_one_second_are_both_by_their_manager() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"mode": "a"})));
    cluster.put(config_map("other", &json!({"mode": "a"})));
    cluster.edit("configmaps", "flags", &json!({"data": {"mode": "b"}}));
    let again = Writer::new("kubectl-edit");
    let target = Target::new("configmaps", "shop", "flags");
    let patch = json!({"data": {"mode": "c"}});
    cluster.sandbox.patch(&target, &patch, &again).unwrap();
    cluster.delete("configmaps", "flags");
    cluster.delete("configmaps", "other");
    let args = [
        "changes",
        "cm",
        "--since-rv",
        "1",
        "--once",
        "--by",
        "kubectl-edit",
    ];
    assert_snapshot!(cluster.spy().run(&args).transcript(), @"
    2026-03-02T12:00:03Z MODIFIED configmap/flags  2→4  +2s  4m57s ago  by kubectl-edit  1 change, 2 hidden
    ~ .data.mode: a → b
    2026-03-02T12:00:03Z MODIFIED configmap/flags  4→5  +0s  4m57s ago  probably by kubectl-edit  1 change, 1 hidden
    ~ .data.mode: b → c
    2026-03-02T12:00:03Z–2026-03-02T12:05:00Z DELETED configmap/flags  6  0s–4m57s ago  existed up to 4m59s
      probably by X: no writer is recorded, and X owned these values before
    ── 2 of 2 objects changed, in 1 kind (3 hidden), back to 2026-03-02T12:00:03Z · complete since 2026-03-02T12:00:01Z ──
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_creation_has_only_selected_parts() {
    let ran = timeline(&["--only", "spec.replicas", "-o", "short"]).await;
    let created = ran.stdout.lines().filter(|line| line.contains("created"));
    assert_snapshot!(created.collect::<Vec<_>>().join("\n"), @"
    2026-03-02T12:00:01Z deployment/web  kubectl-create  created
    2026-03-02T12:00:03Z replicaset/web-1  kube-controller-manager  created
    ");
    let cluster = Cluster::start().await;
    cluster.put(json!({"apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "db", "namespace": "shop"}, "data": {"password": "eA==", "user": "eQ=="}}));
    let args = ["changes", "secret/db", "--since-rv=1", "--once", "-o=short"];
    let ran = cluster
        .spy()
        .run(&[&args[..], &["--only", "data.user"]].concat());
    let first = ran.stdout.lines().next();
    assert_eq!(
        first,
        Some("2026-03-02T12:00:01Z secret/db  kubectl-create  created  user")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_creation_without_a_selected_part_is_not_printed() {
    let ran = timeline(&["--only", "spec", "-o", "short"]).await;
    assert_snapshot!(ran.transcript(), @"
    2026-03-02T12:00:01Z deployment/web  kubectl-create  created  app:1
    2026-03-02T12:00:02Z deployment/web  kubectl-edit  replicas: 2 → 3
    2026-03-02T12:00:03Z replicaset/web-1  kube-controller-manager  created  app:1
    2026-03-02T12:00:04Z pod/web-1-a  kube-controller-manager  created  app:1
    2026-03-02T12:00:07Z pod/web-1-b  kube-controller-manager  created  app:1
    2026-03-02T12:00:13Z–2026-03-02T12:05:00Z pod/web-1-a  deleted  existed up to 4m56s
    ── 9 of 9 objects changed, in 5 kinds (9 hidden), back to 2026-03-02T12:00:01Z · complete since 2026-03-02T12:00:01Z ──
    ── cluster-scoped kinds are not read: -A ──
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_alone_is_an_error_with_a_hint() {
    let ran = Cluster::start().await.spy().run(&["changes", "-n", "shop"]);
    assert_eq!(ran.status.code(), Some(1));
    assert_snapshot!(ran.stderr, @"
    error: Required resource not specified.
    hint: name an object or a type, for example: deploy/web, pods, pods -l app=web
    hint: for one timeline of every kind in the namespace, add --since 5m
    See 'kubectl spy changes -h' for help and examples
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn names_for_programs_come_without_messages() {
    let cluster = incident().await;
    let ran = cluster
        .spy()
        .run(&["changes", "deploy,cm", "--once", "-o", "name"]);
    assert_eq!((&*ran.stdout, &*ran.stderr), ("", ""));
    let args = ["changes", "--since-rv", "1", "--once", "-o", "name"];
    assert_eq!(cluster.spy().run(&args).stderr, "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_can_be_a_time_or_some_days_ago() {
    let cluster = incident().await;
    for (since, expect) in [("2026-03-02T12:00:12Z", 2), ("1d", 5)] {
        let args = [
            "changes",
            "cm,deploy",
            "--since",
            since,
            "--once",
            "-o",
            "short",
        ];
        let ran = cluster.spy().run(&args);
        let lines = ran.stdout.lines().filter(|line| line.starts_with("2026"));
        assert_eq!(lines.count(), expect, "{since}\n{}", ran.transcript());
    }
}

/// The output of `--once` ends with the state at the start, whatever happens during the look-back.
#[tokio::test(flavor = "multi_thread")]
async fn versions_after_the_start_are_not_printed_once() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"mode": "a"})));
    let silence = Effect::Stall {
        at: Place::BeforeHeaders,
    };
    let fault = Fault::on(Verb::List, "configmaps", silence);
    cluster.sandbox.inject(fault.range(2..=100));
    let run = cluster.spy().start(&["changes", "cm/flags", "--once"]);
    cluster.watched("configmaps").await;
    cluster.edit("configmaps", "flags", &json!({"data": {"mode": "b"}}));
    assert_snapshot!(run.finish().transcript(), @"
    ── earlier versions not read in 1 s: --since 5m ──
    2026-03-02T12:05:00Z EXISTING configmap/flags  2
    ");
}

/// On a terminal, the footer counts what may go on. The count is printed when its owner changes.
#[tokio::test(flavor = "multi_thread")]
async fn a_live_timeline_counts_in_its_footer() {
    let cluster = Cluster::start().await;
    let web = cluster.put(deployment("web", 2));
    let args = ["changes", "--since-rv", "2"];
    let mut terminal = cluster.spy().on_terminal((100, 20), &args);
    terminal.until_shown("the footer", |shown| shown.contains("● live"));
    let kcm = "kube-controller-manager";
    for name in ["web-1", "web-2"] {
        create(&cluster, owned_by(pod(name, &json!({})), &web), kcm);
    }
    terminal.until_shown("the count", |shown| shown.contains("2 versions of 2 pods"));
    cluster.edit("deployments", "web", &json!({"spec": {"replicas": 3}}));
    terminal.until_shown("the change", |shown| {
        shown.contains("replicas: 2 → 3") && shown.contains("3 versions")
    });
    create(&cluster, owned_by(pod("web-3", &json!({})), &web), kcm);
    terminal.until_shown("the new count", |shown| {
        shown.contains("1 version of 1 pod")
    });
    terminal.type_in(b"\x03");
    terminal.finish();
    assert_snapshot!(terminal.transcript().replace("^C", ""), @"
    ── live since 12:05:00 · none of 1 object changed · complete ──
    ── cluster-scoped kinds are not read: -A ──
    ·  12:05:00 deployment/web: 2 versions of 2 pods (show: --owned)
    12:05:00 MODIFIED deployment/web  2→5  by kubectl-edit  1 change, 3 hidden
    ~ .spec.replicas: 2 → 3
    ·  12:05:00 deployment/web: 1 version of 1 pod (show: --owned)
    4 versions: 4 live · 1 change shown, 3 hidden · 0s
    ");
}

/// In a pipe, the work about one change is one line below it, and a Warning that comes again has no second line.
#[tokio::test(flavor = "multi_thread")]
async fn a_live_timeline_in_a_pipe_counts_once() {
    let cluster = Cluster::start().await;
    let web = cluster.put(deployment("web", 2));
    let kcm = "kube-controller-manager";
    let mut run = cluster.spy().start(&["changes", "--since-rv", "2"]);
    run.until("live since");
    cluster.edit("deployments", "web", &json!({"spec": {"replicas": 3}}));
    run.until("replicas: 2 → 3");
    let one = create(&cluster, owned_by(pod("web-1", &json!({})), &web), kcm);
    create(
        &cluster,
        event("web-1.1", &one, "FailedScheduling"),
        "kube-scheduler",
    );
    run.until("Warning FailedScheduling");
    create(
        &cluster,
        event("web-1.2", &one, "FailedScheduling"),
        "kube-scheduler",
    );
    for name in ["web-2", "web-3"] {
        create(&cluster, owned_by(pod(name, &json!({})), &web), kcm);
    }
    cluster.put(config_map("flags", &json!({"mode": "off"})));
    run.until("configmap/flags");
    cluster.edit("deployments", "web", &json!({"spec": {"replicas": 4}}));
    run.until("replicas: 3 → 4");
    create(&cluster, owned_by(pod("web-4", &json!({})), &web), kcm);
    cluster.put(config_map("last", &json!({"mode": "off"})));
    run.until("configmap/last");
    assert_snapshot!(super::interrupted(run).transcript(), @r#"
    ── live since 2026-03-02T12:05:00Z · none of 1 object changed · complete · cluster-scoped kinds are not read: -A ──
    2026-03-02T12:05:00Z MODIFIED deployment/web  2→3  by kubectl-edit  1 change, 3 hidden
    ~ .spec.replicas: 2 → 3
    2026-03-02T12:05:00Z Warning FailedScheduling pod/web-1: FailedScheduling of "web-1", in words that nobody has shortened ×2
    2026-03-02T12:05:00Z CREATED configmap/flags  9  by kubectl-create
    + .data.mode: "off"
    ·  2026-03-02T12:05:00Z deployment/web: 3 versions of 3 pods, 1 more warning (show: --owned)
    2026-03-02T12:05:00Z MODIFIED deployment/web  3→10  +0s  by kubectl-edit  1 change, 3 hidden
    ~ .spec.replicas: 3 → 4
    2026-03-02T12:05:00Z CREATED configmap/last  12  by kubectl-create
    + .data.mode: "off"
    ·  2026-03-02T12:05:00Z deployment/web: 1 version of 1 pod (show: --owned)
    "#);
}

/// Events are a source of their own, so a Warning can come before the Pod that it is about.
#[tokio::test(flavor = "multi_thread")]
async fn a_warning_that_comes_before_its_object_has_one_line() {
    let cluster = Cluster::start().await;
    let web = cluster.put(deployment("web", 2));
    let slow = Effect::Slow(Duration::from_secs(1));
    cluster
        .sandbox
        .inject(Fault::on(Verb::Watch, "pods", slow).always());
    let mut run = cluster.spy().start(&["changes", "--since-rv", "2"]);
    run.until("live since");
    let kcm = "kube-controller-manager";
    let one = create(&cluster, owned_by(pod("web-1", &json!({})), &web), kcm);
    let warn = |name: &str| {
        create(
            &cluster,
            event(name, &one, "FailedScheduling"),
            "kube-scheduler",
        )
    };
    warn("web-1.1");
    run.until("Warning FailedScheduling");
    create(&cluster, owned_by(pod("web-2", &json!({})), &web), kcm);
    run.until("2 versions of 2 pods");
    warn("web-1.2");
    run.until("1 more warning");
    let printed = super::interrupted(run).transcript();
    assert_eq!(
        printed.matches("Warning FailedScheduling").count(),
        1,
        "{printed}"
    );
}

/// Nothing but folded versions and Events happened.
#[tokio::test(flavor = "multi_thread")]
async fn folded_versions_decide_the_exit_code_in_each_format() {
    let cluster = Cluster::start().await;
    let web = cluster.put(deployment("web", 2));
    let since = format!(
        "--since-rv={}",
        web["metadata"]["resourceVersion"].as_str().unwrap()
    );
    let args = ["changes", &since, "--once", "--exit-code"];
    let unchanged = cluster.spy().run(&args);
    assert_eq!(
        unchanged.status.code(),
        Some(0),
        "{}",
        unchanged.transcript()
    );
    create(
        &cluster,
        replica_set("web-1", &web),
        "kube-controller-manager",
    );
    for format in ["-o=paths", "-o=short", "-o=json"] {
        let ran = cluster.spy().run(&[&args[..], &[format]].concat());
        assert_eq!(ran.status.code(), Some(1), "{format}: {}", ran.transcript());
    }
}

/// Two cluster-scoped objects of which one is edited, and the time of the second creation.
async fn written_beside() -> (Cluster, Timestamp) {
    let cluster = incident().await;
    let class = |name: &str| json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}, "provisioner": "a"});
    for name in ["slow", "fast"] {
        cluster.put(class(name));
    }
    let second = cluster.now();
    let target = Target::new("storageclasses.storage.k8s.io", "", "slow");
    let binding = json!({"volumeBindingMode": "Immediate"});
    cluster.edit_at(&target, &binding);
    (cluster, second)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_timeline_of_a_namespace_counts_cluster_scoped_changes() {
    let (cluster, second) = written_beside().await;
    let last_part = |args: &[&str]| {
        let all = [&["changes", "--once", "-o", "short"], args].concat();
        let ran = cluster.spy().run(&all);
        let rule = ran.stdout.lines().last().unwrap_or_default();
        let part = rule.trim_end_matches(" ──").rsplit(['·', '─']).next();
        part.unwrap_or_default().trim().to_owned()
    };
    let unread = "cluster-scoped kinds are not read: -A";
    assert_eq!(
        last_part(&["--since", "5m"]),
        "at least 3 cluster-scoped changes: -A"
    );
    assert_eq!(
        last_part(&["--since", &second.to_string()]),
        "at least 2 cluster-scoped changes: -A"
    );
    assert_eq!(last_part(&["--since", "1s"]), unread);
    assert_eq!(last_part(&["--since-rv", "1"]), unread);
    assert_eq!(last_part(&["--since", "5m", "--people"]), unread);
    let before = cluster.sandbox.requests().len();
    let reader = User {
        name: "jane".to_owned(),
        token: String::new(),
        rules: vec![Rule {
            namespace: Some("shop".to_owned()),
            ..Rule::allow("*", "*")
        }],
    };
    cluster.sandbox.set_users(vec![reader]);
    assert_eq!(last_part(&["--since", "5m"]), unread);
    let requests = cluster.sandbox.requests().split_off(before);
    let refused = requests
        .iter()
        .filter(|request| request.status == Some(403));
    let mut refused: Vec<&str> = refused.map(|request| &*request.path).collect();
    refused.sort_unstable();
    let expect = [
        "/api/v1/namespaces?limit=500",
        "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases",
    ];
    assert_eq!(refused, expect);
}
