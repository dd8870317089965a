//! The phases of a rollout, in order, with their progress.

use std::collections::BTreeSet;

use jiff::SignedDuration;

use crate::graph::Images;
use crate::object::StatusCondition;

use super::phase::{PhaseFailure, PhaseName, PhaseProgress, RolloutPhase};
use super::pods::{PodGroup, PodProgress, PodStep, number};
use super::snapshot::{RolloutSnapshot, sum, unread_text};

/// The phases after a change. `old_pods` is the highest number of old pods since then.
pub(super) fn phases(rollout: &RolloutSnapshot<'_>, old_pods: i64) -> Vec<RolloutPhase> {
    let mut pods = pods(rollout);
    let goal = rollout.counts.goal;
    if count(&pods, |pod| !pod.pod.has_ended) >= goal {
        // The controller has replaced those that have ended.
        pods.retain(|pod| !pod.pod.has_ended);
    }
    let mut phases = vec![observed(rollout), revision(rollout)];
    if goal > 0 {
        phases.extend(match rollout.pods_unread() {
            Some(text) => [PhaseName::Scheduled, PhaseName::Images]
                .map(|name| RolloutPhase::unread(name, &text)),
            None => [scheduled(&pods, goal), images(&pods, goal)],
        });
        phases.push(available(rollout, &pods));
    }
    phases.extend(old(rollout, old_pods));
    phases.push(complete(rollout));
    phases
}

/// The progress of the Pods of the newest revision.
pub(super) fn pods<'a>(rollout: &RolloutSnapshot<'a>) -> Vec<PodProgress<'a>> {
    let current = rollout.groups.iter().filter(|group| group.is_current());
    let pods = current.flat_map(|group| group.pods.iter().copied());
    pods.filter_map(|pod| PodProgress::of(rollout.model, pod))
        .collect()
}

fn observed(rollout: &RolloutSnapshot<'_>) -> RolloutPhase {
    let phase = |progress, text| RolloutPhase::new(PhaseName::Observed, progress, text);
    let (generation, observed) = rollout.generations();
    if rollout.is_observed() {
        return phase(PhaseProgress::Done, format!("generation {generation}"));
    }
    let text = format!("not yet by the controller (generation {generation}, observed {observed})");
    phase(PhaseProgress::Underway, text)
}

fn revision(rollout: &RolloutSnapshot<'_>) -> RolloutPhase {
    let name = rollout.kind.group_phase();
    let phase = match rollout.current() {
        _ if !rollout.knows_owners() => {
            RolloutPhase::unread(name, &unread_text(rollout.kind.group_kind()))
        }
        None => {
            let text = "to be created by the controller";
            RolloutPhase::new(name, PhaseProgress::Waiting, text)
        }
        Some(group) => created(rollout, group),
    };
    match rollout.replica_failure() {
        Some(condition) => phase.failed(PhaseFailure::of(&condition)),
        None => phase,
    }
}

fn created(rollout: &RolloutSnapshot<'_>, group: &PodGroup<'_>) -> RolloutPhase {
    let again = match earlier_revision(rollout, group) {
        Some(EarlierRevision::Number(earlier)) => format!(", revision {earlier} again"),
        Some(EarlierRevision::Unknown) => ", an earlier revision again".to_owned(),
        None => String::new(),
    };
    let pods = rollout.counts.of_goal(group.there);
    let noun = if pods == "1" { "pod" } else { "pods" };
    let text = format!("{}{again}, {pods} {noun}", group.title());
    let name = rollout.kind.group_phase();
    RolloutPhase::new(name, PhaseProgress::Done, text).at(group.created())
}

/// How many of the wanted Pods have a node.
pub(super) fn scheduled(pods: &[PodProgress<'_>], wanted: i64) -> RolloutPhase {
    let nodes: BTreeSet<&str> = pods
        .iter()
        .filter_map(|pod| pod.pod.node.as_deref())
        .collect();
    let n = count(pods, |pod| pod.pod.node.is_some());
    let time = pods.iter().filter_map(|pod| pod.pod.scheduled).max();
    let text = format!("{n}/{wanted} pods{}", listed(&nodes));
    let phase =
        RolloutPhase::new(PhaseName::Scheduled, PhaseProgress::of(n, wanted), text).at(time);
    with_trouble(phase, pods, PodStep::Scheduling)
}

/// How many nodes are listed.
const NODES_SHOWN: usize = 3;

fn listed(nodes: &BTreeSet<&str>) -> String {
    if nodes.is_empty() {
        return String::new();
    }
    let shown: Vec<&str> = nodes.iter().copied().take(NODES_SHOWN).collect();
    let more = match nodes.len().saturating_sub(NODES_SHOWN) {
        0 => String::new(),
        more => format!(", {more} more"),
    };
    format!(" ({}{more})", shown.join(", "))
}

/// How many of the wanted Pods have their images.
pub(super) fn images(pods: &[PodProgress<'_>], wanted: i64) -> RolloutPhase {
    let n = count(pods, |pod| pod.pod.images != Images::Missing);
    let pulled = pods.iter().filter_map(|pod| match pod.pod.images {
        Images::Pulled(time) => time,
        Images::Missing => None,
    });
    let time = pulled.max();
    let text = format!("{n}/{wanted} pulled");
    let phase = RolloutPhase::new(PhaseName::Images, PhaseProgress::of(n, wanted), text).at(time);
    with_trouble(phase, pods, PodStep::Image)
}

fn available(rollout: &RolloutSnapshot<'_>, pods: &[PodProgress<'_>]) -> RolloutPhase {
    if let Some(text) = unread_counts(rollout) {
        return RolloutPhase::unread(PhaseName::Available, &text);
    }
    let wanted = rollout.counts.goal;
    let n = rollout.new_available();
    let ready = count(pods, |pod| pod.pod.ready_since.is_some());
    let minimum = rollout
        .object()
        .i64_at(&["spec", "minReadySeconds"])
        .unwrap_or(0);
    let ahead = match minimum {
        _ if ready <= n => String::new(),
        0 => format!(" ({ready} ready)"),
        minimum => format!(" ({ready} ready, minReadySeconds {minimum})"),
    };
    let kept = match sum(rollout.old_groups().map(|group| group.available)) {
        0 => String::new(),
        kept => format!(", {kept} old kept"),
    };
    let text = format!("{n}/{wanted} new{ahead}{kept}");
    let last = pods.iter().filter_map(|pod| pod.pod.ready_since).max();
    let time = last.and_then(|last| last.checked_add(SignedDuration::from_secs(minimum)).ok());
    let begun = pods.iter().any(|pod| pod.pod.images != Images::Missing);
    let progress = match PhaseProgress::of(n, wanted) {
        PhaseProgress::Waiting if begun => PhaseProgress::Underway,
        progress => progress,
    };
    let phase = RolloutPhase::new(PhaseName::Available, progress, text).at(time);
    with_trouble(phase, pods, PodStep::Running)
}

/// The text in place of counts that come from objects which were not read.
fn unread_counts(rollout: &RolloutSnapshot<'_>) -> Option<String> {
    let needs_pods = !rollout.kind.groups_own_pods() && !rollout.loaded.pods;
    let text = rollout.pods_unread();
    text.filter(|_| needs_pods || !rollout.knows_owners())
}

/// Marks the phase as failed if any pod cannot complete this step, and names the first such pod.
pub(super) fn with_trouble(
    phase: RolloutPhase,
    pods: &[PodProgress<'_>],
    step: PodStep,
) -> RolloutPhase {
    let mut held = pods
        .iter()
        .filter_map(|pod| Some((pod, pod.trouble.as_ref()?)))
        .filter(|(_, trouble)| trouble.at == step);
    let Some((pod, trouble)) = held.next() else {
        return phase;
    };
    let more = match held.count() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let word = match step {
        PodStep::Scheduling => "unschedulable",
        PodStep::Image | PodStep::Running => pod.word,
    };
    phase.failed(PhaseFailure {
        rule: trouble.cause.rule,
        what: format!("{} {word}{more}", pod.name),
        pod: Some(pod.name.to_owned()),
        cause: trouble.cause.text.clone(),
    })
}

fn count(pods: &[PodProgress<'_>], is: impl Fn(&PodProgress<'_>) -> bool) -> i64 {
    number(pods.iter().filter(|pod| is(pod)).count())
}

fn old(rollout: &RolloutSnapshot<'_>, most: i64) -> Option<RolloutPhase> {
    let phase = |progress, text| Some(RolloutPhase::new(PhaseName::OldPods, progress, text));
    if let Some(text) = unread_counts(rollout) {
        return phase(PhaseProgress::Unknown, text);
    }
    let left = rollout.old_left();
    let are_idle = !rollout.kind.groups_own_pods() || rollout.old_groups().all(PodGroup::is_idle);
    if !rollout.loaded.pods && (most > 0 || left > 0 || !are_idle) {
        return phase(PhaseProgress::Unknown, unread_text("Pod"));
    }
    if left == 0 && are_idle {
        return match most {
            0 => None,
            most => phase(PhaseProgress::Done, format!("{most}/{most} terminated")),
        };
    }
    let going = rollout.old_pods().filter(|pod| pod.deleting).count();
    let most = most.max(left);
    let more = match going {
        0 => String::new(),
        going => format!(", {going} terminating"),
    };
    let progress = match (most - left, going) {
        (0, 0) => PhaseProgress::Waiting,
        _ => PhaseProgress::Underway,
    };
    phase(progress, format!("{}/{most} terminated{more}", most - left))
}

fn complete(rollout: &RolloutSnapshot<'_>) -> RolloutPhase {
    let phase = |progress, text: &str| RolloutPhase::new(PhaseName::Complete, progress, text);
    if let Some(condition) = rollout.deadline_exceeded() {
        let waiting = phase(PhaseProgress::Waiting, &condition.reason);
        return waiting.failed(PhaseFailure::of(&condition));
    }
    if rollout.is_complete() {
        let reported = rollout.reported_complete();
        let time = reported.as_ref().and_then(StatusCondition::updated);
        let counts = rollout.counts;
        let text = match rollout.kind.amount(counts.wanted) {
            all if counts.goal < counts.wanted => format!("{} of {all} updated", counts.updated),
            all => all,
        };
        return phase(PhaseProgress::Done, &text).at(time);
    }
    let text = if rollout.is_paused() { "paused" } else { "" };
    phase(PhaseProgress::Waiting, text)
}

/// The revision whose Pod template a rollback brought back.
pub(super) enum EarlierRevision {
    /// The number that it had before.
    Number(String),
    /// It had a lower number before.
    Unknown,
}

/// The earlier revision, if the newest one is a rollback. A rollback gives an old revision a new number. The
/// Deployment controller records the numbers before; other controllers do not, but the object is then older than
/// one with a lower number.
pub(super) fn earlier_revision(
    rollout: &RolloutSnapshot<'_>,
    group: &PodGroup<'_>,
) -> Option<EarlierRevision> {
    let object = rollout.model.doc(&group.object?.uid)?;
    let path = [
        "metadata",
        "annotations",
        "deployment.kubernetes.io/revision-history",
    ];
    if let Some(history) = object.root().str_at(&path) {
        let last = history.rsplit(',').next()?.trim();
        return (!last.is_empty()).then(|| EarlierRevision::Number(last.to_owned()));
    }
    let is_older =
        |other: &PodGroup<'_>| other.number < group.number && other.created() > group.created();
    let mut others = rollout.old_groups();
    others.any(is_older).then_some(EarlierRevision::Unknown)
}
