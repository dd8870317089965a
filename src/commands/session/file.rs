//! The types and namespaces of a `--from` file.

use std::sync::Arc;

use crate::cluster::{Filters, Names, Target};
use crate::object::ResourceType;
use crate::watch::{FileResource, FileTransport};

/// The only namespace of a file's objects, or `default` if they have none or several.
pub(super) fn only_namespace(file: &FileTransport) -> Arc<str> {
    let objects = file.resources().iter().flat_map(|found| &found.objects);
    let mut namespaces: Vec<_> = objects
        .filter_map(|object| object.namespace.clone())
        .collect();
    namespaces.sort();
    namespaces.dedup();
    match &namespaces[..] {
        [only] => only.clone(),
        _ => "default".into(),
    }
}

/// A target for each type in a file.
pub(super) fn everything(file: &FileTransport, filters: &Filters) -> Vec<Target> {
    let target = |found: &FileResource| Target {
        resource: found.resource.clone(),
        namespace: None,
        names: Names::All,
        labels: filters.labels.as_deref().map(Arc::from),
        fields: filters.fields.as_deref().map(Arc::from),
    };
    file.resources().iter().map(target).collect()
}

/// The types in a file, as arguments can name them.
pub(super) fn types(file: &FileTransport) -> Vec<ResourceType> {
    let types = file.resources().iter().map(|found| ResourceType {
        resource: found.resource.clone(),
        singular: found.resource.kind.to_lowercase(),
        short_names: Vec::new(),
        categories: Vec::new(),
        verbs: vec!["list".to_owned(), "watch".to_owned()],
    });
    types.collect()
}
