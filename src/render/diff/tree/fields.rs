//! Writes the objects of a tree. Fields are sorted by name, but the key fields of an item come first.

use std::borrow::Cow;
use std::collections::HashMap;

use super::build::{Layer, PartSource, Spot, TreeBuilder, TreePart};
use super::row::{Extent, Marking, RowBody, TreeRow};
use crate::diff::{Content, NodeId, Noise, Shown};
use crate::object::path::Side;

impl<'b> TreeBuilder<'b> {
    /// Writes the rest of an object that both versions have, or whose old version does not count, up to its closing
    /// bracket.
    pub(super) fn object(&mut self, at: NodeId, new: Shown<'b>, closing: &Spot) {
        let mut parts = self.fields(at, new, closing.layer);
        let context = self.context(at, new, &mut parts);
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

    /// The fields of the new version, and the removed fields that are shown.
    fn fields(&self, at: NodeId, new: Shown<'b>, layer: Layer) -> Vec<TreePart<'b>> {
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
    fn sorted(
        &self,
        layer: Layer,
        fields: impl Iterator<Item = (String, PartSource<'b>)>,
    ) -> Vec<TreePart<'b>> {
        let fields = fields.filter(|(name, entry)| self.is_worth(layer, name, entry));
        let mut fields: Vec<_> = fields.collect();
        fields.sort_by(|a, b| a.0.cmp(&b.0));
        let part = |(name, entry): (String, PartSource<'b>)| TreePart {
            lead: format!("{}: ", string(&name)),
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
    pub(super) fn is_excluded(&self, entry: &PartSource<'_>, value: Shown<'_>) -> bool {
        let is_busy = matches!(entry, PartSource::At(at) if self.is_busy(*at));
        !is_busy && self.projection.excludes(value)
    }

    /// The unchanged key fields of an item, which are taken out of `parts`.
    fn context(&self, at: NodeId, new: Shown<'b>, parts: &mut Vec<TreePart<'b>>) -> Vec<String> {
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
                .map(|name| format!("{{ {}: ", string(name)))
                .collect();
            let opened = opened.concat();
            let closed = " }".repeat(inner.count());
            context.push(format!(
                "{}: {opened}{}{closed}",
                string(first),
                text(found)
            ));
            if rest.is_empty() {
                parts.retain(|part| part.name != first);
            }
        }
        context
    }

    /// Writes a value with the same mark on each of its lines.
    pub(super) fn whole(&mut self, value: Shown<'b>, marking: Marking<'_>, spot: Spot) {
        let brackets = match self.extent {
            Extent::Whole => TreeBuilder::brackets(value),
            Extent::Changed => None,
        };
        let Some((open, close)) = brackets else {
            return self.rows.push(TreeRow {
                mark: marking.mark,
                shows: marking.shows.to_vec(),
                indent: spot.indent,
                head: spot.lead,
                body: RowBody::One(text(value)),
                tail: spot.comma.to_owned(),
                end: spot.end,
                ..TreeRow::default()
            });
        };
        let parts = match open {
            "{" => {
                let fields = self.projection.fields(value);
                let plain = |(name, value): (Cow<'b, str>, _)| {
                    (name.into_owned(), PartSource::Plain(value))
                };
                self.sorted(spot.layer, fields.map(plain))
            }
            _ => self.projection.items(value).map(TreePart::item).collect(),
        };
        let closing = self.open(open, marking, spot);
        self.parts(parts, closing.indent + 2, marking);
        self.close(close, marking, &closing);
    }

    /// Whether a value was removed and the removal is shown.
    pub(super) fn is_gone(&self, at: NodeId) -> bool {
        let has = |side| self.painter.shown(at, side).is_some();
        !has(Side::New) && has(Side::Old) && self.is_busy(at)
    }

    /// Writes the rest of a list that both versions have, or whose old version does not count, up to its closing bracket.
    pub(super) fn list(&mut self, at: NodeId, new: Shown<'b>, closing: &Spot) {
        let parts = self.items(at, new);
        self.parts(parts, closing.indent + 2, Marking::NONE);
        self.close("]", Marking::NONE, closing);
    }

    fn items(&self, at: NodeId, new: Shown<'b>) -> Vec<TreePart<'b>> {
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
                    stays: place.old.filter(|_| !self.has_moved(child)),
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

/// Appends a value as JSON in one line. A Secret value becomes its placeholder, without quotes.
fn json(shown: Shown<'_>, out: &mut String) {
    match shown.content() {
        Content::Null => out.push_str("null"),
        Content::Bool(bool) => out.push_str(if bool { "true" } else { "false" }),
        Content::Number(digits) => out.push_str(digits),
        Content::Redacted(redacted) => out.push_str(&redacted.to_string()),
        Content::Text(text) => out.push_str(&string(&text)),
        Content::Array => {
            out.push('[');
            for (index, item) in shown.items().enumerate() {
                out.push_str(if index == 0 { "" } else { ", " });
                json(item, out);
            }
            out.push(']');
        }
        Content::Object => {
            out.push('{');
            for (index, (name, value)) in shown.fields().enumerate() {
                out.push_str(if index == 0 { "" } else { ", " });
                out.push_str(&string(&name));
                out.push_str(": ");
                json(value, out);
            }
            out.push('}');
        }
    }
}

/// Formats a value as JSON in one line.
pub(super) fn text(shown: Shown<'_>) -> String {
    let mut out = String::new();
    json(shown, &mut out);
    out
}

/// Formats a string in JSON quotes, as display text.
pub(super) fn string(text: &str) -> String {
    // Serializing a string cannot fail.
    let quoted = serde_json::to_string(text).unwrap_or_default();
    crate::render::text::escape_line(&quoted).into_owned()
}
