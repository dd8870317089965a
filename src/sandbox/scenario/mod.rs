//! Scenarios: scripted stories that simulated controllers play in a sandbox.
//!
//! A scenario lists the actions of its people, and their times. The simulated controllers in this module
//! derive the rest: `ReplicaSet`s, Pods, image pulls, endpoints, conditions. The result is always the same.

mod build;
mod config;
mod deployments;
mod endpoints;
mod kubelet;
mod pods;
mod rolling;
mod rollout;
mod script;
#[cfg(any(test, feature = "testing"))]
mod testing;
mod world;

#[cfg(test)]
mod tests;

use std::future::Future;
use std::num::NonZeroU32;
use std::time::Duration;

use super::{Sandbox, WriteError};
use world::World;

pub use config::config;
pub use rollout::rollout;
pub use script::{Action, Prop, Scenario, Step};
#[cfg(any(test, feature = "testing"))]
pub use testing::play_at_once;

/// All scenarios.
pub fn all() -> Vec<Scenario> {
    vec![rollout(), config()]
}

/// A scenario that is set up in a sandbox, and its progress.
pub struct Stage<'s> {
    world: World<'s>,
}

impl<'s> Stage<'s> {
    /// Creates the objects that exist at the start. The scenario starts at the sandbox's current time.
    pub fn set(sandbox: &'s Sandbox, scenario: &Scenario) -> Result<Self, WriteError> {
        let mut world = World::new(sandbox, scenario);
        world.set_up(&scenario.props)?;
        for step in &scenario.steps {
            world.plan_action(step.at, step.action.clone());
        }
        Ok(Self { world })
    }

    /// Plays this many times as fast. The times in the objects follow.
    #[must_use]
    pub fn faster(mut self, times: NonZeroU32) -> Self {
        self.world.speed = times;
        self
    }

    /// Plays in real time (tokio's), until the scenario ends or `shutdown` completes.
    pub async fn play(mut self, shutdown: impl Future<Output = ()>) -> Result<(), WriteError> {
        let start = tokio::time::Instant::now();
        tokio::pin!(shutdown);
        while let Some(due) = self.world.next_due() {
            let due = start + Duration::from_millis(due) / self.world.speed.get();
            tokio::select! {
                () = &mut shutdown => return Ok(()),
                () = tokio::time::sleep_until(due) => self.world.advance()?,
            }
        }
        Ok(())
    }
}
