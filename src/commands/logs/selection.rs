//! `Selection`: the Pods below the requested objects, and the sources that show them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::graph::{Graph, Node};
use crate::logs::PodLogs;
use crate::object::{ServedTypes, Uid, Value, condition};
use crate::source::{Event, Scope, SourceKey, SourceState, Version};

/// Of how many objects the dependents are read by their selectors. Those of more are read in whole namespaces.
const MAX_SELECTORS: usize = 8;

/// The requested objects, what is below them, and their Pods.
#[derive(Debug)]
pub(super) struct Selection {
    requested: Vec<SourceKey>,
    types: ServedTypes,
    graph: Graph,
    /// The sources that have each object.
    holders: HashMap<Uid, BTreeSet<usize>>,
    /// The sources so far, by their numbers.
    known: Vec<Arc<SourceKey>>,
    pods: BTreeMap<Uid, PodLogs>,
    /// The Pods below the requested objects, as of the last refresh.
    selected: BTreeSet<Uid>,
    roots: BTreeMap<Uid, SelectedRoot>,
    wanted: Vec<SourceKey>,
    /// The sources that were read, or cannot be read.
    settled: BTreeSet<usize>,
}

/// A requested object.
#[derive(Debug, Default)]
struct SelectedRoot {
    /// Whether it exists.
    is_there: bool,
    /// Whether it has done its work, or failed: a Job, or a Pod that runs to an end.
    is_finished: bool,
    /// The sources of its dependents. They stay until these are gone.
    sources: Vec<SourceKey>,
}

impl Selection {
    /// Nothing is read yet.
    pub(super) fn new(requested: Vec<SourceKey>, types: ServedTypes) -> Selection {
        Selection {
            wanted: requested.clone(),
            requested,
            types,
            graph: Graph::default(),
            holders: HashMap::new(),
            known: Vec::new(),
            pods: BTreeMap::new(),
            selected: BTreeSet::new(),
            roots: BTreeMap::new(),
            settled: BTreeSet::new(),
        }
    }

    /// The sources to follow.
    pub(super) fn wanted(&self) -> &[SourceKey] {
        &self.wanted
    }

    /// Whether a source was requested, and not found on the way.
    pub(super) fn is_requested(&self, key: &SourceKey) -> bool {
        self.requested.contains(key)
    }

    /// The requested sources.
    pub(super) fn requested(&self) -> &[SourceKey] {
        &self.requested
    }

    /// Whether every source was read, or cannot be read.
    pub(super) fn is_settled(&self) -> bool {
        let number = |key: &SourceKey| self.known.iter().position(|known| **known == *key);
        self.wanted
            .iter()
            .all(|key| number(key).is_some_and(|number| self.settled.contains(&number)))
    }

    /// Whether all requested objects exist by their names, and have done their work.
    pub(super) fn is_finished(&self) -> bool {
        let is_named = self.requested.iter().all(|key| key.select.name().is_some());
        is_named
            && self.roots.len() >= self.requested.len()
            && self.roots.values().all(|root| root.is_finished)
    }

    /// The requested sources of one object that does not exist.
    pub(super) fn absent(&self) -> Vec<SourceKey> {
        let is_absent = |key: &&SourceKey| {
            let Some(number) = self.known.iter().position(|known| **known == **key) else {
                return false;
            };
            let mut objects = self.holders.values();
            key.select.name().is_some()
                && self.settled.contains(&number)
                && !objects.any(|holders| holders.contains(&number))
        };
        self.requested.iter().filter(is_absent).cloned().collect()
    }

    /// Applies one event.
    pub(super) fn apply(&mut self, key: &Arc<SourceKey>, event: &Event) {
        let number = self.number(key);
        match event {
            Event::Object { why, now, .. } if why.is_gone() => self.remove(number, now),
            Event::Object { now, .. } => self.put(number, key, now),
            Event::Synced { .. }
            | Event::State(
                SourceState::Forbidden { .. }
                | SourceState::Unserved { .. }
                | SourceState::Failed { .. },
            ) => {
                self.settled.insert(number);
            }
            Event::State(_) | Event::Gap(_) | Event::Undecodable { .. } => {}
        }
    }

    fn number(&mut self, key: &Arc<SourceKey>) -> usize {
        let known = self.known.iter().position(|known| *known == *key);
        known.unwrap_or_else(|| {
            self.known.push(key.clone());
            self.known.len() - 1
        })
    }

    fn put(&mut self, number: usize, key: &SourceKey, version: &Version) {
        let Ok(doc) = version.doc() else { return };
        let uid = self.graph.apply(doc.root());
        self.holders.entry(uid.clone()).or_default().insert(number);
        if &*version.object.kind == "Pod" && version.object.group().is_empty() {
            self.pods.insert(uid.clone(), PodLogs::of(doc.root()));
        }
        if self.is_requested(key) {
            let root = self.roots.entry(uid).or_default();
            root.is_there = true;
            root.is_finished = is_finished(doc.root());
        }
    }

    fn remove(&mut self, number: usize, version: &Version) {
        let uid = version.object.identity();
        let Some(holders) = self.holders.get_mut(&uid) else {
            return;
        };
        holders.remove(&number);
        if !holders.is_empty() {
            return;
        }
        self.holders.remove(&uid);
        self.graph.delete(&uid);
        self.pods.remove(&uid);
        if let Some(root) = self.roots.get_mut(&uid) {
            root.is_there = false;
        }
    }

    /// Updates the Pods and the sources.
    pub(super) fn refresh(&mut self) {
        let mut found: BTreeSet<Uid> = BTreeSet::new();
        let mut gone = Vec::new();
        for (uid, root) in &mut self.roots {
            let below = pods_below(&self.graph, uid);
            if root.is_there {
                let cluster = &self.requested[0].cluster;
                root.sources = sources_below(&self.graph, uid, (cluster, &self.types));
            } else if below.is_empty() {
                gone.push(uid.clone());
            }
            found.extend(below);
        }
        for uid in &gone {
            self.roots.remove(uid);
        }
        self.wanted = self.merged_sources();
        self.selected = found;
    }

    /// The selected Pods, as of the last refresh, in the order of their names.
    pub(super) fn pods(&self) -> Vec<&PodLogs> {
        let mut pods: Vec<&PodLogs> = self
            .selected
            .iter()
            .filter_map(|uid| self.pods.get(uid))
            .collect();
        pods.sort_by(|one, other| one.pod.cmp(&other.pod));
        pods
    }

    /// The requested sources, and those of dependents without the ones that others cover.
    fn merged_sources(&self) -> Vec<SourceKey> {
        let below = self.roots.values().flat_map(|root| &root.sources);
        let mut by_place: BTreeMap<_, Vec<&SourceKey>> = BTreeMap::new();
        for source in below {
            let place = (
                source.resource.clone(),
                source.namespace().map(Arc::<str>::from),
            );
            let sources = by_place.entry(place).or_default();
            if !sources.contains(&source) {
                sources.push(source);
            }
        }
        let mut merged = self.requested.clone();
        for sources in by_place.into_values() {
            let is_many = sources.len() > MAX_SELECTORS;
            let all = sources[0].of_all();
            let is_covered = |key: &SourceKey| self.requested.iter().any(|own| covers(own, key));
            if is_many && !is_covered(&all) {
                merged.push(all);
            } else {
                merged.extend(sources.into_iter().filter(|key| !is_covered(key)).cloned());
            }
        }
        merged
    }
}

/// Whether a source has every object of another one.
fn covers(own: &SourceKey, other: &SourceKey) -> bool {
    own.resource == other.resource
        && (own.scope == other.scope || own.scope == Scope::Cluster)
        && (own.select == other.select || *own == own.of_all())
}

/// The Pods below an object: its dependents and members at any depth, and those that a Service selects.
fn pods_below(graph: &Graph, root: &Uid) -> BTreeSet<Uid> {
    let below = graph.with_below([root]);
    let selected = below
        .iter()
        .filter(|uid| graph.node(uid).is_some_and(|node| node.service().is_some()));
    let selected: Vec<Uid> = selected
        .flat_map(|uid| graph.selected_pods(uid))
        .map(|pod| pod.uid.clone())
        .collect();
    let is_pod = |uid: &Uid| {
        graph
            .node(uid)
            .is_some_and(|node| &*node.object.kind == "Pod")
    };
    below.into_iter().filter(is_pod).chain(selected).collect()
}

/// The sources that show what is below an object.
fn sources_below(
    graph: &Graph,
    root: &Uid,
    (cluster, types): (&crate::source::ClusterId, &ServedTypes),
) -> Vec<SourceKey> {
    let mut sources = Vec::new();
    let mut seen = BTreeSet::new();
    let mut open: Vec<&Node> = graph.node(root).into_iter().collect();
    while let Some(node) = open.pop() {
        if !seen.insert(node.uid.clone()) {
            continue;
        }
        let own = node.dependent_sources(cluster);
        let is_leaf = !own.is_empty();
        sources.extend(own);
        sources.extend(node.selected_pods_source(cluster));
        // A workload's own sources show all that is below it.
        if !is_leaf {
            open.extend(graph.directly_below(&node.uid));
        }
    }
    let custom = graph.owned_lookups([(root, cluster)], types);
    let members = graph.member_plan(root, cluster, types);
    let lookups = custom.into_iter().chain(members.lookups);
    sources.extend(members.sources);
    sources.extend(lookups.map(|lookup| lookup.source));
    sources
}

/// Whether an object will run no container again.
fn is_finished(object: Value<'_>) -> bool {
    let has =
        |kind: &str| condition(object, kind).is_some_and(|condition| condition.status == "True");
    match object.str_at(&["kind"]).as_deref() {
        Some("Pod") => PodLogs::of(object).has_ended,
        Some("Job") => has("Complete") || has("Failed"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::logs::testing::{key, listed};

    /// The names of the Pods below the objects of these documents, and the sources that are read.
    fn check(requested: &[SourceKey], objects: &[&str]) -> (Vec<String>, Vec<String>) {
        let mut selection = Selection::new(requested.to_vec(), ServedTypes::default());
        for _ in 0..3 {
            for source in selection.wanted().to_vec() {
                let source = Arc::new(source);
                for object in objects {
                    if let Some(event) = listed(&source, object) {
                        selection.apply(&source, &event);
                    }
                }
                selection.apply(&source, &Event::synced(1));
            }
            selection.refresh();
        }
        assert!(selection.is_settled());
        let pods = selection
            .pods()
            .iter()
            .map(|pod| pod.pod.name.to_string())
            .collect();
        let sources = selection.wanted().iter().map(|key| {
            let labels = key.select.label_selector().unwrap_or_default().to_owned();
            format!(
                "{} {}{labels}",
                key.resource.plural,
                key.select.name().unwrap_or_default()
            )
        });
        (pods, sources.collect())
    }

    const DEPLOYMENT: &str = r#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop","uid":"d"},
        "spec":{"selector":{"matchLabels":{"app":"web"}}}}"#;
    const OLD_SET: &str = r#"{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"web-1","namespace":"shop","uid":"r1","labels":{"app":"web"},
        "ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"web","uid":"d","controller":true}]}}"#;
    const SERVICE: &str = r#"{"apiVersion":"v1","kind":"Service","metadata":{"name":"web","namespace":"shop","uid":"s"},
        "spec":{"selector":{"app":"web"}}}"#;

    fn pod(name: &str, owner: &str) -> String {
        format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}","namespace":"shop","uid":"{name}","labels":{{"app":"web"}},
            "ownerReferences":[{{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"x","uid":"{owner}","controller":true}}]}},
            "spec":{{"containers":[{{"name":"app"}}]}}}}"#
        )
    }

    #[test]
    fn the_pods_of_every_revision_are_below_a_deployment() {
        let (own, other) = (pod("web-1-a", "r1"), pod("other", "r9"));
        let objects = [DEPLOYMENT, OLD_SET, &own, &other];
        let (pods, sources) = check(&[key("apps", "Deployment", "web")], &objects);
        assert_eq!(pods, ["web-1-a"]);
        assert_eq!(
            sources,
            ["deployments web", "pods app=web", "replicasets app=web"]
        );
    }

    #[test]
    fn a_service_has_the_pods_that_it_selects() {
        let (own, other) = (pod("web-1-a", "r1"), pod("other", "r9"));
        let (pods, _) = check(&[key("", "Service", "web")], &[SERVICE, &own, &other]);
        assert_eq!(pods, ["other", "web-1-a"]);
    }

    #[test]
    fn a_pod_is_below_itself() {
        let own = pod("web-1-a", "r1");
        let (pods, sources) = check(&[key("", "Pod", "web-1-a")], &[&own]);
        assert_eq!(pods, ["web-1-a"]);
        assert_eq!(sources, ["pods web-1-a"]);
    }
}
