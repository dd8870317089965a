//! The story of a rollout: the change of a workload, the phases that follow it, how far each has come, and what holds it up.
//!
//! [`RolloutSnapshot`] reads the objects of a workload in the model at one time. [`RolloutState`] follows the events, so that it
//! knows the change and the time of each phase. [`WorkloadKind`] is what the kinds of workloads do differently, with a file
//! for each. All texts are words.

mod change;
mod deployment;
mod jobs;
mod phase;
mod phases;
mod pods;
mod sets;
mod snapshot;
mod stage;
mod state;

use crate::object::GroupKind;
use deployment::Deployment;
use jobs::{CronJob, Job};
use sets::{DaemonSet, StatefulSet};

pub use change::{ChangedFields, Moment, SpecChange};
pub use phase::{PhaseFailure, PhaseName, PhaseProgress, RolloutPhase};
pub use pods::PodGroup;
pub use snapshot::{Loaded, RolloutDue, RolloutSnapshot, WorkloadKind, blockers};
pub use stage::{RolloutStage, condition_since, condition_status, stage};
pub use state::RolloutState;

/// The kinds of workloads, with their groups.
const KINDS: [(&str, &str, &dyn WorkloadKind); 5] = [
    ("apps", "Deployment", &Deployment),
    ("apps", "StatefulSet", &StatefulSet),
    ("apps", "DaemonSet", &DaemonSet),
    ("batch", "Job", &Job),
    ("batch", "CronJob", &CronJob),
];

/// What is different for the workloads of a type; `None` for other types.
pub fn workload_kind(type_: &GroupKind) -> Option<&'static dyn WorkloadKind> {
    let mut kinds = KINDS.into_iter();
    let found = kinds.find(|(group, kind, _)| (*group, *kind) == (&*type_.group, &*type_.kind));
    found.map(|(_, _, kind)| kind)
}
