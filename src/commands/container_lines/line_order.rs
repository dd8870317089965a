//! `LineOrder`: in which order the events of several logs, and what happened between them, are shown.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::container_feeds::{ContainerFeeds, OrderChoice};
use crate::logs::{Merge, OrderWindow, OrderedItem};
use crate::object::ObjectRef;
use crate::render::text::Text;
use crate::source::log::LogEvent;

/// What an item is about. At one time, causes come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::commands) enum TimelineKind {
    /// A version of an object.
    Change,
    /// The state of an object.
    Status,
    /// A warning about an object.
    Event,
}

impl TimelineKind {
    /// The word in a line, and the type of a record.
    pub(in crate::commands) fn word(self) -> &'static str {
        match self {
            TimelineKind::Change => "change",
            TimelineKind::Status => "status",
            TimelineKind::Event => "event",
        }
    }
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::commands) struct TimelineItem {
    /// Its place among the lines: a time that no server has written.
    pub(in crate::commands) order: Timestamp,
    /// When it happened, or the earliest time of that.
    pub(in crate::commands) time: Timestamp,
    /// The latest time at which it can have happened, if only an interval is known.
    pub(in crate::commands) until: Option<Timestamp>,
    pub(in crate::commands) kind: TimelineKind,
    pub(in crate::commands) object: Arc<ObjectRef>,
    /// Who did it, if that is recorded.
    pub(in crate::commands) who: Option<String>,
    /// What happened.
    pub(in crate::commands) text: Text,
    /// Whether it is a problem.
    pub(in crate::commands) is_bad: bool,
    /// Whether it has arrived while it happened.
    pub(in crate::commands) is_live: bool,
}

/// The order of events.
#[derive(Debug)]
pub(in crate::commands) struct LineOrder {
    rule: OrderRule,
    /// What happened between the lines, in each cluster.
    timelines: Vec<WaitingItems>,
    /// Whether nothing waits for anything any more.
    is_stopping: bool,
}

/// What happened in a cluster and has no place yet.
#[derive(Debug)]
struct WaitingItems {
    cluster: usize,
    items: VecDeque<HeldItem>,
    /// Whether no more comes.
    is_over: bool,
}

/// Something that happened, and until when it waits for the lines that led to it.
#[derive(Debug)]
struct HeldItem {
    item: TimelineItem,
    until: Duration,
}

impl WaitingItems {
    /// The next item, if it waits no longer.
    fn next_item(&mut self, hurry: Hurry) -> Option<TimelineItem> {
        let is_due = |held: &HeldItem| match hurry {
            Hurry::At(now) => held.until <= now,
            Hurry::AtOnce => true,
        };
        self.items.front().filter(|held| is_due(held))?;
        Some(self.items.pop_front()?.item)
    }
}

/// By which rule events are ordered.
#[derive(Debug)]
enum OrderRule {
    /// As they arrive, log by log.
    Arrival(VecDeque<usize>),
    /// By time, exactly: each log is read once.
    Whole(Merge<OrderedEvent>),
    /// By time, within a moment.
    Window(OrderWindow<OrderedEvent>),
}

/// An event that has its place.
#[derive(Debug)]
pub(in crate::commands) enum OrderedEvent {
    /// Of the log with this number.
    Log(usize, LogEvent),
    /// Something that happened between the lines, in the cluster with this number.
    Item(usize, Box<TimelineItem>),
}

/// How long a problem waits for the lines before it. They take longer than its status: the log of a new container is
/// requested once a status shows it.
const LINES_LATER: Duration = Duration::from_millis(500);

/// The memory of an event that waits, without its text.
const EVENT: usize = 128;

impl LineOrder {
    /// The order of logs.
    pub(in crate::commands) fn new(choice: OrderChoice, is_followed: bool) -> LineOrder {
        let rule = match (choice, is_followed) {
            (OrderChoice::Arrival, _) => OrderRule::Arrival(VecDeque::new()),
            (OrderChoice::Auto, false) => OrderRule::Whole(Merge::default()),
            (OrderChoice::Auto, true) => OrderRule::Window(OrderWindow::default()),
        };
        LineOrder {
            rule,
            timelines: Vec::new(),
            is_stopping: false,
        }
    }

    /// Adds the timeline of the cluster with this number.
    pub(in crate::commands) fn open_timeline(&mut self, cluster: usize) {
        if let OrderRule::Whole(merge) = &mut self.rule {
            merge.open(number_of_timeline(cluster));
        }
        self.timelines.push(WaitingItems {
            cluster,
            items: VecDeque::new(),
            is_over: false,
        });
    }

    /// Adds a log.
    pub(in crate::commands) fn open(&mut self, log: usize) {
        match &mut self.rule {
            OrderRule::Whole(merge) => merge.open(log),
            OrderRule::Window(window) => window.open(log),
            OrderRule::Arrival(_) => {}
        }
    }

    /// A log has ended, and all its events were taken.
    pub(in crate::commands) fn forget(&mut self, log: usize) {
        match &mut self.rule {
            OrderRule::Window(window) => window.forget(log),
            OrderRule::Arrival(_) | OrderRule::Whole(_) => {}
        }
    }

    /// Takes what has happened in a cluster, in its order.
    pub(in crate::commands) fn add_items(
        &mut self,
        cluster: usize,
        items: Vec<TimelineItem>,
        now: Duration,
    ) {
        let mut timelines = self.timelines.iter_mut();
        if let Some(timeline) = timelines.find(|timeline| timeline.cluster == cluster) {
            timeline
                .items
                .extend(items.into_iter().map(|item| HeldItem {
                    until: if item.is_bad && item.is_live {
                        now + LINES_LATER
                    } else {
                        now
                    },
                    item,
                }));
        }
    }

    /// Nothing else has happened in a cluster.
    pub(in crate::commands) fn end_items(&mut self, cluster: usize) {
        let mut timelines = self.timelines.iter_mut();
        if let Some(timeline) = timelines.find(|timeline| timeline.cluster == cluster) {
            timeline.is_over = true;
        }
    }

    /// Shows everything from now on, without waiting for what may come before it.
    pub(in crate::commands) fn stop(&mut self) {
        self.is_stopping = true;
    }

    /// Whether all that happened was shown.
    pub(in crate::commands) fn are_timelines_shown(&self) -> bool {
        let waits = |cluster| match &self.rule {
            OrderRule::Whole(merge) => merge.holds(number_of_timeline(cluster)),
            OrderRule::Window(window) => window.due().is_some(),
            OrderRule::Arrival(_) => false,
        };
        let mut timelines = self.timelines.iter();
        timelines.all(|timeline| timeline.items.is_empty() && !waits(timeline.cluster))
    }

    /// Whether so many lines wait here that no more are taken.
    pub(in crate::commands) fn is_full(&self) -> bool {
        match &self.rule {
            OrderRule::Window(window) => window.is_full(),
            OrderRule::Arrival(_) | OrderRule::Whole(_) => false,
        }
    }

    /// Takes the new events, unless too many wait here.
    pub(in crate::commands) fn take_in(&mut self, feeds: &ContainerFeeds, now: Duration) {
        if self.is_full() {
            return; // what is not taken stays in the queues, which are bounded
        }
        let ready = feeds.take_ready();
        let hurry = if self.is_stopping {
            Hurry::AtOnce
        } else {
            Hurry::At(now)
        };
        match &mut self.rule {
            OrderRule::Arrival(logs) => logs.extend(ready),
            OrderRule::Whole(merge) => {
                for log in ready {
                    refill(merge, feeds, log);
                }
            }
            OrderRule::Window(window) => {
                for timeline in &mut self.timelines {
                    while let Some(item) = timeline.next_item(hurry) {
                        let item = OrderedItem {
                            time: Some(item.order),
                            bytes: EVENT + item.text.as_str().len(),
                            item: OrderedEvent::Item(timeline.cluster, Box::new(item)),
                        };
                        window.put(number_of_timeline(timeline.cluster), item, now);
                    }
                }
                for log in ready {
                    while let Some(event) = feeds.take_event(log) {
                        if event == LogEvent::Quiet {
                            window.settle(log, now);
                            continue;
                        }
                        let (time, bytes) = measure(&event);
                        let item = OrderedEvent::Log(log, event);
                        window.put(log, OrderedItem { time, bytes, item }, now);
                    }
                }
            }
        }
        self.refill_timelines();
    }

    /// The next event to show now.
    pub(in crate::commands) fn next(
        &mut self,
        feeds: &ContainerFeeds,
        now: Hurry,
    ) -> Option<OrderedEvent> {
        match &mut self.rule {
            OrderRule::Arrival(logs) => {
                for timeline in &mut self.timelines {
                    if let Some(item) = timeline.next_item(Hurry::AtOnce) {
                        return Some(OrderedEvent::Item(timeline.cluster, Box::new(item)));
                    }
                }
                loop {
                    let log = *logs.front()?;
                    match feeds.take_event(log) {
                        Some(event) => return Some(OrderedEvent::Log(log, event)),
                        None => drop(logs.pop_front()),
                    }
                }
            }
            OrderRule::Whole(merge) => {
                let (log, event) = merge.pop()?;
                match event {
                    OrderedEvent::Item(..) => self.refill_timelines(),
                    OrderedEvent::Log(..) => refill(merge, feeds, log),
                }
                Some(event)
            }
            OrderRule::Window(window) => {
                let next = match now {
                    Hurry::At(now) => window.next(now),
                    Hurry::AtOnce => window.pop(),
                };
                next.map(|(_, event)| event)
            }
        }
    }

    /// Gives the exact order the next thing that happened in each cluster, if it wants one.
    fn refill_timelines(&mut self) {
        let OrderRule::Whole(merge) = &mut self.rule else {
            return;
        };
        for timeline in &mut self.timelines {
            let number = number_of_timeline(timeline.cluster);
            if !merge.wants(number) {
                continue;
            }
            match timeline.next_item(Hurry::AtOnce) {
                Some(item) => {
                    let time = Some(item.order);
                    let item = OrderedEvent::Item(timeline.cluster, Box::new(item));
                    merge.put(number, time, item);
                }
                None if timeline.is_over => merge.end(number),
                None => {}
            }
        }
    }

    /// Whether an event of a log waits here.
    pub(in crate::commands) fn holds(&self, log: usize) -> bool {
        match &self.rule {
            OrderRule::Whole(merge) => merge.holds(log),
            OrderRule::Window(window) => window.due().is_some(),
            OrderRule::Arrival(_) => false,
        }
    }

    /// When the next event is due, if it waits for that.
    pub(in crate::commands) fn due(&self) -> Option<Duration> {
        let OrderRule::Window(window) = &self.rule else {
            return None;
        };
        let first = |timeline: &WaitingItems| Some(timeline.items.front()?.until);
        let held = self.timelines.iter().filter_map(first);
        held.chain(window.due()).min()
    }
}

/// Whether events may wait.
#[derive(Clone, Copy, Debug)]
pub(in crate::commands) enum Hurry {
    /// Those that have waited long enough at this moment are shown.
    At(Duration),
    /// All of them are shown.
    AtOnce,
}

/// The number that stands for a timeline among those of the logs, which are fewer.
fn number_of_timeline(cluster: usize) -> usize {
    usize::MAX / 2 + cluster
}

fn refill(merge: &mut Merge<OrderedEvent>, feeds: &ContainerFeeds, log: usize) {
    if !merge.wants(log) {
        return;
    }
    match feeds.take_event(log) {
        Some(event) => {
            let time = measure(&event).0;
            merge.put(log, time, OrderedEvent::Log(log, event));
        }
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
        | LogEvent::Retrying(_)
        | LogEvent::Gap(_)
        | LogEvent::Ended(..)
        | LogEvent::Refused(_)
        | LogEvent::Quiet
        | LogEvent::Polled => (None, EVENT),
    }
}

/// Containers and items for tests.
#[cfg(test)]
pub(super) mod testing {
    use super::*;
    use crate::object::Uid;
    use crate::source::ClusterId;
    use crate::source::log::LogContainer;

    /// A container of a Pod in the namespace `shop`.
    pub(in crate::commands::container_lines) fn container(
        pod: &str,
        name: &str,
    ) -> Arc<LogContainer> {
        let pod = ObjectRef {
            api_version: "v1".into(),
            kind: "Pod".into(),
            namespace: Some("shop".into()),
            name: pod.into(),
            uid: Some(Uid::new(pod)),
        };
        Arc::new(LogContainer {
            cluster: ClusterId("test".into()),
            pod: Arc::new(pod),
            name: name.into(),
        })
    }

    /// A new state of a Pod, just now.
    pub(in crate::commands::container_lines) fn item(text: &str) -> TimelineItem {
        TimelineItem {
            order: Timestamp::UNIX_EPOCH,
            time: Timestamp::UNIX_EPOCH,
            until: None,
            kind: TimelineKind::Status,
            object: container("api-7d9c-x2k1", "app").pod.clone(),
            who: None,
            text: text.into(),
            is_bad: false,
            is_live: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::item;
    use super::*;

    /// What is shown of a followed timeline: the texts of the items at each moment.
    fn shown(items: Vec<TimelineItem>, moments: &[u64]) -> Vec<Vec<String>> {
        let feeds = ContainerFeeds::new(1, OrderChoice::Auto);
        let mut order = LineOrder::new(OrderChoice::Auto, true);
        order.open_timeline(0);
        order.add_items(0, items, Duration::ZERO);
        let shown = moments.iter().map(|moment| {
            let now = Duration::from_millis(*moment);
            order.take_in(&feeds, now);
            let next = || match order.next(&feeds, Hurry::At(now)) {
                Some(OrderedEvent::Item(_, item)) => Some(item.text.to_string()),
                Some(OrderedEvent::Log(..)) | None => None,
            };
            std::iter::from_fn(next).collect()
        });
        shown.collect()
    }

    #[test]
    fn a_problem_waits_for_the_lines_that_led_to_it() {
        let well = item("Running");
        let bad = TimelineItem {
            is_bad: true,
            ..item("Error")
        };
        let past = TimelineItem {
            is_live: false,
            ..bad.clone()
        };
        for (items, expect) in [
            (vec![well.clone()], [1, 1, 1]),
            (vec![past], [1, 1, 1]),
            // What follows a problem stays behind it.
            (vec![well, bad.clone(), item("Running")], [1, 1, 3]),
            (vec![bad], [0, 0, 1]),
        ] {
            let mut count = 0;
            let counts = shown(items, &[0, 100, 499, 500, 600]).into_iter();
            let counts: Vec<usize> = counts
                .map(|texts| {
                    count += texts.len();
                    count
                })
                .collect();
            assert_eq!(counts[1..3], expect[..2]);
            assert_eq!(counts[4], expect[2]);
        }
    }

    #[test]
    fn the_end_shows_what_waits() {
        let bad = TimelineItem {
            is_bad: true,
            ..item("Error")
        };
        let feeds = ContainerFeeds::new(1, OrderChoice::Auto);
        let mut order = LineOrder::new(OrderChoice::Auto, true);
        order.open_timeline(0);
        order.add_items(0, vec![bad], Duration::ZERO);
        assert_eq!(order.due(), Some(LINES_LATER));
        order.stop();
        order.take_in(&feeds, Duration::ZERO);
        assert!(order.next(&feeds, Hurry::AtOnce).is_some());
    }
}
