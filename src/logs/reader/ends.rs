//! What follows from the end of an answer: another request, or the end of the instance.

use bytes::Bytes;

use super::{LogReader, NOT_READY, TRIES, TailPause};
use crate::logs::ReadInstances;
use crate::logs::end_check::EndVerdict;
use crate::logs::instances::LogPlace;
use crate::logs::read_step::{Flow, ReadStep};
use crate::logs::splitter::LinePart;
use crate::logs::timed_line::timed_line;
use crate::source::log::{LogEnd, LogEvent, LogGap, LogGapCause, LogRefusal};

/// How often the last line of a log is requested, as long as other answers bring new lines.
const MOST_ASKS: u32 = 10;

impl LogReader {
    /// The answer is over, as far as the connection shows. The rest follows its last line feed.
    pub(super) fn complete(&mut self, rest: Bytes) {
        let Some(reading) = &mut self.current else {
            return;
        };
        if reading.check.is_asked() {
            self.conclude_check(&rest);
            return;
        }
        let is_message = !reading.long.is_within() && timed_line(&rest).is_none();
        if is_message && !rest.is_empty() {
            self.line(LinePart::last(rest));
        } else {
            reading.is_rest_known = reading.rest == rest;
            reading.rest = rest;
        }
        let Some(reading) = &mut self.current else {
            return;
        };
        if reading.doubt.is_some() {
            return;
        }
        let is_growing = self.options.follow && reading.asked == LogPlace::Running;
        if is_growing {
            self.conclude_following();
        } else {
            self.conclude();
        }
    }

    /// The end of an answer about an instance that runs, and of which more is read.
    fn conclude_following(&mut self) {
        if self.end_tail(TailPause::AnswerOver) == Flow::Stop {
            return;
        }
        if self.is_unproven() {
            return;
        }
        let Some(reading) = &mut self.current else {
            return;
        };
        if self.is_polled {
            reading.wait = Some(ReadStep::WaitTurn);
        } else {
            reading.pause();
        }
    }

    /// The end of an answer about an instance that has ended, or of one that is read once.
    fn conclude(&mut self) {
        if self.is_unproven() {
            return;
        }
        let Some(reading) = &mut self.current else {
            return;
        };
        if let Some(text) = reading.node_error.clone() {
            reading.node_errors += 1;
            if reading.node_errors < TRIES {
                reading.pause();
            } else {
                self.break_tail();
                self.finish(LogEnd::Lost(text));
            }
            return;
        }
        reading.node_errors = 0;
        if reading.tail.as_ref().is_some_and(|tail| !tail.is_short())
            && self.end_tail(TailPause::Full) == Flow::Stop
        {
            return;
        }
        let Some(reading) = &mut self.current else {
            return;
        };
        let most_asks = if reading.has_news { MOST_ASKS } else { TRIES };
        if reading.is_read_to_end() || self.options.unchecked {
            self.finish_whole();
        } else if reading.check.is_unknown() && reading.check.asks < most_asks {
            reading.check.ask();
        } else if reading.tail.is_some() && !reading.check.is_passed() {
            self.ask_tail_again();
        } else if reading.check.is_unknown() && reading.has_news {
            // A log that grows has something new for ever.
            self.finish_incomplete(LogGapCause::Cut);
        } else if reading.has_news || reading.failures + 1 < TRIES {
            reading.pause();
        } else if reading.check.is_passed() {
            // The rest is another one each time: it is of a line after the end.
            reading.rest = Bytes::new();
            self.finish_whole();
        } else {
            self.finish_incomplete(LogGapCause::Cut);
        }
    }

    /// The answer with the last line is over.
    fn conclude_check(&mut self, rest: &[u8]) {
        let Some(reading) = &mut self.current else {
            return;
        };
        match reading.conclude_check(rest) {
            EndVerdict::Whole if reading.rest.is_empty() => self.finish_whole(),
            EndVerdict::Incomplete if reading.tail.is_some() => self.ask_tail_again(),
            EndVerdict::Whole | EndVerdict::Incomplete => {}
            EndVerdict::Unanswered if reading.failures + 1 < TRIES => reading.pause(),
            EndVerdict::Unanswered => self.finish_incomplete(LogGapCause::Cut),
        }
    }

    /// Requests the tail again, whose answer was cut. After some attempts, its lines are shown, and the log is read on.
    fn ask_tail_again(&mut self) {
        let Some(reading) = &mut self.current else {
            return;
        };
        reading.check.cut_tails += 1;
        if reading.check.cut_tails < TRIES {
            reading.tail = None;
            reading.ask_again_for(reading.asked_parts);
        } else {
            self.end_tail(TailPause::AnswerOver);
        }
    }

    /// Whether the answer showed none of the lines that it had to repeat. Then another attempt follows, or a doubt.
    fn is_unproven(&mut self) -> bool {
        let Some(reading) = &mut self.current else {
            return false;
        };
        if !reading.window.is_unproven() || reading.node_error.is_some() {
            return false;
        }
        // The node may have gone before its first byte.
        if reading.is_empty && reading.failures + 1 < TRIES {
            reading.pause();
        } else if reading.is_empty && !self.options.follow {
            self.finish_incomplete(LogGapCause::Cut);
        } else {
            reading.question(&self.chain);
        }
        true
    }

    /// The log was read to its end.
    fn finish_whole(&mut self) {
        let Some(reading) = &mut self.current else {
            return;
        };
        let rest = std::mem::take(&mut reading.rest);
        if !rest.is_empty() {
            self.line(LinePart::last(rest));
        }
        if self.end_tail(TailPause::AnswerOver) == Flow::Stop {
            return;
        }
        self.finish_read();
    }

    /// Nothing more is read of the instance.
    fn finish_read(&mut self) {
        let Some(reading) = &self.current else { return };
        if reading.asked == LogPlace::Running {
            self.finish(LogEnd::Read);
        } else {
            let exit = self.chain.exit(&reading.instance);
            self.finish(LogEnd::Exited(exit));
        }
    }

    /// Lines up to the end of the log are missing, or may be.
    pub(super) fn finish_incomplete(&mut self, cause: LogGapCause) {
        self.break_tail();
        if self.note_missing(cause) {
            self.finish_read();
        } else {
            self.finish(LogEnd::Lost("its log cannot be read".into()));
        }
    }

    /// Notes that lines after the last one may be missing. Returns whether there was one.
    pub(super) fn note_missing(&mut self, cause: LogGapCause) -> bool {
        let reading = self.current.as_ref();
        let Some(after) = reading.and_then(|reading| reading.window.last()) else {
            return false;
        };
        let upto = None;
        self.events
            .push(LogEvent::Gap(LogGap { after, upto, cause }));
        true
    }

    pub(super) fn refused(&mut self, refusal: LogRefusal) {
        let Some(reading) = &mut self.current else {
            return;
        };
        let is_transient = matches!(refusal.code, 0 | 408 | 429 | 500..);
        let is_hopeless = matches!(refusal.code, 401 | 403 | 422);
        match refusal.code {
            _ if is_transient => self.failed(refusal),
            // The node has removed the instance before.
            400 if reading.asked == LogPlace::Previous
                && (reading.is_opened || self.options.instances == ReadInstances::Both) =>
            {
                self.finish(LogEnd::Lost(refusal.text));
            }
            401 | 403 if self.options.follow && self.may_return => {
                if reading.wait_for_right() {
                    self.events.push(LogEvent::Refused(refusal));
                }
            }
            _ if is_hopeless || !self.options.follow => {
                self.events.push(LogEvent::Refused(refusal));
                self.is_off = true;
            }
            _ if reading.failures >= TRIES && reading.asked != LogPlace::Running => {
                self.finish(LogEnd::Lost(refusal.text));
            }
            _ => self.not_ready(),
        }
    }

    /// The server has no log of the instance yet: another status may come.
    pub(super) fn not_ready(&mut self) {
        let Some(reading) = &mut self.current else {
            return;
        };
        if self.options.follow {
            reading.failures += 1;
            reading.wait = Some(ReadStep::Wait(Some(NOT_READY)));
        } else {
            self.finish(LogEnd::Read);
        }
    }

    /// An attempt failed that may succeed later.
    pub(super) fn failed(&mut self, refusal: LogRefusal) {
        let Some(reading) = &mut self.current else {
            return;
        };
        if !self.options.follow && reading.failures + 1 >= TRIES {
            self.note_missing(LogGapCause::Cut);
            self.events.push(LogEvent::Refused(refusal));
            self.is_off = true;
            return;
        }
        // A connection that breaks is opened again without a word.
        let is_news = refusal.code > 0 || reading.failures > 0;
        if is_news && !std::mem::replace(&mut reading.is_reported, true) {
            self.events.push(LogEvent::Notice(refusal.text));
        }
        reading.pause();
    }

    /// The node has nothing more of the instance.
    pub(super) fn lose(&mut self) {
        self.break_tail();
        if self.chain.is_pod_gone() {
            return self.finish(LogEnd::PodGone);
        }
        self.note_missing(LogGapCause::Replaced);
        self.finish(LogEnd::Lost("its log cannot be read any more".into()));
    }

    pub(super) fn finish(&mut self, end: LogEnd) {
        let Some(mut reading) = self.current.take() else {
            return;
        };
        self.events.extend(reading.long.close().map(LogEvent::Line));
        self.strays.add(&reading.window);
        if reading.is_reread {
            self.strays.note_reread();
        }
        self.events.push(LogEvent::Ended(reading.instance, end));
        self.is_off |= match self.options.instances {
            ReadInstances::Present => !self.options.follow,
            ReadInstances::Previous => true,
            ReadInstances::Both => false,
        };
    }
}
