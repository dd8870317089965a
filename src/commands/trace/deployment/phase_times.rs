//! When the phases of a rollout were done.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::render::age;

use super::phase::{PhaseName, PhaseProgress, RolloutPhase};

/// When something happened: by the server's clock, which has seconds, and by ours if it was seen as it
/// happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) server: Option<Timestamp>,
    pub(super) seen: Option<Timestamp>,
}

impl Moment {
    /// The one time there is, the server's first.
    pub(super) fn time(self) -> Option<Timestamp> {
        self.server.or(self.seen)
    }

    /// The span from `start`: with tenths where both were seen, for then one clock tells both; else in
    /// seconds. `None` where a time is not known, or `start` came after.
    pub(super) fn after(self, start: Moment) -> Option<String> {
        if let (Some(seen), Some(start)) = (self.seen, start.seen) {
            return Some(age::since_start(seen.duration_since(start)));
        }
        let span = self.time()?.duration_since(start.time()?);
        (!span.is_negative()).then(|| age::delta(span))
    }
}

/// When the phases since the last change came to their present state.
#[derive(Clone, Debug, Default)]
pub(super) struct PhaseTimes {
    reached: BTreeMap<PhaseName, (PhaseProgress, Moment)>,
    /// How many old pods there were at most.
    pub(super) old_pods: i64,
}

impl PhaseTimes {
    /// Notes the phases as they are; `seen` is when the latest event came, if it came as it happened.
    pub(super) fn note(&mut self, phases: &[RolloutPhase], seen: Option<Timestamp>) {
        for phase in phases {
            let was = self.reached.get(&phase.name).map(|(progress, _)| *progress);
            if was != Some(phase.progress) {
                let server = phase.time;
                let moment = Moment { server, seen };
                self.reached.insert(phase.name, (phase.progress, moment));
            }
        }
        self.reached
            .retain(|name, _| phases.iter().any(|phase| phase.name == *name));
    }

    /// When a phase came to its present state.
    pub(super) fn moment(&self, name: PhaseName) -> Moment {
        self.reached
            .get(&name)
            .map_or(Moment::default(), |(_, moment)| *moment)
    }
}
