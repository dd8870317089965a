//! Names the managers behind a version and its changes.

use std::fmt;

use crate::diff::{Change, Diff, Op};
use crate::object::managed_fields::{By, ManagedFieldsEntry, Writers};
use crate::render::text;

/// What the heading of a version shows about its managers, so that the lines need not repeat it.
#[derive(Clone, Copy)]
pub(super) enum Attribution<'w> {
    /// One manager wrote the changes, or no writer is known.
    Writer,
    /// Several managers wrote the changes, and each line names one.
    Writers,
    /// No writer is known, and one manager owns all values that were set.
    Owner(&'w ManagedFieldsEntry<'w>),
}

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
        VersionWriter::Recorded(manager(entry))
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
            VersionWriter::Former(name) => former_text(name),
        }
    }

    /// The same, from the longest form to the shortest: without subresources, then the first name that is not one of a
    /// subresource and the number of the others, then the start of that.
    pub fn shorter_forms(&self, ellipsis: &str) -> [String; 4] {
        let whole = self.short();
        let names: Vec<&str> = whole.split(", ").collect();
        let bare = |name: &&str| name.split(" (").next().unwrap_or_default().to_owned();
        let bares: Vec<String> = names.iter().map(bare).collect();
        let first = names.iter().position(|name| !name.contains(" ("));
        let first = bares[first.unwrap_or_default()].clone();
        let one = match names.len() - 1 {
            0 => first,
            more => format!("{first} +{more}"),
        };
        let cut = text::cut_end(&one, LEAST_NAME, ellipsis).into_owned();
        [whole.clone(), bares.join(", "), one, cut]
    }
}

fn former_text(name: &str) -> String {
    format!("(was {name}'s)")
}

/// The columns to which a writer is cut so that a change fits its line.
const LEAST_NAME: usize = 12;

/// `by kubelet (status)`, `probably by kubelet (status)`
impl fmt::Display for VersionWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VersionWriter::Recorded(names) => write!(f, "by {names}"),
            VersionWriter::Probable(name) => write!(f, "probably by {name}"),
            VersionWriter::Former(name) => f.write_str(&former_text(name)),
        }
    }
}

impl<'w> Attribution<'w> {
    /// Decides what a heading shows about these changes.
    pub(super) fn of(
        diff: &Diff<'w>,
        writers: &'w Writers<'w>,
        changes: &[&Change],
    ) -> Attribution<'w> {
        match writers.actors().count() {
            0 => match owner(diff, writers, changes) {
                Some(owner) => Attribution::Owner(owner),
                None => Attribution::Writer,
            },
            1 => Attribution::Writer,
            _ => Attribution::Writers,
        }
    }

    /// The text for the heading.
    pub(super) fn heading(self, writers: &Writers<'_>) -> Option<VersionWriter> {
        match self {
            Attribution::Owner(owner) => Some(VersionWriter::Probable(manager(owner))),
            Attribution::Writer | Attribution::Writers => writer(writers),
        }
    }

    /// The text for the line of a change.
    pub(super) fn suffix(self, by: By<'_, '_>) -> String {
        let text = match (by, self) {
            (By::Actor(actor), Attribution::Writers) => format!("  by {}", manager(actor)),
            (By::Took { actor, was }, Attribution::Writers) => {
                format!("  by {} {}", manager(actor), former_text(&manager(was)))
            }
            (By::Was(was), Attribution::Owner(owner)) if names(was, owner) => return String::new(),
            (By::Took { was, .. } | By::Was(was), _) => format!("  {}", former_text(&manager(was))),
            (By::Owner(owner), Attribution::Writer | Attribution::Writers) => {
                format!("  probably by {}", manager(owner))
            }
            (By::Actor(_), Attribution::Writer | Attribution::Owner(_))
            | (By::Owner(_), Attribution::Owner(_)) => {
                return String::new();
            }
        };
        text::escaped_line(text.into()).into_owned()
    }
}

/// Names the managers that wrote a version: `by kubelet (status)`. `None` if no writer is known.
pub fn writer(writers: &Writers<'_>) -> Option<VersionWriter> {
    let mut names: Vec<String> = Vec::new();
    // Who writes an object decides more than who reports about it.
    let mut actors: Vec<_> = writers.actors().collect();
    actors.sort_by_key(|actor| !actor.subresource.is_empty());
    for actor in actors {
        let name = manager(actor);
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
    Attribution::of(diff, writers, changes).heading(writers)
}

/// The manager that owns all values that were set, if no writer is known.
fn owner<'w>(
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
    let is_first =
        |owner: Option<&ManagedFieldsEntry<'_>>| owner.is_some_and(|owner| names(owner, first));
    owners.all(is_first).then_some(first)
}

/// Names the manager that owned all of these fields, if nobody knows who removed them.
pub(super) fn former_owner(
    diff: &Diff<'_>,
    writers: &Writers<'_>,
    changes: &[&Change],
) -> Option<VersionWriter> {
    let mut owners = changes.iter().map(|change| match diff.by(writers, change) {
        Some(By::Was(owner)) => Some(owner),
        Some(By::Actor(_) | By::Took { .. } | By::Owner(_)) | None => None,
    });
    let first = owners.next()??;
    let is_first =
        |owner: Option<&ManagedFieldsEntry<'_>>| owner.is_some_and(|owner| names(owner, first));
    owners
        .all(is_first)
        .then(|| VersionWriter::Former(manager(first)))
}

fn names(a: &ManagedFieldsEntry<'_>, b: &ManagedFieldsEntry<'_>) -> bool {
    (&a.manager, &a.subresource) == (&b.manager, &b.subresource)
}

/// The name of a manager, with its subresource if it wrote through one.
fn manager(entry: &ManagedFieldsEntry<'_>) -> String {
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
