//! What cluster text becomes before it meets a terminal, and how wide it is there.
//!
//! Names, messages, annotations, log lines: whoever may write an object may write any of them. Each
//! passes through [`escape_line`] or [`escape_cell`] once, where it becomes display
//! text; painting (`render::style`) comes after that.

use std::borrow::Cow;
use std::fmt::Write;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Makes text safe to show inside one line, losing nothing: everything that a terminal would obey or hide becomes
/// visible.
///
/// C0 controls and DEL are shown as terminals name them (`^[`), a carriage return as `\r` (both as
/// kubectl does since CVE-2021-25743), a line feed as `\n`, a tab as `\t`, and C1 controls, bidirectional controls,
/// line separators and invisible characters as `\u{202e}`.
pub fn escape_line(text: &str) -> Cow<'_, str> {
    replace(text, is_unsafe)
}

/// The same for what stands in a text from `start` on.
pub fn escape_line_from(text: &mut String, start: usize) {
    let safe = match escape_line(&text[start..]) {
        Cow::Borrowed(_) => return,
        Cow::Owned(safe) => safe,
    };
    text.replace_range(start.., &safe);
}

/// The same for text that may be owned already.
pub fn escaped_line(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => escape_line(text),
        Cow::Owned(mut text) => {
            escape_line_from(&mut text, 0);
            Cow::Owned(text)
        }
    }
}

/// Makes text safe to show in a cell of a table: like [`escape_line`], but a tab is a space, and a
/// line feed, carriage return or form feed ends the cell with `...`, as in kubectl's tables.
pub fn escape_cell(text: &str) -> Cow<'_, str> {
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

/// Replaces every character that `is_replaced` names by a visible form.
fn replace(text: &str, is_replaced: impl Fn(char) -> bool) -> Cow<'_, str> {
    // Nearly all text is plain, and need not be gone through character by character.
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    let Some(first) = text.find(&is_replaced) else {
        return Cow::Borrowed(text);
    };
    let mut safe = String::with_capacity(text.len() + 16);
    safe.push_str(&text[..first]);
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
        // Caret notation: the control's letter is 64 above it, and DEL's (127) 64 below.
        '\0'..='\u{1f}' | '\u{7f}' => {
            safe.push('^');
            safe.push(char::from(c as u8 ^ 0x40));
        }
        _ => write!(safe, "\\u{{{:x}}}", u32::from(c)).expect("a String takes any text"),
    }
}

/// Whether a terminal may obey this character, or show nothing for it.
///
/// Beside the controls these are the line separators, the interlinear annotations and Unicode's
/// `Default_Ignorable_Code_Point` (bidirectional controls, zero-width characters, tags), from which
/// the two selectors of text and emoji presentation are left out: `⚠️` is written with one.
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

/// Whether there is nothing in the text but printable ASCII: a column a byte, and no harm in any.
pub(super) fn is_plain(text: &str) -> bool {
    text.bytes()
        .fold(true, |plain, byte| plain & (0x20..0x7f).contains(&byte))
}

/// The columns that text takes, without counting the colour sequences of painted text.
pub fn width(text: &str) -> usize {
    if is_plain(text) {
        return text.len();
    }
    let (core, plain) = core(text);
    if !core.contains(ESCAPE) {
        return plain + core.width();
    }
    let spans = spans(text).filter(|span| !span.starts_with(ESCAPE));
    spans.map(UnicodeWidthStr::width).sum()
}

/// What in a text is not printable ASCII, with the character before it, which it may widen, and the one
/// behind; and how much there is around it.
fn core(text: &str) -> (&str, usize) {
    let is_other = |byte: u8| !(0x20..0x7f).contains(&byte);
    let first = text.bytes().position(is_other).unwrap_or(text.len());
    let end = text
        .bytes()
        .rposition(is_other)
        .map_or(first, |last| last + 1);
    let core = &text[first.saturating_sub(1)..(end + 1).min(text.len())];
    (core, text.len() - core.len())
}

/// Whether text takes no more columns than so many. No character is wider than it has bytes.
pub fn fits(text: &str, columns: usize) -> bool {
    text.len() <= columns || width(text) <= columns
}

/// Cuts unpainted text that is wider than `columns` at its end: `registry.exam…`. Without room for
/// the ellipsis there is none.
pub fn cut_end<'a>(text: &'a str, columns: usize, ellipsis: &str) -> Cow<'a, str> {
    if fits(text, columns) {
        return Cow::Borrowed(text);
    }
    let Some(room) = columns.checked_sub(width(ellipsis)) else {
        return Cow::Borrowed(head(text, columns));
    };
    Cow::Owned(format!("{}{ellipsis}", head(text, room)))
}

/// Cuts unpainted text that is wider than `columns` in its middle: `pod/web-5d4…b9d-mzt4c`. What
/// Kubernetes generates differs at the end, so of an odd number of columns the end has one more.
/// Without room for the ellipsis there is none, and the end is cut.
pub fn cut_middle<'a>(text: &'a str, columns: usize, ellipsis: &str) -> Cow<'a, str> {
    if fits(text, columns) {
        return Cow::Borrowed(text);
    }
    let Some(room) = columns.checked_sub(width(ellipsis)) else {
        return Cow::Borrowed(head(text, columns));
    };
    let start = head(text, room / 2);
    let end = tail(&text[start.len()..], room - width(start));
    Cow::Owned(format!("{start}{ellipsis}{end}"))
}

/// Cuts a painted line that is wider than `columns` at its end. Its colour sequences are all kept,
/// so that what the line switched on it also switches off.
pub fn cut_line<'a>(line: &'a str, columns: usize, ellipsis: &str) -> Cow<'a, str> {
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

/// What begins a colour sequence. Display text is escaped, so only painting puts one into a line.
const ESCAPE: char = '\u{1b}';

/// Splits a painted line into its colour sequences (`ESC [ … m`) and the text between them.
fn spans(line: &str) -> impl Iterator<Item = &str> {
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
fn head(text: &str, columns: usize) -> &str {
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

/// The place of the last of the clusters that fit, one after the other, into `columns`. A text is
/// never wider than its clusters are together.
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

#[cfg(test)]
mod tests;
