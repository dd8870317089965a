//! What an autoscaler is about to do, and the metrics that make it do so.

use crate::object::{Quantity, Value};
use crate::status::cause::Cause;
use crate::status::cause_rule::CauseRule;
use crate::status::{built_in, read};

/// The fields of a metric's source by its type: where its name and its values are
/// (<https://kubernetes.io/docs/reference/kubernetes-api/autoscaling/horizontal-pod-autoscaler-v2/>).
const SOURCES: [MetricSource; 5] = [
    MetricSource {
        field: "resource",
        name: &["name"],
    },
    MetricSource {
        field: "containerResource",
        name: &["name"],
    },
    MetricSource {
        field: "pods",
        name: &["metric", "name"],
    },
    MetricSource {
        field: "object",
        name: &["metric", "name"],
    },
    MetricSource {
        field: "external",
        name: &["metric", "name"],
    },
];

/// The ways to state a value of a metric.
const VALUES: [&str; 3] = ["averageUtilization", "averageValue", "value"];

/// The fields of one type of metrics.
struct MetricSource {
    field: &'static str,
    name: &'static [&'static str],
}

/// The scale that an autoscaler is about to reach, and its metrics that have reached their targets.
pub(super) fn notes(scaler: Value<'_>) -> Vec<Cause> {
    let replicas = |key| read::int_or(scaler, &["status", key], 0);
    let (current, desired) = (replicas("currentReplicas"), replicas("desiredReplicas"));
    let conditions = read::conditions(scaler).unwrap_or_default();
    // Without metrics, the desired number is 0 and means nothing.
    let mut conditions = conditions.iter();
    let idle = conditions.find(|condition| condition.is("ScalingActive", "False"));
    let is_idle = idle.is_some();
    let is_disabled = idle.is_some_and(|condition| condition.reason == "ScalingDisabled");
    let mut notes = Vec::new();
    if is_disabled {
        // The target was scaled to 0, which turns the autoscaler off.
        let part = |key| read::text_or(scaler, &["spec", "scaleTargetRef", key], "?");
        let target = format!("{}/{}", part("kind").to_lowercase(), part("name"));
        let text = format!("scaling is disabled: {target} has 0 replicas");
        notes.push(Cause::new(CauseRule::ScalingDisabled, text));
    }
    if current != desired && !is_idle && !built_in::is_uncomputed(scaler) {
        let text = format!("scales from {current} to {desired} replicas");
        notes.push(Cause::new(CauseRule::Scaling, text));
    }
    let metrics = scaler.items_at(&["spec", "metrics"]);
    let reached = metrics.filter_map(|metric| reached(scaler, metric));
    notes.extend(reached.map(|text| Cause::new(CauseRule::TargetReached, text)));
    notes
}

/// `cpu is at 95%, its target is 80%`, if the metric has reached its target.
fn reached(scaler: Value<'_>, metric: Value<'_>) -> Option<String> {
    let sources = SOURCES.iter();
    let (source, wanted) = sources
        .map(|source| (source, metric.at(&[source.field])))
        .find_map(|(source, wanted)| Some((source, wanted?)))?;
    let name = wanted.text_at(source.name)?;
    let mut current = scaler.items_at(&["status", "currentMetrics"]);
    let current = current.find_map(|current| {
        let current = current.at(&[source.field])?;
        (current.text_at(source.name).as_ref() == Some(&name)).then_some(current)
    })?;
    VALUES.iter().find_map(|value| {
        let target = text(wanted.at(&["target", value])?)?;
        let is = text(current.at(&["current", value])?)?;
        let unit = if *value == "averageUtilization" {
            "%"
        } else {
            ""
        };
        let is_reached = Quantity::parse(&is)?
            .compare(&Quantity::parse(&target)?)?
            .is_ge();
        is_reached.then(|| format!("{name} is at {is}{unit}, its target is {target}{unit}"))
    })
}

/// A value, which is a number or a quantity.
fn text(value: Value<'_>) -> Option<String> {
    let number = value.as_i64().map(|number| number.to_string());
    number.or_else(|| Some(value.as_str()?.into_owned()))
}
