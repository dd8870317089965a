//! The neighbours of an object: the objects that it names and selects, those that name and select it, its owners and
//! its dependents.

use std::collections::BTreeMap;

use crate::object::Uid;

use super::index::Graph;
use super::node::Node;
use super::reference_target::ReferenceTarget;
use super::relations::{Direction, Follow, Relation, owner};
use super::selector::Selection;

/// The side of an object on which a neighbour stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TraceSide {
    /// It owns the object, selects it, or passes traffic or orders on to it.
    InFront,
    /// It needs the object.
    UsedBy,
    /// The object owns it, selects it, or passes traffic or orders on to it.
    Behind,
    /// The object needs it.
    Uses,
}

impl Direction {
    /// The side of the other object, seen from the object with the field.
    pub(super) fn outgoing(self) -> TraceSide {
        match self {
            Direction::Fronts => TraceSide::Behind,
            Direction::Backs => TraceSide::InFront,
            Direction::Uses => TraceSide::Uses,
            Direction::Serves => TraceSide::UsedBy,
        }
    }

    /// The side of the object with the field, seen from the other.
    pub(super) fn incoming(self) -> TraceSide {
        match self {
            Direction::Fronts => TraceSide::InFront,
            Direction::Backs => TraceSide::Behind,
            Direction::Uses => TraceSide::UsedBy,
            Direction::Serves => TraceSide::Uses,
        }
    }
}

/// A neighbour of an object.
#[derive(Clone, Debug)]
pub struct Neighbour<'g> {
    /// The side on which it stands.
    pub side: TraceSide,
    /// The object, or its name if the graph does not have it.
    pub end: RelationEnd<'g>,
    /// The relations between both, each once.
    pub relations: Vec<&'static Relation>,
    /// Whether the fields of all these relations say that the neighbour need not exist.
    pub is_optional: bool,
    /// Whether only the traced object shows it: many objects have such a neighbour, or it selects not the object but
    /// the Pods that the object creates.
    pub is_of_root: bool,
}

/// The object at the other end of a relation.
#[derive(Clone, Debug)]
pub enum RelationEnd<'g> {
    /// It is in the graph.
    Node(&'g Node),
    /// It is named and not in the graph.
    Ghost(ReferenceTarget),
}

impl RelationEnd<'_> {
    /// The key by which a walk knows it.
    pub fn target(&self) -> ReferenceTarget {
        match self {
            RelationEnd::Node(node) => ReferenceTarget::of(&node.object),
            RelationEnd::Ghost(target) => target.clone(),
        }
    }
}

/// The neighbours of an object: each once on each side, in the order of siblings in a tree, ghosts last.
pub fn neighbours<'g>(graph: &'g Graph, uid: &Uid) -> Vec<Neighbour<'g>> {
    let Some(node) = graph.node(uid) else {
        return Vec::new();
    };
    let mut found = Neighbours::default();
    add_family(graph, node, &mut found);
    add_outgoing(graph, node, &mut found);
    add_incoming(graph, node, &mut found);
    let mut sorted: Vec<Neighbour<'g>> = found.found.into_values().collect();
    sorted.sort_by_cached_key(|neighbour| match &neighbour.end {
        RelationEnd::Node(node) => (neighbour.side, false, Some(node.place()), None),
        RelationEnd::Ghost(target) => (neighbour.side, true, None, Some(target.clone())),
    });
    sorted
}

/// The owners and the dependents.
fn add_family<'g>(graph: &'g Graph, node: &'g Node, found: &mut Neighbours<'g>) {
    for reference in node.owners_by_rank() {
        let end = match graph.node(&reference.uid) {
            Some(owner) => RelationEnd::Node(owner),
            None => RelationEnd::Ghost(reference.target(&node.object)),
        };
        found.add(end, &Tie::outgoing(owner()));
    }
    for child in graph.children(&node.uid) {
        found.add(RelationEnd::Node(child), &Tie::incoming(owner()));
    }
}

/// The objects that it names and selects.
fn add_outgoing<'g>(graph: &'g Graph, node: &'g Node, found: &mut Neighbours<'g>) {
    let references = graph.references_of(&node.uid).iter();
    for reference in references.filter(|found| found.relation.follow != Follow::Back) {
        let end = match graph.referenced(&reference.target) {
            Some(node) => RelationEnd::Node(node),
            None => RelationEnd::Ghost(reference.target.clone()),
        };
        let tie = Tie {
            is_optional: reference.is_optional,
            ..Tie::outgoing(reference.relation)
        };
        found.add(end, &tie);
    }
    for selection in selections_of(graph, &node.uid) {
        for selected in graph.nodes().filter(|other| selection.selects(other)) {
            found.add(
                RelationEnd::Node(selected),
                &Tie::outgoing(selection.relation),
            );
        }
    }
}

/// The objects that name and select it.
fn add_incoming<'g>(graph: &'g Graph, node: &'g Node, found: &mut Neighbours<'g>) {
    let target = ReferenceTarget::of(&node.object);
    let referrers = graph
        .referrers(&node.object)
        .filter_map(|uid| graph.node(uid));
    for referrer in referrers {
        let references = graph.references_of(&referrer.uid).iter();
        let references = references.filter(|reference| reference.target == target);
        for reference in references.filter(|found| found.relation.follow != Follow::Own) {
            found.add(
                RelationEnd::Node(referrer),
                &Tie::incoming(reference.relation),
            );
        }
    }
    let template = graph.links_of(&node.uid);
    let template = template.and_then(|links| links.template.as_ref());
    let namespace = node.object.namespace.as_ref();
    for bearer in graph.selecting() {
        let selections = selections_of(graph, &bearer.uid).iter();
        for selection in selections.filter(|found| found.relation.follow != Follow::Own) {
            let is_itself = selection.selects(node);
            let creates =
                || template.is_some_and(|labels| selection.selects_pods(namespace, labels));
            if is_itself || creates() {
                let tie = Tie {
                    is_of_root: !is_itself,
                    ..Tie::incoming(selection.relation)
                };
                found.add(RelationEnd::Node(bearer), &tie);
            }
        }
    }
}

fn selections_of<'g>(graph: &'g Graph, uid: &Uid) -> &'g [Selection] {
    graph.links_of(uid).map_or(&[], |links| &links.selections)
}

/// One relation to a neighbour.
struct Tie {
    side: TraceSide,
    relation: &'static Relation,
    is_optional: bool,
    is_of_root: bool,
}

impl Tie {
    /// The relation to an object that this one names or selects.
    fn outgoing(relation: &'static Relation) -> Tie {
        Tie {
            side: relation.direction.outgoing(),
            is_of_root: matches!(relation.follow, Follow::Root | Follow::Own),
            ..Tie::incoming(relation)
        }
    }

    /// The relation to an object that names or selects this one.
    fn incoming(relation: &'static Relation) -> Tie {
        Tie {
            side: relation.direction.incoming(),
            relation,
            is_optional: false,
            is_of_root: false,
        }
    }
}

/// The neighbours found so far, by side and name.
#[derive(Default)]
struct Neighbours<'g> {
    found: BTreeMap<(TraceSide, ReferenceTarget), Neighbour<'g>>,
}

impl<'g> Neighbours<'g> {
    fn add(&mut self, end: RelationEnd<'g>, tie: &Tie) {
        let known = self.found.entry((tie.side, end.target()));
        let neighbour = known.or_insert_with(|| Neighbour {
            side: tie.side,
            end,
            relations: Vec::new(),
            is_optional: true,
            is_of_root: true,
        });
        neighbour.is_optional &= tie.is_optional;
        neighbour.is_of_root &= tie.is_of_root;
        let mut known = neighbour.relations.iter();
        if !known.any(|known| known.is_same_field(tie.relation)) {
            neighbour.relations.push(tie.relation);
        }
    }
}
