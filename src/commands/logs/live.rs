//! `LiveLogs`: reads the logs of the selected Pods and prints their lines.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::args::{LogFormat, OrderChoice, StateChoice, TailChoice};
use super::container_feeds::{ContainerChoice, ContainerFeeds};
use super::line_order::{Hurry, LineOrder, OrderedEvent};
use super::message::{Message, ended, gap_words};
use super::output::LogOutput;
use super::selected_pods::SelectedPods;
use super::timeline::LogTimeline;
use super::unread_logs::UnreadLogs;
use crate::commands::live::sources::{describe, waiting};
use crate::commands::{CommandError, Live, Need, Sources, Terminal, UnreadPart};
use crate::logs::{ContainerFilter, ReadInstances, ReadOptions};
use crate::model::Model;
use crate::source::log::{LogContainer, LogEnd, LogEvent};
use crate::source::{ClusterId, Event, SourceKey};
use crate::watch::CatchUp;
use crate::watch::logs::{FeedCounts, LogFeeds};

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
    selection: SelectedPods,
    options: LogsOptions,
    feeds: ContainerFeeds,
    /// What happens between the lines, if that is shown.
    timeline: Option<LogTimeline>,
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
    /// The requested objects that it has said it waits for.
    waited_for: Vec<SourceKey>,
}

/// How many lines of each container are shown at first, if there are several Pods. kubectl has the same number.
const FEW: u64 = 10;

impl LiveLogs {
    pub(super) fn new(
        selection: SelectedPods,
        options: LogsOptions,
        feeds: LogFeeds,
        output: LogOutput,
    ) -> LiveLogs {
        LiveLogs {
            feeds: ContainerFeeds::new(feeds, options.most),
            timeline: None,
            order: LineOrder::new(options.order, options.read.follow, false),
            selection,
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
            waited_for: Vec::new(),
        }
    }

    /// The same logs with what happens between the lines.
    pub(super) fn with_timeline(self, timeline: LogTimeline) -> LiveLogs {
        let is_followed = self.is_followed();
        LiveLogs {
            order: LineOrder::new(self.options.order, is_followed, true),
            timeline: Some(timeline.followed(is_followed)),
            ..self
        }
    }

    fn is_followed(&self) -> bool {
        self.options.read.follow
    }

    /// Without `--follow`, the objects that were requested by name and do not exist.
    pub(super) fn missing(&self) -> Vec<SourceKey> {
        let is_error = self.has_begun && !self.is_followed();
        if is_error {
            self.selection.absent()
        } else {
            Vec::new()
        }
    }

    /// The error about logs and sources that could not be read.
    pub(super) fn failure(&self, unread: &[UnreadPart]) -> Option<CommandError> {
        let unread = unread.iter().find_map(|part| match part {
            UnreadPart::Refused(text) | UnreadPart::Undecided(text) => Some(text),
            UnreadPart::Late(_) => None,
        });
        match unread {
            Some(text) => Some(CommandError::failed(text)),
            None => self.unread_logs.error(self.feeds.total()),
        }
    }

    /// Opens the logs of new Pods, and passes on the states of the others.
    fn refresh(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        if std::mem::take(&mut self.is_changed) {
            self.selection.refresh(terminal.env().now());
            self.report_absent(terminal)?;
            if let Some(timeline) = &mut self.timeline {
                timeline.update_sources(&self.selection);
            }
            let is_listed = self.timeline.as_ref().is_none_or(LogTimeline::is_settled);
            if !self.has_begun && self.selection.is_settled() && is_listed {
                self.begin(terminal)?;
            } else if self.has_begun && self.is_followed() {
                self.sync();
            }
        }
        let opened = self.feeds.open_waiting();
        self.show_logs(opened);
        Ok(())
    }

    /// Begins with the Pods that exist at the start.
    fn begin(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        self.has_begun = true;
        self.check_containers()?;
        if let Some(timeline) = &mut self.timeline {
            timeline.begin(&self.selection);
        }
        let pods = self.selection.pods();
        let tail = match self.options.tail {
            TailChoice::Given(tail) => tail,
            TailChoice::ByPods => (pods.len() > 1).then_some(FEW),
        };
        if pods.is_empty()
            && let Some(text) = self.no_pods()
        {
            terminal.notify(&text)?;
        }
        let mut read = self.options.read;
        // What is limited by time or is of the past is shown whole.
        read.start.tail = tail.filter(|_| {
            read.instances != ReadInstances::Previous || self.options.tail != TailChoice::ByPods
        });
        self.feeds.set_read(read);
        self.sync();
        self.feeds.set_read(ReadOptions {
            is_new: self.is_followed(), // from its first line on
            ..read
        });
        let waiting = self.feeds.waiting();
        if waiting > 0 {
            let most = self.options.most;
            let text = format!(
                "{most} of {} logs are read at the same time (--max-log-requests): lines are in order within each group",
                most + waiting
            );
            terminal.notify(&text)?;
        }
        Ok(())
    }

    /// Fails with kubectl's error if no Pod has a container that `-c` names.
    fn check_containers(&self) -> Result<(), CommandError> {
        let pods = self.selection.pods();
        let missing = pods
            .iter()
            .map(|pod| Some((pod, self.options.containers.missing(pod)?)));
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

    /// Says that there are no Pods, unless an object is missing or a source was not read.
    fn no_pods(&self) -> Option<String> {
        let coverage = self.selection.model.coverage();
        if !coverage.sources().all(|source| coverage.is_read(source)) {
            return None;
        }
        let key = self.selection.requested().first()?;
        let has_pods_alone = &*key.resource.kind == "Pod" && key.resource.group.is_empty();
        match key.namespace() {
            _ if !self.selection.absent().is_empty() => None,
            Some(namespace) if has_pods_alone => {
                Some(format!("No resources found in {namespace} namespace."))
            }
            None if has_pods_alone => Some("No resources found".to_owned()),
            Some(_) | None => {
                let yet = if self.is_followed() { " yet" } else { "" };
                Some(format!("no pods{yet} below {}", self.requested_words()))
            }
        }
    }

    fn requested_words(&self) -> String {
        let requested = self.selection.requested();
        match requested {
            [only] => describe(only),
            [first, others @ ..] => format!("{} and {} more", describe(first), others.len()),
            [] => String::new(),
        }
    }

    fn sync(&mut self) {
        let pods = self.selection.pods();
        let choice = ContainerChoice {
            filter: &self.options.containers,
            state: self.options.state,
        };
        let opened = self.feeds.sync(&pods, choice);
        self.show_logs(opened);
    }

    fn show_logs(&mut self, opened: Vec<(usize, Arc<LogContainer>)>) {
        for (log, container) in opened {
            self.output.add(log, container);
            self.order.open(log);
        }
    }

    /// Says which requested objects it waits for.
    fn report_absent(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        if !self.is_followed() {
            return Ok(());
        }
        let absent = self.selection.absent();
        for key in absent.iter().filter(|key| !self.waited_for.contains(key)) {
            terminal.notify(&waiting(key))?;
        }
        self.waited_for = absent;
        Ok(())
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
        let may_rest = self.is_followed() && printed < MANY;
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
        let is_alone = self.feeds.total() <= 1 && self.timeline.is_none();
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
                OrderedEvent::Item(item) => self.output.item(&item),
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
        let Some(timeline) = &mut self.timeline else {
            return Ok(false);
        };
        self.order
            .add_items(timeline.take_items(&self.selection, terminal.env().now()));
        if timeline.is_over() {
            self.order.end_timeline();
        }
        for note in timeline.take_notes() {
            terminal.notify(&note)?;
        }
        Ok(timeline.is_reading())
    }

    fn emit(
        &mut self,
        log: usize,
        event: &LogEvent,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        let Some(container) = self.output.container(log).cloned() else {
            return Ok(());
        };
        let message = match event {
            LogEvent::Line(line) => {
                self.output.line(log, line);
                return Ok(());
            }
            LogEvent::Opened(instance) => {
                self.has_opened = true;
                // A right that was missing is back.
                self.unread_logs.remove(&container);
                self.output.open(log, instance);
                self.is_followed().then(|| match instance.attempt {
                    0 => Message::start(format!("+ {container}")),
                    attempt => Message::start(format!("+ {container}: restart {attempt}")),
                })
            }
            LogEvent::Ended(_, end) => {
                if let LogEnd::Lost(_) = end {
                    self.note_incomplete(&container);
                }
                ended(end, self.is_followed()).map(|message| message.about("-", &container))
            }
            LogEvent::Notice(text) => {
                Some(Message::problem(text.to_string()).about("!", &container))
            }
            LogEvent::Gap(gap) => {
                self.note_incomplete(&container);
                Some(Message::problem(gap_words(gap)).about("!", &container))
            }
            LogEvent::Polled => {
                let text = "its node can follow no more logs (inotify), so it is read every second";
                Some(Message::problem(text.to_owned()).about("!", &container))
            }
            LogEvent::Refused(refusal) => {
                let is_news = self.unread_logs.insert(&container, refusal);
                // The error of the verb says it.
                let is_error = self.feeds.total() == 1 && !self.is_followed();
                (!is_error && is_news)
                    .then(|| Message::problem(refusal.text.to_string()).about("!", &container))
            }
        };
        let Some(message) = message else {
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

    /// Notes that lines of a log are missing, or may be. Without `--follow`, that is an error.
    fn note_incomplete(&mut self, container: &Arc<LogContainer>) {
        if !self.is_followed() {
            self.unread_logs.note_incomplete(container);
        }
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
            return Err(error.hint(format!(
                "no log could be read of {}",
                self.requested_words()
            )));
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
        let model = &self.selection.model;
        let mut wanted: Vec<SourceKey> = model.sources().cloned().collect();
        let timeline = self.timeline.iter().flat_map(LogTimeline::sources);
        let timeline = timeline.filter(|source| !model.coverage().follows(source));
        wanted.extend(timeline.cloned());
        wanted
    }

    fn catch_up(&self) -> CatchUp {
        match self.timeline {
            Some(_) => CatchUp::Every,
            None => CatchUp::Newest,
        }
    }

    fn take_rereads(&mut self) -> Vec<SourceKey> {
        self.selection.model.take_rereads()
    }

    fn needs(&self) -> Box<dyn Fn(&SourceKey) -> Need + '_> {
        let model = &self.selection.model;
        let plan = model.judgement();
        Box::new(|key| match () {
            () if model.requested().contains(key) => Need::Vital,
            () if model.searches(key) => Need::Spare,
            () if !model.coverage().follows(key) => Need::Useful,
            () if plan.contains(key) && !plan.decides(key) => Need::Useful,
            () => Need::Decisive,
        })
    }

    fn reports_waiting(&self) -> bool {
        self.is_followed()
    }

    fn has_begun(&self) -> bool {
        self.has_begun
    }

    fn model(&self, _: &ClusterId) -> Option<&Model> {
        Some(&self.selection.model)
    }

    fn apply(&mut self, key: &Arc<SourceKey>, event: Event, now: Timestamp) {
        if let Some(timeline) = &mut self.timeline {
            timeline.apply(key, &event, now);
        }
        self.selection.apply(key, &event, now);
        self.is_changed = true;
    }

    async fn wait_for_other(&mut self) {
        if self.has_more {
            return;
        }
        if let Some(timeline) = self
            .timeline
            .as_mut()
            .filter(|timeline| timeline.is_reading())
        {
            return timeline.next().await; // the lines wait
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
        self.is_stopping = true;
        true
    }

    async fn wind_up(&mut self) {
        if let Some(timeline) = &mut self.timeline {
            timeline.wind_up().await;
        }
    }

    fn stop_waiting(&mut self) -> bool {
        self.is_stopping = true;
        if let Some(timeline) = &mut self.timeline {
            timeline.give_up();
        }
        true
    }

    fn print(
        &mut self,
        _sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        self.refresh(terminal)?;
        self.pump(terminal)?;
        self.report_counts(terminal)?;
        self.check_time()
    }

    fn draw(&mut self, _: &Sources, _: &mut Terminal<'_>) -> Result<(), CommandError> {
        Ok(())
    }

    fn is_answered(&self, _: &Sources) -> bool {
        let has_ended = self.selection.is_finished() || self.is_refused();
        let is_complete = !self.is_followed() || (has_ended && !self.options.has_goal);
        let is_shown = self.timeline.as_ref().is_none_or(|timeline| {
            let is_over = timeline.is_over() || (self.is_followed() && !timeline.is_reading());
            is_over && self.order.is_timeline_shown()
        });
        self.has_begun && is_complete && is_shown && self.feeds.are_over() && !self.has_more
    }
}
