//! `ServiceState`: the live model of a Service, and its spec.

use std::collections::{BTreeMap, BTreeSet};

use crate::commands::trace::chain::Headline;
use crate::commands::trace::traced::Traced;
use crate::graph::{
    AddressGroup, Node, Pod, PodCoverage, Port, Service, ServicePort, address_groups, backends,
    pod_owner_sources, slices_source,
};
use crate::model::endpoints_finding;
use crate::object::{Uid, Value};
use crate::source::SourceKey;
use crate::status::Status;

/// The most owners of its Pods to read. Each costs a watch.
const MAX_OWNERS: usize = 12;

pub(super) struct ServiceState {
    pub(super) traced: Traced,
    pub(super) slices: SourceKey,
    /// The source of its Pods, by its current or last selector.
    pods: Option<SourceKey>,
}

impl ServiceState {
    /// The trace of a Service before any event.
    pub(super) fn new(traced: Traced) -> ServiceState {
        ServiceState {
            slices: slices_source(&traced.source),
            pods: None,
            traced,
        }
    }

    /// The sources that show the chain, as far as it is known.
    pub(super) fn plan(&mut self) -> Vec<SourceKey> {
        let source = &self.traced.source;
        if let Some(service) = self.traced.node() {
            self.pods = service.selected_pods_source(&source.cluster);
        }
        let graph = self.traced.graph();
        let owners = pod_owner_sources(graph, self.own_pods(), &source.cluster, MAX_OWNERS);
        let mut sources = vec![source.clone(), self.slices.clone()];
        sources.extend(self.pods.clone());
        sources.extend(owners);
        sources
    }

    pub(super) fn service(&self) -> Option<(&Node, &Service)> {
        let node = self.traced.node()?;
        Some((node, node.service()?))
    }

    /// Whether its Pods are known. Without a selector they are not read.
    pub(super) fn pods(&self) -> PodCoverage {
        let is_read = |pods: &SourceKey| self.traced.is_read(pods);
        self.pods.as_ref().is_some_and(is_read).into()
    }

    /// Its endpoints by address type. Those of a deleted Service may still exist.
    pub(super) fn address_groups(&self) -> Vec<AddressGroup<'_>> {
        let graph = self.traced.graph();
        address_groups(graph, graph.slices_named_for(&self.traced.object()))
    }

    /// The Pods that it selects, and those behind its endpoints, by uid. The graph may have Pods of other Services.
    pub(super) fn own_pods(&self) -> Vec<&Node> {
        let graph = self.traced.graph();
        let slices = graph.slices_named_for(&self.traced.object()).into_iter();
        let served = slices.flat_map(|slice| backends(graph, &slice.uid));
        let behind = served.filter_map(|backend| backend.pod);
        let uid = self.traced.uid().into_iter();
        let selected = uid.flat_map(|uid| graph.selected_pods(uid));
        let pods: BTreeMap<&Uid, &Node> =
            behind.chain(selected).map(|pod| (&pod.uid, pod)).collect();
        pods.into_values().collect()
    }

    /// The state of the Service: its endpoints, unless the Service itself has a worse problem.
    pub(super) fn headline(&self) -> Option<Headline> {
        let (node, _) = self.service()?;
        let own = &self.traced.assessment(&node.uid)?.verdict;
        let endpoints = endpoints_finding(self.traced.model.around(), node)?;
        if node.deleting {
            let words = format!("being deleted; {}", endpoints.cause.text);
            return Some(Headline::new(Status::Terminating, words));
        }
        Some(if own.status > endpoints.status {
            Headline::new(own.status, &own.message)
        } else {
            Headline::new(endpoints.status, endpoints.cause.text)
        })
    }
}

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
