//! Tests of the text of a last change, and of the changes that matter.

use std::collections::BTreeSet;
use std::sync::Arc;

use insta::assert_snapshot;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::change::LastChange;
use super::failure_reason::FailureReason;
use super::fields::Matters;
use crate::diff::Redactor;
use crate::object::{Doc, ObjectRef, ResourceVersion};
use crate::source::Version;
use crate::watch::Revision;

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

const OWN: Matters<'_> = Matters {
    reason: &FailureReason::Other,
    is_own: true,
    now: Timestamp::MAX,
};

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
    let other = Matters {
        is_own: false,
        ..OWN
    };
    let data = |value: &str| json!({"data": {"limit": value}});
    let lines = [
        told("Deployment", &spec("web:1.0"), &spec("bad:1"), OWN),
        told(
            "Deployment",
            &spec("r.io/shop/web:1"),
            &spec("r.io/shop/web:2"),
            OWN,
        ),
        told("ConfigMap", &data("10"), &data("25"), other),
        told("ConfigMap", &data("10"), &json!({"data": {}}), other),
        told("ConfigMap", &json!({}), &data("10"), other),
        told("Secret", &data("cGFzc3dvcmQ="), &data("c2VjcmV0"), other),
        LastChange::deletion(
            &ObjectRef::of(
                Doc::parse(object("ConfigMap", &json!({}), false).to_string())
                    .unwrap()
                    .root(),
            ),
            Revision::parse(&ResourceVersion::new("7")).unwrap(),
        )
        .made_about(NOW - SignedDuration::from_secs(41))
        .text(NOW, "→"),
    ];
    assert_snapshot!(lines.join("\n"), @r#"
    changed 41s ago by kubectl-set: containers[web].image: web:1.0 → bad:1
    changed 41s ago by kubectl-set: containers[web].image: web:1 → web:2
    configmap/web changed 41s ago by kubectl-set: limit: "10" → "25"
    configmap/web changed 41s ago: limit: "10" → (none)
    configmap/web changed 41s ago by kubectl-set: data: (none) → {limit: "10"}
    secret/web changed 41s ago by kubectl-set: limit: <secret 8 B #1> → <secret 6 B #2>
    configmap/web was deleted about 41s ago
    "#);
}

#[test]
fn a_scale_and_a_report_do_not_matter() {
    let spec = |image: &str, replicas: u32| json!({"spec": pods(image, replicas)});
    let status = |ready: u32| json!({"spec": pods("web:1", 3), "status": {"readyReplicas": ready}});
    assert_eq!(told("Deployment", &status(3), &status(2), OWN), "-");
    assert_eq!(
        told("Deployment", &spec("web:1", 3), &spec("web:1", 5), OWN),
        "-"
    );
    let counts = Matters {
        reason: &FailureReason::Scheduling(BTreeSet::new()),
        ..OWN
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
        let change = LastChange::between(&version(&old), &version(&new), OWN, &Redactor::new());
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
        let change = LastChange::between(&version(&old), &version(&new), OWN, &Redactor::new());
        change.unwrap()
    };
    let restart = change(&spec("a", "1"), &spec("a", "2"));
    let image = change(&spec("a", "1"), &spec("b", "1"));
    let both = change(&spec("a", "1"), &spec("b", "2"));
    assert!(restart.cmp_age(&image).is_lt() && image.cmp_age(&both).is_eq());
}
