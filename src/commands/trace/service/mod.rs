//! The trace of a Service: its slices, their endpoints, the pods behind them, and the owners of the pods.

mod state;
#[cfg(test)]
mod tests;
mod transitions;
mod unserved_pods;
mod view;

use super::chain::{Chain, FrameParts};
use super::headline::Headline;
use super::traced::Traced;
use crate::object::Uid;
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
    pub(super) fn new(traced: Traced) -> ServiceTrace {
        ServiceTrace {
            state: ServiceState::new(traced),
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

    fn state(&self) -> Option<Headline> {
        self.state.headline()
    }

    fn remains(&self, _uid: &Uid) -> String {
        match self.state.address_groups()[..] {
            [] => String::new(),
            [..] => "; its endpoints still exist".to_owned(),
        }
    }

    fn frame_parts(&self, canvas: Canvas) -> FrameParts {
        view::frame_parts(&self.state, canvas)
    }

    fn changes(&mut self) -> Vec<String> {
        self.transitions.lines(&self.state)
    }
}
