//! Kinds of which one decides about the other, although neither names the other.

use crate::object::GroupKind;

use super::{Relation, all};
use crate::graph::links::group_kind;

/// The second kind decides about the first. A `DestinationRule` defines the subsets of the Service that a `VirtualService`
/// routes to (<https://istio.io/latest/docs/reference/config/networking/destination-rule/#Subset>). A budget decides whether
/// a Pod may leave its Node (<https://kubernetes.io/docs/tasks/administer-cluster/safely-drain-node/>).
const DECIDED_TOGETHER: [(&str, &str); 2] = [
    (
        "networking.istio.io/VirtualService",
        "networking.istio.io/DestinationRule",
    ),
    ("Node", "policy/PodDisruptionBudget"),
];

/// The relations of the kinds that decide about this one.
pub(in crate::graph) fn relations_beside(
    kind: &GroupKind,
) -> impl Iterator<Item = &'static Relation> {
    let mut pairs = DECIDED_TOGETHER.iter();
    let beside = pairs.find(|(from, _)| group_kind(from) == *kind);
    all().filter(move |relation| beside.is_some_and(|(_, to)| relation.from == *to))
}
