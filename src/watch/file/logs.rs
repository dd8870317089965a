//! The logs between the objects of `kubectl cluster-info dump`.
//!
//! Each begins with a line, and ends with the words of the same line after `END`. Nothing separates these words from the
//! last line of a log.

use std::borrow::Cow;

use memchr::memmem;

/// The beginning of the line before a log.
const START: &str = "==== START logs for ";
/// The beginning of the words after it.
const END: &str = "==== END logs for ";

/// What a text begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogPart {
    /// Something else than a log.
    None,
    /// What may become a whole log when more of it arrives.
    Begun,
    /// A log of this many bytes.
    Whole(usize),
}

/// The log at the beginning of a text.
pub(super) fn log_at_start(text: &[u8]) -> LogPart {
    let start = START.as_bytes();
    if !text.starts_with(start) {
        let is_begun = !text.is_empty() && start.starts_with(text);
        return if is_begun {
            LogPart::Begun
        } else {
            LogPart::None
        };
    }
    let Some(line) = memchr::memchr(b'\n', text) else {
        return LogPart::Begun;
    };
    let end = [END.as_bytes(), text[start.len()..line].trim_ascii_end()].concat();
    match memmem::find(&text[line..], &end) {
        Some(at) => LogPart::Whole(line + at + end.len()),
        None => LogPart::Begun,
    }
}

/// The text without its logs. Every line keeps its number. A log that is cut off ends with the text.
pub(super) fn without_logs(text: &str) -> Cow<'_, str> {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(at) = next_log(rest) {
        let (before, log) = rest.split_at(at);
        let length = match log_at_start(log.as_bytes()) {
            LogPart::Whole(length) => length,
            LogPart::Begun | LogPart::None => log.len(),
        };
        let (log, after) = log.split_at(length);
        kept.push_str(before);
        kept.extend(log.matches('\n'));
        rest = after;
    }
    if kept.is_empty() {
        return Cow::Borrowed(rest);
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

/// Where the line before the next log begins.
fn next_log(text: &str) -> Option<usize> {
    let mut found = memmem::find_iter(text.as_bytes(), START);
    found.find(|&at| at == 0 || text.as_bytes()[at - 1] == b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
