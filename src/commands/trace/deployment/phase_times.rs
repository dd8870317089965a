//! `PhaseTimes`: when the phases of a rollout were completed.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::render::age;

use super::phase::{PhaseName, PhaseProgress, RolloutPhase};

/// When something happened: by the server's clock, in seconds, and by our clock if it was seen live.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) server: Option<Timestamp>,
    pub(super) seen: Option<Timestamp>,
}

impl Moment {
    /// The known time; the server's if both are known.
    pub(super) fn time(self) -> Option<Timestamp> {
        self.server.or(self.seen)
    }

    /// The time since `start`: in tenths of a second if both were seen live, because one clock then shows
    /// both; otherwise in seconds. `None` if a time is unknown, or `start` was later.
    pub(super) fn after(self, start: Moment) -> Option<String> {
        if let (Some(seen), Some(start)) = (self.seen, start.seen) {
            return Some(age::since_start(seen.duration_since(start)));
        }
        let span = self.time()?.duration_since(start.time()?);
        (!span.is_negative()).then(|| age::delta(span))
    }
}

/// When the phases since the last change reached their current progress.
#[derive(Clone, Debug, Default)]
pub(super) struct PhaseTimes {
    reached: BTreeMap<PhaseName, (PhaseProgress, Moment)>,
    /// The highest number of old pods so far.
    pub(super) old_pods: i64,
}

impl PhaseTimes {
    /// Records the current phases. `seen` is when the latest event arrived, if it arrived live.
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

    /// When a phase reached its current progress.
    pub(super) fn moment(&self, name: PhaseName) -> Moment {
        self.reached
            .get(&name)
            .map_or(Moment::default(), |(_, moment)| *moment)
    }
}
