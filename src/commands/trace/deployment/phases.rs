//! The phases of a rollout, in their order, each as far as it is.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use crate::object::Value;

use super::phase::{Failure, Name, Phase, Progress};
use super::pods::{Pulled, Standing, Step, standing};
use super::read::Kind;
use super::reading::{Reading, is_idle, revision, workload};

/// The phases that follow a change; `old_pods` says how many old pods there were at most since.
pub(super) fn of(reading: &Reading<'_>, old_pods: i64) -> Vec<Phase> {
    let pods: Vec<Standing> = reading
        .new_pods
        .iter()
        .filter_map(|pod| standing(reading.objects, pod, reading.now))
        .collect();
    let mut phases = vec![observed(reading), replica_set(reading)];
    if reading.wanted() > 0 {
        phases.extend(match reading.unread() {
            Some(kind) => [Name::Scheduled, Name::Images].map(|name| Phase::unread(name, kind)),
            None => [scheduled(reading, &pods), images(reading, &pods)],
        });
        phases.push(available(reading, &pods));
    }
    phases.extend(old(reading, old_pods));
    phases.push(complete(reading));
    phases
}

fn observed(reading: &Reading<'_>) -> Phase {
    let (generation, observed) = reading.generations();
    if reading.is_observed() {
        return Phase::new(
            Name::Observed,
            Progress::Done,
            format!("generation {generation}"),
        );
    }
    let text = format!("not yet by the controller (generation {generation}, observed {observed})");
    Phase::new(Name::Observed, Progress::Underway, text)
}

fn replica_set(reading: &Reading<'_>) -> Phase {
    let wanted = reading.wanted();
    if !reading.read.sets {
        let phase = Phase::unread(Name::ReplicaSet, Kind::Sets);
        return match reading.replica_failure() {
            Some(condition) => phase.failed(Failure::of(condition)),
            None => phase,
        };
    }
    let Some(set) = reading.current else {
        let phase = Phase::new(
            Name::ReplicaSet,
            Progress::Waiting,
            "to be created by the controller",
        );
        return match reading.replica_failure() {
            Some(condition) => phase.failed(Failure::of(condition)),
            None => phase,
        };
    };
    let there = workload(set).map_or(0, |set| set.replicas);
    let origin = match reading.objects.get(&set.uid).and_then(earlier_revision) {
        Some(earlier) => format!(", revision {earlier} again"),
        None => String::new(),
    };
    let text = format!(
        "{}{}{origin}, {there}/{wanted} pods",
        set.object.name,
        revision(set)
    );
    let phase = Phase::new(Name::ReplicaSet, Progress::Done, text).at(set.created);
    match reading.replica_failure() {
        Some(condition) => phase.failed(Failure::of(condition)),
        None => phase,
    }
}

/// The last revision that a `ReplicaSet` was before it became its present one: a rollback numbers it
/// anew, and the controller notes the old numbers.
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

fn scheduled(reading: &Reading<'_>, pods: &[Standing]) -> Phase {
    let wanted = reading.wanted();
    let nodes: BTreeSet<&str> = pods.iter().filter_map(|pod| pod.node.as_deref()).collect();
    let n = count(pods, |pod| pod.node.is_some());
    let time = pods.iter().filter_map(|pod| pod.scheduled).max();
    let text = format!("{n}/{wanted} pods{}", listed(&nodes));
    let phase = Phase::new(Name::Scheduled, Progress::of(n, wanted), text).at(time);
    with_trouble(phase, pods, Step::Scheduling)
}

/// How many nodes are named.
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

fn images(reading: &Reading<'_>, pods: &[Standing]) -> Phase {
    let wanted = reading.wanted();
    let n = count(pods, |pod| pod.pulled != Pulled::No);
    let time = pods.iter().filter_map(pulled_by).max();
    let text = format!("{n}/{wanted} pulled");
    let phase = Phase::new(Name::Images, Progress::of(n, wanted), text).at(time);
    with_trouble(phase, pods, Step::Image)
}

fn pulled_by(pod: &Standing) -> Option<Timestamp> {
    match pod.pulled {
        Pulled::By(time) => time,
        Pulled::No => None,
    }
}

fn available(reading: &Reading<'_>, pods: &[Standing]) -> Phase {
    if !reading.read.sets {
        return Phase::unread(Name::Available, Kind::Sets);
    }
    let wanted = reading.wanted();
    let n = reading.new_available();
    let ready = count(pods, |pod| pod.ready.is_some());
    let minimum = reading
        .deployment
        .i64_at(&["spec", "minReadySeconds"])
        .unwrap_or(0);
    let ahead = match minimum {
        _ if ready <= n => String::new(),
        0 => format!(" ({ready} ready)"),
        minimum => format!(" ({ready} ready, minReadySeconds {minimum})"),
    };
    let kept = match reading.old_available() {
        0 => String::new(),
        kept => format!(", {kept} old kept"),
    };
    let text = format!("{n}/{wanted} new{ahead}{kept}");
    let last = pods.iter().filter_map(|pod| pod.ready).max();
    let time = last.and_then(|last| last.checked_add(SignedDuration::from_secs(minimum)).ok());
    let begun = pods.iter().any(|pod| pod.pulled != Pulled::No);
    let progress = match Progress::of(n, wanted) {
        Progress::Waiting if begun => Progress::Underway,
        progress => progress,
    };
    let phase = Phase::new(Name::Available, progress, text).at(time);
    with_trouble(phase, pods, Step::Running)
}

/// Names the pods that are held up at a step; the phase of that step has then failed.
fn with_trouble(phase: Phase, pods: &[Standing], step: Step) -> Phase {
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
        Step::Scheduling => "unschedulable",
        Step::Image | Step::Running => &pod.word,
    };
    phase.failed(Failure {
        rule: trouble.rule,
        what: format!("{} {word}{more}", pod.name),
        pod: Some(pod.name.clone()),
        cause: trouble.text.clone(),
    })
}

fn count(pods: &[Standing], is: impl Fn(&Standing) -> bool) -> i64 {
    let n = pods.iter().filter(|pod| is(pod)).count();
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn old(reading: &Reading<'_>, most: i64) -> Option<Phase> {
    if !reading.read.sets {
        return Some(Phase::unread(Name::OldPods, Kind::Sets));
    }
    let left = reading.old_left();
    let has_old = most > 0 || left > 0 || !reading.old_sets().all(is_idle);
    if !reading.read.pods && has_old {
        return Some(Phase::unread(Name::OldPods, Kind::Pods));
    }
    let going = reading.old_pods.iter().filter(|pod| pod.deleting).count();
    if left == 0 && reading.old_sets().all(is_idle) {
        let text = match most {
            0 => return None,
            most => format!("{most}/{most} terminated"),
        };
        return Some(Phase::new(Name::OldPods, Progress::Done, text));
    }
    let most = most.max(left);
    let more = match going {
        0 => String::new(),
        going => format!(", {going} terminating"),
    };
    let text = format!("{}/{most} terminated{more}", most - left);
    let progress = match (most - left, going) {
        (0, 0) => Progress::Waiting,
        _ => Progress::Underway,
    };
    Some(Phase::new(Name::OldPods, progress, text))
}

fn complete(reading: &Reading<'_>) -> Phase {
    let progressing = reading.condition("Progressing");
    if let Some(condition) = reading.deadline_exceeded() {
        let phase = Phase::new(Name::Complete, Progress::Waiting, condition.reason.clone());
        return phase.failed(Failure::of(condition));
    }
    if reading.is_complete() {
        let said = progressing.filter(|condition| condition.reason == "NewReplicaSetAvailable");
        let time = said.as_ref().and_then(|condition| condition.updated);
        let text = replicas(reading.wanted());
        return Phase::new(Name::Complete, Progress::Done, text).at(time);
    }
    if reading.is_paused() {
        return Phase::new(Name::Complete, Progress::Waiting, "paused");
    }
    Phase::new(Name::Complete, Progress::Waiting, "")
}

/// How many replicas: `1 replica`, `3 replicas`.
pub(super) fn replicas(count: i64) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} replica{plural}")
}
