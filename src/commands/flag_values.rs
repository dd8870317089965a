//! The values of flags: times in the past, durations and numbers. Why a text is none is said in kubectl's words.

use std::num::{IntErrorKind, ParseIntError};
use std::str::FromStr;

use jiff::{SignedDuration, Timestamp};

/// A time in the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeOrAge {
    /// This long ago.
    Ago(SignedDuration),
    /// This time.
    At(Timestamp),
}

impl TimeOrAge {
    /// Parses `10m`, `1h30m`, `1d` or `2026-11-22T09:00:00Z`. Fails for a number without a unit.
    pub(crate) fn parse(text: &str) -> Result<TimeOrAge, String> {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if is_number && text.bytes().any(|byte| byte != b'0') {
            return Err(format!("add a unit: {text}s or {text}m"));
        }
        if let Ok(time) = text.parse::<Timestamp>() {
            return Ok(TimeOrAge::At(time));
        }
        match duration_with_days(text) {
            Some(ago) if ago.is_positive() => Ok(TimeOrAge::Ago(ago)),
            Some(_) | None if text.contains(':') => {
                Err("a time needs a date and a zone: 2026-11-22T09:00:00Z".to_owned())
            }
            Some(_) | None => Err(
                "expected a duration (90s, 10m, 1h30m, 1d) or a time (2026-11-22T09:00:00Z)"
                    .to_owned(),
            ),
        }
    }

    /// The time, seen from `now`.
    pub(crate) fn seen_from(self, now: Timestamp) -> Timestamp {
        match self {
            TimeOrAge::Ago(ago) => now.checked_sub(ago).unwrap_or(Timestamp::MIN),
            TimeOrAge::At(time) => time,
        }
    }
}

/// A duration, in which the first unit may be days of 24 hours. `09:00:00` is a time of day, and not nine hours.
pub(crate) fn duration_with_days(text: &str) -> Option<SignedDuration> {
    if text.contains(':') {
        return None;
    }
    let days = text.split_once('d').and_then(|(days, rest)| {
        let days: i64 = days.parse().ok()?;
        let rest = match rest {
            "" => SignedDuration::ZERO,
            rest => rest.parse().ok()?,
        };
        SignedDuration::try_from_hours(days.checked_mul(24)?)?.checked_add(rest)
    });
    days.or_else(|| text.parse().ok())
}

/// What the words of Go begin with.
pub(crate) const GO: &str = "strconv.ParseInt: ";

/// Parses a number above zero.
pub(crate) fn above_zero<T>(text: &str) -> Result<T, String>
where
    T: FromStr<Err = ParseIntError> + Default + PartialEq,
{
    match text.parse() {
        Ok(number) if number != T::default() => Ok(number),
        Err(error) if !is_negative(text) => Err(number_refusal(text, &error)),
        Ok(_) | Err(_) => Err("must be greater than 0".to_owned()),
    }
}

/// Why a text is no number of a flag. Most words are those of Go, which kubectl passes on.
pub(crate) fn number_refusal(text: &str, error: &ParseIntError) -> String {
    match error.kind() {
        IntErrorKind::Zero => "must be greater than 0".to_owned(),
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => {
            format!("{GO}parsing {text:?}: value out of range")
        }
        _ if is_negative(text) => "must not be negative".to_owned(),
        _ => format!("{GO}parsing {text:?}: invalid syntax"),
    }
}

fn is_negative(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_past_time_is_a_time_or_a_duration_with_a_unit() {
        const NO_DATE: &str = "a time needs a date and a zone: 2026-11-22T09:00:00Z";
        let now: Timestamp = "2026-03-02T12:00:00Z".parse().expect("a time");
        for (text, expect) in [
            ("90s", "2026-03-02T11:58:30Z"),
            ("1h30m", "2026-03-02T10:30:00Z"),
            ("1d", "2026-03-01T12:00:00Z"),
            ("1d12h", "2026-03-01T00:00:00Z"),
            ("2026-03-01T09:00:00+01:00", "2026-03-01T08:00:00Z"),
            ("999999999h", "-009999-01-02T01:59:59Z"),
            ("10", "add a unit: 10s or 10m"),
            ("09:00:00", NO_DATE),
            ("1d 09:00:00", NO_DATE),
            ("-09:00:00", NO_DATE),
            ("2026-03-01T09:00:00", NO_DATE),
        ] {
            let past = TimeOrAge::parse(text).map(|past| past.seen_from(now).to_string());
            assert_eq!(past.unwrap_or_else(|error| error), expect, "{text}");
        }
        let zero = TimeOrAge::parse("0").expect_err("no time");
        assert!(zero.starts_with("expected a duration"), "{zero}");
        for text in ["", "0s", "-3m", "soon", "d", "3 minutes ago"] {
            assert!(TimeOrAge::parse(text).is_err(), "{text}");
        }
    }
}
