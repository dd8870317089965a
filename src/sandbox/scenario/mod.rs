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
mod world;

#[cfg(test)]
mod tests;

use std::future::Future;
use std::num::NonZeroU32;
use std::time::Duration;

use serde_json::Value;

use super::{Sandbox, WriteError};
use world::World;

pub use config::config;
pub use rollout::rollout;

/// What somebody or something outside the simulated controllers does.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Creates an object.
    Create {
        /// Who.
        manager: &'static str,
        /// What.
        object: Value,
    },
    /// Changes an object by a JSON merge patch.
    Patch {
        /// Who.
        manager: &'static str,
        /// The subresource written to; empty for none.
        subresource: &'static str,
        /// Plural of the resource.
        resource: &'static str,
        /// Name of the object.
        name: &'static str,
        /// The patch.
        patch: Value,
    },
    /// Deletes an object at once.
    Delete {
        /// Plural of the resource.
        resource: &'static str,
        /// Name of the object.
        name: &'static str,
    },
    /// Gives the only container of a Deployment another image.
    SetImage {
        /// Who.
        manager: &'static str,
        /// Name of the Deployment.
        deployment: &'static str,
        /// The image.
        image: &'static str,
    },
}

/// One step of a story.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Milliseconds since the start.
    pub at: u64,
    /// What is done then.
    pub action: Action,
}

/// An object that has been there for a while when the story starts.
#[derive(Debug, Clone, PartialEq)]
pub struct Prop {
    /// Age at the start, seconds.
    pub age: u64,
    /// Who created it.
    pub manager: &'static str,
    /// The object; its controllers have long done their work by the start.
    pub object: Value,
}

/// A story.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it shows, in one line.
    pub about: &'static str,
    /// The namespace it plays in.
    pub namespace: &'static str,
    /// The images that the registry does not have.
    pub missing_images: Vec<&'static str>,
    /// What is there at the start.
    pub props: Vec<Prop>,
    /// What happens, in order.
    pub steps: Vec<Step>,
}

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
