//! The trace of a Service: its slices, their endpoints, the pods behind them, and the owners of the pods.

mod state;
#[cfg(test)]
mod tests;
mod unserved_pods;
mod view;

use std::collections::BTreeMap;

use state::ServiceState;

use super::chain::{Chain, FrameParts, Headline};
use super::traced::Traced;
use crate::graph::{Behind, EndpointState, ServedEndpoint};
use crate::object::Uid;
use crate::render::canvas::Canvas;
use crate::source::SourceKey;

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

/// The state that was printed last, to print only changes.
#[derive(Default)]
struct EndpointTransitions {
    endpoints: BTreeMap<String, (String, EndpointState)>,
}

impl EndpointTransitions {
    /// A line for each change since the last call.
    fn lines(&mut self, state: &ServiceState) -> Vec<String> {
        let groups = state.address_groups();
        let present: BTreeMap<_, _> = groups
            .iter()
            .flat_map(|group| &group.endpoints)
            .map(|endpoint| (key(endpoint), (text(state, endpoint), endpoint.state())))
            .collect();
        let mut changes = Vec::new();
        for (key, (text, condition)) in &present {
            match self.endpoints.get(key) {
                Some((_, was)) if was == condition => {}
                Some((_, was)) => {
                    changes.push(format!("{text} (was {})", view::state_word(*was)));
                }
                None => changes.push(text.clone()),
            }
        }
        for (key, (_, was)) in &self.endpoints {
            if !present.contains_key(key) {
                changes.push(format!(
                    "endpoint {key} gone (was {})",
                    view::state_word(*was)
                ));
            }
        }
        self.endpoints = present;
        changes
    }
}

fn key(endpoint: &ServedEndpoint<'_>) -> String {
    format!("{} {}", endpoint.address(), endpoint.target())
}

/// The endpoint, its state, and why it is not ready.
fn text(state: &ServiceState, endpoint: &ServedEndpoint<'_>) -> String {
    let text = format!(
        "endpoint {} {}",
        key(endpoint),
        view::state_word(endpoint.state())
    );
    let why = match endpoint.behind(state.pods()) {
        Behind::Pod(pod) if endpoint.state() == EndpointState::NotReady => {
            let assessment = state.traced.assessment(&pod.uid);
            assessment.and_then(|assessment| Some(assessment.causes.first()?.text.clone()))
        }
        behind @ Behind::Pod(_) => view::served_ports(state, behind).lack(),
        Behind::Ghost(target) => Some(view::ghost_note(target, state.traced.graph())),
        Behind::Unread | Behind::External => None,
    };
    match why {
        Some(why) => format!("{text}: {why}"),
        None => text,
    }
}
