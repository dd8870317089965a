//! A Deployment: its revisions are `ReplicaSets`, and a rollout has limits and a deadline.

use jiff::{SignedDuration, Timestamp};

use crate::model::Model;
use crate::object::{Kind, PodCounts, Uid, Value};

use super::phase::PhaseName;
use super::pods::{self, PodGroup};
use super::snapshot::{RolloutDue, RolloutSnapshot, WorkloadKind, spec};

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
        let strategy = strategy_with_limits(object, UpdateStrategy::DEPLOYMENT, wanted);
        vec![self.amount(wanted), strategy]
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
        let (object, wanted) = (rollout.object(), rollout.counts.wanted);
        let limits = RollingUpdateLimits::of(object, UpdateStrategy::DEPLOYMENT, wanted);
        let used = limits.and_then(|limits| limits.used_up(rollout));
        used.into_iter().collect()
    }
}

/// Where a kind has its update strategy, and how its controller rounds a percentage of unavailable Pods.
#[derive(Clone, Copy, Debug)]
pub(super) struct UpdateStrategy {
    /// The field of the spec.
    field: &'static str,
    unavailable: Rounding,
}

impl UpdateStrategy {
    /// `ResolveFenceposts` in `k8s.io/kubernetes/pkg/controller/deployment/util`.
    pub(super) const DEPLOYMENT: UpdateStrategy = UpdateStrategy {
        field: "strategy",
        unavailable: Rounding::Down,
    };
    /// `UnavailableCount` in `k8s.io/kubernetes/pkg/controller/daemon/util`.
    pub(super) const DAEMON_SET: UpdateStrategy = UpdateStrategy {
        field: "updateStrategy",
        unavailable: Rounding::Up,
    };
}

/// How a percentage of the Pods becomes a number of them.
#[derive(Clone, Copy, Debug)]
enum Rounding {
    Down,
    Up,
}

/// The type of an update strategy, the field `strategy` or `updateStrategy`: `RollingUpdate`.
pub(super) fn strategy(object: Value<'_>, field: &str) -> String {
    let kind = object.str_at(&["spec", field, "type"]);
    kind.as_deref().unwrap_or("RollingUpdate").to_owned()
}

/// The same with its limits: `RollingUpdate, surge 1, unavailable 0`.
pub(super) fn strategy_with_limits(
    object: Value<'_>,
    update: UpdateStrategy,
    wanted: i64,
) -> String {
    let kind = strategy(object, update.field);
    match RollingUpdateLimits::of(object, update, wanted) {
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
    /// Reads the limits of an update strategy; `None` without one. Percentages of a surge round up, and one of both limits is at
    /// least 1.
    pub(super) fn of(
        object: Value<'_>,
        update: UpdateStrategy,
        wanted: i64,
    ) -> Option<RollingUpdateLimits> {
        let limits = object.at(&["spec", update.field, "rollingUpdate"])?;
        let surge = amount(limits.get("maxSurge"), wanted, Rounding::Up);
        let unavailable = amount(limits.get("maxUnavailable"), wanted, update.unavailable);
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

/// A number of Pods, or a percentage of `wanted`.
fn amount(value: Option<Value<'_>>, wanted: i64, rounding: Rounding) -> Option<i64> {
    let value = value?;
    let round = match rounding {
        Rounding::Down => 0,
        Rounding::Up => 99,
    };
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
        let check = |update: UpdateStrategy, surge: &str, unavailable: &str, wanted| {
            let text = format!(
                r#"{{"spec":{{"{}":{{"rollingUpdate":{{"maxSurge":{surge},"maxUnavailable":{unavailable}}}}}}}}}"#,
                update.field
            );
            let doc = Doc::parse(text).expect("JSON");
            let limits = RollingUpdateLimits::of(doc.root(), update, wanted).expect("limits");
            (limits.surge, limits.unavailable)
        };
        let most = i64::MAX.to_string();
        for (surge, unavailable, wanted, deployment, daemon_set) in [
            ("1", "0", 3, (1, 0), (1, 0)),
            (r#""25%""#, r#""25%""#, 3, (1, 0), (1, 1)),
            (r#""25%""#, r#""25%""#, 4, (1, 1), (1, 1)),
            (r#""25%""#, r#""25%""#, 10, (3, 2), (3, 3)),
            (r#""0%""#, r#""1%""#, 3, (0, 1), (0, 1)),
            ("0", r#""10%""#, 15, (0, 1), (0, 2)),
            ("0", "0", 15, (0, 1), (0, 1)),
            (&most, &most, 3, (i64::MAX, i64::MAX), (i64::MAX, i64::MAX)),
        ] {
            for (update, expected) in [
                (UpdateStrategy::DEPLOYMENT, deployment),
                (UpdateStrategy::DAEMON_SET, daemon_set),
            ] {
                let found = check(update, surge, unavailable, wanted);
                assert_eq!(found, expected, "{update:?} {surge} {unavailable} {wanted}");
            }
        }
    }
}
