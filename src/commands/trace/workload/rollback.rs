//! Rollbacks: whether the newest revision of a workload is an earlier one again.

use super::pod_group::PodGroup;
use super::rollout::RolloutSnapshot;

/// The revision whose Pod template a rollback brought back.
pub(super) enum EarlierRevision {
    /// The number that it had before.
    Number(String),
    /// It had a lower number before.
    Unknown,
}

/// The earlier revision, if the newest one is a rollback. A rollback gives an old revision a new number. The
/// Deployment controller records the numbers before; other controllers do not, but the object is then older than
/// one with a lower number.
pub(super) fn earlier_revision(
    rollout: &RolloutSnapshot<'_>,
    group: &PodGroup<'_>,
) -> Option<EarlierRevision> {
    let object = rollout.traced.model.doc(&group.object?.uid)?;
    let path = [
        "metadata",
        "annotations",
        "deployment.kubernetes.io/revision-history",
    ];
    if let Some(history) = object.root().str_at(&path) {
        let last = history.rsplit(',').next()?.trim();
        return (!last.is_empty()).then(|| EarlierRevision::Number(last.to_owned()));
    }
    let is_older =
        |other: &PodGroup<'_>| other.number < group.number && other.created() > group.created();
    let mut others = rollout.old_groups();
    others.any(is_older).then_some(EarlierRevision::Unknown)
}
