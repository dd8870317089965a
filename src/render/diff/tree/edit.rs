//! Values of a tree that have changed: new, gone, or with another value.

use crate::diff::text::{Hunk, Tag, TextDiff};
use crate::diff::{Change, Content, Fmt, Noise, Op, Shown};
use crate::object::path::Side;
use crate::render::age;
use crate::render::text::escape_line;

use super::super::Fold;
use super::super::embedded::MOST_LINES;
use super::super::lines::span;
use super::super::value::{plural, thousands};
use super::build::{Builder, Spot};
use super::row::{Body, Mark, Row, Sort};
use super::{Extent, text};

impl<'b> Builder<'b> {
    /// A value that is new, gone, or another.
    pub(super) fn edit(&mut self, change: &Change, spot: Spot) {
        let tells = [change.at];
        let old = self.painter.shown(change.at, Side::Old);
        let new = self.painter.shown(change.at, Side::New);
        match (change.op, old, new) {
            (Op::Add, _, Some(new)) => self.whole(new, (Mark::Add, &tells), spot),
            (Op::Remove, Some(old), _) => self.whole(old, (Mark::Remove, &tells), spot),
            (Op::Replace, Some(old), Some(new)) => self.replaced(change, (old, new), spot),
            (Op::Add | Op::Remove | Op::Replace | Op::Move { .. }, _, _) => {}
        }
    }

    fn replaced(&mut self, change: &Change, (old, new): (Shown<'b>, Shown<'b>), spot: Spot) {
        let tells = [change.at];
        let nested = [old, new]
            .into_iter()
            .any(|side| Builder::brackets(side).is_some());
        if self.extent == Extent::Whole && nested {
            let before = Spot {
                lead: spot.lead.clone(),
                comma: ",",
                end: String::new(),
                ..spot
            };
            self.whole(old, (Mark::Remove, &tells), before);
            return self.whole(new, (Mark::Add, &tells), spot);
        }
        let row = Row {
            mark: match change.noise {
                Some(Noise::Equivalent) => Mark::Equal,
                _ => Mark::Change,
            },
            tells: tells.to_vec(),
            indent: spot.indent,
            head: spot.lead,
            tail: spot.comma.to_owned(),
            end: spot.end,
            ..Row::default()
        };
        if let Some(hunks) = self.hunks(change, (old, new)) {
            return self.text(row, &hunks);
        }
        if let Some(embedded) = self.embedded(change, (old, new)) {
            return self.json(row, (change.at, &embedded));
        }
        self.rows.push(Row {
            body: Body::Pair(text(old), text(new)),
            note: later(change.fmt, old, new).unwrap_or_default(),
            ..row
        });
    }

    /// The changed lines of a text of several lines.
    fn hunks(&self, change: &Change, (old, new): (Shown<'b>, Shown<'b>)) -> Option<Vec<Hunk>> {
        let is_text = match change.fmt {
            Fmt::Text => true,
            Fmt::Secret => matches!(old.content(), Content::Text(text) if text.contains('\n')),
            Fmt::Plain | Fmt::Quantity | Fmt::Time | Fmt::Json => false,
        };
        if self.extent == Extent::Whole || !is_text {
            return None;
        }
        match old.changed_lines(new)? {
            TextDiff::Endings { .. } => None,
            TextDiff::Hunks(hunks) => Some(hunks),
        }
    }

    /// A text: how many lines have changed, and which.
    fn text(&mut self, first: Row, hunks: &[Hunk]) {
        let count = |tag| {
            let lines = hunks.iter().flat_map(|hunk| &hunk.lines);
            thousands(lines.filter(|line| line.tag == tag).count())
        };
        let (indent, tells) = (first.indent + 2, first.tells.clone());
        let said = format!("+{} -{} lines", count(Tag::Added), count(Tag::Removed));
        self.rows.push(Row {
            note: said,
            ..first
        });
        let look = self.painter.view.look;
        let most = match (look.width, self.painter.view.fold) {
            (Some(_), Fold::Many) => MOST_LINES,
            (None, _) | (_, Fold::Never) => usize::MAX,
        };
        let lines: Vec<Row> = hunks.iter().flat_map(hunk_rows).collect();
        let rest = lines.len().saturating_sub(most);
        for line in lines.into_iter().take(most) {
            let told = line.mark != Mark::None;
            self.rows.push(Row {
                indent,
                tells: if told { tells.clone() } else { Vec::new() },
                ..line
            });
        }
        if rest > 0 {
            self.rows.push(Row {
                sort: Sort::Text,
                indent,
                note: format!("{} {}", look.symbols.ellipsis, plural(rest, "more line")),
                ..Row::default()
            });
        }
    }
}

fn hunk_rows(hunk: &Hunk) -> Vec<Row> {
    let place = Row {
        sort: Sort::Text,
        note: format!("@@ {} @@", hunk.start),
        ..Row::default()
    };
    let lines = hunk.lines.iter().map(|line| Row {
        sort: Sort::Text,
        mark: match line.tag {
            Tag::Context => Mark::None,
            Tag::Removed => Mark::Remove,
            Tag::Added => Mark::Add,
        },
        body: Body::One(escape_line(&line.text).into_owned()),
        end: if line.unended { "  \\ no newline" } else { "" }.to_owned(),
        ..Row::default()
    });
    std::iter::once(place).chain(lines).collect()
}

/// How much later a time is than the one before.
fn later(fmt: Fmt, old: Shown<'_>, new: Shown<'_>) -> Option<String> {
    match (old.content(), new.content()) {
        (Content::Text(old), Content::Text(new)) if fmt == Fmt::Time => {
            Some(format!(" ({})", age::delta(span(&old, &new)?)))
        }
        _ => None,
    }
}
