//! The trace of a Service: its slices, their endpoints, the pods behind them, and who owns these.

mod endpoints;
mod owners;
mod spec;
mod state;
#[cfg(test)]
mod tests;
mod transitions;
mod unserved_pods;
mod verdict;
mod view;

use std::sync::Arc;

use jiff::Timestamp;

use super::chain::Chain;
use super::headline::Headline;
use super::objects::Objects;
use super::target::{Presence, TracedObject};
use crate::render::canvas::Canvas;
use crate::watch::{Event, SourceKey};
use state::ServiceState;
use transitions::EndpointTransitions;

/// The trace of one Service.
pub(super) struct ServiceTrace {
    state: ServiceState,
    transitions: EndpointTransitions,
}

impl ServiceTrace {
    /// The trace of a Service of which nothing is known yet.
    pub(super) fn new(target: TracedObject) -> ServiceTrace {
        ServiceTrace {
            state: ServiceState::new(target),
            transitions: EndpointTransitions::default(),
        }
    }
}

impl Chain for ServiceTrace {
    fn wanted(&self) -> Vec<SourceKey> {
        self.state.wanted()
    }

    fn apply(&mut self, key: &Arc<SourceKey>, event: &Event) {
        self.state.apply(key, event);
    }

    fn target(&self) -> &TracedObject {
        &self.state.target
    }

    fn presence(&self) -> &Presence {
        &self.state.presence
    }

    fn objects(&self) -> &Objects {
        &self.state.objects
    }

    fn headline(&self, _now: Timestamp) -> Headline {
        verdict::of(&self.state, &endpoints::groups(&self.state.objects))
    }

    fn transitions(&mut self, now: Timestamp) -> Vec<String> {
        self.transitions.lines(&self.state, now)
    }

    fn settle(&mut self, _now: Timestamp) {
        self.state.find_owners();
    }

    fn frame(&self, canvas: Canvas) -> Vec<String> {
        view::frame(&self.state, canvas)
    }
}
