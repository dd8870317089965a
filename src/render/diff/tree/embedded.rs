//! JSON inside a string of a tree: what has changed in it, as a tree below its line.

use std::collections::BTreeSet;

use crate::diff::{Change, Embedded, Filter, Fmt, LAST_APPLIED, Noise, SegId, Shown};
use crate::object::list_keys::ListKeys;

use super::super::View;
use super::super::embedded::is_told;
use super::super::lines::Painter;
use super::super::value::plural;
use super::super::who::Above;
use super::Extent;
use super::build::Builder;
use super::row::{self, Mark, Row, Sort};

impl<'b> Builder<'b> {
    /// What a string that has changed holds, if that is JSON in both versions and only changes are written.
    pub(super) fn embedded(
        &self,
        change: &Change,
        (old, new): (Shown<'b>, Shown<'b>),
    ) -> Option<Embedded> {
        let is_json = change.fmt == Fmt::Json && self.extent == Extent::Changed;
        is_json.then(|| old.embedded(new))?
    }

    /// What has changed inside a string: how much, and below it what, unless the object has told it.
    pub(super) fn json(&mut self, first: Row, (at, embedded): (SegId, &Embedded)) {
        let outer = self.painter;
        let is_applied = outer.diff.field(at) == Some(LAST_APPLIED);
        let keys = if is_applied {
            outer.diff.keys()
        } else {
            ListKeys::builtin()
        };
        let inner = embedded.diff(keys);
        let count = plural(inner.changes().len(), "change");
        let is_told = is_applied && is_told(outer, &inner);
        let note = match inner.changes() {
            [] => "same JSON, written differently".to_owned(),
            [..] if is_told => format!("same {count}"),
            [..] => format!("{count} inside"),
        };
        let (indent, tells) = (first.indent + 2, first.tells.clone());
        self.rows.push(Row { note, ..first });
        if is_told {
            return;
        }
        // Paths are those of the object: inside of the string all of it is asked for.
        let (filter, noise) = (Filter::default(), BTreeSet::from(Noise::ALL));
        let view = View {
            filter: &filter,
            noise: &noise,
            ..*outer.view
        };
        let painter = Painter {
            diff: &inner,
            writers: None,
            view: &view,
            above: Above::Writer,
        };
        let mut builder = Builder::new(&painter, self.extent);
        builder.object_itself();
        for row in row::compact(builder.rows) {
            let is_marked = row.mark != Mark::None;
            self.rows.push(Row {
                // Nothing joins it: what closes the object is not of the string.
                sort: Sort::Text,
                indent: indent + row.indent,
                tells: if is_marked { tells.clone() } else { Vec::new() },
                ..row
            });
        }
    }
}
