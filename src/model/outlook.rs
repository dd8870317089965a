//! `Outlook`: what a wait for an object can expect, by the judgement of the object and its dependents.

use std::collections::BTreeMap;
use std::iter::successors;

use crate::graph::Node;
use crate::object::Uid;
use crate::status::{Assessment, Cause, CauseRule, Recovery, Status};

use super::around::Around;
use super::object::ModelObject;

/// What a wait for an object can expect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// The object and its dependents are Current.
    Current,
    /// They are, but dependents that are no longer wanted are still being deleted: these.
    Ending(String),
    /// They are not Current yet, for this reason.
    Pending(String),
    /// The object or a dependent has failed.
    Failed {
        /// Whether it can get well without help.
        recovery: Recovery,
        /// The problem, and the dependent that has it.
        reason: String,
    },
}

impl Outlook {
    /// What a wait for an object can expect; `None` if the object is not there.
    ///
    /// The dependents count if they have the current revision. Three kinds of them do not: Pods that have ended,
    /// because their owners replace or count them; objects that are being deleted; and the Jobs of a `CronJob`,
    /// because each is a run of its own. While a controller has not observed the newest generation, its dependents
    /// may have the old one, so nothing has failed yet.
    pub fn of(around: Around<'_>, uid: &Uid) -> Option<Outlook> {
        let object = around.object(uid);
        let object = object.filter(|object| object.departure.is_none())?;
        let own = &object.assessment;
        if !own.is_observed() {
            return Some(Outlook::Pending(own.reason().to_owned()));
        }
        let parts = object.parts.as_ref();
        let parts = parts.filter(|_| &*object.object.kind != "CronJob");
        let part = |uid: Option<&Uid>| around.object(uid?);
        let worst = part(parts.and_then(|parts| parts.failed.as_ref()));
        let late = part(parts.and_then(|parts| parts.late.as_ref()));
        Some(match (own.status(), worst) {
            (Status::Failed, worst) => Outlook::Failed {
                recovery: recovery(object, worst),
                reason: reason(object, worst.filter(|_| is_by_pods(object))),
            },
            (_, Some(part)) => Outlook::Failed {
                recovery: part.assessment.recovery(),
                reason: of_part(part),
            },
            (Status::Current, None) => match late {
                None => Outlook::Current,
                Some(part) => Outlook::Pending(of_part(first_late(around, part))),
            },
            (_, None) => Outlook::Pending(match late {
                None => detailed(own),
                Some(part) => with_part(&detailed(own), first_late(around, part)),
            }),
        })
    }

    /// The same outlook. If all is Current, it also knows the dependents that are still being deleted, of any revision.
    #[must_use]
    pub fn with_ending(self, around: Around<'_>, uid: &Uid) -> Outlook {
        if self != Outlook::Current {
            return self;
        }
        let below = around.graph().tree(uid).into_iter();
        let below: Vec<Uid> = below.map(|(_, dependent)| dependent).collect();
        let objects = below.iter().filter_map(|uid| around.object(uid));
        let orphans = orphans(around, &below);
        let mut ending = objects.filter(|object| is_ending(object)).chain(orphans);
        let Some(first) = ending.next() else {
            return self;
        };
        let cause = first.assessment.causes.first();
        let cause = cause.map_or(String::new(), |cause| format!(": {}", cause.text));
        let more = match ending.count() {
            0 => String::new(),
            more => format!(" (and {more} more)"),
        };
        Outlook::Ending(format!(
            "{} is still being deleted{more}{cause}",
            first.object
        ))
    }

    /// Why the object is not Current; empty if it is.
    pub fn reason(&self) -> &str {
        match self {
            Outlook::Current => "",
            Outlook::Ending(reason) | Outlook::Pending(reason) | Outlook::Failed { reason, .. } => {
                reason
            }
        }
    }
}

fn is_ending(object: &ModelObject) -> bool {
    object.departure.is_none() && object.assessment.status() == Status::Terminating
}

/// The Pods without an owner that are being deleted and that one of these workloads selects. A `ReplicaSet` that does not
/// fit into the history of its Deployment is gone before its Pods are.
fn orphans<'m>(around: Around<'m>, workloads: &[Uid]) -> Vec<&'m ModelObject> {
    let mut orphans: BTreeMap<&Uid, &ModelObject> = BTreeMap::new();
    for uid in workloads {
        let is_workload = |node: &Node| node.workload().is_some();
        if !around.graph().node(uid).is_some_and(is_workload) {
            continue;
        }
        let pods = around.graph().selected_pods(uid).into_iter();
        let pods = pods.filter(|pod| {
            let is_of_cluster = around.cluster_of(&pod.uid) == around.cluster_of(uid);
            is_of_cluster && around.graph().owners(&pod.uid).next().is_none()
        });
        let pods = pods.filter_map(|pod| Some((&pod.uid, around.object(&pod.uid)?)));
        orphans.extend(pods.filter(|(_, object)| is_ending(object)));
    }
    orphans.into_values().collect()
}

/// Whether the Pods of the object are its problem, or the first of its problems.
fn is_by_pods(object: &ModelObject) -> bool {
    let first = object.assessment.causes.first().map(|cause| cause.rule);
    let rules = [object.assessment.verdict.rule, first];
    rules.contains(&Some(CauseRule::FailedPods))
}

/// The recovery of an object that has failed. If its Pods are the problem, the recovery is theirs.
fn recovery(object: &ModelObject, worst: Option<&ModelObject>) -> Recovery {
    let part = worst.map(|part| part.assessment.recovery());
    let own = object.assessment.recovery();
    match part {
        Some(part) if is_by_pods(object) && own == CauseRule::FailedPods.recovery() => part,
        Some(part) => own.max(part),
        None => own,
    }
}

/// `0 of 3 new pods ready: 1 ImagePullBackOff: pod/web-x: web: Back-off pulling image`.
fn reason(object: &ModelObject, part: Option<&ModelObject>) -> String {
    let own = object.assessment.reason();
    match part {
        Some(part) => format!("{own}: {}", of_part(part)),
        None => own.to_owned(),
    }
}

fn of_part(part: &ModelObject) -> String {
    format!("{}: {}", part.object, detailed(&part.assessment))
}

/// How many levels of dependents are searched. Objects may own each other.
const MAX_DEPTH: usize = 16;

/// The late object at the end of the chain that begins with this late part: the Pod of a `ReplicaSet`. The Jobs of a
/// `CronJob` do not count.
fn first_late<'m>(around: Around<'m>, part: &'m ModelObject) -> &'m ModelObject {
    let below = |object: &&'m ModelObject| {
        let parts = object.parts.as_ref();
        let parts = parts.filter(|_| &*object.object.kind != "CronJob");
        around.object(parts?.late.as_ref()?)
    };
    let chain = successors(Some(part), below).take(MAX_DEPTH);
    chain.last().unwrap_or(part)
}

/// `Updated: 1/3: pod/web-x: app: running, not ready`. What the reason of the object says already of the part is left
/// out, and so are the counts of a `ReplicaSet`, which are the object's own.
fn with_part(own: &str, part: &ModelObject) -> String {
    let reason = detailed(&part.assessment);
    let is_count = &*part.object.kind == "ReplicaSet" && part.assessment.causes.is_empty();
    if is_count || own.contains(&reason) {
        own.to_owned()
    } else if own.contains(&part.object.to_string()) {
        format!("{own}: {reason}")
    } else {
        format!("{own}: {}: {reason}", part.object)
    }
}

/// The reason of a state. If that only says that a part is not ready, the first warning says why:
/// `app: running, not ready: Readiness probe failed`.
fn detailed(assessment: &Assessment) -> String {
    let reason = assessment.reason();
    let rule_is = |rule| move |cause: &&Cause| cause.rule == rule;
    let first = assessment
        .causes
        .first()
        .filter(rule_is(CauseRule::NotReady));
    let mut causes = assessment.causes.iter();
    let warning = first.and_then(|_| causes.find(rule_is(CauseRule::Event)));
    match warning.and_then(|warning| warning.text.split_once(": ")) {
        Some((_, message)) => format!("{reason}: {message}"),
        None => reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::object::ObjectRef;

    fn assessment(message: &str, causes: &[(CauseRule, &str)]) -> Assessment {
        let mut assessment = Assessment::unread();
        message.clone_into(&mut assessment.verdict.message);
        let causes = causes.iter().map(|(rule, text)| Cause::new(*rule, *text));
        assessment.causes = causes.collect();
        assessment
    }

    #[test]
    fn a_vague_reason_has_the_words_of_the_first_warning() {
        use CauseRule::{Event, ImagePull, NotReady, Restarted};
        const PROBE: &str =
            "Unhealthy: Readiness probe failed: HTTP probe failed with statuscode: 503";
        let not_ready = (NotReady, "app: running, not ready");
        for (causes, expected) in [
            (&[][..], "Pod is in the Pending phase"),
            (&[not_ready], "app: running, not ready"),
            (
                &[not_ready, (Event, PROBE), (Event, "Other: later")],
                "app: running, not ready: Readiness probe failed: HTTP probe failed with statuscode: 503",
            ),
            (
                &[(Event, "FailedMount: no volume")],
                "FailedMount: no volume",
            ),
            (
                &[(ImagePull, "app: no image"), (Event, PROBE)],
                "app: no image",
            ),
            (
                &[(Restarted, "app: exit 1"), not_ready, (Event, PROBE)],
                "app: exit 1",
            ),
        ] {
            let assessment = assessment("Pod is in the Pending phase", causes);
            assert_eq!(detailed(&assessment), expected);
        }
    }

    #[test]
    fn a_late_part_is_named_once() {
        let part = |kind: &str, name: &str, causes: &[(CauseRule, &str)]| {
            let object = ObjectRef {
                api_version: "v1".into(),
                kind: kind.into(),
                namespace: None,
                name: name.into(),
                uid: None,
            };
            let mut part = ModelObject::new(Arc::new(object));
            part.assessment = Arc::new(assessment("Available: 0/1", causes));
            part
        };
        let unready = [(CauseRule::NotReady, "app: running, not ready")];
        let pod = part("Pod", "db-1", &unready);
        for (own, part, expected) in [
            (
                "Updated: 1/3",
                &pod,
                "Updated: 1/3: pod/db-1: app: running, not ready",
            ),
            (
                "waits for pod/db-1, which is not ready",
                &pod,
                "waits for pod/db-1, which is not ready: app: running, not ready",
            ),
            (
                "pod/db-1: app: running, not ready",
                &pod,
                "pod/db-1: app: running, not ready",
            ),
            (
                "Updated: 1/3",
                &part("ReplicaSet", "web-1", &[]),
                "Updated: 1/3",
            ),
            (
                "Ready is False",
                &part("Deployment", "web", &[]),
                "Ready is False: deployment/web: Available: 0/1",
            ),
        ] {
            assert_eq!(with_part(own, part), expected);
        }
    }
}
