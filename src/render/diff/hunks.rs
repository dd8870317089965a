//! Shows changes inside a text: its changed lines, or the changed part of a very long value.

use super::diff_line::DiffLine;
use super::painter::{Base, ENOUGH, LONG, Painter, ShownPair};
use super::value::{Room, Span};
use super::view::Fold;
use crate::diff::Content;
use crate::diff::text::{Hunk, HunkLine, Tag, TextDiff};
use crate::render::count::{plural, thousands};
use crate::render::style::Role;
use crate::render::text::{self, Text};

/// The limit of lines of a text on a terminal.
pub(super) const MAX_LINES: usize = 40;

/// The lines for a changed text; `None` if it has no lines.
pub(super) fn hunks(
    painter: &Painter<'_>,
    start: &mut DiffLine,
    base: Base,
    pair: ShownPair<'_>,
) -> Option<Vec<Text>> {
    let arrow = painter.view.look.symbols.arrow;
    let hunks = match pair.old.changed_lines(pair.new)? {
        TextDiff::Endings { old, new } => {
            start.push(Role::Plain, &format!(": line endings {old} {arrow} {new}"));
            return Some(vec![painter.finish(std::mem::take(start))]);
        }
        TextDiff::Hunks(hunks) => hunks,
    };
    start.push(Role::Plain, &format!("  {}", line_counts(&hunks)));
    let first = painter.finish(std::mem::take(start));
    let mut lines: Vec<Text> = hunks
        .iter()
        .flat_map(|hunk| hunk_lines(painter, base, hunk))
        .collect();
    let folds = painter.view.fold == Fold::Many && painter.view.look.width.is_some();
    if folds && lines.len() > MAX_LINES {
        let rest = plural(lines.len() - MAX_LINES, "more line");
        lines.truncate(MAX_LINES);
        let ellipsis = painter.view.look.symbols.ellipsis;
        let indent = " ".repeat(base.indent + 4);
        lines.push(Text::dim(format!("{indent}{ellipsis} {rest}")));
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
fn hunk_lines(painter: &Painter<'_>, base: Base, hunk: &Hunk) -> Vec<Text> {
    let indent = " ".repeat(base.indent + 4);
    let mut out = vec![Text::dim(format!("{indent}@@ {} @@", hunk.start))];
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

fn text_line(painter: &Painter<'_>, indent: &str, line: &HunkLine, other: Option<&str>) -> Text {
    let look = painter.view.look;
    let (role, mark) = match line.tag {
        Tag::Context => (Role::Dim, " "),
        Tag::Removed => (Role::Removed, "-"),
        Tag::Added => (Role::Added, "+"),
    };
    let room = Room::of(look, indent.len() + 2);
    let mut out = Text::from(indent) + Text::new(role, mark) + " ";
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
            out.push(role, text);
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
                out.push(role, part);
            }
        }
        Some(_) | None => out.push(role, room.one(&own)),
    }
    if line.unended {
        out.push(Role::Dim, " \\ no newline");
    }
    out
}

/// The number of characters shown before and after a change.
const AROUND: usize = 40;

/// The length up to which a change is shown in full. Of a longer one, only its start and its end are shown.
const CORE: usize = 80;

/// The differing parts of two long texts.
pub(super) struct Excerpt<'t> {
    /// The length in bytes of their common start.
    pub(super) offset: usize,
    old: &'t str,
    new: &'t str,
    /// The length in bytes of their common end.
    end: usize,
}

impl<'t> Excerpt<'t> {
    /// Compares two texts; `None` if neither is long.
    pub(super) fn of(old: &'t str, new: &'t str) -> Option<Excerpt<'t>> {
        if old.len().max(new.len()) <= LONG {
            return None;
        }
        let offset = common(old.bytes(), new.bytes());
        let offset = (0..=offset).rev().find(|&at| old.is_char_boundary(at))?;
        let end = common(old[offset..].bytes().rev(), new[offset..].bytes().rev());
        let is_whole = |end: &usize| old.is_char_boundary(old.len() - end);
        let end = (0..=end).rev().find(is_whole)?;
        Some(Excerpt {
            offset,
            old,
            new,
            end,
        })
    }

    /// The changed part of the old text and of the new one, with the text around it, each in at most
    /// `columns`.
    pub(super) fn sides(&self, columns: Option<usize>, ellipsis: &str) -> [Vec<Span>; 2] {
        [self.old, self.new].map(|text| self.side(text, columns, ellipsis))
    }

    fn side(&self, text: &str, columns: Option<usize>, ellipsis: &str) -> Vec<Span> {
        let (from, to) = (self.offset, text.len() - self.end);
        let columns = columns.unwrap_or(CORE + 2 * AROUND).max(CORE / 2);
        let core = text::escape_line(&text[from..to]);
        let core = text::cut_middle(&core, columns.min(CORE), ellipsis);
        let around = (columns.saturating_sub(text::width(&core)) / 2).min(AROUND);
        let start = text[..from].char_indices().rev().take(around).last();
        let start = start.map_or(from, |(at, _)| at);
        let end = text[to..].char_indices().nth(around);
        let end = end.map_or(text.len(), |(at, _)| to + at);
        let cut = |is: bool| if is { ellipsis } else { "" };
        let before = text::escape_line(&text[start..from]);
        let after = text::escape_line(&text[to..end]);
        vec![
            (Role::Plain, format!("{}{before}", cut(start > 0))),
            (Role::Emphasis, core.into_owned()),
            (Role::Plain, format!("{after}{}", cut(end < text.len()))),
        ]
    }
}

/// Appends an excerpt of two texts, with the position of the change, if one of them is very long.
pub(super) fn excerpt(
    painter: &Painter<'_>,
    line: &mut DiffLine,
    pair: ShownPair<'_>,
) -> Option<()> {
    let (Content::Text(old), Content::Text(new)) = (pair.old.content(), pair.new.content()) else {
        return None;
    };
    let excerpt = Excerpt::of(&old, &new).filter(|_| painter.view.fold == Fold::Many)?;
    let (offset, whole) = (thousands(excerpt.offset), thousands(old.len()));
    line.push(Role::Plain, &format!(": at byte {offset} of {whole}  "));
    let look = painter.view.look;
    let room = painter.room(line, 2 + text::width(look.symbols.arrow));
    let half = room.columns.map(|columns| columns / 2);
    let [old, new] = excerpt.sides(half, look.symbols.ellipsis);
    line.extend(&old);
    line.push(Role::Dim, &format!(" {} ", look.symbols.arrow));
    line.extend(&new);
    Some(())
}

/// The length in bytes of the common start.
fn common(old: impl Iterator<Item = u8>, new: impl Iterator<Item = u8>) -> usize {
    old.zip(new).take_while(|(a, b)| a == b).count()
}
