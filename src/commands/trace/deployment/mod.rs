//! The trace of a Deployment: the phases of its rollout as they complete, and its revisions.

mod change;
mod lines;
mod log;
mod phase;
mod phases;
mod pods;
mod read;
mod reading;
mod revisions;
mod state;
#[cfg(test)]
mod tests;
mod verdict;
mod view;

pub(super) use state::State;
