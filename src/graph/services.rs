//! `Service` and `Slice`: what the graph keeps of Services and of their slices.

use std::sync::Arc;

use crate::object::selector::LabelSelector;
use crate::object::{Uid, Value, map_selector};

use super::reference::Port;

/// A Service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Service {
    /// Its selector; `None` selects nothing.
    pub selector: Option<LabelSelector>,
    /// Whether pods that are not ready count as ready endpoints.
    pub publishes_unready: bool,
    /// What it is an alias for, if its type is `ExternalName`; empty if the name is missing. Such a Service has no
    /// endpoints.
    pub external_name: Option<Arc<str>>,
    /// Whether it has no cluster IP. Its DNS name resolves to its endpoints, of which there may be none.
    pub is_headless: bool,
    /// Its ports.
    pub ports: Vec<ServicePort>,
}

/// A port of a Service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServicePort {
    /// The name; `None` if the only port has none.
    pub name: Option<Arc<str>>,
    /// The number.
    pub number: i64,
    /// The port of the Pods behind it.
    pub target: Port,
    /// The port on each Node that leads to it.
    pub node_port: Option<i64>,
    /// `TCP`, `UDP` or `SCTP`.
    pub protocol: Arc<str>,
}

impl Service {
    pub(super) fn of(service: Value<'_>) -> Service {
        let ports = service.items_at(&["spec", "ports"]);
        Service {
            selector: service.at(&["spec", "selector"]).and_then(map_selector),
            publishes_unready: service
                .bool_at(&["spec", "publishNotReadyAddresses"])
                .unwrap_or(false),
            external_name: (service.str_at(&["spec", "type"]).as_deref() == Some("ExternalName"))
                .then(|| {
                    service
                        .text_at(&["spec", "externalName"])
                        .unwrap_or_default()
                }),
            is_headless: service.str_at(&["spec", "clusterIP"]).as_deref() == Some("None"),
            ports: ports
                .filter_map(|port| {
                    let number = port.i64_at(&["port"])?;
                    let target = port.get("targetPort").and_then(Port::of);
                    Some(ServicePort {
                        name: port.text_at(&["name"]),
                        number,
                        target: target.unwrap_or(Port::Number(number)),
                        node_port: port.i64_at(&["nodePort"]).filter(|port| *port > 0),
                        protocol: port.text_at(&["protocol"]).unwrap_or_else(|| "TCP".into()),
                    })
                })
                .collect(),
        }
    }

    /// Whether it has this port. Each port of an alias for an external name exists as far as the API knows.
    pub fn has_port(&self, port: &Port) -> bool {
        self.external_name.is_some()
            || self.ports.iter().any(|own| match port {
                Port::Number(number) => own.number == *number,
                Port::Name(name) => own.name.as_ref() == Some(name),
            })
    }
}

/// The facts of an `EndpointSlice`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// `IPv4`, `IPv6` or `FQDN`.
    pub address_type: Option<Arc<str>>,
    /// The ports of all its endpoints.
    pub ports: Vec<SlicePort>,
    /// The endpoints, in the object's order.
    pub endpoints: Vec<Endpoint>,
}

/// A port of a slice's endpoints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlicePort {
    /// The name of the Service's port.
    pub name: Option<Arc<str>>,
    /// The number; `None` if a named target port is not resolved.
    pub port: Option<i64>,
    /// `TCP`, `UDP` or `SCTP`.
    pub protocol: Option<Arc<str>>,
}

/// One endpoint of a slice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endpoint {
    /// Its addresses. All reach the same backend.
    pub addresses: Vec<Arc<str>>,
    /// The `ready` condition; `None` if absent.
    pub ready: Option<bool>,
    /// The `serving` condition; `None` if absent.
    pub serving: Option<bool>,
    /// The `terminating` condition; `None` if absent.
    pub terminating: Option<bool>,
    /// The node it is on.
    pub node: Option<Arc<str>>,
    /// The zone it is in.
    pub zone: Option<Arc<str>>,
    /// The object behind it; `None` for an address that someone entered by hand.
    pub target: Option<EndpointTarget>,
}

/// The object behind an endpoint, usually a Pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointTarget {
    /// Its kind.
    pub kind: Arc<str>,
    /// Its name.
    pub name: Arc<str>,
    /// Its uid.
    pub uid: Option<Uid>,
}

/// Whether an endpoint gets traffic, ordered from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EndpointState {
    /// It gets traffic.
    Ready,
    /// It is terminating but still serves. It gets traffic only while no endpoint is ready.
    TerminatingServing,
    /// It does not get traffic.
    NotReady,
    /// It is terminating and gets no traffic.
    Terminating,
}

impl Endpoint {
    /// The state. Absent conditions have the API's defaults: ready, serving if ready, not terminating.
    pub fn state(&self) -> EndpointState {
        let ready = self.ready.unwrap_or(true);
        match (
            self.terminating.unwrap_or(false),
            self.serving.unwrap_or(ready),
        ) {
            (true, true) => EndpointState::TerminatingServing,
            (true, false) => EndpointState::Terminating,
            (false, _) if ready => EndpointState::Ready,
            (false, _) => EndpointState::NotReady,
        }
    }
}

impl Slice {
    pub(super) fn of(object: Value<'_>) -> Slice {
        Slice {
            address_type: object.text_at(&["addressType"]),
            ports: object
                .items_at(&["ports"])
                .map(|port| SlicePort {
                    name: port.text_at(&["name"]),
                    port: port.i64_at(&["port"]),
                    protocol: port.text_at(&["protocol"]),
                })
                .collect(),
            endpoints: object.items_at(&["endpoints"]).map(endpoint).collect(),
        }
    }
}

fn endpoint(endpoint: Value<'_>) -> Endpoint {
    let condition = |key| endpoint.bool_at(&["conditions", key]);
    Endpoint {
        addresses: endpoint
            .items_at(&["addresses"])
            .filter_map(|address| Some(Arc::from(&*address.as_str()?)))
            .collect(),
        ready: condition("ready"),
        serving: condition("serving"),
        terminating: condition("terminating"),
        node: endpoint.text_at(&["nodeName"]),
        zone: endpoint.text_at(&["zone"]),
        target: endpoint
            .text_at(&["targetRef", "name"])
            .map(|name| EndpointTarget {
                kind: endpoint.text_at(&["targetRef", "kind"]).unwrap_or_default(),
                name,
                uid: endpoint.text_at(&["targetRef", "uid"]).map(Uid::new),
            }),
    }
}
