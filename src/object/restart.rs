//! The annotation that `kubectl rollout restart` writes.

use std::borrow::Cow;

use super::Value;

/// When `kubectl rollout restart` last restarted a workload, as text; `None` if it never did.
pub fn restarted_at(workload: Value<'_>) -> Option<Cow<'_, str>> {
    let annotations = ["spec", "template", "metadata", "annotations"];
    workload
        .at(&annotations)?
        .str_at(&["kubectl.kubernetes.io/restartedAt"])
}
