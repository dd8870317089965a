//! Formats values as display text. Strings are bare if YAML reads them back as the same string, and else in
//! JSON quotes. Objects and lists are in YAML's flow form.

use std::borrow::Cow;
use std::ops::Range;

use crate::diff::text::{Parts, WordPart, words};
use crate::diff::{Content, Shown};
use crate::render::count::plural;
use crate::render::style::{Look, Role};
use crate::render::text;
use crate::render::yaml::{ScalarPlace, is_plain};

/// How much of an object or a list is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueDetail {
    /// The whole value.
    Whole,
    /// The objects and lists inside it are replaced by counts. The objects of a list keep their names.
    Names,
    /// The objects and lists inside it are replaced by counts.
    Outline,
    /// The value itself is replaced by a count.
    Count,
}

/// The shorter forms of an object or a list, the longest first.
const OUTLINES: [ValueDetail; 3] = [ValueDetail::Names, ValueDetail::Outline, ValueDetail::Count];

/// Formats a value in one line of at most `columns`, if possible. `without` omits fields of the outermost
/// object. `None` for an object or a list without remaining parts.
pub(super) fn fitting<'a>(
    shown: Shown<'a>,
    columns: Option<usize>,
    without: &[&str],
) -> Option<Cow<'a, str>> {
    let content = shown.content();
    if matches!(content, Content::Object | Content::Array) {
        composite(shown, columns, without).map(Cow::Owned)
    } else {
        Some(scalar(content, ScalarPlace::Line))
    }
}

fn composite(shown: Shown<'_>, columns: Option<usize>, without: &[&str]) -> Option<String> {
    let is_object = shown.content() == Content::Object;
    let had_any = is_object && !shown.is_empty();
    let write = |detail, columns| {
        let mut writer = ValueWriter {
            out: String::with_capacity(USUAL),
            columns,
        };
        if is_object && detail != ValueDetail::Count {
            writer.object(shown, detail, without);
        } else {
            writer.value(shown, detail);
        }
        writer.out
    };
    let whole = write(ValueDetail::Whole, columns);
    if had_any && whole == "{}" {
        return None;
    }
    let Some(columns) = columns.filter(|columns| !text::fits(&whole, *columns)) else {
        return Some(whole);
    };
    let words = decisive_words(shown);
    // "1 field" says less than a part of it.
    let is_one = is_object && shown.len() == 1 && shown.size() <= LONG;
    let is_scalar = |value: Shown<'_>| !matches!(value.content(), Content::Object | Content::Array);
    if words.is_none() && is_one && shown.fields().all(|(_, value)| is_scalar(value)) {
        return Some(write(ValueDetail::Whole, None));
    }
    let mut outlines = OUTLINES
        .into_iter()
        .map(|detail| write(detail, Some(columns)));
    let Some(words) = words else {
        let outline = outlines.find(|outline| text::fits(outline, columns));
        return outline.or_else(|| Some(write(ValueDetail::Count, None)));
    };
    let mut both = outlines.map(|outline| format!("{outline} ({words})"));
    let fitting = both.find(|both| text::fits(both, columns));
    Some(fitting.unwrap_or(words))
}

/// The length in bytes above which a value takes all the room there is.
const LONG: usize = 256;

/// A number of columns that is enough for nearly every value in full. It is cheap to compute: a value takes about as much
/// room as its JSON.
pub(super) fn at_most(shown: Shown<'_>) -> usize {
    if shown.is_hidden() {
        REDACTED
    } else {
        shown.size() + shown.size() / 4
    }
}

/// The length in bytes above which a value is not measured: it leaves little room for a path anyway.
const MEASURED: usize = 96;

/// The columns of a hidden value, such as `<secret 4096 B #12>`.
const REDACTED: usize = 32;

/// The columns that a value needs in full; not exact for a long one. `without` omits fields of the outermost object.
pub(super) fn wanted(shown: Shown<'_>, without: &[&str]) -> usize {
    if shown.size() > MEASURED {
        return at_most(shown);
    }
    fitting(shown, None, without).map_or(0, |value| text::width(&value))
}

/// Formats a scalar; empty for an object or a list.
fn scalar(content: Content<'_>, place: ScalarPlace) -> Cow<'_, str> {
    match content {
        Content::Null => "null".into(),
        Content::Bool(bool) => if bool { "true" } else { "false" }.into(),
        Content::Number(digits) => digits.into(),
        Content::Redacted(redacted) => redacted.to_string().into(),
        Content::Text(text) => string(text, place),
        Content::Array | Content::Object => Cow::default(),
    }
}

/// The capacity in bytes that is enough for most folded objects and lists.
const USUAL: usize = 128;

/// Writes a value as text.
struct ValueWriter {
    out: String,
    /// The width limit. The writer may stop early once the text is wider.
    columns: Option<usize>,
}

impl ValueWriter {
    fn value(&mut self, shown: Shown<'_>, detail: ValueDetail) {
        match shown.content() {
            Content::Array => self.array(shown, detail),
            Content::Object if detail == ValueDetail::Count => {
                self.out.push_str(&counted(shown));
            }
            Content::Object => self.object(shown, detail, &[]),
            content => self.out.push_str(&scalar(content, ScalarPlace::Flow)),
        }
    }

    fn object(&mut self, shown: Shown<'_>, detail: ValueDetail, without: &[&str]) {
        self.out.push('{');
        let fields = shown
            .fields()
            .filter(|(name, _)| !without.contains(&&**name));
        for (index, (name, value)) in fields.enumerate() {
            if self.is_full() {
                return;
            }
            self.out.push_str(if index == 0 { "" } else { ", " });
            self.out.push_str(&string(name, ScalarPlace::Flow));
            self.out.push_str(": ");
            self.value(value, inner(detail));
        }
        self.out.push('}');
    }

    fn array(&mut self, shown: Shown<'_>, detail: ValueDetail) {
        if detail == ValueDetail::Count {
            return self.out.push_str(&counted(shown));
        }
        self.out.push('[');
        for (index, item) in shown.items().enumerate() {
            if self.is_full() {
                return;
            }
            self.out.push_str(if index == 0 { "" } else { ", " });
            match item.str("name").filter(|_| detail == ValueDetail::Names) {
                Some(name) => self.named(item, name),
                None => self.value(item, inner(detail)),
            }
        }
        self.out.push(']');
    }

    /// The name of an object and the number of its other fields: `{name: web, 5 more fields}`.
    fn named(&mut self, shown: Shown<'_>, name: Cow<'_, str>) {
        self.out.push_str("{name: ");
        self.out.push_str(&string(name, ScalarPlace::Flow));
        match shown.len().saturating_sub(1) {
            0 => {}
            rest => self.out.extend([", ", &plural(rest, "more field")]),
        }
        self.out.push('}');
    }

    /// Whether the text is already too wide.
    fn is_full(&self) -> bool {
        self.columns
            .is_some_and(|columns| !text::fits(&self.out, columns))
    }
}

fn inner(detail: ValueDetail) -> ValueDetail {
    match detail {
        ValueDetail::Whole => ValueDetail::Whole,
        ValueDetail::Names | ValueDetail::Outline | ValueDetail::Count => ValueDetail::Count,
    }
}

/// The count in place of a value: `{3 fields}` or `[2 items]`. An empty value is `{}` or `[]`.
fn counted(shown: Shown<'_>) -> String {
    let (open, unit, close) = match shown.content() {
        Content::Object => ("{", "field", "}"),
        _ => ("[", "item", "]"),
    };
    match shown.len() {
        0 => [open, close].concat(),
        count => [open, &plural(count, unit), close].concat(),
    }
}

/// Formats a string, in quotes if it needs them.
fn string(text: Cow<'_, str>, place: ScalarPlace) -> Cow<'_, str> {
    if is_plain(&text, place) {
        return text::escaped_line(text);
    }
    // Serializing a string cannot fail.
    let quoted = serde_json::to_string(&*text).unwrap_or_default();
    text::escaped_line(quoted.into())
}

/// How deep it looks. The state of a container is six levels below a Pod.
const DEPTH: usize = 8;

/// How many such words are shown.
const MOST: usize = 3;

/// `waiting ErrImagePull, Ready False ContainersNotReady` as display text; `None` if the value has no such words.
pub(super) fn decisive_words(shown: Shown<'_>) -> Option<String> {
    let mut words = Vec::new();
    find(shown, DEPTH, &mut words);
    words.truncate(MOST);
    (!words.is_empty()).then(|| text::escaped_line(words.join(", ").into()).into_owned())
}

fn find(shown: Shown<'_>, depth: usize, words: &mut Vec<String>) {
    let is_worth_it = words.len() < MOST && shown.may_have("reason");
    let Some(depth) = depth.checked_sub(1).filter(|_| is_worth_it) else {
        return;
    };
    let found = condition(shown);
    for (name, value) in shown.fields() {
        let reason = match &*name {
            "waiting" | "terminated" => value.str("reason"),
            _ => None,
        };
        match reason {
            Some(reason) => add(words, [&*name, " ", &reason].concat()),
            None => find(value, depth, words),
        }
    }
    if let Some(found) = found {
        add(words, found);
    }
    for item in shown.items() {
        find(item, depth, words);
    }
}

fn add(words: &mut Vec<String>, word: String) {
    if !words.contains(&word) {
        words.push(word);
    }
}

/// `Ready False ContainersNotReady`, for a condition that is not met and has a reason.
fn condition(shown: Shown<'_>) -> Option<String> {
    let (type_, status) = (shown.str("type")?, shown.str("status")?);
    let reason = shown.str("reason").filter(|reason| !reason.is_empty())?;
    (status == "False").then(|| [&*type_, " False ", &reason].concat())
}

/// A piece of a line and its role.
pub(super) type Span = (Role, String);

/// The minimum room of a value, however narrow the terminal is.
const LEAST: usize = 20;

/// Runs of at least this many hexadecimal digits are digests, which are cut to their start.
const DIGEST: usize = 40;
const DIGEST_SHOWN: usize = 12;

/// The room for a pair of values.
#[derive(Clone, Copy)]
pub(super) struct Room {
    /// Columns for both values; `None` leaves them uncut.
    pub(super) columns: Option<usize>,
    /// The symbol for a cut.
    pub(super) ellipsis: &'static str,
}

impl Room {
    /// The room that is left on a line.
    pub(super) fn of(look: Look, taken: usize) -> Room {
        Room {
            columns: look.width.map(|width| width.saturating_sub(taken)),
            ellipsis: look.symbols.ellipsis,
        }
    }

    /// Fits one value of display text.
    pub(super) fn one(self, value: &str) -> Cow<'_, str> {
        match self.columns {
            None => Cow::Borrowed(value),
            Some(columns) => self.middle(self.digests(value), columns.max(LEAST)),
        }
    }

    /// Both values with their digests cut, if they fit.
    pub(super) fn both<'v>(
        self,
        old: &'v str,
        new: &'v str,
    ) -> Option<(Cow<'v, str>, Cow<'v, str>)> {
        let Some(columns) = self.columns else {
            return Some((old.into(), new.into()));
        };
        let (old, new) = (self.digests(old), self.digests(new));
        let fit =
            old.len() + new.len() <= columns || text::width(&old) + text::width(&new) <= columns;
        fit.then_some((old, new))
    }

    /// The old and the new value, with the differing words emphasised.
    pub(super) fn pair(self, old: &str, new: &str) -> (Vec<Span>, Vec<Span>) {
        let (old, new) = match self.columns {
            None => (Cow::Borrowed(old), Cow::Borrowed(new)),
            Some(_) => (self.digests(old), self.digests(new)),
        };
        let plain = |text: Cow<'_, str>| vec![(Role::Plain, text.into_owned())];
        let rooms = self.split(&old, &new);
        let Some((old_parts, new_parts)) = words(&old, &new) else {
            let cut = |text, room| match room {
                None => text,
                Some(room) => self.middle(text, room),
            };
            return (plain(cut(old, rooms.0)), plain(cut(new, rooms.1)));
        };
        (
            self.around(&old_parts, rooms.0),
            self.around(&new_parts, rooms.1),
        )
    }

    /// The parts of a text, and whether each differs from the other text.
    pub(super) fn whole_pair(own: &str, other: &str) -> Vec<(String, bool)> {
        match words(own, other) {
            None => vec![(own.to_owned(), false)],
            Some((parts, _)) => parts
                .into_iter()
                .map(|(part, text)| (text.to_owned(), part == WordPart::Changed))
                .collect(),
        }
    }

    /// Divides the room: a short value leaves the rest to the other one.
    fn split(self, old: &str, new: &str) -> (Option<usize>, Option<usize>) {
        let Some(columns) = self.columns else {
            return (None, None);
        };
        let (old, new) = (text::width(old), text::width(new));
        let half = (columns / 2).max(LEAST);
        if old + new <= columns {
            (None, None)
        } else if old <= half {
            (None, Some(columns.saturating_sub(old).max(LEAST)))
        } else if new <= half {
            (Some(columns.saturating_sub(new).max(LEAST)), None)
        } else {
            (Some(half), Some(half))
        }
    }

    /// The changed parts, with as much text around them as fits.
    fn around(self, parts: &Parts<'_>, room: Option<usize>) -> Vec<Span> {
        let whole = |parts: &Parts<'_>| {
            parts
                .iter()
                .map(|(part, text)| (role(*part), (*text).to_owned()))
                .collect()
        };
        let total: usize = parts.iter().map(|(_, text)| text::width(text)).sum();
        let Some(room) = room.filter(|room| total > *room) else {
            return whole(parts);
        };
        let first = parts
            .iter()
            .position(|(part, _)| *part == WordPart::Changed);
        let last = parts
            .iter()
            .rposition(|(part, _)| *part == WordPart::Changed);
        let (Some(first), Some(last)) = (first, last) else {
            // This side has no changed part; the other side continues after its end.
            let text: String = parts.iter().map(|(_, text)| *text).collect();
            return vec![(Role::Plain, self.middle(text.into(), room).into_owned())];
        };
        let inside = &parts[first..=last];
        let core: usize = inside.iter().map(|(_, text)| text::width(text)).sum();
        if core + 2 > room {
            let text: String = inside.iter().map(|(_, text)| *text).collect();
            return vec![(Role::Emphasis, self.middle(text.into(), room).into_owned())];
        }
        let join =
            |parts: &[(WordPart, &str)]| parts.iter().map(|(_, text)| *text).collect::<String>();
        let (before, after) = (join(&parts[..first]), join(&parts[last + 1..]));
        let spare = room - core;
        let after_room = spare - (spare / 2).min(text::width(&before));
        let after = text::cut_end(&after, after_room, self.ellipsis).into_owned();
        let before = self.end_of(&before, spare.saturating_sub(text::width(&after)));
        let mut spans = vec![(Role::Plain, before)];
        spans.extend(whole(&inside.to_vec()));
        spans.push((Role::Plain, after));
        spans
    }

    /// The start and the end of a text, and the number of bytes omitted between them.
    fn middle(self, value: Cow<'_, str>, columns: usize) -> Cow<'_, str> {
        if text::fits(&value, columns) {
            return value;
        }
        // The number of omitted bytes needs room itself.
        let longest = text::width(self.ellipsis) + "(+ B)".len() + value.len().to_string().len();
        let room = columns.saturating_sub(longest);
        let start = text::head(&value, room.div_ceil(2));
        let end = text::tail(&value[start.len()..], room / 2);
        let cut = value.len() - start.len() - end.len();
        let parts = [start, self.ellipsis, "(+", &cut.to_string(), " B)", end];
        Cow::Owned(parts.concat())
    }

    fn end_of(self, value: &str, columns: usize) -> String {
        if text::fits(value, columns) {
            return value.to_owned();
        }
        let room = columns.saturating_sub(text::width(self.ellipsis));
        [self.ellipsis, text::tail(value, room)].concat()
    }

    /// Replaces digests by their first twelve digits.
    fn digests(self, value: &str) -> Cow<'_, str> {
        let mut out = String::new();
        let mut copied = 0;
        while let Some(digest) = digest(value.as_bytes(), copied) {
            out.reserve(value.len() - copied);
            out.push_str(&value[copied..digest.start + DIGEST_SHOWN]);
            out.push_str(self.ellipsis);
            copied = digest.end;
        }
        if copied == 0 {
            return Cow::Borrowed(value);
        }
        out.push_str(&value[copied..]);
        Cow::Owned(out)
    }
}

/// The range of the first digest at or after `from`, which must not be inside one.
fn digest(text: &[u8], from: usize) -> Option<Range<usize>> {
    let is_other = |byte: &u8| !byte.is_ascii_hexdigit();
    let mut start = from;
    loop {
        // A digest that starts after `start` and is long enough contains this position.
        let at = start + DIGEST - 1;
        if is_other(text.get(at)?) {
            start = at + 1;
            continue;
        }
        let before = text[start..at].iter().rposition(is_other);
        let first = before.map_or(start, |before| start + before + 1);
        let end = text[at..].iter().position(is_other);
        let end = end.map_or(text.len(), |length| at + length);
        if end - first >= DIGEST {
            return Some(first..end);
        }
        start = end;
    }
}

fn role(part: WordPart) -> Role {
    match part {
        WordPart::Same => Role::Plain,
        WordPart::Changed => Role::Emphasis,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::diff::Redactor;
    use crate::object::Doc;

    #[rustfmt::skip]
    const BARE: &[&str] = &[
        "web", "--v=2", "a b", "a:b", "v1.4.2", "10.244.1.17", "a,b", "5m", "1Gi", "a#b", "é",
        "registry/a@sha256:1", "2024-05-01T14:02:01Z", "a[0]",
    ];

    #[rustfmt::skip]
    const QUOTED: &[&str] = &[
        "", " a", "a ", "- a", "-", "? a", "a: b", "a:", "a #b", "8080", "1e3", "-1", ".5",
        "0x1F", "true", "No", "on", "~", "null", "{a", "[a", "*a", "&a", "!a", "|", ">", "'a'",
        "%a", "@a", "`a", "a\nb", "\"a\"", "1_000", "<secret 1 B #1>",
    ];

    fn string(text: &str, place: ScalarPlace) -> Cow<'_, str> {
        super::string(text.into(), place)
    }

    #[test]
    fn strings_are_bare_if_yaml_reads_them_back() {
        for text in BARE {
            assert_eq!(string(text, ScalarPlace::Line), *text);
        }
        for text in QUOTED {
            assert_eq!(
                string(text, ScalarPlace::Line),
                serde_json::to_string(text).expect("a string serializes")
            );
        }
        assert_eq!(
            string("a\u{1b}[2J\u{7}", ScalarPlace::Line),
            r#""a\u001b[2J\u0007""#
        );
        assert_eq!(string("a\u{202e}b", ScalarPlace::Line), "a\\u{202e}b");
        assert_eq!(
            string("say \"hi\"\nthere", ScalarPlace::Line),
            r#""say \"hi\"\nthere""#
        );
    }

    #[test]
    fn objects_and_lists_are_folded_to_fit() {
        let doc = Doc::parse(
            r#"{"name":"web","n":1,"args":["a,b","--x"],"resources":{"limits":{"cpu":"1"}},"e":{},"f":[]}"#,
        )
        .expect("the text is valid JSON");
        let redactor = Redactor::new();
        let shown = redactor.shown(doc.root());
        let fit = |columns| fitting(shown, columns, &["name"]).unwrap_or_default();
        insta::assert_snapshot!(
            [fit(None), fit(Some(60)), fit(Some(20))].join("\n"),
            @r#"
            {"n": 1, args: ["a,b", --x], resources: {limits: {cpu: "1"}}, e: {}, f: []}
            {6 fields}
            {6 fields}
            "#
        );
        assert_eq!(
            fitting(shown, None, &["name", "n", "args", "resources", "e", "f"]),
            None
        );
    }

    #[test]
    fn the_objects_of_a_list_keep_their_names() {
        let doc = Doc::parse(
            r#"[{"name":"deny.example.com","failurePolicy":"Fail","sideEffects":"None"},{"name":"8080"},{"port":1,"path":"/"}]"#,
        )
        .expect("the text is valid JSON");
        let redactor = Redactor::new();
        let shown = redactor.shown(doc.root());
        let fit = |columns| fitting(shown, Some(columns), &[]).unwrap_or_default();
        insta::assert_snapshot!(
            [fit(200), fit(80), fit(60), fit(20)].join("\n"),
            @r#"
            [{name: deny.example.com, failurePolicy: Fail, sideEffects: None}, {name: "8080"}, {port: 1, path: /}]
            [{name: deny.example.com, 2 more fields}, {name: "8080"}, {2 fields}]
            [{3 fields}, {1 field}, {2 fields}]
            [3 items]
            "#
        );
    }

    fn room(columns: usize) -> Room {
        Room {
            columns: Some(columns),
            ellipsis: "…",
        }
    }

    fn marked(spans: &[Span]) -> String {
        spans
            .iter()
            .map(|(role, text)| match role {
                Role::Emphasis => format!("⟦{text}⟧"),
                _ => text.clone(),
            })
            .collect()
    }

    #[test]
    fn the_changed_part_stays_visible() {
        let old = format!("registry.example.com/{}/web:v1.4.2", "shop/".repeat(20));
        let new = old.replace("4.2", "5.0");
        let (a, b) = room(60).pair(&old, &new);
        insta::assert_snapshot!(format!("{} → {}", marked(&a), marked(&b)), @"…op/shop/shop/shop//web:v1.⟦4.2⟧ → …op/shop/shop/shop//web:v1.⟦5.0⟧");
        let old = "x ".repeat(40_000);
        let mut new = old.clone();
        new.replace_range(40_000..40_001, "y");
        let (a, b) = room(100).pair(&old, &new);
        insta::assert_snapshot!(format!("{} → {}", marked(&a), marked(&b)), @"x x x x x x x x x x …(+79961 B) x x x x x x x x x  → x x x x x x x x x x …(+79961 B) x x x x x x x x x");
    }

    #[test]
    fn digests_are_cut_to_their_start() {
        let digest = "0123456789abcdef".repeat(4);
        let value = format!("a/b@sha256:{digest}");
        assert_eq!(room(80).one(&value), "a/b@sha256:0123456789ab…");
        let whole = Room {
            columns: None,
            ellipsis: "…",
        };
        assert_eq!(whole.one(&value), value);
    }

    proptest! {
        #[test]
        fn every_digest_is_found(text in "([0-9a-f]{0,50}[xé:]{0,2}){0,5}") {
            let is_hex = |char: char| char.is_ascii_hexdigit();
            let runs: Vec<&str> = text.split_inclusive(|char| !is_hex(char)).collect();
            let expected: String = runs
                .into_iter()
                .map(|run| match run.chars().filter(|&char| is_hex(char)).count() {
                    DIGEST.. => format!("{}…{}", &run[..DIGEST_SHOWN], run.trim_start_matches(is_hex)),
                    _ => run.to_owned(),
                })
                .collect();
            prop_assert_eq!(room(80).digests(&text), expected);
        }
    }

    #[test]
    fn any_width_is_accepted() {
        for columns in 1..120 {
            let (old, new) = ("日本語 ".repeat(30), "日本誤 e\u{301}".repeat(40));
            let (a, b) = room(columns).pair(&old, &new);
            let width: usize = a.iter().chain(&b).map(|(_, text)| text::width(text)).sum();
            assert!(width <= columns.max(2 * LEAST) + 2, "{columns}: {width}");
            assert!(text::width(&room(columns).one(&old)) <= columns.max(LEAST));
        }
    }
}
