//! Builds the rows of a tree: walks down the object, and writes its values as they are, or as they changed.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::object::{Layer, PartSource, TreeObject, TreePart};
use super::row::{Extent, Marking, RowBody, Sort, TreeRow, compact, json_text};
use crate::diff::text::{Hunk, Tag, TextDiff};
use crate::diff::{Change, Content, Embedded, Filter, Fmt, LAST_APPLIED, NodeId, Noise, Op, Shown};
use crate::object::list_keys::ListKeys;
use crate::object::path::Side;
use crate::render::age;
use crate::render::count::{plural, thousands};
use crate::render::diff::change_line::span;
use crate::render::diff::hunks::{MAX_LINES, line_counts};
use crate::render::diff::lines::repeats;
use crate::render::diff::painter::{LineMark, Painter, ShownPair};
use crate::render::diff::view::{DiffView, Fold, is_move};
use crate::render::style::Role;
use crate::render::text::escape_line;

/// Collects rows while it walks down the object.
pub(super) struct TreeBuilder<'b> {
    pub(super) object: TreeObject<'b>,
    pub(super) rows: Vec<TreeRow>,
}

/// The place at which a value is written. The default is that of the whole object.
#[derive(Default)]
pub(super) struct Spot {
    /// The text before the value: its name, if it is a field.
    pub(super) lead: String,
    pub(super) indent: usize,
    /// A comma, if another value follows.
    pub(super) comma: &'static str,
    /// The note at the end of its first line.
    pub(super) end: String,
    pub(super) layer: Layer,
}

impl<'b> TreeBuilder<'b> {
    pub(super) fn new(painter: &'b Painter<'b>, extent: Extent) -> TreeBuilder<'b> {
        TreeBuilder {
            object: TreeObject::new(painter, extent),
            rows: Vec::new(),
        }
    }

    /// Writes the object.
    pub(super) fn write(&mut self) {
        if self.object.extent == Extent::Whole || self.object.is_busy(NodeId::ROOT) {
            self.value(NodeId::ROOT, Spot::default());
        }
    }

    /// Writes the parts of an object or a list, with the number of omitted parts between them. Unchanged parts have the
    /// mark of the whole.
    fn parts(&mut self, parts: Vec<TreePart<'b>>, indent: usize, marking: Marking<'_>) {
        let count = parts.len();
        let mut omitted = 0;
        for (index, part) in parts.into_iter().enumerate() {
            if !self.object.is_shown(&part.entry) {
                omitted += 1;
                continue;
            }
            self.push_omitted(std::mem::take(&mut omitted), indent);
            let spot = Spot {
                lead: part.lead,
                indent,
                comma: if index + 1 < count { "," } else { "" },
                end: String::new(),
                layer: part.layer,
            };
            match part.entry {
                PartSource::At(at) => self.value(at, spot),
                PartSource::Plain(value) => self.whole(value, marking, spot),
            }
        }
        self.push_omitted(omitted, indent);
    }

    fn push_omitted(&mut self, count: usize, indent: usize) {
        if count > 0 {
            let symbol = self.object.painter.view.look.symbols.omitted;
            self.rows.push(TreeRow {
                sort: Sort::Omitted,
                indent,
                head: format!("{symbol} {}", thousands(count)),
                ..TreeRow::default()
            });
        }
    }

    /// Writes a value that has a node in the diff.
    fn value(&mut self, at: NodeId, mut spot: Spot) {
        let changes = self.object.changes(at).to_vec();
        let arrow = self.object.painter.view.look.symbols.arrow;
        for change in &changes {
            if let Op::Move { from, to } = change.op {
                let places = format!("  {from} {arrow} {to}");
                spot.end.push_str(&places);
            }
            spot.end.push_str(&self.object.painter.suffix(change));
        }
        let edit = changes.iter().find(|change| !is_move(change));
        match (edit, self.object.painter.shown(at, Side::New)) {
            (Some(change), _) => self.edit(change, spot),
            (None, Some(new)) => self.inside(at, new, spot),
            (None, None) => {}
        }
    }

    /// Writes a value that was moved or has changes inside, but was not replaced.
    fn inside(&mut self, at: NodeId, new: Shown<'b>, mut spot: Spot) {
        let mut shows = Vec::new();
        let moved = self.object.reordered(at);
        if !moved.is_empty() {
            let (count, total) = (thousands(moved.len()), thousands(new.items().count()));
            let count = format!("  {count} of {total} items moved");
            spot.end.push_str(&count);
            shows.extend(moved);
        }
        if !self.object.changes(at).is_empty() {
            shows.push(at);
        }
        let mark = match shows[..] {
            [] => LineMark::NONE,
            [..] => LineMark::new(Role::Moved, self.object.painter.view.look.symbols.moved),
        };
        let marking = Marking {
            mark,
            shows: &shows,
        };
        match new.content() {
            Content::Object if self.object.is_busy(at) => {
                let closing = self.open("{", marking, spot);
                self.object_rest(at, new, &closing);
            }
            Content::Array if self.object.is_busy(at) => {
                let closing = self.open("[", marking, spot);
                let parts = self.object.items(at, new);
                self.parts(parts, closing.indent + 2, Marking::NONE);
                self.close("]", Marking::NONE, &closing);
            }
            _ => self.whole(new, marking, spot),
        }
    }

    /// Opens an object or a list; returns the place of its closing bracket.
    fn open(&mut self, bracket: &str, marking: Marking<'_>, mut spot: Spot) -> Spot {
        self.rows.push(TreeRow {
            mark: marking.mark,
            shows: marking.shows.to_vec(),
            sort: Sort::Open,
            indent: spot.indent,
            head: format!("{}{bracket}", spot.lead),
            end: std::mem::take(&mut spot.end),
            ..TreeRow::default()
        });
        spot
    }

    fn close(&mut self, bracket: &str, marking: Marking<'_>, spot: &Spot) {
        self.rows.push(TreeRow {
            mark: marking.mark,
            shows: marking.shows.to_vec(),
            sort: Sort::Close,
            indent: spot.indent,
            head: bracket.to_owned(),
            tail: spot.comma.to_owned(),
            ..TreeRow::default()
        });
    }

    /// Writes the rest of an object that both versions have, or whose old version does not count, up to its closing
    /// bracket.
    fn object_rest(&mut self, at: NodeId, new: Shown<'b>, closing: &Spot) {
        let mut parts = self.object.fields(at, new, closing.layer);
        let context = self.object.context(at, new, &mut parts);
        let indent = closing.indent + 2;
        if !context.is_empty() {
            self.rows.push(TreeRow {
                indent,
                head: context.join(", "),
                tail: if parts.is_empty() { "" } else { "," }.to_owned(),
                ..TreeRow::default()
            });
        }
        self.parts(parts, indent, Marking::NONE);
        self.close("}", Marking::NONE, closing);
    }

    /// Writes a value with the same mark on each of its lines.
    pub(super) fn whole(&mut self, value: Shown<'b>, marking: Marking<'_>, spot: Spot) {
        let brackets = match self.object.extent {
            Extent::Whole => brackets(value),
            Extent::Changed => None,
        };
        let Some((open, close)) = brackets else {
            return self.rows.push(TreeRow {
                mark: marking.mark,
                shows: marking.shows.to_vec(),
                indent: spot.indent,
                head: spot.lead,
                body: RowBody::One(json_text(value)),
                tail: spot.comma.to_owned(),
                end: spot.end,
                ..TreeRow::default()
            });
        };
        let parts = match open {
            "{" => {
                let fields = self.object.projection.fields(value);
                let plain = |(name, value): (Cow<'b, str>, _)| {
                    (name.into_owned(), PartSource::Plain(value))
                };
                self.object.sorted(spot.layer, fields.map(plain))
            }
            _ => self
                .object
                .projection
                .items(value)
                .map(TreePart::item)
                .collect(),
        };
        let closing = self.open(open, marking, spot);
        self.parts(parts, closing.indent + 2, marking);
        self.close(close, marking, &closing);
    }

    /// Writes a value that was added, removed or replaced.
    fn edit(&mut self, change: &Change, spot: Spot) {
        let marking = Marking {
            mark: self.object.painter.mark(change),
            shows: &[change.at],
        };
        let old = self.object.painter.shown(change.at, Side::Old);
        let new = self.object.painter.shown(change.at, Side::New);
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
        let nested = [old, new].into_iter().any(|side| brackets(side).is_some());
        if self.object.extent == Extent::Whole && nested {
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
            mark: self.object.painter.mark(change),
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
            body: RowBody::Pair(json_text(old), json_text(new)),
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
        if self.object.extent == Extent::Whole || !is_text {
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
        let look = self.object.painter.view.look;
        let most = match (look.width, self.object.painter.view.fold) {
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
    fn embedded(&self, change: &Change, pair: ShownPair<'b>) -> Option<Embedded> {
        let is_json = change.fmt == Fmt::Json && self.object.extent == Extent::Changed;
        is_json.then(|| pair.old.embedded(pair.new))?
    }

    /// Writes the changes inside a string: their number, and below it the changes, unless the object has the
    /// same changes.
    fn json(&mut self, first: TreeRow, at: NodeId, embedded: &Embedded) {
        let outer = self.object.painter;
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
        let mut builder = TreeBuilder::new(&painter, self.object.extent);
        builder.write();
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

/// The brackets of an object or a list that is not empty.
fn brackets(value: Shown<'_>) -> Option<(&'static str, &'static str)> {
    match value.content() {
        Content::Object => value.fields().next().map(|_| ("{", "}")),
        Content::Array => value.items().next().map(|_| ("[", "]")),
        _ => None,
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
