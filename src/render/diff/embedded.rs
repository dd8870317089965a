//! Shows changes inside a value: lines of text, and JSON inside a string.

use std::collections::HashSet;
use std::mem::{Discriminant, discriminant};

use crate::diff::text::{self as compare, Hunk, Tag, TextDiff};
use crate::diff::{
    Change, Content, Diff, Embedded, Fmt, LAST_APPLIED, NodeId, Op, Redactor, Shown,
};
use crate::object::list_keys::ListKeys;
use crate::object::path::Side;
use crate::render::count::{plural, thousands};
use crate::render::style::Role;
use crate::render::text;

use super::excerpt::{ENOUGH, Excerpt, LONG};
use super::fit::Room;
use super::folds;
use super::line::DiffLine;
use super::painter::{Base, Painter, ShownPair};
use super::view::{Fold, rank};

/// The limit of lines of a text on a terminal.
pub(super) const MAX_LINES: usize = 40;

/// A replaced value.
#[derive(Clone, Copy)]
pub(super) struct Replacement<'r> {
    pub(super) change: &'r Change,
    pub(super) base: Base,
    pub(super) pair: ShownPair<'r>,
}

/// The lines for a changed text or for embedded JSON; `None` for other changes.
pub(super) fn lines(
    painter: &Painter<'_>,
    start: &mut DiffLine,
    replacement: Replacement<'_>,
) -> Option<Vec<String>> {
    let Replacement { change, base, pair } = replacement;
    match change.fmt {
        Fmt::Json => {
            let embedded = pair.old.embedded(pair.new)?;
            Some(json(painter, start, replacement, &embedded))
        }
        Fmt::Text => hunks(painter, start, base, pair),
        Fmt::Secret if has_lines(pair.old) || has_lines(pair.new) => {
            hunks(painter, start, base, pair)
        }
        Fmt::Plain | Fmt::Quantity | Fmt::Time | Fmt::Secret => None,
    }
}

/// Whether a value is text of several lines. A Secret's text counts only if the user asked to see it.
fn has_lines(value: Shown<'_>) -> bool {
    matches!(value.content(), Content::Text(text) if text.contains('\n'))
}

/// The columns from which on a change and its title have room on one line.
const WIDE: usize = 100;

fn json(
    painter: &Painter<'_>,
    start: &mut DiffLine,
    replacement: Replacement<'_>,
    embedded: &Embedded,
) -> Vec<String> {
    let Replacement { change, base, .. } = replacement;
    let applied = painter.diff.field(change.at) == Some(LAST_APPLIED);
    let keys = if applied {
        painter.diff.keys()
    } else {
        ListKeys::builtin()
    };
    let inner = embedded.diff(keys);
    let suffix = start.suffix.clone();
    if inner.is_empty() {
        start.push(Role::Plain, ": same JSON, written differently");
        return vec![painter.paint(std::mem::take(start))];
    }
    let indent = " ".repeat(base.indent + 2);
    let title = "last-applied-configuration";
    if applied && repeats(painter, &inner) {
        let count = plural(inner.changes().len(), "change");
        let line = format!("{indent}{title}: same {count}{suffix}");
        return vec![painter.view.look.styles.dim(&line)];
    }
    // On a narrow terminal, a change has no room beside the title.
    let is_wide = painter
        .view
        .look
        .width
        .is_none_or(|columns| columns >= WIDE);
    let is_beside = applied && inner.changes().len() == 1 && is_wide;
    let lead = if is_beside { title.len() } else { 0 } + indent.len() + 2;
    let view = painter.view.narrower(lead);
    let inside = Painter::unattributed(&inner, &view);
    let mut changes: Vec<&Change> = inner.changes().iter().collect();
    changes.sort_by_key(|change| rank(&inner, change.at));
    let mut lines = folds::lines(&inside, &changes);
    if is_beside && lines.len() == 1 {
        let line = format!("{indent}{title}: {}{suffix}", lines.remove(0));
        return vec![line];
    }
    if applied {
        start.clear();
        start.push(Role::Plain, &format!("{indent}{title}"));
    }
    let count = plural(changes.len(), "change");
    start.push(Role::Dim, &format!(": {count} inside"));
    let first = painter.paint(std::mem::take(start));
    let inner_lines = lines.into_iter().map(|line| format!("{indent}  {line}"));
    std::iter::once(first).chain(inner_lines).collect()
}

/// Whether the object has every change inside the string as well.
pub(super) fn repeats(painter: &Painter<'_>, inner: &Diff<'_>) -> bool {
    let redactor = painter.view.redactor;
    let outer = texts(painter.diff, redactor);
    texts(inner, redactor).is_subset(&outer)
}

/// A change in a form that can be compared between the object and a string in it.
#[derive(PartialEq, Eq, Hash)]
struct ChangeText {
    path: String,
    op: Discriminant<Op>,
    old: Option<String>,
    new: Option<String>,
}

fn texts(diff: &Diff<'_>, redactor: &Redactor) -> HashSet<ChangeText> {
    let json = |at: NodeId, side| diff.shown(at, side, redactor).map(Shown::json);
    let changes = diff.changes().iter();
    changes
        .map(|change| ChangeText {
            path: diff.path(change.at).to_string(),
            op: discriminant(&change.op),
            old: json(change.at, Side::Old),
            new: json(change.at, Side::New),
        })
        .collect()
}

fn hunks(
    painter: &Painter<'_>,
    start: &mut DiffLine,
    base: Base,
    pair: ShownPair<'_>,
) -> Option<Vec<String>> {
    let arrow = painter.view.look.symbols.arrow;
    let hunks = match pair.old.changed_lines(pair.new)? {
        TextDiff::Endings { old, new } => {
            start.push(Role::Plain, &format!(": line endings {old} {arrow} {new}"));
            return Some(vec![painter.paint(std::mem::take(start))]);
        }
        TextDiff::Hunks(hunks) => hunks,
    };
    start.push(Role::Plain, &format!("  {}", line_counts(&hunks)));
    let first = painter.paint(std::mem::take(start));
    let mut lines: Vec<String> = hunks
        .iter()
        .flat_map(|hunk| hunk_lines(painter, base, hunk))
        .collect();
    let folds = painter.view.fold == Fold::Many && painter.view.look.width.is_some();
    if folds && lines.len() > MAX_LINES {
        let rest = plural(lines.len() - MAX_LINES, "more line");
        lines.truncate(MAX_LINES);
        let ellipsis = painter.view.look.symbols.ellipsis;
        let indent = " ".repeat(base.indent + 4);
        lines.push(
            painter
                .view
                .look
                .styles
                .dim(&format!("{indent}{ellipsis} {rest}")),
        );
    }
    lines.insert(0, first);
    Some(lines)
}

/// `+2 -1 lines`
pub(super) fn line_counts(hunks: &[Hunk]) -> String {
    let count = |tag| {
        let lines = hunks.iter().flat_map(|hunk| &hunk.lines);
        thousands(lines.filter(|line| line.tag == tag).count())
    };
    format!("+{} -{} lines", count(Tag::Added), count(Tag::Removed))
}

/// The lines of a hunk. Removed lines are paired with the added lines that replaced them, and changed words
/// are emphasised.
fn hunk_lines(painter: &Painter<'_>, base: Base, hunk: &Hunk) -> Vec<String> {
    let styles = painter.view.look.styles;
    let indent = " ".repeat(base.indent + 4);
    let mut out = vec![styles.dim(&format!("{indent}@@ {} @@", hunk.start))];
    let runs = hunk
        .lines
        .chunk_by(|a, b| (a.tag == Tag::Context) == (b.tag == Tag::Context));
    for run in runs {
        let removed: Vec<_> = run.iter().filter(|line| line.tag == Tag::Removed).collect();
        let added: Vec<_> = run.iter().filter(|line| line.tag == Tag::Added).collect();
        let paired = removed.len() == added.len();
        for (index, line) in run.iter().enumerate() {
            let other = match line.tag {
                Tag::Context => None,
                Tag::Removed => added.get(index),
                Tag::Added => removed.get(index.wrapping_sub(removed.len())),
            };
            let other = other.filter(|_| paired).map(|other| &*other.text);
            out.push(text_line(painter, &indent, line, other));
        }
    }
    out
}

fn text_line(
    painter: &Painter<'_>,
    indent: &str,
    line: &compare::HunkLine,
    other: Option<&str>,
) -> String {
    let look = painter.view.look;
    let (role, mark) = match line.tag {
        Tag::Context => (Role::Dim, " "),
        Tag::Removed => (Role::Removed, "-"),
        Tag::Added => (Role::Added, "+"),
    };
    let room = Room::of(look, indent.len() + 2);
    let mut out = format!("{indent}{} ", look.styles.paint(role, mark));
    let long = line.text.len() > LONG && painter.view.fold == Fold::Many;
    let room = Room {
        columns: room.columns.or_else(|| long.then_some(ENOUGH)),
        ..room
    };
    if let Some(other) = other.filter(|_| long)
        && let Some(excerpt) = Excerpt::of(&line.text, other)
    {
        let [own, _] = excerpt.sides(room.columns, look.symbols.ellipsis);
        for (part, text) in own {
            let role = if part == Role::Emphasis { part } else { role };
            out.push_str(&look.styles.paint(role, &text));
        }
        return out;
    }
    let own = text::escape_line(&line.text);
    match other {
        Some(other)
            if room
                .columns
                .is_none_or(|columns| text::width(&own) <= columns) =>
        {
            let other = text::escape_line(other);
            for (part, emphasis) in Room::whole_pair(&own, &other) {
                let role = if emphasis { Role::Emphasis } else { role };
                out.push_str(&look.styles.paint(role, &part));
            }
        }
        Some(_) | None => out.push_str(&look.styles.paint(role, &room.one(&own))),
    }
    if line.unended {
        out.push_str(&look.styles.dim(" \\ no newline"));
    }
    out
}
