//! Scenarios: scripted stories that simulated controllers play in a sandbox.
//!
//! A scenario lists the actions of its people, and their times. The simulated controllers in this module
//! derive the rest: `ReplicaSet`s, Pods, image pulls, endpoints, conditions. The result is always the same.

mod controllers;
mod crash_loop;
mod kubelet;
mod rolling;
mod script;
mod stories;
#[cfg(any(test, feature = "testing"))]
mod testing;
#[cfg(test)]
mod tests;
mod world;

use std::future::Future;
use std::num::NonZeroU32;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::json;

use super::{Deletion, Sandbox, WriteError};
use world::{Task, World, name_of};

pub use script::{Action, Prop, Scenario, ScriptStep};
pub use stories::{config, crash, incident, rollout};
#[cfg(any(test, feature = "testing"))]
pub use testing::play_at_once;

/// All scenarios.
pub fn all() -> Vec<Scenario> {
    vec![rollout(), config(), crash(), incident()]
}

/// A scenario that is set up in a sandbox, and its progress.
pub struct Stage<'s> {
    world: World<'s>,
}

impl<'s> Stage<'s> {
    /// Creates the objects that exist at the start. The scenario starts at the sandbox's current time.
    pub fn set(sandbox: &'s Sandbox, scenario: &Scenario) -> Result<Self, WriteError> {
        let mut world = World::new(sandbox, scenario);
        // The props are created at their times, and the controllers finish before the start.
        for prop in &scenario.props {
            world.elapsed = -i64::try_from(prop.age).unwrap_or(0) * 1000;
            let action = Action::Create {
                manager: prop.manager,
                object: prop.object.clone(),
            };
            world.plan(0, Task::Act(action));
            while let Some(task) = world.next_task(-1000) {
                run(&mut world, task)?;
            }
        }
        world.elapsed = 0;
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

    /// Plays in real time (tokio's), until the scenario ends or `shutdown` completes. After a pause of the machine, the
    /// scenario goes on where it was, so that nothing in it becomes too short to see.
    pub async fn play(mut self, shutdown: impl Future<Output = ()>) -> Result<(), WriteError> {
        let mut start = tokio::time::Instant::now();
        tokio::pin!(shutdown);
        while let Some(due) = self.world.next_due() {
            let due = start + Duration::from_millis(due) / self.world.speed.get();
            tokio::select! {
                () = &mut shutdown => return Ok(()),
                () = tokio::time::sleep_until(due) => self.advance()?,
            }
            start += due.elapsed();
        }
        Ok(())
    }

    /// Plays everything up to this many milliseconds after the start, without waiting. `after_each` gets the time of the
    /// scenario after each task.
    pub fn play_through(
        &mut self,
        end: u64,
        mut after_each: impl FnMut(Timestamp),
    ) -> Result<(), WriteError> {
        while self.world.next_due().is_some_and(|due| due <= end) {
            self.advance()?;
            after_each(self.world.now());
        }
        Ok(())
    }

    /// Runs the next task.
    fn advance(&mut self) -> Result<(), WriteError> {
        match self.world.next_task(i64::MAX) {
            Some(task) => run(&mut self.world, task),
            None => Ok(()),
        }
    }
}

fn run(world: &mut World<'_>, task: Task) -> Result<(), WriteError> {
    match task {
        Task::Act(action) => act(world, action),
        Task::Deployment(name) => controllers::sync_deployment(world, &name),
        Task::ReplicaSet(name) => controllers::sync_replica_set(world, &name),
        Task::Endpoints => controllers::sync_endpoints(world),
        Task::Bind(pod) => kubelet::bind(world, &pod),
        Task::Start(pod) => kubelet::start_pod(world, &pod),
        Task::Pulled(pod) => kubelet::pulled(world, &pod),
        Task::BackOff(pod) => kubelet::back_off(world, &pod),
        Task::Ready(pod) => kubelet::ready(world, &pod),
        Task::Crash(pod) => crash_loop::crash(world, &pod),
        Task::CrashBackOff(pod) => crash_loop::back_off(world, &pod),
        Task::Restart(pod) => crash_loop::restart(world, &pod),
        Task::Stop(pod) => kubelet::stop_pod(world, &pod),
        Task::Remove(pod) => kubelet::remove_pod(world, &pod),
    }
}

fn act(world: &mut World<'_>, action: Action) -> Result<(), WriteError> {
    match action {
        Action::Create { manager, object } => {
            world.create(object, manager)?;
        }
        Action::Patch {
            manager,
            subresource,
            resource,
            name,
            patch,
        } => {
            let by = world.writer(manager, subresource);
            let target = world.target(resource, name);
            world.sandbox.patch(&target, &patch, &by)?;
        }
        Action::Delete { resource, name } => {
            let target = world.target(resource, name);
            let by = world.writer("kubectl", "");
            world.sandbox.delete(&target, Deletion::Immediate, &by)?;
        }
        Action::SetImage {
            manager,
            deployment,
            image,
        } => {
            if let Some(mut object) = world.get("deployments", deployment) {
                object["spec"]["template"]["spec"]["containers"][0]["image"] = json!(image);
                if manager == "kubectl-client-side-apply" {
                    stories::note_applied(&mut object, image);
                }
                world.update(object, manager, "")?;
            }
        }
    }
    // Any action may concern any controller. A controller without work does nothing.
    for deployment in world.sandbox.list("deployments", world.namespace) {
        world.plan(30, Task::Deployment(name_of(&deployment)));
    }
    world.plan(60, Task::Endpoints);
    Ok(())
}
