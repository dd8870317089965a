//! The spec of a Service: its addresses and its ports.

use std::collections::BTreeSet;

use crate::graph::{Pod, Port, Service, ServicePort};
use crate::object::Value;

/// The type and the addresses of a Service: `ClusterIP 10.96.14.7`.
pub(super) fn reach(service: &Service, object: Value<'_>) -> Vec<String> {
    match service.external_name.as_deref() {
        Some("") => return vec!["ExternalName without a name".to_owned()],
        Some(name) => return vec![format!("ExternalName to {name}")],
        None => {}
    }
    let kind = object.text_at(&["spec", "type"]);
    let kind = kind.as_deref().unwrap_or("ClusterIP");
    let mut facts = vec![if service.is_headless {
        "headless".to_owned()
    } else {
        format!("{kind} {}", cluster_addresses(object))
    }];
    if kind == "LoadBalancer" {
        let addresses = ingress(object);
        facts.push(if addresses.is_empty() {
            "waiting for an external address".to_owned()
        } else {
            format!("external {}", addresses.join(", "))
        });
    }
    let external: Vec<_> = object
        .items_at(&["spec", "externalIPs"])
        .filter_map(Value::as_str)
        .collect();
    if !external.is_empty() {
        facts.push(format!("externalIPs {}", external.join(", ")));
    }
    facts
}

/// The cluster IPs.
fn cluster_addresses(service: Value<'_>) -> String {
    let mut addresses: Vec<String> = service
        .items_at(&["spec", "clusterIPs"])
        .filter_map(|address| Some(address.as_str()?.into_owned()))
        .collect();
    if addresses.is_empty() {
        addresses.extend(
            service
                .text_at(&["spec", "clusterIP"])
                .map(|address| address.to_string()),
        );
    }
    if addresses.is_empty() {
        return "without an address yet".to_owned();
    }
    addresses.join(", ")
}

/// The addresses of the load balancer, sorted: `35.1.1.1/a.example`.
fn ingress(service: Value<'_>) -> Vec<String> {
    let mut addresses: Vec<String> = service
        .items_at(&["status", "loadBalancer", "ingress"])
        .filter_map(
            |point| match (point.text_at(&["ip"]), point.text_at(&["hostname"])) {
                (Some(ip), Some(name)) => Some(format!("{ip}/{name}")),
                (ip, name) => Some(ip.or(name)?.to_string()),
            },
        )
        .collect();
    addresses.sort();
    addresses
}

/// A port of a Service as text: `http 80->8080/TCP`. A named target port is looked up in the pods, as the endpoint
/// slice controller does.
pub(super) fn port_text(port: &ServicePort, pods: &[&Pod]) -> String {
    let name = port.name.as_ref().map(|name| format!("{name} "));
    let target = match &port.target {
        Port::Number(number) => number.to_string(),
        Port::Name(name) => {
            let numbers = pods.iter().filter_map(|pod| pod.port(name, &port.protocol));
            let numbers: BTreeSet<i64> = numbers.collect();
            let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
            match &numbers[..] {
                [] => name.to_string(),
                numbers => numbers.join("|"),
            }
        }
    };
    let node = port.node_port.map(|port| format!(" (node port {port})"));
    format!(
        "{}{}->{target}/{}{}",
        name.unwrap_or_default(),
        port.number,
        port.protocol,
        node.unwrap_or_default()
    )
}
