//! The trace of a Service: its slices, their endpoints, the pods behind them, and who owns these.

mod endpoints;
mod lines;
mod owners;
mod spec;
mod state;
mod strays;
#[cfg(test)]
mod tests;
mod verdict;
mod view;

use super::objects::Objects;
use crate::graph::Target;

pub(super) use state::State;

/// What to say of an endpoint whose pod is not there.
fn ghost_note(target: &Target, objects: &Objects) -> String {
    let namesake = objects
        .of_kind("Pod")
        .any(|pod| pod.object.name == target.name);
    if namesake {
        format!(
            "an endpoint without a live pod: pod/{} is now another",
            target.name
        )
    } else {
        format!(
            "an endpoint without a live pod: pod/{} is gone",
            target.name
        )
    }
}
