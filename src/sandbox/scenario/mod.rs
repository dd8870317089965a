//! Scenarios: stories that the sandbox plays, told as data and acted out by simulated controllers.
//!
//! A story says what people do, and when. What follows from it (`ReplicaSet`s, Pods, image pulls, endpoints, conditions)
//! is worked out by the stand-ins for Kubernetes' controllers in this module, always in the same way.

mod build;
mod config;
mod deployments;
mod endpoints;
mod kubelet;
mod pods;
mod rolling;
mod rollout;
mod script;
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

/// All scenarios there are.
pub fn all() -> Vec<Scenario> {
    vec![rollout(), config()]
}

/// A scenario that is set up in a sandbox, and how far it has been played.
pub struct Stage<'s> {
    world: World<'s>,
}

impl<'s> Stage<'s> {
    /// Puts up what is there at the start. The story's time starts at the sandbox's present.
    pub fn set(sandbox: &'s Sandbox, scenario: &Scenario) -> Result<Self, WriteError> {
        let mut world = World::new(sandbox, scenario);
        world.set_up(&scenario.props)?;
        for step in &scenario.steps {
            world.plan_action(step.at, step.action.clone());
        }
        Ok(Self { world })
    }

    /// Plays this many times as fast, with the objects' times to match.
    #[must_use]
    pub fn faster(mut self, times: NonZeroU32) -> Self {
        self.world.speed = times;
        self
    }

    /// Plays in real time (tokio's), until the story has ended or `shutdown` comes.
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

    /// Plays everything up to this many milliseconds after the start, in no time.
    pub fn play_until(&mut self, end: u64) -> Result<(), WriteError> {
        while self.world.next_due().is_some_and(|due| due <= end) {
            self.world.advance()?;
        }
        Ok(())
    }
}

/// Sets a scenario up and plays it in real time, until it has ended or `shutdown` comes.
pub async fn play(
    sandbox: &Sandbox,
    scenario: &Scenario,
    shutdown: impl Future<Output = ()>,
) -> Result<(), WriteError> {
    Stage::set(sandbox, scenario)?.play(shutdown).await
}

/// Sets a scenario up and plays all of it in no time; the objects' times are those of the story.
pub fn play_at_once(sandbox: &Sandbox, scenario: &Scenario) -> Result<(), WriteError> {
    Stage::set(sandbox, scenario)?.play_until(u64::MAX)
}
