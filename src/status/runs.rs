//! When a `CronJob` starts its Jobs.

use jiff::{SignedDuration, Timestamp};

use crate::object::Value;

use super::cause::{Cause, CauseRule};
use super::read;
use super::schedule::{Schedule, ScheduleError};
use super::verdict::Verdict;

/// How long after a start the controller may need to create the Job. It looks at each `CronJob` when one is due.
const LATE: SignedDuration = SignedDuration::from_secs(90);

/// How many missed starts are counted.
pub const MAX_MISSED: usize = 100;

/// The first start after the last one; `None` if it is suspended, or if the schedule has no start.
pub fn next_start(job: Value<'_>) -> Option<Timestamp> {
    let next = schedule(job)?.ok()?.next(last_start(job)?)?;
    (!read::flag(job, &["spec", "suspend"])).then_some(next)
}

/// The last start, or when the `CronJob` was created.
fn last_start(job: Value<'_>) -> Option<Timestamp> {
    job.time_at(&["status", "lastScheduleTime"])
        .or_else(|| job.time_at(&["metadata", "creationTimestamp"]))
}

/// How many starts are due, at most [`MAX_MISSED`].
pub fn missed_starts(job: Value<'_>, now: Timestamp) -> usize {
    let Some(Ok(schedule)) = schedule(job) else {
        return 0;
    };
    let starts = std::iter::successors(next_start(job), |start| schedule.next(*start));
    starts
        .take_while(|start| *start <= now)
        .take(MAX_MISSED)
        .count()
}

/// When a start counts as missed; `None` without a schedule. While a run is active, only `concurrencyPolicy: Forbid`
/// skips starts, and a run that is a little too long skips one.
pub(super) fn late_at(job: Value<'_>) -> Option<Timestamp> {
    let next = next_start(job)?;
    let missed = if is_active(job) {
        let policy = job.str_at(&["spec", "concurrencyPolicy"])?;
        (policy == "Forbid").then(|| schedule(job)?.ok()?.next(next))??
    } else {
        next
    };
    missed.checked_add(LATE).ok()
}

/// A `CronJob` that should have started a Job and has not.
pub(super) fn missed_run(job: Value<'_>, now: Timestamp) -> Option<Verdict> {
    late_at(job).filter(|late| *late <= now)?;
    let next = next_start(job)?;
    let text = if is_active(job) {
        format!(
            "no job was started since {next}: the last run is still active (concurrencyPolicy Forbid)"
        )
    } else {
        format!("no job was started at {next}")
    };
    Some(Verdict::in_progress("MissedRun", text).by(CauseRule::MissedRun))
}

/// Why the schedule starts no Job until someone changes it. The controller reports the same in a Warning.
pub(super) fn invalid(job: Value<'_>) -> Option<Cause> {
    let text = |key| read::text_or(job, &["spec", key], "");
    let problem = match schedule(job)? {
        Err(ScheduleError::NoTimeZones) => return None,
        Err(ScheduleError::UnknownTimeZone) => {
            format!("there is no time zone \"{}\"", text("timeZone"))
        }
        Err(ScheduleError::Unparseable) => {
            format!("the schedule \"{}\" does not parse", text("schedule"))
        }
        Ok(schedule) => {
            let from = last_start(job).unwrap_or(Timestamp::UNIX_EPOCH);
            if schedule.next(from).is_some() {
                return None;
            }
            format!(
                "the schedule \"{}\" names no day that exists",
                text("schedule")
            )
        }
    };
    let text = format!("no job is started: {problem}");
    Some(Cause::new(CauseRule::InvalidSchedule, text))
}

fn is_active(job: Value<'_>) -> bool {
    job.items_at(&["status", "active"]).next().is_some()
}

fn schedule(job: Value<'_>) -> Option<Result<Schedule, ScheduleError>> {
    let schedule = job.str_at(&["spec", "schedule"])?;
    let zone = job.str_at(&["spec", "timeZone"]);
    Some(Schedule::parse(&schedule, zone.as_deref()))
}
