//! `SelectedPods`: the Pods below the requested objects, as the model knows them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::logs::PodLogs;
use crate::model::{Absence, Model, Retention};
use crate::object::{ObjectRef, Uid, Value, condition};
use crate::source::{ClusterId, Event, Select, SourceKey};

/// How long a deleted object keeps its Pods. It keeps them for longer while any of them is there: they print until their end.
pub(super) const RETENTION: Retention = Retention::For(SignedDuration::from_secs(5));

/// The requested objects and their Pods.
#[derive(Debug)]
pub(super) struct SelectedPods {
    pub(super) model: Model,
    revisions: RevisionChoice,
    /// The Pods that the model has, selected or not.
    pods: BTreeMap<Uid, PodLogs>,
    /// The Pods below the requested objects, as of the last refresh.
    selected: BTreeSet<Uid>,
    /// The requested objects that have done their work, or failed: Jobs, and Pods that run to an end.
    finished: BTreeSet<Uid>,
}

/// The Pods of which revisions are selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RevisionChoice {
    Every,
    /// That of the present template. A Pod that was selected stays so until it is gone.
    Current,
}

impl SelectedPods {
    /// Nothing is read yet. The model knows the requested objects.
    pub(super) fn new(model: Model, revisions: RevisionChoice) -> SelectedPods {
        SelectedPods {
            model,
            revisions,
            pods: BTreeMap::new(),
            selected: BTreeSet::new(),
            finished: BTreeSet::new(),
        }
    }

    /// The requested sources.
    pub(super) fn requested(&self) -> &[SourceKey] {
        self.model.requested()
    }

    /// The cluster; `None` if nothing was requested.
    pub(super) fn cluster(&self) -> Option<&ClusterId> {
        self.requested().first().map(|key| &key.cluster)
    }

    /// Whether every source was read, or cannot be read.
    pub(super) fn is_settled(&self) -> bool {
        let model = &self.model;
        model.is_fresh() && model.coverage().is_settled() && model.is_searched()
    }

    /// Whether all requested objects exist by their names, and have done their work.
    pub(super) fn is_finished(&self) -> bool {
        let (requested, roots) = (self.requested(), self.model.roots());
        let mut named = requested.iter().map(|key| key.select.name());
        named.all(|name| name.is_some())
            && roots.count() >= requested.len()
            && roots.iter().all(|(uid, _)| self.finished.contains(uid))
    }

    /// The requested sources that have objects, with nothing below them.
    pub(super) fn without_dependents(&self) -> impl Iterator<Item = &SourceKey> {
        let graph = self.model.graph();
        let owns = |uid: &Uid| graph.directly_below(uid).next().is_some();
        let (mut there, mut owners) = (BTreeSet::new(), BTreeSet::new());
        for (uid, root) in self.model.roots().iter() {
            there.insert(root.place.requested);
            if owns(uid) {
                owners.insert(root.place.requested);
            }
        }
        let requested = self.requested().iter().enumerate();
        let alone = requested.filter(move |(at, _)| there.contains(at) && !owners.contains(at));
        alone.map(|(_, key)| key)
    }

    /// The requested sources of one object that does not exist.
    pub(super) fn absent(&self) -> Vec<SourceKey> {
        let there = self.model.roots().iter().filter(|(uid, _)| {
            let object = self.model.object(uid);
            object.is_some_and(|object| object.departure.is_none())
        });
        let there: BTreeSet<usize> = there.map(|(_, root)| root.place.requested).collect();
        let absent = self.requested().iter().enumerate().filter(|(index, key)| {
            let is_named = key.select.name().is_some();
            is_named && !there.contains(index) && self.model.absence(Some(key)) == Absence::Missing
        });
        absent.map(|(_, key)| key.clone()).collect()
    }

    /// Applies one event.
    pub(super) fn apply(&mut self, source: &Arc<SourceKey>, event: &Event, now: Timestamp) {
        self.model.apply(source, event, now);
    }

    /// Updates the Pods and the sources.
    pub(super) fn refresh(&mut self, now: Timestamp) {
        let touched = self.model.step(now, &[]);
        for uid in &touched {
            self.take(uid);
        }
        let graph = self.model.graph();
        let below = match self.revisions {
            RevisionChoice::Every => graph.with_below(self.roots()),
            RevisionChoice::Current => self.of_current_revision(),
        };
        let nodes = below.iter().filter_map(|uid| graph.node(uid));
        let services = nodes.filter(|node| node.service().is_some());
        let behind = services.flat_map(|service| graph.selected_pods(&service.uid));
        let behind: Vec<Uid> = behind.map(|pod| pod.uid.clone()).collect();
        self.selected = below.into_iter().chain(behind).collect();
    }

    fn roots(&self) -> impl Iterator<Item = &Uid> {
        self.model.roots().iter().map(|(uid, _)| uid)
    }

    /// The requested objects, what is below them and of the current revision, and the Pods that were so before.
    fn of_current_revision(&self) -> BTreeSet<Uid> {
        let graph = self.model.graph();
        let current = self.roots().flat_map(|root| graph.current_dependents(root));
        let before = self
            .selected
            .iter()
            .filter(|uid| self.pods.contains_key(*uid));
        let before = before.chain(self.roots()).cloned();
        current.chain(before).collect()
    }

    /// Takes what has become of an object.
    fn take(&mut self, uid: &Uid) {
        let node = self.model.graph().node(uid);
        let kind = node.map(|node| (node.object.group(), &*node.object.kind));
        let is_pod = kind == Some(("", "Pod"));
        let is_root = self.model.roots().get(uid).is_some();
        let doc = (is_pod || is_root).then(|| self.model.doc(uid)).flatten();
        match doc.as_ref().filter(|_| is_pod) {
            Some(doc) => drop(self.pods.insert(uid.clone(), PodLogs::of(doc.root()))),
            None => drop(self.pods.remove(uid)),
        }
        if doc.is_some_and(|doc| is_finished(doc.root())) {
            self.finished.insert(uid.clone());
        } else if self.model.object(uid).is_none() {
            self.finished.remove(uid);
        }
    }

    /// Whether an object is below the requested ones, or is one of them. A Deployment has the state of its `ReplicaSet`s. A
    /// source that selects objects has also those that are gone.
    pub(super) fn has_state(&self, source: &SourceKey, object: &ObjectRef) -> bool {
        let uid = object.identity();
        let is_gone = self.model.object(&uid).is_none()
            && source.select != Select::All
            && self.model.coverage().follows(source);
        &*object.kind != "ReplicaSet" && (is_gone || self.selected.contains(&uid))
    }

    /// Whether the subject of an Event is among them. Some reporters give no uid.
    pub(super) fn has_subject(&self, about: &ObjectRef) -> bool {
        let named = about.without_uid();
        let mut selected = self.selected.iter();
        selected.any(|uid| {
            let object = self.model.object(uid).map(|object| &object.object);
            object.is_some_and(|object| match about.uid {
                Some(_) => object.identity() == about.identity(),
                None => object.without_uid() == named,
            })
        })
    }

    /// The selected Pods, as of the last refresh, in the order of their names.
    pub(super) fn pods(&self) -> Vec<&PodLogs> {
        let selected = self.selected.iter();
        let mut pods: Vec<&PodLogs> = selected.filter_map(|uid| self.pods.get(uid)).collect();
        pods.sort_by(|one, other| one.pod.cmp(&other.pod));
        pods
    }
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
    use crate::model::ViewExtent;
    use crate::status::Rules;

    /// The names of the Pods below the objects of these documents, and the sources that are read.
    fn check(requested: &[SourceKey], objects: &[&str]) -> (Vec<String>, Vec<String>) {
        let now = Timestamp::UNIX_EPOCH;
        let mut model = Model::new(Rules::Spy, RETENTION).showing(ViewExtent::Pods);
        model.request(requested.to_vec());
        let mut selection = SelectedPods::new(model, RevisionChoice::Every);
        for _ in 0..3 {
            let wanted: Vec<SourceKey> = selection.model.sources().cloned().collect();
            for source in wanted.into_iter().map(Arc::new) {
                for object in objects {
                    if let Some(event) = listed(&source, object) {
                        selection.apply(&source, &event, now);
                    }
                }
                selection.apply(&source, &Event::synced(1), now);
            }
            selection.refresh(now);
        }
        assert!(selection.is_settled());
        let pods = selection
            .pods()
            .iter()
            .map(|pod| pod.pod.name.to_string())
            .collect();
        let sources = selection.model.sources().map(|key| {
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
            ["deployments web", "replicasets app=web", "pods app=web"]
        );
    }

    #[test]
    fn the_pods_of_many_workloads_are_read_in_their_namespace() {
        let set = |n: usize| {
            format!(
                r#"{{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{{"name":"agent-{n}","namespace":"shop","uid":"d{n}"}},
                "spec":{{"selector":{{"matchLabels":{{"app":"web","n":"{n}"}}}}}}}}"#
            )
        };
        let sources = |count: usize| {
            let objects: Vec<String> = (0..count).map(set).collect();
            let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
            let all = SourceKey {
                select: Select::All,
                ..key("apps", "DaemonSet", "")
            };
            check(&[all], &objects).1
        };
        assert_eq!(sources(8).len(), 9);
        assert_eq!(sources(8)[1], "pods app=web,n=0");
        assert_eq!(sources(9), ["daemonsets ", "pods "]);
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
