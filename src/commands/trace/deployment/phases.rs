//! The phases of a rollout, in order, with their progress.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use crate::commands::trace::traced::revision;
use crate::graph::{Images, Node};
use crate::object::{StatusCondition, Value};
use crate::render::count::counted;

use super::loaded::{PODS_UNREAD, SETS_UNREAD};
use super::phase::{PhaseFailure, PhaseName, PhaseProgress, RolloutPhase};
use super::pods::{PodProgress, PodStep};
use super::rollout::RolloutSnapshot;

/// The phases after a change. `old_pods` is the highest number of old pods since then.
pub(super) fn of(rollout: &RolloutSnapshot<'_>, old_pods: i64) -> Vec<RolloutPhase> {
    let pods: Vec<PodProgress<'_>> = rollout
        .new_pods
        .iter()
        .filter_map(|pod| PodProgress::of(rollout.traced, pod))
        .collect();
    let mut phases = vec![observed(rollout), replica_set(rollout)];
    if rollout.wanted() > 0 {
        phases.extend(match rollout.loaded.unread().next() {
            Some(text) => [PhaseName::Scheduled, PhaseName::Images]
                .map(|name| RolloutPhase::unread(name, text)),
            None => [scheduled(rollout, &pods), images(rollout, &pods)],
        });
        phases.push(available(rollout, &pods));
    }
    phases.extend(old(rollout, old_pods));
    phases.push(complete(rollout));
    phases
}

fn observed(rollout: &RolloutSnapshot<'_>) -> RolloutPhase {
    let (generation, observed) = rollout.generations();
    if rollout.is_observed() {
        return RolloutPhase::new(
            PhaseName::Observed,
            PhaseProgress::Done,
            format!("generation {generation}"),
        );
    }
    let text = format!("not yet by the controller (generation {generation}, observed {observed})");
    RolloutPhase::new(PhaseName::Observed, PhaseProgress::Underway, text)
}

fn replica_set(rollout: &RolloutSnapshot<'_>) -> RolloutPhase {
    let phase = match rollout.current {
        _ if !rollout.loaded.sets => RolloutPhase::unread(PhaseName::ReplicaSet, SETS_UNREAD),
        None => RolloutPhase::new(
            PhaseName::ReplicaSet,
            PhaseProgress::Waiting,
            "to be created by the controller",
        ),
        Some(set) => created(rollout, set),
    };
    match rollout.replica_failure() {
        Some(condition) => phase.failed(PhaseFailure::of(&condition)),
        None => phase,
    }
}

fn created(rollout: &RolloutSnapshot<'_>, set: &Node) -> RolloutPhase {
    let doc = rollout.traced.model.doc(&set.uid);
    let origin = match doc.and_then(|doc| earlier_revision(doc.root())) {
        Some(earlier) => format!(", revision {earlier} again"),
        None => String::new(),
    };
    let text = format!(
        "{}{}{origin}, {}/{} pods",
        set.object.name,
        revision(set).unwrap_or_default(),
        set.workload().map_or(0, |set| set.replicas),
        rollout.wanted()
    );
    RolloutPhase::new(PhaseName::ReplicaSet, PhaseProgress::Done, text).at(set.created)
}

/// The last revision number that a `ReplicaSet` had before its current one. A rollback gives it a new number,
/// and the controller records the old ones.
pub(super) fn earlier_revision(set: Value<'_>) -> Option<String> {
    let path = [
        "metadata",
        "annotations",
        "deployment.kubernetes.io/revision-history",
    ];
    let history = set.str_at(&path)?;
    let last = history.rsplit(',').next()?.trim();
    (!last.is_empty()).then(|| last.to_owned())
}

fn scheduled(rollout: &RolloutSnapshot<'_>, pods: &[PodProgress<'_>]) -> RolloutPhase {
    let wanted = rollout.wanted();
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

fn images(rollout: &RolloutSnapshot<'_>, pods: &[PodProgress<'_>]) -> RolloutPhase {
    let wanted = rollout.wanted();
    let n = count(pods, |pod| pod.pod.images != Images::Missing);
    let time = pods.iter().filter_map(pulled_by).max();
    let text = format!("{n}/{wanted} pulled");
    let phase = RolloutPhase::new(PhaseName::Images, PhaseProgress::of(n, wanted), text).at(time);
    with_trouble(phase, pods, PodStep::Image)
}

fn pulled_by(pod: &PodProgress<'_>) -> Option<Timestamp> {
    match pod.pod.images {
        Images::Pulled(time) => time,
        Images::Missing => None,
    }
}

fn available(rollout: &RolloutSnapshot<'_>, pods: &[PodProgress<'_>]) -> RolloutPhase {
    if !rollout.loaded.sets {
        return RolloutPhase::unread(PhaseName::Available, SETS_UNREAD);
    }
    let wanted = rollout.wanted();
    let n = rollout.new_available();
    let ready = count(pods, |pod| pod.pod.ready_since.is_some());
    let minimum = rollout
        .deployment()
        .i64_at(&["spec", "minReadySeconds"])
        .unwrap_or(0);
    let ahead = match minimum {
        _ if ready <= n => String::new(),
        0 => format!(" ({ready} ready)"),
        minimum => format!(" ({ready} ready, minReadySeconds {minimum})"),
    };
    let kept = match rollout.old_available() {
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

/// Marks the phase as failed if any pod cannot complete this step, and names the first such pod.
fn with_trouble(phase: RolloutPhase, pods: &[PodProgress<'_>], step: PodStep) -> RolloutPhase {
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
    let n = pods.iter().filter(|pod| is(pod)).count();
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn old(rollout: &RolloutSnapshot<'_>, most: i64) -> Option<RolloutPhase> {
    if !rollout.loaded.sets {
        return Some(RolloutPhase::unread(PhaseName::OldPods, SETS_UNREAD));
    }
    let left = rollout.old_left();
    let has_old = most > 0 || left > 0 || !rollout.old_sets().all(Node::is_idle);
    if !rollout.loaded.pods && has_old {
        return Some(RolloutPhase::unread(PhaseName::OldPods, PODS_UNREAD));
    }
    let going = rollout.old_pods.iter().filter(|pod| pod.deleting).count();
    if left == 0 && rollout.old_sets().all(Node::is_idle) {
        let text = match most {
            0 => return None,
            most => format!("{most}/{most} terminated"),
        };
        return Some(RolloutPhase::new(
            PhaseName::OldPods,
            PhaseProgress::Done,
            text,
        ));
    }
    let most = most.max(left);
    let more = match going {
        0 => String::new(),
        going => format!(", {going} terminating"),
    };
    let text = format!("{}/{most} terminated{more}", most - left);
    let progress = match (most - left, going) {
        (0, 0) => PhaseProgress::Waiting,
        _ => PhaseProgress::Underway,
    };
    Some(RolloutPhase::new(PhaseName::OldPods, progress, text))
}

fn complete(rollout: &RolloutSnapshot<'_>) -> RolloutPhase {
    let progressing = rollout.condition("Progressing");
    if let Some(condition) = rollout.deadline_exceeded() {
        let phase = RolloutPhase::new(
            PhaseName::Complete,
            PhaseProgress::Waiting,
            condition.reason.clone(),
        );
        return phase.failed(PhaseFailure::of(&condition));
    }
    if rollout.is_complete() {
        let reported = progressing.filter(|condition| condition.reason == "NewReplicaSetAvailable");
        let time = reported.as_ref().and_then(StatusCondition::updated);
        let text = replicas(rollout.wanted());
        return RolloutPhase::new(PhaseName::Complete, PhaseProgress::Done, text).at(time);
    }
    if rollout.is_paused() {
        return RolloutPhase::new(PhaseName::Complete, PhaseProgress::Waiting, "paused");
    }
    RolloutPhase::new(PhaseName::Complete, PhaseProgress::Waiting, "")
}

/// `1 replica`, `3 replicas`.
pub(super) fn replicas(count: i64) -> String {
    counted(count, "replica", "replicas")
}
