//! `VersionWriter`: the managers behind a version and its changes.

use std::fmt;

use super::{Change, Diff, Op};
use crate::object::managed_fields::{By, ManagedFieldsEntry, Writers};

/// The managers behind a version. Their names are not escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VersionWriter {
    /// The managers that the server recorded: `a, b (status)`.
    Recorded(String),
    /// No entry shows the writer. This manager owns all values that were set.
    Probable(String),
    /// No entry shows the writer. This manager owned all fields that were removed.
    Former(String),
}

impl VersionWriter {
    /// The manager of an entry, which wrote the version.
    pub fn recorded(entry: &ManagedFieldsEntry<'_>) -> VersionWriter {
        VersionWriter::Recorded(manager_name(entry))
    }

    /// The same manager, if no entry shows that it wrote the version.
    #[must_use]
    pub fn probably(&self) -> VersionWriter {
        VersionWriter::Probable(self.bare().to_owned())
    }

    /// The same manager, if it only owned the fields that were removed.
    #[must_use]
    pub fn former(&self) -> VersionWriter {
        VersionWriter::Former(self.bare().to_owned())
    }

    /// The names alone.
    pub fn bare(&self) -> &str {
        match self {
            VersionWriter::Recorded(names)
            | VersionWriter::Probable(names)
            | VersionWriter::Former(names) => names,
        }
    }

    /// Without a preposition: `kubelet (status)`, `probably kubelet (status)`.
    pub fn short(&self) -> String {
        match self {
            VersionWriter::Recorded(names) => names.clone(),
            VersionWriter::Probable(name) => format!("probably {name}"),
            VersionWriter::Former(_) => self.to_string(),
        }
    }
}

/// `by kubelet (status)`, `probably by kubelet (status)`
impl fmt::Display for VersionWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VersionWriter::Recorded(names) => write!(f, "by {names}"),
            VersionWriter::Probable(name) => write!(f, "probably by {name}"),
            VersionWriter::Former(name) => write!(f, "(was {name}'s)"),
        }
    }
}

/// Names the managers that wrote a version: `by kubelet (status)`. `None` if no writer is known.
pub fn writer(writers: &Writers<'_>) -> Option<VersionWriter> {
    let mut names: Vec<String> = Vec::new();
    // Who writes an object decides more than who reports about it.
    let mut actors: Vec<_> = writers.actors().collect();
    actors.sort_by_key(|actor| !actor.subresource.is_empty());
    for actor in actors {
        let name = manager_name(actor);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| VersionWriter::Recorded(names.join(", ")))
}

/// Names the managers that wrote these changes. If no writer is known, names the owner of all changed fields.
pub fn writer_of(
    diff: &Diff<'_>,
    writers: &Writers<'_>,
    changes: &[&Change],
) -> Option<VersionWriter> {
    if writers.actors().next().is_some() {
        return writer(writers);
    }
    let owner = probable_owner(diff, writers, changes)?;
    Some(VersionWriter::Probable(manager_name(owner)))
}

/// The manager that owns all values that were set, if no writer is known.
pub fn probable_owner<'w>(
    diff: &Diff<'w>,
    writers: &'w Writers<'w>,
    changes: &[&Change],
) -> Option<&'w ManagedFieldsEntry<'w>> {
    let set = changes.iter().filter(|change| change.op != Op::Remove);
    let mut owners = set.map(|change| match diff.by(writers, change) {
        Some(By::Owner(owner)) => Some(owner),
        Some(By::Actor(_) | By::Took { .. } | By::Was(_)) | None => None,
    });
    let first = owners.next()??;
    let is_first = |owner: Option<&ManagedFieldsEntry<'_>>| {
        owner.is_some_and(|owner| is_same_manager(owner, first))
    };
    owners.all(is_first).then_some(first)
}

/// Names the manager that owned all of these fields, if nobody knows who removed them.
pub fn former_owner(
    diff: &Diff<'_>,
    writers: &Writers<'_>,
    changes: &[&Change],
) -> Option<VersionWriter> {
    let mut owners = changes.iter().map(|change| match diff.by(writers, change) {
        Some(By::Was(owner)) => Some(owner),
        Some(By::Actor(_) | By::Took { .. } | By::Owner(_)) | None => None,
    });
    let first = owners.next()??;
    let is_first = |owner: Option<&ManagedFieldsEntry<'_>>| {
        owner.is_some_and(|owner| is_same_manager(owner, first))
    };
    owners
        .all(is_first)
        .then(|| VersionWriter::Former(manager_name(first)))
}

/// Whether two entries are of one manager and of the same subresource.
pub fn is_same_manager(a: &ManagedFieldsEntry<'_>, b: &ManagedFieldsEntry<'_>) -> bool {
    (&a.manager, &a.subresource) == (&b.manager, &b.subresource)
}

/// The name of a manager, with its subresource if it wrote through one.
pub fn manager_name(entry: &ManagedFieldsEntry<'_>) -> String {
    let name = match &*entry.manager {
        // kube-apiserver gives this name to clients that do not name themselves. The quotes show that the
        // word is not ours.
        "unknown" => "\"unknown\"",
        name => name,
    };
    match &*entry.subresource {
        "" => name.to_owned(),
        subresource => format!("{name} ({subresource})"),
    }
}
