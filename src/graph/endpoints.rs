//! The endpoints of a Service, from all its slices, each once, with the Pods behind them.

use super::index::Graph;
use super::node::{Facts, Node};
use super::services::{Endpoint, EndpointState, EndpointTarget};
use crate::object::Uid;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// An endpoint of a Service, with its pod.
#[derive(Clone, Debug)]
pub struct Backend<'a> {
    /// The endpoint.
    pub endpoint: &'a Endpoint,
    /// The pod behind it; `None` if the graph does not have it.
    pub pod: Option<&'a Node>,
}

/// The endpoints of one slice, in its order.
pub fn backends<'g>(graph: &'g Graph, slice: &Uid) -> Vec<Backend<'g>> {
    let Some(node) = graph.node(slice) else {
        return Vec::new();
    };
    let Facts::Slice(slice) = &node.facts else {
        return Vec::new();
    };
    let backends = slice.endpoints.iter().map(|endpoint| Backend {
        endpoint,
        pod: target(graph, node, endpoint),
    });
    backends.collect()
}

/// The pod behind an endpoint. If the uid is not in the graph, another pod with the same name does not
/// count.
fn target<'g>(graph: &'g Graph, slice: &Node, endpoint: &Endpoint) -> Option<&'g Node> {
    let target = endpoint.target.as_ref()?;
    match &target.uid {
        Some(uid) => graph.node(uid),
        None => graph
            .of_kind_in("Pod", slice.object.namespace.as_ref())
            .find(|pod| &*target.kind == "Pod" && pod.object.name == target.name),
    }
}

impl Backend<'_> {
    /// The sort key: those that get traffic first, then by the names of their targets.
    pub(super) fn place(&self) -> (EndpointState, Option<&Arc<str>>, &[Arc<str>]) {
        let name = self.endpoint.target.as_ref().map(|target| &target.name);
        (self.endpoint.state(), name, &self.endpoint.addresses)
    }
}

/// The endpoints of one address type.
pub struct AddressGroup<'a> {
    /// `IPv4`, `IPv6` or `FQDN`.
    pub address_type: &'a str,
    /// The names of their slices.
    pub slices: Vec<&'a str>,
    /// The endpoints: those that get traffic first, then by the names of their targets.
    pub endpoints: Vec<ServedEndpoint<'a>>,
}

/// An endpoint, with its ports from all slices.
pub struct ServedEndpoint<'a> {
    /// The endpoint in the first slice that has it.
    pub backend: Backend<'a>,
    /// Its ports.
    pub ports: BTreeSet<i64>,
}

/// The identity of an endpoint: its addresses and the uid of its target.
type Identity = (Vec<Arc<str>>, Option<Uid>);

/// The object behind an endpoint.
#[derive(Clone, Copy)]
pub enum Behind<'a> {
    /// A pod that exists.
    Pod(&'a Node),
    /// A pod that does not exist. A new pod with the same name does not count.
    Ghost(&'a EndpointTarget),
    /// An object that is not read: a pod while pods are not read, or an object of another kind.
    Unread,
    /// No object: someone entered the address by hand.
    External,
}

/// The number of endpoints in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointCounts {
    /// They get traffic.
    pub ready: usize,
    /// They get none.
    pub not_ready: usize,
    /// They are terminating.
    pub terminating: usize,
    /// They are terminating but still serve. They get traffic while no endpoint is ready.
    pub draining: usize,
    /// Their pods do not exist, whatever their state.
    pub ghosts: usize,
}

impl EndpointCounts {
    fn count(&mut self, state: EndpointState) {
        match state {
            EndpointState::Ready => self.ready += 1,
            EndpointState::NotReady => self.not_ready += 1,
            EndpointState::Terminating => self.terminating += 1,
            EndpointState::TerminatingServing => {
                self.terminating += 1;
                self.draining += 1;
            }
        }
    }

    /// The endpoints that are not terminating.
    pub fn staying(self) -> usize {
        self.ready + self.not_ready
    }
}

/// The endpoints by address type. Several slices may have the same address type.
pub fn address_groups<'a>(
    graph: &'a Graph,
    slices: impl IntoIterator<Item = &'a Node>,
) -> Vec<AddressGroup<'a>> {
    let mut groups: BTreeMap<&str, AddressGroup<'_>> = BTreeMap::new();
    let mut slices: Vec<&Node> = slices.into_iter().collect();
    slices.sort_by_key(|slice| &slice.object.name);
    for node in slices {
        let Facts::Slice(slice) = &node.facts else {
            continue;
        };
        let address_type = slice.address_type.as_deref().unwrap_or("?");
        let group = groups.entry(address_type).or_insert_with(|| AddressGroup {
            address_type,
            slices: Vec::new(),
            endpoints: Vec::new(),
        });
        group.slices.push(&node.object.name);
        let ports: BTreeSet<i64> = slice.ports.iter().filter_map(|port| port.port).collect();
        let found = backends(graph, &node.uid).into_iter();
        group.endpoints.extend(found.map(|backend| ServedEndpoint {
            backend,
            ports: ports.clone(),
        }));
    }
    groups.into_values().map(AddressGroup::merged).collect()
}

impl<'a> AddressGroup<'a> {
    /// Merges equal endpoints. The result has the best of their states.
    fn merged(mut self) -> AddressGroup<'a> {
        let order = |a: &ServedEndpoint<'_>, b: &ServedEndpoint<'_>| {
            a.backend.place().cmp(&b.backend.place())
        };
        self.endpoints.sort_by(order);
        let mut merged: Vec<ServedEndpoint<'_>> = Vec::with_capacity(self.endpoints.len());
        let mut at: BTreeMap<Identity, usize> = BTreeMap::new();
        for endpoint in self.endpoints {
            if let Some(&index) = at.get(&endpoint.identity()) {
                merged[index].ports.extend(endpoint.ports);
            } else {
                at.insert(endpoint.identity(), merged.len());
                merged.push(endpoint);
            }
        }
        AddressGroup {
            endpoints: merged,
            ..self
        }
    }

    /// The number of endpoints in each state.
    pub fn counts(&self) -> EndpointCounts {
        let mut counts = EndpointCounts::default();
        for endpoint in &self.endpoints {
            counts.count(endpoint.state());
        }
        counts
    }
}

/// The number of backends in each state. A backend with an address of each type counts once.
pub fn count_backends(groups: &[AddressGroup<'_>], pods: PodCoverage) -> EndpointCounts {
    let mut best: BTreeMap<Identity, (EndpointState, bool)> = BTreeMap::new();
    for endpoint in groups.iter().flat_map(|group| &group.endpoints) {
        let identity = match endpoint.identity() {
            (_, Some(target)) => (Vec::new(), Some(target)),
            (addresses, None) => (addresses, None),
        };
        let is_ghost = matches!(endpoint.behind(pods), Behind::Ghost(_));
        let (state, _) = best.entry(identity).or_insert((endpoint.state(), is_ghost));
        *state = (*state).min(endpoint.state());
    }
    let mut counts = EndpointCounts::default();
    for (state, is_ghost) in best.into_values() {
        counts.count(state);
        counts.ghosts += usize::from(is_ghost);
    }
    counts
}

impl<'a> ServedEndpoint<'a> {
    /// Its `serving` condition, with the API's defaults: serving if ready, and ready if not specified.
    pub fn is_serving(&self) -> bool {
        let endpoint = self.backend.endpoint;
        endpoint.serving.unwrap_or(endpoint.ready.unwrap_or(true))
    }

    /// Whether it gets traffic.
    pub fn state(&self) -> EndpointState {
        self.backend.endpoint.state()
    }

    /// The object behind it. A pod counts as missing only if all pods of the Service are known.
    pub fn behind(&self, pods: PodCoverage) -> Behind<'a> {
        match (self.backend.pod, &self.backend.endpoint.target, pods) {
            (Some(pod), _, _) => Behind::Pod(pod),
            (None, Some(target), PodCoverage::Known) if &*target.kind == "Pod" => {
                Behind::Ghost(target)
            }
            (None, Some(_), _) => Behind::Unread,
            (None, None, _) => Behind::External,
        }
    }

    /// Its addresses with its ports: `10.244.1.17:8080`, `[fd00::17]:8080,9090`.
    pub fn address(&self) -> String {
        let ports: Vec<String> = self.ports.iter().map(i64::to_string).collect();
        let with_ports = |address: &Arc<str>| {
            let is_v6 = address.contains(':');
            match (ports.is_empty(), is_v6) {
                (true, _) => address.to_string(),
                (false, true) => format!("[{address}]:{}", ports.join(",")),
                (false, false) => format!("{address}:{}", ports.join(",")),
            }
        };
        let addresses: Vec<String> = self.addresses().iter().map(with_ports).collect();
        addresses.join(" ")
    }

    /// The name of its target: `pod/api-1`; `external` for a bare address.
    pub fn target(&self) -> String {
        match &self.backend.endpoint.target {
            Some(target) => format!("{}/{}", target.kind.to_lowercase(), target.name),
            None => "external".to_owned(),
        }
    }

    fn addresses(&self) -> &[Arc<str>] {
        &self.backend.endpoint.addresses
    }

    fn identity(&self) -> Identity {
        let target = self.backend.endpoint.target.as_ref();
        let uid = target.and_then(|target| target.uid.clone());
        (self.addresses().to_vec(), uid)
    }
}

/// Whether all pods that a Service selects are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodCoverage {
    /// They have been read.
    Known,
    /// They have not been read yet, or cannot be read.
    Unknown,
}

impl From<bool> for PodCoverage {
    fn from(are_read: bool) -> PodCoverage {
        if are_read {
            PodCoverage::Known
        } else {
            PodCoverage::Unknown
        }
    }
}
