//! One change in a few words, for a line about something else.

use super::created::{COLUMNS, images, secret_keys};
use super::shown_changes::ShownChanges;
use super::value::fitting;
use crate::diff::{
    Change, Content, Diff, Filter, NodeId, Op, Redactor, RenamedItem, Shown, renamed_items,
};
use crate::object::path::Side;
use crate::render::style::Symbols;
use crate::render::text::{self, Text};

/// The columns to which a path is cut at most.
const LEAST_PATH: usize = 8;

/// The parts of a path that say little about it.
const PREFIXES: [&str; 5] = [
    ".spec.jobTemplate.spec.template.spec.",
    ".spec.template.spec.",
    ".spec.",
    ".data.",
    ".",
];

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
    if let Some(rename) = rename_in_line(diff, change, redactor) {
        return rename;
    }
    let path = path_in_line(&diff.path(change.at).to_string());
    let whole = |side| whole_value(diff.shown(change.at, side, redactor));
    let (old, new) = (whole(Side::Old), whole(Side::New));
    let none = || "(none)".to_owned();
    let (old, new) = match change.op {
        Op::Replace if diff.field(change.at) == Some("image") => {
            let same = common_path(&old, &new);
            replaced(&old[same..], &new[same..])
        }
        Op::Replace => replaced(&old, &new),
        Op::Add => (none(), cut(&new)),
        Op::Remove => (cut(&old), none()),
        Op::Move { from, to } => (format!("item {from}"), format!("item {to}")),
    };
    ChangeInLine { path, old, new }
}

/// An added item as a change of its key: `ports[port=80,protocol=TCP].port`, `80` and `8080`.
fn rename_in_line(diff: &Diff<'_>, change: &Change, redactor: &Redactor) -> Option<ChangeInLine> {
    let mut renamed = renamed_items(diff).into_iter();
    let RenamedItem { from, to, field } = renamed.find(|item| item.to == change.at)?;
    let value = |at, side| {
        let item = diff.shown(at, side, redactor);
        cut(&whole_value(item.and_then(|item| item.get(field))))
    };
    Some(ChangeInLine {
        path: format!("{}.{field}", path_in_line(&diff.path(from).to_string())),
        old: value(from, Side::Old),
        new: value(to, Side::New),
    })
}

fn whole_value(shown: Option<Shown<'_>>) -> String {
    let text = shown.and_then(|shown| fitting(shown, None, &[]));
    text.unwrap_or_default().into_owned()
}

/// The selected images of a workload's containers, for the line of its creation: `shop/web:2.4.1`. `None` if it has none.
pub fn images_in_line(object: Shown<'_>, filter: &Filter) -> Option<Text> {
    let images = images(object).filter(|(path, image)| filter.keeps_value(path, *image));
    let images = images.filter_map(|(_, image)| match image.content() {
        Content::Text(image) => Some(cut(&text::escaped_line(image))),
        _ => None,
    });
    let images: Vec<String> = images.collect();
    (!images.is_empty()).then(|| images.join(", ").into())
}

/// Sorts the changes of a version. What is gone or has another value breaks more than what is new. An item with another
/// key is one change: the removal of the item it was before is left out.
pub fn most_telling_first(diff: &Diff<'_>, changes: &mut Vec<&Change>) {
    let is_here = |at| changes.iter().any(|change| change.at == at);
    let mut renamed = renamed_items(diff);
    renamed.retain(|item| is_here(item.to));
    changes.retain(|change| renamed.iter().all(|item| item.from != change.at));
    let is_new =
        |change: &Change| change.op == Op::Add && renamed.iter().all(|item| item.to != change.at);
    changes.sort_by_key(|change| (weight(diff, change), is_new(change)));
}

impl ShownChanges<'_> {
    /// The changes in one line, the most telling one first: `containers[web].image: shop/web:2.4.1 → 2.4.2 (+2)`. In a narrow
    /// room, the start of the path goes first, then the old value. The new value stays. Of a Secret whose keys came or went, it
    /// has the keys: `+password, -token`.
    pub fn in_line(&self, room: Option<usize>) -> Text {
        let look = self.painter.view.look;
        if let Some(keys) = secret_keys(self) {
            let more = and_more(keys.others);
            let columns = room.map_or(usize::MAX, |room| room.saturating_sub(text::width(&more)));
            let names = text::cut_end(&keys.names, columns, look.symbols.ellipsis);
            return Text::from(names) + Text::dim(more);
        }
        let Some((change, more)) = self.most_telling() else {
            return Text::default();
        };
        let room = room.map(|columns| columns.saturating_sub(text::width(&more)));
        let parts = LineParts::of(&change, look.symbols);
        let line = match room {
            None => parts.whole(parts.path),
            Some(columns) => parts.fitted(columns),
        };
        Text::from(line) + Text::dim(more)
    }

    /// The columns of that line without the old value and the start of the path.
    pub fn least_in_line(&self) -> usize {
        if let Some(keys) = secret_keys(self) {
            let names = text::width(&keys.names).min(COLUMNS / 2);
            return names + text::width(&and_more(keys.others));
        }
        let Some((change, more)) = self.most_telling() else {
            return 0;
        };
        let parts = LineParts::of(&change, self.painter.view.look.symbols);
        text::width(&parts.without_old(&parts.least_path())) + text::width(&more)
    }

    /// The most telling change, and the number of the others: ` (+2)`.
    fn most_telling(&self) -> Option<(ChangeInLine, String)> {
        let mut changes = self.changes.clone();
        most_telling_first(self.painter.diff, &mut changes);
        let (first, others) = changes.split_first()?;
        let more = and_more(others.len());
        let change = change_in_line(self.painter.diff, first, self.painter.view.redactor);
        Some((change, more))
    }
}

/// The number of changes that a line does not show: ` (+2)`.
fn and_more(others: usize) -> String {
    match others {
        0 => String::new(),
        more => format!(" (+{more})"),
    }
}

/// The parts of a change in one line, as display text.
struct LineParts<'l> {
    path: &'l str,
    old: &'l str,
    new: &'l str,
    symbols: &'l Symbols,
}

impl<'l> LineParts<'l> {
    fn of(change: &'l ChangeInLine, symbols: &'l Symbols) -> LineParts<'l> {
        LineParts {
            path: &change.path,
            old: &change.old,
            new: &change.new,
            symbols,
        }
    }

    fn whole(&self, path: &str) -> String {
        format!("{path}: {} {} {}", self.old, self.symbols.arrow, self.new)
    }

    fn without_old(&self, path: &str) -> String {
        format!("{path} {} {}", self.symbols.arrow, self.new)
    }

    /// The path, from the longest form to the shortest: `containers[web].ports[…].name`, `…ports[…].name`, `…name`.
    fn paths(&self) -> Vec<String> {
        let ellipsis = self.symbols.ellipsis;
        let steps = steps(self.path);
        let brief: Vec<String> = steps
            .iter()
            .map(|step| match step.split_once('[') {
                // `ports[…]` of `ports[containerPort=80,protocol=TCP]`. The name of an item stays.
                Some((name, keys)) if keys.contains('=') && !keys.starts_with('"') => {
                    format!("{name}[{ellipsis}]")
                }
                _ => (*step).to_owned(),
            })
            .collect();
        let cut = (1..steps.len()).map(|at| format!("{ellipsis}{}", brief[at..].join(".")));
        let whole = [self.path.to_owned(), brief.join(".")];
        whole.into_iter().chain(cut).collect()
    }

    fn least_path(&self) -> String {
        self.paths().pop().unwrap_or_default()
    }

    /// The path is cut in the middle, or the whole text at its end if that leaves too little of the path.
    fn cut(&self, columns: usize) -> String {
        let (path, ellipsis) = (self.least_path(), self.symbols.ellipsis);
        let value = format!(" {} {}", self.symbols.arrow, self.new);
        let room = columns.saturating_sub(text::width(&value));
        if room < LEAST_PATH {
            return text::cut_end(&self.without_old(&path), columns, ellipsis).into_owned();
        }
        format!("{}{value}", text::cut_middle(&path, room, ellipsis))
    }

    /// The start of the path goes first, as far as needed, then the old value, the middle of the path, and at last the end
    /// of the new value.
    fn fitted(&self, columns: usize) -> String {
        let paths = self.paths();
        let whole = paths.iter().map(|path| self.whole(path));
        let without_old = paths.iter().map(|path| self.without_old(path));
        let mut lines = whole.chain(without_old);
        let fitting = lines.find(|line| text::fits(line, columns));
        fitting.unwrap_or_else(|| self.cut(columns))
    }
}

/// The steps of a path: `containers[web]` and `image`. A key in brackets may have dots of its own.
fn steps(path: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let is_between = |byte: char| {
        match byte {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        byte == '.' && depth == 0
    };
    path.split(is_between).collect()
}

/// The rank of a change in a line that has room for one: what people set, images first, then reasons and states, then the rest.
fn weight(diff: &Diff<'_>, change: &Change) -> usize {
    let top = diff.chain(change.at).last();
    let field = |at: NodeId| diff.field(at).unwrap_or_default();
    match top.map(field).unwrap_or_default() {
        "metadata" if field(change.at) == "deletionTimestamp" => 0,
        "metadata" => 5,
        "status" => match field(change.at) {
            "reason" | "waiting" | "terminated" | "phase" => 6,
            "status" => 7,
            name if name.ends_with("Time") => 9,
            _ => 8,
        },
        "spec" if field(change.at) == "image" => 1,
        "spec" => 2,
        "data" | "stringData" | "binaryData" => 3,
        _ => 4,
    }
}

/// A path in a line, without the parts that say little: `.spec.template.spec.containers[name=web].image` as `containers[web].image`.
pub fn path_in_line(path: &str) -> String {
    let mut prefixes = PREFIXES.into_iter();
    let short = prefixes.find_map(|prefix| path.strip_prefix(prefix));
    short.unwrap_or(path).replace("[name=", "[")
}

/// The length of the path that both images begin with, such as their registry. It says nothing about the change.
fn common_path(old: &str, new: &str) -> usize {
    let pairs = old.char_indices().zip(new.chars());
    let same = pairs.take_while(|((_, old), new)| old == new);
    let slashes = same.filter(|((_, old), _)| *old == '/');
    slashes.last().map_or(0, |((at, _), _)| at + 1)
}

/// An old and a new value, each in a few columns. They are never equal: values that differ only beyond these columns are shown
/// from the word that differs.
fn replaced(old: &str, new: &str) -> (String, String) {
    let (short_old, short_new) = (cut(old), cut(new));
    if short_old != short_new || old == new {
        return (short_old, short_new);
    }
    let at = differing_word(old, new);
    let from_there = |text: &str| cut(&format!("…{}", &text[at..]));
    (from_there(old), from_there(new))
}

/// Where the first word that differs begins, with the word before it: `cpu: 1000m`. A long word begins where it differs.
fn differing_word(old: &str, new: &str) -> usize {
    let (mut breaks, mut same) = ([0; 2], 0);
    for ((at, letter), other) in old.char_indices().zip(new.chars()) {
        if letter != other {
            break;
        }
        same = at + letter.len_utf8();
        if [' ', ',', '{', '['].contains(&letter) {
            breaks = [breaks[1], same];
        }
    }
    if same - breaks[0] < COLUMNS / 2 {
        breaks[0]
    } else {
        same
    }
}

/// The first columns of a long text.
fn cut(value: &str) -> String {
    text::cut_end(value, COLUMNS, "…").into_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use jiff::tz::TimeZone;

    use super::*;
    use crate::diff::Filter;
    use crate::object::Doc;
    use crate::render::diff::{DiffView, Fold};
    use crate::render::style::{Look, Styles};

    #[test]
    fn a_key_may_contain_the_separator() {
        let doc = |value: &str| {
            let text = format!(r#"{{"data":{{"a: b":"{value}"}}}}"#);
            Doc::parse(text).expect("JSON")
        };
        let (old, new) = (doc("1"), doc("2"));
        let diff = Diff::of(Some(old.root()), Some(new.root()));
        let change = change_in_line(&diff, &diff.changes()[0], &Redactor::new());
        let parts = LineParts::of(&change, &Symbols::UNICODE);
        assert_eq!(parts.fitted(18), r#"data["a: b"] → "2""#);
    }

    #[test]
    fn values_that_differ_far_behind_are_shown_from_there() {
        let long = "a long text that says the same in both versions, with a limit of cpu: ";
        let json = r#"{"spec":{"containers":[{"name":"web","image":"shop/web:1","resources":{"limits":{"cpu":"#;
        for (old, new, shown) in [
            (
                format!("{long}1000m"),
                format!("{long}1 and so on"),
                ["…cpu: 1000m", "…cpu: 1 and so on"],
            ),
            (
                format!("{json}1000m}}}}"),
                format!("{json}1}}}}"),
                [r#"…"limits":{"cpu":1000m}}"#, r#"…"limits":{"cpu":1}}"#],
            ),
            (
                format!("{}b", "a".repeat(99)),
                format!("{}c", "a".repeat(99)),
                ["…b", "…c"],
            ),
            (
                "/var/lib/a".to_owned(),
                "/var/lib/b/a".to_owned(),
                ["/var/lib/a", "/var/lib/b/a"],
            ),
            (
                format!("1{long}"),
                format!("2{long}"),
                [
                    "1a long text that says the same in both version…",
                    "2a long text that says the same in both version…",
                ],
            ),
        ] {
            let (old, new) = replaced(&old, &new);
            assert_eq!([old.as_str(), &new], shown);
        }
    }

    #[test]
    fn the_keys_of_a_secret_that_came_and_went_are_named() {
        let secret = |data: &str, kind: &str| {
            let text = format!(r#"{{"apiVersion":"v1","kind":"{kind}","data":{{{data}}}}}"#);
            Doc::parse(text).expect("JSON")
        };
        let line = |kind: &str, old: &str, new: &str, room| {
            let (old, new) = (secret(old, kind), secret(new, kind));
            let diff = Diff::of(Some(old.root()), Some(new.root()));
            let view = DiffView {
                look: Look {
                    width: None,
                    styles: Styles::PLAIN,
                    symbols: &Symbols::UNICODE,
                },
                redactor: &Redactor::new(),
                filter: &Filter::default(),
                noise: &BTreeSet::new(),
                zone: &TimeZone::UTC,
                fold: Fold::Many,
            };
            ShownChanges::unattributed(&diff, &view).in_line(room)
        };
        let (old, new) = (
            r#""token":"YQ==","user":"YQ==""#,
            r#""password":"YQ==","user":"Yg==""#,
        );
        for (kind, old, new, room, expect) in [
            ("Secret", old, new, None, "+password, -token, ~user"),
            (
                "Secret",
                r#""user":"YQ==""#,
                r#""user":"Yg==""#,
                None,
                "user: <secret 1 B #1> → <secret 1 B #2>",
            ),
            (
                "Secret",
                r#""user":"YQ==""#,
                r#""user":"YQ==","token":"YQ==""#,
                None,
                "token: (none) → <secret 1 B #1>",
            ),
            (
                "ConfigMap",
                r#""token":"a""#,
                r#""user":"a""#,
                None,
                "token: a → (none) (+1)",
            ),
        ] {
            assert_eq!(line(kind, old, new, room), expect, "{kind} {old} {new}");
        }
    }

    #[test]
    fn only_images_lose_the_path_that_both_values_have() {
        let shown = |field: &str, old: &str, new: &str| {
            let doc = |value: &str| {
                Doc::parse(format!(r#"{{"spec":{{"{field}":"{value}"}}}}"#)).expect("JSON")
            };
            let (old, new) = (doc(old), doc(new));
            let diff = Diff::of(Some(old.root()), Some(new.root()));
            let change = change_in_line(&diff, &diff.changes()[0], &Redactor::new());
            LineParts::of(&change, &Symbols::UNICODE).whole(&change.path)
        };
        let registry = "registry.example.com:5000/a/long/path/of/a/company/shop";
        for (field, old, new, line) in [
            ("path", "/health", "/healthz", "path: /health → /healthz"),
            (
                "image",
                "r/shop/web:1",
                "r/shop/web:2",
                "image: web:1 → web:2",
            ),
            (
                "image",
                &*format!("{registry}/web:1"),
                &*format!("{registry}/api:1"),
                "image: web:1 → api:1",
            ),
            ("image", "a/web:1", "b/web:1", "image: a/web:1 → b/web:1"),
        ] {
            assert_eq!(shown(field, old, new), line);
        }
    }

    #[test]
    fn a_path_is_cut_only_as_far_as_needed() {
        let change = ChangeInLine {
            path: "containers[app].ports[containerPort=80,protocol=TCP].name".to_owned(),
            old: "http".to_owned(),
            new: "web".to_owned(),
        };
        let parts = LineParts::of(&change, &Symbols::UNICODE);
        let lines = [80, 50, 40, 29, 22, 17, 12].map(|columns| parts.fitted(columns));
        insta::assert_snapshot!(lines.join("\n"), @"
        containers[app].ports[containerPort=80,protocol=TCP].name: http → web
        containers[app].ports[…].name: http → web
        …ports[…].name: http → web
        …ports[…].name: http → web
        …name: http → web
        …name: http → web
        …name → web
        ");
    }

    /// The changes between Services with these ports, in lines.
    fn ports_in_lines(old: &[u16], new: &[u16]) -> Vec<[String; 2]> {
        let doc = |ports: &[u16]| {
            let ports = ports.iter();
            let ports = ports.map(|port| format!(r#"{{"port":{port},"targetPort":80}}"#));
            let ports = ports.collect::<Vec<String>>().join(",");
            let kind = r#""apiVersion":"v1","kind":"Service""#;
            Doc::parse(format!(r#"{{{kind},"spec":{{"ports":[{ports}]}}}}"#)).expect("JSON")
        };
        let (old, new) = (doc(old), doc(new));
        let diff = Diff::of(Some(old.root()), Some(new.root()));
        let mut changes: Vec<&Change> = diff.changes().iter().collect();
        most_telling_first(&diff, &mut changes);
        let lines = changes.iter();
        lines
            .map(|change| change_in_line(&diff, change, &Redactor::new()).sides())
            .collect()
    }

    #[test]
    fn an_item_with_another_key_is_one_change() {
        let renamed = ["ports[port=80,protocol=TCP].port: 80", "8080"];
        assert_eq!(ports_in_lines(&[80], &[8080]), [renamed]);
        let added = [
            "ports[port=9090,protocol=TCP]: (none)",
            "{port: 9090, targetPort: 80}",
        ];
        assert_eq!(ports_in_lines(&[80], &[8080, 9090]), [renamed, added]);
    }

    #[test]
    fn an_image_comes_first() {
        let doc = |image: &str| {
            let container = format!(r#"{{"name":"etl","env":"{image}","image":"{image}"}}"#);
            Doc::parse(format!(r#"{{"spec":{{"containers":[{container}]}}}}"#)).expect("JSON")
        };
        let (old, new) = (doc("1"), doc("2"));
        let diff = Diff::of(Some(old.root()), Some(new.root()));
        let mut changes: Vec<&Change> = diff.changes().iter().collect();
        most_telling_first(&diff, &mut changes);
        let change = change_in_line(&diff, changes[0], &Redactor::new());
        assert_eq!(change.path, "containers[etl].image");
        let path = ".spec.jobTemplate.spec.template.spec.containers[name=etl].image";
        assert_eq!(path_in_line(path), "containers[etl].image");
    }
}
