//! The trace of a Deployment: the phases of its rollout as they complete, and its revisions.

mod change;
mod loaded;
mod phase;
mod phase_times;
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

use std::sync::Arc;

use jiff::Timestamp;

use super::chain::Chain;
use super::headline::Headline;
use super::target::TracedObject;
use super::traced::Traced;
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
    pub(super) fn new(target: TracedObject) -> DeploymentTrace {
        DeploymentTrace {
            state: DeploymentState::new(target),
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

    fn apply(&mut self, source: &Arc<SourceKey>, event: &Event, now: Timestamp) {
        self.state.note(source, event);
        self.state.traced.apply(source, event, now);
    }

    fn headline(&self, now: Timestamp) -> Headline {
        verdict::of(&self.state, self.state.rollout(now).as_ref())
    }

    fn transitions(&mut self, now: Timestamp) -> Vec<String> {
        self.transitions.lines(&self.state, now)
    }

    fn settle(&mut self, now: Timestamp) {
        self.state.settle(now);
    }

    fn frame(&self, canvas: Canvas) -> Vec<String> {
        view::frame(&self.state, canvas)
    }

    fn phases(&self) -> Vec<PhaseRecord> {
        transitions::records(&self.state)
    }
}
