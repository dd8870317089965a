//! `InstanceReading`: the instance that a [`LogReader`](super::LogReader) reads, and how far it has come.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;

use super::chain::LogChain;
use super::end_check::{EndCheck, EndVerdict, NewestText, ReadSoFar};
use super::instances::LogPlace;
use super::long_line::LongLine;
use super::read_step::{ReadInstances, ReadOptions, ReadStep};
use super::resume::ResumeWindow;
use super::tail::TailHold;
use crate::source::log::{LogInstance, LogLine, LogRequest, LogStart};

/// The instance that is read.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact about the last answers"
)]
pub(super) struct InstanceReading {
    pub(super) instance: Arc<LogInstance>,
    pub(super) window: ResumeWindow,
    pub(super) long: LongLine,
    pub(super) check: EndCheck,
    pub(super) newest: NewestText,
    /// What followed the last line feed of the last answer: a line that is not complete, or that was cut.
    pub(super) rest: Bytes,
    /// Whether the answer before had the same rest.
    pub(super) is_rest_known: bool,
    pub(super) start: LogStart,
    pub(super) tail: Option<TailHold>,
    /// How many parts to request of a tail.
    pub(super) asked_parts: u64,
    pub(super) since_time: Option<Timestamp>,
    /// Where the instance was when the last request was sent.
    pub(super) asked: LogPlace,
    pub(super) is_opened: bool,
    /// Whether the present answer had a new line.
    pub(super) has_news: bool,
    /// Whether the present answer had no line at all.
    pub(super) is_empty: bool,
    /// How many attempts in a row brought nothing.
    pub(super) failures: u32,
    /// Whether the failure was reported.
    pub(super) is_reported: bool,
    /// Whether it is read again from its first line, because the lines before were not its own.
    pub(super) is_reread: bool,
    /// Whether the server has refused the last request because of a missing right.
    pub(super) is_forbidden: bool,
    /// A step to take before the next request.
    pub(super) wait: Option<ReadStep>,
    /// The answer was about something else while the instance was here.
    pub(super) doubt: Option<LogPlace>,
    /// Lines are missing after this time.
    pub(super) gap: Option<Timestamp>,
    /// The error that the node sent in place of lines.
    pub(super) node_error: Option<Arc<str>>,
    /// How many answers in a row ended with one.
    pub(super) node_errors: u32,
}

impl InstanceReading {
    /// Begins with an instance, from its first line unless it existed at the start.
    pub(super) fn new(
        instance: Arc<LogInstance>,
        existing: Option<ReadOptions>,
    ) -> InstanceReading {
        let options = existing.unwrap_or_default();
        InstanceReading {
            instance,
            window: ResumeWindow::default(),
            long: LongLine::default(),
            check: EndCheck::default(),
            newest: NewestText::default(),
            rest: Bytes::new(),
            is_rest_known: false,
            start: options.start,
            tail: None,
            asked_parts: TailHold::parts_for(options.start.tail.unwrap_or_default()),
            since_time: options.since_time,
            asked: LogPlace::Running,
            is_opened: false,
            has_news: false,
            is_empty: true,
            failures: 0,
            is_reported: false,
            is_reread: false,
            is_forbidden: false,
            wait: None,
            doubt: None,
            gap: None,
            node_error: None,
            node_errors: 0,
        }
    }

    /// Where its log is. An instance without an ID is the one that the server has.
    pub(super) fn place(&self, chain: &LogChain) -> LogPlace {
        let place = chain.place(&self.instance);
        let is_unknown = self.instance.id.is_empty() && !chain.is_pod_gone();
        if is_unknown { LogPlace::Ended } else { place }
    }

    /// The answer is about something else: a status may explain that, unless it has already.
    pub(super) fn question(&mut self, chain: &LogChain) {
        self.doubt = (self.place(chain) == self.asked).then_some(self.asked);
    }

    /// The next request.
    pub(super) fn request(&self, options: ReadOptions, is_polled: bool) -> LogRequest {
        let start = match self.window.start() {
            _ if self.check.is_asked() => LogStart {
                tail: Some(1),
                since: self.start.since.filter(|_| self.window.last().is_none()),
            },
            Some(start) => start,
            None => LogStart {
                tail: self.start.tail.map(|_| self.asked_parts),
                ..self.start
            },
        };
        LogRequest {
            container: self.instance.container.clone(),
            follow: options.follow && !is_polled && self.asked == LogPlace::Running,
            previous: options.instances == ReadInstances::Previous
                || self.asked == LogPlace::Previous,
            start,
        }
    }

    /// Takes a new line, or the next part of one.
    pub(super) fn note(&mut self, line: &LogLine) {
        self.newest.take(line);
        self.check.note(ReadSoFar {
            window: &self.window,
            newest: &self.newest,
        });
    }

    /// Takes the end of the answer with the last line.
    pub(super) fn conclude_check(&mut self, rest: &[u8]) -> EndVerdict {
        let read = ReadSoFar {
            window: &self.window,
            newest: &self.newest,
        };
        self.check.conclude(read, rest)
    }

    /// Whether the end of the log was read: it has the line that must come, or it has nothing new.
    pub(super) fn is_read_to_end(&self) -> bool {
        let is_settled = self.rest.is_empty() || self.is_rest_known;
        let window = &self.window;
        let has_nothing_new = !self.has_news && !self.check.expects_line();
        let is_repeated = window.is_continued() && window.is_repeated() && has_nothing_new;
        let is_one_begun_line = window.last().is_none() && !self.rest.is_empty();
        is_settled && (self.check.is_passed() || is_repeated || is_one_begun_line)
    }

    /// Reads the instance again from its first line.
    pub(super) fn read_again(&mut self) {
        self.window = ResumeWindow::default();
        self.newest = NewestText::default();
        self.check = EndCheck::default();
        self.rest = Bytes::new();
        self.is_reread = true;
    }

    /// Requests the tail once more, with this many parts.
    pub(super) fn ask_again_for(&mut self, parts: u64) {
        self.asked_parts = parts;
        self.window = ResumeWindow::default();
        self.newest = NewestText::default();
        self.long = LongLine::default();
    }

    /// Waits until the right may be back. Returns whether it was there before.
    pub(super) fn wait_for_right(&mut self) -> bool {
        self.failures += 1;
        let wait = FIRST_WITHOUT_RIGHT.saturating_mul(1 << (self.failures - 1).min(8));
        self.wait = Some(ReadStep::Wait(Some(wait.min(LONGEST_WITHOUT_RIGHT))));
        // The next answer is an event.
        self.is_opened = false;
        !std::mem::replace(&mut self.is_forbidden, true)
    }

    /// Waits before the next request: not at all after news, and longer after each failure.
    pub(super) fn pause(&mut self) {
        self.failures = if self.has_news { 0 } else { self.failures + 1 };
        self.has_news = false;
        let wait = match self.failures {
            0 => Duration::ZERO,
            failures => FIRST_PAUSE
                .saturating_mul(1 << (failures - 1).min(8))
                .min(LONGEST_PAUSE),
        };
        self.wait = Some(ReadStep::Pause(wait));
    }
}

/// The pauses after failures.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// The pauses while a right is missing.
const FIRST_WITHOUT_RIGHT: Duration = Duration::from_secs(1);
const LONGEST_WITHOUT_RIGHT: Duration = Duration::from_secs(10);
