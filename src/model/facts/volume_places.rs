//! Where the volumes of a Pod without a node are, and whether a node there takes the Pod
//! (<https://kubernetes.io/docs/concepts/storage/persistent-volumes/#node-affinity>).

use std::collections::BTreeSet;

use crate::graph::{Node, well_known};
use crate::object::selector::LabelSelector;
use crate::object::{Doc, Value, condition, node_selector_term};
use crate::source::{Select, SourceKey};
use crate::status::{Cause, CauseRule};

use super::super::Model;
use super::super::evidence::EvidenceObject;

/// Where the nodes are that reach a volume.
const TERMS: [&str; 4] = ["spec", "nodeAffinity", "required", "nodeSelectorTerms"];

/// The most nodes that are named.
const MAX_NODES: usize = 3;

impl Model {
    /// Where the volumes of a Pod are. That explains why it has no node if no node there takes new Pods.
    pub(super) fn volume_places(&self, pod: &Node) -> Vec<Cause> {
        let volumes = self.volumes_of(pod).into_iter();
        let places = volumes.filter_map(|(source, volume)| {
            let terms = terms(volume.root());
            let places: Vec<String> = terms.iter().map(ToString::to_string).collect();
            let sources = terms.iter().map(|term| nodes_source(&source, term));
            let sources: Vec<SourceKey> = sources.collect();
            let is_read = sources.iter().all(|source| self.coverage.is_read(source));
            let (rule, nodes) = if is_read {
                nodes_there(
                    sources
                        .iter()
                        .flat_map(|source| self.evidence.objects(source)),
                )
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
    pub(super) fn volume_place_sources(&self, pod: &Node) -> Vec<SourceKey> {
        if !self.is_unschedulable(pod) {
            return Vec::new();
        }
        let mut sources = self.volume_sources_of(pod);
        for (source, volume) in self.volumes_of(pod) {
            let nodes = terms(volume.root());
            sources.extend(nodes.iter().map(|term| nodes_source(&source, term)));
        }
        sources
    }

    /// The volumes of a Pod that are read, each with the source that has it alone.
    fn volumes_of(&self, pod: &Node) -> Vec<(SourceKey, Doc)> {
        let sources = self.volume_sources_of(pod).into_iter();
        let volumes = sources.filter_map(|source| {
            let evidence = self.evidence.objects(&source).next();
            let evidence = evidence.map(|(_, volume)| volume.clone());
            let shown = || {
                let name = source.select.name()?;
                let mut volumes = self.graph.of_kind("PersistentVolume");
                let volume = volumes.find(|volume| *volume.object.name == *name)?;
                self.doc(&volume.uid)
            };
            let volume = evidence.or_else(shown)?;
            Some((source, volume))
        });
        volumes.collect()
    }

    /// The sources of the volumes that the claims of a Pod are bound to, each by its name.
    fn volume_sources_of(&self, pod: &Node) -> Vec<SourceKey> {
        let volumes = self.claims_of(pod).filter_map(|claim| {
            let volume = self.doc(&claim.uid)?;
            let name = volume.root().text_at(&["spec", "volumeName"])?;
            let cluster = self.cluster_of(&pod.uid)?;
            let volumes = well_known("", "PersistentVolume");
            Some(SourceKey::of(cluster, volumes, None, Select::Name(name)))
        });
        volumes.collect()
    }
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

/// The nodes that reach a volume: `, which only node n1 has, and it is cordoned`. They explain why a Pod has no node only
/// if none of them takes new Pods.
fn nodes_there<'a>(nodes: impl Iterator<Item = &'a EvidenceObject>) -> (CauseRule, String) {
    let nodes: Vec<_> = nodes.collect();
    let names: Vec<&str> = nodes.iter().map(|(name, _)| &*name.name).collect();
    let (has, who) = match names.as_slice() {
        [] => return (CauseRule::Fact, ", and no node has it".to_owned()),
        [name] => (format!("only node {name} has"), "it is"),
        names if names.len() > MAX_NODES => {
            (format!("{} nodes have", names.len()), "all of them are")
        }
        names => (
            format!("only the nodes {} have", names.join(", ")),
            "all of them are",
        ),
    };
    let refusals = nodes.iter().map(|(_, node)| refusal(node.root()));
    let refusals: Option<BTreeSet<&str>> = refusals.collect();
    match refusals {
        Some(refusals) => {
            let refusals: Vec<&str> = refusals.into_iter().collect();
            let refusals = refusals.join(" or ");
            let text = format!(", which {has}, and {who} {refusals}");
            (CauseRule::Fact, text)
        }
        None => (CauseRule::Constraint, format!(", which {has}")),
    }
}

/// Why a node takes no new Pods; `None` if it may take some.
fn refusal(node: Value<'_>) -> Option<&'static str> {
    let is_cordoned = node.bool_at(&["spec", "unschedulable"]) == Some(true);
    let is_lost = condition(node, "Ready").is_some_and(|ready| ready.status != "True");
    match (is_cordoned, is_lost) {
        (true, _) => Some("cordoned"),
        (false, true) => Some("not ready"),
        (false, false) => None,
    }
}
