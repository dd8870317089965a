//! The `tree` and `full` views of a diff: the object's own JSON, with a mark before each line that has
//! changed. `tree` leaves out what has not, and counts it; `full` has the whole object.
//!
//! Both are made from the [`Diff`], never by comparing text: an item that has moved is
//! in its new place, once, and what has changed is the same as in every other view.

mod build;
mod edit;
mod embedded;
mod fields;
mod items;
mod row;

use crate::diff::{Content, Diff, SegId, Shown};
use crate::object::list_keys::ListKeys;
use crate::object::managed_fields::Writers;
use crate::object::path::Side;

use super::lines::Painter;
use super::who::Above;
use super::{View, folds, shown};
use build::{Builder, Spot};
use row::{Mark, Row};

/// How much of an object is written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// What has changed, and what tells where it is. Long values are cut.
    Changed,
    /// All of it, and nothing is cut.
    Whole,
}

/// What is said of an object as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is there.
    There,
    /// It is new.
    New,
}

/// The lines of a version, the mark of each in its first column.
pub fn tree_lines(
    diff: &Diff<'_>,
    writers: &Writers<'_>,
    view: &View<'_>,
    extent: Extent,
) -> Vec<String> {
    let shown = shown(diff, view);
    let painter = Painter {
        diff,
        writers: Some(writers),
        view,
        above: Above::of(diff, writers, &shown),
    };
    let lines = paint(rows(&painter, extent), view, extent);
    if extent == Extent::Changed && view.folds(lines.len()) {
        return folds::tally(&painter, &shown, lines.len());
    }
    lines
}

/// The lines of an object that is compared with nothing.
pub fn whole_lines(object: Shown<'_>, view: &View<'_>, standing: Standing) -> Vec<String> {
    let diff = Diff::of(None, None);
    let painter = Painter {
        diff: &diff,
        writers: None,
        view,
        above: Above::Writer,
    };
    let mark = match standing {
        Standing::There => Mark::None,
        Standing::New => Mark::Add,
    };
    let mut builder = Builder::new(&painter, Extent::Whole);
    builder.left_out = view.filter.left_out([object], ListKeys::builtin());
    if !builder.left_out.has(object) {
        builder.whole(object, (mark, &[]), Spot::root());
    }
    paint(builder.rows, view, Extent::Whole)
}

fn rows(painter: &Painter<'_>, extent: Extent) -> Vec<Row> {
    let mut builder = Builder::new(painter, extent);
    if extent == Extent::Whole {
        let sides = [Side::Old, Side::New].into_iter();
        let sides = sides.filter_map(|side| painter.shown(SegId::ROOT, side));
        builder.left_out = painter.view.filter.left_out(sides, painter.diff.keys());
    }
    builder.object_itself();
    match extent {
        Extent::Changed => row::compact(builder.rows),
        Extent::Whole => builder.rows,
    }
}

fn paint(rows: Vec<Row>, view: &View<'_>, extent: Extent) -> Vec<String> {
    let width = view.look.width.filter(|_| extent == Extent::Changed);
    let lines = rows.into_iter().map(|row| row.paint(view.look, width));
    lines.collect()
}

/// A value as JSON in one line of display text; what Secrets hold is named, without quotes.
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

fn text(shown: Shown<'_>) -> String {
    let mut out = String::new();
    json(shown, &mut out);
    out
}

/// A string in JSON's quotes, as display text.
fn string(text: &str) -> String {
    // A string is always serialisable.
    let quoted = serde_json::to_string(text).unwrap_or_default();
    crate::render::text::escape_line(&quoted).into_owned()
}

#[cfg(test)]
mod tests;
