//! `Limit`: the time limit of a verb, and what it may wait for too long (`Awaited`).

use std::str::FromStr;
use std::time::Duration;

use crate::commands::{CommandError, FileArgs, ObjectArgs, Subject};
use crate::object::parse_duration;

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

    /// The error of a wait that took too long.
    pub(super) fn late(self) -> CommandError {
        let (what, hint) = match self {
            Awaited::Input("-") => ("standard input", WRITER),
            Awaited::Input(path) => (path, WRITER),
            Awaited::Manifests => ("the manifests and the types of their objects", WRITER),
            Awaited::Server => ("the server", SERVER),
            Awaited::Types => ("the server's list of types", SERVER),
            Awaited::Objects => ("the server's list of objects", SERVER),
        };
        CommandError::failed(format!("error: timed out waiting for {what}")).hint(hint)
    }
}

const WRITER: &str = "check the command that writes the input, or use a longer --timeout";

/// How to find out why nothing came from a server.
pub(super) const SERVER: &str = "check that the server answers: kubectl get --raw /readyz";

#[cfg(test)]
mod tests {
    use super::*;

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
