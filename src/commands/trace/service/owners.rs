//! The owners of a Service's pods: which to read, by name, and the chains they form.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::graph::{Facts, Graph, Node};
use crate::object::{Resource, Uid, Value};

use super::super::objects::Objects;

/// How many owners are read at most: each is a watch.
const MOST_OWNERS: usize = 12;

/// The kinds of owners that are read: group, version, plural, kind. Others are named, not read.
const KINDS: [(&str, &str, &str, &str); 7] = [
    ("apps", "v1", "replicasets", "ReplicaSet"),
    ("apps", "v1", "deployments", "Deployment"),
    ("apps", "v1", "statefulsets", "StatefulSet"),
    ("apps", "v1", "daemonsets", "DaemonSet"),
    ("batch", "v1", "jobs", "Job"),
    ("batch", "v1", "cronjobs", "CronJob"),
    ("", "v1", "replicationcontrollers", "ReplicationController"),
];

/// The owners to read, by resource and name: those of the pods, and as these come, theirs.
pub(super) fn wanted(objects: &Objects) -> Vec<(Resource, Arc<str>)> {
    let mut wanted = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut level: Vec<Uid> = pods(objects).map(|pod| pod.uid.clone()).collect();
    while !level.is_empty() && wanted.len() < MOST_OWNERS {
        let mut next = Vec::new();
        for uid in level {
            for (owner, resource, name) in references(objects, &uid) {
                wanted.insert((resource, name));
                if objects.get(&owner).is_some() && seen.insert(owner.clone()) {
                    next.push(owner);
                }
            }
        }
        level = next;
    }
    wanted.into_iter().take(MOST_OWNERS).collect()
}

/// The owners that an object names and whose kinds are read.
fn references(objects: &Objects, uid: &Uid) -> Vec<(Uid, Resource, Arc<str>)> {
    let read = |owner: Value<'_>| {
        let text = |key| Some(Arc::<str>::from(&*owner.str_at(&[key])?));
        let resource = resource(&text("apiVersion")?, &text("kind")?)?;
        Some((Uid::new(text("uid")?), resource, text("name")?))
    };
    objects
        .get(uid)
        .into_iter()
        .flat_map(|object| object.items_at(&["metadata", "ownerReferences"]))
        .filter_map(read)
        .collect()
}

fn resource(api_version: &str, kind: &str) -> Option<Resource> {
    let group = api_version
        .rsplit_once('/')
        .map_or("", |(group, _version)| group);
    let (group, version, plural, kind) = KINDS
        .into_iter()
        .find(|known| known.0 == group && known.3 == kind)?;
    Some(Resource {
        group: group.into(),
        version: version.into(),
        plural: plural.into(),
        kind: kind.into(),
        namespaced: true,
    })
}

/// The owners of some pods, from the outermost in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OwnerChain {
    /// What they are called: `deployment/api > replicaset/api-7f6d9c #7`.
    pub(super) names: String,
    /// How the innermost one that is read stands: `4/4 pods, 3 available`.
    pub(super) counts: Option<String>,
}

/// Each chain of owners once, and the pods that nobody owns.
pub(super) fn chains(objects: &Objects) -> (Vec<OwnerChain>, usize) {
    let mut chains = BTreeMap::new();
    let mut bare = 0;
    for pod in pods(objects) {
        match chain(objects, pod) {
            Some(chain) => {
                chains.insert(chain.names.clone(), chain);
            }
            None => bare += 1,
        }
    }
    (chains.into_values().collect(), bare)
}

/// The outermost owner of a pod that is known, with the revision: `deployment/api #7`.
pub(super) fn outermost(graph: &Graph, pod: &Node) -> String {
    let chain = graph.ancestors(&pod.uid);
    let revision = chain.iter().find_map(|owner| revision(owner));
    match chain.last() {
        Some(owner) => format!("{}{}", owner.object, revision.unwrap_or_default()),
        None => String::new(),
    }
}

fn chain(objects: &Objects, pod: &Node) -> Option<OwnerChain> {
    let known = objects.graph().ancestors(&pod.uid);
    let outermost = known.last().copied().unwrap_or(pod);
    let unread = outermost.owners.first().map(|owner| {
        let kind = owner.kind.to_lowercase();
        format!("{kind}/{} (not read)", owner.name)
    });
    let revisions = known.iter().rev().map(|owner| {
        let revision = match &*owner.object.kind {
            "ReplicaSet" => revision(owner).unwrap_or_default(),
            _ => String::new(),
        };
        format!("{}{revision}", owner.object)
    });
    let names: Vec<String> = unread.into_iter().chain(revisions).collect();
    let counts = known
        .first()
        .and_then(|owner| objects.get(&owner.uid))
        .and_then(counts);
    (!names.is_empty()).then(|| OwnerChain {
        names: names.join(" > "),
        counts,
    })
}

fn revision(owner: &Node) -> Option<String> {
    match &owner.facts {
        Facts::Workload(workload) => Some(format!(" #{}", workload.revision?)),
        Facts::Pod(_) | Facts::Service(_) | Facts::Slice(_) | Facts::Other => None,
    }
}

/// How many pods a workload has of those it wants, and how many are available.
fn counts(owner: Value<'_>) -> Option<String> {
    let status = |key| owner.i64_at(&["status", key]);
    let wanted = owner
        .i64_at(&["spec", "replicas"])
        .or_else(|| status("desiredNumberScheduled"))?;
    let there = status("replicas")
        .or_else(|| status("currentNumberScheduled"))
        .unwrap_or(0);
    let available = status("availableReplicas")
        .or_else(|| status("numberAvailable"))
        .unwrap_or(0);
    Some(format!("{there}/{wanted} pods, {available} available"))
}

fn pods(objects: &Objects) -> impl Iterator<Item = &Node> {
    objects.of_kind("Pod")
}
