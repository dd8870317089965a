//! Who is behind a version and its changes, in words.

use crate::diff::{Change, Diff};
use crate::object::managed_fields::{By, ManagedFieldsEntry, Writers};
use crate::render::text;

/// Who is behind the changes of a version, as its heading says it, so that the lines need not.
#[derive(Clone, Copy)]
pub(super) enum Attribution<'w> {
    /// One manager wrote them, or nobody is known to have.
    Writer,
    /// Several managers wrote them: each line says which.
    Writers,
    /// Nobody is known to have written them, and one manager owns all of them.
    Owner(&'w ManagedFieldsEntry<'w>),
}

impl<'w> Attribution<'w> {
    /// Who is behind these changes.
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

    /// What a heading says.
    pub(super) fn heading(self, writers: &Writers<'_>) -> Option<String> {
        match self {
            Attribution::Owner(owner) => Some(format!("owner {}", manager(owner))),
            Attribution::Writer | Attribution::Writers => writer(writers),
        }
    }

    /// What a line says of who is behind its change.
    pub(super) fn suffix(self, by: By<'_, '_>) -> String {
        let text = match (by, self) {
            (By::Actor(actor), Attribution::Writers) => format!("  by {}", manager(actor)),
            (By::Took { actor, was }, Attribution::Writers) => {
                format!("  by {} (was {}'s)", manager(actor), manager(was))
            }
            (By::Took { was, .. }, _) => format!("  (was {}'s)", manager(was)),
            (By::Owner(owner), Attribution::Writer | Attribution::Writers) => {
                format!("  owner {}", manager(owner))
            }
            (By::Actor(_), Attribution::Writer | Attribution::Owner(_))
            | (By::Owner(_), Attribution::Owner(_)) => {
                return String::new();
            }
        };
        text::escaped_line(text.into()).into_owned()
    }
}

/// Who wrote a version: `by kubelet (status)`; `None` if nobody is known to have.
pub fn writer(writers: &Writers<'_>) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    for actor in writers.actors() {
        let name = manager(actor);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| format!("by {}", names.join(", ")))
}

/// The one who owned all of these before, where nobody is known to have written.
fn owner<'w>(
    diff: &Diff<'w>,
    writers: &'w Writers<'w>,
    changes: &[&Change],
) -> Option<&'w ManagedFieldsEntry<'w>> {
    let mut owners = changes.iter().map(|change| match diff.by(writers, change) {
        Some(By::Owner(owner)) => Some(owner),
        Some(By::Actor(_) | By::Took { .. }) | None => None,
    });
    let first = owners.next()??;
    let is_first =
        |owner: Option<&ManagedFieldsEntry<'_>>| owner.is_some_and(|owner| names(owner, first));
    owners.all(is_first).then_some(first)
}

fn names(a: &ManagedFieldsEntry<'_>, b: &ManagedFieldsEntry<'_>) -> bool {
    (&a.manager, &a.subresource) == (&b.manager, &b.subresource)
}

/// A manager as it is named: with its subresource, if it wrote through one.
fn manager(entry: &ManagedFieldsEntry<'_>) -> String {
    let name = match &*entry.manager {
        // So kube-apiserver calls a client that does not name itself; it is no word of ours.
        "unknown" => "\"unknown\"",
        name => name,
    };
    match &*entry.subresource {
        "" => name.to_owned(),
        subresource => format!("{name} ({subresource})"),
    }
}
