//! Values as text: bare where YAML would read them back as the same string, in JSON quotes where it
//! would not, composites in YAML's flow form. The text is display text: nothing in it moves a cursor.

use std::borrow::Cow;

use crate::diff::{Content, Shown};
use crate::render::text;

/// How much of a composite is written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// All of it.
    Whole,
    /// Composites inside it are counted.
    Outline,
    /// It is counted itself.
    Count,
}

/// A value in one line of at most `columns`, if it can be; `without` leaves out fields of the
/// outermost object. `None` for a composite of which nothing is left.
pub(super) fn fitting(
    shown: Shown<'_>,
    columns: Option<usize>,
    without: &[&str],
) -> Option<String> {
    let is_object = shown.content() == Content::Object;
    let had_any = is_object && shown.fields().next().is_some();
    let write = |detail| {
        let mut out = String::new();
        if is_object && detail != Detail::Count {
            push_object(&mut out, shown, (detail, without));
        } else {
            push(&mut out, shown, (detail, Place::Line));
        }
        out
    };
    let whole = write(Detail::Whole);
    if had_any && whole == "{}" {
        return None;
    }
    let fits = |text: &str| columns.is_none_or(|columns| text::width(text) <= columns);
    if fits(&whole) || !matches!(shown.content(), Content::Object | Content::Array) {
        return Some(whole);
    }
    let outline = write(Detail::Outline);
    Some(if fits(&outline) {
        outline
    } else {
        write(Detail::Count)
    })
}

/// Where a scalar stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Line,
    Flow,
}

fn push(out: &mut String, shown: Shown<'_>, (detail, place): (Detail, Place)) {
    match shown.content() {
        Content::Null => out.push_str("null"),
        Content::Bool(bool) => out.push_str(if bool { "true" } else { "false" }),
        Content::Number(digits) => out.push_str(digits),
        Content::Redacted(redacted) => out.push_str(&redacted.to_string()),
        Content::Text(text) => out.push_str(&string(&text, place)),
        Content::Array => push_array(out, shown, detail),
        Content::Object if detail == Detail::Count => {
            out.push_str(&counted(shown.fields().count(), ("{", "field", "}")));
        }
        Content::Object => push_object(out, shown, (detail, &[])),
    }
}

fn push_object(out: &mut String, shown: Shown<'_>, (detail, without): (Detail, &[&str])) {
    out.push('{');
    let fields = shown
        .fields()
        .filter(|(name, _)| !without.contains(&&**name));
    for (index, (name, value)) in fields.enumerate() {
        out.push_str(if index == 0 { "" } else { ", " });
        out.push_str(&string(&name, Place::Flow));
        out.push_str(": ");
        push(out, value, (inner(detail), Place::Flow));
    }
    out.push('}');
}

fn push_array(out: &mut String, shown: Shown<'_>, detail: Detail) {
    if detail == Detail::Count {
        return out.push_str(&counted(shown.items().count(), ("[", "item", "]")));
    }
    out.push('[');
    for (index, item) in shown.items().enumerate() {
        out.push_str(if index == 0 { "" } else { ", " });
        push(out, item, (inner(detail), Place::Flow));
    }
    out.push(']');
}

fn inner(detail: Detail) -> Detail {
    match detail {
        Detail::Whole => Detail::Whole,
        Detail::Outline | Detail::Count => Detail::Count,
    }
}

/// `{3 fields}`; the empty ones in one piece.
fn counted(count: usize, (open, unit, close): (&str, &str, &str)) -> String {
    match count {
        0 => format!("{open}{close}"),
        1 => format!("{open}1 {unit}{close}"),
        _ => format!("{open}{} {unit}s{close}", thousands(count)),
    }
}

/// A count with its thousands apart: `4,864`.
pub(super) fn thousands(count: usize) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 change`, `25 changes`.
pub(super) fn plural(count: usize, unit: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{} {unit}{s}", thousands(count))
}

fn string(text: &str, place: Place) -> String {
    let written: Cow<'_, str> = if is_plain(text, place) {
        Cow::Borrowed(text)
    } else {
        // A string is always serialisable.
        Cow::Owned(serde_json::to_string(text).unwrap_or_default())
    };
    text::escape_line(&written).into_owned()
}

/// Whether YAML reads the bare text as this very string (YAML 1.2 §7.3.3, and the words that YAML 1.1
/// takes for booleans).
fn is_plain(text: &str, place: Place) -> bool {
    let Some(first) = text.chars().next() else {
        return false;
    };
    let starts_well = match first {
        '-' | '?' | ':' => !text[1..].starts_with([' ', '\t']) && text.len() > 1,
        ',' | '[' | ']' | '{' | '}' | '#' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%'
        | '@' | '`' | '<' | ' ' => false,
        _ => true,
    };
    let inside = |char: char| match place {
        Place::Line => false,
        Place::Flow => matches!(char, ',' | '[' | ']' | '{' | '}'),
    };
    starts_well
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.chars().any(|char| char.is_control() || inside(char))
        && !is_other_scalar(text)
}

/// Whether YAML reads the text as something that is no string.
fn is_other_scalar(text: &str) -> bool {
    let number = text.strip_prefix(['-', '+']).unwrap_or(text);
    let starts_like_one = number
        .strip_prefix('.')
        .unwrap_or(number)
        .starts_with(|char: char| char.is_ascii_digit());
    let is_number = starts_like_one
        && (number.replace('_', "").parse::<f64>().is_ok()
            || number.starts_with("0x")
            || number.starts_with("0o"));
    is_number
        || matches!(
            text.to_ascii_lowercase().as_str(),
            "null"
                | "~"
                | "true"
                | "false"
                | "yes"
                | "no"
                | "on"
                | "off"
                | "y"
                | "n"
                | ".nan"
                | ".inf"
                | "-.inf"
                | "+.inf"
                | "---"
                | "..."
        )
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

    #[test]
    fn strings_are_bare_where_yaml_reads_them_so() {
        for text in BARE {
            assert_eq!(string(text, Place::Line), *text);
        }
        for text in QUOTED {
            assert_eq!(
                string(text, Place::Line),
                serde_json::to_string(text).expect("a string")
            );
        }
        assert_eq!(
            string("a\u{1b}[2J\u{7}", Place::Line),
            r#""a\u001b[2J\u0007""#
        );
        assert_eq!(string("a\u{202e}b", Place::Line), "a\\u{202e}b");
        assert_eq!(
            string("say \"hi\"\nthere", Place::Line),
            r#""say \"hi\"\nthere""#
        );
    }

    #[test]
    fn composites_are_folded_to_fit() {
        let doc = Doc::parse(
            r#"{"name":"web","n":1,"args":["a,b","--x"],"resources":{"limits":{"cpu":"1"}},"e":{},"f":[]}"#,
        )
        .expect("valid");
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
}
