//! `Versions`: the objects of a file, by their types and namespaces.

use std::collections::HashMap;
use std::sync::Arc;

use crate::graph::well_known;
use crate::object::{Doc, GroupKind, ObjectRef, Resource, ResourceVersion, well_known_type};
use crate::source::{ClusterId, Scope, Select, SourceKey, Version};

/// The objects of a file, by their types and namespaces.
#[derive(Debug, Default)]
pub(super) struct Versions {
    of_type: HashMap<GroupKind, TypeVersions>,
}

/// The objects of a type, in the order of the file.
#[derive(Debug)]
struct TypeVersions {
    resource: Resource,
    all: Vec<Arc<Version>>,
    in_namespace: HashMap<Arc<str>, Vec<Arc<Version>>>,
}

impl Versions {
    /// Adds an object.
    pub(super) fn add(&mut self, document: &Doc, object: ObjectRef) {
        let number = document.root().str_at(&["metadata", "resourceVersion"]);
        let found = self.of_type.entry(type_of(&object));
        let found = found.or_insert_with(|| TypeVersions {
            resource: resource(&object),
            all: Vec::new(),
            in_namespace: HashMap::new(),
        });
        let namespace = object.namespace.clone();
        let version = Arc::new(Version {
            object: object.into(),
            version: ResourceVersion::new(&*number.unwrap_or_default()),
            body: document.clone().into(),
        });
        if let Some(namespace) = namespace {
            let inside = found.in_namespace.entry(namespace).or_default();
            inside.push(version.clone());
        }
        found.all.push(version);
    }

    /// The sources of the types that `is_row` chooses, sorted.
    pub(super) fn sources(&self, is_row: fn(&ObjectRef) -> bool) -> Vec<SourceKey> {
        let chosen = self.of_type.values().filter(|found| {
            let first = found.all.first();
            first.is_some_and(|first| is_row(&first.object))
        });
        let mut resources: Vec<&Resource> = chosen.map(|found| &found.resource).collect();
        resources.sort();
        let file = ClusterId("file".into());
        let source =
            |resource: &Resource| SourceKey::of(&file, resource.clone(), None, Select::All);
        resources.into_iter().map(source).collect()
    }

    /// The objects of the type and the namespace of a source, in the order of the file.
    pub(super) fn within(&self, source: &SourceKey) -> &[Arc<Version>] {
        let found = self.of_type.get(&source.resource.group_kind());
        let found = found.and_then(|found| match &source.scope {
            Scope::Cluster => Some(&found.all),
            Scope::Namespace(namespace) => found.in_namespace.get(namespace),
        });
        found.map_or(&[], Vec::as_slice)
    }
}

/// Whether an object is an Event, of either group.
pub(super) fn is_event(object: &ObjectRef) -> bool {
    &*object.kind == "Event" && matches!(object.group(), "" | "events.k8s.io")
}

/// The type of an object. Events of both groups are the same ones.
pub(super) fn type_of(object: &ObjectRef) -> GroupKind {
    if is_event(object) {
        return well_known("", "Event").group_kind();
    }
    object.group_kind()
}

/// The resource of an object. Its plural appears nowhere.
fn resource(object: &ObjectRef) -> Resource {
    if is_event(object) {
        return well_known("", "Event");
    }
    if let Some(known) = well_known_type(object.group(), &object.kind) {
        return known.resource.clone();
    }
    let version = object.api_version.rsplit('/').next().unwrap_or_default();
    Resource {
        group: object.group().into(),
        version: version.into(),
        plural: object.kind.to_lowercase().into(),
        kind: object.kind.clone(),
        namespaced: object.namespace.is_some(),
    }
}
