//! `InstanceReading`: the instance that a [`LogReader`](super::LogReader) reads, and how far it has come.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes};
use jiff::Timestamp;

use super::chain::LogChain;
use super::container_reading::ContainerReading;
use super::end_check::{EndCheck, EndVerdict, NewestText, ReadSoFar};
use super::instances::LogPlace;
use super::long_line::LongLine;
use super::read_step::{Flow, ReadInstances, ReadOptions, ReadStep};
use super::resume::{Continuation, KnownLine, ResumeWindow};
use super::splitter::LinePart;
use super::strays::StrayMatch;
use super::tail::{ReadFrom, TailEnd, TailHold};
use super::timed_line::timed_line;
use crate::source::log::{
    LogEvent, LogGap, LogGapCause, LogInstance, LogLine, LogRequest, LogStart,
};

/// Why the lines of a tail are shown now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TailPause {
    /// All requested parts came.
    Full,
    /// Nothing follows for a while.
    Silence,
    /// The answer is over.
    AnswerOver,
}

/// What is done about an answer that does not repeat the known lines: its log was rotated, or the container has restarted
/// and its status is late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// The reader waits for a status that explains the answer.
    Unexplained,
    /// None came. The log of the instance before is requested: with the known lines in it, the container has restarted.
    Trial,
    /// It has. The status must come.
    Restarted,
}

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
    pub(super) is_reported: bool,
    /// Whether it is read again from its first line, because the lines before were not its own.
    pub(super) is_reread: bool,
    /// Whether the server has refused the last request because of a missing right.
    pub(super) is_forbidden: bool,
    /// A step to take before the next request.
    pub(super) wait: Option<ReadStep>,
    /// The answer was about something else than the instance.
    pub(super) doubt: Option<Doubt>,
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
        let is_unknown = self.instance.id.is_empty() && !chain.is_pod_gone;
        if is_unknown { LogPlace::Ended } else { place }
    }

    /// The answer is about something else: a status may explain that, unless it has already.
    pub(super) fn question(&mut self, chain: &LogChain) {
        self.doubt = (self.place(chain) == self.asked).then_some(Doubt::Unexplained);
    }

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
        let is_previous = options.instances == ReadInstances::Previous
            || self.asked == LogPlace::Previous
            || self.doubt == Some(Doubt::Trial);
        LogRequest {
            container: self.instance.container.clone(),
            follow: options.follow && !is_polled && self.asked == LogPlace::Running && !is_previous,
            previous: is_previous,
            start,
        }
    }

    /// The server has answered, and lines follow.
    pub(super) fn opened(&mut self, container: &mut ContainerReading) {
        container.may_return = true;
        self.is_forbidden = false;
        self.has_news = false;
        self.is_empty = true;
        self.node_error = None;
        if !std::mem::replace(&mut self.is_opened, true) {
            container.push(LogEvent::Opened(self.instance.clone()));
        }
        if self.check.is_asked() {
            return;
        }
        self.window.reopen();
        self.long.reopen();
        if self.window.last().is_none() {
            let wanted = self.start.tail;
            self.window.begin(self.start == LogStart::default());
            self.tail = wanted.map(|wanted| TailHold::new(wanted, self.asked_parts));
        }
    }

    /// Takes a line of the answer, or the next part of a long one.
    pub(super) fn line(&mut self, mut part: LinePart, container: &mut ContainerReading) -> Flow {
        if self.check.is_asked() {
            if !self.check.take(&part) {
                self.node_text(&part.bytes, container);
            }
            return Flow::Continue;
        }
        if self.long.is_within() {
            return match self.long.more(part) {
                Some(line) => self.show(line, container),
                None => Flow::Continue,
            };
        }
        let Some((time, length)) = timed_line(&part.bytes) else {
            self.long.skip(&part);
            self.node_text(&part.bytes, container);
            return Flow::Continue;
        };
        self.is_empty = false;
        let continuation = self.window.take(time, &part.bytes);
        if self.doubt == Some(Doubt::Trial) {
            return self.try_line(continuation);
        }
        if continuation == Continuation::New && self.is_stray(time, &part, container) {
            return Flow::Continue;
        }
        part.bytes.advance(length);
        let line = match continuation {
            Continuation::New => {
                self.give_up_long_line(container);
                Some(self.long.start(time, part))
            }
            Continuation::Known if self.window.is_repeated() => self.long.repeat(time, part),
            Continuation::Known => {
                self.long.skip(&part);
                None
            }
            Continuation::Other => {
                self.question(&container.chain);
                return Flow::Stop;
            }
        };
        line.map_or(Flow::Continue, |line| self.show(line, container))
    }

    /// Takes a line of the log of the instance before.
    fn try_line(&mut self, continuation: Continuation) -> Flow {
        if continuation == Continuation::Other {
            self.rotated();
        } else if self.window.is_unproven() {
            return Flow::Continue;
        } else {
            self.doubt = Some(Doubt::Restarted);
        }
        Flow::Stop
    }

    /// The known lines are in no log any more.
    pub(super) fn rotated(&mut self) {
        self.doubt = None;
        self.gap = self.window.last();
        self.window.forget();
    }

    /// Skips a line that was shown under the instance before.
    fn is_stray(
        &mut self,
        time: Timestamp,
        part: &LinePart,
        container: &mut ContainerReading,
    ) -> bool {
        // An instance is read again because they are not in its log.
        if container.strays.is_empty() || self.is_reread {
            return false;
        }
        match container.strays.take(KnownLine::of(time, &part.bytes)) {
            StrayMatch::New => return false,
            StrayMatch::First(text) => container.notice(text),
            StrayMatch::Further => {}
        }
        self.long.skip(part);
        true
    }

    /// Another line follows a long one whose end did not come.
    fn give_up_long_line(&mut self, container: &mut ContainerReading) {
        let Some(end) = self.long.close() else {
            return;
        };
        container.push(LogEvent::Line(end));
        // A gap is said anyway.
        if self.gap.is_none() {
            container.notice("the rest of a long line cannot be read any more");
        }
    }

    /// Takes a line that has not been shown, or a part of one.
    fn show(&mut self, line: LogLine, container: &mut ContainerReading) -> Flow {
        self.newest.take(&line);
        self.check.note(ReadSoFar {
            window: &self.window,
            newest: &self.newest,
        });
        self.has_news = true;
        self.failures = 0;
        self.is_reported = false;
        match &mut self.tail {
            None => self.emit(line, container),
            Some(tail) => {
                if tail.push(line) {
                    return self.end_tail(TailPause::Full, container);
                }
            }
        }
        container.flow()
    }

    fn emit(&mut self, line: LogLine, container: &mut ContainerReading) {
        if container.is_off || self.since_time.is_some_and(|since| line.time < since) {
            return;
        }
        if let Some(after) = self.gap.take() {
            let cause = LogGapCause::Rotated;
            let upto = Some(line.time);
            container.push(LogEvent::Gap(LogGap { after, upto, cause }));
        }
        container.show(line);
    }

    /// Shows the held lines, or asks for more of them.
    pub(super) fn end_tail(&mut self, pause: TailPause, container: &mut ContainerReading) -> Flow {
        let Some(tail) = self.tail.take() else {
            return Flow::Continue;
        };
        let (lines, from) = match tail.end() {
            TailEnd::AskMore(parts) => {
                self.ask_again_for(parts);
                return Flow::Stop;
            }
            TailEnd::Lines(lines, from) => (lines, from),
        };
        self.start.tail = None;
        if pause == TailPause::Full {
            self.check.pass();
        }
        match from {
            ReadFrom::FirstLine
                if pause == TailPause::Silence && container.options.start.since.is_none() =>
            {
                self.window.begins_with_log();
            }
            ReadFrom::FirstLine | ReadFrom::Later => {}
            ReadFrom::WithinLine => {
                if let Some(first) = lines.first() {
                    self.window.forget_first(first.time);
                }
                container.notice(
                    "the last lines are so long that the first one is shown without its beginning",
                );
            }
        }
        for line in lines {
            self.emit(line, container);
        }
        container.flow()
    }

    /// Shows the held lines of an answer that broke.
    pub(super) fn break_tail(&mut self, container: &mut ContainerReading) -> Flow {
        for line in self.tail.take().into_iter().flat_map(TailHold::broken) {
            self.emit(line, container);
        }
        container.flow()
    }

    /// Nothing has arrived for a while.
    pub(super) fn quiet(&mut self, container: &mut ContainerReading) -> Flow {
        let is_silence_an_end = container.options.follow && self.asked == LogPlace::Running;
        if is_silence_an_end && self.tail.is_some() {
            if self.end_tail(TailPause::Silence, container) == Flow::Stop {
                return Flow::Stop;
            }
            container.push(LogEvent::Quiet);
        }
        if self.window.is_doubtful() {
            self.question(&container.chain);
            return Flow::Stop;
        }
        // The instance has ended, and its stream has not.
        if self.place(&container.chain) == self.asked {
            Flow::Continue
        } else {
            Flow::Stop
        }
    }

    /// The status of the container is another one. Returns whether the answer that arrives is still of use.
    pub(super) fn moved(&mut self, chain: &LogChain) -> Flow {
        let place = self.place(chain);
        if place != self.asked {
            self.doubt = None;
        }
        // Nothing shows yet which instance the answer is about.
        let is_unknown = self.window.last().is_none();
        if is_unknown && place != self.asked {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }

    /// Takes a text without a time: the node sends errors in place of lines.
    fn node_text(&mut self, text: &[u8], container: &mut ContainerReading) {
        let text: Arc<str> = String::from_utf8_lossy(text).into();
        // inotify(7): each follow takes an instance, and a node has 128 of them by default.
        let is_followed = container.options.follow && self.asked == LogPlace::Running;
        if is_followed && text.contains("fsnotify watcher") && text.contains("too many open files")
        {
            if !std::mem::replace(&mut container.is_polled, true) {
                container.push(LogEvent::Polled);
            }
            return;
        }
        let is_end_of_pod = container.chain.is_pod_gone && text.contains("NotFound");
        let is_new = self.node_error.as_ref() != Some(&text) && !self.is_reported;
        if is_new && !is_end_of_pod {
            self.is_reported = true;
            container.notice(&text);
        }
        self.node_error = Some(text);
    }

    /// Notes that lines after the last one may be missing. Returns whether there was one.
    pub(super) fn note_missing(
        &self,
        cause: LogGapCause,
        container: &mut ContainerReading,
    ) -> bool {
        let gap = self.window.last().map(|after| LogGap {
            after,
            upto: None,
            cause,
        });
        container.events.extend(gap.map(LogEvent::Gap));
        self.window.last().is_some()
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
        let is_repeated = window.is_continued && window.is_repeated() && has_nothing_new;
        let is_one_begun_line = window.last().is_none() && !self.rest.is_empty();
        is_settled && (self.check.is_passed() || is_repeated || is_one_begun_line)
    }

    /// Reads the instance again from its first line. What was shown of it so far may belong to the next one.
    pub(super) fn read_again(&mut self, container: &mut ContainerReading) {
        container.strays.add(&self.window);
        container
            .events
            .extend(self.long.close().map(LogEvent::Line));
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
