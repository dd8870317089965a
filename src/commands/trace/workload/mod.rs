//! The trace of a workload: the phases of its rollout as they complete, and its revisions.
//!
//! `rollout::WorkloadKind` is what the kinds of workloads do differently, with a file for each kind. All else is
//! one for all.

mod change;
mod deployment;
mod jobs;
mod moment;
mod phase;
mod phases;
mod pods;
mod rollout;
mod sets;
mod state;
#[cfg(test)]
mod tests;
mod transitions;
mod view;

use super::chain::{Chain, FrameParts};
use super::headline::Headline;
use super::traced::Traced;
use crate::object::{GroupKind, Uid};
use crate::render::canvas::Canvas;
use crate::render::json::trace::PhaseRecord;
use crate::source::{Event, SourceKey};
use deployment::Deployment;
use jobs::{CronJob, Job};
use rollout::WorkloadKind;
use sets::{DaemonSet, StatefulSet};
use state::WorkloadState;
use transitions::PhaseTransitions;

/// The trace of one workload.
pub(super) struct WorkloadTrace {
    state: WorkloadState,
    transitions: PhaseTransitions,
}

/// The kinds of workloads, with their groups.
const KINDS: [(&str, &str, &dyn WorkloadKind); 5] = [
    ("apps", "Deployment", &Deployment),
    ("apps", "StatefulSet", &StatefulSet),
    ("apps", "DaemonSet", &DaemonSet),
    ("batch", "Job", &Job),
    ("batch", "CronJob", &CronJob),
];

/// The function that opens the trace of a workload of a type; `None` for other types.
pub(super) fn story(type_: &GroupKind) -> Option<impl FnOnce(Traced) -> WorkloadTrace + use<>> {
    let mut kinds = KINDS.into_iter();
    let is_it =
        |(group, kind, _): &(&str, &str, _)| (*group, *kind) == (&*type_.group, &*type_.kind);
    let (_, _, kind) = kinds.find(is_it)?;
    Some(move |traced| WorkloadTrace {
        state: WorkloadState::new(kind, traced),
        transitions: PhaseTransitions::default(),
    })
}

impl Chain for WorkloadTrace {
    fn traced(&self) -> &Traced {
        &self.state.traced
    }

    fn traced_mut(&mut self) -> &mut Traced {
        &mut self.state.traced
    }

    fn plan(&mut self) -> Vec<SourceKey> {
        self.state.plan()
    }

    fn note(&mut self, source: &SourceKey, event: &Event) {
        self.state.note(source, event);
    }

    fn settle(&mut self) {
        self.state.settle();
    }

    fn state(&self) -> Option<Headline> {
        view::verdict(&self.state.rollout()?)
    }

    fn remains(&self, uid: &Uid) -> String {
        match self.state.traced.graph().tree(uid).len() {
            0 => String::new(),
            1 => "; 1 dependent still exists".to_owned(),
            left => format!("; {left} dependents still exist"),
        }
    }

    fn frame_parts(&self, canvas: Canvas) -> FrameParts {
        view::frame_parts(&self.state, canvas)
    }

    fn changes(&mut self) -> Vec<String> {
        self.transitions.lines(&self.state)
    }

    fn phases(&self) -> Vec<PhaseRecord> {
        self.state.phases.iter().map(transitions::record).collect()
    }
}
