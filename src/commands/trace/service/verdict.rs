//! The headline of a Service, from the states of its endpoints.

use crate::commands::trace::headline::Headline;
use crate::commands::trace::target::Presence;
use crate::graph::Node;
use crate::status::Status;

use super::endpoints::{self, AddressGroup, EndpointCounts, PodCoverage};
use super::spec;
use super::state::ServiceState;

/// Derives the headline from the endpoints that would answer.
pub(super) fn of(state: &ServiceState, groups: &[AddressGroup<'_>]) -> Headline {
    let orphans = if groups.is_empty() {
        ""
    } else {
        "; its endpoints still exist"
    };
    match &state.traced.presence {
        Presence::Unread => Headline::new(Status::Unknown, "not read yet"),
        Presence::Absent => Headline::new(
            Status::NotFound,
            format!("waiting for {} to be created", state.traced.target.object()),
        ),
        Presence::Deleted(_) => Headline::new(Status::NotFound, format!("deleted{orphans}")),
        Presence::There(_) => {
            let headline = there(state, groups);
            if state.traced.node().is_some_and(|node| node.deleting) {
                let words = format!("being deleted; {}", headline.stage);
                return Headline::new(Status::Terminating, words);
            }
            headline
        }
    }
}

fn there(state: &ServiceState, groups: &[AddressGroup<'_>]) -> Headline {
    let Some((node, service)) = state.service() else {
        return Headline::new(Status::Unknown, "not readable");
    };
    if spec::is_external(service.root()) {
        return match spec::external_name(service.root()) {
            Some(name) => Headline::new(Status::Current, format!("alias for {name}")),
            None => Headline::new(Status::Failed, ".spec.externalName is empty"),
        };
    }
    let tally = endpoints::tally(groups, state.pods());
    if tally == EndpointCounts::default() {
        return without_endpoints(state, node);
    }
    serving(tally)
}

/// The headline of a Service without endpoints.
fn without_endpoints(state: &ServiceState, service: &Node) -> Headline {
    let has_selector = service.selector().is_some();
    let matched = state.traced.graph().selected(&service.uid).matched;
    if !state.are_slices_read() {
        return Headline::new(Status::Unknown, "endpoints not read");
    }
    let words = match (has_selector, state.pods(), matched) {
        (false, ..) => "no endpoints, and no selector to find any",
        (true, PodCoverage::Known, 0) => "no pod matches the selector",
        (true, ..) => "no endpoints",
    };
    Headline::new(Status::Failed, words)
}

fn serving(tally: EndpointCounts) -> Headline {
    let staying = tally.staying();
    let mut words = vec![format!("{}/{staying} ready", tally.ready)];
    match (tally.terminating, tally.draining) {
        (0, _) => {}
        (going, draining) if tally.ready == 0 && draining > 0 => {
            words.push(format!(
                "{going} terminating of which {draining} still serve"
            ));
        }
        (going, _) => words.push(format!("{going} terminating")),
    }
    if tally.ghosts > 0 {
        words.push(format!("{} without a live pod", tally.ghosts));
    }
    let words = words.join(", ");
    let answers = tally.ready + tally.draining;
    let is_whole = tally.ready == staying && tally.ghosts == 0;
    match (answers, is_whole) {
        (0, _) => Headline::new(Status::Failed, words),
        (_, true) if staying > 0 => Headline::new(Status::Current, words),
        _ => Headline::new(Status::InProgress, format!("degraded {words}")),
    }
}
