//! Tests of `parse`.

use proptest::prelude::*;

use super::*;

#[test]
fn each_encoding_gives_the_same_text() {
    let text = "kind: Pod\r\nname: café ☕ 🦀\n";
    let units: Vec<u16> = text.encode_utf16().collect();
    let of = |mark: u16, bytes: fn(u16) -> [u8; 2]| {
        let units = std::iter::once(mark).chain(units.iter().copied());
        decoded(units.flat_map(bytes).collect())
    };
    assert_eq!(of(0xfeff, u16::to_le_bytes), text);
    assert_eq!(of(0xfeff, u16::to_be_bytes), text);
    assert_eq!(decoded(text.into()), text);
}

#[test]
fn what_is_not_valid_is_replaced() {
    assert_eq!(decoded(b"a\xffb".to_vec()), "a\u{fffd}b");
    // Half a surrogate pair, and half a unit.
    assert_eq!(
        decoded(vec![0xff, 0xfe, b'a', 0, 0x3e, 0xd8, b'b', 0, 7]),
        "a\u{fffd}b\u{fffd}"
    );
    assert_eq!(decoded(vec![0xfe, 0xff]), "");
}

#[test]
fn whole_items_are_kept() {
    for (text, kept) in [
        (
            r#"{"items":[{"a":[{"b":1}]},{"c":"}]"},{"d":[{}"#,
            r#"{"items":[{"a":[{"b":1}]},{"c":"}]"}]}"#,
        ),
        (r#"[{"a":1},{"b":"\"]"#, r#"[{"a":1}]"#),
        (
            r#"{"kind":"List","items":[{"a":1}"#,
            r#"{"kind":"List","items":[{"a":1}]}"#,
        ),
        // The first item, or another field than the items, is cut off.
        (r#"{"items":[{"a":[{"b":1}]"#, ""),
        (r#"{"a":[{"b":1}],"c":{"d"#, ""),
        (r#"{"a":{"b":1"#, ""),
        ("{", ""),
        ("", ""),
    ] {
        assert_eq!(items_before_cut(text).unwrap_or_default(), kept, "{text}");
    }
}

#[test]
fn logs_are_left_out_and_lines_keep_their_numbers() {
    let log = |name: &str, text: &str| {
        let about = format!("logs for container a of pod shop/{name} ====");
        format!("==== START {about}\n{text}==== END {about}\n")
    };
    for (text, kept) in [
        ("a\nb\n".to_owned(), "a\nb\n"),
        (format!("a\n{}b\n", log("web", "x\ny\n")), "a\n\n\n\n\nb\n"),
        // The last line of a log may have no end, and a log may have the words of another one.
        (format!("{}b", log("web", "{\n---\nx")), "\n\n\n\nb"),
        (log("web", &log("db", "x\n")), "\n\n\n\n\n"),
        (format!("{}{}", log("a", ""), log("b", "")), "\n\n\n\n"),
        // It is cut off.
        (
            "a\n==== START logs for container a of pod b/c ====\nx\n{".to_owned(),
            "a\n\n\n",
        ),
        (
            "a ==== START logs for x\n".to_owned(),
            "a ==== START logs for x\n",
        ),
    ] {
        assert_eq!(without_logs(&text), kept, "{text}");
    }
}

#[test]
fn a_log_that_arrives_in_pieces_is_whole_at_its_end() {
    let text = "==== START logs for container a of pod b/c ====\r\nx==== END logs for container a of pod b/c ====";
    for length in 1..text.len() {
        assert_eq!(
            log_at_start(&text.as_bytes()[..length]),
            LogPart::Begun,
            "{length}"
        );
    }
    assert_eq!(log_at_start(text.as_bytes()), LogPart::Whole(text.len()));
    assert_eq!(log_at_start(b"{}"), LogPart::None);
    assert_eq!(log_at_start(b""), LogPart::None);
}

/// The values of a text that arrives in pieces of this size, and its final error.
fn split(text: &[u8], size: usize) -> (Vec<(String, usize)>, Option<String>) {
    let mut splitter = ValueSplitter::new();
    let mut values = Vec::new();
    for piece in text.chunks(size) {
        splitter.push(piece);
        loop {
            match splitter.next() {
                Ok(Some(value)) => values.push(value),
                Ok(None) => break,
                Err(error) => return (values, Some(error.to_string())),
            }
        }
    }
    let error = splitter.finish().err();
    (values, error.map(|error| error.to_string()))
}

#[test]
fn values_have_their_lines() {
    let text = "\n{\"a\": \"}\\\"{\",\n\"b\":[{}]}[1]\n\n {} ";
    for size in 1..text.len() {
        let (values, error) = split(text.as_bytes(), size);
        let expect = [
            ("{\"a\": \"}\\\"{\",\n\"b\":[{}]}".to_owned(), 2),
            ("[1]".to_owned(), 3),
            ("{}".to_owned(), 5),
        ];
        assert_eq!((values, error), (expect.into(), None), "{size}");
    }
}

#[test]
fn invalid_json_fails_as_soon_as_possible() {
    for (text, error) in [
        ("{}\nx", "line 2: expected value at column 1"),
        ("{}\n\n1 ", "line 3: not an object"),
        ("{}\n}", "line 2: expected value at column 1"),
        ("{\n\"a\": }", "line 2: expected value at column 6"),
        ("{\"a\":[}", "line 1: expected value at column 7"),
        // A brace is missing. The next value reveals that, not the end.
        (
            "{\"a\":{\"b\":1}\n{\"a\":{\"b\":2}}\n{\"a\"",
            "line 2: expected `,` or `}` at column 1",
        ),
        (
            "{}\n{\"a\":\n1",
            "line 3: unexpected end of JSON input at column 1",
        ),
    ] {
        let (_, found) = split(text.as_bytes(), text.len());
        assert_eq!(found.as_deref(), Some(error), "{text}");
    }
    let (values, found) = split(b"{}\n{\"a\":\n\"\xff\"}", 100);
    assert_eq!(
        (values.len(), found.as_deref()),
        (1, Some("line 3: not UTF-8"))
    );
}

proptest! {
    #[test]
    fn the_size_of_the_pieces_does_not_matter(text in r#"([{}\[\]",:\\ \n1ae]|\{"a":[0-9]\}|\[\])*"#, size in 1_usize..9) {
        let (whole, error) = split(text.as_bytes(), text.len().max(1));
        let (pieces, other) = split(text.as_bytes(), size);
        prop_assert_eq!(whole, pieces);
        prop_assert_eq!(error.is_some(), other.is_some());
    }
}
