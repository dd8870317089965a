//! The `tree` and `full` views of a diff: the object's own JSON, with a mark before each changed line. `tree`
//! omits and counts unchanged values; `full` prints the whole object.
//!
//! Both are built from the [`Diff`], never by comparing text. So a moved item appears once, in its new place,
//! and the changes are the same as in every other view.

mod build;
mod object;
mod row;
#[cfg(test)]
mod tests;

use super::header::ChangeType;
use super::painter::{LineMark, Painter};
use super::shown_changes::ShownChanges;
use super::view::DiffView;
use crate::diff::{Diff, NodeId, Shown};
use crate::object::list_keys::ListKeys;
use crate::object::path::Side;
use crate::render::text::Text;
use build::{Spot, TreeBuilder};
pub use row::Extent;
use row::{Marking, TreeRow, compact};

/// The object with its changes. The first column of each line holds its mark.
pub fn tree_lines(shown: &ShownChanges<'_>, extent: Extent) -> Vec<Text> {
    let lines = paint(rows(&shown.painter, extent), shown.painter.view, extent);
    match extent {
        Extent::Changed => shown.folded(lines),
        Extent::Whole => lines,
    }
}

/// The lines of an object without an old version to compare with, marked as added if it is new.
pub fn whole_lines(object: Shown<'_>, view: &DiffView<'_>, change: ChangeType) -> Vec<Text> {
    let diff = Diff::of(None, None);
    let painter = Painter::unattributed(&diff, view);
    let mark = if change.is_creation() {
        LineMark::ADDED
    } else {
        LineMark::NONE
    };
    let mut builder = TreeBuilder::new(&painter, Extent::Whole);
    builder.object.projection = view.filter.projection([object], ListKeys::builtin());
    if !builder.object.projection.excludes(object) {
        builder.whole(object, Marking { mark, shows: &[] }, Spot::default());
    }
    paint(builder.rows, view, Extent::Whole)
}

fn rows(painter: &Painter<'_>, extent: Extent) -> Vec<TreeRow> {
    let mut builder = TreeBuilder::new(painter, extent);
    if extent == Extent::Whole {
        let sides = [Side::Old, Side::New].into_iter();
        let sides = sides.filter_map(|side| painter.shown(NodeId::ROOT, side));
        builder.object.projection = painter.view.filter.projection(sides, painter.diff.keys());
    }
    builder.write();
    match extent {
        Extent::Changed => compact(builder.rows),
        Extent::Whole => builder.rows,
    }
}

fn paint(rows: Vec<TreeRow>, view: &DiffView<'_>, extent: Extent) -> Vec<Text> {
    let width = view.look.width.filter(|_| extent == Extent::Changed);
    let lines = rows.into_iter().map(|row| row.text(view.look, width));
    lines.collect()
}
