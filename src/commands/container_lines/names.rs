//! `ShortNames`: what stands before the lines of each container.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::object::Uid;
use crate::source::ClusterId;
use crate::source::log::LogContainer;

/// The short names of Pods: each is the shortest end of a Pod's name that no other one of its cluster has.
#[derive(Debug, Default)]
pub(in crate::commands) struct ShortNames {
    by_pod: BTreeMap<(ClusterId, Uid), ShortName>,
    taken: BTreeSet<(ClusterId, Arc<str>)>,
    containers: BTreeSet<Arc<str>>,
}

/// A Pod in prefixes.
#[derive(Clone, Debug)]
pub(in crate::commands) struct ShortName {
    /// The end of its name.
    pub(in crate::commands) text: Arc<str>,
    /// Its number, for its colour.
    pub(in crate::commands) number: u8,
}

impl ShortNames {
    /// Names the Pod of a container. The name of a Pod stays.
    pub(in crate::commands) fn add(&mut self, container: &LogContainer) {
        self.containers.insert(container.name.clone());
        let number = u8::try_from(self.by_pod.len() % 200).unwrap_or_default();
        let cluster = &container.cluster;
        let pod = (cluster.clone(), container.pod_uid());
        if self.by_pod.contains_key(&pod) {
            return;
        }
        let is_taken = |end: &str| self.taken.contains(&(cluster.clone(), end.into()));
        let text: Arc<str> = shortest(&container.pod.name, is_taken).into();
        self.taken.insert((cluster.clone(), text.clone()));
        self.by_pod.insert(pod, ShortName { text, number });
    }

    /// The name of the Pod of a container.
    pub(in crate::commands) fn of(&self, container: &LogContainer) -> Option<&ShortName> {
        let pod = (container.cluster.clone(), container.pod_uid());
        self.by_pod.get(&pod)
    }

    /// Whether the lines of several Pods are shown.
    pub(in crate::commands) fn has_pods(&self) -> bool {
        self.by_pod.len() > 1
    }

    /// Whether the lines of several containers of different names are shown.
    pub(in crate::commands) fn has_containers(&self) -> bool {
        self.containers.len() > 1
    }
}

/// The shortest end of a name, from a dash on, that is not taken. A number alone says little, so it keeps the part before.
fn shortest(name: &str, is_taken: impl Fn(&str) -> bool) -> &str {
    let mut ends = name.rmatch_indices('-').map(|(dash, _)| &name[dash + 1..]);
    let is_telling = |end: &str| !end.is_empty() && !end.bytes().all(|byte| byte.is_ascii_digit());
    ends.find(|end| is_telling(end) && !is_taken(end))
        .unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::ObjectRef;

    #[test]
    fn names_are_short_and_unique() {
        let mut names = ShortNames::default();
        let mut check = |cluster: &str, name: &str| {
            let pod = ObjectRef {
                api_version: "v1".into(),
                kind: "Pod".into(),
                namespace: Some("shop".into()),
                name: name.into(),
                uid: Some(Uid::new(name)),
            };
            let container = LogContainer {
                cluster: ClusterId(cluster.into()),
                pod: Arc::new(pod),
                name: "app".into(),
            };
            names.add(&container);
            names
                .of(&container)
                .map(|name| name.text.to_string())
                .unwrap_or_default()
        };
        for (name, expect) in [
            ("api-7d9c-x2k1", "x2k1"),
            ("web-55f-x2k1", "55f-x2k1"),
            ("api-7d9c-zz9pl", "zz9pl"),
            ("db-0", "db-0"),
            ("db-1", "db-1"),
            ("api", "api"),
            ("x2k1", "x2k1"),
            ("api-7d9c-x2k1", "x2k1"),
        ] {
            assert_eq!(check("us", name), expect, "{name}");
        }
        assert_eq!(check("eu", "db-0"), "db-0");
        assert_eq!(check("eu", "api-7d9c-x2k1"), "x2k1");
        assert!(names.has_pods() && !names.has_containers());
    }
}
