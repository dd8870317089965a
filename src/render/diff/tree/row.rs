//! `TreeRow`: a line of the `tree` view, and how brackets and counts join the line before them.

use crate::diff::{Content, NodeId, Shown};
use crate::render::diff::hunks::Excerpt;
use crate::render::diff::painter::LineMark;
use crate::render::diff::value::{Room, Span};
use crate::render::style::{Look, Role};
use crate::render::text::{self, Text};

/// How much of an object is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The changes, and the context that locates them. Long values are cut.
    Changed,
    /// The whole object. No value is cut.
    Whole,
}

/// The mark of all lines of a value, and the changes that they show.
#[derive(Clone, Copy)]
pub(super) struct Marking<'t> {
    pub(super) mark: LineMark,
    pub(super) shows: &'t [NodeId],
}

impl Marking<'_> {
    pub(super) const NONE: Marking<'static> = Marking {
        mark: LineMark::NONE,
        shows: &[],
    };
}

/// The value part of a line.
#[derive(Debug, Default)]
pub(super) enum RowBody {
    #[default]
    None,
    One(String),
    /// The old and the new value.
    Pair(String, String),
}

/// The relation of a line to the lines around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sort {
    /// A value on one line.
    #[default]
    Value,
    /// The start of an object or a list.
    Open,
    /// The end of an object or a list.
    Close,
    /// The number of omitted parts.
    Omitted,
    /// A line of a text, which no other row may join.
    Text,
}

/// A line. All text in it is display text.
#[derive(Debug, Default)]
pub(super) struct TreeRow {
    pub(super) mark: LineMark,
    pub(super) sort: Sort,
    pub(super) indent: usize,
    /// The text before the value: its name, and its opening bracket.
    pub(super) head: String,
    pub(super) body: RowBody,
    /// The note about the value, before its closing brackets and commas.
    pub(super) note: String,
    /// The brackets and commas after the value.
    pub(super) tail: String,
    /// The note at the end of the line.
    pub(super) end: String,
    /// The values whose changes the line shows.
    pub(super) shows: Vec<NodeId>,
}

/// Brackets and counts join the line before them. The first field of an item joins its bracket.
pub(super) fn compact(rows: Vec<TreeRow>) -> Vec<TreeRow> {
    let mut lines: Vec<TreeRow> = Vec::new();
    for row in rows {
        match lines.last_mut() {
            Some(last) if last.takes(&row) => last.absorb(row),
            _ => lines.push(row),
        }
    }
    lines
}

impl TreeRow {
    fn takes(&self, next: &TreeRow) -> bool {
        match next.sort {
            // After the note at the end of a line, only the inside of that value may follow.
            Sort::Close | Sort::Omitted if !self.end.is_empty() => {
                let closes = next.sort == Sort::Close && next.indent == self.indent;
                next.indent > self.indent || closes
            }
            Sort::Close | Sort::Omitted => self.sort != Sort::Text,
            Sort::Value | Sort::Open => self.is_bare() && next.mark == LineMark::NONE,
            Sort::Text => false,
        }
    }

    /// Whether the line is an opening bracket only.
    fn is_bare(&self) -> bool {
        self.sort == Sort::Open && self.head.len() == 1 && self.tail.is_empty()
    }

    fn absorb(&mut self, next: TreeRow) {
        match next.sort {
            Sort::Close | Sort::Omitted => {
                self.tail.push(' ');
                self.tail.push_str(&next.head);
                self.tail.push_str(&next.tail);
            }
            Sort::Value | Sort::Open | Sort::Text => {
                self.head = format!("{} {}", self.head, next.head);
                self.body = next.body;
                self.note = next.note;
                self.tail = next.tail;
                self.sort = next.sort;
            }
        }
        self.end.push_str(&next.end);
        self.shows.extend(next.shows);
    }

    /// The line. Values that are too long for `width` are cut.
    pub(super) fn text(self, look: Look, width: Option<usize>) -> Text {
        let (mark, rest) = (self.mark, self.mark.role_of_rest());
        let fixed = [&self.head, &self.note, &self.tail, &self.end];
        let taken: usize = fixed.iter().map(|part| text::width(part)).sum();
        let room = Room {
            columns: width.map(|width| width.saturating_sub(2 + self.indent + taken)),
            ellipsis: look.symbols.ellipsis,
        };
        let mut line = Text::new(mark.role, format!("{} ", mark.text));
        line.push(rest, format!("{}{}", " ".repeat(self.indent), self.head));
        match self.body {
            RowBody::None => {}
            RowBody::One(value) => line.push(rest, room.one(&value)),
            RowBody::Pair(old, new) => {
                for (role, piece) in pair(&old, &new, room, look) {
                    line.push(role, piece);
                }
            }
        }
        line.push(Role::Dim, self.note);
        line.push(rest, self.tail);
        line.push(Role::Dim, self.end);
        line
    }
}

fn pair(old: &str, new: &str, room: Room, look: Look) -> Vec<Span> {
    let arrow = format!(" {} ", look.symbols.arrow);
    let room = Room {
        columns: room
            .columns
            .map(|columns| columns.saturating_sub(text::width(&arrow))),
        ..room
    };
    let excerpt = room.columns.and_then(|_| Excerpt::of(old, new));
    let (mut spans, new) = match excerpt {
        Some(excerpt) => {
            let half = room.columns.map(|columns| columns / 2);
            let [old, new] = excerpt.sides(half, room.ellipsis);
            (old, new)
        }
        None => room.pair(old, new),
    };
    spans.push((Role::Dim, arrow));
    spans.extend(new);
    spans
}

/// Appends a value as JSON in one line. A Secret value becomes its placeholder, without quotes.
fn push_json(shown: Shown<'_>, out: &mut String) {
    match shown.content() {
        Content::Null => out.push_str("null"),
        Content::Bool(bool) => out.push_str(if bool { "true" } else { "false" }),
        Content::Number(digits) => out.push_str(digits),
        Content::Redacted(redacted) => out.push_str(&redacted.to_string()),
        Content::Text(text) => out.push_str(&json_string(&text)),
        Content::Array => {
            out.push('[');
            for (index, item) in shown.items().enumerate() {
                out.push_str(if index == 0 { "" } else { ", " });
                push_json(item, out);
            }
            out.push(']');
        }
        Content::Object => {
            out.push('{');
            for (index, (name, value)) in shown.fields().enumerate() {
                out.push_str(if index == 0 { "" } else { ", " });
                out.push_str(&json_string(&name));
                out.push_str(": ");
                push_json(value, out);
            }
            out.push('}');
        }
    }
}

/// Formats a value as JSON in one line.
pub(super) fn json_text(shown: Shown<'_>) -> String {
    let mut out = String::new();
    push_json(shown, &mut out);
    out
}

/// Formats a string in JSON quotes, as display text.
pub(super) fn json_string(text: &str) -> String {
    // Serializing a string cannot fail.
    let quoted = serde_json::to_string(text).unwrap_or_default();
    text::escape_line(&quoted).into_owned()
}
