//! The header of `status`: the objects, their namespace, and the progress of their rollout.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::cluster_views::ClusterViews;
use super::options::{HealthFilter, RowOptions, Titles};
use super::rows::{StatusRow, StatusRows};
use super::state::StatusState;
use crate::commands::{FailureLogs, LastChanges};
use crate::model::Collapsed;
use crate::object::counted;
use crate::render::count::{named_or_counted, thousands};
use crate::render::header_footer::ViewHeader;
use crate::render::text::Text;
use crate::source::Scope;
use crate::status::{CauseRule, Status};

/// `dependents of 102 objects not read (4 not Current); name an object to show them`: the objects without dependents in the
/// view.
pub(super) fn collapsed(state: &StatusState, options: RowOptions) -> Option<Text> {
    let Collapsed { mut all, unwell } = state.collapsed();
    if options.titles == Titles::Hidden {
        return None;
    }
    if options.health == HealthFilter::Unhealthy {
        all = unwell;
    }
    let unwell = match unwell {
        0 => String::new(),
        unwell => format!(" ({unwell} not Current)"),
    };
    let counted = counted(all, "object", "objects");
    let text = format!("dependents of {counted} not read{unwell}; name an object to show them");
    (all > 0).then(|| Text::dim(text))
}

/// `the members of 3 inventories are not read; name one to read them`: which states of a list are of the object alone.
pub(super) fn unread_inventories(state: &StatusState) -> Option<Text> {
    let unread = state.model.judgement().unread_inventories;
    let counted = counted(unread, "inventory is", "inventories are");
    let text = format!("the members of {counted} not read; name one to read them");
    (unread > 0).then(|| Text::dim(text))
}

/// What the view could not look up: which dependents the rows may lack, which failures have no look-back, and why no row has log
/// lines.
pub(super) fn shortfalls(state: &StatusState) -> impl Iterator<Item = Text> {
    let changes = state.last_changes.as_ref();
    let logs = state.failure_logs.as_ref();
    let shortfalls = [
        state.model.search_shortfall(),
        changes.and_then(LastChanges::shortfall),
        logs.and_then(FailureLogs::shortfall),
    ];
    shortfalls.into_iter().flatten().map(Text::dim)
}

/// The header: the objects, their namespace, and the progress of their rollout.
pub(super) fn header(states: &ClusterViews<'_>, rows: &[StatusRows<'_>]) -> ViewHeader {
    let all = || rows.iter().flat_map(|rows| &rows.shown);
    let roots: Vec<&StatusRow<'_>> = all().filter(|row| row.depth == 0).collect();
    let mut places: Vec<String> = states.iter().filter_map(place).collect();
    places.dedup();
    let keys = states.requested().map(|key| &key.cluster.0);
    let clusters: BTreeSet<&Arc<str>> = keys.collect();
    let clusters: Vec<&str> = clusters.into_iter().map(|name| &**name).collect();
    ViewHeader {
        name: match &roots[..] {
            [root] => root.object.resource_name(),
            _ => requested(states),
        },
        facts: if places.len() == 1 {
            places
        } else {
            Vec::new()
        },
        context: (!clusters.is_empty()).then(|| format!("ctx {}", clusters.join(","))),
        summary: match (&roots[..], states.iter().next()) {
            ([root], Some(state)) if !states.are_of_several() => {
                rollout(state, root, &rows[0].shown)
            }
            _ => aggregate(rows),
        },
    }
}

/// The namespace of the requested objects, as a flag.
fn place(state: &StatusState) -> Option<String> {
    let key = state.requested().first()?;
    match &key.scope {
        Scope::Namespace(namespace) => Some(format!("-n {namespace}")),
        Scope::Cluster if key.resource.namespaced => Some("-A".to_owned()),
        Scope::Cluster => None,
    }
}

/// The requested types in kubectl's spelling, or their number.
fn requested(states: &ClusterViews<'_>) -> String {
    let mut resources: Vec<String> = Vec::new();
    for key in states.requested() {
        let resource = key.resource.group_resource();
        if !resources.contains(&resource) {
            resources.push(resource);
        }
    }
    named_or_counted(resources.iter().map(String::as_str), "types")
}

/// `kubectl spy trace service/api shows where its traffic goes`: the command that shows more about a single object.
pub(super) fn trace_hint(rows: &[StatusRow<'_>]) -> Option<Text> {
    let mut roots = rows.iter().filter(|row| row.depth == 0);
    let (Some(root), None) = (roots.next(), roots.next()) else {
        return None;
    };
    let shows = match &*root.object.kind {
        "Service" if root.known.is_some() => "shows where its traffic goes",
        "Deployment" if root.known.is_some() && !root.assessment.is_well() => "shows its rollout",
        "Node" if root.assessment.has_cause(CauseRule::Cordoned) => "shows what holds up a drain",
        _ => return None,
    };
    Some(Text::dim(format!(
        "kubectl spy trace {} {shows}",
        root.object
    )))
}

/// `112 Current, 4 InProgress, 2 Failed`: the states of the requested objects.
pub(super) fn aggregate(rows: &[StatusRows<'_>]) -> String {
    let count = |status: Status| {
        let is_it = |row: &&StatusRow<'_>| row.is_requested && row.assessment.status() == status;
        let beyond = match status {
            Status::Current => rows.iter().map(|rows| rows.beyond).sum(),
            _ => 0,
        };
        let shown = rows.iter().flat_map(|rows| &rows.shown);
        shown.filter(is_it).count() + beyond
    };
    let counts = IN_HEADER.map(|status| (count(status), status));
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts
        .map(|(count, status)| format!("{} {status}", thousands(*count)))
        .collect();
    counts.join(", ")
}

/// The order of the states in the header.
const IN_HEADER: [Status; 6] = [
    Status::Current,
    Status::InProgress,
    Status::Terminating,
    Status::NotFound,
    Status::Unknown,
    Status::Failed,
];

/// `rollout 2/3 updated, 1 failing`.
fn rollout(state: &StatusState, root: &StatusRow<'_>, rows: &[StatusRow<'_>]) -> String {
    let failing = rows
        .iter()
        .filter(|row| row.assessment.is_failing_itself())
        .count();
    let counts = state.rollout(&root.object.identity());
    let updated = counts.map(|at| format!("rollout {} updated", at.of_goal(at.updated)));
    let failing = (failing > 0).then(|| format!("{failing} failing"));
    let parts: Vec<String> = updated.into_iter().chain(failing).collect();
    parts.join(", ")
}
