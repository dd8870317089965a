//! The backends of a Service: its `EndpointSlices`, their endpoints, and the pods behind them.

use std::sync::Arc;

use crate::object::{ObjectRef, Uid};

use super::labels::SERVICE_NAME;
use super::{Endpoint, EndpointState, Facts, Graph, Node};

/// An endpoint of a Service, with its pod.
#[derive(Clone, Debug)]
pub struct Backend<'a> {
    /// The endpoint.
    pub endpoint: &'a Endpoint,
    /// The pod behind it; `None` if the graph does not have it.
    pub pod: Option<&'a Node>,
}

impl Graph {
    /// The slices of a Service, in the order of siblings in a tree.
    pub fn slices(&self, service: &Uid) -> Vec<&Node> {
        let service = self.node(service);
        service.map_or_else(Vec::new, |service| self.slices_named_for(&service.object))
    }

    /// The slices of a Service of this name, in the order of siblings in a tree. The Service itself may be gone.
    pub fn slices_named_for(&self, service: &ObjectRef) -> Vec<&Node> {
        let namespace = service.namespace.as_ref();
        let slices = self
            .kinds
            .of_service("EndpointSlice", namespace, &service.name);
        let mut slices: Vec<&Node> = slices.filter_map(|uid| self.node(uid)).collect();
        slices.sort_by_cached_key(|slice| slice.place());
        slices
    }

    /// All Services, by namespace and name.
    pub fn services(&self) -> impl Iterator<Item = &Node> {
        let services = self.of_kind("Service");
        services.filter(|service| service.service().is_some())
    }

    /// The Services that a slice or a Pod belongs to.
    pub fn services_of(&self, uid: &Uid) -> Vec<&Node> {
        let Some(node) = self.node(uid) else {
            return Vec::new();
        };
        let namespace = node.object.namespace.as_ref();
        match &node.facts {
            Facts::Slice(_) => {
                let name = node.label(SERVICE_NAME).into_iter();
                let uids = name.flat_map(|name| self.kinds.of_service("Service", namespace, name));
                uids.filter_map(|uid| self.node(uid)).collect()
            }
            Facts::Pod(_) => {
                let selects = |service: &&Node| {
                    let selector = service.service().and_then(|_| service.selector());
                    selector.is_some_and(|selector| selector.matches(|key| node.label(key)))
                };
                let services = self.of_kind_in("Service", namespace);
                services.filter(selects).collect()
            }
            Facts::Workload(_) | Facts::Service(_) | Facts::Data(_) | Facts::Other => Vec::new(),
        }
    }

    /// The endpoints of one slice, in its order.
    pub fn backends(&self, slice: &Uid) -> Vec<Backend<'_>> {
        let Some(node) = self.node(slice) else {
            return Vec::new();
        };
        let Facts::Slice(slice) = &node.facts else {
            return Vec::new();
        };
        let backends = slice.endpoints.iter().map(|endpoint| Backend {
            endpoint,
            pod: self.target(node, endpoint),
        });
        backends.collect()
    }

    /// The pod behind an endpoint. If the uid is not in the graph, another pod with the same name does not
    /// count.
    fn target(&self, slice: &Node, endpoint: &Endpoint) -> Option<&Node> {
        let target = endpoint.target.as_ref()?;
        match &target.uid {
            Some(uid) => self.node(uid),
            None => self
                .of_kind_in("Pod", slice.object.namespace.as_ref())
                .find(|pod| &*target.kind == "Pod" && pod.object.name == target.name),
        }
    }
}

impl Backend<'_> {
    /// The sort key: those that get traffic first, then by the names of their targets.
    pub(super) fn place(&self) -> (EndpointState, Option<&Arc<str>>, &[Arc<str>]) {
        let name = self.endpoint.target.as_ref().map(|target| &target.name);
        (self.endpoint.state(), name, &self.endpoint.addresses)
    }
}
