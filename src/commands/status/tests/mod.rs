//! Tests of `status`, on events as a cluster sends them: frames, lines and records as a whole.

mod blocks;
mod cluster;
mod frames;
mod long_lists;
mod records;
mod states;
mod widths;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::options::{Detail, HealthFilter, Idle, RowOptions, Titles};
use super::package_documents::MemberList;
use super::state::{RETENTION, StatusState};
use super::view::{LiveTable, table, view};
use crate::model::Model;
use crate::object::Resource;
use crate::render::canvas::{Canvas, ExitKey};
use crate::render::header_footer::Freshness;
use crate::render::style::testing::{self, plain};
use crate::render::style::{Look, Styles, Symbols};
use crate::source::{ClusterId, Form, Scope, Select, SourceKey};
use crate::status::Rules;
use cluster::Cluster;

/// The time at which a scenario starts.
fn start() -> Timestamp {
    "2026-03-02T12:00:00Z".parse().expect("a time")
}

/// The time `seconds` after the start.
fn at(seconds: i64) -> Timestamp {
    start() + SignedDuration::from_secs(seconds)
}

/// `apps/v1 deployments Deployment` in the namespace `shop`.
fn all(resource: &str) -> SourceKey {
    let words: Vec<&str> = resource.split(' ').collect();
    let (group, version) = words[0].split_once('/').unwrap_or(("", words[0]));
    SourceKey {
        cluster: ClusterId("demo".into()),
        resource: Resource {
            group: group.into(),
            version: version.into(),
            plural: words[1].into(),
            kind: words[2].into(),
            namespaced: true,
        },
        scope: Scope::Namespace("shop".into()),
        select: Select::All,
        form: Form::Full,
    }
}

/// The same for one object.
fn one(resource: &str, name: &str) -> SourceKey {
    SourceKey {
        select: Select::Name(name.into()),
        ..all(resource)
    }
}

/// Rows without idle `ReplicaSet`s and without rules.
const PLAIN: RowOptions = RowOptions {
    idle: Idle::Counted,
    health: HealthFilter::Any,
    titles: Titles::Shown,
    detail: Detail::Fitted,
    members: MemberList::Counted,
    explains: false,
};

const DEPLOYMENTS: &str = "apps/v1 deployments Deployment";
const REPLICA_SETS: &str = "apps/v1 replicasets ReplicaSet";
const CRON_JOBS: &str = "batch/v1 cronjobs CronJob";
const PODS: &str = "v1 pods Pod";

fn state(requested: impl IntoIterator<Item = SourceKey>) -> StatusState {
    let model = Model::new(Rules::Spy, RETENTION);
    StatusState::new(model, requested.into_iter().collect())
}

fn look(columns: Option<usize>) -> Look {
    Look {
        width: columns,
        styles: Styles::PLAIN,
        symbols: &Symbols::UNICODE,
    }
}

/// A frame on a terminal with these columns and rows.
fn frame(cluster: &Cluster, now: Timestamp, size: (usize, usize)) -> String {
    next_frame(&mut LiveTable::new(PLAIN), cluster, now, size)
}

/// The next frame of a live table.
fn next_frame(
    table: &mut LiveTable,
    cluster: &Cluster,
    now: Timestamp,
    (columns, rows): (usize, usize),
) -> String {
    let canvas = Canvas {
        now,
        look: look(Some(columns)),
        started: Some(start()),
        rows: Some(rows - 2),
        exit_key: ExitKey::CtrlC,
    };
    let lines = view(&(&cluster.state).into(), connection(cluster), table, canvas);
    assert!(lines.len() <= rows - 2, "{} lines: {lines:#?}", lines.len());
    for line in &lines {
        let width = line.width();
        assert!(width < columns, "{width} columns: {line}");
    }
    plain(lines)
}

/// The whole table, as in a pipe.
fn whole(cluster: &Cluster, now: Timestamp) -> String {
    let canvas = Canvas::unbounded(look(None), now);
    plain(table(
        &(&cluster.state).into(),
        &connection(cluster),
        PLAIN,
        canvas,
    ))
}

fn connection(cluster: &Cluster) -> Freshness {
    Freshness {
        summary: "● live".into(),
        refused: cluster.refused.clone(),
        watches: cluster.state.model.coverage().sources().count(),
        ..Freshness::default()
    }
}

/// An object of the namespace `shop` with a uid of its own, created at the start.
fn object(api_version: &str, kind: &str, name: &str, rest: Value) -> Value {
    let mut object = json!({
        "apiVersion": api_version, "kind": kind,
        "metadata": {
            "name": name, "namespace": "shop", "uid": format!("uid-{name}"),
            "creationTimestamp": start().to_string(),
        },
    });
    merge(&mut object, rest);
    object
}

/// A Pod with a container `app` in this state, and an owner of this kind and name.
fn pod(name: &str, owner: (&str, &str), container: Value) -> Value {
    let is_ready = container["ready"] == true;
    let status = if is_ready { "True" } else { "False" };
    let mut pod = object(
        "v1",
        "Pod",
        name,
        json!({
            "metadata": {"labels": {"app": "web"}},
            "spec": {"nodeName": "worker-1", "containers": [{"name": "app", "image": "web:v1"}]},
            "status": {
                "phase": if container.pointer("/state/waiting").is_some() { "Pending" } else { "Running" },
                "podIPs": [{"ip": "10.0.0.1"}],
                "conditions": [{"type": "Ready", "status": status}],
                "containerStatuses": [merged(json!({"name": "app", "restartCount": 0}), container)],
            },
        }),
    );
    own(&mut pod, owner);
    pod
}

/// A container that runs and is ready.
fn running() -> Value {
    json!({"ready": true, "state": {"running": {"startedAt": start().to_string()}}})
}

/// A container that waits.
fn waiting(reason: &str, message: &str) -> Value {
    json!({"ready": false, "state": {"waiting": {"reason": reason, "message": message}}})
}

/// A workload with these counts of replicas: wanted and ready.
fn workload(kind: &str, name: &str, (wanted, ready): (i64, i64)) -> Value {
    let updated = if kind == "ReplicaSet" {
        "fullyLabeledReplicas"
    } else {
        "updatedReplicas"
    };
    object(
        "apps/v1",
        kind,
        name,
        json!({
            "metadata": {"generation": 1, "labels": {"app": "web"}},
            "spec": {
                "replicas": wanted,
                "selector": {"matchLabels": {"app": "web"}},
                "template": {"metadata": {"labels": {"app": "web"}}},
            },
            "status": {
                "observedGeneration": 1, "replicas": wanted, (updated): wanted,
                "readyReplicas": ready, "availableReplicas": ready,
                "conditions": [
                    {"type": "Available", "status": if ready == wanted { "True" } else { "False" }},
                    {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"},
                ],
            },
        }),
    )
}

/// Makes an object the controller of another.
fn own(object: &mut Value, (kind, name): (&str, &str)) {
    object["metadata"]["ownerReferences"] =
        json!([{"kind": kind, "name": name, "uid": format!("uid-{name}"), "controller": true}]);
}

fn merged(mut base: Value, patch: Value) -> Value {
    merge(&mut base, patch);
    base
}

fn merge(base: &mut Value, patch: Value) {
    match (base, patch) {
        (Value::Object(base), Value::Object(patch)) => {
            for (key, value) in patch {
                merge(base.entry(key).or_insert(Value::Null), value);
            }
        }
        (base, patch) => *base = patch,
    }
}

/// A Deployment `web` whose one `ReplicaSet` has this many pods, each with the container that `of` gives.
fn deployment_of((wanted, ready): (i64, i64), of: impl Fn(i64) -> Value) -> Vec<Value> {
    let mut set = workload("ReplicaSet", "web-a", (wanted, ready));
    own(&mut set, ("Deployment", "web"));
    let mut objects = vec![workload("Deployment", "web", (wanted, ready)), set];
    for number in 0..wanted {
        let name = format!("web-a-{number:03}");
        objects.push(pod(&name, ("ReplicaSet", "web-a"), of(number)));
    }
    objects
}

/// A shared key, as the multiplexer sends it with events.
fn shared(key: &SourceKey) -> Arc<SourceKey> {
    Arc::new(key.clone())
}
