//! `--for`, `--timeout` and `--exit-code`: when a verb exits by itself, and with which exit code.

mod answer;
mod goal_progress;
mod limit;
#[cfg(test)]
mod tests;
mod waiting;

use std::sync::Arc;

use clap::Args;
use jiff::Timestamp;
use tokio::time::Instant;

use super::{CommandError, Ended, Live, Need, Note, Shutdown, Sources, Terminal, Unknown};
use crate::source::{Event, SourceKey};
use crate::status::Goal;
use crate::watch::CatchUp;

pub(crate) use answer::Answer;
use limit::Limit;
use waiting::{Outcome, Waiting};

/// The flags about the end of a verb and its exit code.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct WaitArgs {
    /// Exit when every object meets this goal; repeat to require several in order. The goals are those of
    /// kubectl wait: condition=TYPE[=STATUS], jsonpath=EXPRESSION[=VALUE], create or delete
    #[arg(long = "for", value_name = "GOAL")]
    goals: Vec<Goal>,
    /// Exit after this time, for example 30s or 5m; 0: check once; negative: no limit (default)
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    timeout: Option<Limit>,
    /// Exit with 1 if something changed (changes) or is not well (status), and with 4 on an error
    #[arg(long)]
    exit_code: bool,
}

impl WaitArgs {
    /// Whether to check once and exit.
    pub(crate) fn looks_once(&self) -> bool {
        self.timeout == Some(Limit::Once)
    }

    /// Whether the exit code is an answer.
    pub(crate) fn decides(&self) -> bool {
        self.exit_code || self.has_goal()
    }

    /// Whether the command line has `--for`.
    pub(crate) fn has_goal(&self) -> bool {
        !self.goals.is_empty()
    }

    /// Whether a missing object is an answer instead of an error.
    pub(crate) fn is_about_presence(&self) -> bool {
        let is_one = |goal: &Goal| matches!(goal, Goal::Created | Goal::Deleted);
        self.goals.iter().any(is_one)
    }

    /// Whether the first goal is that the object does not exist.
    pub(crate) fn expects_absence(&self) -> bool {
        self.goals.first() == Some(&Goal::Deleted)
    }

    /// A stop that is also ready at the time limit. The limit starts now.
    pub(crate) fn stop(&self, shutdown: &Shutdown) -> Stop {
        let deadline = match self.timeout {
            Some(Limit::After(limit)) => Instant::now().checked_add(limit),
            Some(Limit::Once | Limit::Never) | None => None,
        };
        let shutdown = match deadline {
            Some(deadline) => shutdown.clone().or(tokio::time::sleep_until(deadline)),
            None => shutdown.clone(),
        };
        Stop { shutdown, deadline }
    }

    /// Waits for `work`, which must finish before the verb can show anything. Fails at the time limit.
    pub(crate) async fn in_time<T>(
        &self,
        stop: &Stop,
        work: impl Future<Output = Result<T, CommandError>>,
    ) -> Result<T, CommandError> {
        let Some(deadline) = stop.deadline else {
            return work.await;
        };
        let done = tokio::time::timeout_at(deadline, work).await;
        done.unwrap_or_else(|_| {
            let words = "error: timed out waiting for the server's list of types";
            let error = self.too_slow(words.to_owned());
            Err(error.hint("check that the server answers: kubectl get --raw /readyz"))
        })
    }
}

/// The shutdown of a verb that may have a time limit.
pub(crate) struct Stop {
    /// Ready when a signal arrives or the time limit is reached.
    pub(crate) shutdown: Shutdown,
    deadline: Option<Instant>,
}

/// A view that ends when the selected objects meet the goals of `--for`.
pub(crate) struct WaitFor<V> {
    view: V,
    waiting: Waiting,
    looks_once: bool,
    /// The parts that were not read when the view ended.
    unread: Vec<Unknown>,
}

/// A view that has ended.
pub(crate) struct Over<V> {
    /// The view.
    pub(crate) view: V,
    /// How it ended; an error if it did not meet a goal.
    pub(crate) ended: Result<Ended, CommandError>,
    /// The parts that it could not read.
    pub(crate) unread: Vec<Unknown>,
}

impl<V: Live> WaitFor<V> {
    /// Ends `view` when the objects of the sources `asked` meet the goals. Without goals it never ends the view.
    pub(crate) fn new(view: V, args: &WaitArgs, asked: &[SourceKey]) -> WaitFor<V> {
        WaitFor {
            view,
            waiting: Waiting::new(&args.goals, asked),
            looks_once: false,
            unread: Vec::new(),
        }
    }

    /// Makes the view check once instead of waiting.
    pub(crate) fn once(self, looks_once: bool) -> WaitFor<V> {
        WaitFor { looks_once, ..self }
    }

    /// Ends the view and returns its result.
    pub(crate) fn end(mut self, ended: Result<Ended, CommandError>) -> Over<V> {
        if !matches!(ended, Ok(Ended::OutOfTime)) {
            // A view with an answer waits for nothing else.
            self.unread.retain(|part| !matches!(part, Unknown::Late(_)));
        }
        let ended = ended.and_then(|ended| self.goal_result(ended));
        Over {
            view: self.view,
            ended,
            unread: self.unread,
        }
    }

    /// Turns the end of a view without a met goal into an error.
    fn goal_result(&self, ended: Ended) -> Result<Ended, CommandError> {
        match (ended, self.waiting.outcome()) {
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

impl<V: Live> Live for WaitFor<V> {
    const REST: u32 = V::REST;

    fn wanted(&self) -> Vec<SourceKey> {
        self.view.wanted()
    }

    fn need(&self, key: &SourceKey) -> Need {
        self.view.need(key)
    }

    fn reports_waiting(&self) -> bool {
        self.view.reports_waiting()
    }

    fn catch_up(&self) -> CatchUp {
        self.view.catch_up()
    }

    fn holds(&self, key: &SourceKey) -> bool {
        self.view.holds(key)
    }

    fn has_begun(&self) -> bool {
        self.view.has_begun()
    }

    fn wait_for_other(&mut self) -> impl Future<Output = ()> {
        self.view.wait_for_other()
    }

    fn wind_up(&mut self) -> impl Future<Output = ()> {
        self.view.wind_up()
    }

    fn stop_waiting(&mut self) -> bool {
        self.view.stop_waiting()
    }

    fn over(&mut self, sources: &Sources) {
        self.unread = sources.unread();
        self.view.over(sources);
    }

    fn apply(&mut self, key: &Arc<SourceKey>, event: Event, now: Timestamp) {
        self.waiting.apply(key, &event, now);
        self.view.apply(key, event, now);
    }

    fn reports_states_at_once(&self) -> bool {
        self.view.reports_states_at_once()
    }

    fn note(
        &mut self,
        key: &Arc<SourceKey>,
        note: Note,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        self.view.note(key, note, terminal)
    }

    fn print(
        &mut self,
        sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        self.view.print(sources, terminal)?;
        if self.view.has_begun() {
            for name in self.waiting.take_met() {
                terminal.notify(&format!("{name} condition met"))?;
            }
        }
        Ok(())
    }

    fn draw(&mut self, sources: &Sources, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        self.view.draw(sources, terminal)
    }

    fn finish(
        &mut self,
        sources: &Sources,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
        self.view.finish(sources, terminal)
    }

    fn is_answered(&self, sources: &Sources) -> bool {
        let is_decided = self.view.has_begun() && self.waiting.is_decided();
        is_decided || self.view.is_answered(sources)
    }
}
