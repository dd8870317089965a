//! What a Service's endpoints amount to, in a state and a few words.

use crate::commands::trace::target::Presence;
use crate::graph::Node;
use crate::status::Status;

use super::endpoints::{self, Group, Pods, Tally};
use super::spec;
use super::state::State;

/// Judges a Service by who would answer for it.
pub(super) fn of(state: &State, groups: &[Group<'_>]) -> (Status, String) {
    let orphans = if groups.is_empty() {
        ""
    } else {
        "; its endpoints are still there"
    };
    match &state.presence {
        Presence::Unread => (Status::Unknown, "not read yet".to_owned()),
        Presence::Absent => (
            Status::NotFound,
            format!("waiting for {} to be created", state.target.object()),
        ),
        Presence::Deleted(_) => (Status::NotFound, format!("deleted{orphans}")),
        Presence::There(uid) => {
            let deleting = state
                .objects
                .graph()
                .node(uid)
                .is_some_and(|node| node.deleting);
            let (status, words) = there(state, groups);
            if deleting {
                return (Status::Terminating, format!("being deleted; {words}"));
            }
            (status, words)
        }
    }
}

fn there(state: &State, groups: &[Group<'_>]) -> (Status, String) {
    let Some((uid, service)) = state.service() else {
        return (Status::Unknown, "not readable".to_owned());
    };
    if spec::is_external(service) {
        return match spec::external_name(service) {
            Some(name) => (Status::Current, format!("stands for {name}")),
            None => (
                Status::Failed,
                "has no name to stand for in .spec.externalName".to_owned(),
            ),
        };
    }
    let tally = endpoints::tally(groups, state.pods());
    if tally == Tally::default() {
        return (Status::Failed, without_endpoints(state, uid));
    }
    serving(tally)
}

/// Why there is no endpoint at all.
fn without_endpoints(state: &State, uid: &crate::object::Uid) -> String {
    let graph = state.objects.graph();
    let has_selector = graph.node(uid).and_then(Node::selector).is_some();
    let matched = graph.selected(uid).matched;
    match (state.are_slices_read(), has_selector, state.pods(), matched) {
        (false, ..) => "endpoints not read".to_owned(),
        (true, false, ..) => "no endpoints, and no selector to find any".to_owned(),
        (true, true, Pods::Known, 0) => "no pod matches the selector".to_owned(),
        (true, true, ..) => "no endpoints".to_owned(),
    }
}

fn serving(tally: Tally) -> (Status, String) {
    let staying = tally.staying();
    let mut words = vec![format!("{}/{staying} ready", tally.ready)];
    match (tally.terminating, tally.draining) {
        (0, _) => {}
        (going, draining) if tally.ready == 0 && draining > 0 => {
            words.push(format!(
                "{going} terminating of which {draining} still serve"
            ));
        }
        (going, _) => words.push(format!("{going} terminating")),
    }
    if tally.ghosts > 0 {
        words.push(format!("{} without a live pod", tally.ghosts));
    }
    let words = words.join(", ");
    let answers = tally.ready + tally.draining;
    let is_whole = tally.ready == staying && tally.ghosts == 0;
    match (answers, is_whole) {
        (0, _) => (Status::Failed, words),
        (_, true) if staying > 0 => (Status::Current, words),
        _ => (Status::InProgress, format!("degraded {words}")),
    }
}
