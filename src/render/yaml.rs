//! Writes objects as YAML in the style of `kubectl get -o yaml`: fields sorted by name, lists not indented,
//! multi-line text as a block.
//!
//! No library is used, for two reasons. Numbers keep their digits. And all characters that a terminal may
//! obey or hide are escaped as YAML allows, so that the text is safe to show and has the same value.

use std::borrow::Cow;
use std::fmt::Write;

use super::text::{Text, is_unsafe};
use crate::diff::{Content, Projection, Shown};

/// The lines of the object's selected part, without line feeds.
pub fn yaml(shown: Shown<'_>, projection: &Projection<'_>) -> Vec<Text> {
    let mut writer = YamlWriter {
        lines: Vec::new(),
        projection,
    };
    match shown.content() {
        Content::Object if writer.has_fields(shown) => {
            writer.object(shown, 0, String::new());
        }
        Content::Array if writer.has_items(shown) => writer.array(shown, 0, String::new()),
        _ => writer.scalar(shown, 0, String::new()),
    }
    writer.lines.into_iter().map(Text::data).collect()
}

struct YamlWriter<'w> {
    lines: Vec<String>,
    projection: &'w Projection<'w>,
}

impl YamlWriter<'_> {
    fn has_fields(&self, shown: Shown<'_>) -> bool {
        self.projection.fields(shown).next().is_some()
    }

    fn has_items(&self, shown: Shown<'_>) -> bool {
        self.projection.items(shown).next().is_some()
    }

    /// Writes the fields, each on a line of its own. The first one follows `lead`.
    fn object(&mut self, shown: Shown<'_>, indent: usize, lead: String) {
        let mut fields: Vec<(Cow<'_, str>, Shown<'_>)> = self.projection.fields(shown).collect();
        fields.sort_by(|a, b| a.0.cmp(&b.0));
        let mut lead = Some(lead);
        for (name, value) in fields {
            let mut start = lead.take().unwrap_or_else(|| spaces(indent));
            start.push_str(&inline(&name));
            start.push(':');
            match value.content() {
                Content::Object if self.has_fields(value) => {
                    self.lines.push(start);
                    self.object(value, indent + 2, spaces(indent + 2));
                }
                Content::Array if self.has_items(value) => {
                    self.lines.push(start);
                    self.array(value, indent, spaces(indent));
                }
                _ => {
                    start.push(' ');
                    self.scalar(value, indent + 2, start);
                }
            }
        }
    }

    /// Writes the items, each after a dash. The first one follows `lead`.
    fn array(&mut self, shown: Shown<'_>, indent: usize, lead: String) {
        let mut lead = Some(lead);
        for item in self.projection.items(shown) {
            let mut start = lead.take().unwrap_or_else(|| spaces(indent));
            start.push_str("- ");
            match item.content() {
                Content::Object if self.has_fields(item) => {
                    self.object(item, indent + 2, start);
                }
                Content::Array if self.has_items(item) => self.array(item, indent + 2, start),
                _ => self.scalar(item, indent + 2, start),
            }
        }
    }

    /// Writes a value without children after `start`. `indent` applies to the lines of a block.
    fn scalar(&mut self, shown: Shown<'_>, indent: usize, mut start: String) {
        match shown.content() {
            Content::Null => start.push_str("null"),
            Content::Bool(bool) => start.push_str(if bool { "true" } else { "false" }),
            Content::Number(digits) => start.push_str(digits),
            Content::Redacted(redacted) => start.push_str(&quoted(&redacted.to_string())),
            Content::Array => start.push_str("[]"),
            Content::Object => start.push_str("{}"),
            Content::Text(text) if is_block(&text) => return self.block(&text, indent, &start),
            Content::Text(text) => start.push_str(&inline(&text)),
        }
        self.lines.push(start);
    }

    /// Writes a literal block (YAML 1.2 §8.1.2). Its indicator gives the number of line feeds at its end.
    fn block(&mut self, text: &str, indent: usize, start: &str) {
        let body = text.strip_suffix('\n').unwrap_or(text);
        let chomping = match (body.len() < text.len(), body.ends_with('\n')) {
            (false, _) => "-",
            (true, false) => "",
            (true, true) => "+",
        };
        self.lines.push(format!("{start}|{chomping}"));
        for line in body.split('\n') {
            let indent = if line.is_empty() { 0 } else { indent };
            self.lines.push(spaces(indent) + line);
        }
    }
}

fn spaces(count: usize) -> String {
    " ".repeat(count)
}

/// Whether a text can be a literal block. It needs several lines, all safe to show, and the first must
/// determine the indentation.
fn is_block(text: &str) -> bool {
    text.contains('\n')
        && !text.starts_with([' ', '\t', '\n'])
        && !text.contains(|c| !matches!(c, '\n' | '\t') && is_unsafe(c))
}

fn inline(text: &str) -> Cow<'_, str> {
    if is_bare(text) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(quoted(text))
    }
}

/// Whether all readers of YAML 1.1 and 1.2 read the bare text as this string. Other tools read this YAML, so
/// if in doubt, the answer is no, and the text is quoted.
fn is_bare(text: &str) -> bool {
    let mut chars = text.chars();
    let starts_well = match (chars.next(), chars.next(), chars.next()) {
        (Some('-'), Some('-'), Some(third)) => third.is_alphabetic(),
        (Some('0'..='9'), ..) => is_number_like_name(text),
        (Some(first), ..) => first.is_alphabetic() || matches!(first, '/' | '_' | '$' | '('),
        (None, ..) => false,
    };
    starts_well && !text.contains(is_unsafe) && is_plain(text, ScalarPlace::Line)
}

/// Whether a text that begins like a number is none in any YAML version, such as an IP address or an image
/// digest.
fn is_number_like_name(text: &str) -> bool {
    let is_clean = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '/');
    text.chars().all(is_clean)
        && (text.matches('.').count() > 1 || text.contains(|c: char| matches!(c, 'g'..='w')))
        && !text.starts_with("0x")
        && !text.starts_with("0o")
}

/// The text in double quotes, escaped as in JSON. Only characters beyond the basic plane differ: YAML has no
/// surrogates, so they take one escape.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_unsafe(c) => {
                let code = u32::from(c);
                let written = if code > 0xffff {
                    write!(out, "\\U{code:08x}")
                } else {
                    write!(out, "\\u{code:04x}")
                };
                written.expect("a String takes any text");
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The context of a scalar, which decides when it needs quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ScalarPlace {
    /// On a line of its own.
    Line,
    /// Inside a list or an object in flow form.
    Flow,
}

/// Whether YAML reads the bare text as this string (YAML 1.2 §7.3.3, and the words that YAML 1.1 reads as
/// booleans).
pub(super) fn is_plain(text: &str, place: ScalarPlace) -> bool {
    let Some(first) = text.chars().next() else {
        return false;
    };
    let starts_well = match first {
        '-' | '?' | ':' => !text[1..].starts_with([' ', '\t']) && text.len() > 1,
        ',' | '[' | ']' | '{' | '}' | '#' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%'
        | '@' | '`' | '<' | ' ' => false,
        _ => true,
    };
    starts_well
        && !text.ends_with([' ', ':'])
        && has_plain_bytes(text, place)
        && (text.is_ascii() || !text.chars().any(char::is_control))
        && !is_other_scalar(text)
}

/// Whether the text contains no comment, mapping or control character, and inside a flow no character that
/// ends a value.
#[expect(
    clippy::needless_bitwise_bool,
    reason = "a lazy operator is a branch, and branches keep the loops from checking many bytes at once"
)]
fn has_plain_bytes(text: &str, place: ScalarPlace) -> bool {
    let ends_one =
        |byte: u8| place == ScalarPlace::Flow && matches!(byte, b',' | b'[' | b']' | b'{' | b'}');
    let is_plain = |byte: u8| (byte >= b' ') & (byte != 0x7f) & !ends_one(byte);
    let is_syntax = |a: u8, b: u8| (a == b':') & (b == b' ') | (a == b' ') & (b == b'#');
    let bytes = text.as_bytes();
    let Some((_, rest)) = bytes.split_first() else {
        return true;
    };
    // Nothing ends these loops early, so that many bytes are checked at once.
    let has_plain = bytes.iter().fold(true, |all, byte| all & is_plain(*byte));
    let pairs = bytes.iter().zip(rest);
    has_plain && !pairs.fold(false, |any, (a, b)| any | is_syntax(*a, *b))
}

/// Words that YAML 1.1 or 1.2 does not read as strings, in any case.
const OTHER_WORDS: [&str; 16] = [
    "null", "~", "true", "false", "yes", "no", "on", "off", "y", "n", ".nan", ".inf", "-.inf",
    "+.inf", "---", "...",
];

/// Whether a number may contain this byte after its start.
fn is_of_numbers(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-' | b'_')
}

/// Whether YAML reads the text as something other than a string.
fn is_other_scalar(text: &str) -> bool {
    let number = text.strip_prefix(['-', '+']).unwrap_or(text);
    let starts_like_one = number
        .strip_prefix('.')
        .unwrap_or(number)
        .starts_with(|char: char| char.is_ascii_digit());
    let is_decimal =
        || number.bytes().all(is_of_numbers) && number.replace('_', "").parse::<f64>().is_ok();
    let is_number =
        starts_like_one && (is_decimal() || number.starts_with("0x") || number.starts_with("0o"));
    let is_word = || {
        let mut words = OTHER_WORDS.iter();
        text.len() <= 5 && words.any(|word| text.eq_ignore_ascii_case(word))
    };
    is_number || is_word()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value as Json;

    use super::*;
    use crate::diff::{Filter, Redactor};
    use crate::object::Doc;
    use crate::object::list_keys::ListKeys;
    use crate::render::style::testing::plain;

    fn written(json: &str, without: &[&str]) -> String {
        let doc = Doc::parse(json).unwrap();
        let redactor = Redactor::new();
        let shown = redactor.shown(doc.root());
        let lines = yaml(shown, &Projection::default().and_metadata(shown, without));
        plain(lines) + "\n"
    }

    #[test]
    fn unselected_parts_are_omitted() {
        let part = |only: &[&str], ignore: &[&str]| {
            let read = |paths: &[&str]| {
                let paths = paths.iter().map(|path| path.parse().expect("a path"));
                paths.collect()
            };
            let filter = Filter {
                only: read(only),
                ignore: read(ignore),
            };
            let doc = Doc::parse(POD).unwrap();
            let redactor = Redactor::new();
            let shown = redactor.shown(doc.root());
            plain(yaml(
                shown,
                &filter.projection([shown], ListKeys::builtin()),
            ))
        };
        insta::assert_snapshot!(part(&["status"], &[]), @r"
        status:
          phase: Running
        ");
        // A port without a protocol has protocol TCP.
        insta::assert_snapshot!(part(&["spec.**.ports[containerPort=80,protocol=TCP]", "**.image"], &["**[name=log]"]), @r"
        spec:
          containers:
          - image: web:1
            ports:
            - containerPort: 80
        ");
        insta::assert_snapshot!(part(&["spec.containers[1].name", "spec.containers[*].env[name=A#2]", "metadata.finalizers"], &[]), @r#"
        metadata:
          finalizers:
          - a
        spec:
          containers:
          - env:
            - name: A
              value: "2"
            name: log
        "#);
        insta::assert_snapshot!(part(&[], &["metadata", "spec.containers[*].*", "kind"]), @r"
        spec:
          containers:
          - {}
          - {}
        status:
          phase: Running
        ");
        insta::assert_snapshot!(part(&["spec.nothing"], &[]), @"{}");
    }

    const POD: &str = r#"{"kind":"Pod","metadata":{"name":"web","finalizers":["a"]},"spec":{"containers":[
        {"name":"web","image":"web:1","ports":[{"containerPort":80},{"containerPort":81}]},
        {"name":"log","image":"log:1","env":[{"name":"A","value":"1"},{"name":"A","value":"2"}]}]},"status":{"phase":"Running"}}"#;

    #[test]
    fn an_object_has_the_layout_of_kubectl() {
        let object = r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"app","managedFields":[{"manager":"x"}],
            "creationTimestamp":"2024-05-01T14:02:01Z","annotations":{"a.b/c":"","n":"8080","t":"true"},"labels":{}},
            "data":{"app.yaml":"server:\n  port: 80\n","one":"a: b","end":"x\ny","ends":"x\n\n","esc":"a\u001b[2J","lead":" a\nb"},
            "items":[[1,[2,{"a":{"b":[]}}]],{"x":null,"y":[{"z":"10.0.0.1"},"--v=2"]}],
            "n":18446744073709551617,"f":1.10}"#;
        insta::assert_snapshot!(written(object, &["managedFields"]), @r#"
        apiVersion: v1
        data:
          app.yaml: |
            server:
              port: 80
          end: |-
            x
            y
          ends: |+
            x

          esc: "a\u001b[2J"
          lead: " a\nb"
          one: "a: b"
        f: 1.10
        items:
        - - 1
          - - 2
            - a:
                b: []
        - x: null
          "y":
          - z: 10.0.0.1
          - --v=2
        kind: ConfigMap
        metadata:
          annotations:
            a.b/c: ""
            "n": "8080"
            t: "true"
          creationTimestamp: "2024-05-01T14:02:01Z"
          labels: {}
          name: app
        "n": 18446744073709551617
        "#);
    }

    #[test]
    fn secret_values_are_replaced_by_placeholders() {
        let secret = r#"{"kind":"Secret","apiVersion":"v1","data":{"p":"aHVudGVyMg=="}}"#;
        insta::assert_snapshot!(written(secret, &[]), @r#"
        apiVersion: v1
        data:
          p: "<secret 7 B #1>"
        kind: Secret
        "#);
    }

    fn text() -> impl Strategy<Value = String> {
        prop_oneof![
            any::<String>(),
            "[ \\n\\t:#a'\"|>-]{0,8}",
            "[0-9a-fx.:_eE+-]{0,8}",
            "(y|n|null|~|true|No|ON|0x1f|1:30|2024-05-01|1_000|=|<<|\\.nan|\\.inf)",
        ]
    }

    fn json() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::from),
            any::<i64>().prop_map(Json::from),
            text().prop_map(Json::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
                prop::collection::hash_map(text(), inner, 0..4)
                    .prop_map(|map| Json::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_yaml_reader_returns_the_same_value(value in json()) {
            let lines = written(&value.to_string(), &[]);
            prop_assert!(!lines.contains(|c| !matches!(c, '\n' | '\t') && is_unsafe(c)));
            let read: Json = serde_saphyr::from_str(&lines).map_err(|e| TestCaseError::fail(format!("{e}\n{lines}")))?;
            prop_assert_eq!(read, value, "{}", lines);
        }
    }
}
