//! The changes of a rollout's phases, one line for each, and the records of the phases.

use std::collections::BTreeMap;

use crate::object::Uid;
use crate::render::age;
use crate::render::json::trace::PhaseRecord;

use super::phase::{PhaseName, PhaseProgress, RolloutPhase};
use super::state::WorkloadState;

/// The state that was printed last, to print only changes.
#[derive(Default)]
pub(super) struct PhaseTransitions {
    /// The object and the generation of the change.
    change: (Option<Uid>, Option<i64>),
    phases: BTreeMap<PhaseName, RolloutPhase>,
    left: Vec<String>,
}

impl PhaseTransitions {
    /// A line for each change since the last call: phases in their order, then pods that left.
    pub(super) fn lines(&mut self, state: &WorkloadState) -> Vec<String> {
        let name = state.traced.object();
        let mut lines = Vec::new();
        let change = (state.uid().cloned(), state.change.generation);
        if change != self.change {
            self.change = change;
            self.phases.clear();
        }
        for phase in &state.phases {
            let was = self.phases.insert(phase.name, phase.clone());
            if is_worth_a_line(phase, was.as_ref()) {
                lines.push(format!("{name} {}", text(phase)));
            }
        }
        for pod in state.left.iter().filter(|pod| !self.left.contains(pod)) {
            lines.push(format!("{pod} no longer matches the selector of {name}"));
        }
        self.left.clone_from(&state.left);
        lines
    }
}

/// Whether a phase needs a line. A waiting phase gets one only if it was further before. A new word for the
/// same failure of the same pod gets none.
fn is_worth_a_line(phase: &RolloutPhase, was: Option<&RolloutPhase>) -> bool {
    let trouble = |phase: &RolloutPhase| {
        let failure = phase.failure.as_ref()?;
        Some((failure.rule, failure.pod.clone()))
    };
    match (was, phase.name) {
        (None, PhaseName::Observed) => phase.progress != PhaseProgress::Done,
        (None, _) => phase.progress != PhaseProgress::Waiting,
        (Some(was), _) => {
            was.progress != phase.progress
                || was.text != phase.text
                || was.fields != phase.fields
                || trouble(was) != trouble(phase)
        }
    }
}

/// The phase in one line: `images failed: 0/3 pulled; web-x ErrImagePull: not found`.
fn text(phase: &RolloutPhase) -> String {
    let cause = phase.failure.as_ref().map(|failure| failure.cause.clone());
    let what = match phase.name {
        PhaseName::Change | PhaseName::LaterChange => phase.name.as_str().to_owned(),
        name => format!("{} {}", name.as_str(), phase.progress.as_str()),
    };
    let parts = [Some(what), Some(phase.message()), cause];
    let parts: Vec<String> = parts
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect();
    parts.join(": ")
}

/// The phase as a record.
pub(super) fn record(phase: &RolloutPhase) -> PhaseRecord {
    let is_done = phase.progress == PhaseProgress::Done;
    let time = phase.at.time().filter(|_| is_done);
    PhaseRecord {
        phase: phase.name.as_str(),
        state: phase.progress.as_str(),
        time: time.map(age::rfc3339_millis),
        text: phase.message(),
    }
}
