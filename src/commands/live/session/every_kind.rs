//! `EveryKind`: every kind that a namespace or a cluster serves.

use std::sync::Arc;

use crate::cluster::{Discovery, Names, Target};
use crate::commands::ObjectArgs;
use crate::object::Resource;

/// The kinds that can be watched, and those that cannot.
#[derive(Debug, Default)]
pub(crate) struct EveryKind {
    pub(crate) targets: Vec<Target>,
    /// The kinds that can be listed but not watched.
    pub(crate) unwatched: Vec<Resource>,
    /// `GROUP/VERSION` of API groups whose server does not answer.
    pub(crate) silent: Vec<String>,
    /// The cluster-scoped kinds, if a namespace is chosen.
    pub(crate) cluster_scoped: Vec<Target>,
    /// Whether a namespace is chosen, which has no cluster-scoped kinds.
    pub(crate) is_of_namespace: bool,
}

impl From<Vec<Target>> for EveryKind {
    fn from(targets: Vec<Target>) -> EveryKind {
        EveryKind {
            targets,
            ..EveryKind::default()
        }
    }
}

impl EveryKind {
    /// Every kind of the namespace, or with `-A` of the cluster.
    pub(super) fn of(discovery: &Discovery, args: &ObjectArgs, namespace: &Arc<str>) -> EveryKind {
        let mut every = EveryKind {
            silent: discovery.stale.clone(),
            is_of_namespace: !args.all_namespaces,
            ..EveryKind::default()
        };
        for found in &discovery.types {
            let resource = &found.resource;
            // Skip other versions of a kind. Two groups serve the same Events.
            let is_same = |taken: &Resource| {
                taken.plural == resource.plural
                    && (taken.group == resource.group || &*resource.plural == "events")
            };
            let taken = every.targets.iter().chain(&every.cluster_scoped);
            let taken = taken.map(|target| &target.resource);
            let is_taken = taken.chain(&every.unwatched).any(is_same);
            if !found.listable() || is_taken || is_deprecated(resource) {
                continue;
            }
            let is_here = args.all_namespaces || resource.namespaced;
            let target = all_of(resource.clone(), args, namespace);
            match (is_here, found.watchable()) {
                (true, true) => every.targets.push(target),
                (true, false) => every.unwatched.push(resource.clone()),
                (false, true) => every.cluster_scoped.push(target),
                (false, false) => {}
            }
        }
        every
    }

    /// The same kinds without Events.
    pub(crate) fn without_events(mut self) -> EveryKind {
        let is_event = |resource: &Resource| {
            let is_of_group = matches!(&*resource.group, "" | "events.k8s.io");
            is_of_group && &*resource.kind == "Event"
        };
        self.targets.retain(|target| !is_event(&target.resource));
        self
    }
}

/// The objects of a type in the namespace, or with `-A` in all of them.
pub(super) fn all_of(resource: Resource, args: &ObjectArgs, namespace: &Arc<str>) -> Target {
    let is_inside = resource.namespaced && !args.all_namespaces;
    Target {
        resource,
        namespace: is_inside.then(|| namespace.clone()),
        names: Names::All,
        labels: args.selector.as_deref().map(Arc::from),
        fields: args.field_selector.as_deref().map(Arc::from),
    }
}

/// Whether to skip a deprecated kind. `ComponentStatus` is deprecated since Kubernetes 1.19, but API servers still list it.
fn is_deprecated(resource: &Resource) -> bool {
    resource.group.is_empty() && &*resource.plural == "componentstatuses"
}

/// A line for each API group whose server does not answer.
pub(crate) fn silent_groups(groups: &[String]) -> impl Iterator<Item = String> {
    let groups = groups.iter();
    groups.map(|group| format!("not read: {group}, because its server does not answer"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_component_statuses_of_the_core_group_are_deprecated() {
        let resource = |group: &str, plural: &str| Resource {
            group: group.into(),
            version: "v1".into(),
            plural: plural.into(),
            kind: "Kind".into(),
            namespaced: false,
        };
        assert!(is_deprecated(&resource("", "componentstatuses")));
        assert!(!is_deprecated(&resource(
            "example.com",
            "componentstatuses"
        )));
        assert!(!is_deprecated(&resource("", "nodes")));
    }
}
