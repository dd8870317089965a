//! `LiveLogs`: reads the logs of the selected Pods of all clusters and prints their lines.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::args::TailChoice;
use super::log_cluster::{LogCluster, LogSetup};
use super::log_clusters::LogClusters;
use crate::commands::container_lines::{
    ContainerChoice, LogOutput, LogPrinter, OrderChoice, PodToRead, PrintOptions, StateChoice,
};
use crate::commands::live::cluster_group::JoinedCluster;
use crate::commands::{CommandError, Live, Need, Session, Sources, Terminal, UnreadPart};
use crate::logs::{ContainerFilter, ReadInstances, ReadOptions};
use crate::model::Model;
use crate::source::{Event, SourceKey};
use crate::watch::CatchUp;

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
    /// Whether what cannot be read is no error.
    pub(super) ignores_errors: bool,
}

/// The selected Pods, and their logs.
pub(super) struct LiveLogs {
    setup: LogSetup,
    options: LogsOptions,
    clusters: LogClusters,
    printer: LogPrinter,
    /// What to read of containers that are new.
    read: ReadOptions,
    /// Whether the selection may have changed since the last look.
    is_changed: bool,
    has_begun: bool,
}

/// How many lines of each container are shown at first, if there are several Pods. kubectl has the same number.
const FEW: u64 = 10;

impl LiveLogs {
    /// The logs of no cluster yet.
    pub(super) fn new(setup: LogSetup, options: LogsOptions, output: LogOutput) -> LiveLogs {
        let print = PrintOptions {
            most: options.most,
            order: options.order,
            is_followed: options.read.follow,
            is_quiet: options.is_quiet,
            keeps_ended: false,
        };
        LiveLogs {
            printer: LogPrinter::new(print, output),
            clusters: LogClusters::default(),
            read: options.read,
            setup,
            options,
            is_changed: true,
            has_begun: false,
        }
    }

    /// Adds a cluster whose model has the requested objects.
    pub(super) fn add(&mut self, cluster: LogCluster, session: &Session) {
        self.printer.add_cluster(session);
        if cluster.timeline.is_some() {
            self.printer.open_timeline(cluster.number(), &cluster.id);
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

    /// A line about the containers that have no instance before the present one, if others have one.
    pub(super) fn without_previous(&self) -> Option<String> {
        self.printer.without_previous()
    }

    /// The error about logs and sources that could not be read.
    pub(super) fn failure(&self, unread: &[UnreadPart]) -> Option<CommandError> {
        let unread = unread.iter().filter_map(|part| match part {
            UnreadPart::Refused(text)
            | UnreadPart::Undecided(text)
            | UnreadPart::Requested(text) => Some(&**text),
            UnreadPart::Late(_) => None,
        });
        let unread: BTreeSet<&str> = unread.collect();
        if !unread.is_empty() {
            let lines: Vec<&str> = unread.into_iter().collect();
            return Some(CommandError::of_cause(lines.join("\n")));
        }
        self.printer.error(self.clusters.are_several())
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
        self.printer.open_waiting();
        Ok(())
    }

    /// Begins with the clusters that have settled, and with the Pods that exist at the start.
    fn begin(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        self.has_begun = true;
        self.clusters.begin();
        self.check_containers()?;
        self.check_kinds()?;
        let is_followed = self.is_followed();
        let begun = self.clusters.iter().filter(|cluster| cluster.has_begun);
        for cluster in begun.filter(|cluster| cluster.selection.pods().is_empty()) {
            if let Some(text) = cluster.no_pods(is_followed) {
                terminal.notify(&text)?;
            }
        }
        self.read_from_start();
        if self.printer.total() == 0 && !self.clusters.pods().is_empty() {
            let flags = match self.options.state {
                None => "-c",
                Some(_) => "-c and --state",
            };
            terminal.notify(&format!("no container is chosen by {flags}"))?;
        }
        let waiting = self.printer.waiting();
        if waiting > 0 && self.options.order == OrderChoice::Auto {
            let total = self.printer.total();
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
        self.read = read;
        self.sync();
        self.read.is_new = self.is_followed();
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

    /// Fails with kubectl's error if no cluster has an object that may have Pods.
    fn check_kinds(&self) -> Result<(), CommandError> {
        let errors = self.clusters.iter().map(LogCluster::without_logs);
        let errors: Option<Vec<CommandError>> = errors.collect();
        let error = errors.and_then(|errors| errors.into_iter().reduce(CommandError::and));
        error.map_or(Ok(()), Err)
    }

    fn sync(&mut self) {
        let choice = ContainerChoice {
            filter: &self.options.containers,
            state: self.options.state,
        };
        let pods = self.clusters.pods().into_iter();
        let pods = pods.map(|(cluster, pod)| PodToRead {
            cluster,
            pod,
            read: self.read,
        });
        let pods: Vec<PodToRead<'_>> = pods.collect();
        self.printer.sync(&pods, choice);
    }

    /// Prints the events that are due.
    fn pump(&mut self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        let is_reading = self.take_items(terminal)?;
        if is_reading && !self.printer.is_stopping() {
            return Ok(()); // the lines wait for what happened before
        }
        self.printer.print(terminal)
    }

    /// Takes what has happened. Returns whether it is still reading what happened before.
    fn take_items(&mut self, terminal: &mut Terminal<'_>) -> Result<bool, CommandError> {
        for cluster in self.clusters.iter_mut() {
            let number = cluster.number();
            let Some(timeline) = &mut cluster.timeline else {
                continue;
            };
            let items = timeline.take_items(&cluster.selection, terminal.env().now());
            self.printer.add_items(number, items);
            if timeline.is_over() {
                self.printer.end_items(number);
            }
            let notes = timeline.take_notes();
            for note in notes {
                terminal.notify(&cluster.about(&note))?;
            }
        }
        Ok(self.clusters.are_reading())
    }

    /// Fails if no log could be opened in time.
    fn check_time(&self) -> Result<(), CommandError> {
        let limit = self.options.running_timeout;
        if limit.is_some_and(|limit| self.printer.has_waited(limit)) {
            let error = CommandError::failed("error: timed out waiting for the condition");
            let words = self.clusters.iter().next().map(LogCluster::requested_words);
            let words = words.unwrap_or_else(|| "the requested objects".to_owned());
            return Err(error.hint(format!("no log could be read of {words}")));
        }
        Ok(())
    }
}

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

    fn reports_refusals_last(&self) -> bool {
        !self.is_followed() && !self.options.ignores_errors
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
        self.printer.name_cluster(session.cluster.clone(), label);
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
        if !self.printer.has_more() && self.clusters.are_reading() {
            return self.clusters.next().await; // the lines wait
        }
        self.printer.due().await;
    }

    async fn take_last_output(&mut self) -> bool {
        self.printer.take_last_lines().await;
        true
    }

    async fn wind_up(&mut self) {
        self.clusters.wind_up().await;
    }

    fn stop_waiting(&mut self) -> bool {
        self.printer.stop();
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
        self.printer.report_counts(terminal)?;
        self.check_time()
    }

    fn draw(&mut self, _: &Sources, _: &mut Terminal<'_>) -> Result<(), CommandError> {
        Ok(())
    }

    fn is_answered(&self, sources: &Sources) -> bool {
        let are_finished = sources.clusters.have_joined() && self.clusters.are_finished();
        let has_ended = are_finished || self.printer.is_refused();
        let is_complete = !self.is_followed() || (has_ended && !self.options.has_goal);
        let mut timelines = self.clusters.timelines();
        let are_read = timelines
            .all(|timeline| timeline.is_over() || (self.is_followed() && !timeline.is_reading()));
        let is_shown = are_read && self.printer.are_timelines_shown();
        self.has_begun && is_complete && is_shown && self.printer.is_over()
    }
}
