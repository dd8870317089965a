//! Values that hold more than they seem to: lines of text, and JSON inside a string.

use std::collections::BTreeSet;

use crate::diff::text::{self as compare, Hunk, Tag, TextDiff};
use crate::diff::{Change, Content, Diff, Embedded, Fmt, LAST_APPLIED, Op, Redactor, SegId, Shown};
use crate::object::list_keys::ListKeys;
use crate::object::path::Side;
use crate::render::style::Role;
use crate::render::text;

use super::excerpt::{ENOUGH, Excerpt, LONG};
use super::fit::Room;
use super::line::Line;
use super::lines::{Base, Painter};
use super::value::{plural, thousands};
use super::who::Above;
use super::{Fold, folds, rank};

/// How many lines of a text are shown on a terminal.
pub(super) const MOST_LINES: usize = 40;

/// The lines of a change of a text or of embedded JSON; `None` for any other.
pub(super) fn lines(
    painter: &Painter<'_>,
    start: &mut Line,
    (change, base): (&Change, Base),
    (old, new): (Shown<'_>, Shown<'_>),
) -> Option<Vec<String>> {
    match change.fmt {
        Fmt::Json => {
            let embedded = old.embedded(new)?;
            Some(json(painter, start, (change, base), &embedded))
        }
        Fmt::Text => hunks(painter, start, base, (old, new)),
        Fmt::Secret if has_lines(old) || has_lines(new) => hunks(painter, start, base, (old, new)),
        Fmt::Plain | Fmt::Quantity | Fmt::Time | Fmt::Secret => None,
    }
}

/// Whether a value is text of several lines, which of a Secret only those see who ask for it.
fn has_lines(value: Shown<'_>) -> bool {
    matches!(value.content(), Content::Text(text) if text.contains('\n'))
}

fn json(
    painter: &Painter<'_>,
    start: &mut Line,
    (change, base): (&Change, Base),
    embedded: &Embedded,
) -> Vec<String> {
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
    if applied && is_told(painter, &inner) {
        let count = plural(inner.changes().len(), "change");
        let line = format!("{indent}{title}: same {count}{suffix}");
        return vec![painter.view.look.styles.dim(&line)];
    }
    let inside = Painter {
        diff: &inner,
        writers: None,
        view: painter.view,
        above: Above::Writer,
    };
    let mut changes: Vec<&Change> = inner.changes().iter().collect();
    changes.sort_by_key(|change| rank(&inner, change.at));
    let mut lines = folds::lines(&inside, &changes);
    if applied && lines.len() == 1 {
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

/// Whether every change inside is one of the object itself too.
pub(super) fn is_told(painter: &Painter<'_>, inner: &Diff<'_>) -> bool {
    let redactor = painter.view.redactor;
    let outer = told(painter.diff, redactor);
    told(inner, redactor).is_subset(&outer)
}

type Told = BTreeSet<(String, Mark, Option<String>, Option<String>)>;

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    Add,
    Remove,
    Replace,
    Move,
}

fn told(diff: &Diff<'_>, redactor: &Redactor) -> Told {
    let json = |at: SegId, side| diff.shown(at, side, redactor).map(Shown::json);
    diff.changes()
        .iter()
        .map(|change| {
            let mark = match change.op {
                Op::Add => Mark::Add,
                Op::Remove => Mark::Remove,
                Op::Replace => Mark::Replace,
                Op::Move { .. } => Mark::Move,
            };
            let path = diff.path(change.at).to_string();
            (
                path,
                mark,
                json(change.at, Side::Old),
                json(change.at, Side::New),
            )
        })
        .collect()
}

fn hunks(
    painter: &Painter<'_>,
    start: &mut Line,
    base: Base,
    (old, new): (Shown<'_>, Shown<'_>),
) -> Option<Vec<String>> {
    let arrow = painter.view.look.symbols.arrow;
    let hunks = match old.changed_lines(new)? {
        TextDiff::Endings { old, new } => {
            start.push(Role::Plain, &format!(": line endings {old} {arrow} {new}"));
            return Some(vec![painter.paint(std::mem::take(start))]);
        }
        TextDiff::Hunks(hunks) => hunks,
    };
    let count = |tag| {
        let lines = hunks.iter().flat_map(|hunk| &hunk.lines);
        thousands(lines.filter(|line| line.tag == tag).count())
    };
    start.push(
        Role::Plain,
        &format!("  +{} -{} lines", count(Tag::Added), count(Tag::Removed)),
    );
    let first = painter.paint(std::mem::take(start));
    let mut lines: Vec<String> = hunks
        .iter()
        .flat_map(|hunk| hunk_lines(painter, base, hunk))
        .collect();
    let folds = painter.view.fold == Fold::Many && painter.view.look.width.is_some();
    if folds && lines.len() > MOST_LINES {
        let rest = plural(lines.len() - MOST_LINES, "more line");
        lines.truncate(MOST_LINES);
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

/// A hunk: removed lines beside the added ones that took their place, changed words emphasised.
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
    let room = Room {
        columns: look
            .width
            .map(|width| width.saturating_sub(indent.len() + 2)),
        ellipsis: look.symbols.ellipsis,
    };
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
