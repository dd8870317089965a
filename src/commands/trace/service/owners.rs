//! The owners of a Service's Pods, and the chains they form.

use std::collections::BTreeMap;

use crate::commands::trace::traced::revision;
use crate::graph::{Graph, Node};
use crate::model::Model;
use crate::object::{PodCounts, Value};

/// The owners of some pods, the outermost first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OwnerChain {
    /// Their names: `deployment/api > replicaset/api-7f6d9c #7`.
    pub(super) names: String,
    /// The counts of the innermost owner that was read: `4/4 pods, 3 available`.
    pub(super) counts: Option<String>,
}

/// Each chain of owners of these Pods once, and the number of Pods without an owner.
pub(super) fn chains(model: &Model, pods: Vec<&Node>) -> (Vec<OwnerChain>, usize) {
    let graph = model.graph();
    let mut chains = BTreeMap::new();
    let mut bare = 0;
    for pod in pods {
        let owners = graph.ancestors(&pod.uid);
        match names(pod, &owners) {
            Some(names) => {
                let counts = || counts(model.doc(&owners.first()?.uid)?.root());
                chains.entry(names).or_insert_with(counts);
            }
            None => bare += 1,
        }
    }
    let chain = |(names, counts)| OwnerChain { names, counts };
    (chains.into_iter().map(chain).collect(), bare)
}

/// The outermost known owner of a pod, with the revision: `deployment/api #7`.
pub(super) fn outermost(graph: &Graph, pod: &Node) -> String {
    let chain = graph.ancestors(&pod.uid);
    let revision = chain.iter().find_map(|owner| revision(owner));
    match chain.last() {
        Some(owner) => format!("{}{}", owner.object, revision.unwrap_or_default()),
        None => String::new(),
    }
}

/// The names of a Pod's owners, the outermost first; `None` without owners.
fn names(pod: &Node, owners: &[&Node]) -> Option<String> {
    let outermost = owners.last().copied().unwrap_or(pod);
    let unread = outermost.owners.first().map(|owner| {
        let kind = owner.kind.to_lowercase();
        format!("{kind}/{} (not read)", owner.name)
    });
    let known = owners.iter().rev().map(|owner| {
        let revision = match &*owner.object.kind {
            "ReplicaSet" => revision(owner).unwrap_or_default(),
            _ => String::new(),
        };
        format!("{}{revision}", owner.object)
    });
    let names: Vec<String> = unread.into_iter().chain(known).collect();
    (!names.is_empty()).then(|| names.join(" > "))
}

/// How many pods a workload has, how many it wants, and how many are available.
fn counts(owner: Value<'_>) -> Option<String> {
    let counts = PodCounts::of(owner)?;
    let (there, wanted, available) = (counts.there, counts.wanted, counts.available);
    Some(format!("{there}/{wanted} pods, {available} available"))
}
