//! The rows of Deployments, `ReplicaSet`s and `HorizontalPodAutoscaler`s.

use serde_json::{Value, json};

use super::{list, number, pairs, text_or};

pub(super) fn deployment(object: &Value, age: Value) -> Vec<Value> {
    let desired = object
        .pointer("/spec/replicas")
        .and_then(Value::as_i64)
        .unwrap_or(1);
    let mut cells = vec![
        object["metadata"]["name"].clone(),
        json!(format!(
            "{}/{desired}",
            number(object, "/status/readyReplicas")
        )),
        json!(number(object, "/status/updatedReplicas")),
        json!(number(object, "/status/availableReplicas")),
        age,
    ];
    cells.extend(template(object));
    cells
}

pub(super) fn replica_set(object: &Value, age: Value) -> Vec<Value> {
    let mut cells = vec![
        object["metadata"]["name"].clone(),
        json!(
            object
                .pointer("/spec/replicas")
                .and_then(Value::as_i64)
                .unwrap_or(1)
        ),
        json!(number(object, "/status/replicas")),
        json!(number(object, "/status/readyReplicas")),
        age,
    ];
    cells.extend(template(object));
    cells
}

/// Containers, images and selector, for `-o wide`.
fn template(object: &Value) -> [Value; 3] {
    let containers = list(object, "/spec/template/spec/containers");
    let of = |key: &str| {
        let names: Vec<&str> = containers
            .iter()
            .filter_map(|container| container[key].as_str())
            .collect();
        json!(names.join(","))
    };
    [
        of("name"),
        of("image"),
        json!(pairs(&object["spec"]["selector"]["matchLabels"])),
    ]
}

pub(super) fn autoscaler(object: &Value, age: Value) -> Vec<Value> {
    let reference = format!(
        "{}/{}",
        text_or(object, "/spec/scaleTargetRef/kind", ""),
        text_or(object, "/spec/scaleTargetRef/name", "")
    );
    let current = list(object, "/status/currentMetrics");
    let targets: Vec<String> = list(object, "/spec/metrics")
        .iter()
        .enumerate()
        .map(|(index, metric)| target(metric, current.get(index)))
        .collect();
    let min = object.pointer("/spec/minReplicas").and_then(Value::as_i64);
    vec![
        object["metadata"]["name"].clone(),
        json!(reference),
        json!(if targets.is_empty() {
            "<none>".to_owned()
        } else {
            targets.join(", ")
        }),
        json!(min.map_or_else(|| "<unset>".to_owned(), |min| min.to_string())),
        json!(number(object, "/spec/maxReplicas").to_string()),
        json!(number(object, "/status/currentReplicas")),
        age,
    ]
}

/// `cpu: 80%/60%` of a resource metric.
fn target(metric: &Value, current: Option<&Value>) -> String {
    let name = text_or(metric, "/resource/name", "");
    let percent = |value: Option<&Value>, pointer: &str| {
        let found = value
            .and_then(|value| value.pointer(pointer))
            .and_then(Value::as_i64);
        found.map_or_else(|| "<unknown>".to_owned(), |percent| format!("{percent}%"))
    };
    let is = percent(current, "/resource/current/averageUtilization");
    format!(
        "{name}: {is}/{}",
        percent(Some(metric), "/resource/target/averageUtilization")
    )
}
