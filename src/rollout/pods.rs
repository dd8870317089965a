//! `PodGroup`: the Pods of one revision of a workload or of one run, their progress, and what delays them.

use std::cmp::Reverse;

use jiff::Timestamp;

use crate::graph::{Graph, Node, Pod, Standing};
use crate::model::Model;
use crate::object::{Doc, Uid};
use crate::status::{Assessment, Cause, CauseRule, Status};

/// The Pods of one revision of a workload, or of one run.
pub struct PodGroup<'a> {
    /// The object of the group; `None` if it was not read, or if the Pods have none.
    pub(super) object: Option<&'a Node>,
    /// Its name in the tree: `replicaset/web-1`; `None` if the workload has the Pods itself.
    pub name: Option<String>,
    /// The number of the revision.
    pub number: Option<i64>,
    /// Whether it is the newest revision.
    pub(super) standing: Standing,
    /// Its Pods.
    pub pods: Vec<&'a Node>,
    /// How many Pods its controller counts.
    pub(super) there: i64,
    /// How many of them are available.
    pub(super) available: i64,
    /// Its state.
    pub status: Status,
    /// Its ready Pods of all: `2/3`.
    pub ready: String,
}

impl<'a> PodGroup<'a> {
    /// The group of an object that owns its Pods, as a `ReplicaSet` or a Job does.
    pub(super) fn owned(model: &'a Model, object: &'a Node, standing: Standing) -> PodGroup<'a> {
        let assessment = model.assessment(&object.uid);
        let ready = assessment.and_then(|assessment| assessment.row.ready.clone());
        let counts = object
            .workload()
            .and_then(|set| set.counts)
            .unwrap_or_default();
        PodGroup {
            object: Some(object),
            name: Some(object.object.to_string()),
            number: object.revision(),
            standing,
            pods: pods_of(model.graph(), &object.uid),
            there: counts.there,
            available: counts.available,
            status: assessment.map_or(Status::Unknown, Assessment::status),
            ready: ready.unwrap_or_default(),
        }
    }

    /// The group of Pods that the workload itself owns. The Pods alone show its state.
    pub(super) fn of_pods(model: &Model, pods: Vec<&'a Node>) -> PodGroup<'a> {
        let assessments = pods.iter().filter_map(|pod| model.assessment(&pod.uid));
        let status = assessments.map(Assessment::status).max();
        let ready = pods.iter().filter(|pod| pod.is_ready_pod()).count();
        PodGroup {
            object: None,
            name: None,
            number: None,
            standing: Standing::Current,
            there: number(pods.len()),
            available: number(ready),
            status: status.unwrap_or(Status::Current),
            ready: format!("{ready}/{}", pods.len()),
            pods,
        }
    }

    /// Whether it belongs to the newest revision.
    pub fn is_current(&self) -> bool {
        self.standing == Standing::Current
    }

    /// Whether it has and wants no Pods.
    pub fn is_idle(&self) -> bool {
        let has_pods = self.there > 0 || !self.pods.is_empty();
        let wants = self.object.and_then(Node::workload).is_some()
            && self.object.is_some_and(|object| !object.is_idle());
        !has_pods && !wants
    }

    /// When its object was created.
    pub fn created(&self) -> Option<Timestamp> {
        self.object?.created
    }

    /// The name and the number of the revision: `web-1 #12`.
    pub(super) fn title(&self) -> String {
        let name = self.name.as_deref().unwrap_or_default();
        let name = name.rsplit('/').next().unwrap_or(name);
        format!("{name}{}", self.suffix())
    }

    /// The number after the name: ` #12`.
    pub fn suffix(&self) -> String {
        self.number
            .map_or(String::new(), |number| format!(" #{number}"))
    }

    /// An object with the Pod template of the group, at `spec.template`.
    pub fn template(&self, model: &Model) -> Option<Doc> {
        let object = self.object?;
        let doc = model.doc(&object.uid)?;
        match &*object.object.kind {
            "ControllerRevision" => Doc::parse(doc.root().get("data")?.raw()).ok(),
            _ => Some(doc),
        }
    }
}

/// Sorts groups: the newest revision first, then by falling number.
pub(super) fn sort(groups: &mut [PodGroup<'_>]) {
    groups.sort_by_key(|group| (!group.is_current(), Reverse(group.number)));
}

/// The Pods that an object owns.
pub(super) fn pods_of<'a>(graph: &'a Graph, uid: &Uid) -> Vec<&'a Node> {
    let mut pods = graph.children(uid);
    pods.retain(|pod| pod.pod().is_some());
    pods
}

/// A count as the API has it.
pub(super) fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

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
    pub(super) fn of(model: &'a Model, node: &'a Node) -> Option<PodProgress<'a>> {
        let pod = node.pod().filter(|_| !node.deleting)?;
        let assessment = model.assessment(&node.uid)?;
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
