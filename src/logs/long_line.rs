//! `LongLine`: a line that is too long to hold. Its parts are passed on as they arrive, each byte once, even if its answer
//! breaks in the middle and another one repeats it from its start.

use bytes::{Buf, Bytes};
use jiff::Timestamp;

use super::splitter::LinePart;
use crate::source::log::LogLine;

/// The line that is not complete yet, if there is one.
#[derive(Clone, Debug, Default)]
pub(super) struct LongLine {
    /// What the next parts of the present answer are.
    rest: Option<RestOfLine>,
    /// The line that was passed on without its end.
    begun: Option<BegunLine>,
}

/// What the next parts of a line are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RestOfLine {
    /// They have not been read before.
    New,
    /// This many of their bytes have been passed on, and the others have not.
    Repeated(u64),
    /// Nobody needs them.
    Skipped,
}

/// A line that was passed on without its end.
#[derive(Clone, Copy, Debug)]
struct BegunLine {
    time: Timestamp,
    /// How many bytes of its text were passed on.
    passed: u64,
}

impl LongLine {
    /// A further answer begins, with the start of a line.
    pub(super) fn reopen(&mut self) {
        self.rest = None;
    }

    /// Whether the next part of the answer belongs to a line that has begun before.
    pub(super) fn is_within(&self) -> bool {
        self.rest.is_some()
    }

    /// Passes on the start of a new line, or all of it.
    pub(super) fn start(&mut self, time: Timestamp, text: LinePart) -> LogLine {
        if !text.is_last {
            self.rest = Some(RestOfLine::New);
            let passed = text.bytes.len() as u64;
            self.begun = Some(BegunLine { time, passed });
        }
        LogLine {
            time,
            ends: text.is_last,
            text: text.bytes,
        }
    }

    /// Skips a line, of which this is the start.
    pub(super) fn skip(&mut self, start: &LinePart) {
        self.rest = (!start.is_last).then_some(RestOfLine::Skipped);
    }

    /// An answer repeats the last known line, of which this is the start. Returns what was not passed on before.
    pub(super) fn repeat(&mut self, time: Timestamp, text: LinePart) -> Option<LogLine> {
        let Some(begun) = self.begun.filter(|begun| begun.time == time) else {
            self.skip(&text);
            return None;
        };
        self.rest = Some(RestOfLine::Repeated(begun.passed));
        self.more(text)
    }

    /// Takes the next part of the line. Returns what to pass on.
    pub(super) fn more(&mut self, mut part: LinePart) -> Option<LogLine> {
        let rest = self.rest.take()?;
        let known = match rest {
            RestOfLine::Skipped => {
                self.skip(&part);
                return None;
            }
            RestOfLine::New => 0,
            RestOfLine::Repeated(left) => left,
        };
        let length = part.bytes.len();
        let skipped = length.min(usize::try_from(known).unwrap_or(usize::MAX));
        part.bytes.advance(skipped);
        let left = known - skipped as u64;
        if !part.is_last {
            self.rest = Some(match left {
                0 => RestOfLine::New,
                left => RestOfLine::Repeated(left),
            });
        }
        let begun = self.begun.as_mut()?;
        begun.passed += part.bytes.len() as u64;
        let line = LogLine {
            time: begun.time,
            ends: part.is_last,
            text: part.bytes,
        };
        if line.ends {
            self.begun = None;
        }
        (line.ends || !line.text.is_empty()).then_some(line)
    }

    /// Ends a line that was passed on without its end.
    pub(super) fn close(&mut self) -> Option<LogLine> {
        let begun = self.begun.take()?;
        Some(LogLine {
            time: begun.time,
            ends: true,
            text: Bytes::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(text: &str, is_last: bool) -> LinePart {
        LinePart {
            bytes: Bytes::copy_from_slice(text.as_bytes()),
            is_last,
        }
    }

    /// What is passed on of these answers about one line. Each has the parts of the line; `.` ends it.
    fn check(answers: &[&[&str]]) -> String {
        let mut long = LongLine::default();
        let mut shown = String::new();
        let mut show = |line: Option<LogLine>| {
            let Some(line) = line else { return };
            shown += std::str::from_utf8(&line.text).expect("a test's text is UTF-8");
            shown += if line.ends { "." } else { "|" };
        };
        for (number, parts) in answers.iter().enumerate() {
            long.reopen();
            for (index, text) in parts.iter().enumerate() {
                let text = match text.strip_suffix('.') {
                    Some(text) => part(text, true),
                    None => part(text, false),
                };
                show(match (index, number) {
                    (0, 0) => Some(long.start(Timestamp::UNIX_EPOCH, text)),
                    (0, _) => long.repeat(Timestamp::UNIX_EPOCH, text),
                    _ => long.more(text),
                });
            }
        }
        show(long.close());
        shown
    }

    #[test]
    fn each_byte_is_passed_on_once() {
        for (answers, expect) in [
            (&[&["ab."][..]][..], "ab."),
            (&[&["ab", "cd", "e."]], "ab|cd|e."),
            (&[&["ab", "cd", "."]], "ab|cd|."),
            // It is complete, and an answer repeats it.
            (&[&["ab", "c."], &["ab", "c."]], "ab|c."),
            // Cut in the middle.
            (&[&["ab"], &["ab", "c."]], "ab|c."),
            (&[&["ab", "cd"], &["ab", "cd", "ef", "g."]], "ab|cd|ef|g."),
            (&[&["ab", "cd"], &["ab"], &["ab", "cd", "e."]], "ab|cd|e."),
            // The end is shorter than a part that was passed on.
            (&[&["ab", "cd"], &["ab", "cd."]], "ab|cd|."),
            // Its end never comes.
            (&[&["ab", "cd"]], "ab|cd|."),
            (&[&["ab"], &["ab"]], "ab|."),
        ] {
            assert_eq!(check(answers), expect, "{answers:?}");
        }
    }

    #[test]
    fn a_skipped_line_ends_with_its_last_part() {
        let mut long = LongLine::default();
        long.skip(&part("ab", false));
        assert_eq!(long.more(part("cd", false)), None);
        assert!(long.is_within());
        assert_eq!(long.more(part("e", true)), None);
        assert!(!long.is_within());
    }
}
