//! Which ports of a Service an endpoint serves. A Pod that does not name a target port is an endpoint without that port.

use crate::graph::{Behind, Node, Pod, Port, Service};
use crate::status::Status;

use super::state::ServiceState;

/// The target ports that a Pod behind an endpoint does not have.
pub(super) struct ServedPorts<'s> {
    lacking: Vec<&'s str>,
    /// The number of ports of the Service.
    all: usize,
}

/// The ports that this Pod serves. An endpoint without a known Pod lacks none.
pub(super) fn of<'s>(state: &'s ServiceState, behind: Behind<'_>) -> ServedPorts<'s> {
    let pod = match behind {
        Behind::Pod(pod) => Node::pod(pod),
        Behind::Ghost(_) | Behind::Unread | Behind::External => None,
    };
    let service = state.service().map(|(_, service)| service);
    ServedPorts {
        lacking: match (service, pod) {
            (Some(service), Some(pod)) if service.selector.is_some() => lacking(service, pod),
            _ => Vec::new(),
        },
        all: service.map_or(0, |service| service.ports.len()),
    }
}

fn lacking<'s>(service: &'s Service, pod: &Pod) -> Vec<&'s str> {
    let ports = service.ports.iter();
    let lacking = ports.filter_map(|port| match &port.target {
        Port::Name(name) if pod.port(name, &port.protocol).is_none() => Some(&**name),
        Port::Name(_) | Port::Number(_) => None,
    });
    lacking.collect()
}

impl ServedPorts<'_> {
    /// The line about the missing ports; `None` if there are none.
    pub(super) fn lack(&self) -> Option<String> {
        let names: Vec<String> = self
            .lacking
            .iter()
            .map(|name| format!("\"{name}\""))
            .collect();
        let names = names.join(", ");
        let noun = match self.lacking.len() {
            0 => return None,
            1 => "port",
            _ => "ports",
        };
        Some(format!("the pod has no {noun} {names}"))
    }

    /// The word for an endpoint that serves no port, in place of that for its state.
    pub(super) fn word(&self) -> Option<&'static str> {
        self.serves_none().then_some("NoPort")
    }

    /// The state of a ready endpoint.
    pub(super) fn status(&self) -> Status {
        match self.lacking.len() {
            0 => Status::Current,
            _ if self.serves_none() => Status::Failed,
            _ => Status::InProgress,
        }
    }

    fn serves_none(&self) -> bool {
        self.all > 0 && self.lacking.len() == self.all
    }
}
