//! `Failure`: an object that has failed, and why, as far as it decides which change may be the cause.

use std::cell::LazyCell;
use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::graph::{Links, Node, Reference, ReferenceTarget, Standing, Tier};
use crate::model::{
    Model, ModelObject, Root, idle_workload, isolating_policies, nodes_closed_to,
    nodes_that_keep_out, refusing_configurations, repeats_its_pods, was_closed_out_lately,
};
use crate::object::managed_fields::entries;
use crate::object::{GroupKind, Uid};
use crate::status::{
    CauseRule, Status, missing_object, refusing_policy, refusing_quota, uncalled_service,
};

/// An object that has failed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Failure {
    pub(super) uid: Uid,
    generation: i64,
    /// Why it has failed. This may be known later than the failure.
    pub(super) reason: FailureReason,
}

impl Failure {
    /// The failure of this object; `None` if the object cannot be read.
    pub(super) fn of(model: &Model, object: &ModelObject, uid: Uid) -> Option<Failure> {
        let generation = model.doc(&uid)?.root().i64_at(&["metadata", "generation"]);
        Some(Failure {
            uid,
            generation: generation.unwrap_or_default(),
            reason: FailureReason::of(model, object),
        })
    }
}

/// The objects that have failed or report a problem. A workload on its way has the problems of its Pods, such as a probe
/// that fails. Of those that are well, nodes that are closed, `DaemonSets` that were closed out lately, and what was scaled.
pub(super) fn broken(
    model: &Model,
    objects: impl Iterator<Item = Uid>,
    now: Timestamp,
) -> Vec<(&ModelObject, Uid)> {
    // What is above the broken Pods of current revisions.
    let above_pods = LazyCell::new(|| {
        let mut standings = model.graph().standings();
        let pods = model
            .objects()
            .filter(|(_, object)| &*object.object.kind == "Pod" && object.is_broken());
        let current = pods.filter(|(uid, _)| standings.of(uid) == Standing::Current);
        model.graph().with_above(current.map(|(uid, _)| uid))
    });
    let is_broken = |object: &ModelObject, uid: &Uid| match object.assessment.status() {
        Status::Current if object.assessment.has_cause(CauseRule::KeptOut) => {
            was_closed_out_lately(model.around(), uid, now)
        }
        Status::Current => {
            let closed = [CauseRule::Cordoned, CauseRule::Tainted];
            let is_closed = closed.iter().any(|rule| object.assessment.has_cause(*rule));
            is_closed
                || !isolating_policies(model.around(), uid).is_empty()
                || was_scaled(model, uid)
        }
        Status::InProgress => object.is_broken() || above_pods.contains(uid),
        Status::Terminating => {
            let waits = [CauseRule::Finalizers, CauseRule::NamespaceDeletion];
            waits.iter().any(|rule| object.assessment.has_cause(*rule))
        }
        _ => object.is_broken(),
    };
    let objects = objects.filter_map(|uid| Some((model.object(&uid)?, uid)));
    objects
        .filter(|(object, uid)| is_broken(object, uid))
        .collect()
}

/// Whether the scale of a named object was ever written, as `kubectl scale` and an autoscaler do. The API server records no
/// time of such a write.
fn was_scaled(model: &Model, uid: &Uid) -> bool {
    let is_named = model.roots().get(uid).is_some_and(Root::is_named);
    let doc = is_named.then(|| model.doc(uid)).flatten();
    doc.is_some_and(|doc| {
        let mut entries = entries(doc.root()).into_iter();
        entries.any(|entry| &*entry.subresource == "scale")
    })
}

/// Why an object has failed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FailureReason {
    /// The images of its Pods cannot be pulled.
    ImagePull,
    /// The scheduler finds no node for its Pods. Somebody has closed these nodes to them.
    Scheduling(BTreeSet<ReferenceTarget>),
    /// This quota or admission policy refuses its Pods.
    Refusal(ReferenceTarget),
    /// A broken Pod of an older revision holds up the newest change.
    BlockedRollout,
    /// Pod security or a limit range refuses its Pods. The policy is a label of this object, if there is one.
    Policy(Option<ReferenceTarget>),
    /// These objects, which it or its Pods name, do not exist or lack what it needs, such as a key or a port.
    Need(BTreeSet<ReferenceTarget>),
    /// The selector of a Service matches no Pod.
    Selector,
    /// The workload whose Pods a Service would select wants none: it is scaled to 0, or suits no node.
    Idle(ReferenceTarget),
    /// The Pods of a Service are ready and do not have its port.
    Ports,
    /// The Pods of a workload fail.
    Pods,
    /// A webhook that cannot be called refuses its Pods. These are its configuration and its Service, as far as they are known.
    Webhook(BTreeSet<ReferenceTarget>),
    /// It is being deleted, and waits for its finalizers.
    Finalizers,
    /// None: somebody has tainted these nodes, and so keeps a `DaemonSet` out.
    KeptOut(BTreeSet<ReferenceTarget>),
    /// None: somebody has cordoned or tainted it.
    Closed,
    /// None: its scale was written. That may have undone what somebody else wrote.
    Rescaled,
    /// None: these network policies isolate its Pods.
    Isolated(BTreeSet<ReferenceTarget>),
    /// None of its own fields: the Pods of a Service are not ready.
    Elsewhere,
    /// Anything else.
    Other,
}

impl FailureReason {
    pub(super) fn of(model: &Model, object: &ModelObject) -> FailureReason {
        if let Some(reason) = FailureReason::of_refusal(model, object) {
            return reason;
        }
        if object.assessment.status() == Status::Terminating {
            return FailureReason::Finalizers;
        }
        if object.assessment.is_well() {
            return FailureReason::of_well(model, object);
        }
        if object.assessment.has_cause(CauseRule::BlockedRollout) {
            return FailureReason::BlockedRollout;
        }
        let uid = object.object.identity();
        let node = model.graph().node(&uid);
        if let Some(service) = node.filter(|node| node.service().is_some()) {
            return FailureReason::of_service(model, service);
        }
        let is_workload =
            node.is_some_and(|node| node.workload().is_some() || &*node.object.kind == "CronJob");
        let unwell = unwell_pods(model, &uid);
        let all_have = |rule| unwell.iter().all(|pod| pod.assessment.has_cause(rule));
        if all_have(CauseRule::ImagePull) {
            return FailureReason::ImagePull;
        }
        if all_have(CauseRule::Unschedulable) {
            // The claims of the Pods name something that does not exist, or the nodes take no Pod.
            let needs = common_needs(&unwell, |pod| claim_needs(model, pod));
            return needs
                .unwrap_or_else(|| FailureReason::Scheduling(closed_nodes(model, &unwell)));
        }
        if let Some(needs) = common_needs(&unwell, |pod| broken_references(model, pod)) {
            needs
        } else if is_workload && unwell.iter().any(|pod| pod.object != object.object) {
            FailureReason::Pods
        } else {
            FailureReason::Other
        }
    }

    /// Why an object that is well does less than others may expect.
    fn of_well(model: &Model, object: &ModelObject) -> FailureReason {
        if object.assessment.has_cause(CauseRule::KeptOut) {
            let nodes = nodes_that_keep_out(model.around(), &object.object.identity());
            let nodes = nodes.iter().map(|(node, _)| ReferenceTarget::of(node));
            FailureReason::KeptOut(nodes.collect())
        } else if &*object.object.kind == "Node" {
            FailureReason::Closed
        } else {
            let policies = isolating_policies(model.around(), &object.object.identity());
            let policies = policies.iter().map(|policy| ReferenceTarget::of(policy));
            let policies: BTreeSet<ReferenceTarget> = policies.collect();
            if policies.is_empty() {
                FailureReason::Rescaled
            } else {
                FailureReason::Isolated(policies)
            }
        }
    }

    /// Whether the object has failed, or reports a problem.
    pub(super) fn is_failure(&self) -> bool {
        use FailureReason::{Closed, Isolated, KeptOut, Rescaled};
        !matches!(self, Closed | Isolated(_) | KeptOut(_) | Rescaled)
    }

    /// Whether a change of the object itself may be the cause.
    pub(super) fn may_be_own(&self) -> bool {
        use FailureReason::{Elsewhere, Idle, Isolated, Webhook};
        !matches!(self, Elsewhere | Idle(_) | Isolated(_) | Webhook(_))
    }

    /// Whether an object that was so from the start can be the cause.
    pub(super) fn may_be_from_start(&self) -> bool {
        use FailureReason::{Closed, KeptOut, Rescaled};
        !matches!(self, KeptOut(_) | Closed | Rescaled)
    }

    /// The reason why the API server refuses the Pods of an object; `None` if it refuses none.
    fn of_refusal(model: &Model, object: &ModelObject) -> Option<FailureReason> {
        let mut causes = object.assessment.causes.iter();
        let refusal = causes.find(|cause| cause.rule == CauseRule::FailedCreate)?;
        let refusal = &*refusal.text;
        let namespace = &object.object.namespace;
        let is_limit = refusal.contains(" per Container is ") || refusal.contains(" per Pod is ");
        Some(if let Some(name) = refusing_quota(refusal) {
            FailureReason::Refusal(target("ResourceQuota", namespace.as_deref(), name))
        } else if let Some(name) = refusing_policy(refusal) {
            let policy = target("ValidatingAdmissionPolicy", None, name);
            FailureReason::Refusal(policy)
        } else if let Some([kind, name]) = missing_object(refusal) {
            let place = namespace.as_deref().filter(|_| kind == "ServiceAccount");
            FailureReason::Need(BTreeSet::from([target(kind, place, name)]))
        } else if refusal.starts_with("webhook ") {
            let service = uncalled_service(refusal);
            let service = service.map(|[place, name]| target("Service", Some(place), name));
            let configurations = refusing_configurations(model.around(), &object.object.identity());
            let configurations = configurations.iter().map(|it| ReferenceTarget::of(it));
            FailureReason::Webhook(service.into_iter().chain(configurations).collect())
        } else if refusal.contains("violates PodSecurity") {
            let named = namespace.as_deref();
            FailureReason::Policy(named.map(|name| target("Namespace", None, name)))
        } else if is_limit {
            FailureReason::Policy(None)
        } else {
            FailureReason::Pods
        })
    }

    fn of_service(model: &Model, service: &Node) -> FailureReason {
        if model.graph().selected_pods(&service.uid).is_empty() {
            let idle = idle_workload(model.around(), service);
            idle.map_or(FailureReason::Selector, |workload| {
                FailureReason::Idle(ReferenceTarget::of(&workload))
            })
        } else if repeats_its_pods(model.around(), &service.uid) {
            FailureReason::Elsewhere
        } else {
            FailureReason::Ports
        }
    }

    /// Whether a change can be ruled out if the object was well after it: its Pods had their images and nodes.
    pub(super) fn ends_with_success(&self) -> bool {
        matches!(
            self,
            FailureReason::ImagePull | FailureReason::Scheduling(_)
        )
    }

    /// Whether an object brings the failure about, as the API server or the model says.
    pub(super) fn blames(&self, target: &ReferenceTarget) -> bool {
        match self {
            // The Service does not refuse Pods, it only lets the webhook fail.
            FailureReason::Webhook(named) => {
                &*target.kind.kind != "Service" && named.contains(target)
            }
            FailureReason::Isolated(policies) => policies.contains(target),
            _ => self.blamed() == Some(target),
        }
    }

    /// The object that brings the failure about, if the API server or the model names it.
    pub(super) fn blamed(&self) -> Option<&ReferenceTarget> {
        match self {
            FailureReason::Refusal(blamed) | FailureReason::Idle(blamed) => Some(blamed),
            FailureReason::Policy(blamed) => blamed.as_ref(),
            _ => None,
        }
    }
}

/// The name of an object that the API server consults about new Pods.
fn target(kind: &str, namespace: Option<&str>, name: &str) -> ReferenceTarget {
    let group = match kind {
        "PriorityClass" => "scheduling.k8s.io",
        "ValidatingAdmissionPolicy" => "admissionregistration.k8s.io",
        _ => "",
    };
    ReferenceTarget {
        kind: GroupKind::new(group, kind),
        namespace: namespace.map(Into::into),
        name: name.into(),
    }
}

/// What these Pods lack; `None` if one of them lacks nothing.
fn common_needs(
    pods: &[&ModelObject],
    needs: impl Fn(&ModelObject) -> Vec<Reference>,
) -> Option<FailureReason> {
    let mut all = BTreeSet::new();
    for pod in pods {
        let own = needs(pod);
        if own.is_empty() {
            return None;
        }
        all.extend(own.into_iter().map(|reference| reference.target));
    }
    Some(FailureReason::Need(all))
}

/// The nodes that somebody has closed to these Pods.
fn closed_nodes(model: &Model, pods: &[&ModelObject]) -> BTreeSet<ReferenceTarget> {
    let graph = model.graph();
    let pods = pods
        .iter()
        .filter_map(|pod| graph.node(&pod.object.identity()));
    let nodes = pods.flat_map(|pod| nodes_closed_to(model.around(), pod));
    nodes.map(|node| ReferenceTarget::of(&node)).collect()
}

/// The named objects that one of the causes is about. Such a cause starts with the reference.
pub(super) fn broken_references(model: &Model, object: &ModelObject) -> Vec<Reference> {
    let Some(doc) = model.doc(&object.object.identity()) else {
        return Vec::new();
    };
    let links = Links::of(doc.root(), Tier::Unwell, model.types());
    let broken = links.references.into_iter().filter(|reference| {
        let named = reference.to_string();
        let mut causes = object.assessment.causes.iter();
        causes.any(|cause| {
            let rest = cause.text.strip_prefix(&named);
            rest.is_some_and(|rest| rest.starts_with([':', ' ']))
        })
    });
    broken.collect()
}

/// The named objects that do not exist, or that do not work, of the claims of a Pod: a storage class.
pub(super) fn claim_needs(model: &Model, pod: &ModelObject) -> Vec<Reference> {
    let graph = model.graph();
    let references = graph.references_of(&pod.object.identity()).iter();
    let claims = references.filter(|it| &*it.target.kind.kind == "PersistentVolumeClaim");
    let claims = claims.filter_map(|claim| model.object(&graph.referenced(&claim.target)?.uid));
    claims
        .flat_map(|claim| broken_references(model, claim))
        .collect()
}

/// The Pods of the current revision that are not well, or the object itself if it has none.
pub(super) fn unwell_pods<'m>(model: &'m Model, uid: &Uid) -> Vec<&'m ModelObject> {
    let dependents = model.graph().current_dependents(uid);
    let unwell = dependents.into_iter().filter_map(|uid| model.object(&uid));
    let mut unwell: Vec<&ModelObject> = unwell
        .filter(|object| &*object.object.kind == "Pod" && !object.assessment.is_well())
        .collect();
    if unwell.is_empty() {
        unwell.extend(model.object(uid));
    }
    unwell
}
