//! `LogReader`: reads the log of one container, instance after instance. It decides which request is next.
//!
//! An instance ends by the status of its Pod, never by its stream: when the connection between the API server and the node
//! breaks, the answer ends as if it were complete. After an end, the log is read on from a second before the newest line,
//! and must repeat the known lines (see `logs::resume`). The end of an instance is read once more without `follow`.

mod ends;

use std::sync::Arc;
use std::time::Duration;

use bytes::Buf;
use jiff::Timestamp;

use super::chain::{ChainStart, LogChain};
use super::instances::{ContainerLogs, LogPlace};
use super::long_line::LongLine;
use super::read_step::{Flow, ReadInstances, ReadOptions, ReadStep, StreamEnd};
use super::reading::InstanceReading;
use super::resume::{Continuation, KnownLine};
use super::splitter::LinePart;
use super::strays::{StrayLines, StrayMatch};
use super::tail::{ReadFrom, TailEnd, TailHold};
use super::timed_line::timed_line;
use crate::source::log::{
    LogContainer, LogEnd, LogEvent, LogGap, LogGapCause, LogInstance, LogLine, LogRefusal, LogStart,
};

/// How long to wait for a status that explains an answer about something else.
const DOUBT: Duration = Duration::from_millis(1500);
/// How long to wait for a status, if the server does not have the log yet. The status arrives first, as a rule.
const NOT_READY: Duration = Duration::from_secs(2);
/// How often a log is requested again without `--follow`, and that of an ended instance.
const TRIES: u32 = 3;

/// Why the lines of a tail are shown now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TailPause {
    /// All requested parts came.
    Full,
    /// Nothing follows for a while.
    Silence,
    /// The answer is over.
    AnswerOver,
}

/// Reads the log of one container.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact about all instances"
)]
pub struct LogReader {
    options: ReadOptions,
    chain: LogChain,
    current: Option<InstanceReading>,
    /// The lines that were shown of the instances before.
    strays: StrayLines,
    /// Whether the first instance existed at the start, so that `options.start` is about it.
    is_first: bool,
    /// How many of the next instances existed at the start: the options choose their lines.
    existing: usize,
    /// Whether a missing right may come back: the log was read before, or it is new.
    may_return: bool,
    is_off: bool,
    is_polled: bool,
    left: Option<u64>,
    events: Vec<LogEvent>,
}

impl LogReader {
    /// A reader for a container whose status is this.
    pub fn new(
        container: Arc<LogContainer>,
        status: ContainerLogs,
        options: ReadOptions,
    ) -> LogReader {
        let is_first = !options.is_new || options.instances == ReadInstances::Previous;
        let start = match options.instances {
            ReadInstances::Present if !options.is_new => ChainStart::Present,
            ReadInstances::Previous => ChainStart::Previous,
            ReadInstances::Present | ReadInstances::Both => ChainStart::Oldest,
        };
        let chain = LogChain::new(container, status, start);
        LogReader {
            options,
            current: None,
            strays: StrayLines::default(),
            is_first,
            may_return: !is_first,
            existing: if is_first { chain.waiting() } else { 0 },
            chain,
            is_off: false,
            is_polled: false,
            left: options.limit,
            events: Vec::new(),
        }
    }

    /// The events since the last call.
    pub fn take_events(&mut self) -> std::vec::Drain<'_, LogEvent> {
        self.events.drain(..)
    }

    /// Reads the log in turns from now on, or follows it.
    pub fn set_polled(&mut self, is_polled: bool) {
        self.is_polled = is_polled;
    }

    /// Whether the log is read in turns.
    pub fn is_polled(&self) -> bool {
        self.is_polled
    }

    /// The next step.
    pub fn step(&mut self) -> ReadStep {
        while !self.is_off {
            if self.current.is_none() && !self.begin_next() {
                let is_over = self.chain.is_complete() || !self.options.follow;
                return if is_over {
                    ReadStep::Done
                } else {
                    ReadStep::Wait(None)
                };
            }
            let Some(reading) = &mut self.current else {
                continue;
            };
            if reading.doubt.is_some() {
                return ReadStep::Wait(Some(DOUBT));
            }
            if let Some(wait) = reading.wait.take() {
                return wait;
            }
            let place = reading.place(&self.chain);
            if place == LogPlace::Gone {
                self.lose();
                continue;
            }
            if place != reading.asked {
                reading.check.reset();
                reading.asked = place;
            }
            return ReadStep::Open(reading.request(self.options, self.is_polled));
        }
        ReadStep::Done
    }

    /// Begins with the next instance. Without `follow`, a container that has none is asked for its log all the same: the
    /// server knows why there is none.
    fn begin_next(&mut self) -> bool {
        // An instance that appears later on is shown from its first line.
        let is_first = std::mem::take(&mut self.is_first);
        let next = match self.chain.pop() {
            None if is_first && !self.options.follow => Some(Arc::new(LogInstance {
                container: self.chain.container().clone(),
                id: "".into(),
                attempt: 0,
            })),
            next => next,
        };
        let Some(instance) = next else { return false };
        let existed = is_first || self.existing > 0;
        self.existing = self.existing.saturating_sub(1);
        let options = existed.then_some(self.options);
        self.current = Some(InstanceReading::new(instance, options));
        true
    }

    /// The server has answered, and lines follow.
    pub fn opened(&mut self) {
        let Some(reading) = &mut self.current else {
            return;
        };
        self.may_return = true;
        reading.is_forbidden = false;
        reading.has_news = false;
        reading.is_empty = true;
        reading.node_error = None;
        if !std::mem::replace(&mut reading.is_opened, true) {
            self.events.push(LogEvent::Opened(reading.instance.clone()));
        }
        if reading.check.is_asked() {
            return;
        }
        reading.window.reopen();
        reading.long.reopen();
        if reading.window.last().is_none() {
            let wanted = reading.start.tail;
            let is_whole = reading.start == LogStart::default();
            reading.window.begin(is_whole);
            reading.tail = wanted.map(|wanted| TailHold::new(wanted, reading.asked_parts));
        }
    }

    /// Takes a line of the answer, or the next part of a long one.
    pub fn line(&mut self, mut part: LinePart) -> Flow {
        let Some(reading) = &mut self.current else {
            return Flow::Stop;
        };
        if reading.check.is_asked() {
            if !reading.check.take(&part) {
                self.node_text(&part.bytes);
            }
            return Flow::Continue;
        }
        if reading.long.is_within() {
            return match reading.long.more(part) {
                Some(line) => self.show(line),
                None => Flow::Continue,
            };
        }
        let Some((time, length)) = timed_line(&part.bytes) else {
            reading.long.skip(&part);
            self.node_text(&part.bytes);
            return Flow::Continue;
        };
        reading.is_empty = false;
        let continuation = reading.window.take(time, &part.bytes);
        if continuation == Continuation::New && self.is_stray(time, &part) {
            return Flow::Continue;
        }
        let Some(reading) = &mut self.current else {
            return Flow::Stop;
        };
        part.bytes.advance(length);
        let line = match continuation {
            Continuation::New => {
                self.give_up_long_line();
                let reading = self.current.as_mut();
                reading.map(|reading| reading.long.start(time, part))
            }
            Continuation::Known if reading.window.is_repeated() => reading.long.repeat(time, part),
            Continuation::Known => {
                reading.long.skip(&part);
                None
            }
            Continuation::Other => {
                reading.question(&self.chain);
                return Flow::Stop;
            }
        };
        line.map_or(Flow::Continue, |line| self.show(line))
    }

    /// Skips a line that was shown under the instance before.
    fn is_stray(&mut self, time: Timestamp, part: &LinePart) -> bool {
        let Some(reading) = &mut self.current else {
            return false;
        };
        // An instance is read again because they are not in its log.
        if self.strays.is_empty() || reading.is_reread {
            return false;
        }
        match self.strays.take(KnownLine::of(time, &part.bytes)) {
            StrayMatch::New => return false,
            StrayMatch::First(text) => self.events.push(LogEvent::Notice(text.into())),
            StrayMatch::Further => {}
        }
        reading.long.skip(part);
        true
    }

    /// Takes a line that has not been shown, or a part of one.
    fn show(&mut self, line: LogLine) -> Flow {
        let Some(reading) = &mut self.current else {
            return Flow::Stop;
        };
        reading.note(&line);
        reading.has_news = true;
        reading.failures = 0;
        reading.is_reported = false;
        match &mut reading.tail {
            None => self.emit(line),
            Some(tail) => {
                if tail.push(line) {
                    return self.end_tail(TailPause::Full);
                }
            }
        }
        if self.is_off {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }

    /// Another line follows a long one whose end did not come.
    fn give_up_long_line(&mut self) {
        let Some(reading) = &mut self.current else {
            return;
        };
        let Some(end) = reading.long.close() else {
            return;
        };
        // A gap is said anyway.
        let is_said = reading.gap.is_some();
        self.events.push(LogEvent::Line(end));
        let text = "the rest of a long line cannot be read any more";
        self.events
            .extend((!is_said).then(|| LogEvent::Notice(text.into())));
    }

    /// Nothing has arrived for a while.
    pub fn quiet(&mut self) -> Flow {
        let Some(reading) = &mut self.current else {
            return Flow::Stop;
        };
        let is_silence_an_end = self.options.follow && reading.asked == LogPlace::Running;
        if is_silence_an_end && self.end_tail(TailPause::Silence) == Flow::Stop {
            return Flow::Stop;
        }
        let Some(reading) = &mut self.current else {
            return Flow::Stop;
        };
        if reading.window.is_doubtful() {
            reading.question(&self.chain);
            return Flow::Stop;
        }
        // The instance has ended, and its stream has not.
        let has_moved = reading.place(&self.chain) != reading.asked;
        if has_moved {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }

    /// The answer is over.
    pub fn ended(&mut self, end: StreamEnd) {
        match end {
            StreamEnd::Clean(rest) => self.complete(rest),
            StreamEnd::Broken(text) => {
                self.break_tail();
                let text = LogRefusal { code: 0, text };
                self.failed(text);
            }
            StreamEnd::Refused(refusal) => {
                self.break_tail();
                self.refused(refusal);
            }
            StreamEnd::Unscheduled => {
                self.break_tail();
                self.not_ready();
            }
        }
    }

    /// Takes the next status of the container. Returns whether the answer that arrives is still of use.
    pub fn status(&mut self, status: &ContainerLogs) -> Flow {
        self.chain.update(status);
        self.moved()
    }

    /// The Pod is gone.
    pub fn pod_gone(&mut self) -> Flow {
        self.chain.lose_pod();
        self.moved()
    }

    /// The phase of the Pod is Succeeded or Failed.
    pub fn pod_finished(&mut self) {
        self.chain.finish_pod();
    }

    fn moved(&mut self) -> Flow {
        let Some(reading) = &mut self.current else {
            return Flow::Continue;
        };
        let place = reading.place(&self.chain);
        if reading.doubt.is_some_and(|doubted| doubted != place) {
            reading.doubt = None;
        }
        // Nothing shows yet which instance the answer is about.
        let is_unknown = reading.window.last().is_none();
        if is_unknown && place != reading.asked {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }

    /// Whether it waits for a status that explains an answer about something else.
    pub fn is_in_doubt(&self) -> bool {
        self.current
            .as_ref()
            .is_some_and(|reading| reading.doubt.is_some())
    }

    /// The time of a [`ReadStep::Wait`] is over.
    pub fn waited(&mut self) {
        let Some(reading) = &mut self.current else {
            return;
        };
        let Some(place) = reading.doubt.take() else {
            return;
        };
        match place {
            LogPlace::Running | LogPlace::Ended if !self.options.follow => {
                self.finish_incomplete(LogGapCause::Changed);
            }
            LogPlace::Running | LogPlace::Ended => {
                reading.gap = reading.window.last();
                reading.window.forget();
            }
            // The container restarted while its log was opened: the lines were of the next instance.
            LogPlace::Previous if !reading.is_reread && reading.window.is_from_first_line() => {
                self.note_missing(LogGapCause::Changed);
                self.read_again();
            }
            LogPlace::Previous | LogPlace::Gone => self.lose(),
        }
    }

    /// Reads the instance again. What was shown of it so far may belong to the next one.
    fn read_again(&mut self) {
        let Some(reading) = &mut self.current else {
            return;
        };
        self.strays.add(&reading.window);
        self.events.extend(reading.long.close().map(LogEvent::Line));
        reading.read_again();
    }
}

impl LogReader {
    fn emit(&mut self, line: LogLine) {
        let Some(reading) = &mut self.current else {
            return;
        };
        if reading.since_time.is_some_and(|since| line.time < since) {
            return;
        }
        if let Some(after) = reading.gap.take() {
            let cause = LogGapCause::Rotated;
            let upto = Some(line.time);
            self.events
                .push(LogEvent::Gap(LogGap { after, upto, cause }));
        }
        let Some(left) = &mut self.left else {
            self.events.push(LogEvent::Line(line));
            return;
        };
        let room = usize::try_from(*left).unwrap_or(usize::MAX);
        let text = line.text.slice(..line.text.len().min(room));
        *left = left.saturating_sub(line.text.len() as u64 + u64::from(line.ends));
        let ends = line.ends || *left == 0;
        self.events
            .push(LogEvent::Line(LogLine { text, ends, ..line }));
        if self.left == Some(0) {
            reading.long = LongLine::default();
            self.finish(LogEnd::Limited);
            self.is_off = true;
        }
    }

    /// Shows the held lines, or asks for more of them.
    fn end_tail(&mut self, pause: TailPause) -> Flow {
        let Some(reading) = &mut self.current else {
            return Flow::Stop;
        };
        let Some(tail) = reading.tail.take() else {
            return Flow::Continue;
        };
        match tail.end() {
            TailEnd::AskMore(parts) => {
                reading.ask_again_for(parts);
                return Flow::Stop;
            }
            TailEnd::Lines(lines, from) => {
                reading.start.tail = None;
                if pause == TailPause::Full {
                    reading.check.pass();
                }
                match from {
                    ReadFrom::FirstLine
                        if pause == TailPause::Silence && self.options.start.since.is_none() =>
                    {
                        reading.window.begins_with_log();
                    }
                    ReadFrom::FirstLine | ReadFrom::Later => {}
                    ReadFrom::WithinLine => {
                        let first = lines.first().map(|line| line.time);
                        if let Some(first) = first {
                            reading.window.forget_first(first);
                        }
                        let text = "the last lines are so long that the first one is shown without its beginning";
                        self.events.push(LogEvent::Notice(text.into()));
                    }
                }
                for line in lines {
                    self.emit(line);
                }
            }
        }
        if self.is_off {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }

    fn break_tail(&mut self) {
        let Some(reading) = &mut self.current else {
            return;
        };
        if let Some(tail) = reading.tail.take() {
            for line in tail.broken() {
                self.emit(line);
            }
        }
    }

    /// Takes a text without a time: the node sends errors in place of lines.
    fn node_text(&mut self, text: &[u8]) {
        let Some(reading) = &mut self.current else {
            return;
        };
        let text: Arc<str> = String::from_utf8_lossy(text).into();
        // inotify(7): each follow takes an instance, and a node has 128 of them by default.
        let is_followed = self.options.follow && reading.asked == LogPlace::Running;
        if is_followed && text.contains("fsnotify watcher") && text.contains("too many open files")
        {
            self.events
                .extend((!self.is_polled).then_some(LogEvent::Polled));
            self.is_polled = true;
            return;
        }
        let is_end_of_pod = self.chain.is_pod_gone() && text.contains("NotFound");
        let is_new = reading.node_error.as_ref() != Some(&text) && !reading.is_reported;
        if is_new && !is_end_of_pod {
            reading.is_reported = true;
            self.events.push(LogEvent::Notice(text.clone()));
        }
        reading.node_error = Some(text);
    }
}
