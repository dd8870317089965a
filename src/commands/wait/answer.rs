//! The exit code of a verb: its answer, or an error if it has none, and how long it waits.

use std::str::FromStr;
use std::time::Duration;

use super::WaitArgs;
use super::waiting::cut;
use crate::commands::{CommandError, Ended, FileArgs, ObjectArgs, Subject, UnreadPart};
use crate::object::parse_duration;

/// How to wait without the dependents that the user may not read.
const ALONE: &str =
    "to wait for the object alone, use a condition, such as --for=condition=Available";

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

impl WaitArgs {
    /// How a verb with this answer ends. There is no answer if any part is unread.
    pub(crate) fn conclude(
        &self,
        ended: Ended,
        answer: Answer,
        unread: impl IntoIterator<Item = UnreadPart>,
    ) -> Result<Ended, CommandError> {
        let mut parts = Vec::new();
        for part in unread {
            // A source and its look-back fail with the same message.
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        match (ended, answer) {
            (Ended::By(_), _) => Ok(ended),
            _ if !parts.is_empty() => self.unanswered(&parts).map_or(Ok(ended), Err),
            (_, Answer::Something) if self.exit_code => Ok(Ended::Found),
            // With a goal, the wait has decided.
            (_, Answer::NoObject) if self.asks_for_answer() => Err(nothing_checked()),
            (_, Answer::Something | Answer::Nothing | Answer::NoObject) => Ok(ended),
        }
    }

    /// The error of a question without an answer.
    ///
    /// A time limit that was too short is always an error. A refused part is an error with `--exit-code`, and with a goal that
    /// it decides; otherwise the output has a line about it.
    fn unanswered(&self, unread: &[UnreadPart]) -> Option<CommandError> {
        let late = unread.iter().filter_map(|part| match part {
            UnreadPart::Late(what) => Some(format!("error: timed out waiting for {what}")),
            UnreadPart::Refused(_) | UnreadPart::Undecided(_) => None,
        });
        let refused = unread.iter().filter_map(|part| match part {
            UnreadPart::Refused(line) | UnreadPart::Undecided(line) if self.exit_code => {
                Some(line.clone())
            }
            UnreadPart::Undecided(line) if self.needs_judgement() => Some(line.clone()),
            UnreadPart::Refused(_) | UnreadPart::Undecided(_) | UnreadPart::Late(_) => None,
        });
        let late: Vec<String> = late.collect();
        let is_late = !late.is_empty();
        let lines = cut(late.into_iter().chain(refused).collect());
        match &*lines.join("\n") {
            "" if !is_late => None,
            lines if !is_late && self.exit_code => Some(CommandError::failed(lines)),
            lines if !is_late => Some(CommandError::failed(lines).hint(ALONE)),
            lines => Some(
                self.too_slow(lines.to_owned())
                    .hint("use a longer --timeout"),
            ),
        }
    }

    /// The error of a time limit that was too short.
    pub(super) fn too_slow(&self, lines: String) -> CommandError {
        if self.has_goal() {
            CommandError::goal_unmet(lines)
        } else {
            CommandError::failed(lines)
        }
    }
}

/// kubectl's error of a check without any object.
fn nothing_checked() -> CommandError {
    CommandError::failed("error: no matching resources found")
        .hint("correct the type, the selector or the namespace: nothing was checked")
}

/// The time limit of a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// `0`: check once.
    Once,
    /// Exit after this duration.
    After(Duration),
    /// A negative duration: no limit. (kubectl waits for a week.)
    Never,
}

/// The error of a text that is not a duration, with the message of Go's parser.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum LimitError {
    /// A bare number.
    #[error("time: missing unit in duration {0:?}")]
    Unit(String),
    /// Anything else.
    #[error("time: invalid duration {0:?}")]
    Invalid(String),
}

impl FromStr for Limit {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Limit, LimitError> {
        let (sign, amount) = match text.strip_prefix(['-', '+']) {
            Some(amount) => text.split_at(text.len() - amount.len()),
            None => ("", text),
        };
        if amount != "0" && amount.parse::<f64>().is_ok() {
            return Err(LimitError::Unit(text.to_owned()));
        }
        match parse_duration(amount) {
            None => Err(LimitError::Invalid(text.to_owned())),
            Some(Duration::ZERO) => Ok(Limit::Once),
            Some(_) if sign == "-" => Ok(Limit::Never),
            Some(limit) => Ok(Limit::After(limit)),
        }
    }
}

/// What a verb waits for before it can show anything.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Awaited<'a> {
    /// The input of `--from`.
    Input(&'a str),
    /// The connection to the server.
    Server,
    /// The manifests of `-f` or `-k`, and the types of their objects.
    Manifests,
    /// The types of the objects.
    Types,
    /// The objects that selectors match.
    Objects,
}

impl<'a> Awaited<'a> {
    /// What opening a session waits for.
    pub(crate) fn session(source: &'a FileArgs) -> Awaited<'a> {
        let first = source.from.first();
        first.map_or(Awaited::Server, |path| Awaited::Input(path))
    }

    /// What resolving these arguments waits for.
    pub(crate) fn targets(args: &ObjectArgs) -> Awaited<'static> {
        match args.subject() {
            Subject::Manifests => Awaited::Manifests,
            Subject::Releases | Subject::Words | Subject::Unnamed => Awaited::Types,
        }
    }

    /// The error of a wait that took too long; `error` makes it of its message.
    pub(super) fn late(self, error: impl FnOnce(String) -> CommandError) -> CommandError {
        let (what, hint) = match self {
            Awaited::Input("-") => ("standard input", WRITER),
            Awaited::Input(path) => (path, WRITER),
            Awaited::Manifests => ("the manifests and the types of their objects", WRITER),
            Awaited::Server => ("the server", SERVER),
            Awaited::Types => ("the server's list of types", SERVER),
            Awaited::Objects => ("the server's list of objects", SERVER),
        };
        error(format!("error: timed out waiting for {what}")).hint(hint)
    }
}

const WRITER: &str = "check the command that writes the input, or use a longer --timeout";
const SERVER: &str = "check that the server answers: kubectl get --raw /readyz";

#[cfg(test)]
mod tests {
    use crate::commands::wait::GoalArgs;
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
            Err(error) if error.kind() == ErrorKind::GoalUnmet => "unmet",
            Err(_) => "error",
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
            (nothing, &[LATE], ["error", "error", "unmet", "unmet"]),
            (something, &[LATE], ["error", "error", "unmet", "unmet"]),
            (
                nothing,
                &[REFUSED, LATE],
                ["error", "error", "unmet", "unmet"],
            ),
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

    #[test]
    fn limits_are_read_as_go_reads_durations() {
        let after = |millis| Ok(Limit::After(Duration::from_millis(millis)));
        let unit = |text: &str| Err(LimitError::Unit(text.to_owned()));
        let invalid = |text: &str| Err(LimitError::Invalid(text.to_owned()));
        for (text, expect) in [
            ("30s", after(30_000)),
            ("+1m30s", after(90_000)),
            ("1.5h", after(5_400_000)),
            ("250ms", after(250)),
            ("0", Ok(Limit::Once)),
            ("-0", Ok(Limit::Once)),
            ("0s", Ok(Limit::Once)),
            ("-1s", Ok(Limit::Never)),
            ("30", unit("30")),
            ("-1", unit("-1")),
            ("1.5", unit("1.5")),
            ("", invalid("")),
            ("-", invalid("-")),
            ("--1s", invalid("--1s")),
            ("1d", invalid("1d")),
            ("soon", invalid("soon")),
        ] {
            assert_eq!(text.parse::<Limit>(), expect, "{text}");
        }
        let error = "30".parse::<Limit>().unwrap_err().to_string();
        assert_eq!(error, "time: missing unit in duration \"30\"");
    }
}
