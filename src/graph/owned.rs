//! Which sources show what a custom resource owns.

use std::collections::BTreeSet;

use crate::object::{Resource, ServedTypes, Uid, well_known_type};
use crate::source::{ClusterId, Select, SourceKey};

use super::lookup::Lookup;
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
    /// The sources that are looked through for the dependents of a namespaced custom resource, and for those of its
    /// custom dependents. Empty for other objects: what an inventory has applied, it does not own.
    pub fn owned_lookups(
        &self,
        root: &Uid,
        cluster: &ClusterId,
        types: &ServedTypes,
    ) -> Vec<Lookup> {
        let is_owner = |node: &&Node| node.is_custom() && !self.is_inventory(root);
        let node = self.node(root).filter(is_owner);
        let Some((node, namespace)) =
            node.and_then(|node| Some((node, node.object.namespace.clone()?)))
        else {
            return Vec::new();
        };
        let is_custom = |uid: &Uid| self.node(uid).is_some_and(Node::is_custom);
        let tree = self.tree(root).into_iter().map(|(_, uid)| uid);
        let owners: BTreeSet<Uid> = tree.chain([root.clone()]).filter(is_custom).collect();
        let created = CREATED.map(|(group, kind)| well_known(group, kind));
        let own = types.of_group(node.object.group()).cloned();
        let lookup = |resource: Resource| {
            let namespace = Some(namespace.clone());
            Lookup {
                owners: owners.clone(),
                ..Lookup::of(SourceKey::of(cluster, resource, namespace, Select::All))
            }
        };
        created.into_iter().chain(own).map(lookup).collect()
    }
}
