//! `ResumeWindow`: the newest lines of a log, by which a second answer about it is joined to the first.
//!
//! The API cannot name an instance or a place in its log. A request names a second, and the server ignores fractions. So a
//! second answer begins one second before the newest line: times within one log go back a little. The known lines
//! of these seconds must come first. That removes doubles, shows that it is the log of the same instance, and finds out
//! whether the node has rotated it.

use std::collections::VecDeque;
use std::hash::{BuildHasher, BuildHasherDefault};

use jiff::Timestamp;
use rustc_hash::FxHasher;

use crate::source::log::{LogSince, LogStart};

/// The most lines that are kept: those of 2.6 s at 100,000 lines a second, in 4 MiB.
const MOST: usize = 256 << 10;

/// The lines of the last one to two seconds of a log, in the order of the log.
#[derive(Clone, Debug, Default)]
pub(super) struct ResumeWindow {
    known: VecDeque<KnownLine>,
    newest: Option<Newest>,
    begin: Begin,
    /// The place in the known lines while an answer repeats them.
    repeating: Option<Repeating>,
    /// Whether the present answer had to repeat known lines.
    pub(super) is_continued: bool,
}

/// A line by its second and a hash of all its bytes, the time included. Of a long line, its first part stands for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct KnownLine {
    pub(super) second: i64,
    hash: u64,
}

impl KnownLine {
    /// The line with this time, which stands at the start of its bytes.
    pub(super) fn of(time: Timestamp, line: &[u8]) -> KnownLine {
        KnownLine {
            second: time.as_second(),
            hash: BuildHasherDefault::<FxHasher>::default().hash_one(line),
        }
    }
}

/// The newest second, and the time of the last line.
#[derive(Clone, Copy, Debug)]
struct Newest {
    second: i64,
    last: Timestamp,
}

/// Where the known part of a log begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Begin {
    /// With the first line of the log.
    #[default]
    First,
    /// Somewhere in the log, and no line is known yet.
    Within,
    /// After this second, lines before the known ones cannot follow any more.
    Second(i64),
}

/// An answer that has to repeat the known lines.
#[derive(Clone, Copy, Debug, Default)]
struct Repeating {
    /// The known line that comes next.
    next: usize,
    /// Whether the answer has shown a known line.
    has_matched: bool,
    /// Whether it has shown a line that may be older than the known ones, or the end of one of them.
    has_preceding: bool,
}

/// What a line of an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Continuation {
    /// It has not been read before.
    New,
    /// It has been read, or it is older than the first line that was read.
    Known,
    /// The answer is not about the same file: it does not begin with the known lines.
    Other,
}

impl ResumeWindow {
    /// From where on to read further; `None` if no line is known.
    pub(super) fn start(&self) -> Option<LogStart> {
        let since = Some(LogSince::Second(self.newest?.second - 1));
        Some(LogStart { tail: None, since })
    }

    /// The time of the last line; `None` if there was none.
    pub(super) fn last(&self) -> Option<Timestamp> {
        Some(self.newest?.last)
    }

    /// Notes whether the next line may not be the first of its log, if none is known yet.
    pub(super) fn begin(&mut self, is_first: bool) {
        if self.newest.is_none() {
            self.begin = if is_first {
                Begin::First
            } else {
                Begin::Within
            };
        }
    }

    /// Notes that the first known line is the first of the log.
    pub(super) fn begins_with_log(&mut self) {
        self.begin = Begin::First;
    }

    /// A further answer begins. It must repeat the known lines.
    pub(super) fn reopen(&mut self) {
        self.is_continued = !self.known.is_empty();
        self.repeating = self.is_continued.then(Repeating::default);
    }

    /// Forgets the known lines, but not their time: the log that follows does not repeat them.
    pub(super) fn forget(&mut self) {
        self.known.clear();
        self.repeating = None;
        self.begin = Begin::Within;
    }

    /// Forgets the first line of all, which had this time and was read without its beginning: no answer repeats it.
    pub(super) fn forget_first(&mut self, time: Timestamp) {
        let first = self.known.front();
        if first.is_some_and(|first| first.second == time.as_second()) {
            self.known.pop_front();
        }
    }

    /// Takes a line of the answer, with its time in front. A new line is known from now on.
    pub(super) fn take(&mut self, time: Timestamp, line: &[u8]) -> Continuation {
        let line = KnownLine::of(time, line);
        let continuation = self.compare(line);
        if continuation == Continuation::New {
            self.add(line, time);
        }
        continuation
    }

    fn compare(&mut self, line: KnownLine) -> Continuation {
        let Some(repeating) = self.repeating else {
            return Continuation::New;
        };
        let may_precede = !repeating.has_matched && self.may_precede(line);
        let expected = self.known.range(repeating.next..);
        let found = if may_precede {
            expected.take(1).position(|known| *known == line)
        } else {
            // A rotation may have taken the first of the known lines.
            expected.into_iter().position(|known| *known == line)
        };
        match found {
            Some(skipped) => {
                let next = repeating.next + skipped + 1;
                let is_whole = next == self.known.len();
                self.repeating = (!is_whole).then_some(Repeating {
                    next,
                    has_matched: true,
                    ..repeating
                });
                Continuation::Known
            }
            None if repeating.has_matched => {
                self.repeating = None;
                Continuation::New
            }
            // The newest file may begin within a long line, whose first part is in a rotated one. The next line decides.
            None if may_precede || !repeating.has_preceding => {
                self.repeating = Some(Repeating {
                    has_preceding: true,
                    ..repeating
                });
                Continuation::Known
            }
            None => Continuation::Other,
        }
    }

    /// Whether a line may be older than the first known one, because the log was not read from its start.
    fn may_precede(&self, line: KnownLine) -> bool {
        let newest = self.newest.map_or(i64::MIN, |newest| newest.second);
        let Begin::Second(begin) = self.begin else {
            return false;
        };
        // The times of one log may go back across the turn of a second.
        newest - 1 <= begin + 1 && line.second <= newest + 1
    }

    fn add(&mut self, line: KnownLine, time: Timestamp) {
        if self.begin == Begin::Within {
            self.begin = Begin::Second(line.second);
        }
        let before = self.newest.map(|newest| newest.second);
        let second = before.map_or(line.second, |before| before.max(line.second));
        self.newest = Some(Newest { second, last: time });
        if before.is_none_or(|before| before < second) {
            self.known.retain(|known| known.second >= second - 1);
        }
        if line.second >= second - 1 {
            self.known.push_back(line);
        }
        if self.known.len() > MOST
            && let Some(dropped) = self.known.pop_front()
        {
            self.begin = Begin::Second(dropped.second);
        }
    }

    /// The newest lines.
    pub(super) fn lines(&self) -> impl Iterator<Item = KnownLine> {
        self.known.iter().copied()
    }

    /// Whether the log was read from its first line on.
    pub(super) fn is_from_first_line(&self) -> bool {
        self.begin == Begin::First && self.newest.is_some()
    }

    /// The newest second of a line.
    pub(super) fn newest_second(&self) -> Option<i64> {
        Some(self.newest?.second)
    }

    /// Whether a line is one of the newest ones.
    pub(super) fn knows(&self, line: KnownLine) -> bool {
        self.known.iter().rev().any(|known| *known == line)
    }

    /// The newest line; `None` if none is known.
    pub(super) fn newest(&self) -> Option<KnownLine> {
        self.known.back().copied()
    }

    /// Whether the answer has repeated the last known line.
    pub(super) fn is_repeated(&self) -> bool {
        self.repeating.is_none()
    }

    /// Whether an answer that has ended showed none of the lines that it had to repeat.
    pub(super) fn is_unproven(&self) -> bool {
        self.repeating
            .is_some_and(|repeating| !repeating.has_matched)
    }

    /// Whether an answer that stays silent showed lines that may be older than the known ones, and none of these.
    pub(super) fn is_doubtful(&self) -> bool {
        self.repeating
            .is_some_and(|repeating| repeating.has_preceding && !repeating.has_matched)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The server's answer: the lines from a second on. It filters line by line, as a kubelet does.
    fn answer(log: &[(Timestamp, String)], start: Option<LogStart>) -> Vec<(Timestamp, String)> {
        let since = match start.and_then(|start| start.since) {
            Some(LogSince::Second(second)) => second,
            Some(LogSince::Ago(_)) | None => i64::MIN,
        };
        let log = log.iter().filter(|(time, _)| time.as_second() >= since);
        log.cloned().collect()
    }

    fn at(milliseconds: i64) -> Timestamp {
        Timestamp::from_millisecond(milliseconds).expect("a time")
    }

    fn log(times: &[i64]) -> Vec<(Timestamp, String)> {
        let lines = times.iter().enumerate();
        lines
            .map(|(number, ms)| (at(*ms), format!("{} L{number}", at(*ms))))
            .collect()
    }

    /// Reads all of an answer; returns the new lines, or `None` if it is about another file.
    fn read(window: &mut ResumeWindow, lines: &[(Timestamp, String)]) -> Option<Vec<String>> {
        window.reopen();
        let mut new = Vec::new();
        for (time, line) in lines {
            match window.take(*time, line.as_bytes()) {
                Continuation::New => new.push(line.clone()),
                Continuation::Known => {}
                Continuation::Other => return None,
            }
        }
        (!window.is_unproven()).then_some(new)
    }

    /// What a second reading adds to the first `read_before` lines.
    fn resumed(times: &[i64], read_before: usize) -> usize {
        let log = log(times);
        let mut window = ResumeWindow::default();
        let first = read(&mut window, &log[..read_before]).expect("nothing is known");
        assert_eq!(first.len(), read_before);
        let second = answer(&log, window.start());
        let second = read(&mut window, &second).expect("the same log");
        let all: Vec<&String> = first.iter().chain(&second).collect();
        let expect: Vec<&String> = log.iter().map(|(_, line)| line).collect();
        assert_eq!(all, expect);
        second.len()
    }

    #[test]
    fn a_file_that_begins_within_a_known_line_continues_the_log() {
        let log = log(&[30_000, 30_100, 30_200, 30_300]);
        let rest = |text: &str| (at(30_150), format!("{} {text}", at(30_150)));
        let check = |answer: &[(Timestamp, String)]| {
            let mut window = ResumeWindow::default();
            read(&mut window, &log[..3]).expect("nothing is known");
            read(&mut window, answer).map(|new| new.len())
        };
        let newer = [rest("the end of L1"), log[2].clone(), log[3].clone()];
        assert_eq!(check(&newer), Some(1));
        assert_eq!(check(&newer[..2]), Some(0));
        assert_eq!(check(&newer[..1]), None);
        assert_eq!(check(&[rest("other"), rest("lines"), log[2].clone()]), None);
    }

    #[test]
    fn a_log_continues_within_a_second() {
        for (times, read_before, added) in [
            (&[30_000, 30_001, 31_000, 31_001][..], 1, 3),
            (&[30_000, 30_001, 31_000, 31_001], 2, 2),
            (&[30_000, 30_001, 31_000, 31_001], 4, 0),
            // Three lines of one time.
            (&[30_000, 30_000, 30_000], 2, 1),
            // Times go back across the turn of a second.
            (&[999, 1_002, 998, 1_001, 997, 2_004, 1_999], 3, 4),
            (&[0, 5_000, 5_001], 2, 1),
        ] {
            assert_eq!(
                resumed(times, read_before),
                added,
                "{times:?} {read_before}"
            );
        }
    }

    #[test]
    fn another_file_is_found_out() {
        let log = log(&[1_000, 1_100, 1_200, 1_300]);
        let window = || {
            let mut window = ResumeWindow::default();
            read(&mut window, &log[..3]).expect("nothing is known");
            window
        };
        let rotated_within = read(&mut window(), &log[1..]);
        assert_eq!(rotated_within, Some(vec![log[3].1.clone()]));
        assert_eq!(read(&mut window(), &log[3..]), None, "rotated");
        assert_eq!(read(&mut window(), &[]), None, "nothing is proven");
        let other = vec![(at(1_100), "1970 other".to_owned())];
        assert_eq!(read(&mut window(), &other), None, "the next instance");
        let mut forgetful = window();
        forgetful.forget();
        assert_eq!(
            read(&mut forgetful, &log[3..]).map(|new| new.len()),
            Some(1)
        );
    }

    #[test]
    fn a_log_that_was_read_from_the_middle_continues() {
        let log = log(&[1_000, 1_100, 1_200, 1_300, 2_500]);
        for first in 1..3 {
            let mut window = ResumeWindow::default();
            window.begin(false);
            read(&mut window, &log[first..=first]).expect("nothing is known");
            let again = answer(&log, window.start());
            let new = read(&mut window, &again).expect("the same log");
            assert_eq!(new.len(), log.len() - first - 1, "{first}");
        }
        let mut window = ResumeWindow::default();
        window.begin(false);
        read(&mut window, &log[1..2]).expect("nothing is known");
        assert_eq!(read(&mut window, &log[4..]), None, "rotated");
    }

    #[test]
    fn a_first_line_without_its_beginning_is_not_expected() {
        let log = log(&[1_000, 1_100, 1_200]);
        for read_before in 1..3 {
            let mut window = ResumeWindow::default();
            window.begin(false);
            window.take(at(1_050), b"the end of L0");
            for (time, line) in &log[1..read_before] {
                window.take(*time, line.as_bytes());
            }
            window.forget_first(at(1_050));
            let new = read(&mut window, &log).expect("the same log");
            // Without any line to go by, the line is shown again, and whole.
            let expect = if read_before == 1 { 3 } else { 3 - read_before };
            assert_eq!(new.len(), expect, "{read_before}");
        }
    }

    #[test]
    fn the_memory_of_a_quick_log_is_bounded() {
        let mut window = ResumeWindow::default();
        let line = |number: usize| format!("L{number}").into_bytes();
        for number in 0..MOST + 10 {
            assert_eq!(window.take(at(5_000), &line(number)), Continuation::New);
        }
        assert_eq!(window.known.len(), MOST);
        window.reopen();
        for number in 0..MOST + 10 {
            assert_eq!(
                window.take(at(5_000), &line(number)),
                Continuation::Known,
                "{number}"
            );
        }
        assert_eq!(window.take(at(5_000), b"new"), Continuation::New);
    }

    proptest! {
        #[test]
        fn any_cut_of_any_log_resumes_exactly(
            steps in prop::collection::vec((0_i64..400, -5_i64..=5), 1..60),
            cuts in prop::collection::vec(0_usize..1000, 0..6),
            middle in 0_usize..4,
        ) {
            let mut now = 1_000_000;
            let times: Vec<i64> = steps.iter().map(|(step, jitter)| { now += step; now + jitter }).collect();
            let log = log(&times);
            let first = middle.min(log.len() - 1);
            let mut window = ResumeWindow::default();
            if first > 0 {
                window.begin(false);
            }
            let mut shown: Vec<String> = Vec::new();
            let mut ends: Vec<usize> = cuts.iter().map(|cut| (first + 1 + cut * (log.len() - first) / 1000).min(log.len())).collect();
            ends.sort_unstable();
            ends.push(log.len());
            for (turn, end) in ends.into_iter().enumerate() {
                let lines = if turn == 0 { log[first..end].to_vec() } else { answer(&log[..end], window.start()) };
                let new = read(&mut window, &lines);
                prop_assert!(new.is_some(), "taken for another file");
                shown.extend(new.unwrap_or_default());
            }
            let expect: Vec<String> = log[first..].iter().map(|(_, line)| line.clone()).collect();
            prop_assert_eq!(shown, expect);
        }
    }
}
