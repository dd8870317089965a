//! The revisions of a Deployment with their pods, as a tree. The current revision comes first.

use crate::commands::trace::traced::revision;
use crate::graph::Node;
use crate::object::Value;
use crate::render::canvas::Canvas;
use crate::render::count::counted;
use crate::render::outline::{Outline, OutlineItem, Weight};
use crate::render::status::role;
use crate::render::style::Role;
use crate::render::table::{Cell, Column, Fit};
use crate::status::{Assessment, Status};

use super::rollout::{RolloutSnapshot, sets};
use super::state::DeploymentState;

/// The tree of a Deployment's dependents, also after its deletion.
pub(super) fn outline(
    state: &DeploymentState,
    rollout: Option<&RolloutSnapshot<'_>>,
    canvas: Canvas,
) -> Outline {
    let graph = state.traced.graph();
    let current = rollout.and_then(|rollout| rollout.current);
    let sets = state
        .uid()
        .map_or(Vec::new(), |uid| sets(graph, uid, current));
    let is_shown = |set: &&&Node| {
        current.is_some_and(|current| current.uid == set.uid)
            || !set.is_idle()
            || !graph.children(&set.uid).is_empty()
    };
    let mut items = Vec::new();
    for set in sets.iter().filter(is_shown) {
        items.push(set_item(state, set, canvas));
        let pods = graph.children(&set.uid);
        items.extend(
            pods.into_iter()
                .filter_map(|pod| pod_item(state, pod, canvas)),
        );
    }
    let idle: Vec<&Node> = sets.iter().filter(|set| !is_shown(set)).copied().collect();
    let mut more: Vec<String> = idle_text(&idle).into_iter().collect();
    if let Some(rollout) = rollout {
        more.extend(rollout.loaded.unread().map(str::to_owned));
        let orphan = |pod: &&Node| {
            format!(
                "orphaned: {} matches the selector but has no owner",
                pod.object
            )
        };
        more.extend(rollout.orphans.iter().map(orphan));
    }
    let left = |pod: &String| format!("left: {pod} no longer matches the selector");
    more.extend(state.left.iter().map(left));
    let line = |text: &String| OutlineItem::line(1, text, Role::Dim);
    items.extend(more.iter().map(line));
    Outline {
        columns: vec![
            Column::new("Revision", Fit::CutMiddle),
            Column::new("Ready", Fit::Keep),
            Column::new("Image / Status", Fit::Shrink),
            Column::new("Age", Fit::Drop(1)),
            Column::new("Node", Fit::Drop(2)),
        ],
        tree: 0,
        items,
        footnote: None,
    }
}

/// The text for revisions without pods.
fn idle_text(idle: &[&Node]) -> Option<String> {
    let mut revisions: Vec<i64> = idle.iter().filter_map(|set| set.revision()).collect();
    revisions.sort_unstable();
    let range = match revisions[..] {
        [] => String::new(),
        [one] => format!(" (#{one})"),
        [first, .., last] => format!(" (#{first} to #{last})"),
    };
    let counted = counted(idle.len(), "idle revision", "idle revisions");
    (!idle.is_empty()).then(|| format!("{counted}{range}"))
}

fn set_item(state: &DeploymentState, set: &Node, canvas: Canvas) -> OutlineItem {
    let assessment = state.traced.assessment(&set.uid);
    let status = assessment.map_or(Status::Unknown, Assessment::status);
    let ready = assessment.and_then(|assessment| assessment.row.ready.as_deref());
    let doc = state.traced.model.doc(&set.uid);
    let images = doc.map_or(String::new(), |doc| images(doc.root()));
    let revision = revision(set).unwrap_or_default();
    let cells = vec![
        Cell::new(&format!("{}{revision}", set.object), Role::Name),
        Cell::new(ready.unwrap_or_default(), Role::Plain),
        Cell::new(&images, Role::Plain),
        Cell::new(&canvas.age(set.created), Role::Plain),
    ];
    OutlineItem::row(1, status, cells).weighing(Weight::Line)
}

fn pod_item(state: &DeploymentState, pod: &Node, canvas: Canvas) -> Option<OutlineItem> {
    let node = pod.pod()?.node.as_deref();
    let assessment = state.traced.assessment(&pod.uid)?;
    let (status, row) = (assessment.status(), &assessment.row);
    let cells = vec![
        Cell::new(&pod.object.to_string(), Role::Plain),
        Cell::new(row.ready.as_deref().unwrap_or_default(), Role::Plain),
        Cell::new(&row.word, role(status)),
        Cell::new(&canvas.age(pod.created), Role::Plain),
        Cell::new(node.unwrap_or_default(), Role::Plain),
    ];
    let causes = assessment.causes.iter().map(|cause| &cause.text);
    Some(OutlineItem::row(2, status, cells).because(causes))
}

/// The images of a pod template, without their registries: `web:v2.4.1`.
fn images(set: Value<'_>) -> String {
    let images: Vec<String> = set
        .items_at(&["spec", "template", "spec", "containers"])
        .filter_map(|container| container.str_at(&["image"]))
        .map(|image| short_image(&image))
        .collect();
    images.join(", ")
}

/// How many digits of a digest are shown, as in container tools.
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
