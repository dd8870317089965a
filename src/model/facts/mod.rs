//! Facts: what other objects add to the words of one that is not well. A fact explains a state and never changes
//! it.

pub(super) mod constraints;
pub(super) mod near_names;
pub(super) mod node_refusals;
pub(super) mod placement;
pub(super) mod pod_templates;
pub(super) mod recreate;
pub(super) mod refusing_webhook;
pub(super) mod storage;
pub(super) mod volume_places;

use crate::graph::{Node, PodCoverage};
use crate::object::Uid;
use crate::source::{Form, Scope, SourceKey};
use crate::status::Cause;

use crate::model::around::Around;
use crate::model::neighbour_rules::daemon_set::{looked_at_sets, sources_of_its_nodes};
use crate::model::neighbour_rules::selects_none::{beside_source, selecting_none};
use crate::model::service::pod_coverage;
use crate::model::stateful_set::blocking_pod;
use near_names::near_names_sources;
use placement::{node_sources, placement_facts};
use pod_templates::template_sources;
use recreate::ending_pod;
use refusing_webhook::{webhook_fact, webhook_sources};
use storage::claim_fact;
use volume_places::volume_place_sources;

/// The most sources for facts. Each costs a list and a watch.
const MAX_SOURCES: usize = 6;

/// The facts about an object that is not well.
pub(in crate::model) fn facts(around: Around<'_>, uid: &Uid) -> Vec<Cause> {
    let Some(node) = around.graph().node(uid) else {
        return Vec::new();
    };
    let mut facts = match (node.object.group(), &*node.object.kind) {
        ("", "Pod") => placement_facts(around, node),
        ("", "PersistentVolumeClaim") => Vec::from_iter(claim_fact(around, node)),
        ("apps", "Deployment") => Vec::from_iter(ending_pod(around, node)),
        ("apps", "StatefulSet") => Vec::from_iter(blocking_pod(around, node)),
        _ => Vec::new(),
    };
    facts.extend(webhook_fact(around, node));
    facts
}

/// The sources that facts need.
pub(in crate::model) fn fact_sources(around: Around<'_>) -> Vec<SourceKey> {
    let mut sources = Vec::new();
    for node in around
        .unwell()
        .iter()
        .filter_map(|uid| around.graph().node(uid))
    {
        let found = node_sources(around, node).into_iter();
        let nearby = nearby_pods_source(around, node).into_iter();
        let found = found.chain(nearby).chain(template_sources(around, node));
        let found = found.chain(volume_place_sources(around, node));
        let found = found.chain(webhook_sources(around, node));
        for source in found.chain(near_names_sources(around, node)) {
            if sources.len() == MAX_SOURCES {
                return sources;
            }
            if !sources.contains(&source) {
                sources.push(source);
            }
        }
    }
    let beside = selecting_none(around);
    let beside = beside.filter_map(|node| beside_source(around, node));
    let nodes = looked_at_sets(around);
    let nodes = nodes.flat_map(|set| sources_of_its_nodes(around, set));
    for source in beside.chain(nodes) {
        if !sources.contains(&source) && sources.len() < MAX_SOURCES {
            sources.push(source);
        }
    }
    sources
}

/// The source of the labels of all Pods beside a Service that selects none.
pub(in crate::model) fn nearby_pods_source(around: Around<'_>, node: &Node) -> Option<SourceKey> {
    let cluster = around.cluster_of(&node.uid)?;
    let selected = node.selected_pods_source(cluster)?;
    let selects_nothing = pod_coverage(around, node) == PodCoverage::Known
        && around.graph().selected_pods(&node.uid).is_empty()
        && matches!(selected.scope, Scope::Namespace(_));
    selects_nothing.then(|| SourceKey {
        form: Form::Metadata,
        ..selected.of_all()
    })
}
