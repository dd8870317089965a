//! The words for endpoints.

use crate::graph::{EndpointState, Graph, Target};

/// The word for a state, from the `EndpointSlice` API.
pub(super) fn word(state: EndpointState) -> &'static str {
    match state {
        EndpointState::Ready => "Ready",
        EndpointState::NotReady => "NotReady",
        EndpointState::TerminatingServing => "Terminating(serving)",
        EndpointState::Terminating => "Terminating",
    }
}

/// Why an endpoint has no pod.
pub(super) fn ghost_note(target: &Target, graph: &Graph) -> String {
    let mut pods = graph.of_kind("Pod");
    let what = if pods.any(|pod| pod.object.name == target.name) {
        "replaced by another"
    } else {
        "gone"
    };
    format!(
        "an endpoint without a live pod: pod/{} is {what}",
        target.name
    )
}
