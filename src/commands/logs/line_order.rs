//! `LineOrder`: in which order the events of several logs are shown.

use std::collections::VecDeque;
use std::time::Duration;

use jiff::Timestamp;

use super::args::OrderChoice;
use super::container_feeds::ContainerFeeds;
use crate::logs::{Merge, OrderWindow};
use crate::source::log::LogEvent;

/// The order of events.
#[derive(Debug)]
pub(super) enum LineOrder {
    /// As they arrive, log by log.
    Arrival(VecDeque<usize>),
    /// By time, exactly: each log is read once.
    Whole(Merge<LogEvent>),
    /// By time, within a moment.
    Window(OrderWindow<LogEvent>),
}

/// The memory of an event that waits, without its text.
const EVENT: usize = 128;

impl LineOrder {
    pub(super) fn new(choice: OrderChoice, is_followed: bool) -> LineOrder {
        match (choice, is_followed) {
            (OrderChoice::Arrival, _) => LineOrder::Arrival(VecDeque::new()),
            (OrderChoice::Auto, false) => LineOrder::Whole(Merge::default()),
            (OrderChoice::Auto, true) => LineOrder::Window(OrderWindow::default()),
        }
    }

    /// Adds a log.
    pub(super) fn open(&mut self, log: usize) {
        match self {
            LineOrder::Whole(merge) => merge.open(log),
            LineOrder::Arrival(_) | LineOrder::Window(_) => {}
        }
    }

    /// A log has ended, and all its events were taken.
    pub(super) fn forget(&mut self, log: usize) {
        match self {
            LineOrder::Window(window) => window.forget(log),
            LineOrder::Arrival(_) | LineOrder::Whole(_) => {}
        }
    }

    /// Takes the new events.
    pub(super) fn take_in(&mut self, feeds: &ContainerFeeds, now: Duration) {
        let ready = feeds.take_ready();
        match self {
            LineOrder::Arrival(logs) => logs.extend(ready),
            LineOrder::Whole(merge) => {
                for log in ready {
                    refill(merge, feeds, log);
                }
            }
            LineOrder::Window(window) => {
                for log in ready {
                    while let Some(event) = feeds.take_event(log) {
                        let (time, bytes) = measure(&event);
                        window.put(log, (time, event, bytes), now);
                    }
                }
            }
        }
    }

    /// The next event to show now.
    pub(super) fn next(&mut self, feeds: &ContainerFeeds, now: Hurry) -> Option<(usize, LogEvent)> {
        match self {
            LineOrder::Arrival(logs) => loop {
                let log = *logs.front()?;
                match feeds.take_event(log) {
                    Some(event) => return Some((log, event)),
                    None => drop(logs.pop_front()),
                }
            },
            LineOrder::Whole(merge) => {
                let (log, event) = merge.pop()?;
                refill(merge, feeds, log);
                Some((log, event))
            }
            LineOrder::Window(window) => match now {
                Hurry::At(now) => window.next(now),
                Hurry::AtOnce => window.pop(),
            },
        }
    }

    /// Whether an event of a log waits here.
    pub(super) fn holds(&self, log: usize) -> bool {
        match self {
            LineOrder::Whole(merge) => merge.holds(log),
            LineOrder::Window(window) => window.due().is_some(),
            LineOrder::Arrival(_) => false,
        }
    }

    /// When the next event is due, if it waits for that.
    pub(super) fn due(&self) -> Option<Duration> {
        match self {
            LineOrder::Window(window) => window.due(),
            LineOrder::Arrival(_) | LineOrder::Whole(_) => None,
        }
    }
}

/// Whether events may wait.
#[derive(Clone, Copy, Debug)]
pub(super) enum Hurry {
    /// Those that have waited long enough at this moment are shown.
    At(Duration),
    /// All of them are shown.
    AtOnce,
}

fn refill(merge: &mut Merge<LogEvent>, feeds: &ContainerFeeds, log: usize) {
    if !merge.wants(log) {
        return;
    }
    match feeds.take_event(log) {
        Some(event) => merge.put(log, measure(&event).0, event),
        None if feeds.is_over(log) => merge.end(log),
        None => {}
    }
}

/// The time of a line, and the memory of an event.
fn measure(event: &LogEvent) -> (Option<Timestamp>, usize) {
    match event {
        LogEvent::Line(line) => (Some(line.time), EVENT + line.text.len()),
        LogEvent::Opened(_)
        | LogEvent::Notice(_)
        | LogEvent::Gap(_)
        | LogEvent::Ended(..)
        | LogEvent::Refused(_)
        | LogEvent::Polled => (None, EVENT),
    }
}
