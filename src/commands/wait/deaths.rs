//! `Deaths`: how often the containers of an object have died during the wait.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::EndedInstances;
use crate::object::Uid;

/// The dead instances of each container, since the start of the wait or since the object was last Current.
///
/// Instances are counted, not events or `restartCount`: one death changes a Pod several times, and a Pod that the wait finds
/// may have restarted long ago.
#[derive(Debug, Default)]
pub(super) struct Deaths {
    containers: BTreeMap<(Uid, String), DeadInstances>,
}

#[derive(Debug, Default)]
struct DeadInstances {
    known: BTreeSet<String>,
    /// How many of them were dead before the object was last Current.
    forgiven: usize,
}

impl Deaths {
    /// Takes what the newest versions of the Pods say. Containers that are not among these are forgotten: their Pods are gone
    /// or of an older revision.
    pub(super) fn take(&mut self, ended: Vec<EndedInstances>) {
        let mut before = std::mem::take(&mut self.containers);
        for EndedInstances {
            pod,
            container,
            ids,
        } in ended
        {
            let key = (pod, container);
            let mut dead = before.remove(&key).unwrap_or_default();
            dead.known.extend(ids);
            self.containers.insert(key, dead);
        }
    }

    /// The object was Current: what comes now is another crash loop.
    pub(super) fn forgive(&mut self) {
        for dead in self.containers.values_mut() {
            dead.forgiven = dead.known.len();
        }
    }

    /// The number of dead instances of the container that has most.
    pub(super) fn most(&self) -> usize {
        let dead = self.containers.values();
        let counts = dead.map(|dead| dead.known.len() - dead.forgiven);
        counts.max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The Pods of a version: `web/app 1 2` is a container with two ended instances.
    fn take(deaths: &mut Deaths, version: &str) -> usize {
        let containers = version.split(", ").filter(|text| !text.is_empty());
        let ended = containers.map(|text| {
            let mut words = text.split(' ');
            let (pod, container) = words.next().and_then(|name| name.split_once('/')).unwrap();
            EndedInstances {
                pod: Uid::new(pod),
                container: container.to_owned(),
                ids: words.map(str::to_owned).collect(),
            }
        });
        deaths.take(ended.collect());
        deaths.most()
    }

    fn check(versions: &[(&str, usize)]) {
        let mut deaths = Deaths::default();
        for (version, expected) in versions {
            assert_eq!(take(&mut deaths, version), *expected, "{version}");
        }
    }

    #[test]
    fn each_instance_dies_once() {
        check(&[
            ("", 0),
            ("web/app 1", 1),
            ("web/app 1", 1),
            ("web/app 1 2", 2),
            ("web/app 2", 2),
            ("web/app 3", 3),
        ]);
    }

    #[test]
    fn each_container_has_deaths_of_its_own() {
        check(&[
            ("a/app 1, b/app 2, b/side 3", 1),
            ("a/app 4, b/app 5, b/side 3", 2),
            ("b/app 5, b/side 3", 2),
            ("a/app 6, b/side 3", 1),
        ]);
    }

    #[test]
    fn a_success_forgives() {
        let mut deaths = Deaths::default();
        take(&mut deaths, "web/app 1 2");
        deaths.forgive();
        assert_eq!(deaths.most(), 0);
        assert_eq!(take(&mut deaths, "web/app 2"), 0);
        assert_eq!(take(&mut deaths, "web/app 3"), 1);
    }
}
