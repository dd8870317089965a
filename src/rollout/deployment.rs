//! A Deployment: its revisions are `ReplicaSets`, and a rollout has limits and a deadline.

use jiff::{SignedDuration, Timestamp};

use crate::model::Model;
use crate::object::{Kind, PodCounts, Uid, Value};

use super::phase::{PhaseName, RolloutPhase};
use super::pods::PodGroup;
use super::snapshot::{RolloutDue, RolloutSnapshot, RolloutStage, WorkloadKind, spec};
use super::stage::stage_of_rollout;
use super::{phases, pods};

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

    fn groups<'a>(&self, model: &'a Model, uid: &Uid) -> Vec<PodGroup<'a>> {
        let graph = model.graph();
        let mut sets = graph.children(uid);
        sets.retain(|set| &*set.object.kind == "ReplicaSet");
        let mut standings = graph.standings();
        let groups = sets.into_iter();
        let mut groups: Vec<_> = groups
            .map(|set| PodGroup::owned(model, set, standings.of(&set.uid)))
            .collect();
        pods::sort(&mut groups);
        groups
    }

    fn facts(&self, object: Value<'_>) -> Vec<String> {
        let wanted = spec(object, "replicas", 1);
        let strategy = strategy_with_limits(object, "strategy", wanted);
        vec![self.amount(wanted), strategy]
    }

    fn phases(&self, rollout: &RolloutSnapshot<'_>, old_pods: i64) -> Vec<RolloutPhase> {
        phases::phases(rollout, old_pods)
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

    fn stage(&self, rollout: &RolloutSnapshot<'_>) -> RolloutStage {
        stage_of_rollout(rollout)
    }

    /// The deadline ends this long after the last progress. The API server sets 600 seconds by default. The
    /// largest number means no deadline.
    fn due(&self, rollout: &RolloutSnapshot<'_>, _: Timestamp) -> Option<RolloutDue> {
        let progressing = rollout.condition("Progressing")?;
        let is_running = progressing.status == "True"
            && rollout.reported_complete().is_none()
            && !rollout.is_paused();
        let seconds = rollout
            .object()
            .i64_at(&["spec", "progressDeadlineSeconds"])
            .filter(|seconds| *seconds < i64::from(i32::MAX))?;
        let from = progressing.updated().filter(|_| is_running)?;
        let end = from.checked_add(SignedDuration::from_secs(seconds)).ok()?;
        Some(RolloutDue::Deadline(end))
    }

    fn limits(&self, rollout: &RolloutSnapshot<'_>) -> Vec<String> {
        let limits = RollingUpdateLimits::of(rollout.object(), "strategy", rollout.counts.wanted);
        let used = limits.and_then(|limits| limits.used_up(rollout));
        used.into_iter().collect()
    }
}

/// The type of an update strategy, the field `strategy` or `updateStrategy`: `RollingUpdate`.
pub(super) fn strategy(object: Value<'_>, field: &str) -> String {
    let kind = object.str_at(&["spec", field, "type"]);
    kind.as_deref().unwrap_or("RollingUpdate").to_owned()
}

/// The same with its limits: `RollingUpdate, surge 1, unavailable 0`.
pub(super) fn strategy_with_limits(object: Value<'_>, field: &str, wanted: i64) -> String {
    let kind = strategy(object, field);
    match RollingUpdateLimits::of(object, field, wanted) {
        Some(limits) => format!(
            "{kind}, surge {}, unavailable {}",
            limits.surge, limits.unavailable
        ),
        None => kind,
    }
}

/// How many Pods a rolling update may add and take away at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RollingUpdateLimits {
    /// How many Pods there may be above the wanted number.
    pub(super) surge: i64,
    /// How many of the wanted Pods may be unavailable.
    pub(super) unavailable: i64,
}

impl RollingUpdateLimits {
    /// Reads the limits of an update strategy, the field `strategy` or `updateStrategy`; `None` without one.
    /// Percentages of a surge round up, those of unavailable Pods round down, and one of both is at least 1
    /// (`ResolveFenceposts` in `k8s.io/kubernetes/pkg/controller/deployment/util`).
    pub(super) fn of(
        object: Value<'_>,
        strategy: &str,
        wanted: i64,
    ) -> Option<RollingUpdateLimits> {
        let update = object.at(&["spec", strategy, "rollingUpdate"])?;
        let surge = amount(update.get("maxSurge"), wanted, 99);
        let unavailable = amount(update.get("maxUnavailable"), wanted, 0);
        if surge.is_none() && unavailable.is_none() {
            return None;
        }
        let (surge, unavailable) = (surge.unwrap_or(0), unavailable.unwrap_or(0));
        Some(RollingUpdateLimits {
            surge,
            unavailable: match surge.saturating_add(unavailable) {
                0 => 1,
                _ => unavailable,
            },
        })
    }

    /// Why the controller neither adds nor removes a Pod; `None` if it may do either.
    pub(super) fn used_up(self, rollout: &RolloutSnapshot<'_>) -> Option<String> {
        let counts = rollout.counts;
        let most = counts.wanted.saturating_add(self.surge);
        let least = counts.wanted.saturating_sub(self.unavailable);
        let is_underway = counts.updated < counts.goal && rollout.old_left() > 0;
        (is_underway && counts.there >= most && counts.available <= least).then(|| {
            format!(
                "no budget: {} pods of at most {most}, {} available of at least {least}",
                counts.there, counts.available
            )
        })
    }
}

/// A number of Pods, or a percentage of `wanted` to which `round` hundredths of a Pod are added.
fn amount(value: Option<Value<'_>>, wanted: i64, round: i64) -> Option<i64> {
    let value = value?;
    match value.kind() {
        Kind::Number => value.as_i64(),
        Kind::String => {
            let text = value.as_str()?;
            match text.strip_suffix('%') {
                Some(percent) => {
                    let hundredths = percent.parse::<i64>().ok()?.checked_mul(wanted)?;
                    Some(hundredths.checked_add(round)? / 100)
                }
                None => text.parse().ok(),
            }
        }
        Kind::Null | Kind::Bool | Kind::Array | Kind::Object => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::object::Doc;

    use super::*;

    #[test]
    fn percentages_round_as_in_the_controller() {
        let check = |surge: &str, unavailable: &str, wanted| {
            let text = format!(
                r#"{{"spec":{{"strategy":{{"rollingUpdate":{{"maxSurge":{surge},"maxUnavailable":{unavailable}}}}}}}}}"#
            );
            let doc = Doc::parse(text).expect("JSON");
            let limits = RollingUpdateLimits::of(doc.root(), "strategy", wanted).expect("limits");
            (limits.surge, limits.unavailable)
        };
        assert_eq!(check("1", "0", 3), (1, 0));
        assert_eq!(check(r#""25%""#, r#""25%""#, 3), (1, 0));
        assert_eq!(check(r#""25%""#, r#""25%""#, 4), (1, 1));
        assert_eq!(check(r#""25%""#, r#""25%""#, 10), (3, 2));
        assert_eq!(check(r#""0%""#, r#""1%""#, 3), (0, 1));
        let most = i64::MAX.to_string();
        assert_eq!(check(&most, &most, 3), (i64::MAX, i64::MAX));
    }
}
