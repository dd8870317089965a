//! Texts as words of a POSIX shell, for commands that a reader copies.

use super::text::escape_line;

/// What a word may hold without quotes, besides letters and digits.
const PLAIN: &str = "-_./:=@%+,";

/// A word of a POSIX shell that stands for this text.
pub(crate) fn shell_word(text: &str) -> String {
    let text = escape_line(text);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || PLAIN.contains(c);
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(is_plain) {
        return text.into_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}
