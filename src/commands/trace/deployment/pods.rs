//! How far the pods of a rollout are: which have a node, which have their images, what holds them up.

use jiff::Timestamp;

use crate::commands::trace::objects::Objects;
use crate::graph::Node;
use crate::object::{Value, condition};
use crate::status::{CauseRule, Status};

/// How far one pod is.
pub(super) struct PodProgress {
    /// Its name.
    pub(super) name: String,
    /// kubectl's word for its state.
    pub(super) word: String,
    /// The node it has.
    pub(super) node: Option<String>,
    /// When it got its node.
    pub(super) scheduled: Option<Timestamp>,
    /// Whether its images are there.
    pub(super) pulled: Pulled,
    /// When it became ready, if it is.
    pub(super) ready: Option<Timestamp>,
    /// What holds it up, and since when on its way.
    pub(super) trouble: Option<Trouble>,
}

/// What holds a pod up.
pub(super) struct Trouble {
    /// Where on its way.
    pub(super) at: PodStep,
    /// Which rule found it.
    pub(super) rule: CauseRule,
    /// Why, not escaped.
    pub(super) text: String,
}

/// A step of a pod on its way to be available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PodStep {
    /// It has no node.
    Scheduling,
    /// An image cannot be had.
    Image,
    /// It does not run, or is not ready.
    Running,
}

/// Reads how far a pod is; one that is on its way out is on no way in.
pub(super) fn progress(objects: &Objects, node: &Node, now: Timestamp) -> Option<PodProgress> {
    let pod = objects.get(&node.uid).filter(|_| !node.deleting)?;
    let assessment = objects.assess(&node.uid, now)?;
    let text = |path: &[&str]| {
        let text = pod.str_at(path)?;
        (!text.is_empty()).then(|| text.into_owned())
    };
    let scheduled = since(pod, "PodScheduled");
    let ready = since(pod, "Ready");
    let cause = assessment.causes.first();
    let trouble = cause.and_then(|cause| {
        let at = match cause.rule {
            CauseRule::Unschedulable | CauseRule::SchedulingGated => PodStep::Scheduling,
            CauseRule::ImagePull => PodStep::Image,
            // A container that is not ready yet is on its way.
            CauseRule::NotReady | CauseRule::ReadinessGate | CauseRule::Waiting
                if assessment.status() != Status::Failed =>
            {
                return None;
            }
            _ => PodStep::Running,
        };
        Some(Trouble {
            at,
            rule: cause.rule,
            text: cause.text.clone(),
        })
    });
    Some(PodProgress {
        name: node.object.name.to_string(),
        node: text(&["spec", "nodeName"]),
        pulled: pulled(pod),
        word: assessment.row.word,
        scheduled,
        ready,
        trouble,
    })
}

/// Since when a condition of a pod is True.
fn since(pod: Value<'_>, kind: &str) -> Option<Timestamp> {
    let condition = condition(pod, kind)?;
    condition.since().filter(|_| condition.status == "True")
}

/// Whether the images of a pod are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pulled {
    /// One is not.
    No,
    /// All are, since this time at the latest; it is not known where no container runs.
    By(Option<Timestamp>),
}

/// Whether every container has its image: it has started, now or before. With the time of the latest
/// start, where there is one.
fn pulled(pod: Value<'_>) -> Pulled {
    let wanted = pod.items_at(&["spec", "containers"]).count();
    let statuses: Vec<Value<'_>> = pod.items_at(&["status", "containerStatuses"]).collect();
    if statuses.len() < wanted || !statuses.iter().all(|status| has_image(*status)) {
        return Pulled::No;
    }
    let started = |status: &Value<'_>| {
        let time = status.str_at(&["state", "running", "startedAt"])?;
        time.parse().ok()
    };
    Pulled::By(statuses.iter().filter_map(started).max())
}

fn has_image(status: Value<'_>) -> bool {
    let has = |path: &[&str]| status.at(path).is_some_and(|value| !value.is_null());
    let image = status.str_at(&["imageID"]);
    has(&["state", "running"])
        || has(&["state", "terminated"])
        || image.is_some_and(|image| !image.is_empty())
}
