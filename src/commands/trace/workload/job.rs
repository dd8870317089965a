//! A Job: its run ends with enough succeeded Pods, or with too many failed ones.

use jiff::{SignedDuration, Timestamp};

use crate::commands::trace::headline::Headline;
use crate::commands::trace::traced::Traced;
use crate::object::{PodCounts, StatusCondition, Uid, Value};
use crate::render::count::counted;
use crate::status::Status;

use super::numbers::{count, spec};
use super::phase::{PhaseFailure, PhaseName, PhaseProgress, RolloutPhase};
use super::pod_group::{PodGroup, number, pods_of};
use super::pods::PodStep;
use super::rollout::{RolloutSnapshot, WorkloadKind};
use super::{phases, verdict};

/// The kind `batch/Job`.
pub(super) struct Job;

impl WorkloadKind for Job {
    fn group_kind(&self) -> &'static str {
        ""
    }

    fn column(&self) -> &'static str {
        "Pod"
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

    fn groups<'a>(&self, traced: &'a Traced, uid: &Uid) -> Vec<PodGroup<'a>> {
        let pods = pods_of(traced.graph(), uid);
        vec![PodGroup::of_pods(traced, pods)]
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

    fn headline(&self, rollout: &RolloutSnapshot<'_>, status: Status) -> Headline {
        let headline = |stage: &str| Headline::new(status, stage).at(numbers(rollout));
        if self.is_complete(rollout) {
            headline("complete")
        } else if has_ended(rollout, "Failed").is_some() {
            headline("failed")
        } else if rollout.is_suspended() {
            headline("suspended")
        } else if start(rollout).is_none() {
            Headline::new(status, "to be started by the controller")
        } else {
            let failing = verdict::failing(rollout);
            Headline::new(status, "running").at(format!("{}{failing}", numbers(rollout)))
        }
    }

    /// The Job fails this long after its start.
    fn deadline(&self, rollout: &RolloutSnapshot<'_>) -> Option<Timestamp> {
        let seconds = rollout
            .object()
            .i64_at(&["spec", "activeDeadlineSeconds"])?;
        let is_over = ["Complete", "Failed"].map(|kind| has_ended(rollout, kind).is_some());
        let start =
            start(rollout).filter(|_| !is_over.contains(&true) && !rollout.is_suspended())?;
        start.checked_add(SignedDuration::from_secs(seconds)).ok()
    }

    fn reports_generation(&self) -> bool {
        false
    }

    fn limits(&self, rollout: &RolloutSnapshot<'_>) -> Vec<String> {
        let indexes = rollout.object().str_at(&["status", "failedIndexes"]);
        let indexes = indexes.filter(|indexes| !indexes.is_empty());
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
        None => phase(PhaseProgress::Waiting, "to be started by the controller"),
        time => phase(PhaseProgress::Done, "by the controller").at(time),
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
    let indexes = object.str_at(&["status", "completedIndexes"]);
    let indexes = indexes.filter(|indexes| !indexes.is_empty());
    let indexes = indexes.map(|indexes| format!(" (indexes {indexes})"));
    format!(
        "{}/{} succeeded{}{active}{failed}",
        counts.available,
        counts.wanted,
        indexes.unwrap_or_default()
    )
}
