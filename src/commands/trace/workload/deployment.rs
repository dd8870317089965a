//! A Deployment: its revisions are `ReplicaSets`, and a rollout has limits and a deadline.

use jiff::{SignedDuration, Timestamp};

use crate::commands::trace::headline::Headline;
use crate::commands::trace::traced::Traced;
use crate::object::{PodCounts, Uid, Value};
use crate::status::Status;

use super::numbers::spec;
use super::phase::{PhaseName, RolloutPhase};
use super::pod_group::{self, PodGroup};
use super::rolling_update_limits::RollingUpdateLimits;
use super::rollout::{RolloutSnapshot, WorkloadKind};
use super::{phases, verdict};

/// The kind `apps/Deployment`.
pub(super) struct Deployment;

impl WorkloadKind for Deployment {
    fn group_kind(&self) -> &'static str {
        "ReplicaSet"
    }

    fn groups_own_pods(&self) -> bool {
        true
    }

    fn group_phase(&self) -> PhaseName {
        PhaseName::ReplicaSet
    }

    fn groups<'a>(&self, traced: &'a Traced, uid: &Uid) -> Vec<PodGroup<'a>> {
        let graph = traced.graph();
        let mut sets = graph.children(uid);
        sets.retain(|set| &*set.object.kind == "ReplicaSet");
        let mut standings = graph.standings();
        let groups = sets.into_iter();
        let mut groups: Vec<_> = groups
            .map(|set| PodGroup::owned(traced, set, standings.of(&set.uid)))
            .collect();
        pod_group::sort(&mut groups);
        groups
    }

    fn facts(&self, object: Value<'_>) -> Vec<String> {
        let wanted = spec(object, "replicas", 1);
        let strategy = object.at(&["spec", "strategy"]);
        let kind = strategy.and_then(|strategy| strategy.str_at(&["type"]));
        let kind = kind.as_deref().unwrap_or("RollingUpdate").to_owned();
        let limits = RollingUpdateLimits::of(object, "strategy", wanted);
        let limits = limits.map(RollingUpdateLimits::text);
        let facts = std::iter::once(kind).chain(limits);
        let facts = facts.collect::<Vec<_>>().join(", ");
        vec![self.amount(wanted), facts]
    }

    fn phases(&self, rollout: &RolloutSnapshot<'_>, old_pods: i64) -> Vec<RolloutPhase> {
        phases::of(rollout, old_pods)
    }

    /// The controller's rule: `DeploymentComplete` in `k8s.io/kubernetes/pkg/controller/deployment/util`. The
    /// current `ReplicaSet` must agree, because the counts of the Deployment may be older than the change. If
    /// `ReplicaSets` are not read, the Deployment alone decides.
    fn is_complete(&self, rollout: &RolloutSnapshot<'_>) -> bool {
        let PodCounts {
            wanted,
            there,
            updated,
            available,
            ..
        } = rollout.counts;
        (!rollout.knows_owners() || rollout.new_available() == wanted)
            && [there, updated, available] == [wanted; 3]
    }

    fn headline(&self, rollout: &RolloutSnapshot<'_>, status: Status) -> Headline {
        verdict::rollout(rollout, status)
    }

    /// The deadline ends this long after the last progress. The API server sets 600 seconds by default. The
    /// largest number means no deadline.
    fn deadline(&self, rollout: &RolloutSnapshot<'_>) -> Option<Timestamp> {
        let progressing = rollout.condition("Progressing")?;
        let is_running = progressing.status == "True"
            && progressing.reason != "NewReplicaSetAvailable"
            && !rollout.is_paused();
        let seconds = rollout
            .object()
            .i64_at(&["spec", "progressDeadlineSeconds"])
            .filter(|seconds| *seconds < i64::from(i32::MAX))?;
        let from = progressing.updated().filter(|_| is_running)?;
        from.checked_add(SignedDuration::from_secs(seconds)).ok()
    }

    fn limits(&self, rollout: &RolloutSnapshot<'_>) -> Vec<String> {
        let limits = RollingUpdateLimits::of(rollout.object(), "strategy", rollout.counts.wanted);
        let used = limits.and_then(|limits| limits.used_up(rollout));
        used.into_iter().collect()
    }
}
