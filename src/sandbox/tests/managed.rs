//! Tests of the field owners after a series of writes.

use insta::assert_snapshot;

use super::*;

/// The managers and the fields they own, one field on each line.
fn owners(object: &Value) -> String {
    let entries = object["metadata"]["managedFields"]
        .as_array()
        .expect("managed");
    let mut lines = Vec::new();
    for entry in entries {
        let subresource = entry["subresource"]
            .as_str()
            .map(|name| format!(" ({name})"))
            .unwrap_or_default();
        let text = |key: &str| entry[key].as_str().unwrap_or_default();
        lines.push(format!(
            "{} {}{subresource} {}",
            text("operation"),
            text("manager"),
            &text("time")[11..19]
        ));
        fields(&entry["fieldsV1"], "  ", &mut lines);
    }
    lines.join("\n")
}

fn fields(node: &Value, path: &str, lines: &mut Vec<String>) {
    let map = node.as_object().expect("a fieldsV1 node");
    if map.is_empty() || map.contains_key(".") {
        lines.push(path.to_owned());
    }
    for (name, child) in map.iter().filter(|(name, _)| *name != ".") {
        fields(child, &format!("{path}/{name}"), lines);
    }
}

fn later(seconds: i64) -> Timestamp {
    noon() + jiff::SignedDuration::from_secs(seconds)
}

#[tokio::test]
async fn updates_take_fields_from_each_other() {
    let sandbox = sandbox().await;
    let target = Target::new("deployments", "shop", "web");
    sandbox
        .create(deployment("web", 3), &Writer::new("kubectl-create"))
        .expect("the creation succeeds");
    let image = json!({"spec": {"template": {"spec": {"containers": [
        {"name": "app", "image": "app:2", "ports": [{"containerPort": 80, "protocol": "TCP"}]},
    ]}}}});
    sandbox
        .patch(&target, &image, &Writer::new("kubectl-set").at(later(5)))
        .expect("the patch succeeds");
    let status =
        json!({"status": {"conditions": [{"type": "Available", "status": "True"}], "replicas": 3}});
    let controller = Writer::new("kube-controller-manager").on("status");
    let object = sandbox
        .patch(&target, &status, &controller.at(later(6)))
        .expect("the patch succeeds");
    assert_snapshot!(owners(&object), @r#"
    Update kubectl-create 12:00:00
      /f:spec/f:replicas
      /f:spec/f:selector
      /f:spec/f:template/f:metadata/f:labels
      /f:spec/f:template/f:metadata/f:labels/f:app
      /f:spec/f:template/f:spec/f:containers/k:{"name":"app"}
      /f:spec/f:template/f:spec/f:containers/k:{"name":"app"}/f:name
      /f:spec/f:template/f:spec/f:containers/k:{"name":"app"}/f:ports
      /f:spec/f:template/f:spec/f:containers/k:{"name":"app"}/f:ports/k:{"containerPort":80,"protocol":"TCP"}
      /f:spec/f:template/f:spec/f:containers/k:{"name":"app"}/f:ports/k:{"containerPort":80,"protocol":"TCP"}/f:containerPort
      /f:spec/f:template/f:spec/f:containers/k:{"name":"app"}/f:ports/k:{"containerPort":80,"protocol":"TCP"}/f:protocol
    Update kubectl-set 12:00:05
      /f:spec/f:template/f:spec/f:containers/k:{"name":"app"}/f:image
    Update kube-controller-manager (status) 12:00:06
      /f:status/f:conditions
      /f:status/f:conditions/k:{"type":"Available"}
      /f:status/f:conditions/k:{"type":"Available"}/f:status
      /f:status/f:conditions/k:{"type":"Available"}/f:type
      /f:status/f:replicas
    "#);
}

#[tokio::test]
async fn a_pure_removal_has_no_manager() {
    let sandbox = sandbox().await;
    put(&sandbox, config_map("flags", &json!({"a": "1", "b": "1"})));
    let target = Target::new("configmaps", "shop", "flags");
    let other = Writer::new("remover").at(later(9));
    let object = sandbox
        .patch(&target, &json!({"data": {"b": null}}), &other)
        .expect("the patch succeeds");
    assert_snapshot!(owners(&object), @r#"
    Update tester 12:00:00
      /f:data
      /f:data/f:a
    "#);
}

#[tokio::test]
async fn an_apply_owns_its_fields_and_releases_omitted_ones() {
    let sandbox = sandbox().await;
    let by = |manager: &str, seconds: i64| Writer::new(manager).at(later(seconds));
    sandbox
        .apply(
            config_map("flags", &json!({"a": "1", "b": "1"})),
            &by("alice", 0),
        )
        .expect("the creation succeeds");
    sandbox
        .apply(
            config_map("flags", &json!({"b": "2", "c": "2"})),
            &by("bob", 1),
        )
        .expect("the apply succeeds");
    let object = sandbox
        .apply(config_map("flags", &json!({"a": "3"})), &by("carol", 2))
        .expect("the apply succeeds");
    assert_eq!(object["data"], json!({"a": "3", "b": "2", "c": "2"}));
    assert_snapshot!(owners(&object), @r#"
    Apply bob 12:00:01
      /f:data/f:b
      /f:data/f:c
    Apply carol 12:00:02
      /f:data/f:a
    "#);
    let object = sandbox
        .apply(config_map("flags", &json!({"c": "2"})), &by("bob", 3))
        .expect("the apply succeeds");
    assert_eq!(object["data"], json!({"a": "3", "c": "2"}));
    let again = sandbox
        .apply(config_map("flags", &json!({"c": "2"})), &by("bob", 4))
        .expect("the apply succeeds");
    assert_eq!(object, again);
}

#[tokio::test]
async fn apply_merges_lists_by_key() {
    let sandbox = sandbox().await;
    sandbox
        .create(deployment("web", 3), &Writer::new("kubectl-create"))
        .expect("the creation succeeds");
    let mut side = deployment("web", 3);
    side["spec"] = json!({"template": {"spec": {"containers": [
        {"name": "side", "image": "side:1"}, {"name": "app", "env": [{"name": "A", "value": "1"}]},
    ]}}});
    let object = sandbox
        .apply(side.clone(), &Writer::new("injector").at(later(1)))
        .expect("the apply succeeds");
    let containers = &object["spec"]["template"]["spec"]["containers"];
    assert_eq!(containers[0]["image"], "app:1");
    assert_eq!(containers[0]["env"], json!([{"name": "A", "value": "1"}]));
    assert_eq!(containers[1], json!({"name": "side", "image": "side:1"}));
    side["spec"]["template"]["spec"]["containers"] =
        json!([{"name": "app", "env": [{"name": "A", "value": "1"}]}]);
    let object = sandbox
        .apply(side, &Writer::new("injector").at(later(2)))
        .expect("the apply succeeds");
    assert_eq!(
        object["spec"]["template"]["spec"]["containers"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
}
