//! The heading of a version: the time, the event, the object, its resourceVersions and the managers.

use jiff::SignedDuration;
use serde::Serialize;

use super::view::ChangeCounts;
use crate::object::{ObjectRef, ResourceVersion};
use crate::render::age;
use crate::render::count::plural;
use crate::render::style::{Look, Role};
use crate::render::text::Text;

/// The parts of a heading.
#[derive(Clone, Copy, Debug)]
pub struct Header<'h> {
    /// The time as text: `15:10:00`, or `between 17:40 and 17:41`.
    pub time: &'h str,
    /// The event.
    pub change: ChangeType,
    /// The object.
    pub object: &'h ObjectRef,
    /// The resourceVersion of the version before.
    pub from: Option<&'h ResourceVersion>,
    /// The resourceVersion of this version.
    pub to: Option<&'h ResourceVersion>,
    /// The span since the version before.
    pub since: Option<SignedDuration>,
    /// The age of a past version: `5m ago`.
    pub ago: Option<&'h str>,
    /// Notes: `versions may be missing`.
    pub notes: &'h [String],
    /// The managers, as [`ShownChanges::who`](super::ShownChanges::who) names them.
    pub who: Option<&'h str>,
    /// The number of changes.
    pub counts: Option<&'h ChangeCounts>,
}

/// The heading of a version. If it is wider than the terminal, it is shortened in steps. First it drops the
/// span since the version before, then the age (the time contains both), then the resourceVersions, the
/// number of hidden changes, and the number of changes. If none of these helps, the middle of the name is cut, down to a third of
/// the width. At last, the line is cut at its end.
pub fn header(header: &Header<'_>, look: Look) -> Text {
    let fits = |line: &Text| look.width.is_none_or(|columns| line.width() <= columns);
    let since = None;
    let no_span = Header { since, ..*header };
    let ago = None;
    let timed = Header { ago, ..no_span };
    let (from, to) = (None, None);
    let unversioned = Header { from, to, ..timed };
    let shown = header.counts.map(|counts| ChangeCounts {
        shown: counts.shown,
        ..ChangeCounts::default()
    });
    let counts = shown.as_ref();
    let least = Header {
        counts,
        ..unversioned
    };
    let counts = None;
    let uncounted = Header { counts, ..least };
    let steps = [header, &no_span, &timed, &unversioned, &least, &uncounted];
    let name = || Text::new(Role::Name, header.object.to_string());
    let line = |step: &Header<'_>, name: Text| line(step, name, look.symbols.arrow);
    let cut = |step: &Header<'_>| {
        let others = line(step, Text::default()).width();
        line(step, name().fit_name(others, look))
    };
    let whole = steps.into_iter().map(|step| line(step, name()));
    let mut lines = whole.chain(steps.into_iter().map(cut));
    lines
        .find(fits)
        .unwrap_or_else(|| cut(&uncounted).fit_to(look))
}

fn line(header: &Header<'_>, name: Text, arrow: &str) -> Text {
    let mut line = Text::dim(header.time)
        + " "
        + Text::new(header.change.role(), header.change.word())
        + " "
        + name;
    let versions = match (header.from, header.to) {
        (Some(from), Some(to)) => Some(format!("{from}{arrow}{to}")),
        (Some(one), None) | (None, Some(one)) => Some(one.to_string()),
        (None, None) => None,
    };
    let counts = header.counts.map(counts);
    let dim = |part: Option<String>| part.map(|part| (Role::Dim, part));
    let ago = header.ago.map(str::to_owned);
    let parts = [dim(versions), dim(header.since.map(age::delta)), dim(ago)]
        .into_iter()
        .chain(header.notes.iter().map(|note| dim(Some(note.clone()))))
        .chain([
            header.who.map(|who| (Role::Plain, who.to_owned())),
            dim(counts),
        ]);
    for (role, part) in parts.flatten().filter(|part| !part.1.is_empty()) {
        line.push(Role::Plain, "  ");
        line.push(role, part);
    }
    line
}

/// The number of changes as text: `3 changes, 3 hidden`
fn counts(counts: &ChangeCounts) -> String {
    let shown = plural(counts.shown, "change");
    match counts.hidden() {
        0 => shown,
        hidden => format!("{shown}, {hidden} hidden"),
    }
}

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeType {
    /// The object existed when the watch began.
    Baseline,
    /// The object was created.
    Created,
    /// The object was changed.
    Modified,
    /// The object was deleted.
    Deleted,
    /// Another object with the same name replaced it.
    Recreated,
    /// The object matches the selector now. It was created, or it existed and has started to match.
    Joined,
    /// The object no longer matches the selector.
    Left,
}

impl ChangeType {
    /// The word that text views print.
    pub fn word(self) -> &'static str {
        match self {
            ChangeType::Baseline => "EXISTING",
            ChangeType::Created => "CREATED",
            ChangeType::Modified => "MODIFIED",
            ChangeType::Deleted => "DELETED",
            ChangeType::Recreated => "RECREATED",
            ChangeType::Joined => "JOINED",
            ChangeType::Left => "LEFT",
        }
    }

    /// Whether the object is new.
    pub fn is_creation(self) -> bool {
        matches!(self, ChangeType::Created | ChangeType::Recreated)
    }

    /// The role of the word.
    pub fn role(self) -> Role {
        match self {
            ChangeType::Baseline | ChangeType::Joined | ChangeType::Left => Role::Dim,
            ChangeType::Created | ChangeType::Recreated => Role::Added,
            ChangeType::Modified => Role::Changed,
            ChangeType::Deleted => Role::Removed,
        }
    }
}
