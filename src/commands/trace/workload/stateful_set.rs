//! A `StatefulSet`: it replaces its Pods from the highest ordinal down to the partition.

use std::borrow::Cow;

use crate::commands::trace::headline::Headline;
use crate::commands::trace::traced::Traced;
use crate::graph::Node;
use crate::object::{Uid, Value, partition};
use crate::status::Status;

use super::numbers::spec;
use super::phase::RolloutPhase;
use super::pod_group::PodGroup;
use super::rollout::{RolloutSnapshot, WorkloadKind};
use super::{controller_revisions, phases, verdict};

/// The kind `apps/StatefulSet`.
pub(super) struct StatefulSet;

impl WorkloadKind for StatefulSet {
    fn group_kind(&self) -> &'static str {
        "ControllerRevision"
    }

    fn groups<'a>(&self, traced: &'a Traced, uid: &Uid) -> Vec<PodGroup<'a>> {
        controller_revisions::groups(traced, uid)
    }

    fn facts(&self, object: Value<'_>) -> Vec<String> {
        let mut facts = vec![strategy(object)];
        if let partition @ 1.. = partition(object) {
            facts.push(format!("partition {partition}"));
        }
        facts.extend(
            object
                .str_at(&["spec", "podManagementPolicy"])
                .filter(|policy| policy == "Parallel")
                .map(Cow::into_owned),
        );
        vec![self.amount(spec(object, "replicas", 1)), facts.join(", ")]
    }

    fn phases(&self, rollout: &RolloutSnapshot<'_>, old_pods: i64) -> Vec<RolloutPhase> {
        phases::of(rollout, old_pods)
    }

    /// As `kubectl rollout status` decides it, with the wanted number of Pods.
    fn is_complete(&self, rollout: &RolloutSnapshot<'_>) -> bool {
        let counts = rollout.counts;
        counts.there == counts.wanted
            && counts.available >= counts.wanted
            && counts.updated >= counts.goal
    }

    fn headline(&self, rollout: &RolloutSnapshot<'_>, status: Status) -> Headline {
        verdict::rollout(rollout, status)
    }

    /// Pods below the partition keep their revision.
    fn replaces(&self, object: Value<'_>, pod: &Node) -> bool {
        pod.ordinal()
            .is_none_or(|ordinal| ordinal >= partition(object))
    }
}

/// The update strategy of a `StatefulSet` or a `DaemonSet`.
pub(super) fn strategy(object: Value<'_>) -> String {
    let kind = object.str_at(&["spec", "updateStrategy", "type"]);
    kind.as_deref().unwrap_or("RollingUpdate").to_owned()
}
