//! Pods that a Service selects but that are not endpoints.

use std::collections::BTreeSet;

use super::state::ServiceState;
use crate::graph::{AddressGroup, Node, PodCoverage};
use crate::model::knows_endpoints;
use crate::object::{Uid, counted};
use crate::render::canvas::Canvas;
use crate::render::outline::OutlineItem;
use crate::render::style::{Role, role};
use crate::render::table::Cell;

/// The pods that match the selector and are in no slice, in the order of siblings in a tree.
fn of<'a>(state: &'a ServiceState, groups: &[AddressGroup<'_>]) -> Vec<&'a Node> {
    let Some((node, service)) = state.service() else {
        return Vec::new();
    };
    // A file may lack the slices of a Service that works.
    if state.pods() == PodCoverage::Unknown
        || !state.traced.is_read(&state.slices)
        || !knows_endpoints(state.traced.model.around(), node)
        || service.external_name.is_some()
    {
        return Vec::new();
    }
    let served: BTreeSet<&Uid> = groups
        .iter()
        .flat_map(|group| &group.endpoints)
        .filter_map(|endpoint| Some(&endpoint.backend.pod?.uid))
        .collect();
    let mut pods = state.traced.graph().selected_pods(&node.uid);
    pods.retain(|pod| !served.contains(&pod.uid));
    pods
}

/// Why a pod is not an endpoint.
fn why(node: &Node) -> &'static str {
    let Some(pod) = node.pod() else {
        return "not a pod";
    };
    if pod.has_ended {
        return "no endpoint: the pod has ended";
    }
    match (node.deleting, pod.addresses.is_empty()) {
        (true, _) => "no endpoint: the pod is terminating",
        (false, true) => "no endpoint: the pod has no address yet",
        (false, false) => "no endpoint: no slice lists the pod yet",
    }
}

/// The rows of these pods.
pub(super) fn items(
    state: &ServiceState,
    groups: &[AddressGroup<'_>],
    canvas: Canvas,
) -> Vec<OutlineItem> {
    let pods = of(state, groups);
    if pods.is_empty() {
        return Vec::new();
    }
    let matched = counted(
        pods.len(),
        "pod matches but is in no slice",
        "pods match but are in no slice",
    );
    let heading = format!("no endpoints  {matched}");
    let rows = pods.into_iter().filter_map(|pod| item(state, pod, canvas));
    std::iter::once(OutlineItem::line(1, &heading, Role::Plain))
        .chain(rows)
        .collect()
}

fn item(state: &ServiceState, pod: &Node, canvas: Canvas) -> Option<OutlineItem> {
    let assessment = state.traced.assessment(&pod.uid)?;
    let status = assessment.status();
    let plain = |text: &str| Cell::new(text, Role::Plain);
    let node = pod.pod().and_then(|pod| pod.node.as_deref());
    let cells = vec![
        plain("-"),
        plain(&pod.object.to_string()),
        plain(assessment.row.ready.as_deref().unwrap_or_default()),
        Cell::new(&assessment.row.word, role(status)),
        plain("no"),
        plain(node.unwrap_or_default()),
        Cell::default(),
        plain(&canvas.age(pod.created)),
    ];
    let causes = assessment.causes.iter().map(|cause| cause.text.clone());
    let causes = std::iter::once(why(pod).to_owned()).chain(causes);
    let item = OutlineItem::row(2, status, cells).because(causes);
    Some(item.showing(Some(pod)))
}
