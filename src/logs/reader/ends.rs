//! What follows from the end of an answer: another request, or the end of the instance.

use bytes::Bytes;

use super::{LogReader, NOT_READY, TRIES};
use crate::logs::instances::LogPlace;
use crate::logs::read_step::{Flow, ReadStep};
use crate::logs::splitter::LinePart;
use crate::logs::timed_line::timed_line;
use crate::source::log::{LogEnd, LogEvent, LogGap, LogGapCause, LogRefusal};

impl LogReader {
    pub(super) fn complete(&mut self, rest: Bytes) {
        let Some(reading) = &mut self.current else {
            return;
        };
        let is_last = !self.options.follow || reading.asked != LogPlace::Running;
        let is_message = !reading.long.is_within() && timed_line(&rest).is_none();
        if !rest.is_empty() && (is_last || is_message) {
            // A line without its end that arrives again, with its end, is not shown twice.
            self.line(LinePart::last(rest));
        }
        if self
            .current
            .as_ref()
            .is_some_and(|reading| reading.doubt.is_none())
        {
            self.conclude();
        }
    }

    pub(super) fn conclude(&mut self) {
        if self.end_tail() == Flow::Stop {
            return;
        }
        let Some(reading) = &mut self.current else {
            return;
        };
        if reading.window.is_unproven() && reading.node_error.is_none() {
            // The node may have gone before its first byte.
            if reading.is_empty && reading.failures + 1 < TRIES {
                reading.pause();
            } else {
                reading.question(&self.chain);
            }
            return;
        }
        match reading.asked {
            LogPlace::Running if self.options.follow && self.is_polled => {
                reading.wait = Some(ReadStep::WaitTurn);
            }
            LogPlace::Running if self.options.follow => reading.pause(),
            LogPlace::Running => self.finish(LogEnd::Read),
            LogPlace::Ended | LogPlace::Previous | LogPlace::Gone => {
                match reading.node_error.clone() {
                    None => self.finish_by_status(),
                    Some(_) if reading.failures + 1 < TRIES => reading.pause(),
                    Some(text) => self.finish(LogEnd::Lost(text)),
                }
            }
        }
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
                && (reading.is_opened || self.options.has_last) =>
            {
                self.finish(LogEnd::Lost(refusal.text));
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
        let Some(reading) = &self.current else { return };
        if self.chain.is_pod_gone() {
            return self.finish(LogEnd::PodGone);
        }
        if let Some(after) = reading.window.last() {
            let cause = LogGapCause::Replaced;
            self.events.push(LogEvent::Gap(LogGap {
                after,
                upto: None,
                cause,
            }));
        }
        self.finish(LogEnd::Lost("its log cannot be read any more".into()));
    }

    pub(super) fn finish_by_status(&mut self) {
        let Some(reading) = &self.current else { return };
        let exit = self.chain.exit(&reading.instance);
        self.finish(LogEnd::Exited(exit));
    }

    pub(super) fn finish(&mut self, end: LogEnd) {
        let Some(mut reading) = self.current.take() else {
            return;
        };
        self.events.extend(reading.long.close().map(LogEvent::Line));
        self.events.push(LogEvent::Ended(reading.instance, end));
        let goes_on = self.options.follow || self.options.has_last;
        self.is_off |= self.options.previous || !goes_on;
    }
}
