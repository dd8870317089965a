//! Why a claim is not bound: what its storage class does.

use crate::graph::{Node, Pod};
use crate::object::Value;
use crate::status::{Cause, CauseRule, Status};

use super::super::Model;

/// The provisioner of a class whose volumes an administrator creates
/// (<https://kubernetes.io/docs/concepts/storage/storage-classes/#local>).
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

/// The binding mode of a class whose volumes are created once a Pod needs them.
const LATE: &str = "WaitForFirstConsumer";

/// The access mode of a claim that only one Pod may use.
const ONE_POD: &str = "ReadWriteOncePod";

impl Model {
    /// The Pods that hold the claims that a Pod without a node needs and that only one Pod may use.
    pub(super) fn claim_holders(&self, pod: &Node) -> Vec<Cause> {
        if !self.is_unschedulable(pod) {
            return Vec::new();
        }
        let claims = self.graph.references_of(&pod.uid).iter();
        let claims = claims.filter_map(|claim| self.graph.referenced(&claim.target));
        let claims = claims.filter(|claim| self.is_for_one_pod(claim));
        let facts = claims.flat_map(|claim| {
            let users = self.graph.referrers(&claim.object);
            let users = users.filter_map(|uid| self.graph.node(uid));
            let holders = users.filter(|user| {
                let runs = |pod: &Pod| pod.node.is_some() && !pod.has_ended;
                user.uid != pod.uid && user.pod().is_some_and(runs)
            });
            holders.map(|holder| {
                let text = format!(
                    "{} is for one pod ({ONE_POD}), and {} has it",
                    claim.object, holder.object
                );
                Cause::new(CauseRule::Fact, text)
            })
        });
        facts.collect()
    }

    fn is_for_one_pod(&self, claim: &Node) -> bool {
        let doc = self
            .doc(&claim.uid)
            .filter(|_| &*claim.object.kind == "PersistentVolumeClaim");
        doc.is_some_and(|doc| {
            let mut modes = doc.root().items_at(&["spec", "accessModes"]);
            modes.any(|mode| mode.as_str().as_deref() == Some(ONE_POD))
        })
    }

    /// What a claim that is not bound waits for.
    pub(super) fn claim_fact(&self, claim: &Node) -> Option<Cause> {
        let object = self.objects.get(&claim.uid)?;
        (object.own.status() == Status::InProgress).then_some(())?;
        let references = self.graph.references_of(&claim.uid).iter();
        let mut targets = references.map(|reference| &reference.target);
        let class = targets.find(|target| &*target.kind.kind == "StorageClass")?;
        let doc = self.doc(&self.graph.referenced(class)?.uid)?;
        let claim = self.doc(&claim.uid)?;
        let node = [
            "metadata",
            "annotations",
            "volume.kubernetes.io/selected-node",
        ];
        let is_late = doc.root().str_at(&["volumeBindingMode"]).as_deref() == Some(LATE);
        let name = &class.name;
        if is_late && claim.root().at(&node).is_none() {
            let zones = topologies(doc.root());
            let text =
                format!("storage class {name} waits for a pod that uses the claim ({LATE}){zones}");
            return Some(Cause::new(CauseRule::WaitsForPod, text));
        }
        let provisioner = doc.root().text_at(&["provisioner"])?;
        let text = if &*provisioner == NO_PROVISIONER {
            format!("storage class {name} has no provisioner: an administrator creates its volumes")
        } else {
            format!("storage class {name} leaves it to the provisioner {provisioner}")
        };
        Some(Cause::new(CauseRule::Fact, text))
    }
}

/// `, and has volumes only where zone is a or b`: the places of a storage class; empty if it has volumes everywhere.
fn topologies(class: Value<'_>) -> String {
    let terms = class.items_at(&["allowedTopologies"]);
    let rows = terms.flat_map(|term| term.items_at(&["matchLabelExpressions"]));
    let places = rows.map(|row| {
        let values = row.items_at(&["values"]).filter_map(Value::as_str);
        let values: Vec<_> = values.collect();
        let key = row.text_at(&["key"]).unwrap_or_default();
        format!("{key} is {}", values.join(" or "))
    });
    let places: Vec<String> = places.collect();
    let places = places.join(", ");
    if places.is_empty() {
        return places;
    }
    format!(", and has volumes only where {places}")
}
