//! Writes a record as one line.

use std::io;

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter};

use crate::render::text::is_unsafe;

/// The record as one line of JSON, without a line feed. JSON escapes replace every character that a terminal
/// may obey or hide: the C0 controls, and those that [`escape_line`](crate::render::text::escape_line) makes
/// visible.
pub fn line(record: &impl Serialize) -> String {
    let mut bytes = Vec::with_capacity(512);
    record
        .serialize(&mut serde_json::Serializer::with_formatter(
            &mut bytes, Harmless,
        ))
        .expect("records have text keys, and memory takes any text");
    String::from_utf8(bytes).expect("JSON is UTF-8")
}

/// Compact JSON without characters that a terminal may obey.
struct Harmless;

impl Formatter for Harmless {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(is_unsafe) {
            let (safe, unsafe_on) = rest.split_at(at);
            CompactFormatter.write_string_fragment(writer, safe)?;
            let length = unsafe_on.chars().next().map_or(0, char::len_utf8);
            let (character, after) = unsafe_on.split_at(length);
            for unit in character.encode_utf16() {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = after;
        }
        CompactFormatter.write_string_fragment(writer, rest)
    }

    /// Raw JSON contains such characters only inside its strings.
    fn write_raw_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        self.write_string_fragment(writer, fragment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_preserved_without_terminal_commands() {
        for text in [
            "plain",
            "a\u{1b}[31mred\n\"quoted\" \\ back",
            "\u{9b}31m \u{202e}evil\u{2028} \u{feff}",
            "tag \u{e0041} ünïcode ⚠️",
            "",
        ] {
            let line = line(&text);
            assert!(!line.contains(is_unsafe), "{line:?}");
            assert_eq!(
                serde_json::from_str::<String>(&line).expect("the line is JSON"),
                text,
                "{line}"
            );
        }
        assert_eq!(line(&"\u{9b}\u{e0041}"), r#""\u009b\udb40\udc41""#);
    }
}
