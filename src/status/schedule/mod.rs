//! `Schedule`: the schedule of a `CronJob`, as its controller reads it with robfig/cron
//! (<https://pkg.go.dev/github.com/robfig/cron/v3>).

mod field;
mod search;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::object::parse_duration;

use field::Fields;
use search::ScheduleSearch;

/// When a `CronJob` starts its Jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Schedule {
    starts: Starts,
    /// The time zone that the schedule or the `CronJob` names; `None` for that of the controller.
    zone: Option<TimeZone>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Starts {
    /// At the minutes that match.
    At(Fields),
    /// This long after the start before.
    Every(SignedDuration),
}

/// Why a schedule has no starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScheduleError {
    /// The controller does not know the time zone of the `CronJob`.
    UnknownTimeZone,
    /// This machine has no database of time zones.
    NoTimeZones,
    /// The schedule does not parse.
    Unparseable,
}

impl Schedule {
    /// Parses the schedule and the time zone of a `CronJob`. The schedule has five fields, or is a name such as `@daily`
    /// or `@every 1h`. An undocumented prefix (`TZ=Asia/Tokyo 0 3 * * *`) replaces the time zone.
    pub(super) fn parse(text: &str, zone: Option<&str>) -> Result<Schedule, ScheduleError> {
        let zone = zone.map(load_zone).transpose()?;
        // What the controller does. Only a schedule with a zone is trimmed.
        let (text, zone) = match zone {
            Some(zone) if !text.contains("TZ") => (text.trim(), Some(zone)),
            _ => split_zone(text)?,
        };
        let starts = Starts::parse(text).ok_or(ScheduleError::Unparseable)?;
        Ok(Schedule { starts, zone })
    }

    /// The first start after a time; `None` if there is none within five years. The controller then gives up.
    pub(super) fn next(&self, after: Timestamp) -> Option<Timestamp> {
        match &self.starts {
            Starts::At(fields) => {
                let zone = self.zone.clone().unwrap_or(TimeZone::UTC);
                ScheduleSearch::after(after, zone)?.run(fields)
            }
            Starts::Every(delay) => {
                let second = Timestamp::from_second(after.as_millisecond().div_euclid(1000));
                second.ok()?.checked_add(*delay).ok()
            }
        }
    }
}

/// Splits `TZ=ZONE` or `CRON_TZ=ZONE` from a schedule.
fn split_zone(text: &str) -> Result<(&str, Option<TimeZone>), ScheduleError> {
    let prefixed = text
        .strip_prefix("TZ=")
        .or_else(|| text.strip_prefix("CRON_TZ="));
    let Some(prefixed) = prefixed else {
        return Ok((text, None));
    };
    let split = prefixed.split_once(' ');
    let (zone, text) = split.ok_or(ScheduleError::Unparseable)?;
    let zone = load_zone(zone).map_err(|error| match error {
        ScheduleError::UnknownTimeZone => ScheduleError::Unparseable,
        error => error,
    })?;
    Ok((text.trim(), Some(zone)))
}

/// The time zone that Go finds by a name.
fn load_zone(name: &str) -> Result<TimeZone, ScheduleError> {
    if let "" | "UTC" = name {
        return Ok(TimeZone::UTC);
    }
    let zone = TimeZone::get(name).ok();
    // Go finds zones by the names of files, so case matters.
    match zone.filter(|zone| zone.iana_name() == Some(name)) {
        Some(zone) => Ok(zone),
        None if jiff::tz::db().is_definitively_empty() => Err(ScheduleError::NoTimeZones),
        None => Err(ScheduleError::UnknownTimeZone),
    }
}

impl Starts {
    fn parse(text: &str) -> Option<Starts> {
        let fields = match text {
            "@yearly" | "@annually" => "0 0 1 1 *",
            "@monthly" => "0 0 1 * *",
            "@weekly" => "0 0 * * 0",
            "@daily" | "@midnight" => "0 0 * * *",
            "@hourly" => "0 * * * *",
            text => match text.strip_prefix("@every ") {
                Some(delay) => return delay_of(delay).map(Starts::Every),
                None => text,
            },
        };
        Fields::parse(fields).map(Starts::At)
    }
}

/// A duration of at least a second, in whole seconds.
fn delay_of(text: &str) -> Option<SignedDuration> {
    let (is_negative, text) = match text.strip_prefix('-') {
        Some(text) => (true, text),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let delay = parse_duration(text)?;
    // Go counts nanoseconds in 64 bits.
    let nanos = i64::try_from(delay.as_nanos()).ok()?;
    let seconds = if is_negative {
        0
    } else {
        nanos / 1_000_000_000
    };
    Some(SignedDuration::from_secs(seconds.max(1)))
}

#[cfg(test)]
mod tests;
