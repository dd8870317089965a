//! The lines of a rollout without a terminal, one for each change of a phase, and its records.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::object::Uid;
use crate::render::age;
use crate::render::json::trace as json;
use crate::render::text::escape_line;
use crate::status::Status;

use super::phase::{PhaseName, PhaseProgress, RolloutPhase};
use super::state::DeploymentState;
use super::verdict;

/// The state that was printed last, to print only changes.
#[derive(Default)]
pub(super) struct PhaseTransitions {
    /// The object and the generation of the change.
    change: (Option<Uid>, i64),
    /// The text of the change.
    made: String,
    phases: BTreeMap<PhaseName, RolloutPhase>,
    left: Vec<String>,
    /// The state and the stage of the headline.
    headline: Option<(Status, String)>,
}

impl PhaseTransitions {
    /// A line for each change since the last call: phases in their order, then the headline.
    pub(super) fn lines(&mut self, state: &DeploymentState, now: Timestamp) -> Vec<String> {
        let name = state.traced.target.object();
        let mut lines = Vec::new();
        let change = (state.uid().cloned(), state.change.generation);
        if change != self.change {
            self.change = change;
            self.phases.clear();
            self.made.clear();
        }
        let made = state.change.text();
        if !state.phases.is_empty() && made != self.made {
            lines.push(format!("{name} spec change: {made}"));
            self.made = made;
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
        let headline = verdict::of(state, state.rollout(now).as_ref());
        let words = headline.text();
        // The lines of the phases show the counts, so only a new stage is worth a line.
        let reached = Some((headline.status, headline.stage));
        if reached != self.headline {
            lines.push(format!("{name} {}: {words}", headline.status));
            self.headline = reached;
        }
        let time = age::rfc3339(now);
        lines
            .iter()
            .map(|line| format!("{time} {}", escape_line(line)))
            .collect()
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
                || trouble(was) != trouble(phase)
        }
    }
}

/// The phase in one line: `images failed: 0/3 pulled; web-x ErrImagePull: not found`.
fn text(phase: &RolloutPhase) -> String {
    let cause = phase.failure.as_ref().map(|failure| failure.cause.clone());
    let what = format!("{} {}", phase.name.as_str(), phase.progress.as_str());
    let parts = [Some(what), Some(phase.words()), cause];
    let parts: Vec<String> = parts
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect();
    parts.join(": ")
}

/// The phases as records.
pub(super) fn records(state: &DeploymentState) -> Vec<json::PhaseRecord> {
    let of = |phase: &RolloutPhase| {
        let time = match phase.progress {
            PhaseProgress::Done => state.phase_times.moment(phase.name).time(),
            PhaseProgress::Underway
            | PhaseProgress::Failed
            | PhaseProgress::Waiting
            | PhaseProgress::Unknown => None,
        };
        json::PhaseRecord {
            phase: phase.name.as_str(),
            state: phase.progress.as_str(),
            time: time.map(age::rfc3339_millis),
            text: phase.words(),
        }
    };
    let change = json::PhaseRecord {
        phase: PhaseName::Change.as_str(),
        state: PhaseProgress::Done.as_str(),
        time: state.change.at.time().map(age::rfc3339_millis),
        text: state.change.text(),
    };
    if state.phases.is_empty() {
        return Vec::new();
    }
    let phases = state.phases.iter().map(of);
    std::iter::once(change).chain(phases).collect()
}
