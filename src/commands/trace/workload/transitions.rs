//! The changes of a rollout's phases, one line for each, and the records of the phases.

use std::collections::BTreeMap;

use crate::object::Uid;
use crate::render::age;
use crate::render::json::trace::PhaseRecord;
use crate::rollout::{PhaseName, PhaseProgress, RolloutPhase, RolloutState};

use super::view::plain_lines;
use crate::commands::trace::traced::Traced;

/// The state that was printed last, to print only changes.
#[derive(Default)]
pub(super) struct PhaseTransitions {
    /// The object and the generation of the change.
    change: (Option<Uid>, Option<i64>),
    phases: BTreeMap<PhaseName, PrintedPhase>,
    left: Vec<String>,
}

/// A phase that was printed.
struct PrintedPhase {
    phase: RolloutPhase,
    /// What changed, for a change.
    fields: Vec<String>,
}

impl PhaseTransitions {
    /// A line for each change since the last call: phases in their order, then pods that left.
    pub(super) fn lines(&mut self, traced: &Traced, state: &RolloutState) -> Vec<String> {
        let name = traced.object();
        let mut lines = Vec::new();
        let change = (traced.presence.last_uid().cloned(), state.generation());
        if change != self.change {
            self.change = change;
            self.phases.clear();
        }
        for phase in &state.phases {
            let phase = PrintedPhase::of(phase);
            if phase.is_worth_a_line(self.phases.get(&phase.phase.name)) {
                lines.push(format!("{name} {}", phase.text()));
            }
            self.phases.insert(phase.phase.name, phase);
        }
        for pod in state.left.iter().filter(|pod| !self.left.contains(pod)) {
            lines.push(format!("{pod} no longer matches the selector of {name}"));
        }
        self.left.clone_from(&state.left);
        lines
    }
}

impl PrintedPhase {
    fn of(phase: &RolloutPhase) -> PrintedPhase {
        PrintedPhase {
            phase: phase.clone(),
            fields: plain_lines(phase),
        }
    }

    /// Whether it needs a line. A waiting phase gets one only if it was further before. A new word for the same failure of the
    /// same pod gets none.
    fn is_worth_a_line(&self, was: Option<&PrintedPhase>) -> bool {
        let trouble = |phase: &RolloutPhase| {
            let failure = phase.failure.as_ref()?;
            Some((failure.rule, failure.pod.clone()))
        };
        let phase = &self.phase;
        match (was, phase.name) {
            (None, PhaseName::Observed) => phase.progress != PhaseProgress::Done,
            (None, _) => phase.progress != PhaseProgress::Waiting,
            (Some(PrintedPhase { phase: was, fields }), _) => {
                was.progress != phase.progress
                    || was.text != phase.text
                    || *fields != self.fields
                    || trouble(was) != trouble(phase)
            }
        }
    }

    /// The phase in one line: `images failed: 0/3 pulled; web-x ErrImagePull: not found`.
    fn text(&self) -> String {
        let phase = &self.phase;
        let cause = phase.failure.as_ref().map(|failure| failure.cause.clone());
        let what = match phase.name {
            PhaseName::Change | PhaseName::LaterChange => phase.name.as_str().to_owned(),
            name => format!("{} {}", name.as_str(), phase.progress.as_str()),
        };
        let parts = [Some(what), Some(self.message()), cause];
        let parts: Vec<String> = parts
            .into_iter()
            .flatten()
            .filter(|part| !part.is_empty())
            .collect();
        parts.join(": ")
    }

    /// The summary of the phase, with what changed.
    fn message(&self) -> String {
        let summary = self.phase.summary();
        let fields: Vec<&str> = self.fields.iter().map(|field| field.trim()).collect();
        match fields[..] {
            [] => summary,
            _ => format!("{summary}: {}", fields.join("; ")),
        }
    }
}

/// The phase as a record.
pub(super) fn record(phase: &RolloutPhase) -> PhaseRecord {
    let is_done = phase.progress == PhaseProgress::Done;
    let time = phase.at.time().filter(|_| is_done && !phase.is_at_most);
    PhaseRecord {
        phase: phase.name.as_str(),
        state: phase.progress.as_str(),
        time: time.map(age::rfc3339_millis),
        text: PrintedPhase::of(phase).message(),
    }
}
