//! Which sources explain the objects that are not well.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::object::{ObjectRef, Uid};
use crate::source::{ClusterId, Form, Scope, Select, SourceKey};
use crate::status::{Assessment, Rules, Status};

use super::around::Around;
use super::evidence::is_subject;
use super::object::ModelObject;
use super::rules::rule_sources;

/// With unwell objects in more namespaces than this, one source shows the events of all namespaces.
const MAX_NAMESPACES: usize = 4;

/// The sources of the evidence for the objects that are not well. There are none while all objects are well.
pub(in crate::model) fn evidence_sources(around: Around<'_>) -> Vec<SourceKey> {
    if around.rules() == Rules::Kstatus {
        return Vec::new();
    }
    let mut sources = warning_sources(around);
    sources.extend(rule_sources(around));
    sources
}

/// The sources of the warnings about the objects that are not well.
fn warning_sources(around: Around<'_>) -> Vec<SourceKey> {
    let mut places: BTreeMap<&ClusterId, BTreeSet<Arc<str>>> = BTreeMap::new();
    for uid in around.unwell() {
        let Some(object) = around.object(uid) else {
            continue;
        };
        let namespace = object.object.namespace.clone();
        // The events of cluster-scoped objects are in this namespace.
        let namespace = namespace.unwrap_or_else(|| "default".into());
        if let Some(cluster) = object.cluster() {
            places.entry(cluster).or_default().insert(namespace);
        }
    }
    let scopes = places.into_iter().flat_map(|(cluster, namespaces)| {
        let scopes = if namespaces.len() > MAX_NAMESPACES {
            vec![Scope::Cluster]
        } else {
            namespaces.into_iter().map(Scope::Namespace).collect()
        };
        scopes
            .into_iter()
            .map(move |scope| (cluster.clone(), scope))
    });
    scopes
        .map(|(cluster, scope)| SourceKey {
            cluster,
            resource: crate::graph::well_known("", "Event"),
            scope,
            select: Select::matching(None, Some("type=Warning")),
            form: Form::Full,
        })
        .collect()
}

/// The object of a subject of events; `None` if the model does not have it. Without its uid, the objects that are well are
/// not searched.
pub(super) fn subject_of(around: Around<'_>, about: &ObjectRef) -> Option<Uid> {
    let own = [about.identity(), about.without_uid().identity()];
    if let Some(uid) = own.into_iter().find(|uid| around.object(uid).is_some()) {
        return Some(uid);
    }
    if about.uid.is_some() && &*about.kind != "Node" {
        return None;
    }
    let is_about = |uid: &&Uid| {
        let object = around.object(uid);
        object.is_some_and(|object| is_subject(about, &object.object))
    };
    around.unwell().iter().find(is_about).cloned()
}

/// Whether an object is not well, and not only starting or ending.
pub(super) fn needs_explanation(object: &ModelObject) -> bool {
    let assessment: &Assessment = &object.assessment;
    match assessment.status() {
        Status::Failed => true,
        Status::InProgress => !object.is_starting,
        Status::Terminating => !assessment.causes.is_empty(),
        Status::Current | Status::NotFound | Status::Unknown => false,
    }
}
