//! Judges a `StatefulSet` whose rollout waits for a Pod that it never replaces.

use jiff::Timestamp;

use crate::graph::{Node, Standing};
use crate::object::{Doc, Value, partition};
use crate::status::{CauseRule, Finding, Status, is_starting};

use super::Model;

impl Model {
    /// The Pod that blocks the rollout of a `StatefulSet`; `None` for other kinds. With the policy `OrderedReady`,
    /// the controller waits for a broken Pod of an old revision, and replaces it only after it is ready
    /// (<https://github.com/kubernetes/kubernetes/issues/67250>).
    pub(super) fn blocked_rollout(&self, node: &Node, now: Timestamp) -> Option<Finding> {
        if &*node.object.kind != "StatefulSet" || node.object.group() != "apps" {
            return None;
        }
        let mut pods = self.graph.children(&node.uid);
        pods.retain(|pod| pod.pod().is_some());
        let pod = pods.into_iter().find(|pod| !pod.is_ready_pod())?;
        if pod.deleting || self.graph.standings().of(&pod.uid) != Standing::Old {
            return None;
        }
        let set = self.doc(&node.uid)?;
        let is_blocked = is_ordered(set.root())
            && pod.ordinal()? >= partition(set.root())
            && self.is_broken(pod, &self.doc(&pod.uid)?, now);
        is_blocked.then(|| {
            let name = &pod.object.name;
            let namespace = pod.object.namespace.as_deref().unwrap_or("default");
            let text = format!(
                "rollout blocked by {}; to unblock it: kubectl delete pod {name} -n {namespace}",
                pod.object
            );
            Finding::new(CauseRule::BlockedRollout, Status::Failed, text)
        })
    }

    /// Whether a Pod that is not ready has had the time to become ready. A Pod that has ended is replaced.
    fn is_broken(&self, pod: &Node, doc: &Doc, now: Timestamp) -> bool {
        let has_ended = pod.pod().is_some_and(|pod| pod.has_ended);
        let object = self.object(&pod.uid);
        let is_failing = object.is_some_and(|object| object.assessment.is_failing());
        !has_ended && (is_failing || !is_starting(doc.root(), now))
    }
}

/// Whether the controller replaces Pods by itself, and one after the other.
fn is_ordered(set: Value<'_>) -> bool {
    let is = |path: &[&str], word: &str| set.str_at(path).is_none_or(|value| value == word);
    is(&["spec", "podManagementPolicy"], "OrderedReady")
        && is(&["spec", "updateStrategy", "type"], "RollingUpdate")
}
