//! Tests of `status` of inventories: the members that an object lists are rows below it.

use insta::assert_snapshot;
use kubectl_spy::sandbox::{Kind, Options, Rule, User, Writer};
use serde_json::{Value, json};

use super::support::Ran;
use super::support::cluster::{Cluster, config_map, deployment, pod};

/// A cluster with the kinds of three tools, and one more.
pub(super) async fn cluster() -> Cluster {
    Cluster::start_with(kinds).await
}

fn kinds(options: &mut Options) {
    let kind = |group: &str, version: &str, kind: &str| {
        Kind::custom(group, version, kind, &format!("{}s", kind.to_lowercase()))
    };
    options.kinds = vec![
        kind("kustomize.toolkit.fluxcd.io", "v1", "Kustomization"),
        kind("helm.toolkit.fluxcd.io", "v2", "HelmRelease"),
        kind("kpt.dev", "v1alpha1", "ResourceGroup"),
        kind("argoproj.io", "v1alpha1", "Application"),
        kind("example.com", "v1", "Widget"),
    ];
}

/// Creates a Kustomization in `shop` that is Ready and lists these ids.
pub(super) fn put_kustomization(cluster: &Cluster, name: &str, ids: &[&str]) {
    cluster.put(json!({
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
        "metadata": {"name": name, "namespace": "shop"}, "spec": {},
        "status": listing(ids),
    }));
}

fn listing(ids: &[&str]) -> Value {
    let entries = ids.iter().map(|id| json!({"id": id, "v": "v1"}));
    let entries: Vec<Value> = entries.collect();
    json!({
        "observedGeneration": 1,
        "conditions": [{"type": "Ready", "status": "True"}],
        "inventory": {"entries": entries},
    })
}

/// Creates a Deployment in `shop` that has rolled out, with a `ReplicaSet` and a Pod in this phase.
pub(super) fn put_workload(cluster: &Cluster, name: &str, phase: &str) {
    let ready = u32::from(phase == "Running");
    let mut workload = deployment(name, 1);
    workload["status"] = json!({
        "observedGeneration": 1, "replicas": 1, "updatedReplicas": 1,
        "readyReplicas": ready, "availableReplicas": ready,
        "conditions": [{"type": "Available", "status": "True"}],
    });
    let workload = cluster.put(workload);
    let mut set = deployment(&format!("{name}-a"), 1);
    set["kind"] = "ReplicaSet".into();
    set["metadata"]["labels"] = json!({"app": name});
    set["metadata"]["ownerReferences"] = owned_by(&workload);
    set["spec"] = workload["spec"].clone();
    set["status"] = json!({
        "observedGeneration": 1, "replicas": 1, "readyReplicas": ready,
        "availableReplicas": ready, "fullyLabeledReplicas": 1,
    });
    let set = cluster.put(set);
    let mut pod = pod(&format!("{name}-a-0"), &json!({"app": name}));
    pod["metadata"]["ownerReferences"] = owned_by(&set);
    let state = if ready == 1 {
        json!({"running": {}})
    } else {
        json!({"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}})
    };
    pod["status"] = json!({
        "phase": phase,
        "conditions": [{"type": "Ready", "status": if ready == 1 { "True" } else { "False" }}],
        "containerStatuses": [{"name": "app", "ready": ready == 1, "state": state}],
    });
    cluster.put(pod);
}

fn owned_by(owner: &Value) -> Value {
    json!([{
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "controller": true,
        "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"],
    }])
}

/// Runs `status --once` until the exit.
fn once(cluster: &Cluster, args: &[&str]) -> Ran {
    let spy = cluster.spy();
    tokio::task::block_in_place(|| spy.run(&[&["status", "--once"], args].concat()))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_members_of_a_kustomization_are_rows_below_it() {
    let cluster = cluster().await;
    put_workload(&cluster, "web", "Running");
    cluster.put(config_map("flags", &json!({})));
    put_kustomization(
        &cluster,
        "apps",
        &["shop_web_apps_Deployment", "shop_flags__ConfigMap"],
    );
    let ran = once(&cluster, &["kustomization/apps", "--exit-code"]);
    assert_snapshot!(ran.transcript(), @r#"
    NAME                     READY   STATUS    RESTARTS   AGE     NODE   IP
    ● kustomization/apps     -       Current   -          4m55s   -      -
    ├─● deployment/web       1/1     Current   -          4m59s   -      -
    │ └─● replicaset/web-a   1/1     Current   -          4m58s   -      -
    │   └─● pod/web-a-0      1/1     Running   0          4m57s   -      -
    └─● configmap/flags      -       Current   -          4m56s   -      -
    "#);
    assert_eq!(ran.status.code(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_member_and_a_failed_one_fail_the_kustomization() {
    let cluster = cluster().await;
    put_workload(&cluster, "web", "Pending");
    put_kustomization(
        &cluster,
        "apps",
        &[
            "shop_web_apps_Deployment",
            "shop_api_apps_Deployment",
            "shop_gone__ConfigMap",
            "shop_w_example.org_Widget",
        ],
    );
    let ran = once(&cluster, &["kustomization/apps", "--exit-code"]);
    assert_snapshot!(ran.transcript(), @r#"
    NAME                     READY   STATUS             RESTARTS   AGE     NODE   IP
    ✗ kustomization/apps     -       Failed             -          4m56s   -      -
    │ └ deployment/api and 1 more do not exist
    │ └ widget/w cannot be read: type not served
    │ └ deployment/web has failed
    ├─∅ deployment/api       -       Missing            -          -       -      -
    ├─∅ configmap/gone       -       Missing            -          -       -      -
    ├─? widget/w             -       Unknown            -          -       -      -
    └─✗ deployment/web       0/1     Failed             -          4m59s   -      -
      │ └ 0 of 1 pods ready: 1 ImagePullBackOff
      └─✗ replicaset/web-a   0/1     Failed             -          4m58s   -      -
        └─✗ pod/web-a-0      0/1     ImagePullBackOff   0          4m57s   -      -
            └ app: no such image
    "#);
    assert_eq!(ran.status.code(), Some(1));
    // A list judges as the name does.
    let list = once(&cluster, &["kustomizations", "--exit-code", "--no-headers"]);
    let line = "└ deployment/api and 1 more do not exist";
    assert!(list.stdout.contains(line), "{}", list.stdout);
    assert_eq!(list.status.code(), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_list_of_inventories_says_how_many_are_judged_alone() {
    let cluster = cluster().await;
    for name in ["a", "b", "c", "d", "e", "f"] {
        put_kustomization(&cluster, name, &[&format!("shop_of-{name}__ConfigMap")]);
    }
    let ran = once(&cluster, &["kustomizations"]);
    let told = ran.stdout.lines().last().unwrap();
    assert_eq!(
        told,
        "the members of 2 inventories are not read; name one to read them"
    );
    assert!(ran.stdout.contains("4 Failed"), "{}", ran.stdout);
    let left = ran
        .stdout
        .lines()
        .filter(|line| line.starts_with("● kustomization/"));
    let left: Vec<&str> = left
        .filter_map(|line| line.split_whitespace().nth(1))
        .collect();
    assert_eq!(left, ["kustomization/e", "kustomization/f"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn inventories_of_inventories_are_followed_and_cycles_are_cut() {
    let cluster = cluster().await;
    put_workload(&cluster, "web", "Pending");
    // Flux applies its own Kustomization, too.
    let own = "shop_flux-system_kustomize.toolkit.fluxcd.io_Kustomization";
    let apps = "shop_apps_kustomize.toolkit.fluxcd.io_Kustomization";
    put_kustomization(&cluster, "flux-system", &[own, apps]);
    put_kustomization(&cluster, "apps", &["shop_web_apps_Deployment", own]);
    let ran = once(&cluster, &["kustomization/flux-system", "--exit-code"]);
    assert_snapshot!(ran.transcript(), @r#"
    NAME                          READY   STATUS             RESTARTS   AGE     NODE   IP
    ✗ kustomization/flux-system   -       Failed             -          4m56s   -      -
    │ └ kustomization/apps has failed
    └─✗ kustomization/apps        -       Failed             -          4m55s   -      -
      │ └ deployment/web has failed
      └─✗ deployment/web          0/1     Failed             -          4m59s   -      -
        │ └ 0 of 1 pods ready: 1 ImagePullBackOff
        └─✗ replicaset/web-a      0/1     Failed             -          4m58s   -      -
          └─✗ pod/web-a-0         0/1     ImagePullBackOff   0          4m57s   -      -
              └ app: no such image
    "#);
    assert_eq!(ran.status.code(), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resource_group_lists_its_members() {
    let cluster = cluster().await;
    put_workload(&cluster, "web", "Running");
    cluster.put(json!({
        "apiVersion": "kpt.dev/v1alpha1", "kind": "ResourceGroup",
        "metadata": {"name": "inventory", "namespace": "shop"},
        "spec": {"resources": [
            {"group": "apps", "kind": "Deployment", "namespace": "shop", "name": "web"},
            {"group": "", "kind": "ConfigMap", "namespace": "shop", "name": "gone"},
        ]},
    }));
    let ran = once(&cluster, &["resourcegroup/inventory"]);
    assert_snapshot!(ran.transcript(), @r#"
    NAME                        READY   STATUS    RESTARTS   AGE     NODE   IP
    ✗ resourcegroup/inventory   -       Failed    -          4m56s   -      -
    │ └ configmap/gone does not exist
    │ └ not observed by its controller
    ├─∅ configmap/gone          -       Missing   -          -       -      -
    └─● deployment/web          1/1     Current   -          4m59s   -      -
      └─● replicaset/web-a      1/1     Current   -          4m58s   -      -
        └─● pod/web-a-0         1/1     Running   0          4m57s   -      -
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_config_map_of_cli_utils_lists_its_members() {
    let cluster = cluster().await;
    put_workload(&cluster, "web", "Running");
    let widget = json!({
        "apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": "w", "namespace": "shop"},
    });
    cluster.put(widget);
    let mut map = config_map(
        "inventory",
        &json!({
            "shop_web_apps_Deployment": "", "shop_w_example.com_Widget": "", "shop_gone__Secret": "",
        }),
    );
    map["metadata"]["labels"] = json!({"cli-utils.sigs.k8s.io/inventory-id": "shop-1"});
    cluster.put(map);
    let ran = once(&cluster, &["configmap/inventory"]);
    assert_snapshot!(ran.transcript(), @r#"
    NAME                     READY   STATUS       RESTARTS   AGE     NODE   IP
    ✗ configmap/inventory    -       Failed       -          4m55s   -      -
    │ └ secret/gone does not exist
    ├─∅ secret/gone          -       Missing      -          -       -      -
    ├─● deployment/web       1/1     Current      -          4m59s   -      -
    │ └─● replicaset/web-a   1/1     Current      -          4m58s   -      -
    │   └─● pod/web-a-0      1/1     Running      0          4m57s   -      -
    └─~ widget/w             -       InProgress   -          4m56s   -      -
        └ not observed by its controller
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_members_of_an_application_are_judged_in_its_own_cluster_alone() {
    let cluster = cluster().await;
    put_workload(&cluster, "web", "Running");
    for (name, server) in [
        ("here", "https://kubernetes.default.svc"),
        ("far", "https://far.example.com"),
    ] {
        cluster.put(json!({
            "apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
            "metadata": {"name": name, "namespace": "shop"},
            "spec": {"destination": {"server": server, "namespace": "shop"}},
            "status": {"resources": [
                {"group": "apps", "version": "v1", "kind": "Deployment", "namespace": "shop", "name": "web"},
                {"version": "v1", "kind": "Service", "namespace": "shop", "name": "web"},
            ]},
        }));
    }
    let ran = once(&cluster, &["application/here", "application/far"]);
    assert_snapshot!(ran.transcript(), @r#"
    1 Current, 1 Failed
    NAME                     READY   STATUS    RESTARTS   AGE     NODE   IP
    ✗ application/here       -       Failed    -          4m56s   -      -
    │ └ service/web does not exist
    ├─∅ service/web          -       Missing   -          -       -      -
    └─● deployment/web       1/1     Current   -          4m59s   -      -
      └─● replicaset/web-a   1/1     Current   -          4m58s   -      -
        └─● pod/web-a-0      1/1     Running   0          4m57s   -      -
    ● application/far        -       Current   -          4m55s   -      -
      └ not judged here: 2 objects in the cluster https://far.example.com
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_that_may_not_be_read_is_unknown() {
    let cluster = cluster().await;
    cluster.sandbox.set_users(vec![User {
        name: "jane".to_owned(),
        token: String::new(),
        rules: vec![
            Rule::allow("*", "kustomizations.kustomize.toolkit.fluxcd.io"),
            Rule::allow("*", "configmaps"),
        ],
    }]);
    cluster.put(config_map("flags", &json!({})));
    put_kustomization(
        &cluster,
        "apps",
        &["shop_flags__ConfigMap", "shop_db__Secret"],
    );
    let ran = once(&cluster, &["kustomization/apps", "--exit-code"]);
    assert_snapshot!(ran.transcript(), @r#"
    NAME                   READY   STATUS    RESTARTS   AGE     NODE   IP
    ? kustomization/apps   -       Unknown   -          4m58s   -      -
    │ └ secret/db cannot be read
    ├─? secret/db          -       Unknown   -          -       -      -
    │   └ cannot be read
    └─● configmap/flags    -       Current   -          4m59s   -      -
    ! secrets/db in namespace "shop": forbidden: Error from server (Forbidden): secrets "db" is forbidden: User "jane" cannot list resource "secrets" in API group "" in the namespace "shop"
    ! Error from server (Forbidden): secrets "db" is forbidden: User "jane" cannot list resource "secrets" in API group "" in the namespace "shop"
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_members_of_one_type_are_found_in_one_list() {
    let cluster = cluster().await;
    let names: Vec<String> = (0..30).map(|number| format!("map-{number:02}")).collect();
    for name in names.iter().skip(1) {
        cluster.put(config_map(name, &json!({})));
    }
    cluster.put(config_map("other", &json!({})));
    let ids: Vec<String> = names
        .iter()
        .map(|name| format!("shop_{name}__ConfigMap"))
        .collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    put_kustomization(&cluster, "apps", &ids);
    let ran = once(&cluster, &["kustomization/apps"]);
    let rows: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(rows.len(), 3 + 30, "{}", ran.transcript());
    assert!(
        !ran.stdout.contains("configmap/other"),
        "{}",
        ran.transcript()
    );
    assert_eq!(rows[2].trim(), "│ └ configmap/map-00 does not exist");
    let lists = cluster.sandbox.requests_until(|_| true).await;
    let lists = lists
        .iter()
        .filter(|request| request.path.contains("/configmaps?"));
    // The look-back asks for the past of the one that does not exist.
    let lists = lists.filter(|request| {
        let mut others = ["watch=", "Exact", "metadata.name"].iter();
        !others.any(|word| request.path.contains(word))
    });
    assert_eq!(lists.count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pods_of_many_workloads_are_found_in_one_list() {
    let cluster = cluster().await;
    let names: Vec<String> = (0..10).map(|number| format!("web-{number}")).collect();
    for name in &names {
        put_workload(&cluster, name, "Running");
    }
    put_workload(&cluster, "other", "Running");
    let ids: Vec<String> = names
        .iter()
        .map(|name| format!("shop_{name}_apps_Deployment"))
        .collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    put_kustomization(&cluster, "apps", &ids);
    let ran = once(&cluster, &["kustomization/apps"]);
    let pods = ran.stdout.lines().filter(|line| line.contains("pod/web-"));
    assert_eq!(pods.count(), 10, "{}", ran.transcript());
    assert!(!ran.stdout.contains("other"), "{}", ran.transcript());
    let requests = cluster.sandbox.requests_until(|_| true).await;
    let mut of_pods = requests
        .iter()
        .filter(|request| request.path.contains("/pods?"));
    assert!(of_pods.all(|request| !request.path.contains("labelSelector=")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_in_another_namespace_is_shown_with_it() {
    let cluster = cluster().await;
    let mut map = config_map("flags", &json!({}));
    map["metadata"]["namespace"] = "prod".into();
    cluster
        .sandbox
        .create(
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "prod"}}),
            &Writer::new("test"),
        )
        .unwrap();
    cluster.put(map);
    put_kustomization(
        &cluster,
        "apps",
        &["prod_flags__ConfigMap", "_prod__Namespace"],
    );
    let ran = once(&cluster, &["kustomization/apps"]);
    assert_snapshot!(ran.transcript(), @r#"
    NAMESPACE   NAME                   READY   STATUS    RESTARTS   AGE     NODE   IP
    shop        ● kustomization/apps   -       Current   -          4m58s   -      -
    prod        ├─● configmap/flags    -       Current   -          4m59s   -      -
    -           └─● namespace/prod     -       Current   -          5m      -      -
    "#);
    let mut run = cluster.spy().start(&["status", "kustomization/apps"]);
    run.until("configmap/flags -n prod Current");
    run.interrupt();
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_file_members_are_rows_and_none_is_missing() {
    let cluster = cluster().await;
    put_workload(&cluster, "web", "Pending");
    let ids = [
        "shop_web_apps_Deployment",
        "shop_w_example.com_Widget",
        "shop_gone__ConfigMap",
        "shop_x_example.org_Gadget",
    ];
    put_kustomization(&cluster, "apps", &ids);
    cluster.put(json!({
        "apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": "w", "namespace": "shop"},
    }));
    let types = "kustomizations,widgets,deploy,rs,pods";
    let yaml = once(&cluster, &[types, "-o", "yaml"]).stdout;
    let file = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("inventory.yaml");
    std::fs::write(&file, yaml).unwrap();
    let file = file.to_str().unwrap();
    let whole = once(&cluster, &["--from", file]).transcript();
    let named = once(&cluster, &["kustomization/apps", "--from", file]).transcript();
    assert_snapshot!(format!("{whole}\n\n{named}"), @r#"
    1 Current, 4 Failed
    NAME                     READY   STATUS             RESTARTS   AGE   NODE   IP
    ✗ kustomization/apps     -       Failed             -          1s    -      -
    │ └ deployment/web has failed
    ├─✗ deployment/web       0/1     Failed             -          4s    -      -
    │ │ └ 0 of 1 pods ready: 1 ImagePullBackOff
    │ └─✗ replicaset/web-a   0/1     Failed             -          3s    -      -
    │   └─✗ pod/web-a-0      0/1     ImagePullBackOff   0          2s    -      -
    │       └ app: no such image
    └─● widget/w             -       Current            -          0s    -      -

    NAME                     READY   STATUS             RESTARTS   AGE   NODE   IP
    ✗ kustomization/apps     -       Failed             -          1s    -      -
    │ └ deployment/web has failed
    ├─✗ deployment/web       0/1     Failed             -          4s    -      -
    │ │ └ 0 of 1 pods ready: 1 ImagePullBackOff
    │ └─✗ replicaset/web-a   0/1     Failed             -          3s    -      -
    │   └─✗ pod/web-a-0      0/1     ImagePullBackOff   0          2s    -      -
    │       └ app: no such image
    └─● widget/w             -       Current            -          0s    -      -
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn members_come_and_go_with_the_inventory() {
    let cluster = cluster().await;
    for name in ["a", "b"] {
        cluster.put(config_map(name, &json!({})));
    }
    put_kustomization(&cluster, "apps", &["shop_a__ConfigMap"]);
    let mut run = cluster.spy().start(&["status", "kustomization/apps"]);
    run.until("configmap/a Current");
    cluster.report(
        "kustomizations.kustomize.toolkit.fluxcd.io",
        "apps",
        &listing(&["shop_b__ConfigMap", "shop_c__ConfigMap"]),
    );
    run.until_each(&[
        "configmap/b Current",
        "kustomization/apps Failed (was Current): configmap/c does not exist",
    ]);
    cluster.put(config_map("c", &json!({})));
    run.until_each(&[
        "configmap/c Current",
        "kustomization/apps Current (was Failed)",
    ]);
    cluster.delete("configmaps", "b");
    run.until_each(&[
        "configmap/b NotFound (was Current)",
        "kustomization/apps Failed (was Current): configmap/b does not exist",
    ]);
    run.interrupt();
}
