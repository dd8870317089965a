//! Builds the rows of a tree from a diff.

use rustc_hash::{FxHashMap, FxHashSet};

use super::row::{Extent, Marking, Sort, TreeRow};
use crate::diff::{Change, Content, NodeId, Op, Projection, Shown};
use crate::object::path::Side;
use crate::render::count::thousands;
use crate::render::diff::lines::{LineMark, Painter};
use crate::render::diff::view::{Fold, MOVES, is_move};
use crate::render::style::Role;

/// Collects rows while it walks down the object.
pub(super) struct TreeBuilder<'b> {
    pub(super) painter: &'b Painter<'b>,
    pub(super) extent: Extent,
    pub(super) rows: Vec<TreeRow>,
    children: FxHashMap<NodeId, Vec<NodeId>>,
    /// The shown changes, by value, without moves in reordered lists.
    changes_at: FxHashMap<NodeId, Vec<Change>>,
    /// Reordered lists, and their moved items.
    reordered: FxHashMap<NodeId, Vec<NodeId>>,
    moved: FxHashSet<NodeId>,
    /// Values with a shown change in or at them.
    busy: FxHashSet<NodeId>,
    /// The parts of the object that the filter selects.
    pub(super) projection: Projection<'b>,
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

/// The depth of a value in the object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Layer {
    #[default]
    Root,
    Metadata,
    Deeper,
}

/// A field or an item, before it is written.
pub(super) struct TreePart<'b> {
    pub(super) name: String,
    pub(super) lead: String,
    pub(super) entry: PartSource<'b>,
    pub(super) layer: Layer,
}

/// The content of a field or an item.
#[derive(Clone, Copy)]
pub(super) enum PartSource<'b> {
    /// A value with a node in the diff.
    At(NodeId),
    /// A value that is the same in both versions.
    Plain(Shown<'b>),
}

impl Layer {
    pub(super) fn below(self, name: &str) -> Layer {
        match (self, name) {
            (Layer::Root, "metadata") => Layer::Metadata,
            (Layer::Root | Layer::Metadata | Layer::Deeper, _) => Layer::Deeper,
        }
    }
}

impl<'b> TreePart<'b> {
    /// A part without a name: an item.
    pub(super) fn of(entry: PartSource<'b>) -> TreePart<'b> {
        TreePart {
            name: String::new(),
            lead: String::new(),
            entry,
            layer: Layer::Deeper,
        }
    }

    pub(super) fn item(value: Shown<'b>) -> TreePart<'b> {
        TreePart::of(PartSource::Plain(value))
    }
}

impl<'b> TreeBuilder<'b> {
    pub(super) fn new(painter: &'b Painter<'b>, extent: Extent) -> TreeBuilder<'b> {
        let diff = painter.diff;
        let mut builder = TreeBuilder {
            painter,
            extent,
            rows: Vec::new(),
            children: FxHashMap::default(),
            changes_at: FxHashMap::default(),
            reordered: FxHashMap::default(),
            moved: FxHashSet::default(),
            busy: FxHashSet::default(),
            projection: Projection::default(),
        };
        for at in diff.values() {
            let siblings = builder.children.entry(diff.parent(at)).or_default();
            siblings.push(at);
        }
        let moves = diff.changes().iter().filter(|change| is_move(change));
        builder.moved.extend(moves.clone().map(|change| change.at));
        if extent == Extent::Changed && painter.view.fold == Fold::Many {
            for change in moves.filter(|change| painter.view.shows(diff, change)) {
                let list = diff.parent(change.at);
                builder.reordered.entry(list).or_default().push(change.at);
            }
            builder.reordered.retain(|_, moved| moved.len() > MOVES);
        }
        for change in diff.changes() {
            builder.note(change);
        }
        builder
    }

    fn note(&mut self, change: &Change) {
        let diff = self.painter.diff;
        if !self.painter.view.shows(diff, change) {
            return;
        }
        let list = diff.parent(change.at);
        let at = if is_move(change) && self.reordered.contains_key(&list) {
            list
        } else {
            self.changes_at.entry(change.at).or_default().push(*change);
            change.at
        };
        self.busy.extend(diff.chain(at));
        self.busy.insert(NodeId::ROOT);
    }

    /// Writes the object.
    pub(super) fn object_itself(&mut self) {
        if self.extent == Extent::Whole || self.is_busy(NodeId::ROOT) {
            self.value(NodeId::ROOT, Spot::default());
        }
    }

    pub(super) fn children(&self, at: NodeId) -> &[NodeId] {
        self.children.get(&at).map_or(&[], Vec::as_slice)
    }

    pub(super) fn is_busy(&self, at: NodeId) -> bool {
        self.busy.contains(&at)
    }

    pub(super) fn has_moved(&self, at: NodeId) -> bool {
        self.moved.contains(&at)
    }

    /// Whether a part is written; other parts are counted.
    pub(super) fn is_shown(&self, entry: &PartSource<'_>) -> bool {
        self.extent == Extent::Whole || matches!(entry, PartSource::At(at) if self.is_busy(*at))
    }

    /// The brackets of an object or a list that is not empty.
    pub(super) fn brackets(value: Shown<'_>) -> Option<(&'static str, &'static str)> {
        match value.content() {
            Content::Object => value.fields().next().map(|_| ("{", "}")),
            Content::Array => value.items().next().map(|_| ("[", "]")),
            _ => None,
        }
    }

    /// Writes the parts of an object or a list, with the number of omitted parts between them. Unchanged parts have the
    /// mark of the whole.
    pub(super) fn parts(&mut self, parts: Vec<TreePart<'b>>, indent: usize, marking: Marking<'_>) {
        let count = parts.len();
        let mut omitted = 0;
        for (index, part) in parts.into_iter().enumerate() {
            if !self.is_shown(&part.entry) {
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
            let symbol = self.painter.view.look.symbols.omitted;
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
        let changes = self.changes_at.get(&at).cloned().unwrap_or_default();
        let arrow = self.painter.view.look.symbols.arrow;
        for change in &changes {
            if let Op::Move { from, to } = change.op {
                let places = format!("  {from} {arrow} {to}");
                spot.end.push_str(&places);
            }
            spot.end.push_str(&self.painter.suffix(change));
        }
        let edit = changes.iter().find(|change| !is_move(change));
        match (edit, self.painter.shown(at, Side::New)) {
            (Some(change), _) => self.edit(change, spot),
            (None, Some(new)) => self.inside(at, new, spot),
            (None, None) => {}
        }
    }

    /// Writes a value that was moved or has changes inside, but was not replaced.
    fn inside(&mut self, at: NodeId, new: Shown<'b>, mut spot: Spot) {
        let mut shows = Vec::new();
        if let Some(moved) = self.reordered.get(&at) {
            let (count, total) = (thousands(moved.len()), thousands(new.items().count()));
            let count = format!("  {count} of {total} items moved");
            spot.end.push_str(&count);
            shows.extend(moved);
        }
        if self.changes_at.contains_key(&at) {
            shows.push(at);
        }
        let mark = match shows[..] {
            [] => LineMark::NONE,
            [..] => LineMark::new(Role::Moved, self.painter.view.look.symbols.moved),
        };
        let marking = Marking {
            mark,
            shows: &shows,
        };
        match new.content() {
            Content::Object if self.is_busy(at) => {
                let closing = self.open("{", marking, spot);
                self.object(at, new, &closing);
            }
            Content::Array if self.is_busy(at) => {
                let closing = self.open("[", marking, spot);
                self.list(at, new, &closing);
            }
            _ => self.whole(new, marking, spot),
        }
    }

    /// Opens an object or a list; returns the place of its closing bracket.
    pub(super) fn open(&mut self, bracket: &str, marking: Marking<'_>, mut spot: Spot) -> Spot {
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

    pub(super) fn close(&mut self, bracket: &str, marking: Marking<'_>, spot: &Spot) {
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
}
