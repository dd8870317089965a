//! `Text`: display text, its width, and how it is fitted to a line.
//!
//! Anyone who may write an object may put anything into its names, messages, annotations or log lines. Such text enters a
//! [`Text`] and is escaped there. Painting (`render::style`) comes after that.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::style::{Look, Role, Styles, Symbols, role};
use crate::status::Status;

/// A line of display text, without its line feed. All characters that a terminal would obey or hide are visible in it, and each
/// piece has a role, in which the screen paints it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    text: String,
    /// The pieces that are painted, from left to right.
    painted: Vec<(Range<usize>, Role)>,
}

impl Text {
    /// A text in this role.
    pub fn new(role: Role, text: impl AsRef<str>) -> Text {
        let mut new = Text::default();
        new.push(role, text);
        new
    }

    /// A text that is less important.
    pub fn dim(text: impl AsRef<str>) -> Text {
        Text::new(Role::Dim, text)
    }

    /// The symbol of a state, in the role of the state.
    pub fn symbol(status: Status, symbols: &Symbols) -> Text {
        Text::new(role(status), symbols.of(status))
    }

    /// One for each line of a text.
    pub fn lines(text: &str) -> impl Iterator<Item = Text> {
        text.lines().map(Text::from)
    }

    /// A line of a format that programs read. It keeps its tabs.
    pub fn data(line: impl Into<String>) -> Text {
        let mut line = line.into();
        if let Cow::Owned(safe) = escape_data(&line) {
            line = safe;
        }
        Text {
            text: line,
            painted: Vec::new(),
        }
    }

    /// The whole text in this role.
    #[must_use]
    pub fn in_role(mut self, role: Role) -> Text {
        let is_painted = role != Role::Plain && !self.is_empty();
        self.painted = Vec::from_iter(is_painted.then_some((0..self.text.len(), role)));
        self
    }

    /// Appends a piece in this role.
    pub fn push(&mut self, role: Role, piece: impl AsRef<str>) {
        self.write(role, |text| text.push_str(piece.as_ref()));
    }

    /// Appends a piece in this role, written by a closure, and returns its place.
    pub(super) fn write(&mut self, role: Role, write: impl FnOnce(&mut String)) -> Range<usize> {
        let start = self.text.len();
        write(&mut self.text);
        escape_line_from(&mut self.text, start);
        let piece = start..self.text.len();
        if role != Role::Plain && !piece.is_empty() {
            self.painted.push((piece.clone(), role));
        }
        piece
    }

    /// Puts another text in a place that is inside one piece or unpainted.
    pub(super) fn replace(&mut self, place: Range<usize>, by: &str) {
        self.text.replace_range(place.clone(), by);
        let moved = |at: &mut usize| {
            if *at >= place.end {
                *at = *at + by.len() - place.len();
            }
        };
        for (piece, _) in &mut self.painted {
            moved(&mut piece.start);
            moved(&mut piece.end);
        }
    }

    /// What a screen without colours shows.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it shows nothing.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The number of columns that it takes.
    pub fn width(&self) -> usize {
        width(&self.text)
    }

    /// Cuts the end of a text that is wider than `columns`: `registry.exam…`. The ellipsis is omitted if there is no room for
    /// it.
    #[must_use]
    pub fn fit(mut self, columns: usize, ellipsis: &str) -> Text {
        if fits(&self.text, columns) {
            return self;
        }
        let (room, ellipsis) = match columns.checked_sub(width(ellipsis)) {
            Some(room) => (room, ellipsis),
            None => (columns, ""),
        };
        let cut = head(&self.text, room).len();
        self.text.truncate(cut);
        self.text.push_str(ellipsis);
        self.painted
            .retain(|(piece, _)| piece.start < self.text.len() && piece.start <= cut);
        if let Some((last, _)) = self.painted.last_mut()
            && last.end > cut
        {
            last.end = self.text.len();
        }
        self
    }

    /// Cuts a text in one role that is wider than `columns` in its middle: `pod/web-5d4…b9d-mzt4c`.
    #[must_use]
    pub fn fit_middle(self, columns: usize, ellipsis: &str) -> Text {
        let role = self.painted.first().map_or(Role::Plain, |(_, role)| *role);
        Text::new(role, cut_middle(&self.text, columns, ellipsis))
    }

    /// Cuts a name so that it fits a line whose other parts take these columns. A third of the width is left to it,
    /// and at least 16 columns.
    #[must_use]
    pub fn fit_name(self, others: usize, look: Look) -> Text {
        let columns = look.width.unwrap_or(usize::MAX);
        let room = columns.saturating_sub(others).max(columns / 3).max(LEAST);
        self.fit_middle(room, look.symbols.ellipsis)
    }

    /// Cuts the end of a text that is wider than the screen.
    #[must_use]
    pub fn fit_to(self, look: Look) -> Text {
        self.fit(look.width.unwrap_or(usize::MAX), look.symbols.ellipsis)
    }

    /// Appends blanks up to this width.
    #[must_use]
    pub fn pad(mut self, columns: usize) -> Text {
        let blanks = columns.saturating_sub(self.width());
        self.text.extend(std::iter::repeat_n(' ', blanks));
        self
    }

    /// Drops the blanks at its end that are not painted.
    #[must_use]
    pub fn trim_end(mut self) -> Text {
        let painted = self.painted.last().map_or(0, |(piece, _)| piece.end);
        let end = self.text.trim_end().len().max(painted);
        self.text.truncate(end);
        self
    }

    /// Appends a text. Its names are cut until the line fits: the longest first, in the middle, but no name to fewer than 16
    /// columns. A name is a word with a dash or a slash: the words for states and reasons have neither.
    #[must_use]
    pub fn with_names(mut self, role: Role, text: impl AsRef<str>, look: Look) -> Text {
        let mut text = escape_line(text.as_ref());
        let columns = look.width.unwrap_or(usize::MAX);
        loop {
            let excess = (self.width() + width(&text)).saturating_sub(columns);
            let Some(name) = longest_name(&text).filter(|_| excess > 0) else {
                break;
            };
            let room = width(&text[name.clone()]).saturating_sub(excess);
            let cut = cut_middle(&text[name.clone()], room.max(LEAST), look.symbols.ellipsis);
            let cut = cut.into_owned();
            text.to_mut().replace_range(name, &cut);
        }
        self.push(role, text);
        self
    }

    /// A text after a lead, in as many lines as the width and `spare` allow, at most three. The lines after the first one have
    /// the second lead, which is as wide.
    pub(super) fn after_leads(
        [first, next]: [&Text; 2],
        text: &Text,
        look: Look,
        spare: usize,
    ) -> Vec<Text> {
        let columns = look.width.unwrap_or(usize::MAX);
        let most = spare.saturating_add(1).min(LINES);
        let lines = broken(&text.text, columns.saturating_sub(first.width()), most);
        let leads = std::iter::once(first).chain(std::iter::repeat(next));
        let lines = leads.zip(lines);
        lines
            .map(|(lead, line)| lead.clone() + text.part(line))
            .collect()
    }

    /// A part of it, which begins and ends at characters.
    fn part(&self, part: Range<usize>) -> Text {
        let painted = self.painted.iter().filter_map(|(piece, role)| {
            let (start, end) = (piece.start.max(part.start), piece.end.min(part.end));
            (start < end).then(|| (start - part.start..end - part.start, *role))
        });
        Text {
            painted: painted.collect(),
            text: self.text[part].to_owned(),
        }
    }

    /// The text with its colours.
    pub fn paint(&self, styles: Styles) -> String {
        let mut painted = String::with_capacity(self.text.len() + 12 * self.painted.len());
        let mut end = 0;
        for (piece, role) in &self.painted {
            painted.push_str(&self.text[end..piece.start]);
            styles.push(&mut painted, *role, &self.text[piece.clone()]);
            end = piece.end;
        }
        painted.push_str(&self.text[end..]);
        painted
    }
}

impl std::fmt::Display for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<&Text> for Text {
    fn from(text: &Text) -> Text {
        text.clone()
    }
}

impl<T: AsRef<str>> From<T> for Text {
    fn from(text: T) -> Text {
        Text::new(Role::Plain, text)
    }
}

impl<T: Into<Text>> std::ops::Add<T> for Text {
    type Output = Text;

    fn add(mut self, end: T) -> Text {
        let end = end.into();
        let start = self.text.len();
        self.text.push_str(&end.text);
        let pieces = end.painted.into_iter();
        let moved =
            |(piece, role): (Range<usize>, Role)| (piece.start + start..piece.end + start, role);
        self.painted.extend(pieces.map(moved));
        self
    }
}

/// Makes text safe to show inside one line without losing information. All characters that a terminal would
/// obey or hide become visible.
///
/// C0 controls and DEL become caret notation (`^[`), and a carriage return `\r`; kubectl does both since
/// CVE-2021-25743. A line feed becomes `\n`, a tab `\t`. C1 controls, bidirectional controls, line separators
/// and invisible characters become `\u{202e}`.
pub fn escape_line(text: &str) -> Cow<'_, str> {
    replace(text, is_unsafe)
}

/// As [`escape_line`], but tabs stay.
pub(super) fn escape_data(text: &str) -> Cow<'_, str> {
    replace(text, |c| c != '\t' && is_unsafe(c))
}

/// As [`escape_line`], in place, for the part of a text from `start` on.
pub(super) fn escape_line_from(text: &mut String, start: usize) {
    let safe = match escape_line(&text[start..]) {
        Cow::Borrowed(_) => return,
        Cow::Owned(safe) => safe,
    };
    text.replace_range(start.., &safe);
}

/// As [`escape_line`], for text that may be owned already.
pub(super) fn escaped_line(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => escape_line(text),
        Cow::Owned(mut text) => {
            escape_line_from(&mut text, 0);
            Cow::Owned(text)
        }
    }
}

/// Makes text safe to show in a table cell. Unlike in [`escape_line`], a tab becomes a space. A line feed,
/// carriage return or form feed ends the cell with `...`, as in kubectl's tables.
pub(super) fn escape_cell(text: &str) -> Cow<'_, str> {
    let (line, is_cut) = match text.find(['\n', '\r', '\u{c}']) {
        Some(end) => (&text[..end], true),
        None => (text, false),
    };
    let mut cell = if line.contains('\t') {
        Cow::Owned(escape_line(&line.replace('\t', " ")).into_owned())
    } else {
        escape_line(line)
    };
    if is_cut {
        cell.to_mut().push_str("...");
    }
    cell
}

/// Replaces every character for which `is_replaced` is true by a visible form.
fn replace(text: &str, is_replaced: impl Fn(char) -> bool) -> Cow<'_, str> {
    // Nearly all text is plain, so the check by character is rarely needed.
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    let Some(first) = text.find(&is_replaced) else {
        return Cow::Borrowed(text);
    };
    let mut safe = text[..first].to_owned();
    for c in text[first..].chars() {
        if is_replaced(c) {
            push_visible(&mut safe, c);
        } else {
            safe.push(c);
        }
    }
    Cow::Owned(safe)
}

pub(super) fn push_visible(safe: &mut String, c: char) {
    match c {
        '\n' => safe.push_str("\\n"),
        '\r' => safe.push_str("\\r"),
        '\t' => safe.push_str("\\t"),
        // Caret notation: the letter of a C0 control is 64 above it, and that of DEL (127) 64 below.
        '\0'..='\u{1f}' | '\u{7f}' => {
            safe.push('^');
            safe.push(char::from(c as u8 ^ 0x40));
        }
        _ => write!(safe, "\\u{{{:x}}}", u32::from(c)).expect("a String takes any text"),
    }
}

/// Whether a terminal may obey this character or show nothing for it.
///
/// In addition to controls, these are the line separators, the interlinear annotations and Unicode's
/// `Default_Ignorable_Code_Point` (bidirectional controls, zero-width characters, tags). The two selectors of
/// text and emoji presentation are excluded, because `⚠️` contains one.
pub(super) fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{2028}' | '\u{2029}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}' | '\u{1160}'
                | '\u{17b4}' | '\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0d}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fff8}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Whether the text is printable ASCII: one column for each byte, and no unsafe character.
pub(super) fn is_plain(text: &str) -> bool {
    text.bytes()
        .fold(true, |plain, byte| plain & PLAIN.contains(&byte))
}

/// Printable ASCII.
const PLAIN: Range<u8> = 0x20..0x7f;

/// The number of columns that text takes. Colour sequences do not count.
pub fn width(text: &str) -> usize {
    let start = plain_start(text.as_bytes());
    if start == text.len() {
        return start;
    }
    let end = text.len() - plain_end(&text.as_bytes()[start..]);
    // A character can widen the one before it.
    let core = &text[start.saturating_sub(1)..(end + 1).min(text.len())];
    if !core.contains(ESCAPE) {
        return text.len() - core.len() + core.width();
    }
    let spans = spans(text).filter(|span| !span.starts_with(ESCAPE));
    spans.map(UnicodeWidthStr::width).sum()
}

/// The number of bytes that are checked at once, which is faster than to look for a byte.
const BLOCK: usize = 16;

fn is_plain_block(block: &[u8; BLOCK]) -> bool {
    block
        .iter()
        .fold(true, |plain, byte| plain & PLAIN.contains(byte))
}

/// The number of printable ASCII characters at the start.
fn plain_start(text: &[u8]) -> usize {
    let blocks = text.as_chunks().0.iter();
    let plain = BLOCK * blocks.take_while(|block| is_plain_block(block)).count();
    let rest = text[plain..].iter();
    plain + rest.take_while(|byte| PLAIN.contains(byte)).count()
}

/// The number of printable ASCII characters at the end.
fn plain_end(text: &[u8]) -> usize {
    let blocks = text.as_rchunks().1.iter().rev();
    let plain = BLOCK * blocks.take_while(|block| is_plain_block(block)).count();
    let rest = text[..text.len() - plain].iter().rev();
    plain + rest.take_while(|byte| PLAIN.contains(byte)).count()
}

/// Whether text takes at most this many columns. A character never has more columns than bytes.
pub(super) fn fits(text: &str, columns: usize) -> bool {
    text.len() <= columns || width(text) <= columns
}

/// Cuts unpainted text that is wider than `columns` at its end: `registry.exam…`. The ellipsis is omitted if
/// there is no room for it.
pub(super) fn cut_end<'a>(text: &'a str, columns: usize, ellipsis: &str) -> Cow<'a, str> {
    if fits(text, columns) {
        return Cow::Borrowed(text);
    }
    let Some(room) = columns.checked_sub(width(ellipsis)) else {
        return Cow::Borrowed(head(text, columns));
    };
    Cow::Owned([head(text, room), ellipsis].concat())
}

/// Cuts unpainted text that is wider than `columns` in the middle: `pod/web-5d4…b9d-mzt4c`. Generated
/// Kubernetes names differ at the end, so with an odd number of columns the end gets one more. Without room
/// for the ellipsis, the start of the text is shown without it.
pub(super) fn cut_middle<'a>(text: &'a str, columns: usize, ellipsis: &str) -> Cow<'a, str> {
    if fits(text, columns) {
        return Cow::Borrowed(text);
    }
    let Some(room) = columns.checked_sub(width(ellipsis)) else {
        return Cow::Borrowed(head(text, columns));
    };
    let start = head(text, room / 2);
    let end = tail(&text[start.len()..], room - width(start));
    Cow::Owned([start, ellipsis, end].concat())
}

/// The first character of a colour sequence. Display text is escaped, so only painting puts one into a line.
pub(super) const ESCAPE: char = '\u{1b}';

/// Splits a painted line into its colour sequences (`ESC [ … m`) and the text between them.
pub(super) fn spans(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let end = if rest.starts_with(ESCAPE) {
            rest.find('m').map_or(rest.len(), |last| last + 1)
        } else {
            rest.find(ESCAPE).unwrap_or(rest.len())
        };
        let (span, after) = rest.split_at(end);
        rest = after;
        (!span.is_empty()).then_some(span)
    })
}

/// The longest start of `text`, in whole grapheme clusters, that fits into `columns`.
pub(super) fn head(text: &str, columns: usize) -> &str {
    if is_plain(text) {
        return &text[..columns.min(text.len())];
    }
    let clusters = text.grapheme_indices(true);
    let end = fitting(
        clusters.map(|(at, cluster)| (at + cluster.len(), cluster)),
        columns,
    );
    &text[..end.unwrap_or(0)]
}

/// The longest end of `text`, in whole grapheme clusters, that fits into `columns`.
pub(super) fn tail(text: &str, columns: usize) -> &str {
    if is_plain(text) {
        return &text[text.len() - columns.min(text.len())..];
    }
    let start = fitting(text.grapheme_indices(true).rev(), columns);
    &text[start.unwrap_or(text.len())..]
}

/// The position of the last cluster that fits, in sequence, into `columns`. A text is never wider than the
/// sum of its clusters.
fn fitting<'a>(clusters: impl Iterator<Item = (usize, &'a str)>, columns: usize) -> Option<usize> {
    let mut used = 0;
    clusters
        .take_while(|(_, cluster)| {
            used += cluster.width();
            used <= columns
        })
        .last()
        .map(|(at, _)| at)
}

/// The columns that a name keeps.
const LEAST: usize = 16;

/// The place of the longest name that can be cut.
fn longest_name(text: &str) -> Option<Range<usize>> {
    let mut end = 0;
    let words = text.split(' ').map(|word| {
        let start = end;
        end = start + word.len() + 1;
        start..start + word.len()
    });
    let is_name = |word: &Range<usize>| {
        let word = &text[word.clone()];
        word.contains(['-', '/']) && width(word) > LEAST
    };
    words
        .filter(is_name)
        .max_by_key(|word| width(&text[word.clone()]))
}

/// The most lines for one text. More would push other rows off the screen.
const LINES: usize = 3;

/// Breaks an unpainted text into lines of at most `columns`, and into at most `most` lines. The last line has the rest, and
/// a word that is too long has a line of its own: both may be too wide.
pub fn wrap(text: &str, columns: usize, most: usize) -> Vec<&str> {
    let lines = broken(text, columns, most).into_iter();
    lines.map(|line| &text[line]).collect()
}

/// The places of the lines of [`wrap`].
fn broken(text: &str, columns: usize, most: usize) -> Vec<Range<usize>> {
    let (mut lines, mut start) = (Vec::new(), 0);
    while lines.len() + 1 < most && !fits(&text[start..], columns) {
        let rest = &text[start..];
        let Some(end) = end_of_line(rest, columns) else {
            break;
        };
        lines.push(start..start + rest[..end].trim_end().len());
        start = text.len() - rest[end..].trim_start().len();
    }
    lines.push(start..text.len());
    lines
}

/// The last blank before which the text fits, or else its first one.
fn end_of_line(text: &str, columns: usize) -> Option<usize> {
    let indent = text.len() - text.trim_start().len();
    let mut blanks = text
        .match_indices(' ')
        .map(|(at, _)| at)
        .filter(|at| *at > indent);
    let first = blanks.next()?;
    let fitting = blanks.take_while(|at| width(&text[..*at]) <= columns);
    Some(fitting.last().unwrap_or(first))
}

/// What a word of a shell may hold without quotes, besides letters and digits.
const SHELL_PLAIN: &str = "-_./:=@%+,";

/// A word of a POSIX shell that stands for this text.
pub(crate) fn shell_word(text: &str) -> String {
    let text = escape_line(text);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || SHELL_PLAIN.contains(c);
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(is_plain) {
        return text.into_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}
