//! The revisions of a workload with their pods, as a tree. The current revision comes first.

use crate::graph::Node;
use crate::object::Value;
use crate::render::canvas::Canvas;
use crate::render::count::counted;
use crate::render::outline::{Outline, OutlineItem, Weight};
use crate::render::status::role;
use crate::render::style::Role;
use crate::render::table::{Cell, Column, Fit};

use super::pod_group::PodGroup;
use super::rollout::RolloutSnapshot;
use super::state::WorkloadState;

/// The tree of a workload's dependents, also after its deletion.
pub(super) fn outline(
    state: &WorkloadState,
    rollout: Option<&RolloutSnapshot<'_>>,
    canvas: Canvas,
) -> Outline {
    let gone = state.uid().filter(|_| rollout.is_none());
    let gone = gone.map(|uid| state.kind.groups(&state.traced, uid));
    let groups = rollout.map_or(gone.as_deref().unwrap_or_default(), |rollout| {
        &rollout.groups
    });
    let is_shown = |group: &&PodGroup<'_>| group.is_current() || !group.is_idle();
    let mut items = Vec::new();
    for group in groups.iter().filter(is_shown) {
        let depth = 1 + usize::from(group.name.is_some());
        items.extend(group_item(state, group, canvas));
        let pods = group.pods.iter();
        items.extend(pods.filter_map(|pod| pod_item(state, pod, depth, canvas)));
    }
    let idle: Vec<_> = groups.iter().filter(|group| !is_shown(group)).collect();
    let line = |text: &String| OutlineItem::line(1, text, Role::Dim);
    items.extend(idle_text(&idle).iter().map(line));
    items.extend(remarks(state, rollout).iter().map(line));
    Outline {
        columns: vec![
            Column::new(state.kind.column(), Fit::CutMiddle),
            Column::new("Ready", Fit::Keep),
            Column::new("Image / Status", Fit::Shrink),
            Column::new("Age", Fit::Drop(1)),
            Column::new("Node", Fit::Drop(2)),
        ],
        tree: 0,
        items,
        healthy_beyond: 0,
        footnote: None,
    }
}

/// The kinds that were not read, and the pods that do not belong to the workload.
fn remarks(state: &WorkloadState, rollout: Option<&RolloutSnapshot<'_>>) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(rollout) = rollout {
        remarks.extend(rollout.loaded.unread.iter().cloned());
        let orphan = |pod: &&Node| {
            format!(
                "orphaned: {} matches the selector but has no owner",
                pod.object
            )
        };
        remarks.extend(rollout.orphans.iter().map(orphan));
    }
    let left = |pod: &String| format!("left: {pod} no longer matches the selector");
    remarks.extend(state.left.iter().map(left));
    remarks
}

/// The text for revisions without pods.
fn idle_text(idle: &[&PodGroup<'_>]) -> Option<String> {
    let mut revisions: Vec<i64> = idle.iter().filter_map(|group| group.number).collect();
    revisions.sort_unstable();
    let range = match revisions[..] {
        [] => String::new(),
        [one] => format!(" (#{one})"),
        [first, .., last] => format!(" (#{first} to #{last})"),
    };
    let counted = counted(idle.len(), "idle revision", "idle revisions");
    (!idle.is_empty()).then(|| format!("{counted}{range}"))
}

/// The row of a group; `None` if its Pods belong to the workload itself.
fn group_item(state: &WorkloadState, group: &PodGroup<'_>, canvas: Canvas) -> Option<OutlineItem> {
    let name = group.name.as_ref()?;
    let template = group.template(&state.traced);
    let images = template.map_or(String::new(), |template| images(template.root()));
    let cells = vec![
        Cell::new(&format!("{name}{}", group.suffix()), Role::Name),
        Cell::new(&group.ready, Role::Plain),
        Cell::new(&images, Role::Plain),
        Cell::new(&canvas.age(group.created()), Role::Plain),
    ];
    Some(OutlineItem::row(1, group.status, cells).weighing(Weight::Line))
}

fn pod_item(
    state: &WorkloadState,
    pod: &Node,
    depth: usize,
    canvas: Canvas,
) -> Option<OutlineItem> {
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
    Some(OutlineItem::row(depth, status, cells).because(causes))
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
