//! The types, the namespaces and the clock of a `--from` file, and what it does not have.

use std::sync::Arc;

use jiff::Timestamp;

use super::{Session, SessionPlace};
use crate::cluster::{Filters, Names, Target};
use crate::commands::input::newest_of;
use crate::commands::{CommandError, WaitArgs};
use crate::env::Env;
use crate::object::ResourceType;
use crate::object::selector::{FieldSelector, SelectableFields};
use crate::source::SourceKey;
use crate::watch::{FileResource, FileTransport, Mux, Transport};

impl Session {
    /// Starts a file from its beginning, because a source at the end of the file has no more events.
    pub(crate) fn rewind(&mut self, env: &Env) {
        if let SessionPlace::File(file) = &self.place {
            let transport: Arc<dyn Transport> = file.clone();
            self.mux = Mux::new(
                [(self.cluster.clone(), transport)],
                env.clock_ahead(env.ahead.clone()),
            );
        }
    }
}

/// Sets the clock for a file to `now`, or else to the newest time in the file. The clock of a file without times, and of a
/// stream that goes on, stays this machine's.
pub(super) fn set_clock(env: &mut Env, file: &FileTransport, now: Option<Timestamp>) {
    let newest = newest_of(file.times().iter().copied(), env);
    if let Some(now) = now.or(newest) {
        env.now = Arc::new(move || now);
    }
}

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
    let types = file.resources().iter().map(|found| ResourceType {
        resource: found.resource.clone(),
        singular: found.resource.kind.to_lowercase(),
        short_names: Vec::new(),
        categories: Vec::new(),
        verbs: vec!["list".to_owned(), "watch".to_owned()],
        has_status: found.has_status,
    });
    types.collect()
}

impl Session {
    /// Fails if a file is blank, or if one without any object is to be checked: such a check would always pass.
    pub(crate) fn refuse_nothing(&self, wait: &WaitArgs, verb: &str) -> Result<(), CommandError> {
        match &self.place {
            SessionPlace::File(file)
                if file.resources().is_empty() && (wait.decides() || file.is_blank()) =>
            {
                Err(nothing_passed(verb))
            }
            SessionPlace::File(_) | SessionPlace::Cluster(_) => Ok(()),
        }
    }

    /// The file; `None` for a cluster.
    pub(crate) fn file(&self) -> Option<&Arc<FileTransport>> {
        match &self.place {
            SessionPlace::File(file) => Some(file),
            SessionPlace::Cluster(_) => None,
        }
    }

    /// The error for goals about kinds of which a file has no object. What it does not have, it says nothing about.
    pub(crate) fn lacks_kinds(&self, keys: &[&SourceKey]) -> Option<CommandError> {
        let SessionPlace::File(file) = &self.place else {
            return None;
        };
        let lacking = keys.iter().filter(|key| !file.has_kind(&key.resource));
        let path = &self.cluster.0;
        let lines = lacking.map(|key| {
            let resource = key.resource.group_resource();
            format!("error: no {resource} in {path}")
        });
        let lines: Vec<String> = lines.collect();
        (!lines.is_empty()).then(|| CommandError::failed(lines.join("\n")))
    }
}

/// The error of a check without objects, in the words about manifests without objects.
fn nothing_passed(verb: &str) -> CommandError {
    CommandError::failed(format!("error: no objects passed to {verb}"))
        .hint("check the command that writes the input")
}
