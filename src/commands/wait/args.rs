//! `WaitArgs`: the flags about the end of a verb, and how they turn its answer into an exit code.

use clap::Args;

use super::limit::Limit;
use super::waiting::cut;
use crate::commands::{CommandError, Ended, LogLineArgs, Session, UnreadPart};
use crate::status::Goal;

/// How to wait without the dependents that the user may not read.
const ALONE: &str =
    "to wait for the object alone, use a condition, such as --for=condition=Available";

/// The flags about the end of a verb.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct GoalArgs {
    /// Exit when every object meets this goal; repeat to require several in order. current (or ready): the
    /// object and its dependents are Current. settled: they are, and its old Pods are gone. The other goals are those of
    /// kubectl wait: condition=TYPE[=STATUS], jsonpath=EXPRESSION[=VALUE], create or delete
    #[arg(long = "for", value_name = "GOAL")]
    pub(super) goals: Vec<Goal>,
    /// Exit after this time, for example 30s or 5m; 0: check once; negative: no limit (default)
    #[arg(long, value_name = "DURATION")]
    pub(super) timeout: Option<Limit>,
    /// With --for: exit when this many instances of a container have died (default: 3), and at the latest two minutes
    /// after the first failure
    #[arg(long, value_name = "N", requires = "goals")]
    pub(super) allow_restarts: Option<usize>,
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
    pub(super) goal: GoalArgs,
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

    /// Refuses the lines of a wait without a goal, for a verb that also shows log lines elsewhere.
    pub(crate) fn refuse_streams_without_goal(&self) -> Result<(), CommandError> {
        if self.logs.streamed().is_some() && !self.has_goal() {
            return Err(CommandError::usage("--logs=new and --logs=all need --for")
                .hint("to follow logs, use `kubectl spy logs -f`"));
        }
        Ok(())
    }

    /// Refuses the lines of a wait that reads no Pods, for a verb that reads them only for goals about dependents.
    pub(crate) fn refuse_streams_without_pods(&self) -> Result<(), CommandError> {
        if self.logs.streamed().is_some() && !self.needs_judgement() {
            let error = "--logs=new and --logs=all of changes need --for=current or --for=settled";
            return Err(CommandError::usage(error)
                .hint("to show lines until another goal is met, use `kubectl spy logs --for`"));
        }
        Ok(())
    }

    /// Whether the first goal is that the object does not exist.
    pub(crate) fn expects_absence(&self) -> bool {
        self.goal.goals.first() == Some(&Goal::Deleted)
    }

    /// Fails if a file is blank, or if one without any object is to be checked: such a check would always pass.
    pub(crate) fn refuse_nothing(&self, session: &Session, verb: &str) -> Result<(), CommandError> {
        match session.file() {
            Some(file) if file.resources.is_empty() && (self.decides() || file.is_blank) => {
                let error = CommandError::failed(format!("error: no objects passed to {verb}"));
                Err(error.hint("check the command that writes the input"))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// How a verb with this answer ends. There is no answer if any part is unread.
    pub(crate) fn conclude(
        &self,
        ended: Ended,
        answer: Answer,
        unread: impl IntoIterator<Item = UnreadPart>,
    ) -> Result<Ended, CommandError> {
        let parts: Vec<UnreadPart> = unread.into_iter().collect();
        match (ended, answer) {
            (Ended::By(_), _) => Ok(ended),
            _ if !parts.is_empty() => self.unanswered(&parts, ended).map_or(Ok(ended), Err),
            (_, Answer::Something) if self.exit_code => Ok(Ended::Found),
            // With a goal, the wait has decided.
            (_, Answer::NoObject) if self.asks_for_answer() => Err(nothing_checked()),
            (_, Answer::Something | Answer::Nothing | Answer::NoObject) => Ok(ended),
        }
    }

    /// The error of a question without an answer.
    ///
    /// A time limit that was too short is always an error. So is what the user named and the server refuses, if the verb has ended
    /// by itself. Another refused part is an error with `--exit-code`, and with a goal that it decides; otherwise the output has
    /// a line about it.
    fn unanswered(&self, unread: &[UnreadPart], ended: Ended) -> Option<CommandError> {
        let late = unread.iter().filter_map(|part| match part {
            UnreadPart::Late(what) => Some(format!("error: timed out waiting for {what}")),
            UnreadPart::Refused(_) | UnreadPart::Undecided(_) | UnreadPart::Requested(_) => None,
        });
        let late: Vec<String> = late.collect();
        let is_late = !late.is_empty();
        let is_answered = ended == Ended::Answered && !self.has_goal();
        let refused = unread.iter().filter_map(|part| match part {
            UnreadPart::Late(_) => None,
            UnreadPart::Refused(line) => self.exit_code.then(|| line.clone()),
            UnreadPart::Undecided(line) => {
                (self.exit_code || self.needs_judgement()).then(|| line.clone())
            }
            UnreadPart::Requested(line) => {
                let is_error = self.exit_code || self.needs_judgement() || is_answered;
                (is_error || is_late).then(|| line.clone())
            }
        });
        let mut lines: Vec<String> = Vec::new();
        for line in late.into_iter().chain(refused) {
            // A source and its look-back fail with the same message.
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        let lines = cut(lines);
        match &*lines.join("\n") {
            "" if !is_late => None,
            lines if !is_late && (self.exit_code || is_answered) => {
                Some(CommandError::of_cause(lines))
            }
            lines if !is_late => Some(CommandError::of_cause(lines).hint(ALONE)),
            lines => Some(CommandError::failed(lines).hint("use a longer --timeout")),
        }
    }
}

/// kubectl's error of a check without any object.
fn nothing_checked() -> CommandError {
    CommandError::failed("error: no matching resources found")
        .hint("correct the type, the selector or the namespace: nothing was checked")
}

/// The answer to the question of `--exit-code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Nothing changed, or everything is well.
    Nothing,
    /// Something changed or is not well.
    Something,
    /// No object was ever selected, so nothing was checked.
    NoObject,
}

impl From<bool> for Answer {
    fn from(is_found: bool) -> Answer {
        if is_found {
            Answer::Something
        } else {
            Answer::Nothing
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::{ErrorKind, Signal};

    use super::*;

    const LATE: &str = "late";
    const REFUSED: &str = "refused";
    const UNDECIDED: &str = "undecided";

    fn unknown(parts: &[&str]) -> Vec<UnreadPart> {
        let unknown = |part: &&str| match *part {
            LATE => UnreadPart::Late("pods".to_owned()),
            UNDECIDED => UnreadPart::Undecided("error: no".to_owned()),
            _ => UnreadPart::Refused("error: no".to_owned()),
        };
        parts.iter().map(unknown).collect()
    }

    fn args(flags: &[&str]) -> WaitArgs {
        let goals = flags.iter().filter_map(|flag| match *flag {
            "--for" => Some("create".parse().expect("a goal")),
            flag => flag.strip_prefix("--for=")?.parse().ok(),
        });
        WaitArgs {
            goal: GoalArgs {
                goals: goals.collect(),
                ..GoalArgs::default()
            },
            exit_code: flags.contains(&"--exit-code"),
            ..WaitArgs::default()
        }
    }

    /// How a verb with these flags ends, in a word.
    fn ends(flags: &[&str], ended: Ended, (answer, parts): (Answer, &[&str])) -> &'static str {
        match args(flags).conclude(ended, answer, unknown(parts)) {
            Ok(Ended::Answered | Ended::OutOfTime) => "0",
            Ok(Ended::Found) => "found",
            Ok(Ended::By(_)) => "signal",
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Failed);
                "error"
            }
        }
    }

    #[test]
    fn an_unanswered_question_is_an_error() {
        let (nothing, something) = (Answer::Nothing, Answer::Something);
        let no_object = Answer::NoObject;
        let [none, code, goal, both] = [
            &[][..],
            &["--exit-code"],
            &["--for"],
            &["--for", "--exit-code"],
        ];
        // The result, the unread parts, and the end without flags, with --exit-code, with --for, and with both.
        for (found, parts, expect) in [
            (nothing, &[][..], ["0", "0", "0", "0"]),
            (something, &[], ["0", "found", "0", "found"]),
            (no_object, &[], ["0", "error", "0", "0"]),
            (no_object, &[REFUSED], ["0", "error", "0", "error"]),
            (nothing, &[REFUSED], ["0", "error", "0", "error"]),
            (something, &[REFUSED], ["0", "error", "0", "error"]),
            (nothing, &[LATE], ["error"; 4]),
            (something, &[LATE], ["error"; 4]),
            (nothing, &[REFUSED, LATE], ["error"; 4]),
        ] {
            for (flags, expect) in [none, code, goal, both].into_iter().zip(expect) {
                for ended in [Ended::Answered, Ended::OutOfTime] {
                    let told = ends(flags, ended, (found, parts));
                    assert_eq!(told, expect, "{flags:?} {ended:?} {found:?} {parts:?}");
                }
                let stopped = Ended::By(Signal::Interrupt);
                assert_eq!(ends(flags, stopped, (found, parts)), "signal");
            }
        }
    }

    /// A state is not known without what decides it.
    #[test]
    fn a_state_that_was_not_decided_meets_no_goal() {
        for (flags, part, expect) in [
            (&[][..], UNDECIDED, "0"),
            (&["--exit-code"], UNDECIDED, "error"),
            (&["--for"], UNDECIDED, "0"),
            (&["--for=current"], UNDECIDED, "error"),
            (&["--for=current", "--for"], UNDECIDED, "error"),
            (&["--for=current"], REFUSED, "0"),
        ] {
            let end = ends(flags, Ended::Answered, (Answer::Nothing, &[part]));
            assert_eq!(end, expect, "{flags:?} {part}");
        }
    }

    #[test]
    fn a_repeated_refusal_appears_once() {
        let unread = unknown(&[REFUSED, LATE, REFUSED]);
        let ended = args(&["--exit-code"]).conclude(Ended::OutOfTime, Answer::Nothing, unread);
        let error = ended.unwrap_err().to_string();
        assert_eq!(error, "error: timed out waiting for pods\nerror: no");
    }
}
