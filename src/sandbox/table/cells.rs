//! The rows of Services, Nodes, Events and `EndpointSlice`s, and of kinds that only contain data.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{age_since, list, text_or};
use super::{joined, pairs};
use crate::sandbox::store::{number, text};

/// The number of keys in a `ConfigMap` or a Secret.
pub(super) fn entries(object: &Value) -> usize {
    let keys = |name: &str| object[name].as_object().map_or(0, serde_json::Map::len);
    keys("data") + keys("binaryData")
}

pub(super) fn service(object: &Value, age: Value) -> Vec<Value> {
    let kind = text_or(object, "/spec/type", "ClusterIP");
    vec![
        object["metadata"]["name"].clone(),
        json!(kind),
        json!(text_or(object, "/spec/clusterIP", "<none>")),
        json!(external_ip(object, kind)),
        json!(service_ports(object)),
        age,
        json!(pairs(&object["spec"]["selector"])),
    ]
}

fn external_ip(object: &Value, kind: &str) -> String {
    let join = |values: &[Value], key: Option<&str>| {
        let texts = values
            .iter()
            .filter_map(|value| key.map_or(value, |key| &value[key]).as_str());
        texts.collect::<Vec<_>>().join(",")
    };
    let external = join(list(object, "/spec/externalIPs"), None);
    let ingress = join(list(object, "/status/loadBalancer/ingress"), Some("ip"));
    match kind {
        "ExternalName" => text_or(object, "/spec/externalName", "<none>").to_owned(),
        "LoadBalancer" if ingress.is_empty() => "<pending>".to_owned(),
        "LoadBalancer" => ingress,
        _ if external.is_empty() => "<none>".to_owned(),
        _ => external,
    }
}

fn service_ports(object: &Value) -> String {
    let text = |port: &Value| {
        let protocol = text_or(port, "/protocol", "TCP");
        match number(port, "/nodePort") {
            0 => format!("{}/{protocol}", port["port"]),
            node_port => format!("{}:{node_port}/{protocol}", port["port"]),
        }
    };
    let ports: Vec<String> = list(object, "/spec/ports").iter().map(text).collect();
    joined(&ports, ",")
}

pub(super) fn node(object: &Value, age: Value) -> Vec<Value> {
    let ready = list(object, "/status/conditions")
        .iter()
        .find(|condition| condition["type"] == "Ready");
    let mut status = match ready.and_then(|condition| condition["status"].as_str()) {
        Some("True") => "Ready".to_owned(),
        Some(_) => "NotReady".to_owned(),
        None => "Unknown".to_owned(),
    };
    if object["spec"]["unschedulable"] == true {
        status.push_str(",SchedulingDisabled");
    }
    let labels = object["metadata"]["labels"]
        .as_object()
        .into_iter()
        .flatten();
    let roles = labels.filter_map(|(key, _)| key.strip_prefix("node-role.kubernetes.io/"));
    let roles: Vec<String> = roles.map(str::to_owned).collect();
    let address = |kind: &str| {
        let mut addresses = list(object, "/status/addresses").iter();
        let found = addresses.find(|address| address["type"] == kind);
        json!(found.map_or("<none>", |found| text_or(found, "/address", "<none>")))
    };
    let info = |key: &str| json!(text_or(&object["status"]["nodeInfo"], key, "<unknown>"));
    vec![
        object["metadata"]["name"].clone(),
        json!(status),
        json!(joined(&roles, ",")),
        age,
        json!(text_or(object, "/status/nodeInfo/kubeletVersion", "")),
        address("InternalIP"),
        address("ExternalIP"),
        info("/osImage"),
        info("/kernelVersion"),
        info("/containerRuntimeVersion"),
    ]
}

pub(super) fn event(object: &Value, now: Timestamp) -> Vec<Value> {
    let first_of = |keys: [&str; 3]| {
        let mut times = keys.iter().map(|key| &object[*key]);
        let time = times.find(|time| time.is_string());
        age_since(time.unwrap_or(&Value::Null), now)
    };
    let involved = &object["involvedObject"];
    let (kind, name) = (
        text_or(involved, "/kind", ""),
        text_or(involved, "/name", ""),
    );
    let reference = format!("{}/{name}", kind.to_lowercase());
    let component = text_or(object, "/reportingComponent", "");
    vec![
        json!(first_of(["lastTimestamp", "eventTime", "firstTimestamp"])),
        object["type"].clone(),
        object["reason"].clone(),
        json!(reference),
        json!(text_or(object, "/message", "").trim()),
        json!(text_or(involved, "/fieldPath", "")),
        json!(text_or(object, "/source/component", component)),
        json!(first_of(["firstTimestamp", "eventTime", "lastTimestamp"])),
        json!(number(object, "/count").max(1)),
        object["metadata"]["name"].clone(),
    ]
}

pub(super) fn endpoint_slice(object: &Value, age: Value) -> Vec<Value> {
    let ports = list(object, "/ports")
        .iter()
        .map(|port| port["port"].to_string());
    let addresses = list(object, "/endpoints")
        .iter()
        .flat_map(|endpoint| list(endpoint, "/addresses"));
    let addresses = addresses.filter_map(Value::as_str).map(str::to_owned);
    vec![
        object["metadata"]["name"].clone(),
        object["addressType"].clone(),
        json!(first_three(ports, "<unset>")),
        json!(first_three(addresses, "<unset>")),
        age,
    ]
}

/// At most three texts, and the number of the others.
fn first_three(texts: impl Iterator<Item = String>, none: &str) -> String {
    let texts: Vec<String> = texts.collect();
    match texts.len() {
        0 => none.to_owned(),
        1..=3 => texts.join(","),
        more => format!("{} + {} more...", texts[..3].join(","), more - 3),
    }
}

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
            let mut conditions = list(pod, "/status/conditions").iter();
            let is_ready = conditions.any(|one| one["type"] == "Ready" && one["status"] == "True");
            if is_ready { "Running" } else { "NotReady" }.to_owned()
        }
        Some(word) => word,
        None => phase.to_owned(),
    }
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
        status["state"]["terminated"]["exitCode"] == 0 || status["started"] == true
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
    let counts = statuses
        .iter()
        .map(|status| number(status, "/restartCount"));
    let count: i64 = counts.sum();
    let ends = statuses.iter();
    let ends = ends.filter_map(|status| status.pointer("/lastState/terminated/finishedAt"));
    // RFC 3339 in UTC and whole seconds sorts as text.
    let last = ends.max_by_key(|time| text(time));
    match last {
        Some(time) if count > 0 => format!("{count} ({} ago)", age_since(time, now)),
        _ => count.to_string(),
    }
}

pub(super) fn deployment(object: &Value, age: Value) -> Vec<Value> {
    let ready = number(object, "/status/readyReplicas");
    let mut cells = vec![
        object["metadata"]["name"].clone(),
        json!(format!("{ready}/{}", desired_replicas(object))),
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
        json!(desired_replicas(object)),
        json!(number(object, "/status/replicas")),
        json!(number(object, "/status/readyReplicas")),
        age,
    ];
    cells.extend(template(object));
    cells
}

fn desired_replicas(object: &Value) -> i64 {
    object["spec"]["replicas"].as_i64().unwrap_or(1)
}

/// Containers, images and selector, for `-o wide`.
fn template(object: &Value) -> [Value; 3] {
    let containers = list(object, "/spec/template/spec/containers");
    let of = |key: &str| {
        let texts = containers
            .iter()
            .filter_map(|container| container[key].as_str());
        json!(texts.collect::<Vec<_>>().join(","))
    };
    [
        of("name"),
        of("image"),
        json!(pairs(&object["spec"]["selector"]["matchLabels"])),
    ]
}

pub(super) fn autoscaler(object: &Value, age: Value) -> Vec<Value> {
    let of_target = &object["spec"]["scaleTargetRef"];
    let (kind, name) = (text(&of_target["kind"]), text(&of_target["name"]));
    let current = list(object, "/status/currentMetrics");
    let metrics = list(object, "/spec/metrics").iter().enumerate();
    let targets = metrics.map(|(index, metric)| target(metric, current.get(index)));
    let min = object.pointer("/spec/minReplicas").and_then(Value::as_i64);
    vec![
        object["metadata"]["name"].clone(),
        json!(format!("{kind}/{name}")),
        json!(joined(&targets.collect::<Vec<_>>(), ", ")),
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
