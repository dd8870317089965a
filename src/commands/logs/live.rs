//! `LiveLogs`: reads the logs of the selected Pods of all clusters and prints their lines.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::args::{LogFormat, OrderChoice, StateChoice, TailChoice};
use super::container_feeds::{ContainerChoice, ContainerFeeds};
use super::line_order::{Hurry, LineOrder, OrderedEvent};
use super::log_cluster::{LogCluster, LogSetup};
use super::log_clusters::LogClusters;
use super::message::{Message, ended, gap_words};
use super::output::LogOutput;
use super::unread_logs::UnreadLogs;
use crate::commands::live::cluster_group::JoinedCluster;
use crate::commands::{CommandError, Live, Need, Session, Sources, Terminal, UnreadPart};
use crate::logs::{ContainerFilter, ReadInstances, ReadOptions};
use crate::model::Model;
use crate::source::log::{LogContainer, LogEnd, LogEvent};
use crate::source::{Event, SourceKey};
use crate::watch::CatchUp;
use crate::watch::logs::FeedCounts;

/// What is read, and how.
#[derive(Debug)]
pub(super) struct LogsOptions {
    pub(super) read: ReadOptions,
    pub(super) tail: TailChoice,
    pub(super) containers: ContainerFilter,
    pub(super) state: Option<StateChoice>,
    pub(super) order: OrderChoice,
    pub(super) most: usize,
    pub(super) is_quiet: bool,
    pub(super) running_timeout: Option<Duration>,
    /// Whether only the goal of `--for` ends it.
    pub(super) has_goal: bool,
}

/// The selected Pods, their logs, and what was printed of them.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a step that was taken"
)]
pub(super) struct LiveLogs {
    setup: LogSetup,
    options: LogsOptions,
    clusters: LogClusters,
    feeds: ContainerFeeds,
    order: LineOrder,
    output: LogOutput,
    started: Instant,
    /// Until when it takes no new lines, unless others are due: those that come soon after each other are printed together.
    rests_until: Option<Instant>,
    /// Whether the selection may have changed since the last look.
    is_changed: bool,
    has_begun: bool,
    /// Whether a page was full, so that more can be printed at once.
    has_more: bool,
    is_stopping: bool,
    /// Whether any log was opened.
    has_opened: bool,
    counts: FeedCounts,
    unread_logs: UnreadLogs,
}

/// How many lines of each container are shown at first, if there are several Pods. kubectl has the same number.
const FEW: u64 = 10;

impl LiveLogs {
    /// The logs of no cluster yet.
    pub(super) fn new(setup: LogSetup, options: LogsOptions, output: LogOutput) -> LiveLogs {
        LiveLogs {
            feeds: ContainerFeeds::new(options.most, options.order),
            order: LineOrder::new(options.order, options.read.follow),
            clusters: LogClusters::default(),
            setup,
            options,
            output,
            started: Instant::now(),
            rests_until: None,
            is_changed: true,
            has_begun: false,
            has_more: false,
            is_stopping: false,
            has_opened: false,
            counts: FeedCounts::default(),
            unread_logs: UnreadLogs::default(),
        }
    }

    /// Adds a cluster whose model has the requested objects.
    pub(super) fn add(&mut self, cluster: LogCluster, session: &Session) {
        self.feeds.add_cluster(session);
        if cluster.timeline.is_some() {
            self.order.open_timeline(cluster.number());
        }
        self.clusters.add(cluster);
        self.is_changed = true;
    }

    fn is_followed(&self) -> bool {
        self.options.read.follow
    }

    /// Without `--follow`, the objects that were requested by name and do not exist in any cluster.
    pub(super) fn missing(&self) -> Vec<SourceKey> {
        let is_error = self.has_begun && !self.is_followed();
        let absent = is_error.then(|| self.clusters.absent());
        absent.unwrap_or_default()
    }

    /// The error about logs and sources that could not be read.
    pub(super) fn failure(&self, unread: &[UnreadPart]) -> Option<CommandError> {
        let unread = unread.iter().find_map(|part| match part {
            UnreadPart::Refused(text)
            | UnreadPart::Undecided(text)
            | UnreadPart::Requested(text) => Some(text),
            UnreadPart::Late(_) => None,
        });
        if let Some(text) = unread {
            return Some(CommandError::failed(text));
        }
        let total = self.feeds.total();
        self.unread_logs.error(total, self.clusters.are_several())
    }

    /// Opens the logs of new Pods, and passes on the states of the others.
    fn refresh(
        &mut self,
        sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        let is_changed = std::mem::take(&mut self.is_changed);
        if is_changed {
            for cluster in self.clusters.iter_mut() {
                cluster.refresh(terminal.env().now());
                if self.options.read.follow {
                    for line in cluster.waiting_lines() {
                        terminal.notify(&line)?;
                    }
                }
            }
        }
        if self.has_begun {
            // A cluster that has joined after the others had begun.
            if self.clusters.begin() {
                self.read_from_start();
            }
            if is_changed && self.is_followed() {
                self.sync();
            }
        } else if !sources.clusters.are_joining() && self.clusters.may_begin() {
            self.begin(terminal)?;
        }
        let opened = self.feeds.open_waiting();
        self.show_logs(opened);
        Ok(())
    }

    /// Begins with the clusters that have settled, and with the Pods that exist at the start.
    fn begin(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        self.has_begun = true;
        self.clusters.begin();
        self.check_containers()?;
        let is_followed = self.is_followed();
        let begun = self.clusters.iter().filter(|cluster| cluster.has_begun);
        for cluster in begun.filter(|cluster| cluster.selection.pods().is_empty()) {
            if let Some(text) = cluster.no_pods(is_followed) {
                terminal.notify(&text)?;
            }
        }
        self.read_from_start();
        if self.feeds.total() == 0 && !self.clusters.pods().is_empty() {
            let flags = match self.options.state {
                None => "-c",
                Some(_) => "-c and --state",
            };
            terminal.notify(&format!("no container is chosen by {flags}"))?;
        }
        let waiting = self.feeds.waiting();
        if waiting > 0 && self.options.order == OrderChoice::Auto {
            let total = self.feeds.total();
            let first = total - waiting;
            let text = format!(
                "{total} logs are too many for one order: the lines of the first {first} come first"
            );
            terminal.notify(&text)?;
        }
        Ok(())
    }

    /// Opens the logs of Pods that exist already from the requested start on, and those of later Pods from their first line.
    fn read_from_start(&mut self) {
        let tail = match self.options.tail {
            TailChoice::Given(tail) => tail,
            TailChoice::ByPods => (self.clusters.pods().len() > 1).then_some(FEW),
        };
        let mut read = self.options.read;
        // What is limited by time or is of the past is shown whole.
        read.start.tail = tail.filter(|_| {
            read.instances != ReadInstances::Previous || self.options.tail != TailChoice::ByPods
        });
        self.feeds.set_read(read);
        self.sync();
        self.feeds.set_read(ReadOptions {
            is_new: self.is_followed(),
            ..read
        });
    }

    /// Fails with kubectl's error if no Pod has a container that `-c` names.
    fn check_containers(&self) -> Result<(), CommandError> {
        let pods = self.clusters.pods();
        let missing = pods
            .iter()
            .map(|(_, pod)| Some((pod, self.options.containers.missing(pod)?)));
        let missing: Option<Vec<_>> = missing.collect();
        let Some((pod, name)) = missing.and_then(|missing| missing.into_iter().next()) else {
            return Ok(());
        };
        let names = pod.containers.iter().map(|container| &*container.name);
        let names = names.collect::<Vec<_>>().join(", ");
        let pod = &pod.pod.name;
        let error = CommandError::failed(format!(
            "error: container {name} is not valid for pod {pod}"
        ));
        Err(error.hint(format!("its containers are: {names}")))
    }

    fn sync(&mut self) {
        let choice = ContainerChoice {
            filter: &self.options.containers,
            state: self.options.state,
        };
        let opened = self.feeds.sync(&self.clusters.pods(), choice);
        self.show_logs(opened);
    }

    fn show_logs(&mut self, opened: Vec<(usize, Arc<LogContainer>)>) {
        for (log, container) in opened {
            self.output.add(log, container);
            self.order.open(log);
        }
    }

    /// Prints the events that are due.
    fn pump(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let is_reading = self.take_items(terminal)?;
        if is_reading && !self.is_stopping {
            return Ok(()); // the lines wait for what happened before
        }
        let begun = Instant::now();
        self.has_more = false;
        let mut printed = self.print_due(terminal)?;
        while self.is_stopping && printed > 0 {
            printed = self.print_due(terminal)?;
        }
        self.output.flush(terminal)?;
        // Many lines fill the queues, which must not stay full.
        let may_rest = self.is_followed() && (1..MANY).contains(&printed);
        self.rests_until = may_rest.then(|| begun + TOGETHER);
        if !self.has_more {
            for log in self.feeds.drop_ended(|log| self.order.holds(log)) {
                self.order.forget(log);
                self.output.remove(log);
            }
        }
        Ok(())
    }

    /// Takes the new events, and prints those that are due, up to a page. Returns how many it has printed.
    fn print_due(&mut self, terminal: &mut Terminal<'_>) -> Result<usize, CommandError> {
        let now = self.started.elapsed();
        self.order.take_in(&self.feeds, now);
        // A single log has no order but its own.
        let is_alone = self.feeds.total() <= 1 && self.clusters.timelines().next().is_none();
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
                    if let Some(cluster) = self.clusters.at(number) {
                        self.output.item(&cluster.id, &item, terminal.canvas());
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

    /// Takes what has happened. Returns whether it is still reading what happened before.
    fn take_items(&mut self, terminal: &mut Terminal<'_>) -> Result<bool, CommandError> {
        for cluster in self.clusters.iter_mut() {
            let number = cluster.number();
            let Some(timeline) = &mut cluster.timeline else {
                continue;
            };
            let items = timeline.take_items(&cluster.selection, terminal.env().now());
            self.order.add_items(number, items, self.started.elapsed());
            if timeline.is_over() {
                self.order.end_items(number);
            }
            let notes = timeline.take_notes();
            for note in notes {
                terminal.notify(&cluster.about(&note))?;
            }
        }
        Ok(self.clusters.are_reading())
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
            message.print(terminal);
        }
        Ok(())
    }

    /// What to say about an event of a log that is no line.
    fn message(&mut self, log: usize, event: &LogEvent) -> Option<Message> {
        let container = self.output.container(log)?.clone();
        match event {
            LogEvent::Line(_) | LogEvent::Quiet => None,
            LogEvent::Opened(instance) => {
                self.has_opened = true;
                // A right that was missing is back.
                self.unread_logs.remove(&container);
                self.output.open(log, instance);
                self.is_followed().then(|| match instance.attempt {
                    0 => Message::start(format!("+ {}", self.clusters.name(&container))),
                    attempt => Message::start(format!(
                        "+ {}: restart {attempt}",
                        self.clusters.name(&container)
                    )),
                })
            }
            LogEvent::Ended(_, end) => {
                if let LogEnd::Lost(_) = end {
                    self.note_incomplete(&container);
                }
                ended(end, self.is_followed())
                    .map(|message| message.about("-", &self.clusters.name(&container)))
            }
            LogEvent::Notice(text) => {
                Some(Message::problem(text.to_string()).about("!", &self.clusters.name(&container)))
            }
            LogEvent::Retrying(text) => {
                let is_record = self.output.look.format == LogFormat::Json;
                let is_news = self
                    .unread_logs
                    .is_news(&container, text, self.started.elapsed());
                let message = Message::problem(text.to_string());
                (is_record || is_news).then(|| message.about("!", &self.clusters.name(&container)))
            }
            LogEvent::Gap(gap) => {
                self.note_incomplete(&container);
                Some(Message::problem(gap_words(gap)).about("!", &self.clusters.name(&container)))
            }
            LogEvent::Polled => {
                let text = "its node can follow no more logs (inotify), so it is read every second";
                Some(Message::problem(text.to_owned()).about("!", &self.clusters.name(&container)))
            }
            LogEvent::Refused(refusal) => {
                let is_news = self.unread_logs.insert(&container, refusal);
                // The error of the verb says it.
                let is_error = self.feeds.total() == 1 && !self.is_followed();
                (!is_error && is_news).then(|| {
                    Message::problem(refusal.text.to_string())
                        .about("!", &self.clusters.name(&container))
                })
            }
        }
    }

    /// Notes that lines of a log are missing, or may be. Without `--follow`, that is an error.
    fn note_incomplete(&mut self, container: &Arc<LogContainer>) {
        if !self.is_followed() {
            self.unread_logs.note_incomplete(container);
        }
    }

    /// Shows from now on everything that it has.
    fn stop(&mut self) {
        self.is_stopping = true;
        self.order.stop();
    }

    /// Whether no log can be read.
    fn is_refused(&self) -> bool {
        self.feeds.total() > 0 && self.unread_logs.len() == self.feeds.total()
    }

    /// Says how many logs are not followed, once that is known.
    fn report_counts(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let counts = self.feeds.counts();
        let is_news = counts.in_turn > 0 && counts.in_turn != self.counts.in_turn;
        if self.is_followed() && is_news && self.started.elapsed() >= SETTLING {
            let FeedCounts { followed, in_turn } = counts;
            let text = format!(
                "{followed} of {} logs followed, {in_turn} read in turn",
                followed + in_turn
            );
            terminal.notify(&text)?;
            self.counts = counts;
        }
        let is_over = self.is_refused() && self.feeds.are_over();
        if self.is_followed()
            && !is_over
            && self.started.elapsed() >= SETTLING
            && let Some(line) = self.unread_logs.take_unsaid()
        {
            terminal.notify(&line)?;
        }
        Ok(())
    }

    /// Fails if no log could be opened in time.
    fn check_time(&self) -> Result<(), CommandError> {
        let limit = self.options.running_timeout.filter(|_| !self.has_opened);
        if limit.is_some_and(|limit| self.started.elapsed() >= limit) {
            let error = CommandError::failed("error: timed out waiting for the condition");
            let words = self.clusters.iter().next().map(LogCluster::requested_words);
            let words = words.unwrap_or_else(|| "the requested objects".to_owned());
            return Err(error.hint(format!("no log could be read of {words}")));
        }
        Ok(())
    }
}

/// The lines that come within this time are printed together, unless there are many. Nobody sees the difference, and each
/// print has its cost.
const TOGETHER: Duration = Duration::from_millis(20);
const MANY: usize = 500;

/// How long the last lines before the end of `--for` may take, and the pause after which no more are expected.
const LAST_LINES: Duration = Duration::from_secs(1);
const QUIET: Duration = Duration::from_millis(200);

/// How long the logs of the start take to find their places.
const SETTLING: Duration = Duration::from_secs(2);

impl Live for LiveLogs {
    fn wanted(&self) -> Vec<SourceKey> {
        self.clusters.wanted()
    }

    fn catch_up(&self) -> CatchUp {
        match self.setup.timeline {
            Some(_) => CatchUp::Every,
            None => CatchUp::Newest,
        }
    }

    fn take_rereads(&mut self) -> Vec<SourceKey> {
        self.clusters.take_rereads()
    }

    fn needs(&self) -> Box<dyn Fn(&SourceKey) -> Need + '_> {
        self.clusters.needs()
    }

    fn reports_waiting(&self) -> bool {
        self.is_followed()
    }

    fn has_begun(&self) -> bool {
        self.has_begun
    }

    fn model(&self, source: &SourceKey) -> Option<&Model> {
        Some(&self.clusters.get(&source.cluster)?.selection.model)
    }

    fn join(&mut self, joined: JoinedCluster<'_>) -> Result<Option<Vec<SourceKey>>, CommandError> {
        let session = joined.session;
        let label = joined.label.clone();
        self.output.add_cluster(session.cluster.clone(), label);
        let keys = joined.keys.clone();
        let cluster = self.setup.joined(joined);
        self.add(cluster, session);
        Ok(Some(keys))
    }

    fn apply(&mut self, key: &Arc<SourceKey>, event: Event, now: Timestamp) {
        let mut clusters = self.clusters.iter_mut();
        if let Some(cluster) = clusters.find(|cluster| cluster.id == key.cluster) {
            cluster.apply(key, &event, now);
        }
        self.is_changed = true;
    }

    async fn wait_for_other(&mut self) {
        if self.has_more {
            return;
        }
        if self.clusters.are_reading() {
            return self.clusters.next().await; // the lines wait
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

    async fn take_last_output(&mut self) -> bool {
        let end = Instant::now() + LAST_LINES;
        loop {
            self.order.take_in(&self.feeds, self.started.elapsed());
            let quiet = end.min(Instant::now() + QUIET);
            if self.order.is_full() || timeout_at(quiet, self.feeds.ready()).await.is_err() {
                break;
            }
        }
        self.stop();
        true
    }

    async fn wind_up(&mut self) {
        self.clusters.wind_up().await;
    }

    fn stop_waiting(&mut self) -> bool {
        self.stop();
        self.clusters.give_up();
        true
    }

    fn print(
        &mut self,
        sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        self.refresh(sources, terminal)?;
        self.pump(terminal)?;
        self.report_counts(terminal)?;
        self.check_time()
    }

    fn draw(&mut self, _: &Sources, _: &mut Terminal<'_>) -> Result<(), CommandError> {
        Ok(())
    }

    fn is_answered(&self, sources: &Sources) -> bool {
        let are_finished = sources.clusters.have_joined() && self.clusters.are_finished();
        let has_ended = are_finished || self.is_refused();
        let is_complete = !self.is_followed() || (has_ended && !self.options.has_goal);
        let mut timelines = self.clusters.timelines();
        let are_read = timelines
            .all(|timeline| timeline.is_over() || (self.is_followed() && !timeline.is_reading()));
        let is_shown = are_read && self.order.are_timelines_shown();
        self.has_begun && is_complete && is_shown && self.feeds.are_over() && !self.has_more
    }
}
