//! Tests of the formats of `changes`, with whole outputs.

use insta::assert_snapshot;
use kubectl_spy::sandbox::{BadLine, Effect, Fault, Kind, Target, Verb, Writer};
use serde_json::{Value, json};

use super::super::support::Running;
use super::super::support::cluster::{Cluster, config_map, deployment};
use super::interrupted;

/// Waits until the initial state is printed. Patch formats print no initial state.
fn begun(run: &mut Running, args: &[&str]) {
    if !args.iter().any(|arg| arg.ends_with("-patch")) {
        run.until("2");
    }
}

/// A Deployment is edited, gets a version with only noise and one with a status, is deleted, and is
/// re-created. Only the output for the last version contains `last`.
async fn story(args: &[&str], last: &str) -> String {
    let cluster = Cluster::start().await;
    cluster.put(deployment("web", 1));
    let mut run = cluster
        .spy()
        .start(&[&["changes", "--since=0", "deploy/web"], args].concat());
    cluster.watched("deployments").await;
    begun(&mut run, args);
    let template = json!({"spec": {"containers": [{"name": "app", "image": "app:2"}]}});
    let labels = json!({"labels": {"tier": "\u{1b}[2J"}});
    cluster.edit(
        "deployments",
        "web",
        &json!({"metadata": labels, "spec": {"template": template}}),
    );
    let report = |status: &Value| {
        cluster.tick(1);
        let target = Target::new("deployments", "shop", "web");
        let by = Writer::new("kube-controller-manager").on("status");
        let patch = json!({ "status": status });
        cluster.sandbox.patch(&target, &patch, &by).unwrap();
    };
    report(&json!({"observedGeneration": 2}));
    report(&json!({"observedGeneration": 3, "replicas": 1}));
    cluster.delete("deployments", "web");
    cluster.put(deployment("web", 2));
    cluster.edit("deployments", "web", &json!({"spec": {"replicas": 3}}));
    run.until(last);
    interrupted(run).transcript()
}

/// A `ConfigMap` that is edited, applied without changes, and deleted.
async fn flags(args: &[&str], last: &str) -> String {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"beta": "off"})));
    let mut run = cluster
        .spy()
        .start(&[&["changes", "--since=0", "cm/flags"], args].concat());
    cluster.watched("configmaps").await;
    begun(&mut run, args);
    let edit = json!({"data": {"beta": "on", "esc": "\u{1b}[2J"}});
    cluster.edit("configmaps", "flags", &edit);
    let same = config_map("flags", &json!({"beta": "on"}));
    cluster.sandbox.apply(same, &Writer::new("argocd")).unwrap();
    cluster.delete("configmaps", "flags");
    run.until(last);
    interrupted(run).transcript()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tree_format() {
    assert_snapshot!(story(&["-o", "tree"], "2 → 3").await, @r#"
    2026-03-02T12:05:00Z EXISTING deployment/web  2
    2026-03-02T12:05:00Z MODIFIED deployment/web  2→3  by kubectl-edit  2 changes, 3 hidden
      { ⋯ 2
        "metadata": { ⋯ 2
    +     "labels": {"tier": "\u001b[2J"}, ⋯ 5 },
        "spec": { ⋯ 2
          "template": { ⋯ 1
            "spec": {
              "containers": [
                { "name": "app",
    ~             "image": "app:1" → "app:2" } ] } } } }
    2026-03-02T12:05:00Z MODIFIED deployment/web  3→4  +0s  by kube-controller-manager (status)  1 change, 2 hidden
      { ⋯ 4
    +   "status": {"observedGeneration": 2} }
    2026-03-02T12:05:00Z MODIFIED deployment/web  4→5  +0s  by kube-controller-manager (status)  1 change, 3 hidden
      { ⋯ 4
        "status": { ⋯ 1
    +     "replicas": 1 } }
    2026-03-02T12:05:00Z DELETED deployment/web  6  existed 4m59s
    2026-03-02T12:05:00Z RECREATED deployment/web  7  by kubectl-create
    + .spec.replicas: 2
    + .spec.selector: {matchLabels: {app: web}}
    + .spec.template: {metadata: {labels: {app: web}}, spec: {containers: [{image: app:1, name: app}]}}
    + .spec.template.spec.containers[name=app].image: app:1
      compared with the deleted object 6, another life:
      { ⋯ 2
        "metadata": { ⋯ 2
    -     "labels": {"tier": "\u001b[2J"}, ⋯ 5 },
        "spec": {
    ~     "replicas": 1 → 2, ⋯ 1
          "template": { ⋯ 1
            "spec": {
              "containers": [
                { "name": "app",
    ~             "image": "app:2" → "app:1" } ] } } } }
    2026-03-02T12:05:00Z MODIFIED deployment/web  7→8  +0s  by kubectl-edit  1 change, 3 hidden
      { ⋯ 3
        "spec": {
    ~     "replicas": 2 → 3, ⋯ 2 } }
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_markdown_format() {
    assert_snapshot!(flags(&["-o", "markdown"], "DELETED").await, @r#"
    - ` 2026-03-02T12:05:00Z EXISTING configmap/flags  2 `
    - ` 2026-03-02T12:05:00Z MODIFIED configmap/flags  2→3  by kubectl-edit  2 changes, 2 hidden `
      ```diff
      ~ .data.beta: "off" → "on"
      + .data.esc: "\u001b[2J"
      ```
    - ` 2026-03-02T12:05:00Z DELETED configmap/flags  5  existed 4m59s `
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_full_format() {
    assert_snapshot!(flags(&["-o", "full"], "DELETED").await, @r#"
    2026-03-02T12:05:00Z EXISTING configmap/flags  2
      {
        "apiVersion": "v1",
        "data": {
          "beta": "off"
        },
        "kind": "ConfigMap",
        "metadata": {
          "creationTimestamp": "2026-03-02T12:00:01Z",
          "name": "flags",
          "namespace": "shop",
          "resourceVersion": "2",
          "uid": "a833bdcd-b6d1-4eb1-88dc-97e5aab5fe3d"
        }
      }
    2026-03-02T12:05:00Z MODIFIED configmap/flags  2→3  by kubectl-edit  2 changes, 2 hidden
      {
        "apiVersion": "v1",
        "data": {
    ~     "beta": "off" → "on",
    +     "esc": "\u001b[2J"
        },
        "kind": "ConfigMap",
        "metadata": {
          "creationTimestamp": "2026-03-02T12:00:01Z",
          "name": "flags",
          "namespace": "shop",
          "resourceVersion": "3",
          "uid": "a833bdcd-b6d1-4eb1-88dc-97e5aab5fe3d"
        }
      }
    2026-03-02T12:05:00Z DELETED configmap/flags  5  existed 4m59s
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_diff_format() {
    assert_snapshot!(flags(&["-o", "diff"], "/dev/null").await, @r#"
    2026-03-02T12:05:00Z EXISTING configmap/flags  2
    2026-03-02T12:05:00Z MODIFIED configmap/flags  2→3  by kubectl-edit  2 changes, 2 hidden
    --- configmap/flags 2
    +++ configmap/flags 3
    @@ -1,6 +1,7 @@
     apiVersion: v1
     data:
    -  beta: "off"
    +  beta: "on"
    +  esc: "\u001b[2J"
     kind: ConfigMap
     metadata:
       creationTimestamp: "2026-03-02T12:00:01Z"
    2026-03-02T12:05:00Z DELETED configmap/flags  5  existed 4m59s
    --- configmap/flags 5
    +++ /dev/null
    @@ -1,10 +0,0 @@
    -apiVersion: v1
    -data:
    -  beta: "on"
    -  esc: "\u001b[2J"
    -kind: ConfigMap
    -metadata:
    -  creationTimestamp: "2026-03-02T12:00:01Z"
    -  name: flags
    -  namespace: shop
    -  uid: a833bdcd-b6d1-4eb1-88dc-97e5aab5fe3d
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_yaml_format() {
    assert_snapshot!(flags(&["-o", "yaml"], "DELETED").await, @r#"
    # 2026-03-02T12:05:00Z EXISTING configmap/flags  2
    apiVersion: v1
    data:
      beta: "off"
    kind: ConfigMap
    metadata:
      creationTimestamp: "2026-03-02T12:00:01Z"
      name: flags
      namespace: shop
      uid: a833bdcd-b6d1-4eb1-88dc-97e5aab5fe3d
    ---
    # 2026-03-02T12:05:00Z MODIFIED configmap/flags  2→3  by kubectl-edit  2 changes, 2 hidden
    apiVersion: v1
    data:
      beta: "on"
      esc: "\u001b[2J"
    kind: ConfigMap
    metadata:
      creationTimestamp: "2026-03-02T12:00:01Z"
      name: flags
      namespace: shop
      uid: a833bdcd-b6d1-4eb1-88dc-97e5aab5fe3d
    ---
    # 2026-03-02T12:05:00Z DELETED configmap/flags  5
    apiVersion: v1
    data:
      beta: "on"
      esc: "\u001b[2J"
    kind: ConfigMap
    metadata:
      creationTimestamp: "2026-03-02T12:00:01Z"
      name: flags
      namespace: shop
      uid: a833bdcd-b6d1-4eb1-88dc-97e5aab5fe3d
    "#);
}

/// Applies each line to the object that the lines before it have made.
fn applied(mut object: Value, lines: &str, apply: impl Fn(&mut Value, &str)) -> Value {
    for line in lines.lines() {
        apply(&mut object, line);
    }
    object
}

/// The output for an edited object, and the object before and after. All versions but one change fields that
/// `--only` selects, by noise or by other changes.
async fn patched(format: &str) -> (String, Value, Value) {
    let cluster = Cluster::start().await;
    let mut object = deployment("web", 1);
    object["metadata"]["annotations"] = json!({"a/b~c": "\u{1b}[2J", "big": "x\ny"});
    let first = cluster.put(object);
    let args = ["changes", "--since=0", "deploy/web", "-o", format];
    let mut run = cluster.spy().start(&args);
    cluster.watched("deployments").await;
    let containers = json!([{"name": "log", "image": "log:1"}, {"name": "app", "image": "app:2"}]);
    let template = json!({"spec": {"containers": containers}});
    let edits = [
        json!({"spec": {"template": template}}),
        json!({"metadata": {"annotations": {"a/b~c": null, "\u{202e}": "\u{7}"}}}),
        json!({"spec": {"replicas": 7}}),
    ];
    let mut last = Value::Null;
    for edit in edits {
        last = cluster.edit("deployments", "web", &edit);
    }
    // A version of the status with only noise gives a patch too.
    let target = Target::new("deployments", "shop", "web");
    let by = Writer::new("kube-controller-manager").on("status");
    for seen in [json!(2), json!(3), json!("the-end")] {
        let status = json!({"status": {"observedGeneration": seen}});
        last = cluster.sandbox.patch(&target, &status, &by).unwrap();
    }
    run.until("the-end");
    (interrupted(run).stdout, first, last)
}

#[tokio::test(flavor = "multi_thread")]
async fn json_patches_lead_from_one_version_to_the_next() {
    let (lines, first, last) = patched("json-patch").await;
    assert_eq!(lines.lines().count(), 6, "{lines}");
    let apply = |object: &mut Value, line: &str| {
        let patch: json_patch::Patch = serde_json::from_str(line).unwrap();
        json_patch::patch(object, &patch).unwrap();
    };
    assert_eq!(applied(first, &lines, apply), last, "{lines}");
    let noise = lines.lines().nth(4).unwrap();
    let operations: Vec<Value> = serde_json::from_str(noise).unwrap();
    let paths: Vec<&Value> = operations
        .iter()
        .map(|operation| &operation["path"])
        .collect();
    assert_snapshot!(json!(paths), @r#"["/metadata/resourceVersion","/status/observedGeneration"]"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn merge_patches_lead_from_one_version_to_the_next() {
    let (lines, first, last) = patched("merge-patch").await;
    assert_eq!(lines.lines().count(), 6, "{lines}");
    let apply = |object: &mut Value, line: &str| {
        json_patch::merge(object, &serde_json::from_str(line).unwrap());
    };
    assert_eq!(applied(first, &lines, apply), last, "{lines}");
}

#[tokio::test(flavor = "multi_thread")]
async fn patches_contain_selected_changes_only() {
    let spec = async |format| story(&["-o", format, "--only", "spec"], "replicas").await;
    assert_snapshot!(spec("merge-patch").await, @r#"
    {"spec":{"template":{"spec":{"containers":[{"image":"app:2","name":"app"}]}}}}
    {"spec":{"replicas":3}}
    "#);
    assert_snapshot!(spec("json-patch").await, @r#"
    [{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"app:2"}]
    [{"op":"replace","path":"/spec/replicas","value":3}]
    "#);
}

/// A Deployment that gets a sidecar in front of the container that is edited.
async fn injected(args: &[&str], last: &str) -> String {
    let cluster = Cluster::start().await;
    cluster.put(deployment("web", 1));
    let mut run = cluster
        .spy()
        .start(&[&["changes", "--since=0", "deploy/web"], args].concat());
    cluster.watched("deployments").await;
    begun(&mut run, args);
    let containers =
        json!([{"name": "side", "image": "side:1"}, {"name": "app", "image": "app:2"}]);
    let spec = json!({"template": {"spec": {"containers": containers}}});
    let labels = json!({"labels": {"tier": "web"}});
    cluster.edit(
        "deployments",
        "web",
        &json!({"metadata": labels, "spec": spec}),
    );
    run.until(last);
    interrupted(run).transcript()
}

/// This patch does not add the container in front, so the index is that of the old object.
#[tokio::test(flavor = "multi_thread")]
async fn a_patch_of_a_part_fits_the_old_object() {
    let app = "spec.template.spec.containers[name=app]";
    assert_snapshot!(injected(&["-o", "json-patch", "--only", app], "}").await, @r#"[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"app:2"}]"#);
    let ignore = [
        "-o",
        "json-patch",
        "--ignore",
        "**[name=app]",
        "--ignore",
        "metadata",
    ];
    assert_snapshot!(injected(&ignore, "}").await, @r#"[{"op":"add","path":"/spec/template/spec/containers/0","value":{"image":"side:1","name":"side"}}]"#);
}

/// The output for the containers only.
async fn part(format: &str) -> String {
    let containers = "spec.template.spec.containers";
    injected(&["-o", format, "--only", containers], "app:2").await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_full_format_of_selected_parts() {
    assert_snapshot!(part("full").await, @r#"
    2026-03-02T12:05:00Z EXISTING deployment/web  2
      {
        "spec": {
          "template": {
            "spec": {
              "containers": [
                {
                  "image": "app:1",
                  "name": "app"
                }
              ]
            }
          }
        }
      }
    2026-03-02T12:05:00Z MODIFIED deployment/web  2→3  by kubectl-edit  2 changes
      {
        "spec": {
          "template": {
            "spec": {
              "containers": [
    +           {
    +             "image": "side:1",
    +             "name": "side"
    +           },
                {
    ~             "image": "app:1" → "app:2",
                  "name": "app"
                }
              ]
            }
          }
        }
      }
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_diff_format_of_selected_parts() {
    assert_snapshot!(part("diff").await, @"
    2026-03-02T12:05:00Z EXISTING deployment/web  2
    2026-03-02T12:05:00Z MODIFIED deployment/web  2→3  by kubectl-edit  2 changes
    --- deployment/web 2
    +++ deployment/web 3
    @@ -2,5 +2,7 @@
       template:
         spec:
           containers:
    -      - image: app:1
    +      - image: side:1
    +        name: side
    +      - image: app:2
             name: app
    ");
}

/// Type, namespace and name stay in the output, so that it can be applied.
#[tokio::test(flavor = "multi_thread")]
async fn the_yaml_format_of_selected_parts() {
    assert_snapshot!(part("yaml").await, @"
    # 2026-03-02T12:05:00Z EXISTING deployment/web  2
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: web
      namespace: shop
    spec:
      template:
        spec:
          containers:
          - image: app:1
            name: app
    ---
    # 2026-03-02T12:05:00Z MODIFIED deployment/web  2→3  by kubectl-edit  2 changes
    apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: web
      namespace: shop
    spec:
      template:
        spec:
          containers:
          - image: side:1
            name: side
          - image: app:2
            name: app
    ");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_full_flag_shows_new_objects_in_full() {
    assert_snapshot!(story(&["--full"], "2 → 3").await, @r#"
    2026-03-02T12:05:00Z EXISTING deployment/web  2
    2026-03-02T12:05:00Z MODIFIED deployment/web  2→3  by kubectl-edit  2 changes, 3 hidden
    + .metadata.labels: {tier: "\u001b[2J"}
    ~ .spec.template.spec.containers[name=app].image: app:1 → app:2
    2026-03-02T12:05:00Z MODIFIED deployment/web  3→4  +0s  by kube-controller-manager (status)  1 change, 2 hidden
    + .status: {observedGeneration: 2}
    2026-03-02T12:05:00Z MODIFIED deployment/web  4→5  +0s  by kube-controller-manager (status)  1 change, 3 hidden
    + .status.replicas: 1
    2026-03-02T12:05:00Z DELETED deployment/web  6  existed 4m59s
    2026-03-02T12:05:00Z RECREATED deployment/web  7  by kubectl-create
    + apiVersion: apps/v1
    + kind: Deployment
    + metadata:
    +   creationTimestamp: "2026-03-02T12:00:06Z"
    +   name: web
    +   namespace: shop
    +   uid: "3d58bb03-f31a-4686-8763-de764d6fe1b0"
    + spec:
    +   replicas: 2
    +   selector:
    +     matchLabels:
    +       app: web
    +   template:
    +     metadata:
    +       labels:
    +         app: web
    +     spec:
    +       containers:
    +       - image: app:1
    +         name: app
      compared with the deleted object 6, another life:
    - .metadata.labels: {tier: "\u001b[2J"}
    ~ .spec.replicas: 1 → 2
    ~ .spec.template.spec.containers[name=app].image: app:2 → app:1
    2026-03-02T12:05:00Z MODIFIED deployment/web  7→8  +0s  by kubectl-edit  1 change, 3 hidden
    ~ .spec.replicas: 2 → 3
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn by_selects_the_versions_of_one_manager() {
    let by = ["--by", "kube-controller-manager", "--by", "nobody"];
    assert_snapshot!(story(&by, "DELETED").await, @r#"
    2026-03-02T12:05:00Z EXISTING deployment/web  2
    2026-03-02T12:05:00Z MODIFIED deployment/web  3→4  +0s  by kube-controller-manager (status)  1 change, 2 hidden
    + .status: {observedGeneration: 2}
    2026-03-02T12:05:00Z MODIFIED deployment/web  4→5  +0s  by kube-controller-manager (status)  1 change, 3 hidden
    + .status.replicas: 1
    2026-03-02T12:05:00Z DELETED deployment/web  6  existed 4m59s
    "#);
    let by = ["--by", "kubectl-edit"];
    assert_snapshot!(story(&by, "2 → 3").await, @r#"
    2026-03-02T12:05:00Z EXISTING deployment/web  2
    2026-03-02T12:05:00Z MODIFIED deployment/web  2→3  by kubectl-edit  2 changes, 3 hidden
    + .metadata.labels: {tier: "\u001b[2J"}
    ~ .spec.template.spec.containers[name=app].image: app:1 → app:2
    2026-03-02T12:05:00Z DELETED deployment/web  6  existed 4m59s
    2026-03-02T12:05:00Z MODIFIED deployment/web  7→8  +0s  by kubectl-edit  1 change, 3 hidden
    ~ .spec.replicas: 2 → 3
    "#);
    let records = ["--by", "kubectl-edit", "-o", "json"];
    let records = story(&records, r#"new":3"#).await;
    let types: Vec<Value> = records
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|record| {
            json!([
                record["type"],
                record["actors"][0]["manager"],
                record["hidden"]
            ])
        })
        .collect();
    assert_snapshot!(json!(types), @r#"[["baseline",null,{}],["modified","kubectl-edit",{"managedFields":1,"version":2}],["deleted",null,{"version":1}],["modified","kubectl-edit",{"managedFields":1,"version":2}]]"#);
}

/// Two managers write one version. Only the paths of one are printed.
#[tokio::test(flavor = "multi_thread")]
async fn by_selects_the_paths_of_one_of_two_managers() {
    let fields = |manager: &str, field: &str, time: u32| json!({"manager": manager, "operation": "Update", "apiVersion": "v1", "time": format!("2026-03-02T12:00:0{time}Z"), "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {format!("f:{field}"): {}}}});
    let version = |value: &str, time: u32| {
        let mut object = config_map("flags", &json!({"a": value, "b": value}));
        object["metadata"]["resourceVersion"] = json!(value);
        object["metadata"]["uid"] = json!("u");
        object["metadata"]["managedFields"] =
            json!([fields("one", "a", time), fields("two", "b", time)]);
        object
    };
    let text = format!("{}\n{}\n", version("1", 1), version("2", 2));
    let file = tempfile("two-managers.json", &text);
    let spy = super::super::support::Spy::alone().var("KUBECTL_SPY_NOW", "2026-03-02T12:05:00Z");
    let ran = spy.run(&["changes", "--from", &file, "--by", "two", "--once"]);
    assert_snapshot!(ran.transcript(), @r#"
    watching 1 configmap
    2026-03-02T12:00:02Z MODIFIED configmap/flags  1→2  by one, two  1 change, 2 hidden
    ~ .data.b: "1" → "2"  by two
    "#);
    let of_two = |more: &[&str]| {
        let args = ["changes", "--from", &file, "--by", "two", "--once"];
        spy.run(&[&args, more].concat()).transcript()
    };
    assert_snapshot!(of_two(&["-o", "diff"]), @r#"
    watching 1 configmap
    2026-03-02T12:00:02Z MODIFIED configmap/flags  1→2  by one, two  1 change, 2 hidden
    --- configmap/flags 1
    +++ configmap/flags 2
    @@ -1,7 +1,7 @@
     apiVersion: v1
     data:
       a: "1"
    -  b: "1"
    +  b: "2"
     kind: ConfigMap
     metadata:
       name: flags
    "#);
    assert_snapshot!(of_two(&["-o", "json-patch", "--only", "data"]), @r#"[{"op":"replace","path":"/data/b","value":"2"}]"#);
}

/// Watch events, one on each line, for versions given by event type, uid and data.
fn lives(versions: &[(&str, &str, Value)]) -> String {
    let lines = versions
        .iter()
        .zip(1..)
        .map(|((what, uid, data), version)| {
            let mut object = config_map("flags", data);
            object["metadata"]["resourceVersion"] = json!(version.to_string());
            object["metadata"]["uid"] = json!(uid);
            if *what == "DELETED" {
                object["metadata"]["deletionTimestamp"] = json!("2026-03-02T12:04:00Z");
            }
            json!({"type": what, "object": object}).to_string() + "\n"
        });
    lines.collect()
}

/// The last change of a deleted object is printed. The changes of another object of its name are its own, whether or
/// not the deletion was seen.
#[test]
fn objects_of_one_name_are_told_apart() {
    let on = json!({"a": "on"});
    let file = lives(&[
        ("ADDED", "u1", on.clone()),
        ("DELETED", "u1", json!({"a": "off"})),
        ("ADDED", "u2", on.clone()),
        ("MODIFIED", "u3", json!({"a": "again"})),
        ("MODIFIED", "u3", json!({"a": "last"})),
    ]);
    let file = tempfile("lives.json", &file);
    let printed = |args: &[&str]| {
        let spy = super::super::support::Spy::alone();
        let all = ["changes", "--from", &file, "--now", "2026-03-02T12:05:00Z"];
        spy.run(&[&all, args].concat()).stdout
    };
    assert_snapshot!(printed(&[]), @r#"
    watching 1 configmap
    2026-03-02T12:05:00Z DELETED configmap/flags  2
    + .metadata.deletionTimestamp: 2026-03-02T12:04:00Z
    ~ .data.a: "on" → "off"
    2026-03-02T12:05:00Z RECREATED configmap/flags  3
    + .data.a: "on"
      compared with the deleted object 2, another life:
    ~ .data.a: "off" → "on"
    2026-03-02T12:05:00Z DELETED configmap/flags  3  while disconnected
    2026-03-02T12:05:00Z RECREATED configmap/flags  4
    + .data.a: again
      compared with the deleted object 3, another life:
    ~ .data.a: "on" → again
    2026-03-02T12:05:00Z MODIFIED configmap/flags  4→5  +0s  1 change, 1 hidden
    ~ .data.a: again → last
    "#);
    let records = printed(&["-o", "json"]);
    let records = records
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let records: Vec<Value> = records
        .map(|record| json!([record["type"], record["from"], record["to"]]))
        .collect();
    assert_snapshot!(json!(records), @r#"[["synced",null,null],["deleted","1","2"],["recreated",null,"3"],["deleted","3","3"],["recreated",null,"4"],["modified","4","5"]]"#);
}

/// An unreadable line is reported once, and the version in it is printed all the same.
#[tokio::test(flavor = "multi_thread")]
async fn an_unreadable_line_is_one_warning() {
    for line in [BadLine::Garbage, BadLine::Truncated, BadLine::NotUtf8] {
        let cluster = Cluster::start().await;
        cluster.put(config_map("flags", &json!({"a": "1"})));
        let what = format!("{line:?}");
        let bad = Effect::BadLine { after: 0, line };
        let fault = Fault::on(Verb::Watch, "configmaps", bad);
        cluster.sandbox.inject(fault);
        let mut run = cluster.spy().start(&["changes", "--since=0", "cm/flags"]);
        run.until("EXISTING");
        cluster.watched("configmaps").await;
        for value in ["2", "3"] {
            cluster.edit("configmaps", "flags", &json!({"data": {"a": value}}));
        }
        run.until(r#""2" → "3""#);
        let ran = interrupted(run);
        let warnings = ran
            .stdout
            .lines()
            .filter(|line| line.contains("could not be read"));
        assert_eq!(warnings.count(), 1, "{what}: {}", ran.stdout);
        let changes = ran.stdout.lines().filter(|line| line.starts_with('~'));
        let changes: Vec<&str> = changes.collect();
        let expected = [r#"~ .data.a: "1" → "2""#, r#"~ .data.a: "2" → "3""#];
        assert_eq!(changes, expected, "{what}");
    }
}

/// Up to three kinds have one line each; more kinds share a line.
#[tokio::test(flavor = "multi_thread")]
async fn many_kinds_share_one_line() {
    let cluster = Cluster::start().await;
    cluster.put(deployment("web", 1));
    cluster.put(config_map("flags", &json!({})));
    let printed = |args: &[&str]| {
        let all = [&["changes", "--once"], args].concat();
        cluster.spy().run(&all).transcript()
    };
    let few = printed(&["cm,deploy,svc", "--since=0"]);
    assert_eq!(few.lines().count(), 3, "{few}");
    let many = "cm,deploy,svc,pods";
    assert_snapshot!(printed(&[many, "--since=0"]), @r#"watching 2 objects of 4 kinds in namespace "shop""#);
    assert_snapshot!(printed(&[many, "--since=0", "-o", "name", "-A"]), @"");
    assert_snapshot!(printed(&["--since", "1m", "-o", "name"]), @"");
}

fn tempfile(name: &str, text: &str) -> String {
    let path = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn names_as_kubectl_prints_them() {
    let cluster = Cluster::start().await;
    cluster.put(deployment("web", 1));
    cluster.put(config_map("flags", &json!({})));
    let names = |args: &[&str]| {
        cluster
            .spy()
            .run(&[&["changes", "--once", "-o", "name"], args].concat())
            .transcript()
    };
    assert_snapshot!(names(&["deploy/web"]), @r#"deployment.apps/web"#);
    assert_snapshot!(names(&["cm/flags"]), @r#"configmap/flags"#);
    assert_snapshot!(names(&["cm"]), @"");
    let mut run = cluster
        .spy()
        .start(&["changes", "--since=0", "cm/flags", "-o", "name"]);
    run.until("configmap/flags");
    cluster.edit("configmaps", "flags", &json!({"data": {"a": "b"}}));
    run.until("configmap/flags");
    assert_snapshot!(interrupted(run).transcript(), @r#"
    configmap/flags
    configmap/flags
    "#);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_yaml_of_one_object_is_that_object() {
    let cluster = Cluster::start().await;
    cluster.put(config_map("flags", &json!({"text": "a\nb\n"})));
    let ran = cluster
        .spy()
        .run(&["changes", "cm/flags", "--once", "-o", "yaml"]);
    assert_snapshot!(ran.transcript(), @r#"
    # 2026-03-02T12:05:00Z EXISTING configmap/flags  2
    apiVersion: v1
    data:
      text: |
        a
        b
    kind: ConfigMap
    metadata:
      creationTimestamp: "2026-03-02T12:00:01Z"
      name: flags
      namespace: shop
      uid: a833bdcd-b6d1-4eb1-88dc-97e5aab5fe3d
    "#);
    let args = [
        "changes",
        "--since=0",
        "cm/flags",
        "--once",
        "-o",
        "yaml",
        "--show-managed-fields",
    ];
    let ran = cluster.spy().run(&args);
    assert!(
        ran.stdout.contains("\n  managedFields:\n"),
        "{}",
        ran.stdout
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_null_that_a_merge_patch_cannot_express_does_not_end_it() {
    let gadget = |spec: &Value| {
        json!({
            "apiVersion": "example.com/v1", "kind": "Gadget",
            "metadata": {"name": "one", "namespace": "shop"}, "spec": spec,
        })
    };
    let cluster = Cluster::start_with(|options| {
        options.kinds = vec![Kind::custom("example.com", "v1", "Gadget", "gadgets")];
    })
    .await;
    cluster.put(gadget(&json!({"a": 1})));
    let args = [
        "changes",
        "--since=0",
        "gadgets/one",
        "-o",
        "merge-patch",
        "--only",
        "spec",
    ];
    let mut run = cluster.spy().start(&args);
    cluster.watched("gadgets").await;
    let by = Writer::new("kubectl-replace");
    for spec in [json!({"a": {"b": null}}), json!({"a": 2})] {
        cluster.sandbox.update(gadget(&spec), &by).unwrap();
    }
    run.until(r#""a":2"#);
    let printed = interrupted(run).stderr;
    assert_snapshot!(printed.trim_end(), @r#"gadget/one 2→3: the null at .spec.a.b cannot be expressed in a merge patch"#);
}

/// A cluster with a custom kind that contains templates of other objects.
async fn templates(objects: &Value) -> Cluster {
    let cluster = Cluster::start_with(|options| {
        options.kinds = vec![Kind::custom("example.com", "v1", "Gadget", "gadgets")];
    })
    .await;
    cluster.put(json!({
        "apiVersion": "example.com/v1", "kind": "Gadget",
        "metadata": {"name": "one", "namespace": "shop"}, "spec": {"objects": objects},
    }));
    cluster
}

/// A list that is written as a whole also contains unchanged Secret values.
#[tokio::test(flavor = "multi_thread")]
async fn a_patch_with_placeholders_prints_a_warning() {
    let held = secret("aHVudGVyMg==");
    let printed = async |format| {
        let cluster = templates(&json!([held])).await;
        let args = ["changes", "--since=0", "gadgets/one", "-o", format];
        let mut run = cluster.spy().start(&args);
        cluster.watched("gadgets").await;
        let added = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "the-end"}});
        cluster.edit(
            "gadgets",
            "one",
            &json!({"spec": {"objects": [held, added]}}),
        );
        run.until("the-end");
        interrupted(run).stderr
    };
    assert_snapshot!(printed("merge-patch").await.trim_end(), @"Secret values are hidden, so this output cannot be applied; pass --show-secrets to print them");
    assert_snapshot!(printed("json-patch").await.trim_end(), @"");
}

/// If a selected part of an added value is ignored, no format shows it.
#[tokio::test(flavor = "multi_thread")]
async fn ignored_parts_of_selected_values_are_not_shown() {
    for format in [
        "paths",
        "tree",
        "full",
        "diff",
        "json",
        "yaml",
        "json-patch",
        "merge-patch",
    ] {
        let cluster = templates(&json!([])).await;
        let mut run = cluster.spy().start(&[
            "changes",
            "--since=0",
            "gadgets/one",
            "-o",
            format,
            "--only",
            "spec.pod.image",
            "--only",
            "spec.done",
            "--ignore",
            "spec.pod",
        ]);
        cluster.watched("gadgets").await;
        for edit in [
            json!({"pod": {"image": "web:1"}}),
            json!({"done": "the-end"}),
        ] {
            cluster.edit("gadgets", "one", &json!({"spec": edit}));
        }
        run.until("the-end");
        let ran = interrupted(run);
        assert!(!ran.stdout.contains("web:1"), "{format}: {}", ran.stdout);
    }
}

fn secret(password: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {"name": "db", "namespace": "shop"}, "data": {"password": password},
    })
}

/// The output for a Secret whose value changes twice.
async fn rotation(args: &[&str], last: &str) -> String {
    let cluster = Cluster::start().await;
    cluster.put(secret("aHVudGVyMg=="));
    let mut run = cluster.spy().start(
        &[
            &["changes", "--since=0", "secret/db", "--only", "data"],
            args,
        ]
        .concat(),
    );
    cluster.watched("secrets").await;
    begun(&mut run, args);
    for value in ["aHVudGVyMw==", "aHVudGVyNA=="] {
        cluster.edit("secrets", "db", &json!({"data": {"password": value}}));
    }
    run.until(last);
    interrupted(run).transcript()
}

#[tokio::test(flavor = "multi_thread")]
async fn output_that_cannot_be_applied_has_one_warning() {
    for (format, last) in [
        ("yaml", "7 B #3"),
        ("json-patch", r#""id":2"#),
        ("merge-patch", r#""id":3"#),
    ] {
        let printed = rotation(&["-o", format], last).await;
        assert_eq!(printed.matches("cannot be applied").count(), 1, "{printed}");
        let held = r#"{"redacted":true,"bytes":7,"id":"#;
        let of_yaml = format == "yaml" && printed.contains("<secret 7 B #1>");
        assert!(printed.matches(held).count() == 2 || of_yaml, "{printed}");
        assert!(
            !printed.contains("aHVudGVy") && !printed.contains("hunter"),
            "{printed}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn secret_values_are_shown_on_request() {
    let shown = async |format: &str, last: &str| {
        let printed = rotation(&["--show-secrets", "-o", format], last).await;
        assert!(
            !printed.contains("<secret") && !printed.contains("redacted"),
            "{printed}"
        );
        assert!(!printed.contains("cannot be applied"), "{printed}");
        printed
    };
    // Formats for people show decoded values.
    assert_snapshot!(shown("paths", "hunter4").await, @r#"
    2026-03-02T12:05:00Z EXISTING secret/db  2
    2026-03-02T12:05:00Z MODIFIED secret/db  2→3  by kubectl-edit  1 change
    ~ .data.password: hunter2 → hunter3
    2026-03-02T12:05:00Z MODIFIED secret/db  3→4  +0s  by kubectl-edit  1 change
    ~ .data.password: hunter3 → hunter4
    "#);
    for format in ["tree", "full", "diff"] {
        let printed = shown(format, "hunter4").await;
        assert!(
            printed.contains("hunter3") && !printed.contains("aHVudGVy"),
            "{printed}"
        );
    }
    // Formats that can be applied show stored values.
    for format in ["json", "yaml", "json-patch", "merge-patch"] {
        let printed = shown(format, "aHVudGVyNA==").await;
        assert!(
            printed.contains("aHVudGVyMw==") && !printed.contains("hunter"),
            "{printed}"
        );
    }
}
