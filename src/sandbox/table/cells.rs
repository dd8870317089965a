//! The rows of Services, Nodes, Events and `EndpointSlice`s, and of kinds that only contain data.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{age_since, list, number, pairs, text_or};

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
    if ports.is_empty() {
        "<none>".to_owned()
    } else {
        ports.join(",")
    }
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
    let roles: Vec<&str> = labels
        .filter_map(|(key, _)| key.strip_prefix("node-role.kubernetes.io/"))
        .collect();
    let address = |kind: &str| {
        let found = list(object, "/status/addresses")
            .iter()
            .find(|address| address["type"] == kind);
        json!(
            found
                .and_then(|address| address["address"].as_str())
                .unwrap_or("<none>")
        )
    };
    let info = |key: &str| json!(text_or(&object["status"]["nodeInfo"], key, "<unknown>"));
    vec![
        object["metadata"]["name"].clone(),
        json!(status),
        json!(if roles.is_empty() {
            "<none>".to_owned()
        } else {
            roles.join(",")
        }),
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
        let times = keys.map(|key| &object[key]);
        age_since(
            times
                .into_iter()
                .find(|time| time.is_string())
                .unwrap_or(&Value::Null),
            now,
        )
    };
    let involved = &object["involvedObject"];
    let reference = format!(
        "{}/{}",
        text_or(involved, "/kind", "").to_lowercase(),
        text_or(involved, "/name", "")
    );
    vec![
        json!(first_of(["lastTimestamp", "eventTime", "firstTimestamp"])),
        object["type"].clone(),
        object["reason"].clone(),
        json!(reference),
        json!(text_or(object, "/message", "").trim()),
        json!(text_or(involved, "/fieldPath", "")),
        json!(text_or(
            object,
            "/source/component",
            text_or(object, "/reportingComponent", "")
        )),
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
