//! Shows the changes of JSON inside a string as a tree below the line of the string.

use std::collections::BTreeSet;

use crate::diff::{Change, Embedded, Filter, Fmt, LAST_APPLIED, NodeId, Noise};
use crate::object::list_keys::ListKeys;
use crate::render::count::plural;

use super::super::embedded::repeats;
use super::super::painter::{LineMark, Painter, ShownPair};
use super::super::view::DiffView;
use super::build::TreeBuilder;
use super::row::{Extent, Sort, TreeRow, compact};

impl<'b> TreeBuilder<'b> {
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
