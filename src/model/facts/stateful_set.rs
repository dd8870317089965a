//! Why a `StatefulSet` makes no progress: it replaces its Pods one by one, and waits for each to be ready.

use crate::graph::{Node, Standing};
use crate::model::ModelObject;
use crate::status::{Cause, CauseRule};

use super::super::Model;

impl Model {
    /// The Pod that a `StatefulSet` waits for: the one with the lowest ordinal that is not ready.
    pub(super) fn blocking_pod(&self, set: &Node) -> Option<Cause> {
        let doc = self.doc(&set.uid)?;
        let policy = doc.root().str_at(&["spec", "podManagementPolicy"]);
        let is_parallel = policy.as_deref() == Some("Parallel");
        let pods = self.graph.children(&set.uid).into_iter();
        let mut unready: Vec<(i64, &Node)> = pods
            .filter(|pod| pod.pod().is_some_and(|facts| !facts.ready) && !pod.deleting)
            .filter_map(|pod| Some((pod.ordinal()?, pod)))
            .collect();
        unready.sort_by_key(|(ordinal, _)| *ordinal);
        let (_, pod) = unready.first()?;
        let object: &ModelObject = self.objects.get(&pod.uid)?;
        if is_parallel || object.is_starting {
            return None;
        }
        // A Pod of an old revision blocks the rollout, which is a problem of its own.
        let is_old = self.graph.standings().of(&pod.uid) == Standing::Old;
        let text = format!("waits for {}, which is not ready", pod.object);
        (!is_old).then(|| Cause::new(CauseRule::BlockedByPod, text))
    }
}
