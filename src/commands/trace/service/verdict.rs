//! The headline of a Service, from the states of its endpoints.

use crate::commands::trace::headline::Headline;
use crate::graph::Node;
use crate::object::Value;
use crate::status::Status;

use super::endpoints::{self, EndpointCounts, PodCoverage};
use super::spec;
use super::state::ServiceState;

/// Derives the headline from the endpoints that would answer; `None` if the Service cannot be read.
pub(super) fn of(state: &ServiceState) -> Option<Headline> {
    let (node, service) = state.service()?;
    let headline = there(state, node, service.root());
    Some(if node.deleting {
        let words = format!("being deleted; {}", headline.stage);
        Headline::new(Status::Terminating, words)
    } else {
        headline
    })
}

fn there(state: &ServiceState, node: &Node, service: Value<'_>) -> Headline {
    if spec::is_external(service) {
        return match spec::external_name(service) {
            Some(name) => Headline::new(Status::Current, format!("alias for {name}")),
            None => Headline::new(Status::Failed, ".spec.externalName is empty"),
        };
    }
    let groups = endpoints::groups(state.traced.graph());
    let counts = endpoints::count_backends(&groups, state.pods());
    if counts == EndpointCounts::default() {
        return without_endpoints(state, node);
    }
    serving(counts)
}

/// The headline of a Service without endpoints.
fn without_endpoints(state: &ServiceState, service: &Node) -> Headline {
    let has_selector = service.selector().is_some();
    let matched = state.traced.graph().selected_pods(&service.uid).len();
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

fn serving(counts: EndpointCounts) -> Headline {
    let staying = counts.staying();
    let mut words = vec![format!("{}/{staying} ready", counts.ready)];
    match (counts.terminating, counts.draining) {
        (0, _) => {}
        (going, draining) if counts.ready == 0 && draining > 0 => {
            words.push(format!(
                "{going} terminating of which {draining} still serve"
            ));
        }
        (going, _) => words.push(format!("{going} terminating")),
    }
    if counts.ghosts > 0 {
        words.push(format!("{} without a live pod", counts.ghosts));
    }
    let words = words.join(", ");
    let answers = counts.ready + counts.draining;
    let is_whole = counts.ready == staying && counts.ghosts == 0;
    match (answers, is_whole) {
        (0, _) => Headline::new(Status::Failed, words),
        (_, true) if staying > 0 => Headline::new(Status::Current, words),
        _ => Headline::new(Status::InProgress, format!("degraded {words}")),
    }
}
