//! Names the managers behind a version in its heading, and behind its changes in their lines.

use crate::diff::{
    Change, Diff, VersionWriter, is_same_manager, manager_name, probable_owner, writer,
};
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

impl<'w> Attribution<'w> {
    /// Decides what a heading shows about these changes.
    pub(super) fn of(
        diff: &Diff<'w>,
        writers: &'w Writers<'w>,
        changes: &[&Change],
    ) -> Attribution<'w> {
        match writers.actors().count() {
            0 => match probable_owner(diff, writers, changes) {
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
            Attribution::Owner(owner) => Some(VersionWriter::Probable(manager_name(owner))),
            Attribution::Writer | Attribution::Writers => writer(writers),
        }
    }

    /// The text for the line of a change.
    pub(super) fn suffix(self, by: By<'_, '_>) -> String {
        let text = match (by, self) {
            (By::Actor(actor), Attribution::Writers) => format!("  by {}", manager_name(actor)),
            (By::Took { actor, was }, Attribution::Writers) => {
                let was = VersionWriter::Former(manager_name(was));
                format!("  by {} {was}", manager_name(actor))
            }
            (By::Was(was), Attribution::Owner(owner)) if is_same_manager(was, owner) => {
                return String::new();
            }
            (By::Took { was, .. } | By::Was(was), _) => {
                format!("  {}", VersionWriter::Former(manager_name(was)))
            }
            (By::Owner(owner), Attribution::Writer | Attribution::Writers) => {
                format!("  probably by {}", manager_name(owner))
            }
            (By::Actor(_), Attribution::Writer | Attribution::Owner(_))
            | (By::Owner(_), Attribution::Owner(_)) => {
                return String::new();
            }
        };
        text::escaped_line(text.into()).into_owned()
    }
}

/// The columns to which a writer is cut so that a change fits its line.
const LEAST_NAME: usize = 12;

/// The text of [`VersionWriter::short`], from the longest form to the shortest. After it come the names without
/// subresources, then the first name that is not one of a subresource and the number of the others, then the start of that.
pub fn shorter_forms(who: &VersionWriter, ellipsis: &str) -> [String; 4] {
    let whole = who.short();
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
