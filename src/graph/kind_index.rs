//! `KindIndex`: the objects of the kinds that others look up, so that a look-up does not go over the whole graph.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::object::Uid;
use crate::object::selector::LabelSelector;

use super::labels::{Labels, SERVICE_NAME};
use super::node::{Facts, Node};

/// The kinds that are looked up, in their order.
const KINDS: [&str; 15] = [
    "DaemonSet",
    "Deployment",
    "EndpointSlice",
    "Ingress",
    "IngressClass",
    "NetworkPolicy",
    "Node",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Pod",
    "PodDisruptionBudget",
    "Service",
    "StatefulSet",
    "StorageClass",
    "VirtualService",
];

/// Objects by their kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct KindIndex {
    objects: BTreeMap<IndexKey, BTreeSet<Uid>>,
}

/// What objects are looked up by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct IndexKey {
    kind: &'static str,
    namespace: Option<Arc<str>>,
    /// The name of a Service, for itself and for its slices, and that of a volume; empty for other kinds.
    name: Arc<str>,
    /// The labels of a Pod; empty for other kinds. The Pods of one template are one entry, so a selector is compared once.
    labels: Labels,
}

impl IndexKey {
    /// The key of an object; `None` for kinds that the index does not have.
    fn of(node: &Node) -> Option<IndexKey> {
        let kind = indexed(&node.object.kind)?;
        let (mut name, mut labels) = (None, Labels::default());
        match &node.facts {
            Facts::Service(_) => name = Some(node.object.name.clone()),
            Facts::Slice(_) => name = node.label(SERVICE_NAME).map(Arc::from),
            Facts::Pod(_) => labels = node.labels.clone(),
            Facts::Other if kind == "PersistentVolume" => name = Some(node.object.name.clone()),
            Facts::Workload(_) | Facts::Ingress { .. } | Facts::Data(_) | Facts::Other => {}
        }
        Some(IndexKey {
            kind,
            namespace: node.object.namespace.clone(),
            name: name.unwrap_or_default(),
            labels,
        })
    }
}

impl KindIndex {
    pub(super) fn add(&mut self, node: &Node) {
        if let Some(key) = IndexKey::of(node) {
            self.objects
                .entry(key)
                .or_default()
                .insert(node.uid.clone());
        }
    }

    pub(super) fn remove(&mut self, node: &Node) {
        let Some(key) = IndexKey::of(node) else {
            return;
        };
        if let Some(objects) = self.objects.get_mut(&key) {
            objects.remove(&node.uid);
            if objects.is_empty() {
                self.objects.remove(&key);
            }
        }
    }

    /// The objects of a kind; `None` for kinds that the index does not have.
    pub(super) fn of_kind<'i>(
        &'i self,
        kind: &str,
    ) -> Option<impl Iterator<Item = &'i Uid> + use<'i>> {
        let kind = indexed(kind)?;
        let is_it = move |key: &IndexKey| key.kind == kind;
        let entries = self.entries(kind, None, is_it);
        Some(entries.flat_map(|(_, objects)| objects))
    }

    /// The objects of a kind in a namespace; `None` for kinds that the index does not have.
    pub(super) fn of_kind_in<'i>(
        &'i self,
        kind: &str,
        namespace: Option<&Arc<str>>,
    ) -> Option<impl Iterator<Item = &'i Uid> + use<'i>> {
        let kind = indexed(kind)?;
        let namespace = namespace.cloned();
        let own = namespace.clone();
        let is_it = move |key: &IndexKey| key.kind == kind && key.namespace == own;
        let entries = self.entries(kind, namespace, is_it);
        Some(entries.flat_map(|(_, objects)| objects))
    }

    /// The Service of this name, its slices, or the volume of this name.
    pub(super) fn of_name<'i>(
        &'i self,
        kind: &'static str,
        namespace: Option<&Arc<str>>,
        name: &str,
    ) -> impl Iterator<Item = &'i Uid> + use<'i> {
        let key = IndexKey {
            kind,
            namespace: namespace.cloned(),
            name: name.into(),
            labels: Labels::default(),
        };
        self.objects.get(&key).into_iter().flatten()
    }

    /// The entries of a kind from a namespace on, as long as they are of interest.
    fn entries<'i, F: Fn(&IndexKey) -> bool>(
        &'i self,
        kind: &'static str,
        namespace: Option<Arc<str>>,
        is_it: F,
    ) -> impl Iterator<Item = (&'i IndexKey, &'i BTreeSet<Uid>)> + use<'i, F> {
        let first = IndexKey {
            kind,
            namespace,
            name: Arc::default(),
            labels: Labels::default(),
        };
        let entries = self.objects.range(first..);
        entries.take_while(move |(key, _)| is_it(key))
    }

    /// The Pods in a namespace that a selector selects.
    pub(super) fn pods_selected_by<'i>(
        &'i self,
        namespace: Option<&Arc<str>>,
        selector: &LabelSelector,
    ) -> impl Iterator<Item = &'i Uid> {
        let is_there =
            move |key: &IndexKey| key.kind == "Pod" && key.namespace.as_ref() == namespace;
        let entries = self.entries("Pod", namespace.cloned(), is_there);
        let selected =
            entries.filter(move |(key, _)| selector.matches(|label| key.labels.get(label)));
        selected.flat_map(|(_, pods)| pods)
    }
}

/// The kind, if the index has its objects.
pub(crate) fn indexed(kind: &str) -> Option<&'static str> {
    KINDS.into_iter().find(|known| *known == kind)
}
