//! What is printed of a Service's trace where frames are not shown: a line for each change.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::render::age;
use crate::render::text::escape_line;

use super::endpoints::{self, Behind, Endpoint};
use super::state::State;
use super::verdict;
use crate::graph::EndpointState;

/// What was said last, to say only what is new.
#[derive(Default)]
pub(super) struct Told {
    verdict: String,
    endpoints: BTreeMap<String, (String, EndpointState)>,
}

impl Told {
    /// A line for each thing that is other than what was said: endpoints first, then what it all
    /// amounts to.
    pub(super) fn news(&mut self, state: &State, now: Timestamp) -> Vec<String> {
        let groups = endpoints::groups(&state.objects);
        let present: BTreeMap<_, _> = groups
            .iter()
            .flat_map(|group| &group.endpoints)
            .map(|endpoint| {
                (
                    key(endpoint),
                    (text(state, endpoint, now), endpoint.state()),
                )
            })
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
        let (status, words) = verdict::of(state, &groups);
        let verdict = format!("{} {status}: {words}", state.target.object());
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

fn key(endpoint: &Endpoint<'_>) -> String {
    format!("{} {}", endpoint.address(), endpoint.target())
}

/// The endpoint, its state, and why it is not ready.
fn text(state: &State, endpoint: &Endpoint<'_>, now: Timestamp) -> String {
    let text = format!(
        "endpoint {} {}",
        key(endpoint),
        endpoints::word(endpoint.state())
    );
    let why = match endpoint.behind(state.pods()) {
        Behind::Pod(pod) if endpoint.state() == EndpointState::NotReady => {
            let judged = state.objects.judge(&pod.uid, now);
            judged.and_then(|judged| Some(judged.causes.into_iter().next()?.text))
        }
        Behind::Ghost(target) => Some(super::ghost_note(target, &state.objects)),
        Behind::Pod(_) | Behind::Unread | Behind::External => None,
    };
    match why {
        Some(why) => format!("{text}: {why}"),
        None => text,
    }
}
