//! The trace of a Deployment: the phases of its rollout as they complete, and its revisions.

mod change;
mod loaded;
mod moment;
mod phase;
mod phases;
mod pods;
mod revisions;
mod rollout;
mod state;
#[cfg(test)]
mod tests;
mod transitions;
mod verdict;
mod view;

use super::chain::{Chain, FrameParts};
use super::headline::Headline;
use super::traced::Traced;
use crate::object::Uid;
use crate::render::canvas::Canvas;
use crate::render::json::trace::PhaseRecord;
use crate::source::{Event, SourceKey};
use state::DeploymentState;
use transitions::PhaseTransitions;

/// The trace of one Deployment.
pub(super) struct DeploymentTrace {
    state: DeploymentState,
    transitions: PhaseTransitions,
}

impl DeploymentTrace {
    /// The trace of a Deployment before any event.
    pub(super) fn new(source: SourceKey) -> DeploymentTrace {
        DeploymentTrace {
            state: DeploymentState::new(source),
            transitions: PhaseTransitions::default(),
        }
    }
}

impl Chain for DeploymentTrace {
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
        verdict::of(&self.state.rollout()?)
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
