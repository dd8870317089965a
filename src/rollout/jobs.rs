//! The runs of a Job, and of a `CronJob` by its schedule.

use std::cmp::Reverse;

use jiff::{SignedDuration, Timestamp};

use crate::graph::Standing;
use crate::model::Model;
use crate::object::{PodCounts, StatusCondition, Uid, Value, counted, job_manager};
use crate::status::{Assessment, CauseRule, Status, held_since, missed_starts, next_start};

use super::phase::{PhaseFailure, PhaseName, PhaseProgress, RolloutPhase};
use super::phases;
use super::pods::{PodGroup, PodStep, number, pods_of};
use super::snapshot::{RolloutDue, RolloutSnapshot, WorkloadKind, count, spec, unread_text};
use super::stage::{RolloutStage, failing};

/// The kind `batch/Job`.
pub(super) struct Job;

impl WorkloadKind for Job {
    fn group_kind(&self) -> &'static str {
        ""
    }

    /// Without `completions`, one succeeded Pod ends the run.
    fn counts(&self, object: Value<'_>) -> PodCounts {
        let wanted = spec(object, "completions", 1);
        let succeeded = count(object, "succeeded");
        PodCounts {
            wanted,
            goal: wanted,
            there: count(object, "active"),
            updated: succeeded,
            ready: count(object, "ready"),
            available: succeeded,
        }
    }

    fn groups<'a>(&self, model: &'a Model, uid: &Uid) -> Vec<PodGroup<'a>> {
        let pods = pods_of(model.graph(), uid);
        vec![PodGroup::of_pods(model, pods)]
    }

    fn facts(&self, object: Value<'_>) -> Vec<String> {
        let mut facts = vec![self.amount(spec(object, "completions", 1))];
        let number = |key: &str| Some(format!("{key} {}", object.i64_at(&["spec", key])?));
        let limits = ["parallelism", "backoffLimit", "backoffLimitPerIndex"];
        facts.extend(limits.into_iter().filter_map(number));
        let mode = object.str_at(&["spec", "completionMode"]);
        facts.extend(mode.filter(|mode| mode == "Indexed").map(Into::into));
        facts
    }

    fn phases(&self, rollout: &RolloutSnapshot<'_>, _: i64) -> Vec<RolloutPhase> {
        let mut phases = vec![started(rollout)];
        let pods = phases::pods(rollout);
        let all = number(pods.len());
        phases.extend(match rollout.pods_unread() {
            Some(text) => vec![
                RolloutPhase::unread(PhaseName::Scheduled, &text),
                RolloutPhase::unread(PhaseName::Images, &text),
            ],
            None if all == 0 => Vec::new(),
            None => vec![phases::scheduled(&pods, all), phases::images(&pods, all)],
        });
        let (n, wanted) = (rollout.counts.available, rollout.counts.wanted);
        let progress = match PhaseProgress::of(n, wanted) {
            PhaseProgress::Waiting if rollout.counts.there > 0 => PhaseProgress::Underway,
            progress => progress,
        };
        let succeeded = RolloutPhase::new(PhaseName::Succeeded, progress, numbers(rollout));
        // A Pod that has ended is replaced, within the limit.
        let running: Vec<_> = pods.into_iter().filter(|pod| !pod.pod.has_ended).collect();
        phases.push(phases::with_trouble(succeeded, &running, PodStep::Running));
        phases.push(complete(rollout));
        phases
    }

    fn is_complete(&self, rollout: &RolloutSnapshot<'_>) -> bool {
        has_ended(rollout, "Complete").is_some()
    }

    fn stage(&self, rollout: &RolloutSnapshot<'_>) -> RolloutStage {
        let stage = |name: &str| RolloutStage::new(name).at(numbers(rollout));
        if self.is_complete(rollout) {
            stage("complete")
        } else if has_ended(rollout, "Failed").is_some() {
            stage("failed")
        } else if rollout.is_suspended() {
            stage("suspended")
        } else if start(rollout).is_none() {
            RolloutStage::new(format!("to be started {}", by_controller(rollout)))
        } else {
            let failing = failing(rollout);
            RolloutStage::new("running").at(format!("{}{failing}", numbers(rollout)))
        }
    }

    /// The Job fails this long after its start.
    fn due(&self, rollout: &RolloutSnapshot<'_>, _: Timestamp) -> Option<RolloutDue> {
        let seconds = rollout
            .object()
            .i64_at(&["spec", "activeDeadlineSeconds"])?;
        let is_over = ["Complete", "Failed"].map(|kind| has_ended(rollout, kind).is_some());
        let start =
            start(rollout).filter(|_| !is_over.contains(&true) && !rollout.is_suspended())?;
        let end = start.checked_add(SignedDuration::from_secs(seconds)).ok()?;
        Some(RolloutDue::Deadline(end))
    }

    fn reports_generation(&self) -> bool {
        false
    }

    fn limits(&self, rollout: &RolloutSnapshot<'_>) -> Vec<String> {
        let indexes = rollout.object().text_at(&["status", "failedIndexes"]);
        let line = indexes.map(|indexes| format!("failed indexes: {indexes}"));
        line.into_iter().collect()
    }

    fn amount(&self, count: i64) -> String {
        counted(count, "completion", "completions")
    }
}

fn start(rollout: &RolloutSnapshot<'_>) -> Option<Timestamp> {
    rollout.object().time_at(&["status", "startTime"])
}

/// The condition that ends the run: `Complete` or `Failed`.
fn has_ended<'r>(rollout: &'r RolloutSnapshot<'_>, kind: &str) -> Option<StatusCondition<'r>> {
    let condition = rollout.condition(kind);
    condition.filter(|condition| condition.status == "True")
}

fn started(rollout: &RolloutSnapshot<'_>) -> RolloutPhase {
    let phase = |progress, text: &str| RolloutPhase::new(PhaseName::Started, progress, text);
    match start(rollout) {
        _ if rollout.is_suspended() => phase(PhaseProgress::Waiting, "suspended"),
        None => {
            let text = format!("to be started {}", by_controller(rollout));
            phase(PhaseProgress::Waiting, &text)
        }
        time => phase(PhaseProgress::Done, &by_controller(rollout)).at(time),
    }
}

/// `by the controller`, or the name of the one that `managedBy` names.
fn by_controller(rollout: &RolloutSnapshot<'_>) -> String {
    match job_manager(rollout.object()) {
        Some(manager) => format!("by {manager} (managedBy)"),
        None => "by the controller".to_owned(),
    }
}

fn complete(rollout: &RolloutSnapshot<'_>) -> RolloutPhase {
    let phase = |progress, text: &str| RolloutPhase::new(PhaseName::Complete, progress, text);
    if let Some(condition) = has_ended(rollout, "Complete") {
        let time = rollout.object().time_at(&["status", "completionTime"]);
        let time = time.or_else(|| condition.since());
        let text = rollout.kind.amount(rollout.counts.wanted);
        return phase(PhaseProgress::Done, &text).at(time);
    }
    match has_ended(rollout, "Failed") {
        Some(condition) => {
            phase(PhaseProgress::Waiting, &condition.reason).failed(PhaseFailure::of(&condition))
        }
        None => phase(PhaseProgress::Waiting, ""),
    }
}

/// `1/3 succeeded, 2 active, 1 failed of at most 7`.
fn numbers(rollout: &RolloutSnapshot<'_>) -> String {
    let object = rollout.object();
    let counts = rollout.counts;
    let active = match counts.there {
        0 => String::new(),
        active => format!(", {active} active"),
    };
    let limit = object
        .i64_at(&["spec", "backoffLimit"])
        .filter(|limit| *limit < i64::from(i32::MAX));
    let failed = match (count(object, "failed"), limit) {
        (0, _) => String::new(),
        (failed, Some(limit)) => format!(", {failed} failed, backoffLimit {limit}"),
        (failed, None) => format!(", {failed} failed"),
    };
    let indexes = object.text_at(&["status", "completedIndexes"]);
    let indexes = indexes.map(|indexes| format!(" (indexes {indexes})"));
    format!(
        "{}/{} succeeded{}{active}{failed}",
        counts.available,
        counts.wanted,
        indexes.unwrap_or_default()
    )
}

/// The kind `batch/CronJob`.
pub(super) struct CronJob;

impl WorkloadKind for CronJob {
    fn group_kind(&self) -> &'static str {
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
    fn groups<'a>(&self, model: &'a Model, uid: &Uid) -> Vec<PodGroup<'a>> {
        let mut jobs = model.graph().children(uid);
        jobs.retain(|job| &*job.object.kind == "Job");
        jobs.sort_by_key(|job| Reverse(job.created));
        let jobs = jobs.into_iter().enumerate().map(|(at, job)| {
            let standing = match at {
                0 => Standing::Current,
                _ => Standing::Old,
            };
            PodGroup::owned(model, job, standing)
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
        let now = rollout.model.judged_at();
        let next = match next_start(rollout.object(), now) {
            _ if rollout.is_suspended() => "suspended".to_owned(),
            _ if held_since(rollout.object(), now).is_some() => {
                "after the active job (concurrencyPolicy Forbid)".to_owned()
            }
            Some(due) if due < now => format!("due since {due}"),
            Some(due) => due.to_string(),
            None => String::new(),
        };
        let next = RolloutPhase::new(PhaseName::NextRun, PhaseProgress::Waiting, next);
        vec![last_run(rollout), next]
    }

    fn is_complete(&self, _: &RolloutSnapshot<'_>) -> bool {
        false
    }

    fn stage(&self, rollout: &RolloutSnapshot<'_>) -> RolloutStage {
        let active = rollout.counts.there;
        let last = rollout.current().map(|job| job.status);
        let last = last.filter(|last| *last == Status::Failed && active == 0);
        let last = last.map_or("", |_| "; the last run failed");
        if rollout.is_suspended() {
            return RolloutStage::new(format!("suspended{last}"));
        }
        if active > 0 {
            return RolloutStage::new("running").at(counted(active, "active job", "active jobs"));
        }
        match rollout.object().time_at(&["status", "lastScheduleTime"]) {
            None => RolloutStage::new(format!("not started by its schedule yet{last}")),
            Some(_) => RolloutStage::new(format!("waits for its next start{last}")),
        }
    }

    fn reports_generation(&self) -> bool {
        false
    }

    fn due(&self, rollout: &RolloutSnapshot<'_>, now: Timestamp) -> Option<RolloutDue> {
        if let Some(since) = held_since(rollout.object(), now) {
            return Some(RolloutDue::HeldStart(since));
        }
        let next = next_start(rollout.object(), now)?;
        Some(RolloutDue::Start(
            next,
            missed_starts(rollout.object(), now),
        ))
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
        .and_then(|job| rollout.model.assessment(&job.uid));
    let word = assessment.map_or("", |assessment: &Assessment| &assessment.row.word);
    let text = format!("{} {word}", job.title());
    match job.status {
        Status::Current => phase(PhaseProgress::Done, text).at(job.created()),
        Status::Failed => {
            let cause = assessment.and_then(|assessment| assessment.causes.first());
            let cause = cause.map_or((CauseRule::Failed, ""), |cause| (cause.rule, &cause.text));
            phase(PhaseProgress::Underway, text).failed(PhaseFailure::new(cause.0, cause.1))
        }
        Status::InProgress | Status::Terminating => phase(PhaseProgress::Underway, text),
        Status::NotFound | Status::Unknown => phase(PhaseProgress::Unknown, text),
    }
}
