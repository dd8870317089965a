//! The part of a graph that belongs to a trace: what leads to the object, and what it leads to.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::render::json::trace::{EdgeRecord, Structure};

/// How a node relates to the traced object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum NodeSide {
    /// It is the object, or a part of it: what it owns, or what a Service selects.
    Part,
    /// It is in front of a part.
    InFront,
    /// A part names it, directly or through others.
    Behind,
    /// It owns something behind a part.
    Owner,
}

/// The ids of the nodes that the object leads to or that lead to it. A graph also has nodes that only
/// help to judge others: the other backends of an Ingress in front of a Service, for example.
pub(super) fn reachable(root: &str, edges: &[EdgeRecord]) -> BTreeSet<String> {
    let (mut forth, mut back): (Neighbours<'_>, Neighbours<'_>) = Default::default();
    for edge in edges {
        forth.entry(&edge.from).or_default().push((&edge.to, edge));
        back.entry(&edge.to).or_default().push((&edge.from, edge));
    }
    let mut seen = BTreeSet::from([(root, NodeSide::Part)]);
    let mut queue = VecDeque::from([(root, NodeSide::Part)]);
    while let Some((node, side)) = queue.pop_front() {
        let ahead = forth.get(node).into_iter().flatten();
        let ahead = ahead.filter_map(|(next, edge)| Some((*next, side.forth(edge)?)));
        let behind = back.get(node).into_iter().flatten();
        let behind = behind.filter_map(|(next, edge)| Some((*next, side.back(edge)?)));
        queue.extend(ahead.chain(behind).filter(|next| seen.insert(*next)));
    }
    seen.into_iter().map(|(node, _)| node.to_owned()).collect()
}

/// Maps a node to its neighbours, each with the edge to it.
type Neighbours<'e> = BTreeMap<&'e str, Vec<(&'e str, &'e EdgeRecord)>>;

impl NodeSide {
    /// The side of the node at the end of an edge; `None` if it does not belong to the trace.
    fn forth(self, edge: &EdgeRecord) -> Option<NodeSide> {
        match self {
            NodeSide::Part if Structure::is_name(&edge.relation) => Some(NodeSide::Part),
            NodeSide::Part | NodeSide::Behind => Some(NodeSide::Behind),
            NodeSide::InFront | NodeSide::Owner => None,
        }
    }

    /// The side of the node at the start of an edge; `None` if it does not belong to the trace.
    fn back(self, edge: &EdgeRecord) -> Option<NodeSide> {
        match self {
            NodeSide::Part | NodeSide::InFront => Some(NodeSide::InFront),
            NodeSide::Behind | NodeSide::Owner => {
                (edge.relation == Structure::Owns.as_str()).then_some(NodeSide::Owner)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn siblings_of_the_object_are_left_out() {
        let edges = [
            "ingress backend web",
            "ingress backend cart",
            "cart slices cart-slice",
            "cart-slice endpoint cart-pod",
            "web slices web-slice",
            "web-slice endpoint web-pod",
            "web selects web-pod",
            "deployment owns web-pod",
            "autoscaler scales deployment",
            "web-pod volume claim",
            "set owns claim",
            "set owns set-pod",
            "cart-pod volume claim",
            "claim volume volume",
        ];
        let edges = edges.map(|edge| {
            let parts: Vec<&str> = edge.split(' ').collect();
            EdgeRecord {
                from: parts[0].to_owned(),
                to: parts[2].to_owned(),
                relation: parts[1].to_owned(),
                via: String::new(),
                state: None,
                addresses: Vec::new(),
            }
        });
        for (root, nodes) in [
            (
                "web",
                "autoscaler claim deployment ingress set volume web web-pod web-slice",
            ),
            (
                "claim",
                "autoscaler cart cart-pod cart-slice claim deployment ingress set volume web web-pod web-slice",
            ),
            (
                "volume",
                "autoscaler cart cart-pod cart-slice claim deployment ingress set volume web web-pod web-slice",
            ),
            (
                "ingress",
                "cart cart-pod cart-slice claim deployment ingress set volume web web-pod web-slice",
            ),
        ] {
            let found: Vec<String> = reachable(root, &edges).into_iter().collect();
            assert_eq!(found.join(" "), nodes, "{root}");
        }
    }
}
