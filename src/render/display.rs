//! Display text: the only text that the program's streams accept.
//!
//! A [`Line`] is a painted [`Text`], or a string that was made safe. Only lines reach a [`Stream`] or a
//! [`Screen`](super::screen::Screen).

use std::borrow::Cow;
use std::io::{self, Write};

use super::style::Styles;
use super::text::{
    ESCAPE, Text, escape_data, fits, head, is_plain, is_unsafe, push_visible, spans, width,
};

/// A line without its line feed. A terminal obeys nothing in it except tabs and the colours of [`Styles`],
/// and it hides no character.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line<'t>(Cow<'t, str>);

impl<'t> Line<'t> {
    /// Makes a text one line without colours. Characters that a terminal would obey or hide become visible, line feeds included.
    pub fn plain(text: impl Into<Cow<'t, str>>) -> Line<'t> {
        let text = text.into();
        match escape_data(&text) {
            Cow::Owned(safe) => Line(Cow::Owned(safe)),
            // Nearly all lines are safe unchanged.
            Cow::Borrowed(_) => Line(text),
        }
    }

    /// Splits a text into lines without colours.
    pub fn plain_lines(text: &'t str) -> Vec<Line<'t>> {
        text.split_terminator('\n').map(Line::plain).collect()
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Ends all colours.
const RESET: &str = "\u{1b}[0m";

impl Styles {
    /// Paints a text.
    pub fn text(self, text: impl Into<Text>) -> Line<'static> {
        Line(Cow::Owned(text.into().paint(self)))
    }

    /// Makes a line of two lines and a text that may have the colours of another program. Styles that paint keep all of them,
    /// and end them with the line.
    pub(super) fn coloured_line(self, before: [&Line<'_>; 2], text: &str) -> Line<'static> {
        let [first, second] = before.map(Line::as_str);
        let mut line = [first, second, text].concat();
        let start = first.len() + second.len();
        let safe = start + self.safe_part(text).len();
        if safe < line.len() {
            line.truncate(safe);
            self.push_safe(&mut line, &text[safe - start..]);
        }
        if line[start..].contains(ESCAPE) && !line.ends_with(RESET) {
            line.push_str(RESET);
        }
        Line(Cow::Owned(line))
    }

    /// The longest start of a text that may reach a terminal unchanged, with the colours of any program if these styles paint.
    fn safe_part(self, text: &str) -> &str {
        if is_plain(text) {
            return text;
        }
        let mut rest = text;
        while let Some(at) = rest.find(|c| c != '\t' && is_unsafe(c)) {
            rest = &rest[at..];
            let Some(after) = after_colour_sequence(rest).filter(|_| !self.is_plain()) else {
                return &text[..text.len() - rest.len()];
            };
            rest = after;
        }
        text
    }

    /// Appends a text that begins with a harmful character.
    fn push_safe(self, out: &mut String, text: &str) {
        let mut rest = text;
        while let Some(harmful) = rest.chars().next() {
            push_visible(out, harmful);
            rest = &rest[harmful.len_utf8()..];
            let safe = self.safe_part(rest);
            out.push_str(safe);
            rest = &rest[safe.len()..];
        }
    }
}

/// Cuts a painted line that is wider than `columns` at its end. All colour sequences are kept, so that every
/// colour that the line switches on is switched off again.
pub(super) fn cut_line<'a>(line: &'a str, columns: usize, ellipsis: &str) -> Cow<'a, str> {
    if fits(line, columns) {
        return Cow::Borrowed(line);
    }
    let (mut room, ellipsis) = match columns.checked_sub(width(ellipsis)) {
        Some(room) => (room, ellipsis),
        None => (columns, ""),
    };
    let mut kept = String::with_capacity(line.len());
    let mut is_cut = false;
    for span in spans(line) {
        if span.starts_with(ESCAPE) {
            kept.push_str(span);
        } else if !is_cut {
            let fitting = head(span, room);
            kept.push_str(fitting);
            room -= width(fitting);
            if fitting.len() < span.len() {
                is_cut = true;
                kept.push_str(ellipsis);
            }
        }
    }
    Cow::Owned(kept)
}

/// The longest colour sequence. Longer ones become visible.
const LONGEST_COLOUR: usize = 64;

/// The rest of a text that starts with a colour sequence (SGR, ECMA-48 8.3.117); `None` if it starts with none.
pub(super) fn after_colour_sequence(text: &str) -> Option<&str> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let is_parameter = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b';' | b':');
    let length = parameters.bytes().take_while(is_parameter).count();
    let is_colour = length <= LONGEST_COLOUR && parameters.as_bytes().get(length) == Some(&b'm');
    is_colour.then(|| &parameters[length + 1..])
}

/// Many lines in one piece.
#[derive(Debug, Default)]
pub struct LinePage {
    bytes: Vec<u8>,
    /// Whether some bytes may be anything.
    is_raw: bool,
}

impl LinePage {
    /// Adds a line, with its line feed.
    pub fn push(&mut self, line: &Line<'_>) {
        self.bytes.extend(line.as_str().bytes());
        self.bytes.push(b'\n');
    }

    /// Adds bytes as they are, for a stream that no terminal shows.
    pub fn push_bytes(&mut self, bytes: &[u8], _allowed: NoTerminal) {
        self.bytes.extend(bytes);
        self.is_raw = true;
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// How many bytes it has.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Its lines.
    pub fn lines(&self) -> Vec<Line<'_>> {
        let text = self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes);
        let lines = text.split(|byte| *byte == b'\n');
        let lines = lines.map(String::from_utf8_lossy);
        if self.is_raw {
            lines.map(Line::plain).collect()
        } else {
            lines.map(Line).collect()
        }
    }

    /// Its bytes, for the screen.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The proof that standard output is no terminal. Bytes may then be anything.
#[derive(Clone, Copy, Debug)]
pub struct NoTerminal(());

impl NoTerminal {
    /// `None` if the stream is a terminal of any kind.
    pub fn of(is_terminal: bool) -> Option<NoTerminal> {
        (!is_terminal).then_some(NoTerminal(()))
    }
}

/// Standard output or standard error.
pub struct Stream(Box<dyn Write + Send>);

impl Stream {
    /// Wraps a writer.
    pub fn new(out: impl Write + Send + 'static) -> Stream {
        Stream(Box::new(out))
    }

    /// Writes the lines and flushes.
    pub fn print(&mut self, lines: &[Line<'_>]) -> io::Result<()> {
        self.0.write_all(joined(lines).as_bytes())?;
        self.0.flush()
    }

    /// The same stream behind another writer.
    pub(crate) fn behind<W: Write + Send + 'static>(
        self,
        wrap: impl FnOnce(Box<dyn Write + Send>) -> W,
    ) -> Stream {
        Stream::new(wrap(self.0))
    }

    /// Returns the writer, for a [`Screen`](super::screen::Screen).
    pub(crate) fn into_writer(self) -> Box<dyn Write + Send> {
        self.0
    }
}

/// A stream that discards all output.
impl Default for Stream {
    fn default() -> Stream {
        Stream::new(io::sink())
    }
}

/// Joins the lines to one text, each with its line feed.
pub(super) fn joined(lines: &[Line<'_>]) -> String {
    let parts = lines.iter().flat_map(|line| [line.as_str(), "\n"]);
    parts.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Texts that a hostile object may contain in any field, and how a line shows them.
    const HOSTILE: [(&str, &str); 14] = [
        ("7\u{1b}]52;c;aGk=\u{7}", "7^[]52;c;aGk=^G"),
        ("7\u{1b}]52;c;aGk=\u{1b}\\", "7^[]52;c;aGk=^[\\"),
        ("\u{9d}52;c;aGk=\u{9c}", "\\u{9d}52;c;aGk=\\u{9c}"),
        ("\u{9b}2J", "\\u{9b}2J"),
        ("\u{1b}[2J", "^[[2J"),
        ("\u{1b}[38;5;1m", "^[[38;5;1m"),
        ("\u{1b}[8m\u{1b}[m", "^[[8m^[[m"),
        ("\u{1b}[31", "^[[31"),
        ("\u{1b}", "^["),
        ("gnp.\u{202e}exe", "gnp.\\u{202e}exe"),
        ("zero\u{200b}width", "zero\\u{200b}width"),
        ("a\r\nb\0", "a\\r\\nb^@"),
        ("a\u{2028}b\u{feff}", "a\\u{2028}b\\u{feff}"),
        ("→ naïve\t日本", "→ naïve\t日本"),
    ];

    #[test]
    fn a_line_makes_terminal_commands_visible() {
        for (text, expected) in HOSTILE {
            assert_eq!(Line::plain(text).as_str(), expected, "{text:?}");
        }
        let lines = Line::plain_lines("a\tb\n\u{1b}[2Jc\r\n\n");
        let lines: Vec<&str> = lines.iter().map(Line::as_str).collect();
        assert_eq!(lines, ["a\tb", "^[[2Jc\\r", ""]);
    }

    proptest! {
        #[test]
        fn no_text_moves_a_cursor(parts in prop::collection::vec(prop_oneof![
            any::<String>(),
            prop::sample::select(HOSTILE.map(|(text, _)| text).to_vec()).prop_map(str::to_owned),
        ], 0..6)) {
            let text = parts.concat();
            let plain = Line::plain(text.as_str());
            prop_assert!(!plain.as_str().contains(|c| c != '\t' && is_unsafe(c)), "{:?}", plain);
            // A second pass changes nothing.
            prop_assert_eq!(&Line::plain(plain.as_str()), &plain);
        }
    }
}
