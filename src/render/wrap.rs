//! Breaks a text that is too long for a line at its blanks.

use super::style::Look;
use super::text::{fits, width};

/// The most lines for one text. More would push other rows off the screen.
const LINES: usize = 3;

/// Breaks an unpainted text into lines of at most `columns`, in at most `spare` lines more than one. The last line has the
/// rest, and a word that is too long has a line of its own: both may be too wide.
pub(super) fn wrap(text: &str, columns: usize, spare: usize) -> Vec<&str> {
    let most = spare.saturating_add(1).min(LINES);
    let (mut lines, mut rest) = (Vec::new(), text);
    while lines.len() + 1 < most && !fits(rest, columns) {
        let Some(end) = end_of_line(rest, columns) else {
            break;
        };
        lines.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    lines.push(rest);
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

/// Breaks an unpainted text at its blanks into as many lines as it needs. The terminal breaks a word that is longer than a line.
pub fn wrap_all(text: &str, columns: usize) -> Vec<&str> {
    let (mut lines, mut start, mut used) = (Vec::new(), 0, 0);
    for word in text.split_inclusive(' ') {
        let at = word.as_ptr().addr() - text.as_ptr().addr();
        let wide = width(word.trim_end());
        if at > start && used + wide > columns && wide <= columns {
            lines.push(text[start..at].trim_end());
            (start, used) = (at, 0);
        }
        used += width(word);
        if wide > columns {
            used %= columns.max(1);
        }
    }
    lines.push(&text[start..]);
    lines
}

/// A text after a painted lead, in as many lines as the width and `spare` allow. The lines after the first one have the
/// second lead, which is as wide.
pub(super) fn after_leads(
    [first, next]: [&str; 2],
    text: &str,
    look: Look,
    spare: usize,
) -> Vec<String> {
    let lines = match look.width {
        Some(columns) => wrap(text, columns.saturating_sub(width(first)), spare),
        None => vec![text],
    };
    let lines = lines.iter().enumerate();
    let line = |(place, text)| format!("{}{text}", if place == 0 { first } else { next });
    lines.map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_breaks_at_blanks() {
        let text = "key DB_URL is missing; there are DATABASE_URL, MODE";
        for (columns, spare, lines) in [
            (60, 9, text),
            (22, 0, text),
            (22, 1, "key DB_URL is missing;|there are DATABASE_URL, MODE"),
            (22, 9, "key DB_URL is missing;|there are|DATABASE_URL, MODE"),
            (5, 9, "key|DB_URL|is missing; there are DATABASE_URL, MODE"),
            (0, 9, "key|DB_URL|is missing; there are DATABASE_URL, MODE"),
        ] {
            assert_eq!(
                wrap(text, columns, spare).join("|"),
                lines,
                "{columns} {spare}"
            );
        }
        assert_eq!(wrap("a_long_word", 3, 9), ["a_long_word"]);
        assert_eq!(wrap("", 3, 9), [""]);
        assert_eq!(wrap("    a_long_word x", 3, 9), ["    a_long_word", "x"]);
    }

    #[test]
    fn a_message_breaks_at_blanks_into_any_number_of_lines() {
        for (text, columns, lines) in [
            (
                "web is in the namespace shop",
                80,
                "web is in the namespace shop",
            ),
            (
                "web is in the namespace shop",
                28,
                "web is in the namespace shop",
            ),
            (
                "web is in the namespace shop",
                27,
                "web is in the namespace|shop",
            ),
            (
                "web is in the namespace shop",
                9,
                "web is in|the|namespace|shop",
            ),
            // A word that is longer than a line starts where it is, and takes two lines of the terminal.
            (
                "GET /a/long/path 200 OK in 1 ms",
                11,
                "GET /a/long/path 200|OK in 1 ms",
            ),
            ("  indented  text", 11, "  indented|text"),
            ("", 3, ""),
            ("a b", 0, "a b"),
        ] {
            assert_eq!(wrap_all(text, columns).join("|"), lines, "{columns}");
        }
    }
}
