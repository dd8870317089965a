//! Pods that a Service selects and that are none of its endpoints.

use std::collections::BTreeSet;

use crate::commands::trace::outline::{Body, Item, Weight};
use crate::commands::trace::page::{Page, role};
use crate::graph::{Facts, Node};
use crate::object::Uid;
use crate::render::style::Role;
use crate::render::table::Cell;

use super::endpoints::{Group, Pods};
use super::state::State;
use super::{spec, view};

/// The pods that match the selector and are in no slice, in the order of a tree.
pub(super) fn of<'a>(state: &'a State, groups: &[Group<'_>]) -> Vec<&'a Node> {
    let Some((uid, service)) = state.service() else {
        return Vec::new();
    };
    if state.pods() == Pods::Unknown || !state.are_slices_read() || spec::is_external(service) {
        return Vec::new();
    }
    let served: BTreeSet<&Uid> = groups
        .iter()
        .flat_map(|group| &group.endpoints)
        .filter_map(|endpoint| Some(&endpoint.backend.pod?.uid))
        .collect();
    let mut pods = state.objects.graph().selected_pods(uid);
    pods.retain(|pod| !served.contains(&pod.uid));
    pods
}

/// Why a pod is no endpoint.
pub(super) fn why(node: &Node) -> &'static str {
    let Facts::Pod(pod) = &node.facts else {
        return "not a pod";
    };
    if !spec::is_running(node) {
        return "no endpoint: it has ended";
    }
    match (node.deleting, pod.addresses.is_empty()) {
        (true, _) => "no endpoint: it is going away",
        (false, true) => "no endpoint: it has no address yet",
        (false, false) => "no endpoint: no slice has it yet",
    }
}

/// Their part of the tree.
pub(super) fn items(state: &State, groups: &[Group<'_>], page: &Page) -> Vec<Item> {
    let strays = of(state, groups);
    if strays.is_empty() {
        return Vec::new();
    }
    let pods = if strays.len() == 1 {
        "pod matches"
    } else {
        "pods match"
    };
    let heading = format!("no endpoints  {} {pods} but no slice has it", strays.len());
    let rows = strays.into_iter().map(|pod| item(state, pod, page));
    std::iter::once(view::line(1, &heading))
        .chain(rows.flatten())
        .collect()
}

fn item(state: &State, pod: &Node, page: &Page) -> Option<Item> {
    let judged = state.objects.judge(&pod.uid, page.now)?;
    let plain = |text: &str| Cell::new(text, Role::Plain);
    let node = match &pod.facts {
        Facts::Pod(pod) => pod.node.as_deref().unwrap_or_default(),
        Facts::Workload(_) | Facts::Service(_) | Facts::Slice(_) | Facts::Other => "",
    };
    let causes = judged.causes.into_iter().map(|cause| cause.text);
    Some(Item {
        depth: 2,
        body: Body::Row {
            symbol: page.symbol(judged.status),
            cells: vec![
                plain("-"),
                plain(&pod.object.to_string()),
                plain(&judged.ready),
                Cell::new(&judged.word, role(judged.status)),
                plain("no"),
                plain(node),
                Cell::default(),
                plain(&page.age(pod.created)),
            ],
        },
        notes: std::iter::once(why(pod).to_owned()).chain(causes).collect(),
        weight: Weight::Heavy,
    })
}
