//! One change in a few words, for a line about something else.

use crate::diff::{Change, Diff, NodeId, Op, Redactor, Shown};
use crate::object::path::Side;
use crate::render::text;

use super::created::containers;
use super::shown_changes::ShownChanges;
use super::value::fitting;

/// The most columns of a value.
const COLUMNS: usize = 48;

/// The columns to which a path is cut at most.
const LEAST_PATH: usize = 8;

/// The parts of a path that say little about it.
const PREFIXES: [&str; 4] = [".spec.template.spec.", ".spec.", ".data.", "."];

/// A change as display text: `containers[web].image`, `web:1` and `web:2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeInLine {
    /// The path, without the parts that say little.
    pub path: String,
    /// The old value; `(none)` for an added one.
    pub old: String,
    /// The new value; `(none)` for a removed one.
    pub new: String,
}

impl ChangeInLine {
    /// The text before the arrow from the old value to the new one, and the text after it.
    pub fn sides(self) -> [String; 2] {
        [format!("{}: {}", self.path, self.old), self.new]
    }
}

/// The parts of a change.
pub fn change_in_line(diff: &Diff<'_>, change: &Change, redactor: &Redactor) -> ChangeInLine {
    let path = short_path(&diff.path(change.at).to_string());
    let value = |side| {
        let shown = diff.shown(change.at, side, redactor)?;
        fitting(shown, None, &[]).map(|text| cut(&text))
    };
    let old = value(Side::Old).unwrap_or_default();
    let new = value(Side::New).unwrap_or_default();
    let none = || "(none)".to_owned();
    let (old, new) = match change.op {
        Op::Replace => {
            let same = common_path(&old, &new);
            (old[same..].to_owned(), new[same..].to_owned())
        }
        Op::Add => (none(), new),
        Op::Remove => (old, none()),
        Op::Move { from, to } => (format!("item {from}"), format!("item {to}")),
    };
    ChangeInLine { path, old, new }
}

/// The images of a workload's containers, for the line of its creation: `shop/web:2.4.1`. `None` if it has none.
pub fn images_in_line(object: Shown<'_>) -> Option<String> {
    let images: Vec<String> = containers(object)
        .filter_map(|container| Some(cut(&text::escaped_line(container.str("image")?))))
        .collect();
    (!images.is_empty()).then(|| images.join(", "))
}

/// Sorts the changes of a version. What is gone or has another value breaks more than what is new.
pub fn most_telling_first(diff: &Diff<'_>, changes: &mut [&Change]) {
    changes.sort_by_key(|change| (weight(diff, change), change.op == Op::Add));
}

impl ShownChanges<'_> {
    /// The changes in one line, the most telling one first: `image: shop/web:2.4.1 → 2.4.2 (+2)`. In a narrow room, the old
    /// value goes first, then the start of the path. The new value stays.
    pub fn in_line(&self, room: Option<usize>) -> String {
        let Some((change, more)) = self.most_telling() else {
            return String::new();
        };
        let look = self.painter.view.look;
        let room = room.map(|columns| columns.saturating_sub(text::width(&more)));
        let parts = LineParts::of(&change, look.symbols.arrow);
        let line = match room {
            None => parts.whole(),
            Some(columns) => parts.fitted(columns, look.symbols.ellipsis),
        };
        format!("{line}{}", look.styles.dim(&more))
    }

    /// The columns of that line without the old value and the start of the path.
    pub fn least_in_line(&self) -> usize {
        let Some((change, more)) = self.most_telling() else {
            return 0;
        };
        let parts = LineParts::of(&change, self.painter.view.look.symbols.arrow);
        text::width(&parts.least()) + text::width(&more)
    }

    /// The most telling change, and the number of the others: ` (+2)`.
    fn most_telling(&self) -> Option<(ChangeInLine, String)> {
        let mut changes = self.changes.clone();
        most_telling_first(self.painter.diff, &mut changes);
        let (first, others) = changes.split_first()?;
        let more = match others.len() {
            0 => String::new(),
            more => format!(" (+{more})"),
        };
        let change = change_in_line(self.painter.diff, first, self.painter.view.redactor);
        Some((change, more))
    }
}

/// The parts of a change in one line, as display text.
struct LineParts<'l> {
    path: &'l str,
    old: &'l str,
    new: &'l str,
    arrow: &'l str,
}

impl<'l> LineParts<'l> {
    fn of(change: &'l ChangeInLine, arrow: &'l str) -> LineParts<'l> {
        LineParts {
            path: &change.path,
            old: &change.old,
            new: &change.new,
            arrow,
        }
    }

    fn whole(&self) -> String {
        let LineParts {
            path,
            old,
            new,
            arrow,
        } = self;
        format!("{path}: {old} {arrow} {new}")
    }

    fn without_old(&self) -> String {
        let LineParts {
            path, new, arrow, ..
        } = self;
        format!("{path} {arrow} {new}")
    }

    /// The same change with the last step of its path.
    fn short(&self) -> LineParts<'l> {
        LineParts {
            path: last_step(self.path),
            ..*self
        }
    }

    fn least(&self) -> String {
        self.short().without_old()
    }

    /// The path is cut in the middle, or the whole text at its end if that leaves too little of the path.
    fn cut(&self, columns: usize, ellipsis: &str) -> String {
        let value = format!(" {} {}", self.arrow, self.new);
        let room = columns.saturating_sub(text::width(&value));
        if room < LEAST_PATH {
            return text::cut_end(&self.without_old(), columns, ellipsis).into_owned();
        }
        format!("{}{value}", text::cut_middle(self.path, room, ellipsis))
    }

    /// The start of the path goes first, then the old value, the middle of the path, and at last the end of the new value.
    fn fitted(&self, columns: usize, ellipsis: &str) -> String {
        let least = self.least();
        let lines = [
            self.whole(),
            self.short().whole(),
            self.without_old(),
            least.clone(),
        ];
        let fitting = lines.into_iter().find(|line| text::fits(line, columns));
        fitting.unwrap_or_else(|| self.short().cut(columns, ellipsis))
    }
}

/// `image` of `containers[web].image`. A key in brackets may have dots of its own.
fn last_step(path: &str) -> &str {
    let mut depth = 0_usize;
    let mut start = 0;
    for (at, byte) in path.bytes().enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' => depth = depth.saturating_sub(1),
            b'.' if depth == 0 => start = at + 1,
            _ => {}
        }
    }
    &path[start..]
}

/// The rank of a change in a line that has room for one: what people set, then reasons and states, then the rest.
fn weight(diff: &Diff<'_>, change: &Change) -> usize {
    let top = diff.chain(change.at).last();
    let field = |at: NodeId| diff.field(at).unwrap_or_default();
    match top.map(field).unwrap_or_default() {
        "metadata" if field(change.at) == "deletionTimestamp" => 0,
        "metadata" => 4,
        "status" => match field(change.at) {
            "reason" | "waiting" | "terminated" | "phase" => 5,
            "status" => 6,
            name if name.ends_with("Time") => 8,
            _ => 7,
        },
        "spec" => 1,
        "data" | "stringData" | "binaryData" => 2,
        _ => 3,
    }
}

/// `.spec.template.spec.containers[name=web].image` as `containers[web].image`.
fn short_path(path: &str) -> String {
    let mut prefixes = PREFIXES.into_iter();
    let short = prefixes.find_map(|prefix| path.strip_prefix(prefix));
    short.unwrap_or(path).replace("[name=", "[")
}

/// The length of the path that both values begin with, such as the registry of an image. It says nothing about the
/// change.
fn common_path(old: &str, new: &str) -> usize {
    let pairs = old.char_indices().zip(new.chars());
    let same = pairs.take_while(|((_, old), new)| old == new);
    let slashes = same.filter(|((_, old), _)| *old == '/');
    slashes.last().map_or(0, |((at, _), _)| at + 1)
}

/// The first columns of a long text.
fn cut(value: &str) -> String {
    text::cut_line(value, COLUMNS, "…").into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Doc;

    #[test]
    fn a_key_may_contain_the_separator() {
        let doc = |value: &str| {
            let text = format!(r#"{{"data":{{"a: b":"{value}"}}}}"#);
            Doc::parse(text).expect("JSON")
        };
        let (old, new) = (doc("1"), doc("2"));
        let diff = Diff::of(Some(old.root()), Some(new.root()));
        let change = change_in_line(&diff, &diff.changes()[0], &Redactor::new());
        let parts = LineParts::of(&change, "->");
        assert_eq!(parts.fitted(19, "…"), r#"data["a: b"] -> "2""#);
    }
}
