//! The text of a log line, as people see it.

use std::borrow::Cow;

use super::display::{Line, after_colour_sequence};
use super::style::{Role, Styles};
use super::text::ESCAPE;

/// The most bytes of one line on a screen.
const LONGEST: usize = 1 << 20;

/// The text of a line.
#[derive(Clone, Copy, Debug)]
pub struct LogText<'t> {
    /// Its bytes, or the first of them.
    pub bytes: &'t [u8],
    /// How many more bytes the line has.
    pub more: u64,
}

/// All of a line.
impl<'t> From<&'t [u8]> for LogText<'t> {
    fn from(bytes: &'t [u8]) -> LogText<'t> {
        LogText { bytes, more: 0 }
    }
}

/// A line of a log after two other texts.
///
/// To a terminal, the program's own colours pass, and end with the line. Every other character that a terminal would obey
/// or hide becomes visible. So the line is no `Text`, which has no colours but those of its roles. Nor is a line without
/// colours: it is copied and checked once here, and a `Text` copies it twice.
pub fn log_line(
    styles: Styles,
    before: [&Line<'_>; 2],
    text: LogText<'_>,
    paint: impl FnOnce(&str) -> Option<String>,
) -> Line<'static> {
    let (shown, rest) = text
        .bytes
        .split_at_checked(LONGEST)
        .unwrap_or((text.bytes, &[]));
    let more = text.more + rest.len() as u64;
    let text = String::from_utf8_lossy(shown);
    let mut text = if styles.is_plain() {
        without_colours(&text)
    } else {
        text
    };
    if let Some(painted) = paint(&text) {
        text = Cow::Owned(painted);
    }
    if more > 0 {
        styles.push(text.to_mut(), Role::Dim, &format!(" … +{more} bytes"));
    }
    styles.coloured_line(before, &text)
}

/// The text without the colours of its program.
pub fn without_colours(text: &str) -> Cow<'_, str> {
    let Some(start) = text.find(ESCAPE) else {
        return Cow::Borrowed(text);
    };
    let mut plain = text[..start].to_owned();
    let mut rest = &text[start..];
    while let Some(next) = rest.chars().next() {
        if let Some(after) = after_colour_sequence(rest) {
            rest = after;
        } else {
            plain.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    Cow::Owned(plain)
}

/// The text with its matches emphasised. They are ranges of bytes in order.
pub fn emphasised(
    styles: Styles,
    text: &str,
    matches: impl IntoIterator<Item = (usize, usize)>,
) -> String {
    let mut shown = String::with_capacity(text.len() + 16);
    let mut end = 0;
    for (from, to) in matches {
        if from < end || from == to {
            continue;
        }
        shown.push_str(text.get(end..from).unwrap_or_default());
        styles.push(
            &mut shown,
            Role::Emphasis,
            text.get(from..to).unwrap_or_default(),
        );
        end = to;
    }
    shown.push_str(text.get(end..).unwrap_or_default());
    shown
}

#[cfg(test)]
mod tests {
    use super::super::style::testing::ansi;
    use super::*;
    use proptest::prelude::*;

    fn shown(styles: Styles, text: &[u8]) -> String {
        log_line(styles, [&Line::default(); 2], text.into(), |_| None)
            .as_str()
            .to_owned()
    }

    #[test]
    fn the_colours_of_a_program_pass_and_end_with_the_line() {
        for (text, on_terminal, in_pipe) in [
            (&b"plain"[..], "plain", "plain"),
            (b"\x1b[31mred\x1b[0m", "\u{1b}[31mred\u{1b}[0m", "red"),
            (
                b"\x1b[38;5;1mleft open",
                "\u{1b}[38;5;1mleft open\u{1b}[0m",
                "left open",
            ),
            (b"\x1b[2Jclear", "^[[2Jclear", "^[[2Jclear"),
            (b"\x1b]0;title\x07", "^[]0;title^G", "^[]0;title^G"),
            (b"a\rb\0c", "a\\rb^@c", "a\\rb^@c"),
            (b"a\tb", "a\tb", "a\tb"),
            (b"\xff\xfe", "\u{fffd}\u{fffd}", "\u{fffd}\u{fffd}"),
            (
                "\u{9b}2J \u{202e}x".as_bytes(),
                "\\u{9b}2J \\u{202e}x",
                "\\u{9b}2J \\u{202e}x",
            ),
            (b"\x1b[31", "^[[31", "^[[31"),
            (b"\x1b", "^[", "^["),
            (b"", "", ""),
        ] {
            assert_eq!(shown(Styles::ANSI, text), on_terminal, "{text:?}");
            assert_eq!(shown(Styles::PLAIN, text), in_pipe, "{text:?}");
        }
    }

    #[test]
    fn a_very_long_line_is_cut_and_says_so() {
        let line = shown(Styles::PLAIN, &vec![b'x'; LONGEST + 7]);
        assert!(
            line.ends_with("xxx … +7 bytes"),
            "{}",
            &line[line.len() - 20..]
        );
        assert_eq!(shown(Styles::PLAIN, &vec![b'x'; LONGEST]).len(), LONGEST);
        let text = LogText {
            bytes: b"ab",
            more: 3,
        };
        let line = log_line(Styles::PLAIN, [&Line::default(); 2], text, |_| None);
        assert_eq!(line.as_str(), "ab … +3 bytes");
    }

    #[test]
    fn matches_are_emphasised() {
        let text = emphasised(ansi(), "a fault, a fault", [(2, 7), (4, 5), (11, 16)]);
        assert_eq!(
            text,
            "a \u{1b}[1;4mfault\u{1b}[0m, a \u{1b}[1;4mfault\u{1b}[0m"
        );
    }

    proptest! {
        #[test]
        fn no_line_moves_a_cursor(parts in prop::collection::vec(prop_oneof![
            prop::collection::vec(any::<u8>(), 0..8),
            Just(b"\x1b[".to_vec()),
            Just(b"\x1b[1;31m".to_vec()),
            Just(b"\x1b[31;\x1b[2J".to_vec()),
            Just("\u{9b}31m".as_bytes().to_vec()),
        ], 0..8)) {
            let line = shown(Styles::ANSI, &parts.concat());
            let mut rest = line.as_str();
            while let Some(at) = rest.find(|c: char| c.is_control() && c != '\t') {
                let after = after_colour_sequence(&rest[at..]);
                prop_assert!(after.is_some(), "{line:?}");
                rest = after.unwrap_or_default();
            }
        }
    }
}
