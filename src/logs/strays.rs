//! `StrayLines`: the lines that were shown of one instance, and may be those of the next one.
//!
//! A request cannot name an instance. If a container restarts while its log is requested, the answer is that of an instance
//! which no status has shown yet. Its lines then stand under the name of the instance before. They must not be shown again.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;

use rustc_hash::FxHasher;

use super::resume::{KnownLine, ResumeWindow};

/// The newest lines of the instances before. A line of a later instance is looked up until its time is later than theirs.
#[derive(Clone, Debug, Default)]
pub(super) struct StrayLines {
    lines: HashSet<KnownLine, BuildHasherDefault<FxHasher>>,
    /// The newest second of them.
    newest: Option<i64>,
    /// Whether a line of the present instance was among them.
    has_matched: bool,
    /// Whether the instance before was read again, because its log did not have them.
    pub(super) is_reread: bool,
}

/// Whether a line was shown before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StrayMatch {
    /// It was not.
    New,
    /// It was, and it is the first such line of its instance. What to say about that.
    First(&'static str),
    /// It was, as lines before it.
    Further,
}

impl StrayLines {
    /// Adds the lines that were read of an instance. The next one begins.
    pub(super) fn add(&mut self, window: &ResumeWindow) {
        self.lines.extend(window.lines());
        self.newest = self.newest.max(window.newest_second());
        (self.has_matched, self.is_reread) = (false, false);
    }

    /// Whether no line needs to be looked up.
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(super) fn take(&mut self, line: KnownLine) -> StrayMatch {
        let Some(newest) = self.newest else {
            return StrayMatch::New;
        };
        // The times of one log go back by less than a second.
        if line.second > newest + 1 {
            *self = StrayLines::default();
            return StrayMatch::New;
        }
        if !self.lines.remove(&line) {
            return StrayMatch::New;
        }
        if std::mem::replace(&mut self.has_matched, true) {
            StrayMatch::Further
        } else {
            StrayMatch::First(if self.is_reread { REREAD } else { NOT_REREAD })
        }
    }
}

const REREAD: &str = "these lines were shown before, under the instance before";
const NOT_REREAD: &str =
    "these lines were shown before, under the instance before, whose own lines may be missing";

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn line(millisecond: i64, text: &str) -> (Timestamp, String) {
        let time = Timestamp::from_millisecond(millisecond).expect("a time");
        (time, format!("{time} {text}"))
    }

    #[test]
    fn the_lines_of_the_instance_before_are_found_until_their_time_is_over() {
        use StrayMatch::{First, Further, New};
        let mut window = ResumeWindow::default();
        for text in ["a", "b", "c"] {
            let (time, line) = line(1_200, text);
            window.take(time, line.as_bytes());
        }
        let mut strays = StrayLines::default();
        strays.add(&window);
        for (millisecond, text, expect) in [
            (1_100, "a", New),
            (1_200, "a", First(NOT_REREAD)),
            (1_200, "c", Further),
            // Each was shown once.
            (1_200, "a", New),
            (2_500, "x", New),
            (1_200, "b", Further),
            (3_000, "x", New),
            (1_200, "b", New),
        ] {
            let (time, line) = line(millisecond, text);
            let found = strays.take(KnownLine::of(time, line.as_bytes()));
            assert_eq!(found, expect, "{line}");
        }
        assert!(strays.lines.is_empty());
    }
}
