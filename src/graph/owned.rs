//! Which sources show what a custom resource owns.

use std::collections::BTreeMap;

use crate::object::{ServedTypes, Uid, well_known_type};
use crate::source::{ClusterId, Select, SourceKey};

use super::lookup::{Lookup, one_per_source};
use super::plan::well_known;
use super::{Graph, Node};

/// The kinds with a state that controllers of custom resources create. Beside them, they create custom resources of
/// their own group.
const CREATED: [(&str, &str); 9] = [
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("apps", "DaemonSet"),
    ("apps", "ReplicaSet"),
    ("batch", "Job"),
    ("batch", "CronJob"),
    ("", "Pod"),
    ("", "Service"),
    ("", "PersistentVolumeClaim"),
];

impl Node {
    /// Whether Kubernetes itself does not define its kind.
    pub fn is_custom(&self) -> bool {
        well_known_type(self.object.group(), &self.object.kind).is_none()
    }
}

impl Graph {
    /// The sources that are looked through for the dependents of namespaced custom resources, and for those of their
    /// custom dependents. None for other objects: what an inventory has applied, it does not own.
    pub fn owned_lookups<'r>(
        &'r self,
        roots: impl IntoIterator<Item = (&'r Uid, &'r ClusterId)>,
        types: &ServedTypes,
    ) -> Vec<Lookup> {
        let mut groups: BTreeMap<_, Vec<&Uid>> = BTreeMap::new();
        for (root, cluster) in roots {
            let node = self.node(root).filter(|node| node.is_custom());
            if let Some(node) = node.filter(|_| !self.is_inventory(root))
                && let Some(namespace) = &node.object.namespace
            {
                let group = (cluster, namespace, node.object.group());
                groups.entry(group).or_default().push(root);
            }
        }
        let mut lookups = Vec::new();
        for ((cluster, namespace, group), roots) in groups {
            let mut owners = self.with_below(roots);
            owners.retain(|uid| self.node(uid).is_some_and(Node::is_custom));
            let created = CREATED.map(|(group, kind)| well_known(group, kind));
            let own = types.of_group(group).cloned();
            lookups.extend(created.into_iter().chain(own).map(|resource| {
                let namespace = Some(namespace.clone());
                Lookup {
                    owners: owners.clone(),
                    ..Lookup::of(SourceKey::of(cluster, resource, namespace, Select::All))
                }
            }));
        }
        one_per_source(lookups)
    }
}
