//! What a rollout amounts to, in a state and a few words.

use crate::commands::trace::target::Presence;
use crate::status::Status;

use super::phase::{Phase, Progress};
use super::reading::Reading;
use super::state::State;

/// Judges a Deployment by how far its rollout is.
pub(super) fn of(state: &State, reading: Option<&Reading<'_>>) -> (Status, String) {
    match (&state.presence, reading) {
        (Presence::Unread, _) => (Status::Unknown, "not read yet".to_owned()),
        (Presence::Absent, _) => (
            Status::NotFound,
            format!("waiting for {} to be created", state.target.object()),
        ),
        (Presence::Deleted(uid), _) => {
            let left = state.objects.graph().tree(uid).len();
            let words = match left {
                0 => "deleted".to_owned(),
                1 => "deleted; 1 object of it is still there".to_owned(),
                left => format!("deleted; {left} objects of it are still there"),
            };
            (Status::NotFound, words)
        }
        (Presence::There(_), None) => (Status::Unknown, "not readable".to_owned()),
        (Presence::There(_), Some(reading)) => there(reading, &state.phases),
    }
}

fn there(reading: &Reading<'_>, phases: &[Phase]) -> (Status, String) {
    let wanted = reading.wanted();
    let (generation, observed) = reading.generations();
    let updated = reading.count("updatedReplicas");
    let available = reading.count("availableReplicas");
    let counts = format!("{updated}/{wanted} updated, {available} available");
    let failing = phases
        .iter()
        .any(|phase| phase.progress == Progress::Failed);
    if reading.is_deleting() {
        return (Status::Terminating, "being deleted".to_owned());
    }
    if !reading.is_observed() {
        let words = format!(
            "not yet observed by the controller (generation {generation}, observed {observed})"
        );
        return (Status::InProgress, words);
    }
    if reading.deadline_exceeded().is_some() {
        return (Status::Failed, format!("the rollout has failed: {counts}"));
    }
    if let Some(failure) = reading.replica_failure() {
        return (Status::Failed, format!("{}: {counts}", failure.reason));
    }
    if reading.is_complete() {
        return match wanted {
            0 => (Status::Current, "scaled to 0".to_owned()),
            _ => (
                Status::Current,
                format!("complete: {available}/{wanted} available"),
            ),
        };
    }
    if reading.is_paused() {
        return (Status::InProgress, format!("paused: {counts}"));
    }
    let status = if failing {
        Status::Failed
    } else {
        Status::InProgress
    };
    let is_rolled = reading
        .condition("Progressing")
        .is_some_and(|condition| condition.reason == "NewReplicaSetAvailable");
    let words = match (wanted, is_rolled) {
        (0, _) => format!("scaling to 0: {} left", pods(reading.count("replicas"))),
        (_, true) => format!("rolled out, but {available}/{wanted} available"),
        (_, false) => format!("rolling out: {counts}"),
    };
    (status, words)
}

fn pods(count: i64) -> String {
    format!("{count} pod{}", if count == 1 { "" } else { "s" })
}
