//! The row of a Pod, as in `printPod` of Kubernetes' printers.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{age_since, list, number, text_or};

pub(super) fn cells(pod: &Value, now: Timestamp) -> Vec<Value> {
    let statuses = list(pod, "/status/containerStatuses");
    let ready = statuses
        .iter()
        .filter(|status| is_ready_and_running(status))
        .count();
    let total = list(pod, "/spec/containers").len();
    let gates = if list(pod, "/spec/readinessGates").is_empty() {
        "<none>"
    } else {
        "0/1"
    };
    vec![
        pod["metadata"]["name"].clone(),
        json!(format!("{ready}/{total}")),
        json!(word(pod)),
        json!(restarts(statuses, now)),
        json!(age_since(&pod["metadata"]["creationTimestamp"], now)),
        json!(text_or(pod, "/status/podIP", "<none>")),
        json!(text_or(pod, "/spec/nodeName", "<none>")),
        json!(text_or(pod, "/status/nominatedNodeName", "<none>")),
        json!(gates),
    ]
}

fn is_ready_and_running(status: &Value) -> bool {
    status["ready"] == true && status["state"].get("running").is_some()
}

/// The STATUS column: the reason of a problem, or else the phase.
fn word(pod: &Value) -> String {
    let is_over = matches!(text_or(pod, "/status/phase", ""), "Succeeded" | "Failed");
    if pod["metadata"]["deletionTimestamp"].is_string() && !is_over {
        return if text_or(pod, "/status/reason", "") == "NodeLost" {
            "Unknown"
        } else {
            "Terminating"
        }
        .to_owned();
    }
    let phase = text_or(pod, "/status/reason", text_or(pod, "/status/phase", ""));
    if let Some(word) = initializing(pod) {
        return word;
    }
    let statuses = list(pod, "/status/containerStatuses");
    // The first container's problem wins, because kubectl checks the containers from last to first.
    let trouble = statuses.iter().find_map(trouble);
    match trouble {
        Some(word) if word == "Completed" && statuses.iter().any(is_ready_and_running) => {
            if is_pod_ready(pod) {
                "Running".to_owned()
            } else {
                "NotReady".to_owned()
            }
        }
        Some(word) => word,
        None => phase.to_owned(),
    }
}

fn is_pod_ready(pod: &Value) -> bool {
    let conditions = list(pod, "/status/conditions");
    conditions
        .iter()
        .any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

fn trouble(status: &Value) -> Option<String> {
    let waiting = text_or(status, "/state/waiting/reason", "");
    if !waiting.is_empty() {
        return Some(waiting.to_owned());
    }
    let terminated = status.pointer("/state/terminated")?;
    let reason = text_or(terminated, "/reason", "");
    let signal = number(terminated, "/signal");
    Some(match (reason, signal) {
        ("", 0) => format!("ExitCode:{}", number(terminated, "/exitCode")),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    })
}

/// `Init:1/2` or the like, until all init containers are done.
fn initializing(pod: &Value) -> Option<String> {
    let statuses = list(pod, "/status/initContainerStatuses");
    let total = list(pod, "/spec/initContainers").len();
    let is_done = |status: &Value| {
        status
            .pointer("/state/terminated/exitCode")
            .and_then(Value::as_i64)
            == Some(0)
            || status["started"] == true
    };
    let done = statuses.iter().take_while(|status| is_done(status)).count();
    let current = statuses.get(done)?;
    let reason = trouble(current).filter(|word| word != "PodInitializing");
    Some(reason.map_or_else(
        || format!("Init:{done}/{total}"),
        |word| format!("Init:{word}"),
    ))
}

/// `2 (5m ago)`.
fn restarts(statuses: &[Value], now: Timestamp) -> String {
    let count: i64 = statuses
        .iter()
        .map(|status| number(status, "/restartCount"))
        .sum();
    let finished = statuses
        .iter()
        .filter_map(|status| status.pointer("/lastState/terminated/finishedAt"));
    // RFC 3339 in UTC and whole seconds sorts as text.
    let last = finished.max_by_key(|time| time.as_str().unwrap_or_default().to_owned());
    match last {
        Some(time) if count > 0 => format!("{count} ({} ago)", age_since(time, now)),
        _ => count.to_string(),
    }
}
