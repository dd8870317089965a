//! What is missing in front of an object: a Service for the Pods of a workload, a controller for a Pod.

use crate::graph::well_known;
use crate::object::Uid;
use crate::source::{Select, SourceKey};
use crate::status::{Cause, CauseRule};

use crate::model::Reading;
use crate::model::around::Around;

/// The kinds of workloads that often serve requests. A Job is never behind a Service.
const SERVERS: [&str; 3] = ["Deployment", "StatefulSet", "DaemonSet"];

/// The note about what is missing in front of an object.
pub fn missing_in_front(around: Around<'_>, uid: &Uid) -> Option<Cause> {
    without_service(around, uid).or_else(|| without_controller(around, uid))
}

/// The note of a Pod that no controller replaces. The kubelet owns the Pods of its own manifests.
fn without_controller(around: Around<'_>, pod: &Uid) -> Option<Cause> {
    let node = around.graph().node(pod)?;
    let is_alone = node.pod().is_some() && node.owners.is_empty();
    is_alone.then(|| {
        Cause::new(
            CauseRule::Standalone,
            "Standalone: no controller replaces it",
        )
    })
}

/// The note of a workload whose Pods no Service selects. It never matters to the state of the workload: many workers
/// have no Service. Only a trace reads all Services of the namespace.
fn without_service(around: Around<'_>, workload: &Uid) -> Option<Cause> {
    let node = around.graph().node(workload)?;
    let object = &node.object;
    let may_serve = object.group() == "apps" && SERVERS.contains(&&*object.kind);
    let (cluster, namespace) = (around.cluster_of(workload)?, object.namespace.clone()?);
    let kind = well_known("", "Service");
    let services = SourceKey::of(cluster, kind, Some(namespace), Select::All);
    let is_read = matches!(around.coverage().reading(&services), Some(Reading::All));
    let is_known = may_serve && is_read && around.knows_absence();
    let is_served = around.graph().is_served(workload)?;
    (is_known && !is_served)
        .then(|| Cause::new(CauseRule::NoService, "no Service selects its pods"))
}
