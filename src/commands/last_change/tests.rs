//! Tests of the text of a last change, and of the changes that matter.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use insta::assert_snapshot;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::change::LastChange;
use super::error_text::ErrorText;
use super::failure::FailureReason;
use super::fields::Matters;
use super::suspects::SuspectChanges;
use super::what::OldValues;
use crate::diff::Redactor;
use crate::object::{Doc, ObjectRef, ResourceVersion};
use crate::source::Version;
use crate::watch::{Between, Revision};

const NOW: Timestamp = Timestamp::constant(1_777_896_000, 0);

fn version(object: &Value) -> Arc<Version> {
    let text = object.to_string();
    Arc::new(Version {
        object: ObjectRef::of(Doc::parse(&*text).unwrap().root()).into(),
        version: ResourceVersion::new("1"),
        body: text.into(),
    })
}

/// An object of this kind with these fields, which `kubectl-set` wrote 41 seconds ago if `is_written`.
fn object(kind: &str, fields: &Value, is_written: bool) -> Value {
    let mut object =
        json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": "web", "namespace": "shop"}});
    let mut owned = json!({});
    for (key, value) in fields.as_object().unwrap() {
        object[key] = value.clone();
        owned[format!("f:{key}")] = json!({});
    }
    if is_written {
        let time = (NOW - SignedDuration::from_secs(41)).to_string();
        object["metadata"]["managedFields"] = json!([{
            "manager": "kubectl-set", "operation": "Update", "time": time, "fieldsV1": owned,
        }]);
    }
    object
}

/// A failure without words.
static SILENT: LazyLock<ErrorText> = LazyLock::new(ErrorText::default);

/// The changes of an object that has failed for any reason.
fn own() -> Matters<'static> {
    Matters {
        reason: &FailureReason::Other,
        is_own: true,
        errors: &SILENT,
        now: Timestamp::MAX,
    }
}

/// The changes of an object that it names.
fn other() -> Matters<'static> {
    Matters {
        is_own: false,
        ..own()
    }
}

/// The line about a change of an object of this kind.
fn told(kind: &str, old: &Value, new: &Value, matters: Matters<'_>) -> String {
    let (old, new) = (object(kind, old, false), object(kind, new, true));
    let change = LastChange::between(&version(&old), &version(&new), matters, &Redactor::new());
    change.map_or("-".to_owned(), |change| change.text(NOW, "→"))
}

fn pods(image: &str, replicas: u32) -> Value {
    let containers = json!([{"name": "web", "image": image}]);
    json!({"replicas": replicas, "template": {"spec": {"containers": containers}}})
}

#[test]
fn a_line_has_the_old_and_the_new_value() {
    let spec = |image: &str| json!({"spec": pods(image, 3)});
    let data = |value: &str| json!({"data": {"limit": value}});
    let lines = [
        told("Deployment", &spec("web:1.0"), &spec("bad:1"), own()),
        told(
            "Deployment",
            &spec("r.io/shop/web:1"),
            &spec("r.io/shop/web:2"),
            own(),
        ),
        told("ConfigMap", &data("10"), &data("25"), other()),
        told("ConfigMap", &data("10"), &json!({"data": {}}), other()),
        told("ConfigMap", &json!({}), &data("10"), other()),
        told("Secret", &data("cGFzc3dvcmQ="), &data("c2VjcmV0"), other()),
        LastChange::deletion(
            &ObjectRef::of(
                Doc::parse(object("ConfigMap", &json!({}), false).to_string())
                    .unwrap()
                    .root(),
            ),
            Revision::parse(&ResourceVersion::new("7")).unwrap(),
        )
        .made_between(Between {
            from: NOW - SignedDuration::from_secs(41),
            until: Some(NOW - SignedDuration::from_secs(31)),
        })
        .text(NOW, "→"),
    ];
    assert_snapshot!(lines.join("\n"), @r#"
    changed 41s ago by kubectl-set: containers[web].image: web:1.0 → bad:1
    changed 41s ago by kubectl-set: containers[web].image: web:1 → web:2
    configmap/web changed 41s ago by kubectl-set: limit: "10" → "25" (no sign that it matters)
    configmap/web changed 41s ago: limit: "10" → (none) (no sign that it matters)
    configmap/web changed 41s ago by kubectl-set: data: (none) → {limit: "10"} (no sign that it matters)
    secret/web changed 41s ago by kubectl-set: limit: <secret 8 B #1> → <secret 6 B #2> (no sign that it matters)
    configmap/web was deleted 31–41s ago
    "#);
}

#[test]
fn a_workload_whose_pods_failed_from_the_start_shows_who_created_it() {
    let mut first = object("Deployment", &json!({"spec": pods("crash:1", 1)}), true);
    first["apiVersion"] = "apps/v1".into();
    first["metadata"]["creationTimestamp"] =
        (NOW - SignedDuration::from_secs(41)).to_string().into();
    let first = version(&first);
    let mut found = SuspectChanges::new(Some(&FailureReason::Pods));
    assert!(!found.rules_out_before(&first));
    found.reach_creation(LastChange::creation(&first, true));
    let cause = found.cause().map(|cause| cause.text(NOW, "→"));
    assert_eq!(cause.as_deref(), Some("created 41s ago by kubectl-set"));
}

#[test]
fn a_scale_and_a_report_do_not_matter() {
    let spec = |image: &str, replicas: u32| json!({"spec": pods(image, replicas)});
    let status = |ready: u32| json!({"spec": pods("web:1", 3), "status": {"readyReplicas": ready}});
    assert_eq!(told("Deployment", &status(3), &status(2), own()), "-");
    assert_eq!(
        told("Deployment", &spec("web:1", 3), &spec("web:1", 5), own()),
        "-"
    );
    let counts = Matters {
        reason: &FailureReason::Scheduling(BTreeSet::new()),
        ..own()
    };
    assert_snapshot!(told("Deployment", &spec("web:1", 3), &spec("web:1", 5), counts), @"changed 41s ago by kubectl-set: replicas: 3 → 5");
}

#[test]
fn nobody_is_blamed_for_a_removal_that_only_somebody_else_can_have_made() {
    let data = |keys: &Value| json!({"data": keys});
    let removed_by = |operation: &str| {
        let mut old = object("ConfigMap", &data(&json!({"a": "1", "b": "2"})), true);
        old["metadata"]["managedFields"][0]["operation"] = operation.into();
        let mut new = old.clone();
        new["data"] = json!({"a": "1"});
        let change = LastChange::between(&version(&old), &version(&new), own(), &Redactor::new());
        change.unwrap().text(NOW, "→")
    };
    assert_snapshot!(removed_by("Update"), @r#"changed: b: "2" → (none) (was kubectl-set's)"#);
    assert_snapshot!(removed_by("Apply"), @r#"changed: b: "2" → (none) (was kubectl-set's)"#);
}

#[test]
fn a_restart_gives_way_to_every_other_change() {
    let spec = |image: &str, restarted: &str| {
        let mut spec = pods(image, 3);
        spec["template"]["metadata"] =
            json!({"annotations": {"kubectl.kubernetes.io/restartedAt": restarted}});
        json!({"spec": spec})
    };
    let change = |old: &Value, new: &Value| {
        let (old, new) = (
            object("Deployment", old, false),
            object("Deployment", new, true),
        );
        let change = LastChange::between(&version(&old), &version(&new), own(), &Redactor::new());
        change.unwrap()
    };
    let restart = change(&spec("a", "1"), &spec("a", "2"));
    let image = change(&spec("a", "1"), &spec("b", "1"));
    let both = change(&spec("a", "1"), &spec("b", "2"));
    assert!(restart.cmp_age(&image).is_lt() && image.cmp_age(&both).is_eq());
}

#[test]
fn a_change_that_the_error_names_has_a_sign() {
    let failed =
        ErrorText::from("web: exit 1: connect pg://db9: no such host; FLAG_MODE is not set");
    let matters = Matters {
        errors: &failed,
        ..other()
    };
    let data = |dsn: &str, mode: &str| json!({"data": {"dsn": dsn, "FLAG_MODE": mode}});
    let without = json!({"data": {"dsn": "pg://db1"}});
    let lines = [
        told(
            "ConfigMap",
            &data("pg://db1", "a"),
            &data("pg://db9", "a"),
            matters,
        ),
        told("ConfigMap", &data("pg://db1", "a"), &without, matters),
        told(
            "ConfigMap",
            &data("pg://db1", "a"),
            &data("pg://db1", "b"),
            matters,
        ),
    ];
    assert_snapshot!(lines.join("\n"), @r"
    configmap/web changed 41s ago by kubectl-set: dsn: pg://db1 → pg://db9
    configmap/web changed 41s ago: FLAG_MODE: a → (none)
    configmap/web changed 41s ago by kubectl-set: FLAG_MODE: a → b (no sign that it matters)
    ");
}

#[test]
fn the_last_writer_of_what_matters_is_known_without_the_old_values() {
    let written = |old: OldValues, matters: Matters<'_>| {
        let mut object = object(
            "ConfigMap",
            &json!({"data": {"dsn": "pg://db9", "a": "1"}}),
            true,
        );
        object["metadata"]["creationTimestamp"] = "2026-03-02T12:00:00Z".into();
        let entry = &mut object["metadata"]["managedFields"][0];
        entry["fieldsV1"] = json!({"f:data": {"f:dsn": {}}});
        let mut of_two = object.clone();
        of_two["metadata"]["managedFields"][0]["fieldsV1"]["f:data"]["f:a"] = json!({});
        [object, of_two].map(|object| {
            let change = LastChange::last_written(&version(&object), old, matters);
            change.map_or("-".to_owned(), |change| change.text(NOW, "→"))
        })
    };
    let failed = ErrorText::from("connect pg://db9: no such host");
    let named = Matters {
        errors: &failed,
        ..other()
    };
    let lines = [
        written(OldValues::Compacted, other()).join("\n"),
        written(OldValues::Unread, named).join("\n"),
    ];
    assert_snapshot!(lines.join("\n"), @r"
    configmap/web last written 41s ago by kubectl-set: dsn (the old value is compacted; no sign that it matters)
    configmap/web last written 41s ago or before by kubectl-set: a, dsn (the old values are compacted; no sign that it matters)
    configmap/web last written 41s ago by kubectl-set: dsn (the old value was not read)
    configmap/web last written 41s ago or before by kubectl-set: a, dsn (the old values were not read)
    ");
}

#[test]
fn who_is_left_with_an_empty_map_has_not_written_its_fields() {
    let mut object = object("ConfigMap", &json!({"data": {"dsn": "pg://db9"}}), true);
    object["metadata"]["creationTimestamp"] = "2026-03-02T12:00:00Z".into();
    let owner = |manager: &str, time: &str, fields: Value| json!({"manager": manager, "operation": "Update", "time": time, "fieldsV1": fields});
    let left = owner("helm", "2026-05-04T11:59:00Z", json!({"f:data": {}}));
    let new = owner(
        "bob",
        "2026-05-04T11:50:00Z",
        json!({"f:data": {"f:dsn": {}}}),
    );
    let written = |entries: Value| {
        let mut object = object.clone();
        object["metadata"]["managedFields"] = entries;
        let change = LastChange::last_written(&version(&object), OldValues::Compacted, other());
        change.map_or("-".to_owned(), |change| change.text(NOW, "→"))
    };
    let line = written(json!([left, new]));
    assert!(
        line.starts_with("configmap/web last written 10m ago by bob: dsn "),
        "{line}"
    );
}
