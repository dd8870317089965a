//! Why a claim is not bound: what its storage class does.

use crate::graph::Node;
use crate::object::Value;
use crate::status::{Cause, CauseRule, Status};

use crate::model::around::Around;
use crate::model::neighbour_rules::static_volume::no_volume_fits;
use crate::model::volume_fit::NO_PROVISIONER;

/// The binding mode of a class whose volumes are created once a Pod needs them.
const LATE: &str = "WaitForFirstConsumer";

/// Where the scheduler writes the node for which a volume is created.
const SELECTED_NODE: [&str; 3] = [
    "metadata",
    "annotations",
    "volume.kubernetes.io/selected-node",
];

/// What a claim that is not bound waits for. One that names its volume waits for that one, whatever its class. One that
/// no volume fits waits for more than a Pod.
pub(in crate::model) fn claim_fact(around: Around<'_>, node: &Node) -> Option<Cause> {
    let object = around.object(&node.uid)?;
    (object.own.status() == Status::InProgress).then_some(())?;
    let references = around.graph().references_of(&node.uid).iter();
    let mut targets = references.map(|reference| &reference.target);
    let class = targets.find(|target| &*target.kind.kind == "StorageClass")?;
    let doc = around.doc(&around.graph().referenced(class)?.uid)?;
    let claim = around.doc(&node.uid)?;
    let names_volume = claim.root().text_at(&["spec", "volumeName"]).is_some();
    (!names_volume).then_some(())?;
    let is_late = doc.root().str_at(&["volumeBindingMode"]).as_deref() == Some(LATE);
    let has_node = claim.root().at(&SELECTED_NODE).is_some();
    let name = &class.name;
    if is_late && !has_node && no_volume_fits(around, node).is_empty() {
        let zones = topologies(doc.root());
        let text =
            format!("storage class {name} waits for a pod that uses the claim ({LATE}){zones}");
        return Some(Cause::new(CauseRule::WaitsForPod, text));
    }
    let provisioner = doc.root().text_at(&["provisioner"])?;
    let text = if &*provisioner == NO_PROVISIONER {
        format!("storage class {name} has no provisioner: an administrator creates its volumes")
    } else {
        format!(
            "waiting for provisioner {provisioner} of storage class {name} to create the volume"
        )
    };
    Some(Cause::new(CauseRule::Fact, text))
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
