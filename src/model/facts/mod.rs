//! Facts: what other objects add to the words of one that is not well. A fact explains a state and never changes
//! it.

mod constraints;
mod near_names;
mod node_refusals;
mod placement;
mod pod_templates;
mod recreate;
mod refusing_webhook;
mod storage;
mod volume_places;

use crate::graph::{Node, PodCoverage};
use crate::object::Uid;
use crate::source::{Form, Scope, SourceKey};
use crate::status::Cause;

use super::Model;

/// The most sources for facts. Each costs a list and a watch.
const MAX_SOURCES: usize = 6;

impl Model {
    /// The facts about an object that is not well.
    pub(super) fn facts(&self, uid: &Uid) -> Vec<Cause> {
        let Some(node) = self.graph.node(uid) else {
            return Vec::new();
        };
        let mut facts = match (node.object.group(), &*node.object.kind) {
            ("", "Pod") => self.placement_facts(node),
            ("", "PersistentVolumeClaim") => Vec::from_iter(self.claim_fact(node)),
            ("apps", "Deployment") => Vec::from_iter(self.ending_pod(node)),
            ("apps", "StatefulSet") => Vec::from_iter(self.blocking_pod(node)),
            _ => Vec::new(),
        };
        facts.extend(self.webhook_fact(node));
        facts
    }

    /// The sources that facts need.
    pub(super) fn fact_sources(&self) -> Vec<SourceKey> {
        let mut sources = Vec::new();
        for node in self.unwell.iter().filter_map(|uid| self.graph.node(uid)) {
            let found = self.node_sources(node).into_iter();
            let nearby = self.nearby_pods_source(node).into_iter();
            let found = found.chain(nearby).chain(self.template_sources(node));
            let found = found.chain(self.volume_place_sources(node));
            let found = found.chain(self.webhook_sources(node));
            for source in found.chain(self.near_names_sources(node)) {
                if sources.len() == MAX_SOURCES {
                    return sources;
                }
                if !sources.contains(&source) {
                    sources.push(source);
                }
            }
        }
        let beside = self.selecting_none();
        let beside = beside.filter_map(|node| self.beside_source(node));
        let nodes = self.looked_at_sets();
        let nodes = nodes.flat_map(|set| self.sources_of_its_nodes(set));
        for source in beside.chain(nodes) {
            if !sources.contains(&source) && sources.len() < MAX_SOURCES {
                sources.push(source);
            }
        }
        sources
    }

    /// The source of the labels of all Pods beside a Service that selects none.
    pub(super) fn nearby_pods_source(&self, node: &Node) -> Option<SourceKey> {
        let cluster = self.cluster_of(&node.uid)?;
        let selected = node.selected_pods_source(cluster)?;
        let selects_nothing = self.pod_coverage(node) == PodCoverage::Known
            && self.graph.selected_pods(&node.uid).is_empty()
            && matches!(selected.scope, Scope::Namespace(_));
        selects_nothing.then(|| SourceKey {
            form: Form::Metadata,
            ..selected.of_all()
        })
    }
}
