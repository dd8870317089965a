//! JSON inside a string of a tree: what has changed in it, as a tree below its line.

use std::collections::BTreeSet;

use crate::diff::{Change, Embedded, Filter, Fmt, LAST_APPLIED, Noise, NodeId};
use crate::object::list_keys::ListKeys;

use super::super::embedded::repeats;
use super::super::painter::{Painter, ShownPair};
use super::super::value::plural;
use super::super::view::DiffView;
use super::super::who::Attribution;
use super::build::TreeBuilder;
use super::row::{Extent, Mark, Sort, TreeRow, compact};

impl<'b> TreeBuilder<'b> {
    /// What a string that has changed holds, if that is JSON in both versions and only changes are written.
    pub(super) fn embedded(&self, change: &Change, pair: ShownPair<'b>) -> Option<Embedded> {
        let is_json = change.fmt == Fmt::Json && self.extent == Extent::Changed;
        is_json.then(|| pair.old.embedded(pair.new))?
    }

    /// What has changed inside a string: how much, and below it what, unless the object shows it itself.
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
        // Filters have the paths of the object, so everything inside the string is shown.
        let (filter, noise) = (Filter::default(), BTreeSet::from(Noise::ALL));
        let view = DiffView {
            filter: &filter,
            noise: &noise,
            ..*outer.view
        };
        let painter = Painter {
            diff: &inner,
            writers: None,
            view: &view,
            above: Attribution::Writer,
        };
        let mut builder = TreeBuilder::new(&painter, self.extent);
        builder.object_itself();
        for row in compact(builder.rows) {
            let is_marked = row.mark != Mark::None;
            self.rows.push(TreeRow {
                // Nothing joins it: what closes the object is not of the string.
                sort: Sort::Text,
                indent: indent + row.indent,
                shows: if is_marked { shows.clone() } else { Vec::new() },
                ..row
            });
        }
    }
}
