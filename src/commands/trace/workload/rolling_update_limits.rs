//! `RollingUpdateLimits`: how many Pods a rolling update may add and take away at a time.

use crate::object::{Kind, Value};

use super::rollout::RolloutSnapshot;

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

    /// The limits as text: `surge 1, unavailable 0`.
    pub(super) fn text(self) -> String {
        format!("surge {}, unavailable {}", self.surge, self.unavailable)
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
    use super::*;
    use crate::object::Doc;

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
