//! `TreeObject`: the parts of the object that a tree shows, in order. Fields are sorted by name, but the key fields of an item
//! come first. Removed items stand where they were.

use std::collections::HashMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::row::{Extent, json_string, json_text};
use crate::diff::{Change, NodeId, Noise, Projection, Shown};
use crate::object::path::Side;
use crate::render::diff::painter::Painter;
use crate::render::diff::view::{Fold, MOVES, is_move};

/// The object of a tree: which of its parts are shown, and what changed in them.
pub(super) struct TreeObject<'b> {
    pub(super) painter: &'b Painter<'b>,
    pub(super) extent: Extent,
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

impl<'b> TreeObject<'b> {
    pub(super) fn new(painter: &'b Painter<'b>, extent: Extent) -> TreeObject<'b> {
        let diff = painter.diff;
        let mut object = TreeObject {
            painter,
            extent,
            children: FxHashMap::default(),
            changes_at: FxHashMap::default(),
            reordered: FxHashMap::default(),
            moved: FxHashSet::default(),
            busy: FxHashSet::default(),
            projection: Projection::default(),
        };
        for at in diff.values() {
            let siblings = object.children.entry(diff.parent(at)).or_default();
            siblings.push(at);
        }
        let moves = diff.changes().iter().filter(|change| is_move(change));
        object.moved.extend(moves.clone().map(|change| change.at));
        if extent == Extent::Changed && painter.view.fold == Fold::Many {
            for change in moves.filter(|change| painter.view.shows(diff, change)) {
                let list = diff.parent(change.at);
                object.reordered.entry(list).or_default().push(change.at);
            }
            object.reordered.retain(|_, moved| moved.len() > MOVES);
        }
        for change in diff.changes() {
            object.note(change);
        }
        object
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

    /// The shown changes of a value itself.
    pub(super) fn changes(&self, at: NodeId) -> &[Change] {
        self.changes_at.get(&at).map_or(&[], Vec::as_slice)
    }

    /// The moved items of a reordered list; empty for other values.
    pub(super) fn reordered(&self, at: NodeId) -> &[NodeId] {
        self.reordered.get(&at).map_or(&[], Vec::as_slice)
    }

    fn children(&self, at: NodeId) -> &[NodeId] {
        self.children.get(&at).map_or(&[], Vec::as_slice)
    }

    pub(super) fn is_busy(&self, at: NodeId) -> bool {
        self.busy.contains(&at)
    }

    /// Whether a part is written; other parts are counted.
    pub(super) fn is_shown(&self, entry: &PartSource<'_>) -> bool {
        self.extent == Extent::Whole || matches!(entry, PartSource::At(at) if self.is_busy(*at))
    }

    /// The fields of the new version, and the removed fields that are shown.
    pub(super) fn fields(&self, at: NodeId, new: Shown<'b>, layer: Layer) -> Vec<TreePart<'b>> {
        let diff = self.painter.diff;
        let noted: HashMap<&str, NodeId> = self
            .children(at)
            .iter()
            .filter_map(|&child| Some((diff.field(child)?, child)))
            .collect();
        let gone = noted
            .iter()
            .filter(|(_, child)| self.is_gone(**child))
            .map(|(name, child)| ((*name).to_owned(), PartSource::At(*child)));
        let there = new.fields().filter_map(|(name, value)| {
            let entry = match noted.get(&*name) {
                Some(&child) => PartSource::At(child),
                None => PartSource::Plain(value),
            };
            (!self.is_excluded(&entry, value)).then(|| (name.into_owned(), entry))
        });
        self.sorted(layer, there.chain(gone))
    }

    /// The parts of an object, sorted by name, without those that do not belong to the whole object.
    pub(super) fn sorted(
        &self,
        layer: Layer,
        fields: impl Iterator<Item = (String, PartSource<'b>)>,
    ) -> Vec<TreePart<'b>> {
        let fields = fields.filter(|(name, entry)| self.is_worth(layer, name, entry));
        let mut fields: Vec<_> = fields.collect();
        fields.sort_by(|a, b| a.0.cmp(&b.0));
        let part = |(name, entry): (String, PartSource<'b>)| TreePart {
            lead: format!("{}: ", json_string(&name)),
            entry,
            layer: layer.below(&name),
            name,
        };
        fields.into_iter().map(part).collect()
    }

    /// Whether a field belongs to the whole object. `managedFields` does only if this noise is shown.
    fn is_worth(&self, layer: Layer, name: &str, entry: &PartSource<'_>) -> bool {
        layer != Layer::Metadata
            || name != "managedFields"
            || self.extent == Extent::Changed
            || self.painter.view.noise.contains(&Noise::ManagedFields)
            || matches!(entry, PartSource::At(at) if self.is_busy(*at))
    }

    /// Whether a part is omitted: the filter excludes it, and no change in it is shown.
    fn is_excluded(&self, entry: &PartSource<'_>, value: Shown<'_>) -> bool {
        let is_busy = matches!(entry, PartSource::At(at) if self.is_busy(*at));
        !is_busy && self.projection.excludes(value)
    }

    /// The unchanged key fields of an item, which are taken out of `parts`.
    pub(super) fn context(
        &self,
        at: NodeId,
        new: Shown<'b>,
        parts: &mut Vec<TreePart<'b>>,
    ) -> Vec<String> {
        if self.extent == Extent::Whole {
            return Vec::new();
        }
        let mut context = Vec::new();
        for key in self.painter.diff.key_fields(at) {
            let (first, rest) = key.split_once('.').unwrap_or((key, ""));
            let Some(value) = new.get(first) else {
                continue;
            };
            let busy = |part: &TreePart<'_>| part.name == first && self.is_shown(&part.entry);
            if parts.iter().any(busy) {
                continue;
            }
            let inner = rest.split('.').filter(|name| !name.is_empty());
            let found = inner.clone().try_fold(value, Shown::get);
            let Some(found) = found else { continue };
            let opened: Vec<String> = inner
                .clone()
                .map(|name| format!("{{ {}: ", json_string(name)))
                .collect();
            let opened = opened.concat();
            let closed = " }".repeat(inner.count());
            context.push(format!(
                "{}: {opened}{}{closed}",
                json_string(first),
                json_text(found)
            ));
            if rest.is_empty() {
                parts.retain(|part| part.name != first);
            }
        }
        context
    }

    /// Whether a value was removed and the removal is shown.
    fn is_gone(&self, at: NodeId) -> bool {
        let has = |side| self.painter.shown(at, side).is_some();
        !has(Side::New) && has(Side::Old) && self.is_busy(at)
    }

    pub(super) fn items(&self, at: NodeId, new: Shown<'b>) -> Vec<TreePart<'b>> {
        let placed = self.placed(at, new);
        let mut gone = self
            .children(at)
            .iter()
            .filter(|child| self.is_gone(**child))
            .filter_map(|&child| Some((self.painter.diff.place(child)?.old?, child)))
            .peekable();
        // For each item, the old index up to which removed items are written before it.
        let mut until = vec![u32::MAX; placed.len()];
        let mut next = u32::MAX;
        for (end, item) in until.iter_mut().zip(&placed).rev() {
            next = item.stays.unwrap_or(next);
            *end = next;
        }
        let mut parts = Vec::new();
        for (item, end) in placed.into_iter().zip(until) {
            while let Some((_, child)) = gone.next_if(|(old, _)| *old < end) {
                parts.push(TreePart::of(PartSource::At(child)));
            }
            if !self.is_excluded(&item.entry, item.value) {
                parts.push(TreePart::of(item.entry));
            }
        }
        parts.extend(gone.map(|(_, child)| TreePart::of(PartSource::At(child))));
        parts
    }

    /// The items of the new list. Items without a node in the diff are equal and in the same order in both
    /// versions. So the k-th of them is the k-th of the old list.
    fn placed(&self, at: NodeId, new: Shown<'b>) -> Vec<Placed<'b>> {
        let places = self
            .children(at)
            .iter()
            .filter_map(|&child| Some((child, self.painter.diff.place(child)?)));
        let (mut by_new, mut by_old) = (HashMap::new(), HashMap::new());
        for (child, place) in places {
            place.new.map(|index| by_new.insert(index, (child, place)));
            place.old.map(|index| by_old.insert(index, child));
        }
        let old = self.painter.shown(at, Side::Old);
        let length = old.map_or(0, |old| old.items().count());
        let mut same = (0u32..)
            .take(length)
            .filter(|index| !by_old.contains_key(index));
        let items = new.items().zip(0u32..);
        items
            .map(|(item, index)| match by_new.get(&index) {
                Some(&(child, place)) => Placed {
                    entry: PartSource::At(child),
                    value: item,
                    stays: place.old.filter(|_| !self.moved.contains(&child)),
                },
                None => Placed {
                    entry: PartSource::Plain(item),
                    value: item,
                    stays: same.next(),
                },
            })
            .collect()
    }
}

/// An item of the new list.
struct Placed<'b> {
    entry: PartSource<'b>,
    value: Shown<'b>,
    /// Its old index, if it kept its place among the others.
    stays: Option<u32>,
}
