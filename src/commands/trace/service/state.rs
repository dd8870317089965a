//! `ServiceState`: the live model of a Service's trace, and the sources that it needs.

use std::collections::BTreeMap;

use crate::commands::trace::headline::Headline;
use crate::commands::trace::traced::Traced;
use crate::graph::{AddressGroup, Node, PodCoverage, Service, address_groups, slices_source};
use crate::model::endpoints_finding;
use crate::object::Uid;
use crate::source::SourceKey;
use crate::status::Status;

/// The most owners of its Pods to read. Each costs a watch.
const MAX_OWNERS: usize = 12;

/// The trace of one Service.
pub(super) struct ServiceState {
    pub(super) traced: Traced,
    /// The source of its slices.
    slices: SourceKey,
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
        let owners = graph.pod_owner_sources(self.own_pods(), &source.cluster, MAX_OWNERS);
        let mut sources = vec![source.clone(), self.slices.clone()];
        sources.extend(self.pods.clone());
        sources.extend(owners);
        sources
    }

    /// The Service and its facts.
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
        let backends = slices.flat_map(|slice| graph.backends(&slice.uid));
        let behind = backends.filter_map(|backend| backend.pod);
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
        // A file may lack the slices of a Service that works.
        let Some(endpoints) = endpoints_finding(self.traced.model.around(), node) else {
            return Some(Headline::new(
                own.status,
                "its endpoints are not in the file",
            ));
        };
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

    /// Whether its slices have been read.
    pub(super) fn are_slices_read(&self) -> bool {
        self.traced.is_read(&self.slices)
    }
}
