//! The spec of a Service: its addresses and its ports.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::graph::Pod;
use crate::object::Value;

/// The type and the addresses of a Service: `ClusterIP 10.96.14.7`.
pub(super) fn reach(service: Value<'_>) -> Vec<String> {
    let kind = service.text_at(&["spec", "type"]);
    let kind = kind.as_deref().unwrap_or("ClusterIP");
    if kind == "ExternalName" {
        let alias = external_name(service).map(|name| format!(" to {name}"));
        let alias = alias.unwrap_or_else(|| " without a name".to_owned());
        return vec![format!("ExternalName{alias}")];
    }
    let mut facts = vec![match cluster_addresses(service) {
        addresses if addresses == HEADLESS && kind == "ClusterIP" => addresses,
        addresses => format!("{kind} {addresses}"),
    }];
    if kind == "LoadBalancer" {
        let addresses = ingress(service);
        facts.push(if addresses.is_empty() {
            "waiting for an external address".to_owned()
        } else {
            format!("external {}", addresses.join(", "))
        });
    }
    let external: Vec<_> = service
        .items_at(&["spec", "externalIPs"])
        .filter_map(Value::as_str)
        .collect();
    if !external.is_empty() {
        facts.push(format!("externalIPs {}", external.join(", ")));
    }
    facts
}

/// The external name of a Service of type `ExternalName`; `None` for other types, or if the name is missing.
pub(super) fn external_name(service: Value<'_>) -> Option<Arc<str>> {
    service
        .text_at(&["spec", "externalName"])
        .filter(|_| is_external(service))
}

/// Whether a Service is an alias for an external name. Such a Service has no endpoints.
pub(super) fn is_external(service: Value<'_>) -> bool {
    service.str_at(&["spec", "type"]).as_deref() == Some("ExternalName")
}

/// A Service without a cluster IP. Its DNS name resolves to the addresses of its endpoints.
const HEADLESS: &str = "headless";

/// The cluster IPs. The API writes `None` for a headless Service.
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
    match addresses.first().map(String::as_str) {
        None => "without an address yet".to_owned(),
        Some("None") => HEADLESS.to_owned(),
        Some(_) => addresses.join(", "),
    }
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

/// A port of a Service.
pub(super) struct PortSummary {
    name: Option<Arc<str>>,
    number: i64,
    protocol: Arc<str>,
    on_nodes: Option<i64>,
    target: TargetPort,
}

/// The target of a Service port.
enum TargetPort {
    Number(i64),
    /// A named container port: its numbers in the pods, and how many pods lack it.
    Named {
        name: String,
        numbers: BTreeSet<i64>,
        lacking: usize,
        pods: usize,
    },
}

/// The ports of a Service. Named target ports are looked up in its pods.
pub(super) fn ports(service: Value<'_>, pods: &[&Pod]) -> Vec<PortSummary> {
    service
        .items_at(&["spec", "ports"])
        .map(|port| port_of(port, pods))
        .collect()
}

fn port_of(port: Value<'_>, pods: &[&Pod]) -> PortSummary {
    let number = port.i64_at(&["port"]).unwrap_or_default();
    let protocol = port.text_at(&["protocol"]).unwrap_or_else(|| "TCP".into());
    let target = match port.get("targetPort") {
        Some(target) if target.as_str().is_some_and(|name| !name.is_empty()) => {
            let name = target.as_str().unwrap_or_default().into_owned();
            resolve(name, &protocol, pods)
        }
        Some(target) => TargetPort::Number(target.as_i64().unwrap_or(number)),
        None => TargetPort::Number(number),
    };
    PortSummary {
        name: port.text_at(&["name"]),
        number,
        on_nodes: port.i64_at(&["nodePort"]).filter(|port| *port > 0),
        protocol,
        target,
    }
}

/// Looks a port's name up in each pod, as the endpoint slice controller does.
fn resolve(name: String, protocol: &str, pods: &[&Pod]) -> TargetPort {
    let mut numbers = BTreeSet::new();
    let mut lacking = 0;
    for pod in pods {
        let found = pod.port(&name, protocol);
        lacking += usize::from(found.is_none());
        numbers.extend(found);
    }
    TargetPort::Named {
        name,
        numbers,
        lacking,
        pods: pods.len(),
    }
}

impl PortSummary {
    /// The port as text: `http 80->8080/TCP`.
    pub(super) fn text(&self) -> String {
        let name = self.name.as_ref().map(|name| format!("{name} "));
        let target = match &self.target {
            TargetPort::Number(number) => number.to_string(),
            TargetPort::Named { name, numbers, .. } if numbers.is_empty() => name.clone(),
            TargetPort::Named { numbers, .. } => {
                let numbers: Vec<_> = numbers.iter().map(i64::to_string).collect();
                numbers.join("|")
            }
        };
        let node = self.on_nodes.map(|port| format!(" (node port {port})"));
        format!(
            "{}{}->{target}/{}{}",
            name.unwrap_or_default(),
            self.number,
            self.protocol,
            node.unwrap_or_default()
        )
    }

    /// The warning for a target port that some pods lack. These pods get no traffic from the port.
    pub(super) fn warning(&self) -> Option<String> {
        let TargetPort::Named {
            name,
            lacking,
            pods,
            ..
        } = &self.target
        else {
            return None;
        };
        let who = match (*lacking, *pods) {
            (0, _) => return None,
            (lacking, pods) if lacking == pods => "no pod has".to_owned(),
            (1, pods) => format!("1 of {pods} pods has no"),
            (lacking, pods) => format!("{lacking} of {pods} pods have no"),
        };
        let what = if lacking == pods { "a " } else { "" };
        Some(format!(
            "port {}: {who} {what}{} container port named \"{name}\"",
            self.number, self.protocol
        ))
    }
}
