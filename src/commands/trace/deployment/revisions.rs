//! The revisions of a Deployment with their pods, as a tree: the current one first.

use crate::commands::trace::outline::{Body, Item, Outline, Weight};
use crate::commands::trace::page::{Page, role};
use crate::graph::{Facts, Node};
use crate::object::Value;
use crate::render::style::Role;
use crate::render::table::{Cell, Column, Fit};
use crate::render::text::escape_line;
use crate::status::Status;

use super::reading::{Reading, is_idle, revision, sets, workload};
use super::state::State;

/// Draws the tree of what a Deployment owns, or owned.
pub(super) fn outline(state: &State, reading: Option<&Reading<'_>>, page: &Page) -> Outline {
    let current = reading.and_then(|reading| reading.current);
    let sets = state
        .uid()
        .map_or(Vec::new(), |uid| sets(&state.objects, uid, current));
    let is_shown = |set: &&&Node| {
        current.is_some_and(|current| current.uid == set.uid)
            || !is_idle(set)
            || !state.objects.graph().children(&set.uid).is_empty()
    };
    let mut items = Vec::new();
    for set in sets.iter().filter(is_shown) {
        items.push(set_item(state, set, page));
        let pods = state.objects.graph().children(&set.uid);
        items.extend(
            pods.into_iter()
                .filter_map(|pod| pod_item(state, pod, page)),
        );
    }
    let idle: Vec<&Node> = sets.iter().filter(|set| !is_shown(set)).copied().collect();
    let mut more: Vec<String> = idle_text(&idle).into_iter().collect();
    if let Some(reading) = reading {
        let unread = reading.read.unread();
        more.extend(unread.map(|kind| kind.unread().to_owned()));
        let orphan = |pod: &&Node| {
            format!(
                "orphaned: {} matches the selector, nobody owns it",
                pod.object
            )
        };
        more.extend(reading.orphans.iter().map(orphan));
    }
    let left = |pod: &String| format!("left: {pod} no longer matches the selector");
    more.extend(state.left.iter().map(left));
    items.extend(more.iter().map(|text| Item {
        depth: 1,
        body: Body::Line(page.look.styles.dim(&escape_line(text))),
        notes: Vec::new(),
        weight: Weight::Heavy,
    }));
    Outline {
        titles: vec!["REVISION", "READY", "IMAGE / STATUS", "AGE", "NODE"],
        columns: vec![
            Column::new("", Fit::CutMiddle),
            Column::new("", Fit::Keep),
            Column::new("", Fit::Shrink),
            Column::new("", Fit::Drop(1)),
            Column::new("", Fit::Drop(2)),
        ],
        items,
        hidden: 0,
    }
}

/// The revisions that have no pods, in a few words.
fn idle_text(idle: &[&Node]) -> Option<String> {
    let mut revisions: Vec<i64> = idle
        .iter()
        .filter_map(|set| workload(set)?.revision)
        .collect();
    revisions.sort_unstable();
    let range = match revisions[..] {
        [] => String::new(),
        [one] => format!(" (#{one})"),
        [first, .., last] => format!(" (#{first} to #{last})"),
    };
    let revisions = if idle.len() == 1 {
        "revision"
    } else {
        "revisions"
    };
    (!idle.is_empty()).then(|| format!("{} idle {revisions}{range}", idle.len()))
}

fn set_item(state: &State, set: &Node, page: &Page) -> Item {
    let judged = state.objects.judge(&set.uid, page.now);
    let status = judged
        .as_ref()
        .map_or(Status::Unknown, |judged| judged.status);
    let images = state.objects.get(&set.uid).map_or(String::new(), images);
    let name = format!("{}{}", set.object, revision(set));
    Item {
        depth: 1,
        body: Body::Row {
            symbol: page.symbol(status),
            cells: vec![
                Cell::new(&name, Role::Name),
                Cell::new(
                    &judged.map_or(String::new(), |judged| judged.ready),
                    Role::Plain,
                ),
                Cell::new(&images, Role::Plain),
                Cell::new(&page.age(set.created), Role::Plain),
            ],
        },
        notes: Vec::new(),
        weight: Weight::Heavy,
    }
}

fn pod_item(state: &State, pod: &Node, page: &Page) -> Option<Item> {
    let Facts::Pod(facts) = &pod.facts else {
        return None;
    };
    let judged = state.objects.judge(&pod.uid, page.now)?;
    Some(Item {
        depth: 2,
        body: Body::Row {
            symbol: page.symbol(judged.status),
            cells: vec![
                Cell::new(&pod.object.to_string(), Role::Plain),
                Cell::new(&judged.ready, Role::Plain),
                Cell::new(&judged.word, role(judged.status)),
                Cell::new(&page.age(pod.created), Role::Plain),
                Cell::new(facts.node.as_deref().unwrap_or_default(), Role::Plain),
            ],
        },
        notes: judged.causes.into_iter().map(|cause| cause.text).collect(),
        weight: match judged.status {
            Status::Current => Weight::Light,
            _ => Weight::Heavy,
        },
    })
}

/// The images of a pod template, without where they come from: `web:v2.4.1`.
fn images(set: Value<'_>) -> String {
    let images: Vec<String> = set
        .items_at(&["spec", "template", "spec", "containers"])
        .filter_map(|container| container.str_at(&["image"]))
        .map(|image| short_image(&image))
        .collect();
    images.join(", ")
}

/// How many digits of a digest are shown: as many as container tools show.
const DIGEST: usize = 12;

fn short_image(image: &str) -> String {
    let name = image.rsplit('/').next().unwrap_or(image);
    match name.split_once("@sha256:") {
        Some((name, digest)) => {
            let digest: String = digest.chars().take(DIGEST).collect();
            format!("{name}@{digest}")
        }
        None => name.to_owned(),
    }
}
