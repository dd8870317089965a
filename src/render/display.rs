//! Display text: the only text that the program's streams accept.
//!
//! Only [`Styles`] make a [`Line`], of a [`Text`] or of a string that they make safe, and only lines reach a [`Stream`] or a
//! [`Screen`](super::screen::Screen).

use std::borrow::Cow;
use std::io::{self, Write};

use super::style::Styles;
use super::text::{Text, is_plain, is_unsafe, push_visible};

/// A line without its line feed. A terminal obeys nothing in it except tabs and the colours of [`Styles`],
/// and it hides no character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line<'t>(Cow<'t, str>);

impl Line<'_> {
    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The first character of a colour sequence, and of most other terminal commands.
pub(super) const ESCAPE: char = '\u{1b}';

/// The colour sequences that [`Styles::paint`] writes. Every other escape sequence is made visible.
const PALETTE: [&str; 8] = [
    "\u{1b}[0m",
    "\u{1b}[1m",
    "\u{1b}[2m",
    "\u{1b}[1;4m",
    "\u{1b}[31m",
    "\u{1b}[32m",
    "\u{1b}[33m",
    "\u{1b}[36m",
];

/// Ends all colours.
const RESET: &str = "\u{1b}[0m";

/// Finds the rest of a text that starts with a colour sequence that may pass.
type AfterColour = fn(Styles, &str) -> Option<&str>;

impl Styles {
    /// Makes a text one line. Characters that a terminal would obey or hide become visible, line feeds
    /// included. Styles that paint keep their own colours.
    pub fn line<'t>(self, text: impl Into<Cow<'t, str>>) -> Line<'t> {
        let text = text.into();
        match self.safe_part_by(&text, Styles::after_colour) {
            // Nearly all lines are safe unchanged.
            safe if safe.len() == text.len() => Line(text),
            safe => {
                let safe = safe.len();
                Line(Cow::Owned(self.made_safe_by(
                    &text,
                    safe,
                    Styles::after_colour,
                )))
            }
        }
    }

    /// Paints a text.
    pub fn text(self, text: impl Into<Text>) -> Line<'static> {
        Line(Cow::Owned(text.into().paint(self)))
    }

    /// Makes a line of display text and a text that may have the colours of another program. Styles that paint keep all of
    /// them, and end them with the line.
    pub(super) fn coloured_line(self, before: &str, text: &str) -> Line<'static> {
        let line = [before, text].concat();
        let safe = self.safe_part_by(&line, Styles::after_any_colour).len();
        let mut line = if safe == line.len() {
            line
        } else {
            self.made_safe_by(&line, safe, Styles::after_any_colour)
        };
        let has_colours = |text: &str| text.contains(ESCAPE);
        if line.get(before.len()..).is_some_and(has_colours) && !line.ends_with(RESET) {
            line.push_str(RESET);
        }
        Line(Cow::Owned(line))
    }

    /// Splits a text into lines.
    pub fn lines(self, text: &str) -> Vec<Line<'_>> {
        let lines = text.split_terminator('\n');
        lines.map(|line| self.line(line)).collect()
    }

    /// The longest start of a text that may reach a terminal unchanged, with the colours that `after_colour` finds.
    fn safe_part_by(self, text: &str, after_colour: AfterColour) -> &str {
        if is_plain(text) {
            return text;
        }
        let mut rest = text;
        while let Some(at) = rest.find(|c| c != '\t' && is_unsafe(c)) {
            rest = &rest[at..];
            let Some(after) = after_colour(self, rest) else {
                return &text[..text.len() - rest.len()];
            };
            rest = after;
        }
        text
    }

    /// The rest of a text that starts with one of our colours; `None` if it starts with none.
    fn after_colour(self, text: &str) -> Option<&str> {
        let ours = PALETTE.iter().filter(|_| !self.is_plain());
        let mut after = ours.filter_map(|colour| text.strip_prefix(*colour));
        after.next().filter(|_| text.starts_with(ESCAPE))
    }

    /// The rest of a text that starts with a colour of any program; `None` if it starts with none.
    fn after_any_colour(self, text: &str) -> Option<&str> {
        after_colour_sequence(text).filter(|_| !self.is_plain())
    }

    fn made_safe_by(self, text: &str, safe: usize, after_colour: AfterColour) -> String {
        let mut out = String::with_capacity(text.len() + 16);
        out.push_str(&text[..safe]);
        let mut rest = &text[safe..];
        while let Some(harmful) = rest.chars().next() {
            push_visible(&mut out, harmful);
            rest = &rest[harmful.len_utf8()..];
            let safe = self.safe_part_by(rest, after_colour);
            out.push_str(safe);
            rest = &rest[safe.len()..];
        }
        out
    }
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

/// Many lines in one piece, for a stream that shows no frame.
#[derive(Debug, Default)]
pub struct LinePage(Vec<u8>);

impl LinePage {
    /// Adds a line, with its line feed.
    pub fn push(&mut self, line: &Line<'_>) {
        self.0.extend(line.as_str().bytes());
        self.0.push(b'\n');
    }

    /// Adds bytes as they are, for a stream that no terminal shows.
    pub fn push_bytes(&mut self, bytes: &[u8], _allowed: NoTerminal) {
        self.0.extend(bytes);
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many bytes it has.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Its bytes, for the screen.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
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
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::style::Role;
    use super::super::style::testing::ansi;
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
            for styles in [Styles::PLAIN, Styles::ANSI] {
                assert_eq!(styles.line(text).as_str(), expected, "{text:?}");
            }
            // The same between our own colours.
            let painted = format!(
                "{}{text} {}",
                ansi().dim("old"),
                ansi().paint(Role::Bad, "new")
            );
            let shown = format!(
                "{}{expected} {}",
                ansi().dim("old"),
                ansi().paint(Role::Bad, "new")
            );
            assert_eq!(Styles::ANSI.line(painted).as_str(), shown);
        }
    }

    #[test]
    fn the_palette_holds_exactly_the_painted_colours() {
        const ROLES: [Role; 14] = [
            Role::Plain,
            Role::Heading,
            Role::Added,
            Role::Removed,
            Role::Changed,
            Role::Moved,
            Role::Equal,
            Role::Emphasis,
            Role::Dim,
            Role::Good,
            Role::Bad,
            Role::Moving,
            Role::Name,
            Role::Warning,
        ];
        let mut used: BTreeSet<&&str> = BTreeSet::new();
        for outer in ROLES {
            for inner in ROLES {
                let styles = ansi();
                let text = format!("a {} →", styles.paint(inner, "b"));
                let painted = styles.paint(outer, &text);
                assert_eq!(styles.line(painted.as_str()).as_str(), painted);
                used.extend(PALETTE.iter().filter(|colour| painted.contains(*colour)));
            }
        }
        assert_eq!(used.len(), PALETTE.len(), "{used:?}");
        assert_eq!(
            Styles::PLAIN.line(ansi().paint(Role::Bad, "x")).as_str(),
            "^[[31mx^[[0m"
        );
    }

    proptest! {
        #[test]
        fn no_text_moves_a_cursor(parts in prop::collection::vec(prop_oneof![
            any::<String>(),
            prop::sample::select(PALETTE.to_vec()).prop_map(str::to_owned),
            prop::sample::select(HOSTILE.map(|(text, _)| text).to_vec()).prop_map(str::to_owned),
        ], 0..6)) {
            let text = parts.concat();
            let plain = Styles::PLAIN.line(text.as_str());
            prop_assert!(!plain.as_str().contains(|c| c != '\t' && is_unsafe(c)), "{:?}", plain);
            let painted = Styles::ANSI.line(text.as_str());
            let uncoloured = PALETTE.iter().fold(painted.as_str().to_owned(), |text, colour| text.replace(colour, ""));
            prop_assert!(!uncoloured.contains(|c| c != '\t' && is_unsafe(c)), "{:?}", painted);
            // A second pass changes nothing.
            prop_assert_eq!(Styles::ANSI.line(painted.as_str()), painted.clone());
        }
    }
}
