//! The parts of a frame about a Service: its ports, its selector, and its endpoints as a tree with their owners.

use std::collections::BTreeMap;

use super::state::ServiceState;
use super::{state, unserved_pods};
use crate::commands::trace::chain::FrameParts;
use crate::commands::trace::story_line::StoryLine;
use crate::commands::trace::traced::revision;
use crate::graph::{
    AddressGroup, Behind, EndpointCounts, EndpointState, EndpointTarget, Graph, Node, Pod,
    PodCoverage, Port, ServedEndpoint, Service,
};
use crate::model::Model;
use crate::object::{PodCounts, Value, counted};
use crate::render::canvas::Canvas;
use crate::render::outline::{Outline, OutlineItem};
use crate::render::style::{Role, role};
use crate::render::table::{Cell, Column, Fit};
use crate::render::text::Text;
use crate::status::{Assessment, CauseRule, Status};

/// The parts of the frame.
pub(super) fn frame_parts(state: &ServiceState, canvas: Canvas) -> FrameParts {
    let (beside, right) = selection(state);
    let warning = "! pods that are not ready get traffic too (publishNotReadyAddresses)";
    let service = state.service();
    let warns = service.is_some_and(|(_, service)| service.publishes_unready);
    let mut lines = Vec::from_iter(warns.then(|| Text::new(Role::Warning, warning)));
    lines.extend(notes(state, canvas));
    FrameParts {
        facts: facts(state),
        beside,
        right,
        lines: lines.into_iter().map(StoryLine::from).collect(),
        has_change: false,
        outline: outline(state, canvas),
    }
}

fn facts(state: &ServiceState) -> Vec<String> {
    let (Some((node, service)), Some(doc)) = (state.service(), state.traced.doc()) else {
        return Vec::new();
    };
    let mut facts = state::reach(service, doc.root());
    let pods = match state.pods() {
        PodCoverage::Known => state.traced.graph().selected_pods(&node.uid),
        PodCoverage::Unknown => Vec::new(),
    };
    let pods = pods.into_iter().filter_map(Node::pod);
    let running: Vec<&Pod> = pods.filter(|pod| !pod.has_ended).collect();
    let ports = service.ports.iter();
    let ports: Vec<String> = ports.map(|port| state::port_text(port, &running)).collect();
    if !ports.is_empty() {
        facts.push(ports.join(", "));
    }
    facts
}

/// What is unusual about a Service that is well. The headline has the problem of one that is not.
fn notes(state: &ServiceState, canvas: Canvas) -> Vec<Text> {
    let uid = state.traced.uid();
    let assessment = uid.and_then(|uid| state.traced.assessment(uid));
    let causes = assessment.filter(|found| found.is_well()).into_iter();
    let causes = causes.flat_map(|found| &found.causes);
    let note = Text::dim(canvas.look.symbols.note);
    let lines = causes.flat_map(|cause| canvas.wrapped(note.clone(), &cause.text));
    lines.collect()
}

/// The selector of a Service with endpoints, and how many pods it matches.
fn selection(state: &ServiceState) -> (Text, Text) {
    let service = state.service();
    let service = service.filter(|(_, service)| service.external_name.is_none());
    let Some((node, _)) = service else {
        return Default::default();
    };
    let Some(selector) = node.selector() else {
        return (Text::from("  ") + Text::dim("no selector"), Text::default());
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
    (format!("  selector {selector}").into(), found.into())
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
    let node = match behind {
        Behind::Pod(pod) => Some(pod),
        Behind::Ghost(_) | Behind::Unread | Behind::External => None,
    };
    let pod = node.and_then(|pod| state.traced.assessment(&pod.uid));
    let mut causes = match behind {
        Behind::Ghost(target) => vec![ghost_note(target, state.traced.graph())],
        Behind::Pod(_) | Behind::Unread | Behind::External => Vec::new(),
    };
    if let Some(pod) = pod {
        causes.extend(if endpoint.state() == EndpointState::Ready {
            // Policies may keep the traffic of the Service from a Pod that is ready.
            let causes = pod.causes.iter();
            let causes = causes.filter(|cause| cause.rule == CauseRule::Isolated);
            causes.map(|cause| cause.text.clone()).collect()
        } else {
            pod_causes(pod)
        });
    }
    let served = served_ports(state, behind);
    causes.extend(served.lack());
    let status = match endpoint_status(endpoint, behind, pod) {
        Status::Current => served.status(),
        status => status,
    };
    let cells = cells(state, endpoint, status, canvas);
    OutlineItem::row(2, status, cells)
        .because(causes)
        .showing(node)
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
    status: Status,
    canvas: Canvas,
) -> Vec<Cell> {
    let plain = |text: &str| Cell::new(text, Role::Plain);
    let behind = endpoint.behind(state.pods());
    let is_ready = endpoint.state() == EndpointState::Ready;
    let word = served_ports(state, behind).word().filter(|_| is_ready);
    let shown = word.unwrap_or(state_word(endpoint.state()));
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
    let owner = pod.map(|pod| outermost(state.traced.graph(), pod));
    vec![
        plain(&endpoint.address()),
        plain(&endpoint.target()),
        plain(
            assessment
                .and_then(|pod| pod.row.ready.as_deref())
                .unwrap_or_default(),
        ),
        Cell::new(shown, role(status)),
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
    let (chains, bare) = owner_chains(&state.traced.model, state.own_pods());
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

/// The word for a state, from the `EndpointSlice` API.
pub(super) fn state_word(state: EndpointState) -> &'static str {
    match state {
        EndpointState::Ready => "Ready",
        EndpointState::NotReady => "NotReady",
        EndpointState::TerminatingServing => "Terminating(serving)",
        EndpointState::Terminating => "Terminating",
    }
}

/// Why an endpoint has no pod.
pub(super) fn ghost_note(target: &EndpointTarget, graph: &Graph) -> String {
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

/// The owners of some pods, the outermost first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OwnerChain {
    /// Their names: `deployment/api > replicaset/api-7f6d9c #7`.
    pub(super) names: String,
    /// The counts of the innermost owner that was read: `4/4 pods, 3 available`.
    pub(super) counts: Option<String>,
}

/// Each chain of owners of these Pods once, and the number of Pods without an owner.
fn owner_chains(model: &Model, pods: Vec<&Node>) -> (Vec<OwnerChain>, usize) {
    let graph = model.graph();
    let mut chains = BTreeMap::new();
    let mut bare = 0;
    for pod in pods {
        let owners = graph.ancestors(&pod.uid);
        match names(pod, &owners) {
            Some(names) => {
                let counts = || counts(model.doc(&owners.first()?.uid)?.root());
                chains.entry(names).or_insert_with(counts);
            }
            None => bare += 1,
        }
    }
    let chain = |(names, counts)| OwnerChain { names, counts };
    (chains.into_iter().map(chain).collect(), bare)
}

/// The outermost known owner of a pod, with the revision: `deployment/api #7`.
pub(super) fn outermost(graph: &Graph, pod: &Node) -> String {
    let chain = graph.ancestors(&pod.uid);
    let revision = chain.iter().find_map(|owner| revision(owner));
    match chain.last() {
        Some(owner) => format!("{}{}", owner.object, revision.unwrap_or_default()),
        None => String::new(),
    }
}

/// The names of a Pod's owners, the outermost first; `None` without owners.
fn names(pod: &Node, owners: &[&Node]) -> Option<String> {
    let outermost = owners.last().copied().unwrap_or(pod);
    let unread = outermost.owners.first().map(|owner| {
        let kind = owner.kind.to_lowercase();
        format!("{kind}/{} (not read)", owner.name)
    });
    let known = owners.iter().rev().map(|owner| {
        let revision = match &*owner.object.kind {
            "ReplicaSet" => revision(owner).unwrap_or_default(),
            _ => String::new(),
        };
        format!("{}{revision}", owner.object)
    });
    let names: Vec<String> = unread.into_iter().chain(known).collect();
    (!names.is_empty()).then(|| names.join(" > "))
}

/// How many pods a workload has, how many it wants, and how many are available.
fn counts(owner: Value<'_>) -> Option<String> {
    let counts = PodCounts::of(owner)?;
    let (there, wanted, available) = (counts.there, counts.wanted, counts.available);
    Some(format!("{there}/{wanted} pods, {available} available"))
}

/// The target ports that a Pod behind an endpoint does not have.
pub(super) struct ServedPorts<'s> {
    lacking: Vec<&'s str>,
    /// The number of ports of the Service.
    all: usize,
}

/// The ports that this Pod serves. An endpoint without a known Pod lacks none.
pub(super) fn served_ports<'s>(state: &'s ServiceState, behind: Behind<'_>) -> ServedPorts<'s> {
    let pod = match behind {
        Behind::Pod(pod) => Node::pod(pod),
        Behind::Ghost(_) | Behind::Unread | Behind::External => None,
    };
    let service = state.service().map(|(_, service)| service);
    ServedPorts {
        lacking: match (service, pod) {
            (Some(service), Some(pod)) if service.selector.is_some() => lacking(service, pod),
            _ => Vec::new(),
        },
        all: service.map_or(0, |service| service.ports.len()),
    }
}

fn lacking<'s>(service: &'s Service, pod: &Pod) -> Vec<&'s str> {
    let ports = service.ports.iter();
    let lacking = ports.filter_map(|port| match &port.target {
        Port::Name(name) if pod.port(name, &port.protocol).is_none() => Some(&**name),
        Port::Name(_) | Port::Number(_) => None,
    });
    lacking.collect()
}

impl ServedPorts<'_> {
    /// The line about the missing ports; `None` if there are none.
    pub(super) fn lack(&self) -> Option<String> {
        let names: Vec<String> = self
            .lacking
            .iter()
            .map(|name| format!("\"{name}\""))
            .collect();
        let names = names.join(", ");
        let noun = match self.lacking.len() {
            0 => return None,
            1 => "port",
            _ => "ports",
        };
        Some(format!("the pod has no {noun} {names}"))
    }

    /// The word for an endpoint that serves no port, in place of that for its state.
    pub(super) fn word(&self) -> Option<&'static str> {
        self.serves_none().then_some("NoPort")
    }

    /// The state of a ready endpoint.
    pub(super) fn status(&self) -> Status {
        match self.lacking.len() {
            0 => Status::Current,
            _ if self.serves_none() => Status::Failed,
            _ => Status::InProgress,
        }
    }

    fn serves_none(&self) -> bool {
        self.all > 0 && self.lacking.len() == self.all
    }
}
