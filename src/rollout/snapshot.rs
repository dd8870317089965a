//! `RolloutSnapshot`: the state of a rollout or a run at one time, from the objects alone. `WorkloadKind` is what the kinds of
//! workloads do differently.

use jiff::Timestamp;

use crate::graph::Node;
use crate::model::Model;
use crate::object::{Doc, PodCounts, StatusCondition, Uid, Value, condition, counted};
use crate::source::SourceKey;
use crate::status::{Assessment, CauseRule};

use super::phase::{PhaseName, RolloutPhase};
use super::pods::{PodGroup, number};
use super::stage::{RolloutStage, stage_of_rollout};
use super::{phases, sets};

/// A workload, its revisions and its Pods.
pub struct RolloutSnapshot<'a> {
    /// What is different for its kind.
    pub kind: &'static dyn WorkloadKind,
    /// Which of its objects have been read.
    pub loaded: Loaded,
    pub(super) model: &'a Model,
    uid: Uid,
    /// The workload.
    pub(super) doc: Doc,
    /// The numbers of its Pods.
    pub(super) counts: PodCounts,
    /// Its revisions or runs, the newest one first.
    pub groups: Vec<PodGroup<'a>>,
    /// Pods that match its selector and have no owner.
    pub orphans: Vec<&'a Node>,
}

impl<'a> RolloutSnapshot<'a> {
    /// Reads the rollout of a workload, of whose dependents these are the sources; `None` if it does not exist.
    pub(super) fn of(
        kind: &'static dyn WorkloadKind,
        model: &'a Model,
        uid: &Uid,
        dependents: &[SourceKey],
    ) -> Option<RolloutSnapshot<'a>> {
        let doc = model.doc(uid)?;
        let mut orphans = model.graph().selected_pods(uid);
        orphans.retain(|pod| pod.owners.is_empty());
        Some(RolloutSnapshot {
            kind,
            loaded: Loaded::of(kind.group_kind(), model, dependents),
            model,
            uid: uid.clone(),
            counts: kind.counts(doc.root()),
            groups: kind.groups(model, uid),
            orphans,
            doc,
        })
    }

    /// Whether the objects that own the Pods have been read.
    pub(super) fn knows_owners(&self) -> bool {
        self.loaded.groups || !self.kind.groups_own_pods()
    }

    /// The text for the Pods, if they or their owners have not been read.
    pub(super) fn pods_unread(&self) -> Option<String> {
        match (self.knows_owners(), self.loaded.pods) {
            (true, true) => None,
            (false, _) => Some(unread_text(self.kind.group_kind())),
            (true, false) => Some(unread_text("Pod")),
        }
    }

    /// The workload.
    pub fn object(&self) -> Value<'_> {
        self.doc.root()
    }

    /// Whether a Job or a `CronJob` is suspended.
    pub(super) fn is_suspended(&self) -> bool {
        let suspended = self.object().bool_at(&["spec", "suspend"]);
        suspended.unwrap_or(false)
    }

    /// The assessment of the workload.
    pub fn assessment(&self) -> Option<&'a Assessment> {
        self.model.assessment(&self.uid)
    }

    /// The group of the newest revision.
    pub(super) fn current(&self) -> Option<&PodGroup<'a>> {
        self.groups.iter().find(|group| group.is_current())
    }

    /// The groups of older revisions.
    pub(super) fn old_groups(&self) -> impl Iterator<Item = &PodGroup<'a>> {
        self.groups.iter().filter(|group| !group.is_current())
    }

    /// The Pods of older revisions that the controller replaces.
    pub(super) fn old_pods(&self) -> impl Iterator<Item = &'a Node> {
        let pods = self
            .old_groups()
            .flat_map(|group| group.pods.iter().copied());
        pods.filter(|pod| self.kind.replaces(self.object(), pod))
    }

    /// The generation of the object, and the one that the controller has observed.
    pub(super) fn generations(&self) -> (i64, i64) {
        let number = |path: &[&str]| self.object().i64_at(path).unwrap_or(0);
        (
            number(&["metadata", "generation"]),
            number(&["status", "observedGeneration"]),
        )
    }

    /// Whether the controller has observed the newest generation.
    pub(super) fn is_observed(&self) -> bool {
        let (generation, observed) = self.generations();
        observed >= generation || !self.kind.reports_generation()
    }

    /// Whether the rollout is paused.
    pub(super) fn is_paused(&self) -> bool {
        let paused = self.object().bool_at(&["spec", "paused"]);
        paused.unwrap_or(false)
    }

    /// How many Pods of the newest revision are available.
    pub(super) fn new_available(&self) -> i64 {
        self.current().map_or(0, |group| group.available)
    }

    /// How many Pods of older revisions are left to be replaced, including terminating ones.
    pub(super) fn old_left(&self) -> i64 {
        let pods = number(self.old_pods().count());
        if !self.kind.groups_own_pods() {
            return pods;
        }
        pods.max(sum(self.old_groups().map(|group| group.there)))
    }

    /// The condition of a type.
    pub(super) fn condition(&self, kind: &str) -> Option<StatusCondition<'_>> {
        condition(self.object(), kind)
    }

    /// The condition that reports that the newest revision was rolled out.
    pub(super) fn reported_complete(&self) -> Option<StatusCondition<'_>> {
        self.condition("Progressing")
            .filter(|condition| condition.reason == "NewReplicaSetAvailable")
    }

    /// The condition that reports the rollout as failed, because its progress deadline is exceeded.
    pub(super) fn deadline_exceeded(&self) -> Option<StatusCondition<'_>> {
        self.condition("Progressing").filter(|condition| {
            condition.status == "False" && condition.reason == "ProgressDeadlineExceeded"
        })
    }

    /// The condition that reports that pods cannot be created or deleted.
    pub(super) fn replica_failure(&self) -> Option<StatusCondition<'_>> {
        self.condition("ReplicaFailure")
            .filter(|condition| condition.status == "True")
    }

    /// Whether every step is done.
    pub(super) fn is_complete(&self) -> bool {
        self.is_observed() && self.kind.is_complete(self)
    }
}

/// What the kinds of workloads do differently.
pub trait WorkloadKind: Sync {
    /// The kind of the objects between the workload and its Pods; empty if there are none.
    fn group_kind(&self) -> &'static str;

    /// Whether those objects own the Pods. Otherwise the workload owns both.
    fn groups_own_pods(&self) -> bool {
        false
    }

    /// The phase that names the object of the newest revision.
    fn group_phase(&self) -> PhaseName {
        PhaseName::Revision
    }

    /// The numbers of its Pods.
    fn counts(&self, object: Value<'_>) -> PodCounts {
        PodCounts::of(object).unwrap_or_default()
    }

    /// Its Pods by revision, the newest revision first. It may be deleted.
    fn groups<'a>(&self, model: &'a Model, uid: &Uid) -> Vec<PodGroup<'a>> {
        sets::groups(model, uid)
    }

    /// What its spec wants, and how it gets there, in words.
    fn facts(&self, object: Value<'_>) -> Vec<String>;

    /// The phases after the change. `old_pods` is the highest number of old Pods since then.
    fn phases(&self, rollout: &RolloutSnapshot<'_>, old_pods: i64) -> Vec<RolloutPhase> {
        phases::phases(rollout, old_pods)
    }

    /// Whether every step is done, by the controller's counts.
    fn is_complete(&self, rollout: &RolloutSnapshot<'_>) -> bool;

    /// How far it has come, once the controller has observed it.
    fn stage(&self, rollout: &RolloutSnapshot<'_>) -> RolloutStage {
        stage_of_rollout(rollout)
    }

    /// What the controller does at a time; `None` if nothing.
    fn due(&self, _rollout: &RolloutSnapshot<'_>, _now: Timestamp) -> Option<RolloutDue> {
        None
    }

    /// Whether the controller replaces a Pod of an old revision by itself.
    fn replaces(&self, _object: Value<'_>, _pod: &Node) -> bool {
        true
    }

    /// Whether its status names the generation that the controller has observed.
    fn reports_generation(&self) -> bool {
        true
    }

    /// What keeps the rollout from its next step, if the workload itself shows it.
    fn limits(&self, _rollout: &RolloutSnapshot<'_>) -> Vec<String> {
        Vec::new()
    }

    /// A number of its Pods or completions, in words: `3 replicas`.
    fn amount(&self, count: i64) -> String {
        counted(count, "replica", "replicas")
    }
}

/// What the controller does at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RolloutDue {
    /// It gives up at this time.
    Deadline(Timestamp),
    /// It starts the next run at this time. If that has passed, so many starts are missed.
    Start(Timestamp, usize),
    /// Starts that are due since this time wait for the active run.
    HeldStart(Timestamp),
}

/// Which objects of a rollout have all been read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// The objects between the workload and its Pods.
    pub(super) groups: bool,
    /// The Pods.
    pub(super) pods: bool,
    /// The texts in place of the objects that have not been read.
    pub unread: Vec<String>,
}

impl Loaded {
    /// Looks up which of these sources have been read.
    pub(super) fn of(group_kind: &str, model: &Model, sources: &[SourceKey]) -> Loaded {
        let is_read = |kind: &str| {
            let mut of_kind = sources
                .iter()
                .filter(|source| &*source.resource.kind == kind);
            of_kind.any(|source| model.coverage().is_read(source))
        };
        let kinds = [group_kind, "Pod"].into_iter();
        let unread = kinds.filter(|kind| !kind.is_empty() && !is_read(kind));
        Loaded {
            groups: is_read(group_kind),
            pods: is_read("Pod"),
            unread: unread.map(unread_text).collect(),
        }
    }
}

/// The text in place of objects that have not been read: `replicasets not read`.
pub(super) fn unread_text(kind: &str) -> String {
    format!("{}s not read", kind.to_lowercase())
}

/// The blockers of a rollout, one line each.
pub fn blockers(rollout: &RolloutSnapshot<'_>) -> Vec<String> {
    let mut blockers = rollout.kind.limits(rollout);
    blockers.extend(disruption_budgets(rollout));
    blockers
}

/// The `PodDisruptionBudgets` that allow no eviction of its Pods. They matter only while it is not Current.
fn disruption_budgets(rollout: &RolloutSnapshot<'_>) -> Vec<String> {
    if rollout.assessment().is_none_or(Assessment::is_well) {
        return Vec::new();
    }
    let budgets = rollout.model.graph().of_kind("PodDisruptionBudget");
    let budgets = budgets.filter(|budget| covers(budget, rollout));
    let lines = budgets.filter_map(|budget| {
        let mut causes = rollout.model.assessment(&budget.uid)?.causes.iter();
        let forbids = [CauseRule::BudgetViolated, CauseRule::EvictionsBlocked];
        let cause = causes.find(|cause| forbids.contains(&cause.rule))?;
        Some(format!("{}: {}", budget.object, cause.text))
    });
    lines.collect()
}

/// Whether a budget selects any Pod of the rollout.
fn covers(budget: &Node, rollout: &RolloutSnapshot<'_>) -> bool {
    let graph = rollout.model.graph();
    let mut pods = rollout.groups.iter().flat_map(|group| &group.pods);
    pods.any(|pod| graph.selects_by_relations(&budget.uid, pod))
}

/// The sum of such numbers. A server may send any.
pub(super) fn sum(counts: impl Iterator<Item = i64>) -> i64 {
    counts.fold(0, i64::saturating_add)
}

/// A number of the spec, or its default.
pub(super) fn spec(object: Value<'_>, key: &str, default: i64) -> i64 {
    object.i64_at(&["spec", key]).unwrap_or(default)
}

/// A count of the status. The API leaves out counts of 0.
pub(super) fn count(object: Value<'_>, key: &str) -> i64 {
    object.i64_at(&["status", key]).unwrap_or(0)
}
