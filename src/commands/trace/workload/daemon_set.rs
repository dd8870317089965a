//! A `DaemonSet`: it replaces the Pods of its nodes, some at a time.

use crate::commands::trace::headline::Headline;
use crate::commands::trace::traced::Traced;
use crate::object::{Uid, Value};
use crate::render::count::counted;
use crate::status::Status;

use super::numbers::count;
use super::phase::RolloutPhase;
use super::pod_group::PodGroup;
use super::rolling_update_limits::RollingUpdateLimits;
use super::rollout::{RolloutSnapshot, WorkloadKind};
use super::{controller_revisions, phases, stateful_set, verdict};

/// The kind `apps/DaemonSet`.
pub(super) struct DaemonSet;

impl WorkloadKind for DaemonSet {
    fn group_kind(&self) -> &'static str {
        "ControllerRevision"
    }

    fn groups<'a>(&self, traced: &'a Traced, uid: &Uid) -> Vec<PodGroup<'a>> {
        controller_revisions::groups(traced, uid)
    }

    fn facts(&self, object: Value<'_>) -> Vec<String> {
        let wanted = count(object, "desiredNumberScheduled");
        let limits = RollingUpdateLimits::of(object, "updateStrategy", wanted);
        let limits = limits.map(RollingUpdateLimits::text);
        let facts = std::iter::once(stateful_set::strategy(object)).chain(limits);
        let facts = facts.collect::<Vec<_>>().join(", ");
        vec![self.amount(wanted), facts]
    }

    fn phases(&self, rollout: &RolloutSnapshot<'_>, old_pods: i64) -> Vec<RolloutPhase> {
        phases::of(rollout, old_pods)
    }

    /// As `kubectl rollout status` decides it.
    fn is_complete(&self, rollout: &RolloutSnapshot<'_>) -> bool {
        let counts = rollout.counts;
        counts.updated >= counts.wanted && counts.available >= counts.wanted
    }

    fn headline(&self, rollout: &RolloutSnapshot<'_>, status: Status) -> Headline {
        if rollout.is_complete() && rollout.counts.wanted == 0 {
            return Headline::new(status, "runs on no node");
        }
        verdict::rollout(rollout, status)
    }

    fn limits(&self, rollout: &RolloutSnapshot<'_>) -> Vec<String> {
        let object = rollout.object();
        let limits = RollingUpdateLimits::of(object, "updateStrategy", rollout.counts.wanted);
        let used = limits.and_then(|limits| limits.used_up(rollout));
        let misscheduled = count(object, "numberMisscheduled");
        let misscheduled = (misscheduled > 0).then(|| {
            let nodes = counted(misscheduled, "node runs", "nodes run");
            format!("{nodes} a pod but must not (numberMisscheduled)")
        });
        used.into_iter().chain(misscheduled).collect()
    }

    fn amount(&self, count: i64) -> String {
        counted(count, "node", "nodes")
    }
}
