//! `--for`, `--timeout` and `--exit-code`: when a verb exits by itself, and with which exit code.

mod answer;
mod deaths;
mod goal_progress;
mod heartbeat;
mod object_progress;
mod out_of_reach;
#[cfg(test)]
mod tests;
mod waiting;

use clap::Args;
use tokio::time::Instant;

use super::failure_logs::lines_before_error;
use super::{
    CommandError, Ended, LogLineArgs, SeenObjects, Session, Shutdown, Sources, UnreadPart,
};
use crate::env::Env;
use crate::model::Model;
use crate::source::SourceKey;
use crate::status::Goal;

pub(crate) use answer::Answer;
pub(crate) use answer::Awaited;
use answer::Limit;
pub(crate) use goal_progress::Judge;
use heartbeat::Heartbeat;
use waiting::{ALLOWED_RESTARTS, Outcome, Waiting};

/// The flags about the end of a verb.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct GoalArgs {
    /// Exit when every object meets this goal; repeat to require several in order. current (or ready): the
    /// object and its dependents are Current. settled: they are, and its old Pods are gone. The other goals are those of
    /// kubectl wait: condition=TYPE[=STATUS], jsonpath=EXPRESSION[=VALUE], create or delete
    #[arg(long = "for", value_name = "GOAL")]
    goals: Vec<Goal>,
    /// Exit after this time, for example 30s or 5m; 0: check once; negative: no limit (default)
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    timeout: Option<Limit>,
    /// With --for: exit when this many instances of a container have died (default: 3), and at the latest two minutes
    /// after the first failure
    #[arg(long, value_name = "N", requires = "goals")]
    allow_restarts: Option<usize>,
}

impl GoalArgs {
    /// Whether the command line has `--for`.
    pub(crate) fn has_goal(&self) -> bool {
        !self.goals.is_empty()
    }

    /// Whether to check once and exit.
    pub(crate) fn looks_once(&self) -> bool {
        self.timeout == Some(Limit::Once)
    }
}

/// The flags about the end of a verb and its exit code.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct WaitArgs {
    #[command(flatten)]
    goal: GoalArgs,
    /// Exit with 1 if something is not well at the end, and with 4 on an error
    #[arg(long)]
    exit_code: bool,
    #[command(flatten)]
    pub(crate) logs: LogLineArgs,
}

impl WaitArgs {
    /// These flags alone, for a verb that shows the log lines itself.
    pub(crate) fn without_logs(goal: GoalArgs) -> WaitArgs {
        WaitArgs {
            goal,
            exit_code: false,
            logs: LogLineArgs::NONE,
        }
    }

    /// Whether to check once and exit.
    pub(crate) fn looks_once(&self) -> bool {
        self.goal.looks_once()
    }

    /// Whether the exit code is an answer.
    pub(crate) fn decides(&self) -> bool {
        self.exit_code || self.has_goal()
    }

    /// Whether the command line has `--exit-code` alone.
    pub(crate) fn asks_for_answer(&self) -> bool {
        self.exit_code && !self.has_goal()
    }

    /// Whether the command line has `--for`.
    pub(crate) fn has_goal(&self) -> bool {
        self.goal.has_goal()
    }

    /// Whether a missing object is an answer instead of an error.
    pub(crate) fn is_about_presence(&self) -> bool {
        let is_one = |goal: &Goal| matches!(goal, Goal::Created | Goal::Deleted);
        self.goal.goals.iter().any(is_one)
    }

    /// Whether a goal needs the judgement of the objects with their dependents.
    pub(crate) fn needs_judgement(&self) -> bool {
        self.goal.goals.iter().any(Goal::is_judged)
    }

    /// Refuses the flags about logs without a goal, for a verb that shows log lines only before an error.
    pub(crate) fn refuse_logs_without_goal(&self) -> Result<(), CommandError> {
        if self.logs.is_given() && !self.has_goal() {
            return Err(CommandError::usage("--logs and --log-lines need --for")
                .hint("to read logs, use `kubectl spy logs`"));
        }
        Ok(())
    }

    /// Whether the first goal is that the object does not exist.
    pub(crate) fn expects_absence(&self) -> bool {
        self.goal.goals.first() == Some(&Goal::Deleted)
    }

    /// How a verb with these flags stops. The time limit starts now. If the exit code is an answer, the verb does not stop
    /// when nobody reads its output.
    pub(crate) fn stop(&self, shutdown: &Shutdown, env: &mut Env) -> Stop {
        if self.decides() {
            env.outlive_reader();
        }
        let deadline = match self.goal.timeout {
            Some(Limit::After(limit)) => Instant::now().checked_add(limit),
            Some(Limit::Once | Limit::Never) | None => None,
        };
        let mut stop = Stop::at(shutdown);
        if let Some(deadline) = deadline {
            stop.shutdown = stop.shutdown.or(tokio::time::sleep_until(deadline));
        }
        stop.takes_silence = self.asks_for_answer();
        Stop { deadline, ..stop }
    }

    /// Waits for `work`, which must finish before the verb can show anything. Fails at the time limit, and at a signal.
    pub(crate) async fn in_time<T>(
        &self,
        stop: &Stop,
        awaited: Awaited<'_>,
        work: impl Future<Output = Result<T, CommandError>>,
    ) -> Result<T, CommandError> {
        let stopped = async {
            match stop.shutdown.wait().await {
                Some(signal) => CommandError::stopped(signal),
                None if stop.deadline.is_some() => awaited.late(|words| self.too_slow(words)),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            done = work => done,
            error = stopped => Err(error),
        }
    }
}

/// When a verb stops: at a signal, at its time limit, or when the selected objects meet the goals of `--for`.
pub(crate) struct Stop {
    /// Ready when a signal arrives or the time limit is reached.
    pub(crate) shutdown: Shutdown,
    deadline: Option<Instant>,
    pub(super) waiting: Waiting,
    logs: LogLineArgs,
    heartbeat: Heartbeat,
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
            logs: LogLineArgs::default(),
            heartbeat: Heartbeat::start(),
            looks_once: false,
            takes_silence: false,
            reads_file: false,
            unread: Vec::new(),
            shown: SeenObjects::default(),
        }
    }

    /// Also stops the verb when the objects of these sources meet the goals of `args`, if it has any.
    pub(crate) fn wait_for(&mut self, args: &WaitArgs, sources: &[SourceKey], judge: Judge) {
        self.logs = args.logs;
        let restarts = args.goal.allow_restarts.unwrap_or(ALLOWED_RESTARTS);
        self.waiting = Waiting::new(&args.goal.goals, sources, judge).allowing_restarts(restarts);
        if self.reads_file {
            self.waiting = std::mem::take(&mut self.waiting).of_file();
        }
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

    /// The last lines of the containers because of which a goal is not met, as display text. The error follows them.
    pub(super) async fn last_lines(
        &self,
        ended: Ended,
        model: Option<&Model>,
        session: &Session,
    ) -> Vec<String> {
        let is_of_interest = match ended {
            Ended::Answered | Ended::OutOfTime => self.logs.reads_any() && !session.is_of_file(),
            Ended::Found | Ended::By(_) => false,
        };
        let objects = self.waiting.unmet_objects();
        let Some(model) = model.filter(|_| is_of_interest && !objects.is_empty()) else {
            return Vec::new();
        };
        match session.failure_feeds() {
            Some(feeds) => lines_before_error(model, &objects, feeds, self.logs).await,
            None => Vec::new(),
        }
    }

    /// Takes the end of a verb. Fails if a goal is not met.
    pub(super) fn end(
        &mut self,
        ended: Ended,
        sources: &Sources,
        session: &Session,
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
            session.lacks_kinds(&keys).map_or(Ok(()), Err)?;
        }
        match (ended, outcome) {
            (Ended::By(_) | Ended::Found, _) | (_, Outcome::Met) => Ok(ended),
            (_, Outcome::Failed(lines)) => Err(CommandError::goal_failed(lines.join("\n"))),
            (_, Outcome::Refused(lines)) => Err(CommandError::failed(lines.join("\n"))),
            (_, Outcome::Open(names)) => {
                let words = self.words(ended);
                let line = |name: &String| format!("error: {words} {name}");
                let lines: Vec<String> = names.iter().map(line).collect();
                Err(CommandError::goal_unmet(lines.join("\n")))
            }
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
