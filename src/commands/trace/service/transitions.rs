//! The lines of a Service's trace without a terminal: one for each change.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::render::age;
use crate::render::text::escape_line;

use super::endpoints::{self, Behind, ServedEndpoint};
use super::state::ServiceState;
use super::verdict;
use crate::graph::EndpointState;

/// The state that was printed last, to print only changes.
#[derive(Default)]
pub(super) struct EndpointTransitions {
    verdict: String,
    endpoints: BTreeMap<String, (String, EndpointState)>,
}

impl EndpointTransitions {
    /// A line for each change since the last call: endpoints first, then the headline.
    pub(super) fn lines(&mut self, state: &ServiceState, now: Timestamp) -> Vec<String> {
        let groups = endpoints::groups(state.traced.graph());
        let present: BTreeMap<_, _> = groups
            .iter()
            .flat_map(|group| &group.endpoints)
            .map(|endpoint| (key(endpoint), (text(state, endpoint), endpoint.state())))
            .collect();
        let mut news = Vec::new();
        for (key, (text, condition)) in &present {
            match self.endpoints.get(key) {
                Some((_, was)) if was == condition => {}
                Some((_, was)) => news.push(format!("{text} (was {})", endpoints::word(*was))),
                None => news.push(text.clone()),
            }
        }
        for (key, (_, was)) in &self.endpoints {
            if !present.contains_key(key) {
                news.push(format!(
                    "endpoint {key} gone (was {})",
                    endpoints::word(*was)
                ));
            }
        }
        self.endpoints = present;
        let headline = verdict::of(state, &groups);
        let verdict = format!(
            "{} {}: {}",
            state.traced.target.object(),
            headline.status,
            headline.text()
        );
        if verdict != self.verdict {
            news.push(verdict.clone());
            self.verdict = verdict;
        }
        let time = age::rfc3339(now);
        news.iter()
            .map(|line| format!("{time} {}", escape_line(line)))
            .collect()
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
        endpoints::word(endpoint.state())
    );
    let why = match endpoint.behind(state.pods()) {
        Behind::Pod(pod) if endpoint.state() == EndpointState::NotReady => {
            let assessment = state.traced.assessment(&pod.uid);
            assessment.and_then(|assessment| Some(assessment.causes.first()?.text.clone()))
        }
        Behind::Ghost(target) => Some(endpoints::ghost_note(target, state.traced.graph())),
        Behind::Pod(_) | Behind::Unread | Behind::External => None,
    };
    match why {
        Some(why) => format!("{text}: {why}"),
        None => text,
    }
}
