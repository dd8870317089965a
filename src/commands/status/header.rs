//! The header of `status`: the objects, their namespace, and the progress of their rollout.

use super::options::{HealthFilter, RowOptions, Titles};
use super::rows::{StatusRow, StatusRows};
use super::state::StatusState;
use crate::model::Collapsed;
use crate::object::counted;
use crate::render::count::thousands;
use crate::render::header_footer::ViewHeader;
use crate::render::style::Look;
use crate::render::text::escape_line;
use crate::source::Scope;
use crate::status::{CauseRule, Status};

/// `dependents of 102 objects not read (4 not Current); name an object to show them`: the objects without dependents in the
/// view.
pub(super) fn collapsed(state: &StatusState, options: RowOptions, look: Look) -> Option<String> {
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
    (all > 0).then(|| look.styles.dim(&text))
}

/// `the members of 3 inventories are not read; name one to read them`: which states of a list are of the object alone.
pub(super) fn unread_inventories(state: &StatusState, look: Look) -> Option<String> {
    let unread = state.model.judgement().unread_inventories();
    let counted = counted(unread, "inventory is", "inventories are");
    let text = format!("the members of {counted} not read; name one to read them");
    (unread > 0).then(|| look.styles.dim(&text))
}

/// `dependents may be missing: secrets (cannot be read); …`: which dependents the rows may lack.
pub(super) fn unsearched(state: &StatusState, look: Look) -> Option<String> {
    let shortfall = state.model.search_shortfall()?;
    Some(look.styles.dim(&escape_line(&shortfall)))
}

/// `changes looked up for 24 of 30 failures: name an object to see its own`: which failures have no look-back.
pub(super) fn unread_changes(state: &StatusState, look: Look) -> Option<String> {
    let shortfall = state.last_changes.as_ref()?.shortfall()?;
    Some(look.styles.dim(&shortfall))
}

/// `logs of failed containers are not shown: pods "web-1" is forbidden: …`: why no row has log lines.
pub(super) fn unread_logs(state: &StatusState, look: Look) -> Option<String> {
    let shortfall = state.failure_logs.as_ref()?.shortfall()?;
    Some(look.styles.dim(&escape_line(&shortfall)))
}

/// The header: the objects, their namespace, and the progress of their rollout.
pub(super) fn header(state: &StatusState, rows: &StatusRows<'_>) -> ViewHeader {
    let roots: Vec<&StatusRow<'_>> = rows.shown.iter().filter(|row| row.depth == 0).collect();
    let key = state.requested().first();
    let place = key.and_then(|key| match &key.scope {
        Scope::Namespace(namespace) => Some(format!("-n {namespace}")),
        Scope::Cluster if key.resource.namespaced => Some("-A".to_owned()),
        Scope::Cluster => None,
    });
    ViewHeader {
        name: match &roots[..] {
            [root] => root.object.resource_name(),
            _ => requested(state),
        },
        facts: place.into_iter().collect(),
        context: key.map(|key| format!("ctx {}", key.cluster.0)),
        summary: match &roots[..] {
            [root] => rollout(state, root, &rows.shown),
            _ => aggregate(rows),
        },
    }
}

/// The most types that the header names.
const NAMED_TYPES: usize = 3;

/// The requested types in kubectl's spelling, or their number.
fn requested(state: &StatusState) -> String {
    let mut resources: Vec<String> = Vec::new();
    for key in state.requested() {
        let resource = key.resource.group_resource();
        if !resources.contains(&resource) {
            resources.push(resource);
        }
    }
    match resources.len() {
        ..=NAMED_TYPES => resources.join(","),
        types => format!("{types} types"),
    }
}

/// `kubectl spy trace service/api shows where its traffic goes`: the command that shows more about a single object.
pub(super) fn trace_hint(rows: &[StatusRow<'_>], look: Look) -> Option<String> {
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
    let object = root.object.to_string();
    let text = format!("kubectl spy trace {} {shows}", escape_line(&object));
    Some(look.styles.dim(&text))
}

/// `112 Current, 4 InProgress, 2 Failed`: the states of the requested objects.
pub(super) fn aggregate(rows: &StatusRows<'_>) -> String {
    let count = |status: Status| {
        let is_it = |row: &&StatusRow<'_>| row.is_requested && row.assessment.status() == status;
        let beyond = match status {
            Status::Current => rows.beyond,
            _ => 0,
        };
        rows.shown.iter().filter(is_it).count() + beyond
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
    let updated = counts.map(|at| format!("rollout {}/{} updated", at.updated, at.wanted));
    let failing = (failing > 0).then(|| format!("{failing} failing"));
    let parts: Vec<String> = updated.into_iter().chain(failing).collect();
    parts.join(", ")
}
