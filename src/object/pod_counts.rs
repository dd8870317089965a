//! `PodCounts`: the numbers of Pods in a workload's spec and status.

use super::Value;

/// The numbers of Pods in a workload's spec and status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PodCounts {
    /// The wanted Pods.
    pub wanted: i64,
    /// The wanted Pods of the newest revision. A partition keeps the others at the old one.
    pub goal: i64,
    /// The Pods that exist.
    pub there: i64,
    /// Those of the newest revision.
    pub updated: i64,
    /// The ready Pods of all revisions.
    pub ready: i64,
    /// The available Pods of all revisions.
    pub available: i64,
}

impl PodCounts {
    /// Reads them from an object; `None` for kinds that do not count Pods. A custom resource counts them if it has
    /// `spec.replicas`. The API leaves out counts of 0, and the default of `spec.replicas` is 1.
    pub fn of(object: Value<'_>) -> Option<PodCounts> {
        let status = |key| object.i64_at(&["status", key]).unwrap_or(0);
        let replicas = object.i64_at(&["spec", "replicas"]);
        let wanted = match &*object.str_at(&["kind"])? {
            // It counts nodes.
            "DaemonSet" => {
                let wanted = status("desiredNumberScheduled");
                return Some(PodCounts {
                    wanted,
                    goal: wanted,
                    there: status("currentNumberScheduled"),
                    updated: status("updatedNumberScheduled"),
                    ready: status("numberReady"),
                    available: status("numberAvailable"),
                });
            }
            "Deployment" | "ReplicaSet" | "ReplicationController" | "StatefulSet" => {
                replicas.unwrap_or(1)
            }
            _ => replicas?,
        };
        Some(PodCounts {
            wanted,
            goal: wanted.saturating_sub(partition(object)).max(0),
            there: status("replicas"),
            updated: status("updatedReplicas"),
            ready: status("readyReplicas"),
            available: status("availableReplicas"),
        })
    }

    /// The same; `None` for kinds without rollouts, too.
    pub fn of_rollout(object: Value<'_>) -> Option<PodCounts> {
        let kind = object.str_at(&["kind"])?;
        let has_rollouts = matches!(&*kind, "DaemonSet" | "Deployment" | "StatefulSet");
        has_rollouts.then(|| PodCounts::of(object))?
    }
}

/// The ordinal from which on the Pods of a `StatefulSet` get the newest revision; 0 for other kinds.
pub fn partition(object: Value<'_>) -> i64 {
    let path = ["spec", "updateStrategy", "rollingUpdate", "partition"];
    object.i64_at(&path).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Doc;

    /// The counts of an object: wanted, goal, there, updated, ready, available.
    fn counts(text: &str) -> Option<[i64; 6]> {
        let doc = Doc::parse(text).expect("a case is JSON");
        let counts = PodCounts::of(doc.root())?;
        Some([
            counts.wanted,
            counts.goal,
            counts.there,
            counts.updated,
            counts.ready,
            counts.available,
        ])
    }

    #[test]
    fn each_kind_counts_its_pods_in_fields_of_its_own() {
        for (text, expect) in [
            (r#"{"kind":"Deployment"}"#, Some([1, 1, 0, 0, 0, 0])),
            (
                r#"{"kind":"StatefulSet","spec":{"replicas":3,"updateStrategy":{"rollingUpdate":{"partition":2}}},
                    "status":{"replicas":3,"updatedReplicas":1,"readyReplicas":2}}"#,
                Some([3, 1, 3, 1, 2, 0]),
            ),
            (
                r#"{"kind":"DaemonSet","status":{"desiredNumberScheduled":4,"currentNumberScheduled":3,
                    "updatedNumberScheduled":2,"numberReady":1,"numberAvailable":1}}"#,
                Some([4, 4, 3, 2, 1, 1]),
            ),
            (
                r#"{"kind":"Rollout","spec":{"replicas":2},"status":{"availableReplicas":1}}"#,
                Some([2, 2, 0, 0, 0, 1]),
            ),
            (r#"{"kind":"Job"}"#, None),
            ("7", None),
        ] {
            assert_eq!(counts(text), expect, "{text}");
        }
    }
}
