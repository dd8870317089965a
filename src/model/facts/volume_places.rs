//! Where the volumes of a Pod without a node are, and whether a node there takes the Pod
//! (<https://kubernetes.io/docs/concepts/storage/persistent-volumes/#node-affinity>).

use crate::graph::{Node, well_known};
use crate::object::selector::LabelSelector;
use crate::object::{Doc, Value, node_selector_term};
use crate::source::{Select, SourceKey};
use crate::status::{Cause, CauseRule};

use super::constraints::claims_of;
use super::node_refusals::nodes_that_have;
use super::placement::is_unschedulable;
use crate::model::around::Around;

/// Where the nodes are that reach a volume.
const TERMS: [&str; 4] = ["spec", "nodeAffinity", "required", "nodeSelectorTerms"];

/// Where the volumes of a Pod are. That explains why it has no node if no node there takes new Pods.
pub(in crate::model) fn volume_places(around: Around<'_>, pod: &Node) -> Vec<Cause> {
    let Some(doc) = around.doc(&pod.uid) else {
        return Vec::new();
    };
    let volumes = volumes_of(around, pod).into_iter();
    let places = volumes.filter_map(|(source, volume)| {
        let terms = terms(volume.root());
        let places: Vec<String> = terms.iter().map(ToString::to_string).collect();
        let sources = terms.iter().map(|term| nodes_source(&source, term));
        let sources: Vec<SourceKey> = sources.collect();
        let is_read = sources
            .iter()
            .all(|source| around.coverage().is_read(source));
        let (rule, nodes) = if is_read {
            let nodes = sources.iter();
            let nodes = nodes.flat_map(|source| around.evidence().objects(source));
            nodes_that_have(nodes, doc.root())
        } else {
            (CauseRule::Constraint, String::new())
        };
        let name = source.select.name()?;
        let places = places.join(" or ");
        let text = format!("persistentvolume/{name} is only on nodes with {places}{nodes}");
        (!places.is_empty()).then(|| Cause::new(rule, text))
    });
    places.collect()
}

/// The sources of the volumes of a Pod without a node, and of the nodes that reach them.
pub(in crate::model) fn volume_place_sources(around: Around<'_>, pod: &Node) -> Vec<SourceKey> {
    if !is_unschedulable(around, pod) {
        return Vec::new();
    }
    let mut sources = volume_sources_of(around, pod);
    for (source, volume) in volumes_of(around, pod) {
        let nodes = terms(volume.root());
        sources.extend(nodes.iter().map(|term| nodes_source(&source, term)));
    }
    sources
}

/// The volumes of a Pod that are read, each with the source that has it alone.
fn volumes_of(around: Around<'_>, pod: &Node) -> Vec<(SourceKey, Doc)> {
    let sources = volume_sources_of(around, pod).into_iter();
    let volumes = sources.filter_map(|source| {
        let evidence = around.evidence().objects(&source).next();
        let evidence = evidence.map(|(_, volume)| volume.clone());
        let shown = || {
            let name = source.select.name()?;
            let mut volumes = around.graph().of_kind("PersistentVolume");
            let volume = volumes.find(|volume| *volume.object.name == *name)?;
            around.doc(&volume.uid)
        };
        let volume = evidence.or_else(shown)?;
        Some((source, volume))
    });
    volumes.collect()
}

/// The sources of the volumes that the claims of a Pod are bound to, each by its name.
fn volume_sources_of(around: Around<'_>, pod: &Node) -> Vec<SourceKey> {
    let volumes = claims_of(around, pod).filter_map(|claim| {
        let volume = around.doc(&claim.uid)?;
        let name = volume.root().text_at(&["spec", "volumeName"])?;
        let cluster = around.cluster_of(&pod.uid)?;
        let volumes = well_known("", "PersistentVolume");
        Some(SourceKey::of(cluster, volumes, None, Select::Name(name)))
    });
    volumes.collect()
}

/// The labels of the nodes that reach a volume: a node must match one of the terms.
fn terms(volume: Value<'_>) -> Vec<LabelSelector> {
    let terms = volume.items_at(&TERMS).filter_map(node_selector_term);
    terms.filter(|term| !term.is_empty()).collect()
}

fn nodes_source(volume: &SourceKey, term: &LabelSelector) -> SourceKey {
    SourceKey {
        resource: well_known("", "Node"),
        select: Select::labelled(&term.to_string()),
        ..volume.clone()
    }
}
