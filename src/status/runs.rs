//! When a `CronJob` starts its Jobs.

use jiff::{SignedDuration, Timestamp};

use crate::object::Value;

use super::cause::Cause;
use super::cause_rule::CauseRule;
use super::read;
use super::schedule::{Schedule, ScheduleError};
use super::verdict::Verdict;

/// How long after a start the controller may need to create the Job. It looks at each `CronJob` when one is due.
const LATE: SignedDuration = SignedDuration::from_secs(90);

/// How many missed starts are counted.
pub const MAX_MISSED: usize = 100;

/// The first start that the controller has not made and can still make at `now`. The controller skips a start after
/// `startingDeadlineSeconds`. `None` if the `CronJob` is suspended, or if the schedule has no start.
pub fn next_start(job: Value<'_>, now: Timestamp) -> Option<Timestamp> {
    let last = last_start(job)?;
    let skipped = deadline(job).and_then(|deadline| now.checked_sub(deadline).ok());
    start_after(job, skipped.map_or(last, |skipped| last.max(skipped)))
}

/// The first start after a time; `None` if it is suspended, or if the schedule has no start.
fn start_after(job: Value<'_>, time: Timestamp) -> Option<Timestamp> {
    let next = schedule(job)?.ok()?.next(time)?;
    (!read::flag(job, &["spec", "suspend"])).then_some(next)
}

/// How long after its time the controller still makes a start; `None` without a limit.
fn deadline(job: Value<'_>) -> Option<SignedDuration> {
    let seconds = job.i64_at(&["spec", "startingDeadlineSeconds"])?;
    Some(SignedDuration::from_secs(seconds))
}

/// The last start, or when the `CronJob` was created.
fn last_start(job: Value<'_>) -> Option<Timestamp> {
    job.time_at(&["status", "lastScheduleTime"])
        .or_else(|| job.time_at(&["metadata", "creationTimestamp"]))
}

/// How many starts are due and can still be made, at most [`MAX_MISSED`].
pub fn missed_starts(job: Value<'_>, now: Timestamp) -> usize {
    let Some(Ok(schedule)) = schedule(job) else {
        return 0;
    };
    let starts = std::iter::successors(next_start(job, now), |start| schedule.next(*start));
    starts
        .take_while(|start| *start <= now)
        .take(MAX_MISSED)
        .count()
}

/// Since when starts are due that the active run holds back, by `concurrencyPolicy: Forbid`. The controller makes at most
/// one of them, after that run. `None` if none is due.
pub fn held_since(job: Value<'_>, now: Timestamp) -> Option<Timestamp> {
    let is_held = is_active(job) && forbids_overlap(job);
    next_start(job, now).filter(|start| is_held && *start <= now)
}

fn forbids_overlap(job: Value<'_>) -> bool {
    job.str_at(&["spec", "concurrencyPolicy"]).as_deref() == Some("Forbid")
}

/// When the result of [`missed_run`] may change: the next start is late, or it can no longer be made.
pub(super) fn moments(job: Value<'_>, now: Timestamp) -> Vec<Timestamp> {
    if is_active(job) {
        return second_start(job).and_then(late_at).into_iter().collect();
    }
    let Some(next) = next_start(job, now) else {
        return Vec::new();
    };
    let skipped = deadline(job).and_then(|deadline| next.checked_add(deadline).ok());
    late_at(next).into_iter().chain(skipped).collect()
}

/// The second start after the last one, if an active run prevents it. Only `concurrencyPolicy: Forbid` skips starts
/// while a run is active, and a run that is a little too long skips one.
fn second_start(job: Value<'_>) -> Option<Timestamp> {
    let first = start_after(job, last_start(job)?)?;
    forbids_overlap(job).then(|| start_after(job, first))?
}

fn late_at(start: Timestamp) -> Option<Timestamp> {
    start.checked_add(LATE).ok()
}

/// A `CronJob` that should have started a Job and has not. A start that can no longer be made is not late: nothing will
/// ever make it. But an active run that prevents starts still does so.
pub(super) fn missed_run(job: Value<'_>, now: Timestamp) -> Option<Verdict> {
    let is_late = |start| late_at(start).is_some_and(|late| late <= now);
    let text = if is_active(job) {
        second_start(job).filter(|start| is_late(*start))?;
        let first = start_after(job, last_start(job)?)?;
        format!(
            "no job was started since {first}: the last run is still active (concurrencyPolicy Forbid)"
        )
    } else {
        let next = next_start(job, now).filter(|start| is_late(*start))?;
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
