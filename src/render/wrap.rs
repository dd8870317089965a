//! Breaks a text that is too long for a line at its blanks.

use super::style::Look;
use super::text::{fits, width};

/// The most lines for one text. More would push other rows off the screen.
const LINES: usize = 3;

/// Breaks an unpainted text into lines of at most `columns`, and into at most `most` lines. The last line has the rest, and
/// a word that is too long has a line of its own: both may be too wide.
pub fn wrap(text: &str, columns: usize, most: usize) -> Vec<&str> {
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

/// A text after a painted lead, in as many lines as the width and `spare` allow. The lines after the first one have the
/// second lead, which is as wide.
pub(super) fn after_leads(
    [first, next]: [&str; 2],
    text: &str,
    look: Look,
    spare: usize,
) -> Vec<String> {
    let lines = match look.width {
        Some(columns) => {
            let most = spare.saturating_add(1).min(LINES);
            wrap(text, columns.saturating_sub(width(first)), most)
        }
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
        for (columns, most, lines) in [
            (60, 3, text),
            (22, 1, text),
            (22, 2, "key DB_URL is missing;|there are DATABASE_URL, MODE"),
            (22, 3, "key DB_URL is missing;|there are|DATABASE_URL, MODE"),
            (5, 3, "key|DB_URL|is missing; there are DATABASE_URL, MODE"),
            (9, 9, "key|DB_URL is|missing;|there are|DATABASE_URL,|MODE"),
            (0, 3, "key|DB_URL|is missing; there are DATABASE_URL, MODE"),
        ] {
            assert_eq!(
                wrap(text, columns, most).join("|"),
                lines,
                "{columns} {most}"
            );
        }
        assert_eq!(wrap("a_long_word", 3, 9), ["a_long_word"]);
        assert_eq!(wrap("", 3, 9), [""]);
        assert_eq!(wrap("    a_long_word x", 3, 9), ["    a_long_word", "x"]);
    }
}
