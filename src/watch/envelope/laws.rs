//! Compares the skim with serde. If serde accepts a line, both read the same from it; the skim leaves the rest to
//! serde.

use proptest::prelude::*;
use proptest::sample::select;

use super::{Reader, WatchLine, head};
use crate::source::SourceKey;

/// Pieces of a line. Some of them are not JSON.
const PIECES: [&str; 48] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    " ",
    "\t",
    "\r",
    "\n",
    "\"",
    "\\",
    "null",
    "true",
    "fals",
    "0",
    "01",
    "-",
    "-1",
    "1.5e-3",
    "1.",
    "\"\"",
    "\"a\"",
    "\"\\u0061\"",
    "\"\\ud800\"",
    "\"\\x\"",
    "\"é\"",
    "\"\u{1}\"",
    "\"type\":",
    "\"object\":",
    "\"kind\":\"Pod\"",
    "\"kind\":",
    "\"apiVersion\":\"v1\"",
    "\"metadata\":{",
    "\"metadata\":",
    "\"name\":\"web\"",
    "\"name\":",
    "\"n\\u0061me\":\"x\"",
    "\"namespace\":\"n\"",
    "\"namespace\":null",
    "\"uid\":\"u\"",
    "\"resourceVersion\":\"7\"",
    "\"resourceVersion\":7",
    "\"deletionTimestamp\":\"t\"",
    "\"spec\":{\"a\":[1,{\"b\":\"}\"}]}",
    "\"spec\":",
    "\"x\":\"a\\\"b\\\\\"",
    "\"k:{\\\"a\\\":1}\":{}",
];

fn pieces(most: usize) -> impl Strategy<Value = String> {
    proptest::collection::vec(select(&PIECES[..]), 0..most).prop_map(|pieces| pieces.concat())
}

/// Fields, mostly with commas between them. They come in any order, and may come twice.
fn fields() -> impl Strategy<Value = String> {
    let field = prop_oneof![
        8 => select(&PIECES[28..]).prop_filter("a whole field", |piece| !piece.ends_with([':', '{'])).prop_map(str::to_owned),
        2 => pieces(4).prop_map(|value| format!("\"spec\":{value}")),
        1 => pieces(4),
    ];
    proptest::collection::vec(field, 0..8).prop_map(|fields| fields.join(","))
}

/// An object, or a text that is nearly one.
fn object() -> impl Strategy<Value = String> {
    (fields(), fields(), fields(), pieces(2)).prop_map(|(before, metadata, after, end)| {
        let all = [before, format!("\"metadata\":{{{metadata}}}"), after];
        let all: Vec<String> = all.into_iter().filter(|part| !part.is_empty()).collect();
        format!("{{{}}}{end}", all.join(","))
    })
}

/// Serde refuses repeated fields. The skim may have stopped before the second one.
fn check(object: &str) -> Result<(), TestCaseError> {
    if let (Some(skimmed), Ok(read)) = (head::skim_item(object), serde_json::from_str(object)) {
        let read: head::Head<'_> = read;
        prop_assert_eq!(&read, &skimmed, "{}", object);
    }
    for end in ["}", "} ", "}\r", "", "}}"] {
        let line = format!(r#"{{"type":"ADDED","object":{object}{end}"#);
        if let (Some(skimmed), Ok(read)) = (head::skim_line(&line), head::line(&line)) {
            prop_assert_eq!(&read, &skimmed, "{}", line);
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn the_skim_and_serde_read_the_same_head(object in object()) {
        check(&object)?;
    }

    #[test]
    fn truncated_objects_are_not_skimmed(object in object(), at in any::<proptest::sample::Index>()) {
        let cut = at.index(object.len());
        if object.is_char_boundary(cut) {
            check(&object[..cut])?;
            let (beginning, rest) = object.split_at(cut);
            let begins = rest.trim_start().starts_with('{');
            prop_assert!(begins || head::skim_item(rest).is_none(), "{}", rest);
            let ends = beginning.trim_end().ends_with('}');
            prop_assert!(ends || head::skim_item(beginning).is_none(), "{}", beginning);
        }
    }
}

/// The property above proves nothing if no line is skimmed.
#[test]
fn lines_from_the_server_are_skimmed() {
    let body = r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"7","labels":{"a":"\"b"},"deletionTimestamp":"2026-01-01T00:00:00Z"},"x":[{"object":1},"}",-1.5e3,null,[]]}"#;
    let line = format!(r#"{{"type":"MODIFIED","object":{body}}}"#);
    let (kind, text, head) = head::skim_line(&line).expect("skimmed");
    assert_eq!((&*kind, text), ("MODIFIED", body));
    let meta = &head.metadata;
    assert_eq!((&*head.kind.0, &*head.api_version.0), ("Pod", "v1"));
    assert_eq!((&*meta.name.0, &*meta.namespace.0), ("a", "n"));
    assert_eq!((&*meta.uid.0, &*meta.resource_version.0), ("u", "7"));
    assert_eq!(&*meta.deletion_timestamp.0, "2026-01-01T00:00:00Z");
    assert_eq!(head::skim_item(body), Some(head));
}

/// The skim does not check the rest of the line. An error there shows when the object is parsed.
#[test]
fn a_line_is_skimmed_to_the_end_of_its_head() {
    let head =
        r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","uid":"u","resourceVersion":"7""#;
    for rest in [r#","managedFields":?}}"#, r#"},"spec":?}"#, "}"] {
        assert!(
            head::skim_item(&format!("{head}{rest}")).is_some(),
            "{rest}"
        );
    }
    for rest in ["", ",}}", r#","labels":?}}"#, r#"},"spec":"#] {
        assert!(
            head::skim_item(&format!("{head}{rest}")).is_none(),
            "{rest}"
        );
    }
}

/// Deep nesting makes a line unusual, not wrong.
#[test]
fn deep_nesting_is_left_to_serde() {
    let nested = |depth: usize| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        format!(r#"{{"metadata":{{"name":"a"}},"spec":{open}{close}}}"#)
    };
    assert!(head::skim_item(&nested(60)).is_some());
    assert_eq!(head::skim_item(&nested(10_000)), None);
}

/// Extreme depth is no danger: that version cannot be read, but the next line can.
#[test]
fn extreme_nesting_costs_only_its_own_version() {
    let mut reader = Reader::new(&SourceKey::all("", "Pod"));
    let deep = "[".repeat(100_000);
    assert!(reader.line(deep.as_bytes()).is_err());
    let mut reads = |spec: &str| {
        let line = format!(
            r#"{{"type":"MODIFIED","object":{{"metadata":{{"name":"a"}},"spec":{spec}}}}}"#
        );
        match reader.line(line.as_bytes()).expect("a line") {
            WatchLine::Object { item, .. } => item.version.doc().is_ok(),
            other => panic!("{other:?}"),
        }
    };
    assert!(!reads(&format!("{deep}{}", "]".repeat(100_000))));
    assert!(reads("[]"));
}
