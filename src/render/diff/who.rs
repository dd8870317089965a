//! Who is behind a version and its changes, in words.

use crate::diff::{Change, Diff};
use crate::object::managed_fields::{By, ManagedFieldsEntry, Writers};
use crate::render::text;

use super::{View, shown};

/// Who wrote a version: `by kubelet (status)`, or `by a, b (status)`. Where nobody is known to have, whose all is
/// that has changed and is shown: `owner kubelet (status)`. `None` if that is several managers', or nobody's.
pub fn who(diff: &Diff<'_>, writers: &Writers<'_>, view: &View<'_>) -> Option<String> {
    writer(writers).or_else(|| {
        let owner = owner(diff, writers, &shown(diff, view))?;
        Some(format!("owner {}", manager(owner)))
    })
}

/// Who wrote a version, as [`who`] says it; `None` if nobody is known to have.
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
fn owner<'w, 'a>(
    diff: &Diff<'a>,
    writers: &'w Writers<'a>,
    changes: &[&Change],
) -> Option<&'w ManagedFieldsEntry<'a>> {
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

/// What is said above the changes of a version of who is behind them, so that their lines need not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Above {
    /// Who wrote them, if that is known.
    Writer,
    /// Several writers: each line says which.
    Writers,
    /// Whose they all are.
    Owner,
}

impl Above {
    /// What [`who`] says of these changes.
    pub(super) fn of(diff: &Diff<'_>, writers: &Writers<'_>, changes: &[&Change]) -> Above {
        match writers.actors().count() {
            0 if owner(diff, writers, changes).is_some() => Above::Owner,
            0 | 1 => Above::Writer,
            _ => Above::Writers,
        }
    }

    /// What a line says of who is behind its change.
    pub(super) fn leaves(self, by: By<'_, '_>) -> String {
        let text = match (by, self) {
            (By::Actor(actor), Above::Writers) => format!("  by {}", manager(actor)),
            (By::Took { actor, was }, Above::Writers) => {
                format!("  by {} (was {}'s)", manager(actor), manager(was))
            }
            (By::Took { was, .. }, _) => format!("  (was {}'s)", manager(was)),
            (By::Owner(owner), Above::Writer | Above::Writers) => {
                format!("  owner {}", manager(owner))
            }
            (By::Actor(_), Above::Writer | Above::Owner) | (By::Owner(_), Above::Owner) => {
                return String::new();
            }
        };
        text::escaped_line(text.into()).into_owned()
    }
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
