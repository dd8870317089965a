//! The header of `status`: the objects, their place, and how far their rollout is.

use super::rows::StatusRow;
use super::state::{StatusState, TREES};
use crate::object::ObjectRef;
use crate::render::header_footer::ViewHeader;
use crate::render::style::Look;
use crate::source::Scope;

/// That what the objects own is not shown, where it is not.
pub(super) fn flatness(state: &StatusState, look: Look) -> Option<String> {
    let text = format!("more than {TREES} objects: dependents hidden; name some to expand them");
    state.is_flat.then(|| look.styles.dim(&text))
}

/// What is looked at, where, and how far its rollout is.
pub(super) fn header(state: &StatusState, rows: &[StatusRow<'_>]) -> ViewHeader {
    let roots: Vec<&StatusRow<'_>> = rows.iter().filter(|row| row.depth == 0).collect();
    let key = state.asked().first();
    let place = key.and_then(|key| match &key.scope {
        Scope::Namespace(namespace) => Some(format!("-n {namespace}")),
        Scope::Cluster if key.resource.namespaced => Some("-A".to_owned()),
        Scope::Cluster => None,
    });
    ViewHeader {
        name: match &roots[..] {
            [root] => qualified(&root.object),
            _ => asked(state),
        },
        facts: place.into_iter().collect(),
        context: key.map(|key| format!("ctx {}", key.cluster.0)),
        summary: rollout(state, &roots, rows),
    }
}

/// What was asked for, in kubectl's words.
fn asked(state: &StatusState) -> String {
    let mut resources: Vec<String> = Vec::new();
    for key in state.asked() {
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
        .filter(|row| row.assessment.is_failing())
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
