//! The simulated cluster: a clock, a queue of tasks, and the functions that write. It knows nothing of the controllers.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::script::{Action, Scenario};
use crate::sandbox::store::text;
use crate::sandbox::write::seconds;
use crate::sandbox::{Deletion, Sandbox, Target, WriteError, Writer};

pub(super) const CONTROLLER: &str = "kube-controller-manager";

/// A task with a due time.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Task {
    Act(Action),
    Deployment(String),
    ReplicaSet(String),
    Endpoints,
    /// The scheduler binds a Pod.
    Bind(String),
    /// The kubelet starts a Pod.
    Start(String),
    /// An image pull has ended.
    Pulled(String),
    /// The kubelet waits before the next pull.
    BackOff(String),
    /// A readiness probe has succeeded.
    Ready(String),
    /// The program of a Pod panics.
    Crash(String),
    /// The kubelet waits before it starts a container again.
    CrashBackOff(String),
    /// The kubelet starts a container again.
    Restart(String),
    /// The containers of a terminating Pod have stopped.
    Stop(String),
    /// The kubelet removes a Pod.
    Remove(String),
}

pub(super) struct World<'s> {
    pub(super) sandbox: &'s Sandbox,
    pub(super) namespace: &'static str,
    start: Timestamp,
    /// Milliseconds since the start; negative before it.
    pub(super) elapsed: i64,
    /// The planned tasks, by due time and by order of planning.
    queue: BTreeMap<(i64, u64), Task>,
    planned: u64,
    missing_images: Vec<&'static str>,
    pub(super) crashing_images: Vec<&'static str>,
    /// The factor by which the scenario plays faster.
    pub(super) speed: NonZeroU32,
    /// The number of failed image pulls of each Pod.
    pub(super) pulls: BTreeMap<String, u32>,
    /// The number of bound Pods.
    pub(super) bound: usize,
}

impl<'s> World<'s> {
    pub(super) fn new(sandbox: &'s Sandbox, scenario: &Scenario) -> Self {
        Self {
            sandbox,
            namespace: scenario.namespace,
            start: sandbox.now(),
            elapsed: 0,
            queue: BTreeMap::new(),
            planned: 0,
            missing_images: scenario.missing_images.clone(),
            crashing_images: scenario.crashing_images.clone(),
            speed: NonZeroU32::MIN,
            pulls: BTreeMap::new(),
            bound: 0,
        }
    }

    pub(super) fn is_missing(&self, image: &str) -> bool {
        self.missing_images.contains(&image)
    }

    pub(super) fn plan_action(&mut self, at: u64, action: Action) {
        let at = i64::try_from(at).unwrap_or(i64::MAX);
        self.planned += 1;
        self.queue.insert((at, self.planned), Task::Act(action));
    }

    /// Plans a task this many milliseconds from now, unless the same task is already planned, as in a
    /// controller's queue.
    pub(super) fn plan(&mut self, after: i64, task: Task) {
        if self.queue.values().any(|planned| *planned == task) {
            return;
        }
        self.planned += 1;
        self.queue
            .insert((self.elapsed + after, self.planned), task);
    }

    /// The due time of the next task, in milliseconds since the start.
    pub(super) fn next_due(&self) -> Option<u64> {
        let (due, _) = self.queue.first_key_value()?.0;
        Some(u64::try_from(*due).unwrap_or(0))
    }

    /// Takes the next task. The clock then shows its due time, or `latest` if that is earlier.
    pub(super) fn next_task(&mut self, latest: i64) -> Option<Task> {
        let ((due, _), task) = self.queue.pop_first()?;
        self.elapsed = due.min(latest);
        Some(task)
    }

    /// The current time of the scenario, as objects store it.
    pub(super) fn time(&self) -> Value {
        json!(seconds(self.now()))
    }

    /// The same.
    pub(super) fn now(&self) -> Timestamp {
        // The time before the start does not pass faster.
        let speed = i64::from(if self.elapsed > 0 {
            self.speed.get()
        } else {
            1
        });
        self.start + SignedDuration::from_millis(self.elapsed / speed)
    }

    pub(super) fn writer(&self, manager: &str, subresource: &str) -> Writer {
        let writer = Writer::new(manager).at(self.now());
        if subresource.is_empty() {
            writer
        } else {
            writer.on(subresource)
        }
    }

    /// A program prints a line to the log of this instance.
    pub(super) fn print(&self, id: &str, line: &str) {
        self.sandbox.print(id, self.now(), line.as_bytes());
    }

    pub(super) fn get(&self, resource: &str, name: &str) -> Option<Value> {
        self.sandbox.get(&self.target(resource, name))
    }

    /// The objects of a resource in the namespace for which `is_kept` is true.
    pub(super) fn select(&self, resource: &str, is_kept: impl Fn(&Value) -> bool) -> Vec<Value> {
        self.sandbox
            .shared
            .store
            .read_all(resource, self.namespace, is_kept)
    }

    pub(super) fn create(&mut self, object: Value, manager: &str) -> Result<Value, WriteError> {
        self.sandbox.create(object, &self.writer(manager, ""))
    }

    /// The key of an object in the namespace.
    pub(super) fn target(&self, resource: &str, name: &str) -> Target {
        Target::new(resource, self.namespace, name)
    }

    /// Replaces an object, as this manager, through a subresource (empty: none).
    pub(super) fn update(
        &mut self,
        object: Value,
        manager: &str,
        subresource: &str,
    ) -> Result<Value, WriteError> {
        self.sandbox
            .update(object, &self.writer(manager, subresource))
    }

    pub(super) fn delete_pod(
        &mut self,
        name: &str,
        deletion: Deletion,
        manager: &str,
    ) -> Result<(), WriteError> {
        let by = self.writer(manager, "");
        let deleted = self
            .sandbox
            .delete(&self.target("pods", name), deletion, &by);
        deleted.map(drop)
    }
}

pub(super) fn name_of(object: &Value) -> String {
    text(&object["metadata"]["name"]).to_owned()
}
