//! The trace of a workload: the phases of its rollout as they complete, and its revisions.

#[cfg(test)]
mod tests;
mod transitions;
mod view;

use super::chain::{Chain, FrameParts, Headline};
use super::traced::Traced;
use crate::object::Uid;
use crate::render::canvas::Canvas;
use crate::render::json::trace::PhaseRecord;
use crate::rollout::{RolloutState, WorkloadKind, stage};
use crate::source::{Event, SourceKey};
use transitions::PhaseTransitions;

pub(super) struct WorkloadTrace {
    traced: Traced,
    state: RolloutState,
    transitions: PhaseTransitions,
}

impl WorkloadTrace {
    /// The trace of a workload before any event.
    pub(super) fn new(kind: &'static dyn WorkloadKind, traced: Traced) -> WorkloadTrace {
        WorkloadTrace {
            state: RolloutState::new(kind, traced.source.clone()),
            traced,
            transitions: PhaseTransitions::default(),
        }
    }
}

impl Chain for WorkloadTrace {
    fn traced(&self) -> &Traced {
        &self.traced
    }

    fn traced_mut(&mut self) -> &mut Traced {
        &mut self.traced
    }

    fn plan(&mut self) -> Vec<SourceKey> {
        self.state.plan(self.traced.node())
    }

    fn note(&mut self, source: &SourceKey, event: &Event) {
        self.state.note(source, event, self.traced.uid());
    }

    fn settle(&mut self) {
        self.state.settle(&self.traced.model, self.traced.uid());
    }

    fn state(&self) -> Option<Headline> {
        let uid = self.traced.uid();
        let rollout = self.state.snapshot(&self.traced.model, uid)?;
        let assessment = rollout.assessment()?;
        let stage = stage(&rollout, assessment);
        Some(Headline {
            status: assessment.status(),
            stage: stage.name,
            progress: stage.progress,
        })
    }

    fn remains(&self, uid: &Uid) -> String {
        match self.traced.graph().tree(uid).len() {
            0 => String::new(),
            1 => "; 1 dependent still exists".to_owned(),
            left => format!("; {left} dependents still exist"),
        }
    }

    fn frame_parts(&self, canvas: Canvas) -> FrameParts {
        view::frame_parts(&self.traced, &self.state, canvas)
    }

    fn changes(&mut self) -> Vec<String> {
        self.transitions.lines(&self.traced, &self.state)
    }

    fn phases(&self) -> Vec<PhaseRecord> {
        self.state.phases.iter().map(transitions::record).collect()
    }
}
