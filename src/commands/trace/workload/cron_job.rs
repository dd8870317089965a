//! A `CronJob`: its runs are Jobs, which it starts by a schedule.

use std::cmp::Reverse;

use jiff::Timestamp;

use crate::commands::trace::headline::Headline;
use crate::commands::trace::traced::Traced;
use crate::graph::Standing;
use crate::object::{PodCounts, Uid, Value};
use crate::render::age;
use crate::render::count::counted;
use crate::status::{Assessment, MAX_MISSED, Status, missed_starts, next_start};

use super::loaded::unread_text;
use super::phase::{PhaseName, PhaseProgress, RolloutPhase};
use super::pod_group::{PodGroup, number};
use super::rollout::{RolloutSnapshot, WorkloadKind};

/// The kind `batch/CronJob`.
pub(super) struct CronJob;

impl WorkloadKind for CronJob {
    fn group_kind(&self) -> &'static str {
        "Job"
    }

    fn column(&self) -> &'static str {
        "Job"
    }

    fn groups_own_pods(&self) -> bool {
        true
    }

    fn counts(&self, object: Value<'_>) -> PodCounts {
        PodCounts {
            there: number(object.items_at(&["status", "active"]).count()),
            ..PodCounts::default()
        }
    }

    /// Its Jobs, the newest first.
    fn groups<'a>(&self, traced: &'a Traced, uid: &Uid) -> Vec<PodGroup<'a>> {
        let mut jobs = traced.graph().children(uid);
        jobs.retain(|job| &*job.object.kind == "Job");
        jobs.sort_by_key(|job| Reverse(job.created));
        let jobs = jobs.into_iter().enumerate().map(|(at, job)| {
            let standing = match at {
                0 => Standing::Current,
                _ => Standing::Old,
            };
            PodGroup::owned(traced, job, standing)
        });
        jobs.collect()
    }

    fn facts(&self, object: Value<'_>) -> Vec<String> {
        let text = |key: &str| object.str_at(&["spec", key]);
        let mut facts = vec![text("schedule").unwrap_or_default().into_owned()];
        facts.extend(text("timeZone").map(Into::into));
        let policy = text("concurrencyPolicy").filter(|policy| policy != "Allow");
        facts.extend(policy.map(|policy| format!("concurrency {policy}")));
        let deadline = object.i64_at(&["spec", "startingDeadlineSeconds"]);
        facts.extend(deadline.map(|seconds| format!("starting deadline {seconds}s")));
        facts
    }

    fn phases(&self, rollout: &RolloutSnapshot<'_>, _: i64) -> Vec<RolloutPhase> {
        vec![last_run(rollout), next_run(rollout)]
    }

    fn is_complete(&self, _: &RolloutSnapshot<'_>) -> bool {
        false
    }

    fn headline(&self, rollout: &RolloutSnapshot<'_>, status: Status) -> Headline {
        let headline = |stage: String| Headline::new(status, stage);
        let active = rollout.counts.there;
        let last = rollout.current().map(|job| job.status);
        let last = last.filter(|last| *last == Status::Failed && active == 0);
        let last = last.map_or("", |_| "; the last run failed");
        if rollout.is_suspended() {
            return headline(format!("suspended{last}"));
        }
        if active > 0 {
            return headline("running".to_owned()).at(counted(active, "active job", "active jobs"));
        }
        match rollout.object().time_at(&["status", "lastScheduleTime"]) {
            None => headline(format!("not started by its schedule yet{last}")),
            Some(_) => headline(format!("waits for its next start{last}")),
        }
    }

    fn reports_generation(&self) -> bool {
        false
    }

    /// The next start, or how many starts were missed.
    fn countdown(&self, rollout: &RolloutSnapshot<'_>, now: Timestamp) -> String {
        let Some(due) = next_start(rollout.object(), now) else {
            return String::new();
        };
        if due > now {
            return format!("next start in {}", age::human(due.duration_since(now)));
        }
        let missed = missed_starts(rollout.object(), now);
        let more = if missed == MAX_MISSED {
            "at least "
        } else {
            ""
        };
        let since = age::age(due, now);
        format!(
            "{more}{} due, for {since}",
            counted(missed, "start is", "starts are")
        )
    }
}

fn last_run(rollout: &RolloutSnapshot<'_>) -> RolloutPhase {
    let phase = |progress, text: String| RolloutPhase::new(PhaseName::LastRun, progress, text);
    let object = rollout.object();
    let Some(job) = rollout.current() else {
        return match object.time_at(&["status", "lastScheduleTime"]) {
            _ if !rollout.knows_owners() => {
                RolloutPhase::unread(PhaseName::LastRun, &unread_text("Job"))
            }
            None => phase(PhaseProgress::Waiting, "none yet".to_owned()),
            Some(time) => phase(PhaseProgress::Done, "its job is gone".to_owned()).at(Some(time)),
        };
    };
    let assessment = job
        .object
        .and_then(|job| rollout.traced.assessment(&job.uid));
    let word = assessment.map_or("", |assessment: &Assessment| &assessment.row.word);
    let text = format!("{} {word}", job.title());
    match job.status {
        Status::Current => phase(PhaseProgress::Done, text).at(job.created()),
        Status::Failed => {
            let cause = assessment.and_then(|assessment| assessment.causes.first());
            phase(PhaseProgress::Underway, text).failed_by(cause)
        }
        Status::InProgress | Status::Terminating => phase(PhaseProgress::Underway, text),
        Status::NotFound | Status::Unknown => phase(PhaseProgress::Unknown, text),
    }
}

fn next_run(rollout: &RolloutSnapshot<'_>) -> RolloutPhase {
    let text = match next_start(rollout.object(), rollout.traced.judged_at) {
        _ if rollout.is_suspended() => "suspended".to_owned(),
        Some(due) => age::rfc3339(due),
        None => String::new(),
    };
    RolloutPhase::new(PhaseName::NextRun, PhaseProgress::Waiting, text)
}
