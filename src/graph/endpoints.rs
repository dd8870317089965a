//! The backends of a Service: its `EndpointSlices`, their endpoints, and the pods behind them.

use std::sync::Arc;

use crate::object::Uid;

use super::{Endpoint, EndpointState, Facts, Graph, Node};

/// The label that names a slice's Service
/// (<https://kubernetes.io/docs/reference/labels-annotations-taints/#kubernetesioservice-name>).
pub(super) const SERVICE_NAME: &str = "kubernetes.io/service-name";

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
        let Some(service) = self.node(service) else {
            return Vec::new();
        };
        let mut slices: Vec<_> = self
            .of_kind_in("EndpointSlice", service.object.namespace.as_deref())
            .filter(|slice| slice.label(SERVICE_NAME) == Some(&service.object.name))
            .collect();
        slices.sort_by_cached_key(|slice| slice.place());
        slices
    }

    /// All Services, by uid.
    pub fn services(&self) -> impl Iterator<Item = &Node> {
        self.services.iter().filter_map(|uid| self.node(uid))
    }

    /// The Services that a slice or a Pod belongs to.
    pub fn services_of(&self, uid: &Uid) -> Vec<&Node> {
        let Some(node) = self.node(uid) else {
            return Vec::new();
        };
        let is_of = |service: &&Node| match &node.facts {
            Facts::Slice(_) => node.label(SERVICE_NAME) == Some(&service.object.name),
            Facts::Pod(_) => {
                let selector = service.selector();
                selector.is_some_and(|selector| selector.matches(|key| node.label(key)))
            }
            Facts::Workload(_) | Facts::Service(_) | Facts::Data(_) | Facts::Other => false,
        };
        let beside = |service: &&Node| service.object.namespace == node.object.namespace;
        self.services().filter(beside).filter(is_of).collect()
    }

    /// The endpoints of one slice: those that get traffic first, then by the names of their targets.
    pub fn backends(&self, slice: &Uid) -> Vec<Backend<'_>> {
        let Some(node) = self.node(slice) else {
            return Vec::new();
        };
        let Facts::Slice(slice) = &node.facts else {
            return Vec::new();
        };
        let mut backends: Vec<_> = slice
            .endpoints
            .iter()
            .map(|endpoint| Backend {
                endpoint,
                pod: self.target(node, endpoint),
            })
            .collect();
        backends.sort_by(|a, b| a.place().cmp(&b.place()));
        backends
    }

    /// The pod behind an endpoint. If the uid is not in the graph, another pod with the same name does not
    /// count.
    fn target(&self, slice: &Node, endpoint: &Endpoint) -> Option<&Node> {
        let target = endpoint.target.as_ref()?;
        match &target.uid {
            Some(uid) => self.node(uid),
            None => self
                .of_kind_in("Pod", slice.object.namespace.as_deref())
                .find(|pod| &*target.kind == "Pod" && pod.object.name == target.name),
        }
    }
}

impl Backend<'_> {
    fn place(&self) -> (EndpointState, Option<&Arc<str>>, &[Arc<str>]) {
        let name = self.endpoint.target.as_ref().map(|target| &target.name);
        (self.endpoint.state(), name, &self.endpoint.addresses)
    }
}
