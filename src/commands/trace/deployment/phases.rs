//! The phases of a rollout, in their order, each as far as it is.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use crate::object::Value;

use super::pods::{Standing, Step, standing};
use super::reading::{Reading, is_idle, revision, workload};

/// Which phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Name {
    /// Someone changed the spec.
    Change,
    /// The controller has seen it.
    Observed,
    /// There is a `ReplicaSet` of the template.
    ReplicaSet,
    /// Its pods have nodes.
    Scheduled,
    /// Their images are there.
    Images,
    /// They are available.
    Available,
    /// The pods of older revisions are gone.
    OldPods,
    /// The controller says so.
    Complete,
}

/// How far a phase is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// It is over.
    Done,
    /// It has begun.
    Underway,
    /// It will not get further by itself.
    Failed,
    /// It has not begun.
    Waiting,
}

/// One phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Phase {
    pub(super) name: Name,
    pub(super) progress: Progress,
    /// How far it is, in words; not escaped.
    pub(super) text: String,
    /// Why it has failed; not escaped.
    pub(super) cause: Option<String>,
    /// When it was over, by the server's clock.
    pub(super) time: Option<Timestamp>,
}

impl Name {
    /// The phase as frames and lines call it.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Name::Change => "spec change",
            Name::Observed => "observed",
            Name::ReplicaSet => "replicaset",
            Name::Scheduled => "scheduled",
            Name::Images => "images",
            Name::Available => "available",
            Name::OldPods => "old pods",
            Name::Complete => "complete",
        }
    }
}

impl Progress {
    /// The word that records have for it.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Progress::Done => "done",
            Progress::Underway => "underway",
            Progress::Failed => "failed",
            Progress::Waiting => "waiting",
        }
    }

    /// That of `n` of `wanted`.
    fn of(n: i64, wanted: i64) -> Progress {
        match n {
            n if n >= wanted => Progress::Done,
            0 => Progress::Waiting,
            _ => Progress::Underway,
        }
    }
}

impl Phase {
    fn new(name: Name, progress: Progress, text: impl Into<String>) -> Phase {
        Phase {
            name,
            progress,
            text: text.into(),
            cause: None,
            time: None,
        }
    }

    fn at(self, time: Option<Timestamp>) -> Phase {
        let time = time.filter(|_| self.progress == Progress::Done);
        Phase { time, ..self }
    }

    fn failed(self, cause: String) -> Phase {
        Phase {
            progress: Progress::Failed,
            cause: Some(cause),
            time: None,
            ..self
        }
    }
}

/// The phases that follow a change; `old_pods` says how many old pods there were at most since.
pub(super) fn of(reading: &Reading<'_>, old_pods: usize) -> Vec<Phase> {
    let pods: Vec<Standing> = reading
        .new_pods
        .iter()
        .filter_map(|pod| standing(reading.objects, pod, reading.now))
        .collect();
    let mut phases = vec![observed(reading), replica_set(reading)];
    if reading.wanted() > 0 {
        phases.extend([
            scheduled(reading, &pods),
            images(reading, &pods),
            available(reading, &pods),
        ]);
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
    let Some(set) = reading.current else {
        let phase = Phase::new(
            Name::ReplicaSet,
            Progress::Waiting,
            "to be created by the controller",
        );
        return match reading.replica_failure() {
            Some(failure) => phase.failed(failure.message),
            None => phase,
        };
    };
    let there = workload(set).map_or(0, |set| set.replicas);
    let origin = match earlier_revision(reading.objects.get(&set.uid)) {
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
        Some(failure) => phase.failed(failure.message),
        None => phase,
    }
}

/// The last revision that a `ReplicaSet` was before it became its present one: a rollback numbers it
/// anew, and the controller notes the old numbers.
fn earlier_revision(set: Option<Value<'_>>) -> Option<String> {
    let path = [
        "metadata",
        "annotations",
        "deployment.kubernetes.io/revision-history",
    ];
    let history = set?.str_at(&path)?;
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
    let n = count(pods, |pod| pod.pulled.is_some());
    let time = pods.iter().filter_map(|pod| pod.pulled.flatten()).max();
    let text = format!("{n}/{wanted} pulled");
    let phase = Phase::new(Name::Images, Progress::of(n, wanted), text).at(time);
    with_trouble(phase, pods, Step::Image)
}

fn available(reading: &Reading<'_>, pods: &[Standing]) -> Phase {
    let wanted = reading.wanted();
    let n = reading.new_available();
    let ready = count(pods, |pod| pod.ready.is_some());
    let minimum = reading
        .deployment
        .i64_at(&["spec", "minReadySeconds"])
        .unwrap_or(0);
    let mut text = format!("{n}/{wanted} new");
    if ready > n {
        text += &format!(" ({ready} ready");
        if minimum > 0 {
            text += &format!(", minReadySeconds {minimum}");
        }
        text.push(')');
    }
    let kept = reading.old_available();
    if kept > 0 {
        text += &format!(", {kept} old kept");
    }
    let last = pods.iter().filter_map(|pod| pod.ready).max();
    let time = last.and_then(|last| last.checked_add(SignedDuration::from_secs(minimum)).ok());
    let begun = pods.iter().any(|pod| pod.pulled.is_some());
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
    let text = format!("{}; {} {word}{more}", phase.text, pod.name);
    let cause = trouble.text.clone();
    Phase { text, ..phase }.failed(cause)
}

fn count(pods: &[Standing], is: impl Fn(&Standing) -> bool) -> i64 {
    let n = pods.iter().filter(|pod| is(pod)).count();
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn old(reading: &Reading<'_>, most: usize) -> Option<Phase> {
    let left = reading.old_pods.len();
    let going = reading.old_pods.iter().filter(|pod| pod.deleting).count();
    let all_idle = reading.old_sets().all(is_idle);
    if left == 0 && all_idle {
        let text = match most {
            0 => return None,
            most => format!("{most}/{most} terminated"),
        };
        return Some(Phase::new(Name::OldPods, Progress::Done, text));
    }
    let most = most.max(left);
    let mut text = format!("{}/{most} terminated", most - left);
    if going > 0 {
        text += &format!(", {going} terminating");
    }
    let progress = match (most - left, going) {
        (0, 0) => Progress::Waiting,
        _ => Progress::Underway,
    };
    Some(Phase::new(Name::OldPods, progress, text))
}

fn complete(reading: &Reading<'_>) -> Phase {
    let progressing = reading.condition("Progressing");
    if let Some(condition) = reading.deadline_exceeded() {
        let phase = Phase::new(Name::Complete, Progress::Waiting, condition.reason);
        return phase.failed(condition.message);
    }
    if reading.is_complete() {
        let said = progressing.filter(|condition| condition.reason == "NewReplicaSetAvailable");
        let time = said.as_ref().and_then(|condition| condition.updated);
        let text = format!("{} replicas", reading.wanted());
        return Phase::new(Name::Complete, Progress::Done, text).at(time);
    }
    if reading.is_paused() {
        return Phase::new(Name::Complete, Progress::Waiting, "paused");
    }
    Phase::new(Name::Complete, Progress::Waiting, "")
}
