//! Formats values as display text. Strings are bare if YAML reads them back as the same string, and else in
//! JSON quotes. Objects and lists are in YAML's flow form.

use std::borrow::Cow;

use crate::diff::{Content, Shown};
use crate::render::count::plural;
use crate::render::plain_scalar::{ScalarPlace, is_plain};
use crate::render::text;

use super::decisive::decisive_words;

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
    if words.is_none() && is_one && is_scalar_inside(shown) {
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

/// Whether the fields of an object hold no objects or lists.
fn is_scalar_inside(shown: Shown<'_>) -> bool {
    let mut fields = shown.fields();
    fields.all(|(_, value)| !matches!(value.content(), Content::Object | Content::Array))
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

#[cfg(test)]
mod tests {
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
}
