//! The parts of a frame about a Service: its ports, its selector, and its endpoints as a tree.

use crate::commands::trace::chain::FrameParts;
use crate::graph::{
    AddressGroup, Behind, EndpointCounts, EndpointState, Node, Pod, PodCoverage, ServedEndpoint,
};
use crate::render::canvas::Canvas;
use crate::render::count::counted;
use crate::render::outline::{Outline, OutlineItem};
use crate::render::status::role;
use crate::render::style::Role;
use crate::render::table::{Cell, Column, Fit};
use crate::render::text::escape_line;
use crate::status::{Assessment, CauseRule, Status};

use super::endpoint_text;
use super::state::ServiceState;
use super::{owners, served_ports, spec, unserved_pods};

/// The parts of the frame.
pub(super) fn frame_parts(state: &ServiceState, canvas: Canvas) -> FrameParts {
    let (beside, right) = selection(state, canvas);
    FrameParts {
        facts: facts(state),
        beside,
        right,
        lines: [warnings(state, canvas), notes(state, canvas)].concat(),
        has_change: false,
        outline: outline(state, canvas),
    }
}

fn facts(state: &ServiceState) -> Vec<String> {
    let (Some((node, service)), Some(doc)) = (state.service(), state.traced.doc()) else {
        return Vec::new();
    };
    let mut facts = spec::reach(service, doc.root());
    let pods = match state.pods() {
        PodCoverage::Known => state.traced.graph().selected_pods(&node.uid),
        PodCoverage::Unknown => Vec::new(),
    };
    let pods = pods.into_iter().filter_map(Node::pod);
    let running: Vec<&Pod> = pods.filter(|pod| !pod.has_ended).collect();
    let ports = service.ports.iter();
    let ports: Vec<String> = ports.map(|port| spec::port_text(port, &running)).collect();
    if !ports.is_empty() {
        facts.push(ports.join(", "));
    }
    facts
}

fn warnings(state: &ServiceState, canvas: Canvas) -> Vec<String> {
    let service = state.service();
    if !service.is_some_and(|(_, service)| service.publishes_unready) {
        return Vec::new();
    }
    let warning = "! pods that are not ready get traffic too (publishNotReadyAddresses)";
    vec![canvas.look.styles.warning(warning)]
}

/// What is unusual about a Service that is well. The headline has the problem of one that is not.
fn notes(state: &ServiceState, canvas: Canvas) -> Vec<String> {
    let uid = state.traced.uid();
    let assessment = uid.and_then(|uid| state.traced.assessment(uid));
    let causes = assessment.filter(|found| found.is_well()).into_iter();
    let causes = causes.flat_map(|found| &found.causes);
    let note = canvas.look.styles.dim(canvas.look.symbols.note);
    let lines = causes.flat_map(|cause| canvas.wrapped(&note, &escape_line(&cause.text)));
    lines.collect()
}

/// The selector of a Service with endpoints, and how many pods it matches.
fn selection(state: &ServiceState, canvas: Canvas) -> (String, String) {
    let service = state.service();
    let service = service.filter(|(_, service)| service.external_name.is_none());
    let Some((node, _)) = service else {
        return Default::default();
    };
    let Some(selector) = node.selector() else {
        let absent = canvas.look.styles.dim("no selector");
        return (format!("  {absent}"), String::new());
    };
    let found = match state.pods() {
        PodCoverage::Unknown => "pods not read".to_owned(),
        PodCoverage::Known => {
            let pods = state.traced.graph().selected_pods(&node.uid);
            let ready = pods.iter().filter(|pod| pod.is_ready_pod()).count();
            let matched = counted(pods.len(), "pod matches", "pods match");
            format!("{matched}, {ready} ready")
        }
    };
    let selector = escape_line(&selector.to_string()).into_owned();
    (format!("  selector {selector}"), found)
}

fn outline(state: &ServiceState, canvas: Canvas) -> Outline {
    let groups = state.address_groups();
    let mut items = Vec::new();
    for group in &groups {
        items.push(OutlineItem::line(1, &heading(group), Role::Plain));
        let endpoints = group.endpoints.iter();
        items.extend(endpoints.map(|endpoint| endpoint_item(state, endpoint, canvas)));
    }
    items.extend(unserved_pods::items(state, &groups, canvas));
    items.extend(owner_items(state));
    Outline {
        columns: vec![
            Column::new("Endpoint", Fit::Keep),
            Column::new("Target", Fit::CutMiddle),
            Column::new("Ready", Fit::Drop(4)),
            Column::new("State", Fit::Keep),
            Column::new("Serving", Fit::Drop(5)),
            Column::new("Node", Fit::Drop(2)),
            Column::new("Zone", Fit::Drop(6)),
            Column::new("Age", Fit::Drop(1)),
            Column::new("Owner", Fit::Drop(7)),
        ],
        tree: 0,
        items,
        healthy_beyond: 0,
        footnote: None,
    }
}

fn heading(group: &AddressGroup<'_>) -> String {
    let slices = match group.slices[..] {
        [slice] => format!("endpointslice/{slice}"),
        [first, second] => format!("endpointslices {first}, {second}"),
        _ => format!("{} endpointslices", group.slices.len()),
    };
    let EndpointCounts {
        ready,
        not_ready,
        terminating,
        ..
    } = group.counts();
    let counts = format!("{ready} ready, {not_ready} not ready, {terminating} terminating");
    format!("{slices}  {}  {counts}", group.address_type)
}

fn endpoint_item(
    state: &ServiceState,
    endpoint: &ServedEndpoint<'_>,
    canvas: Canvas,
) -> OutlineItem {
    let behind = endpoint.behind(state.pods());
    let pod = match behind {
        Behind::Pod(pod) => state.traced.assessment(&pod.uid),
        Behind::Ghost(_) | Behind::Unread | Behind::External => None,
    };
    let mut causes = match behind {
        Behind::Ghost(target) => vec![endpoint_text::ghost_note(target, state.traced.graph())],
        Behind::Pod(_) | Behind::Unread | Behind::External => Vec::new(),
    };
    if let Some(pod) = pod {
        causes.extend(if endpoint.state() == EndpointState::Ready {
            isolation(pod)
        } else {
            pod_causes(pod)
        });
    }
    let served = served_ports::of(state, behind);
    causes.extend(served.lack());
    let status = match endpoint_status(endpoint, behind, pod) {
        Status::Current => served.status(),
        status => status,
    };
    let is_ready = endpoint.state() == EndpointState::Ready;
    let word = served.word().filter(|_| is_ready);
    let cells = cells(state, endpoint, (status, word), canvas);
    OutlineItem::row(2, status, cells).because(causes)
}

/// Which policies keep the traffic of the Service from a Pod that is ready.
fn isolation(pod: &Assessment) -> Vec<String> {
    let causes = pod.causes.iter();
    let causes = causes.filter(|cause| cause.rule == CauseRule::Isolated);
    causes.map(|cause| cause.text.clone()).collect()
}

/// Why a pod is in its state. STATE shows the state of the endpoint, so the causes name the pod's reason.
fn pod_causes(pod: &Assessment) -> Vec<String> {
    let causes = pod.causes.iter().map(|cause| cause.text.clone());
    let mut causes: Vec<String> = causes.collect();
    let word = &pod.row.word;
    let is_named = causes.iter().any(|cause| cause.contains(word.as_str()));
    if pod.status() == Status::Failed
        && !is_named
        && let Some(first) = causes.first_mut()
    {
        *first = format!("{word}: {first}");
    }
    causes
}

fn endpoint_status(
    endpoint: &ServedEndpoint<'_>,
    behind: Behind<'_>,
    pod: Option<&Assessment>,
) -> Status {
    let is_on_its_way = pod.is_some_and(|pod| pod.status() == Status::InProgress);
    match (endpoint.state(), behind) {
        (_, Behind::Ghost(_)) => Status::NotFound,
        (EndpointState::Ready, _) => Status::Current,
        (EndpointState::TerminatingServing | EndpointState::Terminating, _) => Status::Terminating,
        (EndpointState::NotReady, _) if is_on_its_way => Status::InProgress,
        (EndpointState::NotReady, _) => Status::Failed,
    }
}

fn cells(
    state: &ServiceState,
    endpoint: &ServedEndpoint<'_>,
    (status, word): (Status, Option<&str>),
    canvas: Canvas,
) -> Vec<Cell> {
    let plain = |text: &str| Cell::new(text, Role::Plain);
    let condition = endpoint.state();
    let behind = endpoint.behind(state.pods());
    let pod = match behind {
        Behind::Pod(pod) => Some(pod),
        Behind::Ghost(_) | Behind::Unread | Behind::External => None,
    };
    let assessment = pod.and_then(|pod| state.traced.assessment(&pod.uid));
    let serving = if endpoint.is_serving() && word.is_none() {
        "yes"
    } else {
        "no"
    };
    let facts = endpoint.backend.endpoint;
    let owner = pod.map(|pod| owners::outermost(state.traced.graph(), pod));
    vec![
        plain(&endpoint.address()),
        plain(&endpoint.target()),
        plain(
            assessment
                .and_then(|pod| pod.row.ready.as_deref())
                .unwrap_or_default(),
        ),
        Cell::new(word.unwrap_or(endpoint_text::word(condition)), role(status)),
        plain(serving),
        plain(facts.node.as_deref().unwrap_or_default()),
        plain(facts.zone.as_deref().unwrap_or_default()),
        plain(&canvas.age(pod.and_then(|pod| pod.created))),
        plain(&owner.unwrap_or_default()),
    ]
}

/// How many chains of owners are shown.
const MAX_CHAINS: usize = 4;

fn owner_items(state: &ServiceState) -> Vec<OutlineItem> {
    let (chains, bare) = owners::chains(&state.traced.model, state.own_pods());
    let mut lines: Vec<String> = chains
        .iter()
        .take(MAX_CHAINS)
        .map(|chain| {
            let counts = chain.counts.as_ref().map(|counts| format!("   {counts}"));
            format!("owners: {}{}", chain.names, counts.unwrap_or_default())
        })
        .collect();
    if chains.len() > MAX_CHAINS {
        lines.push(format!("owners: {} more", chains.len() - MAX_CHAINS));
    }
    if bare > 0 {
        let pods = counted(bare, "pod has", "pods have");
        lines.push(format!("owners: {pods} none"));
    }
    let line = |text: &String| OutlineItem::line(1, text, Role::Plain);
    lines.iter().map(line).collect()
}
