//! `LogPrinter`: reads the logs of containers and prints their lines in one order.
//!
//! `logs` prints them, and so does a wait (`--logs`).

mod container_feeds;
mod line_filter;
mod line_order;
mod message;
mod names;
mod output;
mod unread_logs;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::failure_logs::ShownPart;
use super::{CommandError, Session, Terminal};
use crate::object::ObjectRef;
use crate::source::ClusterId;
use crate::source::log::{LogContainer, LogEnd, LogEvent};
use crate::watch::logs::FeedCounts;
use container_feeds::ContainerFeeds;
use container_feeds::LogEnds;
pub(super) use container_feeds::{ContainerChoice, OrderChoice, PodToRead, StateChoice};
pub(super) use line_filter::LineFilter;
use line_order::{Hurry, LineOrder, OrderedEvent};
pub(super) use line_order::{TimelineItem, TimelineKind};
use message::{Message, ended, gap_words};
pub(super) use output::{LineClock, LogFormat, LogLook, LogOutput};
use unread_logs::UnreadLogs;

/// How logs are read and printed.
#[derive(Clone, Copy, Debug)]
pub(super) struct PrintOptions {
    /// At most this many logs are followed, or requested at the same time.
    pub(super) most: usize,
    pub(super) order: OrderChoice,
    pub(super) is_followed: bool,
    /// Whether no message says that a log begins or ends.
    pub(super) is_quiet: bool,
    /// Whether [`LogPrinter::shown_part`] remembers logs that have ended.
    pub(super) keeps_ended: bool,
}

/// The logs that are read, and what was printed of them.
pub(super) struct LogPrinter {
    options: PrintOptions,
    feeds: ContainerFeeds,
    order: LineOrder,
    output: LogOutput,
    /// The clusters whose items stand between the lines, by their numbers.
    timelines: BTreeMap<usize, ClusterId>,
    started: Instant,
    /// Until when it takes no new lines, unless others are due: those that come soon after each other are printed together.
    rests_until: Option<Instant>,
    /// Whether a page was full, so that more can be printed at once.
    has_more: bool,
    is_stopping: bool,
    /// Whether any log was opened.
    has_opened: bool,
    counts: FeedCounts,
    unread_logs: UnreadLogs,
}

/// The lines that come within this time are printed together, unless there are many. Nobody sees the difference, and each
/// print has its cost.
const TOGETHER: Duration = Duration::from_millis(20);
const MANY: usize = 500;

/// How long the last lines before the end of `--for` may take, and the pause after which no more are expected.
const LAST_LINES: Duration = Duration::from_secs(1);
const QUIET: Duration = Duration::from_millis(200);

/// How long to wait at the end of a wait for lines of logs that count as read up to their last lines.
const ON_THE_WAY: Duration = Duration::from_millis(50);

/// How long the logs of the start take to find their places.
const SETTLING: Duration = Duration::from_secs(2);

impl LogPrinter {
    /// The logs of no cluster yet.
    pub(super) fn new(options: PrintOptions, output: LogOutput) -> LogPrinter {
        LogPrinter {
            feeds: ContainerFeeds::new(options.most, options.order),
            order: LineOrder::new(options.order, options.is_followed),
            options,
            output,
            timelines: BTreeMap::new(),
            started: Instant::now(),
            rests_until: None,
            has_more: false,
            is_stopping: false,
            has_opened: false,
            counts: FeedCounts::default(),
            unread_logs: UnreadLogs::default(),
        }
    }

    /// Adds the logs of a cluster.
    pub(super) fn add_cluster(&mut self, session: &Session) {
        self.feeds.add_cluster(session);
    }

    /// Names one of several clusters.
    pub(super) fn name_cluster(&mut self, cluster: ClusterId, label: Arc<str>) {
        self.output.add_cluster(cluster, label);
    }

    /// Adds the timeline of the cluster with this number.
    pub(super) fn open_timeline(&mut self, number: usize, cluster: &ClusterId) {
        self.order.open_timeline(number);
        self.timelines.insert(number, cluster.clone());
    }

    /// Takes what has happened in a cluster, in its order.
    pub(super) fn add_items(&mut self, cluster: usize, items: Vec<TimelineItem>) {
        self.order.add_items(cluster, items, self.started.elapsed());
    }

    /// Nothing else has happened in a cluster.
    pub(super) fn end_items(&mut self, cluster: usize) {
        self.order.end_items(cluster);
    }

    /// Whether all that happened was shown.
    pub(super) fn are_timelines_shown(&self) -> bool {
        self.order.are_timelines_shown()
    }

    /// Takes the present Pods of all clusters: opens the logs of new containers, and passes the states of the others on.
    pub(super) fn sync(&mut self, pods: &[PodToRead<'_>], choice: ContainerChoice<'_>) {
        let opened = self.feeds.sync(pods, choice);
        self.show_logs(opened);
    }

    /// Opens the next logs that wait, once all before them have ended.
    pub(super) fn open_waiting(&mut self) {
        let opened = self.feeds.open_waiting();
        self.show_logs(opened);
    }

    fn show_logs(&mut self, opened: Vec<(usize, Arc<LogContainer>)>) {
        for (log, container) in opened {
            self.output.add(log, container);
            self.order.open(log);
        }
    }

    /// Prints the events that are due.
    pub(super) fn print(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let begun = Instant::now();
        self.has_more = false;
        let mut printed = self.print_due(terminal)?;
        while self.is_stopping && printed > 0 {
            printed = self.print_due(terminal)?;
        }
        self.output.flush(terminal)?;
        // Many lines fill the queues, which must not stay full.
        let may_rest = self.options.is_followed && (1..MANY).contains(&printed);
        self.rests_until = may_rest.then(|| begun + TOGETHER);
        if !self.has_more {
            for log in self.feeds.drop_ended(|log| self.order.holds(log)) {
                self.order.forget(log);
                if !self.options.keeps_ended {
                    self.output.remove(log);
                }
            }
        }
        Ok(())
    }

    /// Takes the new events, and prints those that are due, up to a page. Returns how many it has printed.
    fn print_due(&mut self, terminal: &mut Terminal<'_>) -> Result<usize, CommandError> {
        let now = self.started.elapsed();
        self.order.take_in(&self.feeds, now);
        // A single log has no order but its own.
        let is_alone = self.feeds.total() <= 1 && self.timelines.is_empty();
        let hurry = if self.is_stopping || is_alone {
            Hurry::AtOnce
        } else {
            Hurry::At(now)
        };
        let mut printed = 0;
        while let Some(next) = self.order.next(&self.feeds, hurry) {
            printed += 1;
            match next {
                OrderedEvent::Log(log, event) => self.emit(log, &event, terminal)?,
                OrderedEvent::Item(number, item) => {
                    if let Some(cluster) = self.timelines.get(&number) {
                        self.output.item(cluster, &item, terminal.canvas());
                    }
                }
            }
            if self.output.is_full() && !self.is_stopping {
                self.has_more = true;
                break;
            }
        }
        Ok(printed)
    }

    fn emit(
        &mut self,
        log: usize,
        event: &LogEvent,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        if let LogEvent::Line(line) = event {
            self.output.line(log, line);
            return Ok(());
        }
        let Some(message) = self.message(log, event) else {
            return Ok(());
        };
        if self.output.look.format == LogFormat::Json {
            self.output.record(log, event, message.text);
            return Ok(());
        }
        if message.is_problem || !self.options.is_quiet {
            // Both may be one terminal.
            self.output.flush(terminal)?;
            message.print(terminal)?;
        }
        Ok(())
    }

    /// What to say about an event of a log that is no line.
    fn message(&mut self, log: usize, event: &LogEvent) -> Option<Message> {
        let container = self.output.container(log)?.clone();
        let name = self.output.name(&container);
        match event {
            LogEvent::Line(_) | LogEvent::Quiet => None,
            LogEvent::Opened(instance) => {
                self.has_opened = true;
                // A right that was missing is back.
                self.unread_logs.remove(&container);
                self.output.open(log, instance);
                self.options.is_followed.then(|| match instance.attempt {
                    0 => Message::start(format!("+ {name}")),
                    attempt => Message::start(format!("+ {name}: restart {attempt}")),
                })
            }
            LogEvent::Ended(instance, end) => {
                self.output.end(log, instance);
                if let LogEnd::Lost(_) = end {
                    self.note_incomplete(&container);
                }
                ended(end, self.options.is_followed).map(|message| message.about("-", &name))
            }
            LogEvent::Notice(text) => Some(Message::problem(text.to_string()).about("!", &name)),
            LogEvent::Retrying(text) => {
                let is_record = self.output.look.format == LogFormat::Json;
                let is_news = self
                    .unread_logs
                    .is_news(&container, text, self.started.elapsed());
                let message = Message::problem(text.to_string());
                (is_record || is_news).then(|| message.about("!", &name))
            }
            LogEvent::Gap(gap) => {
                self.note_incomplete(&container);
                Some(Message::problem(gap_words(gap)).about("!", &name))
            }
            LogEvent::Polled => {
                let text = "its node can follow no more logs (inotify), so it is read every second";
                let now = self.started.elapsed();
                let is_news = self.unread_logs.is_news(&container, text, now);
                is_news.then(|| Message::problem(text.to_owned()).about("!", &name))
            }
            LogEvent::Refused(refusal) => {
                let is_news = self.unread_logs.insert(&container, refusal);
                // The error of the verb says it.
                let is_error = self.feeds.total() == 1 && !self.options.is_followed;
                (!is_error && is_news)
                    .then(|| Message::problem(refusal.text.to_string()).about("!", &name))
            }
        }
    }

    /// Notes that lines of a log are missing, or may be. Without `--follow`, that is an error.
    fn note_incomplete(&mut self, container: &Arc<LogContainer>) {
        if !self.options.is_followed {
            self.unread_logs.note_incomplete(container);
        }
    }

    /// Shows from now on everything that it has.
    pub(super) fn stop(&mut self) {
        self.is_stopping = true;
        self.order.stop();
    }

    /// Whether it shows everything that it has.
    pub(super) fn is_stopping(&self) -> bool {
        self.is_stopping
    }

    /// Whether more can be printed at once.
    pub(super) fn has_more(&self) -> bool {
        self.has_more
    }

    /// Waits until there is something to print. It is cancel safe.
    pub(super) async fn due(&self) {
        if self.has_more {
            return;
        }
        let ready = async {
            self.feeds.ready().await;
            if let Some(rests_until) = self.rests_until {
                sleep_until(rests_until).await;
            }
        };
        match self.order.due() {
            None => ready.await,
            Some(due) => tokio::select! {
                () = ready => {}
                () = sleep_until(self.started + due) => {}
            },
        }
    }

    /// Takes the lines that are still on their way at the end: the first answer, then until none has come for a moment. It takes
    /// a second at most.
    pub(super) async fn take_last_lines(&mut self) {
        let end = Instant::now() + LAST_LINES;
        loop {
            self.order.take_in(&self.feeds, self.started.elapsed());
            let has_answer = self.order.due().is_some() || !self.is_opening();
            let quiet = end.min(Instant::now() + if has_answer { QUIET } else { LAST_LINES });
            if self.order.is_full() || timeout_at(quiet, self.feeds.ready()).await.is_err() {
                break;
            }
        }
        self.stop();
    }

    /// Prints what has come, and what is still on its way: of containers that have ended, whose logs have an end, and of the
    /// others up to the line that is now the last. That takes a second at most. If that is not enough, or if an answer has not
    /// begun, a message says that lines may be missing.
    pub(super) async fn finish(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let begun = Instant::now();
        let stderr = terminal.stderr_queue();
        let mut ends = LogEnds::request(&self.feeds);
        let is_cut = loop {
            self.print(terminal)?;
            let is_open = stderr.is_behind() || ends.are_open(&self.feeds);
            let until = if is_open || self.is_end_open() {
                begun + LAST_LINES
            } else if self.is_opening() {
                begun + QUIET
            } else {
                (begun + QUIET).min(Instant::now() + ON_THE_WAY)
            };
            // Lines that waited for the reader come in that time.
            let pause = if is_open { QUIET } else { LAST_LINES };
            let next = async {
                let _closed_pipe = stderr.wait_until_written().await;
                tokio::select! {
                    () = ends.answered() => true,
                    is_due = timeout(pause, self.due()) => is_due.is_ok(),
                }
            };
            let next = timeout_at(until, next).await;
            let is_open = stderr.is_behind() || ends.are_open(&self.feeds);
            let is_reading = is_open || self.is_end_open() || self.is_opening();
            match next {
                Ok(false) if !is_reading => break false,
                Ok(_) => {}
                Err(_) => break is_reading,
            }
        };
        let why = if stderr.is_behind() {
            "standard error was not read in time"
        } else {
            "the wait ended while logs were read"
        };
        self.stop();
        self.print(terminal)?;
        let line = is_cut.then(|| format!("{why}, so lines of containers may be missing"));
        Ok(terminal.notify_if(line)?)
    }

    /// Whether the rest of an instance that has ended is still on its way.
    fn is_end_open(&self) -> bool {
        let mut logs = self.feeds.open_logs();
        logs.any(|(log, container)| {
            let present = container.present.as_ref();
            let ended = present.filter(|_| !container.is_running);
            ended.is_some_and(|ended| !self.output.has_ended(log, &ended.id))
        })
    }

    /// Whether the first answer about an instance that runs is still on its way.
    fn is_opening(&self) -> bool {
        let mut logs = self.feeds.open_logs();
        logs.any(|(log, container)| {
            let present = container.present.as_ref();
            let running = present.filter(|_| container.is_running);
            running.is_some_and(|running| !self.output.has_opened(log, &running.id))
        })
    }

    /// Ends the logs of a Pod. What has come of them is still printed.
    pub(super) fn close_pod(&mut self, cluster: &ClusterId, pod: &ObjectRef) {
        self.order.take_in(&self.feeds, self.started.elapsed());
        for log in self.feeds.close_pod(cluster, pod) {
            self.order.forget(log);
        }
    }

    /// How much of the log of an instance was shown. A refused log has had its message, so nothing more is to be said of it.
    pub(super) fn shown_part(&self, container: &LogContainer, instance: &str) -> ShownPart {
        if self.unread_logs.has(container) {
            return ShownPart::Whole;
        }
        self.output.shown_part(container, instance)
    }

    /// Says how many logs are not followed, once that is known.
    pub(super) fn report_counts(
        &mut self,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        if !self.options.is_followed || self.started.elapsed() < SETTLING {
            return Ok(());
        }
        let counts = self.feeds.counts();
        if counts.in_turn > 0 && counts.in_turn != self.counts.in_turn {
            let FeedCounts { followed, in_turn } = counts;
            let text = format!(
                "{followed} of {} logs followed, {in_turn} read in turn",
                followed + in_turn
            );
            terminal.notify(&text)?;
            self.counts = counts;
        }
        let is_over = self.is_refused() && self.feeds.are_over();
        if !is_over && let Some(line) = self.unread_logs.take_unsaid() {
            terminal.notify(&line)?;
        }
        Ok(())
    }

    /// Whether no log can be read.
    pub(super) fn is_refused(&self) -> bool {
        self.feeds.total() > 0 && self.unread_logs.len() == self.feeds.total()
    }

    /// Whether no log was opened for this long.
    pub(super) fn has_waited(&self, limit: Duration) -> bool {
        !self.has_opened && self.started.elapsed() >= limit
    }

    /// Whether every log has ended, and all is printed.
    pub(super) fn is_over(&self) -> bool {
        self.feeds.are_over() && !self.has_more
    }

    /// How many logs there were so far.
    pub(super) fn total(&self) -> usize {
        self.feeds.total()
    }

    /// How many logs wait until others have ended.
    pub(super) fn waiting(&self) -> usize {
        self.feeds.waiting()
    }

    /// A line about the containers that have no instance before the present one, if others have one.
    pub(super) fn without_previous(&self) -> Option<String> {
        self.unread_logs.without_previous(self.feeds.total())
    }

    /// The error about logs that could not be read, of one or several clusters; `None` if there are none.
    pub(super) fn error(&self, are_several: bool) -> Option<CommandError> {
        self.unread_logs.error(self.feeds.total(), are_several)
    }
}
