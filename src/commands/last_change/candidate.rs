//! `Candidate`: an object whose last change may be the reason for a failure.

use std::sync::Arc;

use crate::graph::{Links, Reference, ReferenceTarget, Tier};
use crate::model::{Absence, Model};
use crate::object::{ObjectRef, Uid};
use crate::source::{ClusterId, Form, SourceKey, Version};
use crate::watch::{History, Mux, Revision};

use super::failure_reason::{FailureReason, unwell_pods};

/// How many other objects are looked up for one failed object.
const MAX_OTHERS: usize = 8;

/// An object to look up, and where to start.
pub(super) struct Candidate {
    pub(super) history: History,
    pub(super) start: CandidateStart,
    /// Why the failed object has failed, if this is that object.
    pub(super) own: Option<FailureReason>,
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

/// The failed object, and the objects that it or its Pods name: `ConfigMap`s, Secrets, what does not exist, and the exceeded
/// quota.
pub(super) fn candidates(model: &Model, uid: &Uid, mux: &Mux) -> Vec<Candidate> {
    let object = model.object(uid);
    let held = object.and_then(|object| Some((object, object.source_version()?)));
    let Some((object, (source, version))) = held else {
        return Vec::new();
    };
    let Some(newest) = newest(model) else {
        return Vec::new();
    };
    let reason = FailureReason::of(model, object);
    let others = others(model, uid, &reason, &source.cluster);
    let others = others.into_iter().filter_map(|target| {
        let key = SourceKey {
            form: Form::Full,
            ..target.source(&source.cluster, model.types())?
        };
        Some(Candidate {
            history: mux.history(&key)?,
            start: CandidateStart::Other(key.named_object()?, newest),
            own: None,
            is_blamed: &*target.kind.kind == "ResourceQuota",
        })
    });
    let own = mux.history(source).map(|history| Candidate {
        history,
        start: CandidateStart::Own(version.clone()),
        own: Some(reason.clone()),
        is_blamed: false,
    });
    own.into_iter().chain(others).collect()
}

/// The newest revision that the model knows.
fn newest(model: &Model) -> Option<Revision> {
    let versions = model.coverage().last_versions();
    versions.filter_map(Revision::parse).max()
}

fn others(
    model: &Model,
    uid: &Uid,
    reason: &FailureReason,
    cluster: &ClusterId,
) -> Vec<ReferenceTarget> {
    let mut others = match reason {
        FailureReason::Webhook => return Vec::new(),
        FailureReason::Quota(quota) => vec![quota.clone()],
        _ => Vec::new(),
    };
    for object in unwell_pods(model, uid).into_iter().take(MAX_OTHERS) {
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
                FailureReason::Scheduling => false,
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

/// An inventory only lists what it names, so a change of that is no reason for its failure.
fn is_configuration(reference: &Reference) -> bool {
    let kind = &reference.target.kind;
    let is_needed = !reference.relation.lists_members();
    is_needed && kind.group.is_empty() && matches!(&*kind.kind, "ConfigMap" | "Secret")
}
