//! The arithmetic of a rolling update: the sizes of the `ReplicaSet`s, and the Deployment's status.
//!
//! The rules are those of `pkg/controller/deployment` in Kubernetes, for the `RollingUpdate` strategy.

use serde_json::{Value, json};

use super::world::name_of;
use crate::sandbox::store::{number, text};

pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";

/// A Deployment and its `ReplicaSet`s; the one of the current template is separate.
pub(super) struct Rollout {
    pub(super) deployment: Value,
    pub(super) new: Option<Value>,
    /// Oldest first.
    pub(super) old: Vec<Value>,
    pub(super) desired: i64,
    pub(super) surge: i64,
    pub(super) unavailable: i64,
}

impl Rollout {
    pub(super) fn of(deployment: Value, sets: Vec<Value>) -> Self {
        let hash = template_hash(&deployment["spec"]["template"]);
        let is_new = |set: &Value| set["metadata"]["labels"]["pod-template-hash"] == hash;
        let (new, mut old): (Vec<Value>, Vec<Value>) = sets.into_iter().partition(is_new);
        old.sort_by_key(revision);
        let desired = number(&deployment, "/spec/replicas");
        let limits = &deployment["spec"]["strategy"]["rollingUpdate"];
        // Kubernetes rounds a surge up and an unavailability down.
        let surge = amount(&limits["maxSurge"], desired, 99);
        let unavailable = amount(&limits["maxUnavailable"], desired, 0);
        let unavailable = unavailable.max(i64::from(surge == 0));
        Self {
            new: new.into_iter().next(),
            old,
            desired,
            surge,
            unavailable,
            deployment,
        }
    }

    fn sets(&self) -> impl Iterator<Item = &Value> {
        self.old.iter().chain(&self.new)
    }

    fn sum(&self, pointer: &str) -> i64 {
        self.sets().map(|set| number(set, pointer)).sum()
    }

    /// The number of replicas that the new set should have now.
    pub(super) fn new_size(&self) -> i64 {
        let present = self.new.as_ref();
        let present = present.map_or(0, |set| number(set, "/spec/replicas"));
        let room = self.desired + self.surge - self.sum("/spec/replicas");
        if present > self.desired {
            self.desired
        } else {
            present + room.clamp(0, self.desired - present)
        }
    }

    /// The old sets that shrink now, with their new sizes. Broken replicas are removed first, then the
    /// oldest.
    pub(super) fn shrinking(&self) -> Vec<(String, i64)> {
        let Some(new) = &self.new else {
            return Vec::new();
        };
        let least = self.desired - self.unavailable;
        let starting = number(new, "/spec/replicas") - number(new, "/status/availableReplicas");
        let mut surplus = self.sum("/spec/replicas") - least - starting;
        let mut healthy_surplus = self.sum("/status/availableReplicas") - least;
        let mut sizes = Vec::new();
        for set in &self.old {
            let size = number(set, "/spec/replicas");
            let available = number(set, "/status/availableReplicas");
            let broken = (size - available).clamp(0, surplus.max(0));
            surplus -= broken;
            sizes.push((name_of(set), size, size - broken));
        }
        for (_, _, size) in &mut sizes {
            let spare = (*size).clamp(0, surplus.min(healthy_surplus).max(0));
            surplus -= spare;
            healthy_surplus -= spare;
            *size -= spare;
        }
        sizes
            .into_iter()
            .filter(|(_, was, size)| was != size)
            .map(|(name, _, size)| (name, size))
            .collect()
    }

    /// The status, as the sum of the sets; `None` before there is a new set.
    pub(super) fn status(&self, now: &Value) -> Option<Value> {
        let (new, before) = (self.new.as_ref()?, &self.deployment["status"]);
        let available = self.sum("/status/availableReplicas");
        let counts = [
            ("replicas", self.sum("/status/replicas")),
            ("updatedReplicas", number(new, "/status/replicas")),
            ("readyReplicas", self.sum("/status/readyReplicas")),
            ("availableReplicas", available),
            (
                "unavailableReplicas",
                (self.sum("/spec/replicas") - available).max(0),
            ),
        ];
        let generation = &self.deployment["metadata"]["generation"];
        let mut status =
            json!({"observedGeneration": generation, "conditions": before["conditions"]});
        for (key, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
            status[key] = json!(count);
        }
        let [is_available, reason, has] = if available >= self.desired - self.unavailable {
            ["True", "MinimumReplicasAvailable", "has"]
        } else {
            ["False", "MinimumReplicasUnavailable", "does not have"]
        };
        let message = format!("Deployment {has} minimum availability.");
        let availability = ["Available", is_available, reason, &message];
        set_condition(&mut status["conditions"], availability, now);
        let set = name_of(new);
        if counts[..4].iter().all(|(_, count)| *count == self.desired) {
            let message = format!("ReplicaSet \"{set}\" has successfully progressed.");
            let progress = ["Progressing", "True", "NewReplicaSetAvailable", &message];
            set_condition(&mut status["conditions"], progress, now);
        } else if has_progressed(before, &status) {
            let message = format!("ReplicaSet \"{set}\" is progressing.");
            let progress = ["Progressing", "True", "ReplicaSetUpdated", &message];
            touch_condition(&mut status["conditions"], progress, now);
        }
        Some(status)
    }
}

/// Whether there are more new replicas, fewer old ones, or more that are ready or available.
fn has_progressed(before: &Value, after: &Value) -> bool {
    let of = |status: &Value, key: &str| status[key].as_i64().unwrap_or(0);
    let old = |status: &Value| of(status, "replicas") - of(status, "updatedReplicas");
    let more = |key: &str| of(after, key) > of(before, key);
    more("updatedReplicas")
        || more("readyReplicas")
        || more("availableReplicas")
        || old(after) < old(before)
}

/// Sets a condition, given as type, status, reason and message, unless its status and reason are unchanged.
pub(super) fn set_condition(
    conditions: &mut Value,
    [kind, status, reason, message]: [&str; 4],
    now: &Value,
) {
    let present = conditions
        .as_array()
        .into_iter()
        .flatten()
        .find(|condition| condition["type"] == kind);
    if present
        .is_none_or(|condition| condition["status"] != status || condition["reason"] != reason)
    {
        touch_condition(conditions, [kind, status, reason, message], now);
    }
}

/// Sets a condition and its update time in any case.
fn touch_condition(
    conditions: &mut Value,
    [kind, status, reason, message]: [&str; 4],
    now: &Value,
) {
    let mut list = conditions.as_array().cloned().unwrap_or_default();
    let present = list
        .iter()
        .position(|condition| condition["type"] == kind)
        .map(|at| list.remove(at));
    let since = present.filter(|condition| condition["status"] == status);
    let since = since.map_or_else(
        || now.clone(),
        |condition| condition["lastTransitionTime"].clone(),
    );
    list.push(json!({
        "type": kind, "status": status, "reason": reason, "message": message,
        "lastTransitionTime": since, "lastUpdateTime": now,
    }));
    *conditions = Value::Array(list);
}

pub(super) fn revision(set: &Value) -> i64 {
    let revision = &set["metadata"]["annotations"][REVISION];
    text(revision).parse().unwrap_or(0)
}

/// An absolute number, or a percentage of `whole`. `rounding` is added to the hundredths before they are
/// truncated.
fn amount(value: &Value, whole: i64, rounding: i64) -> i64 {
    let percent = value
        .as_str()
        .and_then(|text| text.strip_suffix('%'))
        .and_then(|digits| digits.parse::<i64>().ok());
    percent.map_or_else(
        || value.as_i64().unwrap_or(0),
        |percent| (whole * percent + rounding) / 100,
    )
}

/// About ten characters that identify a template: FNV-1a over its JSON, in the letters that Kubernetes uses.
pub(super) fn template_hash(template: &Value) -> String {
    let fold = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
    let hash = template.to_string().bytes().fold(2_166_136_261, fold);
    let letters = b"bcdfghjklmnpqrstvwxz2456789";
    hash.to_string()
        .bytes()
        .map(|digit| char::from(letters[usize::from(digit) % letters.len()]))
        .collect()
}
