//! `NewestLine`: how far a log was read.

use jiff::Timestamp;

use super::end_check::{LastLine, NewestText};
use super::resume::{KnownLine, ResumeWindow};

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
