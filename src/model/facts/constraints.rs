//! What else the scheduler must respect for a Pod that has no node: the spread, other Pods, and the places and holders
//! of its volumes.

use crate::graph::{Node, Pod};
use crate::object::{Value, label_selector};
use crate::status::{Cause, CauseRule};

use super::placement::is_unschedulable;
use super::volume_places::volume_places;
use crate::model::around::Around;

/// The terms of a rule about other Pods that must hold.
const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

/// The access mode of a claim that only one Pod may use.
const ONE_POD: &str = "ReadWriteOncePod";

/// The constraints of a Pod that cannot be scheduled. They are facts: the scheduler does not say which one matters.
pub(in crate::model) fn constraints(around: Around<'_>, pod: &Node) -> Vec<Cause> {
    let is_without_node = is_unschedulable(around, pod);
    let doc = is_without_node.then(|| around.doc(&pod.uid)).flatten();
    let Some(doc) = doc else {
        return Vec::new();
    };
    let mut texts = spread(doc.root());
    texts.extend(neighbours(doc.root(), "podAffinity", "must run beside"));
    texts.extend(neighbours(
        doc.root(),
        "podAntiAffinity",
        "must not run beside",
    ));
    texts.extend(claim_holders(around, pod));
    let causes = texts.into_iter();
    let causes = causes.map(|text| Cause::new(CauseRule::Constraint, text));
    causes.chain(volume_places(around, pod)).collect()
}

/// The other Pods that have a claim of a Pod, if only one may have it.
fn claim_holders(around: Around<'_>, pod: &Node) -> Vec<String> {
    let claims = claims_of(around, pod).filter(|claim| {
        let doc = around.doc(&claim.uid);
        doc.is_some_and(|doc| is_for_one_pod(doc.root()))
    });
    let holders = claims.flat_map(|claim| {
        let users = around.graph().referrers(&claim.object);
        let users = users.filter_map(|uid| around.graph().node(uid));
        let holders = users.filter(|user| user.pod().is_some_and(holds_its_volumes));
        holders.map(move |holder| {
            format!(
                "{} has {}, which is for one pod ({ONE_POD})",
                holder.object, claim.object
            )
        })
    });
    holders.collect()
}

pub(in crate::model) fn claims_of<'m>(
    around: Around<'m>,
    pod: &Node,
) -> impl Iterator<Item = &'m Node> {
    let found = around.graph().references_of(&pod.uid).iter();
    let found = found.filter_map(move |found| around.graph().referenced(&found.target));
    found.filter(|claim| &*claim.object.kind == "PersistentVolumeClaim")
}

fn is_for_one_pod(claim: Value<'_>) -> bool {
    let mut modes = claim.items_at(&["spec", "accessModes"]);
    modes.any(|mode| mode.as_str().as_deref() == Some(ONE_POD))
}

/// Whether a Pod has a node, which its volumes are attached to until it ends.
fn holds_its_volumes(pod: &Pod) -> bool {
    pod.node.is_some() && !pod.has_ended
}

/// The constraints on the spread of Pods that must hold.
fn spread(pod: Value<'_>) -> Vec<String> {
    let constraints = pod.items_at(&["spec", "topologySpreadConstraints"]);
    let texts = constraints.filter_map(|constraint| {
        let must_hold =
            constraint.str_at(&["whenUnsatisfiable"]).as_deref() != Some("ScheduleAnyway");
        let key = constraint.str_at(&["topologyKey"]).filter(|_| must_hold)?;
        let skew = constraint.i64_at(&["maxSkew"]).unwrap_or(1);
        Some(format!("must spread over {key}, maxSkew {skew}"))
    });
    texts.collect()
}

/// The Pods beside which a Pod must or must not run.
fn neighbours(pod: Value<'_>, kind: &str, words: &str) -> Vec<String> {
    let terms = pod.items_at(&["spec", "affinity", kind, REQUIRED]);
    let texts = terms.filter_map(|term| {
        let labels = term.at(&["labelSelector"]).and_then(label_selector)?;
        let key = term.str_at(&["topologyKey"])?;
        Some(format!("{words} pods with {labels}, by {key}"))
    });
    texts.collect()
}
