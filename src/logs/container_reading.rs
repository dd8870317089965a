//! `ContainerReading`: what a [`LogReader`](super::LogReader) knows about all instances of its container, and its events.

use super::chain::LogChain;
use super::read_step::{Flow, ReadOptions};
use super::strays::StrayLines;
use crate::source::log::{LogEvent, LogLine};

/// The reading of a container, whichever instance is read.
#[derive(Debug)]
pub(super) struct ContainerReading {
    pub(super) options: ReadOptions,
    pub(super) chain: LogChain,
    /// The lines that were shown of the instances before.
    pub(super) strays: StrayLines,
    /// Whether a missing right may come back: the log was read before, or it is new.
    pub(super) may_return: bool,
    /// Whether nothing more is read.
    pub(super) is_off: bool,
    pub(super) is_polled: bool,
    /// How many bytes may still be shown.
    left: Option<u64>,
    pub(super) events: Vec<LogEvent>,
}

impl ContainerReading {
    /// Before anything is read.
    pub(super) fn new(options: ReadOptions, chain: LogChain, may_return: bool) -> ContainerReading {
        ContainerReading {
            options,
            chain,
            strays: StrayLines::default(),
            may_return,
            is_off: false,
            is_polled: false,
            left: options.limit,
            events: Vec::new(),
        }
    }

    /// Whether as many bytes were shown as may be.
    pub(super) fn is_at_limit(&self) -> bool {
        self.left == Some(0)
    }

    /// Whether to read on in the present answer.
    pub(super) fn flow(&self) -> Flow {
        if self.is_off {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }

    /// Shows a line, or as much of it as the limit allows. At the limit, nothing more is read.
    pub(super) fn show(&mut self, line: LogLine) {
        let Some(left) = &mut self.left else {
            self.events.push(LogEvent::Line(line));
            return;
        };
        let room = usize::try_from(*left).unwrap_or(usize::MAX);
        let text = line.text.slice(..line.text.len().min(room));
        *left = left.saturating_sub(line.text.len() as u64 + u64::from(line.ends));
        let ends = line.ends || *left == 0;
        self.is_off |= *left == 0;
        self.events
            .push(LogEvent::Line(LogLine { text, ends, ..line }));
    }

    /// Passes an event on.
    pub(super) fn push(&mut self, event: LogEvent) {
        self.events.push(event);
    }

    /// Shows a message about the log.
    pub(super) fn notice(&mut self, text: &str) {
        self.push(LogEvent::Notice(text.into()));
    }
}
