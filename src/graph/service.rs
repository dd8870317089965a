//! The facts that the graph keeps of a Service: what it selects, and its ports.

use std::sync::Arc;

use crate::object::selector::LabelSelector;
use crate::object::{Value, map_selector};

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
