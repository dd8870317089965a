//! `Candidate`: an object whose last change may be the reason for a failure.

use std::borrow::Cow;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::graph::{Graph, KnownRelation, Links, Node, Reference, ReferenceTarget, Tier};
use crate::model::{Absence, Model, ModelObject, nodes_that_keep_out};
use crate::object::{ObjectRef, Uid, condition, set_taints};
use crate::source::{ClusterId, Form, SourceKey, Version};
use crate::watch::{History, Revision};

use super::change::LastChange;
use super::error_text::ErrorText;
use super::failure::{Failure, FailureReason, broken_references, claim_needs, unwell_pods};
use super::fields::Matters;
use super::version_problem::VersionProblem;
use super::what::OldValues;

/// How many other objects are looked up for one failed object.
const MAX_OTHERS: usize = 8;

/// How long before a failure a write may lie whose old value is compacted, and which nothing ties to the failure.
const SHORTLY_BEFORE: SignedDuration = SignedDuration::from_mins(30);

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
    /// The words with which the cluster reports the failure.
    pub(super) errors: Arc<ErrorText>,
    /// The server's time.
    pub(super) now: Timestamp,
}

impl Candidate {
    /// Which changes of it matter.
    pub(super) fn matters(&self) -> Matters<'_> {
        Matters {
            reason: &self.reason,
            is_own: self.is_own,
            errors: &self.errors,
            now: self.now,
        }
    }

    /// What its oldest version says about the last write of a field that matters. What lacks something names nobody who
    /// took it away. Of an object that nothing ties to the failure, only a write shortly before counts.
    pub(super) fn last_written(
        &self,
        oldest: &Version,
        old: OldValues,
        is_telling: bool,
    ) -> Option<LastChange> {
        let is_lack = self.problem.as_ref().is_some_and(VersionProblem::is_lack);
        // Who wrote the taints last may have written another one.
        let is_kept_out = matches!(self.reason, FailureReason::KeptOut(_));
        if (is_telling && is_lack) || is_kept_out {
            return None;
        }
        let written = LastChange::last_written(oldest, old, self.matters())?;
        let is_tied = self.is_own || self.is_blamed || is_telling;
        let failed_at = self.failed_at.unwrap_or(self.now);
        let is_in_time = !written.is_after(failed_at);
        let is_near = || {
            let earliest = failed_at.checked_sub(SHORTLY_BEFORE);
            earliest.is_ok_and(|earliest| written.is_after(earliest))
        };
        (self.is_own || (is_in_time && (is_tied || is_near()))).then_some(written)
    }
}

/// Where a look-up starts.
pub(super) enum CandidateStart {
    /// This version, which the model has.
    Known(Arc<Version>),
    /// The object as it is now.
    Now(ObjectRef),
    /// The object did not exist at this revision, and has not come since.
    Absent(ObjectRef, Revision),
}

/// The failed object, and the objects that it or its Pods name: `ConfigMap`s, Secrets, what does not exist or lacks
/// something, and what the failure is blamed on.
pub(super) fn candidates(
    model: &Model,
    failure: &Failure,
    history: &dyn Fn(&SourceKey) -> Option<History>,
    now: Timestamp,
) -> Vec<Candidate> {
    let Failure { uid, reason, .. } = failure;
    let object = model.object(uid);
    let Some((source, version)) = object.and_then(ModelObject::source_version) else {
        return Vec::new();
    };
    let unwell = unwell_pods(model, uid);
    let needs = needs(model, reason, uid, &unwell);
    let failed_at = unwell_since(model, &unwell);
    let errors = Arc::new(ErrorText::of(unwell.iter().copied().chain(object)));
    let others = others(model, failure, &unwell, &source.cluster);
    let problem = |target: &ReferenceTarget| match reason {
        FailureReason::KeptOut(_) => model.doc(uid).map(VersionProblem::KeepsOut),
        FailureReason::Isolated(_) => Some(VersionProblem::Denies),
        FailureReason::Scheduling(_) => {
            let pod = model.doc(&unwell.first()?.object.identity());
            pod.map(VersionProblem::Closed)
        }
        FailureReason::Ports => Some(VersionProblem::LacksPorts(target_ports(model, uid))),
        _ => Some(problem_of_other(&needs, target, now)),
    };
    let other = |target: ReferenceTarget| {
        let key = target.source(&source.cluster, model.types())?;
        if model.absence(Some(&key)) == Absence::Refused {
            return None;
        }
        let start = start(model, &target, &key)?;
        let key = SourceKey {
            form: Form::Full,
            ..key
        };
        Some(Candidate {
            history: history(&key)?,
            start,
            reason: reason.clone(),
            is_own: false,
            is_blamed: reason.blames(&target),
            problem: problem(&target),
            failed_at,
            errors: errors.clone(),
            now,
        })
    };
    let others: Vec<Candidate> = others.into_iter().filter_map(other).collect();
    let own = history(source).filter(|_| reason.may_be_own());
    let own = own.map(|history| Candidate {
        history,
        start: CandidateStart::Known(version.clone()),
        reason: reason.clone(),
        is_own: true,
        is_blamed: false,
        problem: problem_of_own(model, failure, needs, now),
        failed_at: None,
        errors: errors.clone(),
        now,
    });
    own.into_iter().chain(others).collect()
}

/// The problem of the failed object itself that tells which of its changes is the cause.
fn problem_of_own(
    model: &Model,
    failure: &Failure,
    needs: Vec<Reference>,
    now: Timestamp,
) -> Option<VersionProblem> {
    match failure.reason {
        FailureReason::Need(_) => Some(VersionProblem::Names(needs, model.types().clone())),
        FailureReason::KeptOut(_) => {
            let nodes = nodes_that_keep_out(model.around(), &failure.uid).into_iter();
            let nodes = nodes.map(|(_, node)| node);
            Some(VersionProblem::KeptOut(nodes.collect()))
        }
        FailureReason::Closed => {
            let node = model.doc(&failure.uid)?;
            let taints = set_taints(node.root());
            Some(VersionProblem::Closes(taints.collect()))
        }
        FailureReason::Other => Some(VersionProblem::Verdict(now)),
        _ => None,
    }
}

/// Where the look-up of a named object starts, from what the model knows of it.
fn start(model: &Model, target: &ReferenceTarget, key: &SourceKey) -> Option<CandidateStart> {
    if let Some(version) = whole_version(model, target) {
        return Some(CandidateStart::Known(version));
    }
    let object = key.named_object()?;
    let empty_at = model.coverage().empty_at(key).and_then(Revision::parse);
    Some(match empty_at {
        Some(at) if model.absence(Some(key)) == Absence::Missing => {
            CandidateStart::Absent(object, at)
        }
        _ => CandidateStart::Now(object),
    })
}

/// The newest version of a named object; `None` if the model has only its metadata, or nothing of it.
fn whole_version(model: &Model, target: &ReferenceTarget) -> Option<Arc<Version>> {
    let node = model.graph().referenced(target)?;
    let object = model.object(&node.uid)?;
    let (source, version) = object.source_version()?;
    let is_there = object.departure.is_none() && source.form == Form::Full;
    is_there.then(|| version.clone())
}

/// What is named and does not exist, or lacks something: by the Pods, by their claims, or by the object itself if the API
/// server refuses its Pods.
fn needs(
    model: &Model,
    reason: &FailureReason,
    uid: &Uid,
    unwell: &[&ModelObject],
) -> Vec<Reference> {
    let FailureReason::Need(targets) = reason else {
        return Vec::new();
    };
    let of_pods = unwell.iter().flat_map(|pod| {
        let own = broken_references(model, pod);
        own.into_iter().chain(claim_needs(model, pod))
    });
    let of_pods: Vec<Reference> = of_pods.collect();
    let doc = model.doc(uid).filter(|_| of_pods.is_empty());
    let links = doc.map(|doc| Links::of(doc.root(), Tier::Trace, model.types()));
    let named = links.into_iter().flat_map(|links| links.references);
    let named = named.filter(|reference| targets.contains(&reference.target));
    of_pods.into_iter().chain(named).collect()
}

/// The names of the ports to which a Service sends requests.
fn target_ports(model: &Model, service: &Uid) -> Vec<String> {
    let Some(doc) = model.doc(service) else {
        return Vec::new();
    };
    let ports = doc.root().items_at(&["spec", "ports"]);
    let names = ports.filter_map(|port| port.str_at(&["targetPort"]));
    names.map(Cow::into_owned).collect()
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

fn others(
    model: &Model,
    failure: &Failure,
    unwell: &[&ModelObject],
    cluster: &ClusterId,
) -> Vec<ReferenceTarget> {
    let Failure { uid, reason, .. } = failure;
    let mut others = match reason {
        FailureReason::Elsewhere
        | FailureReason::Selector
        | FailureReason::Closed
        | FailureReason::Rescaled => return Vec::new(),
        FailureReason::KeptOut(named) | FailureReason::Isolated(named) => {
            return named.iter().take(MAX_OTHERS).cloned().collect();
        }
        FailureReason::Ports => return creators(model, uid),
        FailureReason::Webhook(named) => return named.iter().cloned().collect(),
        FailureReason::Idle(workload) => return vec![workload.clone()],
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
                FailureReason::ImagePull => reference.relation.is(KnownRelation::PullSecret),
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
        let creator = creator(graph, pod);
        creators.extend(creator.filter(|creator| !creators.contains(creator)));
    }
    creators.truncate(MAX_OTHERS);
    creators
}

/// The workload that created a Pod. The name of a `ReplicaSet` is that of its Deployment and the hash of its template.
fn creator(graph: &Graph, pod: &Node) -> Option<ReferenceTarget> {
    let owner = pod.owners.iter().find(|owner| owner.controller)?;
    let mut creator = owner.target(&pod.object);
    let hash = pod.labels.get("pod-template-hash");
    let deployment = hash.and_then(|hash| owner.name.strip_suffix(hash)?.strip_suffix('-'));
    match graph.owners(&owner.uid).next() {
        Some(top) => return Some(ReferenceTarget::of(&top.object)),
        None if &*owner.kind == "ReplicaSet" => {
            creator.kind.kind = "Deployment".into();
            creator.name = deployment?.into();
        }
        None => {}
    }
    Some(creator)
}

/// An inventory only lists what it names, so a change of that is no reason for its failure.
fn is_configuration(reference: &Reference) -> bool {
    let kind = &reference.target.kind;
    let is_needed = !reference.relation.lists_members();
    is_needed && kind.group.is_empty() && matches!(&*kind.kind, "ConfigMap" | "Secret")
}
