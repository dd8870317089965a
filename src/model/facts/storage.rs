//! Why a claim is not bound: what its storage class does.

use crate::graph::Node;
use crate::status::{Cause, CauseRule, Status};

use super::super::Model;

/// The provisioner of a class whose volumes an administrator creates
/// (<https://kubernetes.io/docs/concepts/storage/storage-classes/#local>).
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

/// The binding mode of a class whose volumes are created once a Pod needs them.
const LATE: &str = "WaitForFirstConsumer";

impl Model {
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
            let text = format!("storage class {name} waits for a pod that uses the claim ({LATE})");
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
