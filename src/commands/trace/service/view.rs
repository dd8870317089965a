//! The frame of a Service's trace: title, state, then its endpoints as a tree.

use crate::commands::trace::outline::{Body, Item, Outline, Weight};
use crate::commands::trace::page::{Page, role};
use crate::graph::{EndpointState, Facts, Node};
use crate::render::style::Role;
use crate::render::table::{Cell, Column, Fit};
use crate::render::text::escape_line;
use crate::status::Status;

use super::endpoints::{self, Behind, Endpoint, Group, Pods, Tally};
use super::state::State;
use super::{owners, spec, strays, verdict};

/// Draws the whole frame but its footer.
pub(super) fn frame(state: &State, page: &Page) -> Vec<String> {
    let groups = endpoints::groups(&state.objects);
    let mut lines = vec![title(state, page), summary(state, &groups, page)];
    lines.extend(warnings(state, page));
    let room = page.rows.map(|rows| rows.saturating_sub(lines.len()));
    lines.extend(outline(state, &groups, page).lines(page, room));
    lines
}

fn title(state: &State, page: &Page) -> String {
    let mut facts = vec![format!("-n {}", state.target.namespace)];
    if let Some((_, service)) = state.service() {
        facts.extend(spec::reach(service));
        let ports: Vec<String> = ports(state).iter().map(spec::Port::text).collect();
        if !ports.is_empty() {
            facts.push(ports.join(", "));
        }
    }
    page.title(&state.target.object().to_string(), &facts)
}

fn ports(state: &State) -> Vec<spec::Port> {
    let Some((uid, service)) = state.service() else {
        return Vec::new();
    };
    let mut pods = state.objects.graph().selected_pods(uid);
    pods.retain(|pod| spec::is_running(pod));
    if state.pods() == Pods::Unknown {
        pods.clear();
    }
    spec::ports(service, &pods, &state.objects)
}

fn warnings(state: &State, page: &Page) -> Vec<String> {
    let ports = ports(state);
    let mut warnings: Vec<String> = ports.iter().filter_map(spec::Port::warning).collect();
    if let Some((uid, _)) = state.service()
        && let Some(Facts::Service(service)) =
            state.objects.graph().node(uid).map(|node| &node.facts)
        && service.publishes_unready
    {
        warnings
            .push("pods that are not ready get traffic too (publishNotReadyAddresses)".to_owned());
    }
    let paint = |warning: &String| {
        page.look
            .styles
            .warning(&escape_line(&format!("! {warning}")))
    };
    warnings.iter().map(paint).collect()
}

/// What all of it amounts to, and what the selector finds.
fn summary(state: &State, groups: &[Group<'_>], page: &Page) -> String {
    let (status, words) = verdict::of(state, groups);
    let verdict = page.state(status, &words);
    let Some((uid, service)) = state.service() else {
        return verdict;
    };
    if spec::is_external(service) {
        return verdict;
    }
    let selector = state.objects.graph().node(uid).and_then(Node::selector);
    let Some(selector) = selector else {
        return format!("{verdict}  {}", page.look.styles.dim("no selector"));
    };
    let selector = format!("selector {}", escape_line(&selector.to_string()));
    let found = match state.pods() {
        Pods::Unknown => "pods not read".to_owned(),
        Pods::Known => {
            let selected = state.objects.graph().selected(uid);
            let pods = if selected.matched == 1 {
                "pod matches"
            } else {
                "pods match"
            };
            format!("{} {pods}, {} ready", selected.matched, selected.ready)
        }
    };
    page.spread(&format!("{verdict}  {selector}"), &found)
}

fn outline(state: &State, groups: &[Group<'_>], page: &Page) -> Outline {
    let (mut shown, mut hidden) = (0, 0);
    let mut items = Vec::new();
    for group in groups {
        items.push(line(1, &heading(group)));
        for endpoint in &group.endpoints {
            // Ready ones that no frame has room for are only counted: there may be thousands.
            let is_well = endpoint.state() == EndpointState::Ready
                && !matches!(endpoint.behind(state.pods()), Behind::Ghost(_));
            if is_well && page.rows.is_some_and(|rows| shown >= rows) {
                hidden += 1;
                continue;
            }
            shown += 1;
            items.push(endpoint_item(state, endpoint, page));
        }
    }
    items.extend(strays::items(state, groups, page));
    items.extend(owner_items(state));
    Outline {
        titles: vec![
            "ENDPOINT", "TARGET", "READY", "STATE", "SERVING", "NODE", "ZONE", "AGE", "OWNER",
        ],
        columns: vec![
            Column::new("", Fit::Keep),
            Column::new("", Fit::CutMiddle),
            Column::new("", Fit::Drop(4)),
            Column::new("", Fit::Keep),
            Column::new("", Fit::Drop(5)),
            Column::new("", Fit::Drop(2)),
            Column::new("", Fit::Drop(6)),
            Column::new("", Fit::Drop(1)),
            Column::new("", Fit::Drop(7)),
        ],
        items,
        hidden,
    }
}

/// A line of the tree that is not a row.
pub(super) fn line(depth: usize, text: &str) -> Item {
    Item {
        depth,
        body: Body::Line(escape_line(text).into_owned()),
        notes: Vec::new(),
        weight: Weight::Heavy,
    }
}

fn heading(group: &Group<'_>) -> String {
    let slices = match group.slices[..] {
        [slice] => format!("endpointslice/{slice}"),
        [first, second] => format!("endpointslices {first}, {second}"),
        _ => format!("{} endpointslices", group.slices.len()),
    };
    let Tally {
        ready,
        not_ready,
        terminating,
        ..
    } = group.tally();
    let counts = format!("{ready} ready, {not_ready} not ready, {terminating} terminating");
    format!("{slices}  {}  {counts}", group.address_type)
}

fn endpoint_item(state: &State, endpoint: &Endpoint<'_>, page: &Page) -> Item {
    let condition = endpoint.state();
    let behind = endpoint.behind(state.pods());
    let pod = match behind {
        Behind::Pod(pod) => Some(pod),
        Behind::Ghost(_) | Behind::Unread | Behind::External => None,
    };
    let judged = pod.and_then(|pod| state.objects.judge(&pod.uid, page.now));
    let status = match (condition, &judged, behind) {
        (_, _, Behind::Ghost(_)) => Status::NotFound,
        (EndpointState::Ready, _, _) => Status::Current,
        (EndpointState::TerminatingServing | EndpointState::Terminating, _, _) => {
            Status::Terminating
        }
        (EndpointState::NotReady, Some(judged), _) if judged.status == Status::InProgress => {
            Status::InProgress
        }
        (EndpointState::NotReady, _, _) => Status::Failed,
    };
    let mut notes = match behind {
        Behind::Ghost(target) => vec![super::ghost_note(target, &state.objects)],
        _ => Vec::new(),
    };
    let ready = judged.as_ref().map(|judged| judged.ready.clone());
    if condition != EndpointState::Ready {
        let causes = judged.into_iter().flat_map(|judged| judged.causes);
        notes.extend(causes.map(|cause| cause.text));
    }
    Item {
        depth: 2,
        body: Body::Row {
            symbol: page.symbol(status),
            cells: cells(
                endpoint,
                (pod, status),
                &ready.unwrap_or_default(),
                (state, page),
            ),
        },
        weight: if status == Status::Current {
            Weight::Light
        } else {
            Weight::Heavy
        },
        notes,
    }
}

fn cells(
    endpoint: &Endpoint<'_>,
    (pod, status): (Option<&Node>, Status),
    ready: &str,
    (state, page): (&State, &Page),
) -> Vec<Cell> {
    let plain = |text: &str| Cell::new(text, Role::Plain);
    let condition = endpoint.state();
    let serving = if endpoint.is_serving() { "yes" } else { "no" };
    let facts = endpoint.backend.endpoint;
    let owner = pod.map(|pod| owners::outermost(state.objects.graph(), pod));
    vec![
        plain(&endpoint.address()),
        plain(&endpoint.target()),
        plain(ready),
        Cell::new(endpoints::word(condition), role(status)),
        plain(serving),
        plain(facts.node.as_deref().unwrap_or_default()),
        plain(facts.zone.as_deref().unwrap_or_default()),
        plain(&page.age(pod.and_then(|pod| pod.created))),
        plain(&owner.unwrap_or_default()),
    ]
}

/// How many chains of owners are shown.
const MOST_CHAINS: usize = 4;

fn owner_items(state: &State) -> Vec<Item> {
    let (chains, bare) = owners::chains(&state.objects);
    let mut lines: Vec<String> = chains
        .iter()
        .take(MOST_CHAINS)
        .map(|chain| {
            let counts = chain.counts.as_ref().map(|counts| format!("   {counts}"));
            format!("owners: {}{}", chain.names, counts.unwrap_or_default())
        })
        .collect();
    if chains.len() > MOST_CHAINS {
        lines.push(format!("owners: {} more", chains.len() - MOST_CHAINS));
    }
    if bare > 0 {
        let pods = if bare == 1 { "pod has" } else { "pods have" };
        lines.push(format!("owners: {bare} {pods} none"));
    }
    lines.iter().map(|text| line(1, text)).collect()
}
