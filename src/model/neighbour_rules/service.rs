//! A workload whose Pods no Service selects.

use crate::graph::well_known;
use crate::object::Uid;
use crate::source::{Form, Scope, Select, SourceKey};
use crate::status::{Cause, CauseRule};

use super::super::{Model, Reading};

/// The kinds of workloads that often serve requests. A Job is never behind a Service.
const SERVERS: [&str; 3] = ["Deployment", "StatefulSet", "DaemonSet"];

impl Model {
    /// The note of a workload whose Pods no Service selects. It never matters to the state of the workload: many workers
    /// have no Service. Only a trace reads all Services of the namespace.
    pub fn without_service(&self, workload: &Uid) -> Option<Cause> {
        let node = self.graph.node(workload)?;
        let object = &node.object;
        let is_server = object.group() == "apps" && SERVERS.contains(&&*object.kind);
        let services = SourceKey {
            cluster: self.cluster_of(workload)?.clone(),
            resource: well_known("", "Service"),
            scope: Scope::Namespace(object.namespace.clone()?),
            select: Select::All,
            form: Form::Full,
        };
        let is_read = matches!(self.coverage.reading(&services), Some(Reading::All));
        let is_known = is_server && is_read && self.knows_absence;
        let is_served = self.graph.is_served(workload)?;
        (is_known && !is_served)
            .then(|| Cause::new(CauseRule::NoService, "Not matched by any Service"))
    }
}
