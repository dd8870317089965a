//! The header of `status`: the objects, their namespace, and the progress of their rollout.

use super::rows::StatusRow;
use super::state::{MAX_EXPANDED, StatusState};
use crate::object::ObjectRef;
use crate::render::header_footer::ViewHeader;
use crate::render::style::Look;
use crate::source::Scope;

/// The line that says that dependents are hidden.
pub(super) fn hidden_dependents(state: &StatusState, look: Look) -> Option<String> {
    let text =
        format!("more than {MAX_EXPANDED} objects: dependents hidden; name some to expand them");
    state.hides_dependents.then(|| look.styles.dim(&text))
}

/// The header: the objects, their namespace, and the progress of their rollout.
pub(super) fn header(state: &StatusState, rows: &[StatusRow<'_>]) -> ViewHeader {
    let roots: Vec<&StatusRow<'_>> = rows.iter().filter(|row| row.depth == 0).collect();
    let key = state.requested().first();
    let place = key.and_then(|key| match &key.scope {
        Scope::Namespace(namespace) => Some(format!("-n {namespace}")),
        Scope::Cluster if key.resource.namespaced => Some("-A".to_owned()),
        Scope::Cluster => None,
    });
    ViewHeader {
        name: match &roots[..] {
            [root] => qualified(&root.object),
            _ => requested(state),
        },
        facts: place.into_iter().collect(),
        context: key.map(|key| format!("ctx {}", key.cluster.0)),
        summary: rollout(state, &roots, rows),
    }
}

/// The requested types, in kubectl's spelling.
fn requested(state: &StatusState) -> String {
    let mut resources: Vec<String> = Vec::new();
    for key in state.requested() {
        let resource = key.resource.group_resource();
        if !resources.contains(&resource) {
            resources.push(resource);
        }
    }
    resources.join(",")
}

/// `rollout 2/3 updated, 1 failing`.
fn rollout(state: &StatusState, roots: &[&StatusRow<'_>], rows: &[StatusRow<'_>]) -> String {
    let failing = rows
        .iter()
        .filter(|row| row.assessment.is_failing_itself())
        .count();
    let counts = match roots {
        [root] => state.rollout(&root.object.identity()),
        _ => None,
    };
    let updated = counts.map(|at| format!("rollout {}/{} updated", at.updated, at.wanted));
    let failing = (failing > 0).then(|| format!("{failing} failing"));
    let parts: Vec<String> = updated.into_iter().chain(failing).collect();
    parts.join(", ")
}

/// `deployment.apps/web`: what kubectl prints for `-o name`.
fn qualified(object: &ObjectRef) -> String {
    let kind = object.kind.to_lowercase();
    match object.group() {
        "" => format!("{kind}/{}", object.name),
        group => format!("{kind}.{group}/{}", object.name),
    }
}
