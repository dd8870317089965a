//! `Candidate`: an object whose last change may be the reason for a failure.

use std::sync::Arc;

use crate::graph::{Links, Reference, ReferenceTarget, Tier};
use crate::model::{Model, ModelObject};
use crate::object::{GroupKind, ObjectRef, Uid};
use crate::source::{Form, SourceKey, Version};
use crate::status::CauseRule;
use crate::watch::{History, Mux, Revision};

/// How many other objects are looked up for one failed object.
const MAX_OTHERS: usize = 8;

/// The words before the name of a quota in the message of the API server.
const EXCEEDED_QUOTA: &str = "exceeded quota: ";

/// An object to look up, and where to start.
pub(super) struct Candidate {
    pub(super) history: History,
    pub(super) start: CandidateStart,
    /// Whether a change of the number of replicas matters.
    pub(super) is_about_replicas: bool,
    /// Whether the API server names it as the reason.
    pub(super) is_blamed: bool,
}

/// Where a look-up starts.
pub(super) enum CandidateStart {
    /// The failed object itself, at this version.
    Own(Arc<Version>),
    /// Another object, as it was at this revision.
    Other(ObjectRef, Revision),
}

/// The failed object, and the objects that it or its Pods name: `ConfigMap`s, Secrets and the exceeded quota.
pub(super) fn candidates(model: &Model, uid: &Uid, mux: &Mux) -> Vec<Candidate> {
    let held = model.object(uid).and_then(ModelObject::source_version);
    let Some((source, version)) = held else {
        return Vec::new();
    };
    let Some(newest) = newest(model) else {
        return Vec::new();
    };
    if is_by_webhook(model, uid) {
        return Vec::new();
    }
    let is_about_replicas = quota(model, uid).is_some();
    let own = mux.history(source).map(|history| Candidate {
        history,
        start: CandidateStart::Own(version.clone()),
        is_about_replicas,
        is_blamed: false,
    });
    let others = others(model, uid).into_iter().filter_map(|target| {
        let key = SourceKey {
            form: Form::Full,
            ..target.source(&source.cluster, model.types())?
        };
        Some(Candidate {
            history: mux.history(&key)?,
            start: CandidateStart::Other(key.named_object()?, newest),
            is_about_replicas: false,
            is_blamed: &*target.kind.kind == "ResourceQuota",
        })
    });
    own.into_iter().chain(others).collect()
}

/// The newest revision that the model knows.
fn newest(model: &Model) -> Option<Revision> {
    let versions = model.coverage().last_versions();
    versions.filter_map(Revision::parse).max()
}

fn others(model: &Model, uid: &Uid) -> Vec<ReferenceTarget> {
    let mut others = Vec::from_iter(quota(model, uid));
    for uid in suspects(model, uid) {
        let Some(doc) = model.doc(&uid) else { continue };
        let links = Links::of(doc.root(), Tier::Unwell, model.types());
        let named = links.references.into_iter();
        let named = named.filter(is_configuration).map(|named| named.target);
        for target in named {
            if !others.contains(&target) {
                others.push(target);
            }
        }
    }
    others.truncate(MAX_OTHERS);
    others
}

/// The objects whose configuration may be the reason: the Pods that are not well, or the object itself if it has none.
/// A Pod whose image cannot be pulled has read no configuration.
fn suspects(model: &Model, uid: &Uid) -> Vec<Uid> {
    let dependents = model.graph().current_dependents(uid);
    let unwell = dependents.into_iter().filter_map(|uid| model.object(&uid));
    let mut unwell: Vec<&ModelObject> = unwell
        .filter(|object| &*object.object.kind == "Pod" && !object.assessment.is_well())
        .collect();
    if unwell.is_empty() {
        unwell.extend(model.object(uid));
    }
    unwell.retain(|object| !object.assessment.has_cause(CauseRule::ImagePull));
    unwell
        .into_iter()
        .map(|object| object.object.identity())
        .collect()
}

/// An inventory only lists what it names, so a change of that is no reason for its failure.
fn is_configuration(reference: &Reference) -> bool {
    let kind = &reference.target.kind;
    let is_needed = !reference.relation.lists_members();
    is_needed && kind.group.is_empty() && matches!(&*kind.kind, "ConfigMap" | "Secret")
}

/// Whether the API server refuses Pods because it cannot call a webhook. No change of the object is the reason.
fn is_by_webhook(model: &Model, uid: &Uid) -> bool {
    let object = model.object(uid);
    let mut causes = object
        .into_iter()
        .flat_map(|object| &object.assessment.causes);
    causes.any(|cause| cause.rule == CauseRule::FailedCreate && cause.text.starts_with("webhook "))
}

/// The quota that the API server names in a refusal.
fn quota(model: &Model, uid: &Uid) -> Option<ReferenceTarget> {
    let object = model.object(uid)?;
    let mut causes = object.assessment.causes.iter();
    let cause = causes.find(|cause| cause.rule == CauseRule::FailedCreate)?;
    let (_, rest) = cause.text.split_once(EXCEEDED_QUOTA)?;
    let name = rest.split([',', ' ']).next()?;
    Some(ReferenceTarget {
        kind: GroupKind {
            group: "".into(),
            kind: "ResourceQuota".into(),
        },
        namespace: object.object.namespace.clone(),
        name: name.into(),
    })
}
