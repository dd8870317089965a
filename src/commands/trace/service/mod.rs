//! The trace of a Service: its slices, their endpoints, the pods behind them, and the owners of the pods.

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

use jiff::Timestamp;

use super::chain::Chain;
use super::headline::Headline;
use super::target::TracedObject;
use super::traced::Traced;
use crate::render::canvas::Canvas;
use crate::source::SourceKey;
use state::ServiceState;
use transitions::EndpointTransitions;

/// The trace of one Service.
pub(super) struct ServiceTrace {
    state: ServiceState,
    transitions: EndpointTransitions,
}

impl ServiceTrace {
    /// The trace of a Service before any event.
    pub(super) fn new(target: TracedObject) -> ServiceTrace {
        ServiceTrace {
            state: ServiceState::new(target),
            transitions: EndpointTransitions::default(),
        }
    }
}

impl Chain for ServiceTrace {
    fn traced(&self) -> &Traced {
        &self.state.traced
    }

    fn traced_mut(&mut self) -> &mut Traced {
        &mut self.state.traced
    }

    fn plan(&mut self) -> Vec<SourceKey> {
        self.state.plan()
    }

    fn headline(&self, _now: Timestamp) -> Headline {
        verdict::of(&self.state, &endpoints::groups(self.state.traced.graph()))
    }

    fn transitions(&mut self, now: Timestamp) -> Vec<String> {
        self.transitions.lines(&self.state, now)
    }

    fn frame(&self, canvas: Canvas) -> Vec<String> {
        view::frame(&self.state, canvas)
    }
}
