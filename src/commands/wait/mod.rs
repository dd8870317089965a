//! `--for`, `--timeout` and `--exit-code`: when a verb exits by itself, and with which exit code.

mod args;
mod deaths;
mod goal_progress;
mod heartbeat;
mod limit;
mod object_progress;
mod out_of_reach;
#[cfg(test)]
mod tests;
mod wait_logs;
mod waiting;

use tokio::time::Instant;

use futures::future::join_all;

use super::failure_logs::{ShownPart, lines_before_error};
use super::live::cluster_group::ClusterGroup;
use super::live::clusters::Clusters;
use super::{
    CommandError, Ended, ErrorKind, Live, SeenObjects, Session, Shutdown, Signal, Sources,
    Terminal, UnreadPart,
};
use crate::env::Env;
use crate::model::Model;
use crate::source::SourceKey;
use crate::source::log::LogContainer;

pub(crate) use args::{Answer, GoalArgs, WaitArgs};
pub(crate) use goal_progress::Judge;
use heartbeat::Heartbeat;
pub(crate) use limit::Awaited;
use limit::{Limit, SERVER};
use wait_logs::WaitLogs;
use waiting::{ALLOWED_RESTARTS, Outcome, Waiting};

/// When a verb stops: at a signal, at its time limit, or when the selected objects meet the goals of `--for`.
pub(crate) struct Stop {
    /// Ready when a signal arrives or the time limit is reached.
    pub(crate) shutdown: Shutdown,
    deadline: Option<Instant>,
    pub(super) waiting: Waiting,
    args: WaitArgs,
    heartbeat: Heartbeat,
    /// The lines of containers during the wait, if they are shown.
    pub(super) logs: Option<Box<WaitLogs>>,
    /// Whether the verb checks the goals once instead of waiting.
    pub(crate) looks_once: bool,
    /// Whether silence is an answer: nothing changed, or all is still well.
    pub(crate) takes_silence: bool,
    /// Whether the verb reads a file. There, what is not listed at the start may still come.
    pub(crate) reads_file: bool,
    /// The parts that were not read when the verb ended.
    pub(crate) unread: Vec<UnreadPart>,
    /// What the selected sources have shown.
    pub(crate) shown: SeenObjects,
}

impl Stop {
    /// Stops a verb only at `shutdown`.
    pub(crate) fn at(shutdown: &Shutdown) -> Stop {
        Stop {
            shutdown: shutdown.clone(),
            deadline: None,
            waiting: Waiting::default(),
            args: WaitArgs::default(),
            heartbeat: Heartbeat::start(),
            logs: None,
            looks_once: false,
            takes_silence: false,
            reads_file: false,
            unread: Vec::new(),
            shown: SeenObjects::default(),
        }
    }

    /// Stops a verb with these flags. The time limit starts now. If the exit code is an answer, the verb does not stop
    /// when nobody reads its output.
    pub(crate) fn of(args: &WaitArgs, shutdown: &Shutdown, env: &mut Env) -> Stop {
        if args.decides() {
            env.outlive_reader();
        }
        let deadline = match args.goal.timeout {
            Some(Limit::After(limit)) => Instant::now().checked_add(limit),
            Some(Limit::Once | Limit::Never) | None => None,
        };
        let mut stop = Stop::at(shutdown);
        if let Some(deadline) = deadline {
            stop.shutdown = stop.shutdown.or(tokio::time::sleep_until(deadline));
            env.stderr_queue.limit(deadline.into_std());
        }
        Stop {
            deadline,
            takes_silence: args.asks_for_answer(),
            args: args.clone(),
            ..stop
        }
    }

    /// Waits for `work`, which must finish before the verb can show anything. Fails at the time limit, and at a signal.
    pub(crate) async fn in_time<T>(
        &self,
        awaited: Awaited<'_>,
        work: impl Future<Output = Result<T, CommandError>>,
    ) -> Result<T, CommandError> {
        let stopped = async {
            match self.shutdown.wait().await {
                Some(signal) => CommandError::stopped(signal),
                None if self.deadline.is_some() => awaited.late(),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            done = work => done,
            error = stopped => Err(error),
        }
    }

    /// Also stops the verb when the objects of these sources meet the goals, if there are any.
    pub(crate) fn wait_for(&mut self, sources: &[SourceKey], judge: Judge) {
        let goal = &self.args.goal;
        self.waiting = Waiting::new(&goal.goals, sources, judge);
        self.waiting.restarts = goal.allow_restarts.unwrap_or(ALLOWED_RESTARTS);
        if self.reads_file {
            self.waiting = std::mem::take(&mut self.waiting).of_file();
        }
    }

    /// Waits for the objects of several clusters. Each joins later.
    pub(crate) fn wait_for_clusters(&mut self, group: &ClusterGroup, judge: Judge) {
        self.wait_for(&[], judge);
        let clusters = group.clusters();
        self.waiting.unjoined = clusters.map(|cluster| (cluster.clone(), None)).collect();
    }

    /// The line that the verb still waits, if it has printed nothing for a minute. It has printed so many lines.
    pub(super) fn still_waiting(&mut self, printed: u64) -> Option<String> {
        if !self.waiting.has_goal() {
            return None;
        }
        let lasted = self.heartbeat.beat(Instant::now(), printed)?;
        let minutes = lasted.as_secs() / 60;
        let what = self.waiting.waits_for()?;
        Some(format!("still waiting, {minutes}m: {what}"))
    }

    /// Shows the lines of containers during the wait, if the user wants them and there is a wait.
    pub(super) fn open_logs(&mut self, clusters: Clusters<'_>, terminal: &Terminal<'_>) {
        let streamed = self.args.logs.streamed();
        let is_wait = self.args.has_goal() && !self.looks_once && !self.reads_file;
        self.logs = streamed
            .filter(|_| is_wait)
            .map(|streamed| Box::new(WaitLogs::new(streamed, terminal)));
        if let (Some(logs), Some(session)) = (&mut self.logs, clusters.only()) {
            logs.add_cluster(session, None);
        }
    }

    /// Takes the Pods below the objects of the wait, as these models know them.
    pub(super) fn refresh_logs<'m>(&mut self, model: impl Fn(&SourceKey) -> Option<&'m Model>) {
        if let Some(logs) = &mut self.logs {
            logs.refresh(&self.waiting, model);
        }
    }

    /// Waits until lines of containers are due. Without any, it never ends. It is cancel safe.
    pub(super) async fn log_lines(&self) {
        match &self.logs {
            Some(logs) => logs.due().await,
            None => std::future::pending().await,
        }
    }

    /// Prints the lines of containers that are due.
    pub(super) fn print_log_lines(
        &mut self,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        match &mut self.logs {
            Some(logs) => logs.print(terminal),
            None => Ok(()),
        }
    }

    /// Prints the last lines of containers at the end of the wait. After a signal, it does not wait for those on their way.
    pub(super) async fn close_logs(
        &mut self,
        signal: Option<Signal>,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        match (&mut self.logs, signal) {
            (Some(logs), None) => logs.finish(terminal).await,
            (Some(logs), Some(_)) => logs.stop(terminal),
            (None, _) => Ok(()),
        }
    }

    /// The last lines of the containers because of which a goal is not met, as display text. The error follows them.
    pub(super) async fn last_lines(
        &self,
        ended: Ended,
        view: &impl Live,
        clusters: Clusters<'_>,
    ) -> Vec<String> {
        let is_of_interest = match ended {
            Ended::Answered | Ended::OutOfTime => {
                self.args.logs.reads_any() && !clusters.is_of_file()
            }
            Ended::Found | Ended::By(_) => false,
        };
        if !is_of_interest {
            return Vec::new();
        }
        let logs = self.logs.as_ref();
        let of_cluster = clusters.sessions().filter_map(|session| {
            let model = |source: &SourceKey| view.model(source);
            let objects = self.waiting.unmet_objects(&session.cluster, model);
            let feeds = session.failure_feeds().filter(|_| !objects.is_empty())?;
            let shown = move |container: &LogContainer, instance: &str| {
                let part = logs.map(|logs| logs.shown_part(container, instance));
                part.unwrap_or(ShownPart::None)
            };
            Some(lines_before_error(objects, feeds, self.args.logs, shown))
        });
        join_all(of_cluster).await.concat()
    }

    /// Takes the end of a verb. Fails if a goal is not met.
    pub(super) fn end(
        &mut self,
        ended: Ended,
        sources: &Sources,
        clusters: Clusters<'_>,
    ) -> Result<Ended, CommandError> {
        self.unread = sources.unread();
        self.shown = sources.shown();
        if ended != Ended::OutOfTime {
            // A verb with an answer waits for nothing else.
            self.unread
                .retain(|part| !matches!(part, UnreadPart::Late(_)));
        }
        let outcome = self.waiting.outcome();
        if outcome == Outcome::Met && self.reads_file {
            let keys: Vec<&SourceKey> = self.waiting.keys().collect();
            let file = clusters.only();
            let lacking = file.and_then(|session| lacking_kinds(session, &keys));
            lacking.map_or(Ok(()), Err)?;
        }
        match (ended, outcome) {
            (Ended::By(_) | Ended::Found, _) | (_, Outcome::Met) => Ok(ended),
            (_, Outcome::Failed(lines)) => Err(CommandError::goal_failed(lines.join("\n"))),
            (_, Outcome::Refused(lines)) => Err(CommandError::of_cause(lines.join("\n"))),
            (_, Outcome::Open(names)) => {
                let words = self.words(ended);
                let line = |name: &String| format!("error: {words} {name}");
                let lines: Vec<String> = names.iter().map(line).collect();
                Err(CommandError::goal_unmet(lines.join("\n")))
            }
            (_, Outcome::Unread { unmet, unread }) => {
                let words = self.words(ended);
                let late = match ended {
                    Ended::OutOfTime => "timed out waiting for ",
                    Ended::Answered | Ended::Found | Ended::By(_) => "",
                };
                let unmet = unmet.iter().map(|name| format!("error: {words} {name}"));
                let unread = unread.iter().map(|what| format!("error: {late}{what}"));
                let lines: Vec<String> = unmet.chain(unread).collect();
                Err(CommandError::failed(lines.join("\n")).hint(SERVER))
            }
        }
    }

    /// The end of a verb that has not seen what the user asked for. Fails if named objects are `missing`, or not in the file,
    /// and with a check also if the namespace does not exist. Returns that as a message otherwise.
    pub(crate) async fn explain_absence<'c>(
        &self,
        clusters: impl Into<Clusters<'c>>,
        missing: &[SourceKey],
        ended: &Result<Ended, CommandError>,
    ) -> Result<Option<String>, CommandError> {
        let clusters = clusters.into();
        if let Some(error) = clusters.not_found(missing).await {
            return Err(if clusters.have_servers() {
                error.hint("to wait until it is created, drop --once")
            } else {
                error
            });
        }
        let is_over = match ended {
            Ok(Ended::Answered | Ended::OutOfTime) => true,
            Ok(Ended::Found | Ended::By(_)) => false,
            Err(error) => error.kind() == ErrorKind::GoalUnmet,
        };
        if !is_over || !self.unread.is_empty() {
            return Ok(None);
        }
        let SeenObjects {
            has_object,
            absent,
            namespaces,
        } = &self.shown;
        if clusters.is_of_file()
            && !self.args.is_about_presence()
            && let Some(error) = clusters.not_found(absent).await
        {
            return Err(error);
        }
        if *has_object {
            return Ok(None);
        }
        let mut lines = Vec::new();
        for (cluster, namespace) in namespaces {
            lines.extend(clusters.absent_namespace(cluster, namespace).await);
        }
        // Only a deletion can have been met without an object.
        let is_met = ended.is_ok() && self.args.has_goal();
        match lines.join("\n") {
            lines if lines.is_empty() => Ok(None),
            lines if self.args.decides() && !is_met => {
                let error = format!("Error from server (NotFound): {lines}");
                Err(CommandError::of_cause(error)
                    .hint("list the namespaces: kubectl get namespaces"))
            }
            lines => Ok(Some(lines)),
        }
    }

    /// The message before the name of each object with an unmet goal. It is that of kubectl wait, unless the input ended.
    fn words(&self, ended: Ended) -> &'static str {
        match ended {
            _ if self.looks_once => "condition not met for",
            Ended::OutOfTime => "timed out waiting for the condition on",
            Ended::Answered | Ended::Found | Ended::By(_) => {
                "the input ended before the condition was met on"
            }
        }
    }
}

/// The error for goals about kinds of which a file has no object. What it does not have, it says nothing about.
fn lacking_kinds(session: &Session, keys: &[&SourceKey]) -> Option<CommandError> {
    let file = session.file()?;
    let lacking = keys.iter().filter(|key| !file.has_kind(&key.resource));
    let path = &session.cluster.0;
    let lines = lacking.map(|key| {
        let resource = key.resource.group_resource();
        format!("error: no {resource} in {path}")
    });
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| CommandError::failed(lines.join("\n")))
}
