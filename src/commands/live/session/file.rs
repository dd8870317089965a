//! The types, the namespaces and the clock of a `--from` file.

use std::sync::Arc;

use jiff::Timestamp;

use crate::cluster::{Filters, Names, Target};
use crate::commands::input::newest_of;
use crate::commands::{ClusterOrigin, CommandError, FileArgs};
use crate::env::Env;
use crate::object::selector::{FieldSelector, SelectableFields};
use crate::object::{ObjectRef, ResourceType};
use crate::watch::{FileResource, FileTransport};

/// Sets the clock for a file to `now`, or else to the newest time in the file. The clock of a file without times, and of a
/// stream that goes on, stays this machine's.
pub(super) fn set_clock(env: &mut Env, file: &FileTransport, now: Option<Timestamp>) {
    let newest = newest_of(file.times.iter().copied(), env);
    if let Some(now) = now.or(newest) {
        env.now = Arc::new(move || now);
    }
}

/// The only namespace of a file's objects, or `default` if they have none or several.
pub(super) fn only_namespace(file: &FileTransport) -> Arc<str> {
    let objects = file.resources.iter().flat_map(|found| &found.objects);
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

/// Refuses the flags that select several clusters beside `--from`.
pub(super) fn refuse_contexts(origin: &ClusterOrigin, file: &FileArgs) -> Result<(), CommandError> {
    let ClusterOrigin::Kubeconfig(flags) = origin else {
        return Ok(());
    };
    let flag = match &flags.contexts {
        contexts if !contexts.contexts.is_empty() => "--contexts",
        contexts if contexts.all_contexts => "--all-contexts",
        _ => return Ok(()),
    };
    if !file.is_given() {
        return Ok(());
    }
    let error = format!("{flag} and --from cannot be used together");
    Err(CommandError::usage(error))
}

/// A target for each type in a file, of this namespace if there is one. A namespace has no cluster-scoped types.
pub(super) fn everything(
    file: &FileTransport,
    filters: &Filters,
    namespace: Option<&Arc<str>>,
) -> Vec<Target> {
    let target = |found: &FileResource| Target {
        resource: found.resource.clone(),
        namespace: namespace.filter(|_| found.resource.namespaced).cloned(),
        names: Names::All,
        labels: filters.labels.as_deref().map(Arc::from),
        fields: filters.fields.as_deref().map(Arc::from),
    };
    let found = file.resources.iter();
    let found = found.filter(|found| namespace.is_none() || !found.is_cluster_scoped());
    found.map(target).collect()
}

/// Refuses fields that a server does not support in field selectors. Such a selector would select nothing or everything.
pub(super) fn refuse_fields(targets: &[Target]) -> Result<(), CommandError> {
    for target in targets {
        let resource = &target.resource;
        let selector = target.fields.as_deref().map(str::trim).unwrap_or_default();
        let Ok(selector) = selector.parse::<FieldSelector>() else {
            continue;
        };
        let fields = SelectableFields::of(&resource.group, &resource.kind);
        if let Some(field) = fields.unsupported(&selector) {
            let labels: Vec<&str> = fields.labels().collect();
            let error = CommandError::failed(format!("error: field label not supported: {field}"));
            return Err(error.hint(format!(
                "select {} by {}, or by labels with -l",
                resource.group_resource(),
                labels.join(", ")
            )));
        }
    }
    Ok(())
}

/// The types in a file, as arguments can name them.
pub(super) fn types(file: &FileTransport) -> Vec<ResourceType> {
    let types = file.resources.iter().map(|found| ResourceType {
        has_status: found.has_status,
        ..ResourceType::of(found.resource.clone())
    });
    types.collect()
}

pub(super) fn held(file: &FileTransport, target: &Target) -> Vec<ObjectRef> {
    let found = file.resources.iter();
    let found = found.filter(|found| found.resource == target.resource);
    let is_inside = |object: &&ObjectRef| {
        let asked = target.namespace.as_ref();
        let own = object.namespace.as_ref();
        asked.is_none() || own.is_none() || own == asked
    };
    let objects = found.flat_map(|found| found.objects.iter().filter(is_inside));
    objects.cloned().collect()
}
