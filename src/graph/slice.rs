//! The facts that the graph keeps of an `EndpointSlice`: its ports and its endpoints.

use std::sync::Arc;

use crate::object::{Uid, Value};

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
    pub target: Option<Target>,
}

/// The object behind an endpoint, usually a Pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
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
        target: endpoint.text_at(&["targetRef", "name"]).map(|name| Target {
            kind: endpoint.text_at(&["targetRef", "kind"]).unwrap_or_default(),
            name,
            uid: endpoint.text_at(&["targetRef", "uid"]).map(Uid::new),
        }),
    }
}
