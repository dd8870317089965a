//! When a `CronJob` starts its Jobs.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::object::Value;

use super::cause::CauseRule;
use super::read;
use super::schedule::Schedule;
use super::verdict::Verdict;

/// How long after a start the controller may need to create the Job. It looks at each `CronJob` when one is due.
const LATE: SignedDuration = SignedDuration::from_secs(90);

/// How many missed starts are counted.
pub const MAX_MISSED: usize = 100;

/// The first start after the last one; `None` if it is suspended, or if the schedule is not understood.
pub fn next_start(job: Value<'_>) -> Option<Timestamp> {
    let from = job
        .time_at(&["status", "lastScheduleTime"])
        .or_else(|| job.time_at(&["metadata", "creationTimestamp"]))?;
    let next = schedule(job)?.next(from, &zone(job)?)?;
    (!read::flag(job, &["spec", "suspend"])).then_some(next)
}

/// How many starts are due, at most [`MAX_MISSED`].
pub fn missed_starts(job: Value<'_>, now: Timestamp) -> usize {
    let (Some(schedule), Some(zone)) = (schedule(job), zone(job)) else {
        return 0;
    };
    let starts = std::iter::successors(next_start(job), |start| schedule.next(*start, &zone));
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
        (policy == "Forbid").then(|| schedule(job)?.next(next, &zone(job)?))??
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

fn is_active(job: Value<'_>) -> bool {
    job.items_at(&["status", "active"]).next().is_some()
}

fn schedule(job: Value<'_>) -> Option<Schedule> {
    Schedule::parse(&job.str_at(&["spec", "schedule"])?)
}

/// The time zone of the schedule. Without one, the controller uses its own zone, which is usually UTC.
fn zone(job: Value<'_>) -> Option<TimeZone> {
    match job.str_at(&["spec", "timeZone"]) {
        None => Some(TimeZone::UTC),
        Some(name) => TimeZone::get(&name).ok(),
    }
}
