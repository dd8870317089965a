//! Rules about dependents: a workload whose Pods fail, a custom resource whose dependents fail, a `CronJob` whose last Job failed.

use std::collections::BTreeMap;

use crate::graph::Node;
use crate::model::around::Around;
use crate::model::object::ModelObject;
use crate::status::{Assessment, Cause, CauseRule, Finding, Status};

use super::members::failed_members;
use super::workloads::blocked_rollout;

/// The problems of an object that its dependents are: of the Pods of a workload, of the members of an inventory, of what a
/// custom resource owns. If a workload above says it, the object only has its state.
pub(in crate::model) fn problems_of_dependents(around: Around<'_>, node: &Node) -> Vec<Finding> {
    let problem = failed_pods(around, node).or_else(|| {
        if around.graph().is_inventory(&node.uid) {
            failed_members(around, node)
        } else {
            failed_dependents(around, node).or_else(|| bad_run(around, node))
        }
    });
    // A custom resource has words of its own.
    let mut owners = around.graph().owners(&node.uid);
    let is_said = owners.any(|owner| !owner.is_custom());
    let problem = problem.map(|found| if is_said { found.silent() } else { found });
    blocked_rollout(around, node)
        .into_iter()
        .chain(problem)
        .collect()
}

/// The Pods of the current revision of a workload: its own, and those of the `ReplicaSet` of a Deployment.
fn pods_of_workload<'m>(around: Around<'m>, workload: &Node) -> Vec<&'m ModelObject> {
    let set = match &*workload.object.kind {
        "Deployment" => around.graph().current_replica_set(&workload.uid),
        _ => None,
    };
    let owners = [Some(workload), set].into_iter().flatten();
    let children = owners.flat_map(|owner| around.graph().current_children(&owner.uid));
    let pods = children.filter(|child| child.pod().is_some());
    let pods = pods.filter_map(|pod| around.object(&pod.uid));
    pods.filter(|pod| pod.departure.is_none()).collect()
}

/// The problem of a workload whose Pods fail: `0 of 3 pods ready: 3 ImagePullBackOff`; `None` if none fails. The Pods of
/// a Job may fail: the Job counts them itself. Pods that have ended do not count: the workload replaces them.
fn failed_pods(around: Around<'_>, node: &Node) -> Option<Finding> {
    let workload = node.workload().filter(|_| &*node.object.kind != "Job")?;
    // Until then, the Pods of the last revision look like the newest.
    let object = around.object(&node.uid)?;
    if !object.own.is_observed() {
        return None;
    }
    let mut pods = pods_of_workload(around, node);
    pods.retain(|pod| !around.has_ended(pod));
    let ready = pods.iter().filter(|pod| pod.assessment.is_well()).count();
    // A workload that has failed while its Pods have not still has the problem of its Pods.
    let status = [Status::Failed, Status::InProgress].into_iter();
    let mut status = status.filter(|status| *status == Status::Failed || has_failed(around, node));
    let (status, words) = status.find_map(|status| {
        let words = problems(&pods, status);
        (!words.is_empty()).then_some((status, words))
    })?;
    let all = i64::try_from(pods.len()).unwrap_or(i64::MAX);
    let counts = workload.counts.unwrap_or_default();
    let (wanted, pods) = if counts.there > all {
        (counts.goal, "new pods")
    } else {
        (counts.wanted, "pods")
    };
    let wanted = wanted.max(all);
    let text = format!("{ready} of {wanted} {pods} ready: {words}");
    Some(Finding::new(CauseRule::FailedPods, status, text))
}

/// The problem of a custom resource whose dependents fail: `deployment/web: 0 of 1 pods ready: 1 ImagePullBackOff`.
fn failed_dependents(around: Around<'_>, node: &Node) -> Option<Finding> {
    if !node.is_custom() {
        return None;
    }
    let is_failed = |child: &&Node| {
        let object = around.object(&child.uid);
        object.is_some_and(|object| {
            object.departure.is_none() && object.assessment.status() == Status::Failed
        })
    };
    around.graph().directly_below(&node.uid).find(is_failed)?;
    let mut failed = around.graph().children(&node.uid);
    failed.retain(is_failed);
    let first = around.object(&failed.first()?.uid)?;
    let reason = first.assessment.reason();
    let mut text = format!("{}: {reason}", first.object);
    if first.assessment.has_cause(CauseRule::FailedDependents) {
        text = without_middle(text, MAX_NESTED);
    }
    if failed.len() > 1 {
        text = format!("{text} (and {} more failed)", failed.len() - 1);
    }
    Some(Finding::new(
        CauseRule::FailedDependents,
        Status::Failed,
        text,
    ))
}

/// The problem of a `CronJob` whose newest Job has failed, has a Pod that is not well for a known cause, such as one without a
/// node, or cannot create its Pods.
fn bad_run(around: Around<'_>, node: &Node) -> Option<Finding> {
    if &*node.object.kind != "CronJob" {
        return None;
    }
    let runs = around.graph().children(&node.uid).into_iter();
    let newest = runs.max_by_key(|run| run.created)?;
    let job = around.object(&newest.uid)?;
    let run = &job.assessment;
    if run.status() == Status::Failed {
        let text = format!("its last run {} failed: {}", newest.object, run.reason());
        return Some(Finding::new(CauseRule::LastRunFailed, Status::Failed, text));
    }
    let pods = around.graph().children(&newest.uid).into_iter();
    let mut pods = pods.filter_map(|pod| around.object(&pod.uid));
    let stuck = pods.find(|pod| {
        let is_late = !pod.assessment.causes.is_empty() && !pod.assessment.is_well();
        is_late && !pod.is_starting && pod.departure.is_none() && !around.has_ended(pod)
    });
    let reason = match stuck {
        Some(pod) => format!("{}: {}", pod.object, pod.assessment.reason()),
        None if job.is_broken() && !has_active_pods(around, newest) => run.reason().to_owned(),
        None => return None,
    };
    let text = format!("its run {} waits: {reason}", newest.object);
    let status = Status::InProgress;
    Some(Finding::new(CauseRule::FailedDependents, status, text))
}

/// Whether Pods of a Job exist, as the Job counts them. What was in their way is then over.
fn has_active_pods(around: Around<'_>, job: &Node) -> bool {
    let doc = around.doc(&job.uid);
    doc.is_some_and(|doc| doc.root().i64_at(&["status", "active"]).unwrap_or(0) > 0)
}

/// The problems of the Pods that a Service in this state selects: `2 CrashLoopBackOff`. Pods that are only not ready yet
/// count for a Service that has failed, and only if no Pod has.
pub(in crate::model) fn problems_of_selected(
    around: Around<'_>,
    service: &Node,
    status: Status,
) -> String {
    let pods = around.graph().selected_pods(&service.uid).into_iter();
    let pods = pods.filter_map(|pod| around.object(&pod.uid));
    let there = |pod: &&ModelObject| pod.departure.is_none() && !around.has_ended(pod);
    let pods: Vec<_> = pods.filter(there).collect();
    match problems(&pods, Status::Failed) {
        words if words.is_empty() && status == Status::Failed => {
            problems(&pods, Status::InProgress)
        }
        words => words,
    }
}

fn has_failed(around: Around<'_>, node: &Node) -> bool {
    let object = around.object(&node.uid);
    object.is_some_and(|object| object.own.status() == Status::Failed)
}

/// The longest problem of a custom resource that is the problem of another one below, in bytes. Without a limit, each
/// level would add its name.
const MAX_NESTED: usize = 1_000;

/// A text without its middle, if it is too long.
fn without_middle(text: String, limit: usize) -> String {
    if text.len() <= limit {
        return text;
    }
    let boundary = |at: &usize| text.is_char_boundary(*at);
    let start = (0..=limit / 2).rev().find(boundary).unwrap_or(0);
    let end = (text.len() - limit / 2..=text.len()).find(boundary);
    format!(
        "{} … {}",
        &text[..start],
        &text[end.unwrap_or(text.len())..]
    )
}

/// The problems of the Pods in this state, each once: `2 ImagePullBackOff, 1 CrashLoopBackOff`.
fn problems(pods: &[&ModelObject], status: Status) -> String {
    let pods = pods.iter().map(|pod| &*pod.assessment);
    let mut problems: BTreeMap<String, usize> = BTreeMap::new();
    let is_in_trouble = |pod: &&Assessment| {
        pod.status() == status && (status == Status::Failed || !pod.causes.is_empty())
    };
    for pod in pods.filter(is_in_trouble) {
        *problems.entry(problem(pod)).or_default() += 1;
    }
    let problems: Vec<_> = problems
        .iter()
        .map(|(problem, count)| format!("{count} {problem}"))
        .collect();
    problems.join(", ")
}

/// One text for one problem. The kubelet alternates between the two words for an image that it cannot pull, and the
/// words of a Pod that waits, or that runs and is not ready, do not say why.
fn problem(pod: &Assessment) -> String {
    let is_fact = |cause: &&Cause| cause.rule == CauseRule::Fact;
    let is_lasting =
        |cause: &&Cause| !matches!(cause.rule, CauseRule::Event | CauseRule::EvictionRisk);
    let mut causes = pod.causes.iter().filter(is_lasting);
    let fact = pod.causes.iter().find(is_fact);
    let cause = fact.or_else(|| causes.next());
    match (pod.row.word.as_str(), cause) {
        ("ErrImagePull", _) => "ImagePullBackOff".to_owned(),
        (word @ ("Pending" | "Running"), Some(cause)) => {
            let sentence = cause.text.split(". ").next().unwrap_or_default();
            format!("{word} ({sentence})")
        }
        (word, _) => word.to_owned(),
    }
}

#[cfg(test)]
mod tests;
