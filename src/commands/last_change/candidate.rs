//! `Candidate`: an object whose last change may be the reason for a failure.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::graph::{Links, Reference, ReferenceTarget, Tier};
use crate::model::{Absence, Model, ModelObject};
use crate::object::{ObjectRef, Uid, condition};
use crate::source::{ClusterId, Form, SourceKey, Version};
use crate::watch::{History, Mux, Revision};

use super::failure::Failure;
use super::failure_reason::{FailureReason, broken_references, unwell_pods};
use super::version_problem::VersionProblem;

/// How many other objects are looked up for one failed object.
const MAX_OTHERS: usize = 8;

/// An object to look up, and where to start.
pub(super) struct Candidate {
    pub(super) history: History,
    pub(super) start: CandidateStart,
    /// Why the failed object has failed.
    pub(super) reason: FailureReason,
    /// Whether it is the failed object.
    pub(super) is_own: bool,
    /// Whether the API server or the model names it as the reason.
    pub(super) is_blamed: bool,
    /// The problem that tells which change is the cause.
    pub(super) problem: Option<VersionProblem>,
    /// When the failure began. A later change of another object is not the cause.
    pub(super) failed_at: Option<Timestamp>,
}

/// Where a look-up starts.
pub(super) enum CandidateStart {
    /// The failed object itself, at this version.
    Own(Arc<Version>),
    /// Another object, as it was at this revision.
    Other(ObjectRef, Revision),
}

/// The failed object, and the objects that it or its Pods name: `ConfigMap`s, Secrets, what does not exist or lacks
/// something, and what the failure is blamed on.
pub(super) fn candidates(
    model: &Model,
    failure: &Failure,
    mux: &Mux,
    now: Timestamp,
) -> Vec<Candidate> {
    let Failure { uid, reason, .. } = failure;
    let object = model.object(uid);
    let Some((source, version)) = object.and_then(ModelObject::source_version) else {
        return Vec::new();
    };
    let Some(newest) = newest(model) else {
        return Vec::new();
    };
    let unwell = unwell_pods(model, uid);
    let needs = unwell.iter().flat_map(|pod| broken_references(model, pod));
    let needs: Vec<Reference> = needs.collect();
    let failed_at = unwell_since(model, &unwell);
    let others = others(model, failure, &unwell, &source.cluster);
    let pod = || model.doc(&unwell.first()?.object.identity());
    let problem = |target: &ReferenceTarget| match reason {
        FailureReason::Scheduling(_) => pod().map(VersionProblem::KeepsAway),
        _ => Some(problem_of_other(&needs, target, now)),
    };
    let other = |target: ReferenceTarget| {
        let key = SourceKey {
            form: Form::Full,
            ..target.source(&source.cluster, model.types())?
        };
        Some(Candidate {
            history: mux.history(&key)?,
            start: CandidateStart::Other(key.named_object()?, newest),
            reason: reason.clone(),
            is_own: false,
            is_blamed: reason.blamed() == Some(&target),
            problem: problem(&target),
            failed_at,
        })
    };
    let others: Vec<Candidate> = others.into_iter().filter_map(other).collect();
    let problem = match reason {
        FailureReason::Need(_) => Some(VersionProblem::Names(needs, model.types().clone())),
        FailureReason::Other => Some(VersionProblem::Verdict(now)),
        _ => None,
    };
    let own = mux.history(source).map(|history| Candidate {
        history,
        start: CandidateStart::Own(version.clone()),
        reason: reason.clone(),
        is_own: true,
        is_blamed: false,
        problem,
        failed_at: None,
    });
    own.into_iter().chain(others).collect()
}

/// The problem of an object that others need.
fn problem_of_other(
    needs: &[Reference],
    target: &ReferenceTarget,
    now: Timestamp,
) -> VersionProblem {
    let needs = needs.iter().filter(|need| need.target == *target);
    let keys: Vec<Arc<str>> = needs.flat_map(|need| need.keys.iter().cloned()).collect();
    if keys.is_empty() {
        VersionProblem::Verdict(now)
    } else {
        VersionProblem::Lacks(keys)
    }
}

/// How far the clock of a node may be behind that of the API server.
const CLOCKS_DIFFER: SignedDuration = SignedDuration::from_secs(5);

/// Since when the first of the Pods has not been ready, at the latest.
fn unwell_since(model: &Model, pods: &[&ModelObject]) -> Option<Timestamp> {
    let since = pods.iter().filter_map(|pod| {
        let doc = model.doc(&pod.object.identity())?;
        let ready = condition(doc.root(), "Ready");
        ready.filter(|ready| ready.status == "False")?.since()
    });
    since.min()?.checked_add(CLOCKS_DIFFER).ok()
}

/// The newest revision that the model knows.
fn newest(model: &Model) -> Option<Revision> {
    let versions = model.coverage().last_versions();
    versions.filter_map(Revision::parse).max()
}

fn others(
    model: &Model,
    failure: &Failure,
    unwell: &[&ModelObject],
    cluster: &ClusterId,
) -> Vec<ReferenceTarget> {
    let Failure { uid, reason, .. } = failure;
    let mut others = match reason {
        FailureReason::Elsewhere | FailureReason::Selector => return Vec::new(),
        FailureReason::Ports => return creators(model, uid),
        FailureReason::ScaledDown(workload) => return vec![workload.clone()],
        FailureReason::Need(named) | FailureReason::Scheduling(named) => {
            named.iter().cloned().collect()
        }
        _ => Vec::from_iter(reason.blamed().cloned()),
    };
    for object in unwell.iter().take(MAX_OTHERS) {
        let Some(doc) = model.doc(&object.object.identity()) else {
            continue;
        };
        let links = Links::of(doc.root(), Tier::Unwell, model.types());
        for reference in links.references {
            let is_missing = || {
                let source = reference.source(cluster, model.types());
                model.absence(source.as_ref()) == Absence::Missing
                    && model.graph().referenced(&reference.target).is_none()
            };
            let is_read = match reason {
                FailureReason::ImagePull => reference.relation.name == "pull secret",
                // A Pod without a node has read nothing.
                FailureReason::Scheduling(_) | FailureReason::Need(_) => false,
                _ => is_configuration(&reference),
            };
            let is_suspect = is_read || is_missing();
            if is_suspect && !others.contains(&reference.target) {
                others.push(reference.target);
            }
        }
    }
    others.truncate(MAX_OTHERS);
    others
}

/// The workloads that created the Pods of a Service.
fn creators(model: &Model, service: &Uid) -> Vec<ReferenceTarget> {
    let graph = model.graph();
    let mut creators = Vec::new();
    for pod in graph.selected_pods(service) {
        let set = graph.owners(&pod.uid).into_iter().next();
        let top = set.and_then(|set| graph.owners(&set.uid).into_iter().next());
        let creator = top.or(set).map(|node| ReferenceTarget::of(&node.object));
        creators.extend(creator.filter(|creator| !creators.contains(creator)));
    }
    creators.truncate(MAX_OTHERS);
    creators
}

/// An inventory only lists what it names, so a change of that is no reason for its failure.
fn is_configuration(reference: &Reference) -> bool {
    let kind = &reference.target.kind;
    let is_needed = !reference.relation.lists_members();
    is_needed && kind.group.is_empty() && matches!(&*kind.kind, "ConfigMap" | "Secret")
}
