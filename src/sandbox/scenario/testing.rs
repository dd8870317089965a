//! Plays scenarios without waiting.

use super::Stage;
use super::script::Scenario;
use crate::sandbox::{Sandbox, WriteError};

impl Stage<'_> {
    /// Plays everything up to this many milliseconds after the start, without waiting.
    pub fn play_until(&mut self, end: u64) -> Result<(), WriteError> {
        self.play_through(end, |_| ())
    }
}

/// Sets up a scenario and plays it without waiting. The times in the objects are those of the scenario.
pub fn play_at_once(sandbox: &Sandbox, scenario: &Scenario) -> Result<(), WriteError> {
    Stage::set(sandbox, scenario)?.play_until(u64::MAX)
}
