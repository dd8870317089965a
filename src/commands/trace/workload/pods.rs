//! The progress of the Pods of a rollout, and what delays them.

use crate::commands::trace::traced::Traced;
use crate::graph::{Node, Pod};
use crate::status::{Assessment, Cause, CauseRule, Status};

/// The progress of one Pod.
pub(super) struct PodProgress<'a> {
    /// Its name.
    pub(super) name: &'a str,
    /// kubectl's word for its state.
    pub(super) word: &'a str,
    /// Its facts in the graph.
    pub(super) pod: &'a Pod,
    /// What delays it; `None` if nothing does.
    pub(super) trouble: Option<Trouble<'a>>,
}

/// What delays a Pod.
pub(super) struct Trouble<'a> {
    /// The step that it cannot complete.
    pub(super) at: PodStep,
    /// The cause.
    pub(super) cause: &'a Cause,
}

/// A step of a pod on its way to being available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PodStep {
    /// It has no node.
    Scheduling,
    /// An image cannot be pulled.
    Image,
    /// It does not run, or is not ready.
    Running,
}

impl<'a> PodProgress<'a> {
    /// Reads the progress of a Pod; `None` if the Pod is being deleted.
    pub(super) fn of(traced: &'a Traced, node: &'a Node) -> Option<PodProgress<'a>> {
        let pod = node.pod().filter(|_| !node.deleting)?;
        let assessment = traced.assessment(&node.uid)?;
        Some(PodProgress {
            name: &node.object.name,
            word: &assessment.row.word,
            pod,
            trouble: Trouble::of(assessment),
        })
    }
}

impl<'a> Trouble<'a> {
    fn of(assessment: &'a Assessment) -> Option<Trouble<'a>> {
        let cause = assessment.causes.first()?;
        let at = match cause.rule {
            CauseRule::Unschedulable | CauseRule::SchedulingGated => PodStep::Scheduling,
            CauseRule::ImagePull => PodStep::Image,
            // A container that is not ready yet may still be starting.
            CauseRule::NotReady | CauseRule::ReadinessGate | CauseRule::Waiting
                if assessment.status() != Status::Failed =>
            {
                return None;
            }
            _ => PodStep::Running,
        };
        Some(Trouble { at, cause })
    }
}
