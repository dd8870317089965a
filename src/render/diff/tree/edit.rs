//! Writes changed values of a tree: added, removed, or replaced.

use std::collections::BTreeSet;

use super::build::{Spot, TreeBuilder};
use super::fields::text;
use super::row::{Extent, Marking, RowBody, Sort, TreeRow, compact};
use crate::diff::text::{Hunk, Tag, TextDiff};
use crate::diff::{Change, Content, Embedded, Filter, Fmt, LAST_APPLIED, NodeId, Noise, Op, Shown};
use crate::object::list_keys::ListKeys;
use crate::object::path::Side;
use crate::render::age;
use crate::render::count::plural;
use crate::render::diff::embedded::{MAX_LINES, line_counts, repeats};
use crate::render::diff::lines::{LineMark, Painter, ShownPair, span};
use crate::render::diff::view::{DiffView, Fold};
use crate::render::text::escape_line;

impl<'b> TreeBuilder<'b> {
    /// Writes a value that was added, removed or replaced.
    pub(super) fn edit(&mut self, change: &Change, spot: Spot) {
        let marking = Marking {
            mark: self.painter.mark(change),
            shows: &[change.at],
        };
        let old = self.painter.shown(change.at, Side::Old);
        let new = self.painter.shown(change.at, Side::New);
        match (change.op, old, new) {
            (Op::Add, _, Some(value)) | (Op::Remove, Some(value), _) => {
                self.whole(value, marking, spot);
            }
            (Op::Replace, Some(old), Some(new)) => {
                self.replaced(change, ShownPair { old, new }, spot);
            }
            (Op::Add | Op::Remove | Op::Replace | Op::Move { .. }, _, _) => {}
        }
    }

    fn replaced(&mut self, change: &Change, pair: ShownPair<'b>, spot: Spot) {
        let ShownPair { old, new } = pair;
        let shows = &[change.at];
        let marking = |mark| Marking { mark, shows };
        let nested = [old, new]
            .into_iter()
            .any(|side| TreeBuilder::brackets(side).is_some());
        if self.extent == Extent::Whole && nested {
            let before = Spot {
                lead: spot.lead.clone(),
                comma: ",",
                end: String::new(),
                ..spot
            };
            self.whole(old, marking(LineMark::REMOVED), before);
            return self.whole(new, marking(LineMark::ADDED), spot);
        }
        let row = TreeRow {
            mark: self.painter.mark(change),
            shows: shows.to_vec(),
            indent: spot.indent,
            head: spot.lead,
            tail: spot.comma.to_owned(),
            end: spot.end,
            ..TreeRow::default()
        };
        if let Some(hunks) = self.hunks(change, pair) {
            return self.text(row, &hunks);
        }
        if let Some(embedded) = self.embedded(change, pair) {
            return self.json(row, change.at, &embedded);
        }
        self.rows.push(TreeRow {
            body: RowBody::Pair(text(old), text(new)),
            note: later(change.fmt, old, new).unwrap_or_default(),
            ..row
        });
    }

    /// The changed lines of a multi-line text.
    fn hunks(&self, change: &Change, pair: ShownPair<'b>) -> Option<Vec<Hunk>> {
        let is_text = match change.fmt {
            Fmt::Text => true,
            Fmt::Secret => matches!(pair.old.content(), Content::Text(text) if text.contains('\n')),
            Fmt::Plain | Fmt::Quantity | Fmt::Time | Fmt::Json => false,
        };
        if self.extent == Extent::Whole || !is_text {
            return None;
        }
        match pair.old.changed_lines(pair.new)? {
            TextDiff::Endings { .. } => None,
            TextDiff::Hunks(hunks) => Some(hunks),
        }
    }

    /// Writes a text: the number of changed lines, then those lines.
    fn text(&mut self, first: TreeRow, hunks: &[Hunk]) {
        let (indent, shows) = (first.indent + 2, first.shows.clone());
        self.rows.push(TreeRow {
            note: line_counts(hunks),
            ..first
        });
        let look = self.painter.view.look;
        let most = match (look.width, self.painter.view.fold) {
            (Some(_), Fold::Many) => MAX_LINES,
            (None, _) | (_, Fold::Never) => usize::MAX,
        };
        let lines: Vec<TreeRow> = hunks.iter().flat_map(hunk_rows).collect();
        let rest = lines.len().saturating_sub(most);
        for line in lines.into_iter().take(most) {
            let is_changed = line.mark != LineMark::NONE;
            self.rows.push(TreeRow {
                indent,
                shows: if is_changed {
                    shows.clone()
                } else {
                    Vec::new()
                },
                ..line
            });
        }
        if rest > 0 {
            self.rows.push(TreeRow {
                sort: Sort::Text,
                indent,
                note: format!("{} {}", look.symbols.ellipsis, plural(rest, "more line")),
                ..TreeRow::default()
            });
        }
    }

    /// The JSON that both versions of a changed string contain. `None` if it is not JSON, or if the whole
    /// object is shown.
    pub(super) fn embedded(&self, change: &Change, pair: ShownPair<'b>) -> Option<Embedded> {
        let is_json = change.fmt == Fmt::Json && self.extent == Extent::Changed;
        is_json.then(|| pair.old.embedded(pair.new))?
    }

    /// Writes the changes inside a string: their number, and below it the changes, unless the object has the
    /// same changes.
    pub(super) fn json(&mut self, first: TreeRow, at: NodeId, embedded: &Embedded) {
        let outer = self.painter;
        let is_applied = outer.diff.field(at) == Some(LAST_APPLIED);
        let keys = if is_applied {
            outer.diff.keys()
        } else {
            ListKeys::builtin()
        };
        let inner = embedded.diff(keys);
        let count = plural(inner.changes().len(), "change");
        let is_repeated = is_applied && repeats(outer, &inner);
        let note = match inner.changes() {
            [] => "same JSON, written differently".to_owned(),
            [..] if is_repeated => format!("same {count}"),
            [..] => format!("{count} inside"),
        };
        let (indent, shows) = (first.indent + 2, first.shows.clone());
        self.rows.push(TreeRow { note, ..first });
        if is_repeated {
            return;
        }
        // Filters name paths of the object, so everything inside the string is shown.
        let (filter, noise) = (Filter::default(), BTreeSet::from(Noise::ALL));
        let view = DiffView {
            filter: &filter,
            noise: &noise,
            ..*outer.view
        };
        let painter = Painter::unattributed(&inner, &view);
        let mut builder = TreeBuilder::new(&painter, self.extent);
        builder.object_itself();
        for row in compact(builder.rows) {
            let is_marked = row.mark != LineMark::NONE;
            self.rows.push(TreeRow {
                // No later row may join this one, because the brackets that follow are not part of the
                // string.
                sort: Sort::Text,
                indent: indent + row.indent,
                shows: if is_marked { shows.clone() } else { Vec::new() },
                ..row
            });
        }
    }
}

fn hunk_rows(hunk: &Hunk) -> Vec<TreeRow> {
    let place = TreeRow {
        sort: Sort::Text,
        note: format!("@@ {} @@", hunk.start),
        ..TreeRow::default()
    };
    let lines = hunk.lines.iter().map(|line| TreeRow {
        sort: Sort::Text,
        mark: match line.tag {
            Tag::Context => LineMark::NONE,
            Tag::Removed => LineMark::REMOVED,
            Tag::Added => LineMark::ADDED,
        },
        body: RowBody::One(escape_line(&line.text).into_owned()),
        end: if line.unended { "  \\ no newline" } else { "" }.to_owned(),
        ..TreeRow::default()
    });
    std::iter::once(place).chain(lines).collect()
}

/// By how much a time moved.
fn later(fmt: Fmt, old: Shown<'_>, new: Shown<'_>) -> Option<String> {
    match (old.content(), new.content()) {
        (Content::Text(old), Content::Text(new)) if fmt == Fmt::Time => {
            Some(format!(" ({})", age::delta(span(&old, &new)?)))
        }
        _ => None,
    }
}
