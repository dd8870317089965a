//! What a `StatefulSet` waits for: it replaces its Pods one by one, and waits for each to be ready.

use crate::graph::{Node, Standing};
use crate::object::partition;
use crate::status::{Cause, CauseRule, Finding, Status};

use super::around::Around;

/// The Pod that blocks the rollout of a `StatefulSet`; `None` for other kinds. The controller waits for a broken Pod
/// of an old revision, and replaces it only after it is ready
/// (<https://github.com/kubernetes/kubernetes/issues/67250>).
pub(in crate::model) fn blocked_rollout(around: Around<'_>, set: &Node) -> Option<Finding> {
    let pod = awaited_pod(around, set).filter(|pod| is_old(around, pod))?;
    let doc = around.doc(&set.uid)?;
    let strategy = doc.root().str_at(&["spec", "updateStrategy", "type"]);
    let is_rolling = strategy.is_none_or(|strategy| strategy == "RollingUpdate");
    let is_blocked = is_rolling && pod.ordinal()? >= partition(doc.root());
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

/// Why a `StatefulSet` makes no progress. A Pod of an old revision is a problem of its own.
pub(in crate::model) fn blocking_pod(around: Around<'_>, set: &Node) -> Option<Cause> {
    let pod = awaited_pod(around, set).filter(|pod| !is_old(around, pod))?;
    let text = format!("waits for {}, which is not ready", pod.object);
    Some(Cause::new(CauseRule::BlockedByPod, text))
}

/// The Pod that a `StatefulSet` waits for; `None` for other kinds. This is the first Pod that is not ready, once it
/// has had the time to become ready. A Pod that has ended is replaced.
fn awaited_pod<'m>(around: Around<'m>, set: &Node) -> Option<&'m Node> {
    if &*set.object.kind != "StatefulSet" || set.object.group() != "apps" {
        return None;
    }
    let mut pods = around.graph().children(&set.uid).into_iter();
    let is_unready = |pod: &&Node| pod.pod().is_some() && !pod.is_ready_pod();
    let pod = pods.find(is_unready).filter(|pod| !pod.deleting)?;
    let object = around.object(&pod.uid)?;
    let is_late = object.assessment.is_failing() || !object.is_starting;
    let doc = around.doc(&set.uid)?;
    let policy = doc.root().str_at(&["spec", "podManagementPolicy"]);
    let is_ordered = policy.is_none_or(|policy| policy == "OrderedReady");
    (is_ordered && is_late && !pod.pod()?.has_ended).then_some(pod)
}

fn is_old(around: Around<'_>, pod: &Node) -> bool {
    around.graph().standings().of(&pod.uid) == Standing::Old
}
