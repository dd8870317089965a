//! Tests of the effects of a write on an object and on the log.

use super::*;

fn metadata<'v>(object: &'v Value, key: &str) -> &'v Value {
    &object["metadata"][key]
}

#[tokio::test]
async fn generation_counts_spec_changes_and_resource_version_counts_writes() {
    let sandbox = sandbox().await;
    let target = Target::new("deployments", "shop", "web");
    let of = |object: &Value| {
        (
            metadata(object, "generation").clone(),
            metadata(object, "resourceVersion").clone(),
        )
    };
    let created = put(&sandbox, deployment("web", 3));
    assert_eq!(of(&created), (json!(1), json!("2")));
    let scaled = sandbox
        .patch(&target, &json!({"spec": {"replicas": 5}}), &tester())
        .expect("the patch succeeds");
    assert_eq!(of(&scaled), (json!(2), json!("3")));
    let labelled = sandbox
        .patch(
            &target,
            &json!({"metadata": {"labels": {"a": "b"}}}),
            &tester(),
        )
        .expect("the patch succeeds");
    assert_eq!(of(&labelled), (json!(2), json!("4")));
    let status = json!({"spec": {"replicas": 9}, "status": {"replicas": 5}});
    let reported = sandbox
        .patch(&target, &status, &tester().on("status"))
        .expect("the patch succeeds");
    assert_eq!(of(&reported), (json!(2), json!("5")));
    assert_eq!(
        (
            &reported["spec"]["replicas"],
            &reported["status"]["replicas"]
        ),
        (&json!(5), &json!(5))
    );
    let same = sandbox
        .patch(&target, &json!({"spec": {"replicas": 5}}), &tester())
        .expect("the patch succeeds");
    assert_eq!(of(&same), (json!(2), json!("5")));
    assert_eq!(sandbox.revision(), 5);
}

#[tokio::test]
async fn writers_cannot_change_system_fields() {
    let sandbox = sandbox().await;
    let created = put(&sandbox, config_map("flags", &json!({"a": "1"})));
    let mut meddled = config_map("flags", &json!({"a": "2"}));
    meddled["metadata"]["uid"] = json!("mine");
    meddled["metadata"]["creationTimestamp"] = json!("1999-01-01T00:00:00Z");
    let updated = sandbox
        .update(meddled, &tester())
        .expect("the update succeeds");
    for key in ["uid", "creationTimestamp"] {
        assert_eq!(metadata(&updated, key), metadata(&created, key), "{key}");
    }
    assert_eq!(
        metadata(&created, "creationTimestamp"),
        "2026-03-02T12:00:00Z"
    );
    assert_eq!(metadata(&created, "generation"), &Value::Null);
}

#[tokio::test]
async fn writes_are_refused_for_the_right_reasons() {
    let sandbox = sandbox().await;
    let created = put(&sandbox, config_map("flags", &json!({"a": "1"})));
    let twice = sandbox
        .create(config_map("flags", &json!({})), &tester())
        .expect_err("exists");
    assert_eq!(twice.to_string(), "configmaps \"flags\" already exists");
    set(&sandbox, "flags", &json!({"a": "2"}));
    let stale = sandbox.update(created, &tester()).expect_err("stale");
    assert_eq!(
        stale,
        WriteError::Conflict("configmaps \"flags\"".to_owned())
    );
    let absent = sandbox
        .update(deployment("web", 1), &tester())
        .expect_err("absent");
    assert_eq!(absent.to_string(), "deployments.apps \"web\" not found");
    let unknown = sandbox.delete(
        &Target::new("foos", "shop", "x"),
        Deletion::Immediate,
        &tester(),
    );
    assert_eq!(unknown, Err(WriteError::UnknownKind("foos".to_owned())));
    let unnamed = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "shop"}});
    assert!(matches!(
        sandbox.create(unnamed, &tester()),
        Err(WriteError::Invalid(_))
    ));
}

#[tokio::test]
async fn a_recreated_object_has_a_new_uid_and_generated_names_differ() {
    let sandbox = sandbox().await;
    let first = put(&sandbox, config_map("flags", &json!({})));
    sandbox
        .delete(
            &Target::new("configmaps", "shop", "flags"),
            Deletion::Immediate,
            &tester(),
        )
        .expect("the deletion succeeds");
    let second = put(&sandbox, config_map("flags", &json!({})));
    assert_ne!(metadata(&first, "uid"), metadata(&second, "uid"));
    let uid = metadata(&first, "uid").as_str().expect("text");
    assert_eq!((uid.len(), &uid[14..15]), (36, "4"));
    let generated = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "web-", "namespace": "shop"}});
    let names = [put(&sandbox, generated.clone()), put(&sandbox, generated)]
        .map(|pod| metadata(&pod, "name").clone());
    assert_ne!(names[0], names[1]);
    assert!(
        names[0]
            .as_str()
            .is_some_and(|name| name.starts_with("web-") && name.len() == 9)
    );
}

#[tokio::test]
async fn graceful_deletions_and_finalizers_delay_the_removal() {
    let sandbox = sandbox().await;
    let target = Target::new("pods", "shop", "a");
    put(&sandbox, pod("a", &json!({})));
    let marked = sandbox
        .delete(&target, Deletion::Graceful(30), &tester())
        .expect("the deletion starts");
    assert_eq!(
        metadata(&marked, "deletionTimestamp"),
        "2026-03-02T12:00:30Z"
    );
    assert_eq!(metadata(&marked, "deletionGracePeriodSeconds"), 30);
    assert_eq!(metadata(&marked, "generation"), 2);
    sandbox
        .delete(&target, Deletion::Immediate, &tester())
        .expect("the deletion succeeds");
    assert_eq!(sandbox.get(&target), None);

    let mut held = config_map("held", &json!({}));
    held["metadata"]["finalizers"] = json!(["example.com/keep"]);
    put(&sandbox, held);
    let target = Target::new("configmaps", "shop", "held");
    sandbox
        .delete(&target, Deletion::Immediate, &tester())
        .expect("the deletion starts");
    let revision = sandbox.revision();
    sandbox
        .delete(&target, Deletion::Immediate, &tester())
        .expect("a second deletion succeeds");
    assert_eq!(sandbox.revision(), revision);
    assert!(sandbox.get(&target).is_some());
    sandbox
        .patch(
            &target,
            &json!({"metadata": {"finalizers": null}}),
            &tester(),
        )
        .expect("the patch succeeds");
    assert_eq!(sandbox.get(&target), None);
    let changes: Vec<Change> = sandbox.log().iter().map(|record| record.change).collect();
    assert_eq!(
        changes,
        [
            Change::Added,
            Change::Modified,
            Change::Deleted,
            Change::Added,
            Change::Modified,
            Change::Deleted
        ]
    );
}

#[tokio::test]
async fn the_log_contains_every_write() {
    let sandbox = sandbox().await;
    put(&sandbox, deployment("web", 1));
    sandbox
        .delete(
            &Target::new("deployments.apps", "shop", "web"),
            Deletion::Immediate,
            &tester(),
        )
        .expect("the deletion succeeds");
    let log = sandbox.log();
    let brief: Vec<_> = log
        .iter()
        .map(|record| {
            format!(
                "{} {} {} {}",
                record.revision,
                record.change.as_str(),
                record.resource,
                record.name
            )
        })
        .collect();
    assert_eq!(
        brief,
        [
            "2 ADDED deployments.apps web",
            "3 DELETED deployments.apps web"
        ]
    );
    let version = |bytes: &[u8]| -> Value {
        let object: Value = serde_json::from_slice(bytes).expect("JSON");
        assert_eq!(object["kind"], "Deployment");
        object["metadata"]["resourceVersion"].clone()
    };
    assert_eq!(version(&log[1].after), "3");
    assert_eq!(
        version(log[1].before.as_ref().expect("the object existed")),
        "2"
    );
}
