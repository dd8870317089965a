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
    /// Whether it is an alias for an external name. Such a Service has no endpoints.
    pub is_external: bool,
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
}

impl Service {
    pub(super) fn of(service: Value<'_>) -> Service {
        let ports = service.items_at(&["spec", "ports"]);
        Service {
            selector: service.at(&["spec", "selector"]).and_then(map_selector),
            publishes_unready: service
                .bool_at(&["spec", "publishNotReadyAddresses"])
                .unwrap_or(false),
            is_external: service.str_at(&["spec", "type"]).as_deref() == Some("ExternalName"),
            ports: ports
                .filter_map(|port| {
                    Some(ServicePort {
                        name: port.text_at(&["name"]),
                        number: port.i64_at(&["port"])?,
                    })
                })
                .collect(),
        }
    }

    /// Whether it has this port. Each port of an alias for an external name exists as far as the API knows.
    pub fn has_port(&self, port: &Port) -> bool {
        self.is_external
            || self.ports.iter().any(|own| match port {
                Port::Number(number) => own.number == *number,
                Port::Name(name) => own.name.as_ref() == Some(name),
            })
    }
}
