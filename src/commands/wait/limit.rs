//! `Limit`: the value of `--timeout`, as in kubectl wait.

use std::str::FromStr;
use std::time::Duration;

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
