//! Tests of packages against the sandbox: the records and metrics of `serve`, and the documents of `status`.

use std::fs;
use std::path::PathBuf;

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::inventories::{cluster, put_kustomization, put_workload};
use super::schema::Schema;
use super::serve::Served;
use super::support::cluster::{Cluster, config_map};

/// A configuration with packages of every sort.
const CONFIG: &str = "packages:\n  from: [resourcegroup, flux, argo, helm, cli-utils, {label: app.kubernetes.io/part-of}]\n";

/// A `ConfigMap` in `shop` with these labels and annotations.
fn put_config(cluster: &Cluster, name: &str, labels: &Value, annotations: &Value) {
    let mut map = config_map(name, &json!({}));
    map["metadata"]["labels"] = labels.clone();
    map["metadata"]["annotations"] = annotations.clone();
    cluster.put(map);
}

/// A `ResourceGroup` in `shop` that lists these objects: `GROUP/KIND/NAME`.
fn put_group(cluster: &Cluster, name: &str, members: &[&str]) {
    let member = |member: &&str| {
        let parts: Vec<&str> = member.split('/').collect();
        json!({"group": parts[0], "kind": parts[1], "namespace": "shop", "name": parts[2]})
    };
    let resources: Vec<Value> = members.iter().map(member).collect();
    cluster.put(json!({
        "apiVersion": "kpt.dev/v1alpha1", "kind": "ResourceGroup",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"resources": resources}, "status": {
            "observedGeneration": 1,
            // What an earlier document wrote there does not count.
            "conditions": [{"type": "Reconciling", "status": "True", "reason": "InProgress", "message": "old"}],
        },
    }));
}

/// One package of each sort.
fn put_packages(cluster: &Cluster) {
    put_workload(cluster, "web", "Running");
    put_workload(cluster, "api", "Pending");
    put_group(
        cluster,
        "group",
        &["apps/Deployment/web", "/ConfigMap/gone"],
    );
    put_kustomization(cluster, "apps", &["shop_web_apps_Deployment"]);
    cluster.put(json!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
        "metadata": {"name": "app", "namespace": "shop"}, "spec": {"destination": {"name": "far"}},
        "status": {"resources": [{"version": "v1", "kind": "Service", "namespace": "shop", "name": "s"}]},
    }));
    cluster.put(json!({
        "apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
        "metadata": {"name": "release", "namespace": "shop"}, "spec": {},
        "status": {"observedGeneration": 1, "conditions": [{"type": "Ready", "status": "True"}]},
    }));
    let flux = json!({"helm.toolkit.fluxcd.io/name": "release", "helm.toolkit.fluxcd.io/namespace": "shop"});
    put_config(cluster, "of-flux", &flux, &json!({}));
    let helm = json!({"app.kubernetes.io/managed-by": "Helm"});
    let release =
        json!({"meta.helm.sh/release-name": "chart", "meta.helm.sh/release-namespace": "shop"});
    put_config(cluster, "of-helm", &helm, &release);
    put_config(
        cluster,
        "of-label",
        &json!({"app.kubernetes.io/part-of": "store"}),
        &json!({}),
    );
    let mut inventory = config_map("inventory", &json!({"shop_api_apps_Deployment": ""}));
    inventory["metadata"]["labels"] = json!({"cli-utils.sigs.k8s.io/inventory-id": "x"});
    cluster.put(inventory);
}

fn serve(cluster: &Cluster, args: &[&str]) -> Served {
    let port = cluster.sandbox.address().port();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("packages-{port}"));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("serve.yaml");
    fs::write(&path, format!("outbox: outbox\n{CONFIG}")).unwrap();
    let args = [args, &["-f", path.to_str().unwrap()]].concat();
    Served::start(&cluster.spy(), &args)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_sort_of_package_has_a_record_and_metrics() {
    let cluster = cluster().await;
    put_packages(&cluster);
    let served = serve(
        &cluster,
        &["deploy,cm,resourcegroup,kustomization,application,helmrelease"],
    );
    let schema = Schema::of("packages");
    let body = served.get("/spy/v1/packages").body;
    let line = |line: &str| {
        let record = schema.check(line);
        let text = |field: &str| record[field].as_str().unwrap_or("-").to_owned();
        let (tool, status, message) = (text("tool"), text("status"), text("message"));
        format!(
            "{tool} {}/{} {status}: {message}",
            text("namespace"),
            text("package")
        )
    };
    let lines: Vec<String> = body.lines().map(line).collect();
    assert_snapshot!(lines.join("\n"), @"
    app.kubernetes.io/part-of -/store Current: 1 resource: 1 Current
    argo shop/app Current: 1 resource: 1 Unknown
    flux shop/apps Current: 1 resource: 1 Current
    helm shop/chart Current: 1 resource: 1 Current
    resourcegroup shop/group Failed: 2 resources: 1 Current, 1 NotFound
    cli-utils shop/inventory Failed: 1 resource: 1 Failed
    flux shop/release Current: 1 resource: 1 Current
    ");
    let of = |query: &str| {
        served
            .get(&format!("/spy/v1/packages?{query}"))
            .body
            .lines()
            .count()
    };
    assert_eq!(
        (
            of("status=Failed"),
            of("tool=flux"),
            of("package=group"),
            of("namespace=prod")
        ),
        (2, 2, 1, 0)
    );
    let metrics = served.get("/metrics").body;
    for sample in [
        r#"spy_package_status{cluster="demo",namespace="shop",package="group",tool="resourcegroup",kind="ResourceGroup",status="Failed"} 1"#,
        r#"spy_package_resources{cluster="demo",namespace="shop",package="group",tool="resourcegroup",kind="ResourceGroup",status="NotFound"} 1"#,
        r#"spy_package_observed_generation{cluster="demo",namespace="shop",package="group",tool="resourcegroup",kind="ResourceGroup"} 1"#,
        "spy_package_overflow 0",
    ] {
        assert!(metrics.contains(&format!("{sample}\n")), "{metrics}");
    }
    // The missing member comes.
    cluster.put(config_map("gone", &json!({})));
    let record = served.until("/spy/v1/packages?package=group", |reply| {
        reply.body.contains(r#""status":"Current""#)
    });
    assert!(record.body.contains(r#""since":""#), "{}", record.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_state_of_a_package_is_a_document() {
    let cluster = cluster().await;
    put_packages(&cluster);
    let run = |args: &[&str]| document(&cluster, args);
    let group = run(&["resourcegroup/group", "-o", "resourcegroup"]);
    assert_snapshot!(group, @r#"
    apiVersion: kpt.dev/v1alpha1
    kind: ResourceGroup
    metadata:
      name: group
      namespace: shop
    status:
      conditions:
      - message: "2 resources: 1 Current, 1 NotFound"
        reason: Failed
        status: "False"
        type: Ready
      - message: "2 resources: 1 Current, 1 NotFound"
        reason: Failed
        status: "False"
        type: Reconciling
      - message: "2 resources: 1 Current, 1 NotFound"
        reason: Failed
        status: "True"
        type: Stalled
      observedGeneration: 1
    "#);
    assert_eq!(group, run(&["resourcegroup/group", "-o", "resourcegroup"]));
    assert_snapshot!(run(&["resourcegroup/group", "-o", "configmap", "--members"]), @r#"
    apiVersion: v1
    data:
      Current: "1"
      Failed: "0"
      InProgress: "0"
      NotFound: "1"
      Terminating: "0"
      Unknown: "0"
      generation: "1"
      members: |
        ConfigMap shop/gone NotFound
        Deployment.apps shop/web Current
      message: "2 resources: 1 Current, 1 NotFound"
      observedGeneration: "1"
      status: Failed
    kind: ConfigMap
    metadata:
      name: group-status
      namespace: shop
    "#);
}

/// The document of this object.
fn document(cluster: &Cluster, args: &[&str]) -> String {
    let args = [&["status", "--once"], args].concat();
    let ran = tokio::task::block_in_place(|| cluster.spy().run(&args));
    assert_eq!((&*ran.stderr, ran.status.code()), ("", Some(0)));
    ran.stdout
}

#[tokio::test(flavor = "multi_thread")]
async fn any_object_has_a_document_and_members_are_listed_on_request() {
    let cluster = cluster().await;
    put_packages(&cluster);
    let spy = cluster.spy();
    let run = |args: &[&str]| document(&cluster, args);
    // A job that does not know what a package is can ask about any object.
    let of_one = run(&["deploy/web", "-o", "configmap"]);
    assert!(
        of_one.contains("message: \"1 resource: 1 Current\""),
        "{of_one}"
    );
    let members = run(&["kustomization/apps", "-o", "resourcegroup", "--members"]);
    let document: Value = serde_saphyr::from_str(&members).unwrap();
    let member = json!({"group": "apps", "kind": "Deployment", "namespace": "shop", "name": "web", "status": "Current"});
    assert_eq!(document["status"]["resourceStatuses"], json!([member]));
    let ran = spy.run(&["status", "deploy/web", "--members"]);
    assert!(
        ran.stderr
            .starts_with("error: --members needs -o resourcegroup or -o configmap")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_document_follows_each_change() {
    let cluster = cluster().await;
    put_packages(&cluster);
    let mut running = cluster
        .spy()
        .start(&["status", "resourcegroup/group", "-o", "configmap"]);
    running.until("NotFound: \"1\"");
    cluster.put(config_map("gone", &json!({})));
    running.until("---");
    running.until("Current: \"2\"");
    running.interrupt();
}
