//! `Deaths`: how often the containers of an object have died during the wait.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::EndedInstances;
use crate::object::Uid;

/// The dead instances of each container, since the start of the wait or since the object was last Current.
///
/// Instances are counted, not events: one death changes a Pod several times. A Pod that the wait finds may have restarted long
/// ago, so `restartCount` only tells how many instances have died since the wait first saw one of the container. That matters
/// after an outage: a status names two of them at most.
#[derive(Debug, Default)]
pub(super) struct Deaths {
    containers: BTreeMap<(Uid, String), DeadInstances>,
}

#[derive(Debug, Default)]
struct DeadInstances {
    known: BTreeSet<String>,
    /// How many instances had died before those of the first status that names one.
    earlier: usize,
    /// The greatest total that a status has given.
    total: usize,
    /// How many were dead when the object was last Current.
    forgiven: usize,
}

impl DeadInstances {
    fn first(ended: &EndedInstances) -> DeadInstances {
        DeadInstances {
            earlier: ended.total.saturating_sub(ended.ids.len()),
            ..DeadInstances::default()
        }
    }

    fn take(&mut self, ended: EndedInstances) {
        self.total = self.total.max(ended.total);
        self.known.extend(ended.ids);
    }

    fn count(&self) -> usize {
        self.known
            .len()
            .max(self.total.saturating_sub(self.earlier))
    }
}

impl Deaths {
    /// Takes what the newest versions of the Pods say. Containers that are not among these are forgotten: their Pods are gone
    /// or of an older revision.
    pub(super) fn take(&mut self, ended: Vec<EndedInstances>) {
        let mut before = std::mem::take(&mut self.containers);
        for ended in ended {
            let key = (ended.pod.clone(), ended.container.clone());
            let known = before.remove(&key);
            let mut dead = known.unwrap_or_else(|| DeadInstances::first(&ended));
            dead.take(ended);
            self.containers.insert(key, dead);
        }
    }

    /// The object was Current: what comes now is another crash loop.
    pub(super) fn forgive(&mut self) {
        for dead in self.containers.values_mut() {
            dead.forgiven = dead.count();
        }
    }

    /// The number of dead instances of the container that has most.
    pub(super) fn most(&self) -> usize {
        let dead = self.containers.values();
        let counts = dead.map(|dead| dead.count() - dead.forgiven);
        counts.max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The Pods of a version: `web/app 1 2 of 9` is a container with two ended instances in its status and nine in all.
    fn take(deaths: &mut Deaths, version: &str) -> usize {
        let containers = version.split(", ").filter(|text| !text.is_empty());
        let ended = containers.map(|text| {
            let (text, total) = text.split_once(" of ").unwrap_or((text, "0"));
            let mut words = text.split(' ');
            let (pod, container) = words.next().and_then(|name| name.split_once('/')).unwrap();
            EndedInstances {
                pod: Uid::new(pod),
                container: container.to_owned(),
                ids: words.map(str::to_owned).collect(),
                total: total.parse().unwrap(),
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
    fn deaths_that_no_version_shows_are_counted() {
        check(&[
            ("web/app 8 9 of 9", 2),
            ("web/app 8 9 of 9", 2),
            ("web/app 12 of 12", 5),
            // The node was lost, and the kubelet counts from the start.
            ("web/app 13 of 1", 5),
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
