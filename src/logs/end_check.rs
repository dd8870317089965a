//! `EndCheck`: whether the answers about a log have reached its end.
//!
//! If the connection between the API server and the node breaks, an answer ends as if it were complete. Without `follow`,
//! nothing else tells the end of the log. So the last line of the log is requested once more, alone. If it was read before,
//! the log is whole. Otherwise the log is read on until that line comes.

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};

use super::resume::{KnownLine, ResumeWindow};
use super::splitter::LinePart;
use super::timed_line::timed_line;
use crate::source::log::LogLine;

/// The check of one instance.
#[derive(Clone, Debug, Default)]
pub(super) struct EndCheck {
    state: CheckState,
    /// Whether the next part of the answer belongs to a line that has begun before.
    is_within: bool,
    /// How often the last line was requested.
    pub(super) asks: u32,
    /// How many requests for a tail were cut.
    pub(super) cut_tails: u32,
}

#[derive(Clone, Debug, Default)]
enum CheckState {
    /// Nothing is known of the end.
    #[default]
    Unknown,
    /// The present request is for the last line. It has found this one.
    Asked(Option<LastLine>),
    /// This line must come.
    Expects(LastLine),
    /// The end was read.
    Passed,
}

/// The last line of a log at some moment, or the last part of it that the runtime has stored.
#[derive(Clone, Debug)]
pub struct LastLine {
    pub(super) line: KnownLine,
    pub(super) time: Timestamp,
    text: Bytes,
}

/// How far a log was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadSoFar<'r> {
    pub(super) window: &'r ResumeWindow,
    pub(super) newest: &'r NewestText,
}

/// The text of the newest line that was read.
#[derive(Clone, Debug)]
pub(super) struct NewestText {
    /// Its text, or the last part of it.
    end: Bytes,
    /// The bytes of all its parts.
    length: usize,
    pub(super) is_complete: bool,
}

impl Default for NewestText {
    fn default() -> NewestText {
        NewestText {
            end: Bytes::new(),
            length: 0,
            is_complete: true,
        }
    }
}

impl NewestText {
    /// Takes the text of a new line, or the next part of it.
    pub(super) fn take(&mut self, line: &LogLine) {
        if std::mem::replace(&mut self.is_complete, line.ends) {
            self.length = 0;
        }
        self.length += line.text.len();
        self.end = line.text.clone();
    }
}

/// The newest line of a log that was read, also if the options leave it out.
#[derive(Clone, Debug)]
pub struct NewestLine {
    time: Timestamp,
    line: Option<KnownLine>,
    text: NewestText,
}

impl NewestLine {
    pub(super) fn of(window: &ResumeWindow, text: &NewestText) -> Option<NewestLine> {
        Some(NewestLine {
            time: window.last()?,
            line: window.newest(),
            text: text.clone(),
        })
    }

    /// Whether it is the line that was the last one of the log, or a later one.
    pub fn has_reached(&self, last: &LastLine) -> bool {
        let is_last = || self.line == Some(last.line) || last.is_end_of_line(self.time, &self.text);
        self.time > last.time || (self.text.is_complete && is_last())
    }
}

/// What follows from an answer with the last line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndVerdict {
    /// The log was read to its end.
    Whole,
    /// Lines are missing before its end.
    Incomplete,
    /// The answer was empty, and the log is not.
    Unanswered,
}

/// The parts in which runtimes store long lines have a multiple of this many bytes.
const PART: usize = 4 << 10;

/// How much the times of one log may go back. A line that is later than this comes after the last line of before.
const JITTER: SignedDuration = SignedDuration::from_secs(1);

impl EndCheck {
    /// Requests the last line next.
    pub(super) fn ask(&mut self) {
        self.state = CheckState::Asked(None);
        self.asks += 1;
        self.is_within = false;
    }

    /// Whether the present request is for the last line.
    pub(super) fn is_asked(&self) -> bool {
        matches!(self.state, CheckState::Asked(_))
    }

    /// Whether nothing is known of the end.
    pub(super) fn is_unknown(&self) -> bool {
        matches!(self.state, CheckState::Unknown)
    }

    /// Whether the end was read.
    pub(super) fn is_passed(&self) -> bool {
        matches!(self.state, CheckState::Passed)
    }

    /// The answer had the last part of the log, as the request asked.
    pub(super) fn pass(&mut self) {
        self.state = CheckState::Passed;
    }

    /// Takes a line of the answer with the last line, or the next part of one. Returns whether it is of the log.
    pub(super) fn take(&mut self, part: &LinePart) -> bool {
        let is_start = !std::mem::replace(&mut self.is_within, !part.is_last);
        if !is_start {
            return true;
        }
        let Some(last) = LastLine::of(part) else {
            return false;
        };
        self.state = CheckState::Asked(Some(last));
        true
    }

    /// Nothing that was found holds any more: the log is at another place.
    pub(super) fn reset(&mut self) {
        if !self.is_passed() {
            self.state = CheckState::Unknown;
        }
    }

    /// Whether a certain line must come.
    pub(super) fn expects_line(&self) -> bool {
        matches!(self.state, CheckState::Expects(_))
    }

    /// The answer with the last line is over. The rest follows its last line feed.
    pub(super) fn conclude(&mut self, read: ReadSoFar<'_>, rest: &[u8]) -> EndVerdict {
        let CheckState::Asked(last) = std::mem::take(&mut self.state) else {
            return EndVerdict::Unanswered;
        };
        let (state, verdict) = match last {
            // A line without its line feed, or a line that was cut: only a second look can tell.
            None if !rest.is_empty() => (CheckState::Unknown, EndVerdict::Incomplete),
            None if read.window.last().is_some() => {
                (CheckState::Asked(None), EndVerdict::Unanswered)
            }
            Some(last) if !read.window.knows(last.line) && !last.is_end_of(read) => {
                (CheckState::Expects(last), EndVerdict::Incomplete)
            }
            None | Some(_) => (CheckState::Passed, EndVerdict::Whole),
        };
        self.state = state;
        verdict
    }

    /// A new line was read.
    pub(super) fn note(&mut self, read: ReadSoFar<'_>) {
        if let CheckState::Expects(last) = &self.state
            && last.has_come(read)
        {
            self.state = CheckState::Passed;
        }
    }
}

impl LastLine {
    /// The line that begins with this part. `None` for a message of the node, which has no time.
    pub fn of(part: &LinePart) -> Option<LastLine> {
        let (time, length) = timed_line(&part.bytes)?;
        Some(LastLine {
            line: KnownLine::of(time, &part.bytes),
            time,
            text: part.bytes.slice(length..),
        })
    }

    /// Whether the newest line that was read is this one, or a later one.
    fn has_come(&self, read: ReadSoFar<'_>) -> bool {
        let is_later = read
            .window
            .last()
            .is_some_and(|time| time >= self.time + JITTER);
        is_later || read.window.newest() == Some(self.line) || self.is_end_of(read)
    }

    fn is_end_of(&self, read: ReadSoFar<'_>) -> bool {
        let time = read.window.last();
        time.is_some_and(|time| self.is_end_of_line(time, read.newest))
    }

    /// Whether it is the line with this time and text, or the last part of it. A runtime stores a long line in parts, each with
    /// a time of its own.
    pub(super) fn is_end_of_line(&self, time: Timestamp, text: &NewestText) -> bool {
        let end = &text.end;
        if time == self.time {
            return *end == self.text;
        }
        let before = text.length.saturating_sub(self.text.len());
        let is_end = end.ends_with(&self.text) || self.text.ends_with(end);
        let is_long = before >= PART && (!self.text.is_empty() || before.is_multiple_of(PART));
        time < self.time && is_end && is_long
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millisecond: i64) -> Timestamp {
        Timestamp::from_millisecond(millisecond).expect("a time")
    }

    /// The verdict when these lines were read, and the last line of the log is this one.
    fn check(read: &[(i64, &str)], last: Option<(i64, &str)>, rest: &str) -> EndVerdict {
        let line = |(time, text): (i64, &str)| format!("{} {text}", at(time));
        let mut window = ResumeWindow::default();
        for (time, text) in read {
            window.take(at(*time), line((*time, text)).as_bytes());
        }
        let mut check = EndCheck::default();
        check.ask();
        if let Some(last) = last {
            assert!(check.take(&LinePart::last(line(last))));
        }
        let mut newest = NewestText::default();
        if let Some((time, text)) = read.last() {
            // In two parts, as a very long line comes.
            let (start, end) = text.split_at(text.len() / 2);
            for (text, ends) in [(start, false), (end, true)] {
                let text = Bytes::copy_from_slice(text.as_bytes());
                newest.take(&LogLine {
                    time: at(*time),
                    text,
                    ends,
                });
            }
        }
        let read = ReadSoFar {
            window: &window,
            newest: &newest,
        };
        check.conclude(read, rest.as_bytes())
    }

    #[test]
    fn a_log_is_whole_if_its_last_line_was_read() {
        use EndVerdict::{Incomplete, Unanswered, Whole};
        let long = &["x".repeat(16 << 10), "end".to_owned()].concat();
        for (read, last, rest, expect) in [
            (&[][..], None, "", Whole),
            (&[], Some((1, "a")), "", Incomplete),
            (&[], None, "half", Incomplete),
            (&[(1, "a")], None, "", Unanswered),
            (&[(1, "a")], None, "half", Incomplete),
            (&[(1, "a")], Some((1, "a")), "", Whole),
            (&[(1, "a")], Some((2, "a")), "", Incomplete),
            (&[(1, "a"), (2, "b")], Some((1, "a")), "", Whole),
            // Its time is long before that of the line before.
            (&[(9_000, "a"), (1, "b")], Some((1, "b")), "", Whole),
            // A line of several parts.
            (&[(1, long)], Some((2, "end")), "", Whole),
            (&[(1, long)], Some((2, "other")), "", Incomplete),
            (&[(1, long)], Some((2, "")), "", Incomplete),
            (&[(1, &long[..16 << 10])], Some((2, "")), "", Whole),
            (&[(1, "the end")], Some((2, "end")), "", Incomplete),
        ] {
            assert_eq!(check(read, last, rest), expect, "{last:?} {rest:?}");
        }
    }

    #[test]
    fn a_message_of_the_node_is_no_line() {
        let mut check = EndCheck::default();
        check.ask();
        assert!(!check.take(&LinePart::last("rpc error")));
    }
}
