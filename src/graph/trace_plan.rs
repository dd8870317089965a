//! Which sources show everything that an object is connected to.
//!
//! The objects that others name are read by their names, selected ones by their labels. To find the objects that name or
//! select one, a whole kind of the namespace is looked through.

use std::collections::BTreeSet;

use crate::object::{ObjectRef, ServedTypes};
use crate::source::{ClusterId, Select, SourceKey};

use super::index::Graph;
use super::lookup::{Anchor, Lookup};
use super::neighbours::{RelationEnd, TraceSide};
use super::node::Node;
use super::plan::owned_lookups;
use super::reference_target::ReferenceTarget;
use super::relations::{ANY, Direction, Follow, Relation, all, group_kind, relations_beside};
use super::selector::Selection;
use super::walk::{TraceReach, TraceStep, walk};

/// The most objects that are read by their names. Each costs a list and a watch.
const MAX_NAMED: usize = 24;
/// The most objects behind the traced one whose dependents are read.
const MAX_EXPANDED: usize = 8;

/// The sources of a trace.
#[derive(Clone, Debug, Default)]
pub struct TracePlan {
    /// The sources that are read whole, each once.
    pub sources: Vec<SourceKey>,
    /// The sources that are looked through.
    pub lookups: Vec<Lookup>,
}

/// What a planner needs to know besides the graph.
#[derive(Clone, Debug)]
pub struct TraceScope<'a> {
    /// The cluster.
    pub cluster: &'a ClusterId,
    /// The types that it serves.
    pub types: &'a ServedTypes,
    /// How far the trace goes.
    pub reach: &'a TraceReach,
    /// The sources that the view follows already. They come first where there are too many.
    pub followed: &'a [SourceKey],
}

/// The sources that show what an object is connected to, as far as the graph knows it. More follow when these are
/// read.
pub fn trace_plan(graph: &Graph, root: &ObjectRef, scope: &TraceScope<'_>) -> TracePlan {
    let Some(node) = graph.node(&root.identity()) else {
        return TracePlan::default();
    };
    let mut planner = TracePlanner {
        graph,
        scope,
        root: node,
        steps: walk(graph, &node.uid, scope.reach),
        plan: TracePlan::default(),
    };
    planner.read_named();
    planner.read_dependents();
    planner.look_up();
    planner.plan
}

struct TracePlanner<'p> {
    graph: &'p Graph,
    scope: &'p TraceScope<'p>,
    root: &'p Node,
    steps: Vec<TraceStep<'p>>,
    plan: TracePlan,
}

impl<'p> TracePlanner<'p> {
    /// The objects of the walk on one side, each once.
    fn nodes(&self, side: TraceSide) -> impl Iterator<Item = &'p Node> + use<'p, '_> {
        let steps = self.steps.iter();
        let steps = steps.filter(move |step| step.side == side && !step.is_repeat && !step.is_end);
        steps.filter_map(|step| match step.end {
            RelationEnd::Node(node) => Some(node),
            RelationEnd::Ghost(_) => None,
        })
    }

    fn add(&mut self, source: SourceKey) {
        if !self.plan.sources.contains(&source) {
            self.plan.sources.push(source);
        }
    }

    /// Reads the owners of the object and of its users, and the objects that others name.
    fn read_named(&mut self) {
        let reach = self.scope.reach;
        let mut targets: Vec<ReferenceTarget> = Vec::new();
        let family = [self.root]
            .into_iter()
            .chain(self.nodes(TraceSide::InFront));
        for node in family.chain(self.nodes(TraceSide::UsedBy)) {
            if reach.includes(TraceSide::InFront) {
                targets.extend(node.owners.iter().map(|owner| owner.target(&node.object)));
            }
        }
        targets.extend(self.references(self.root, &[Direction::Serves, Direction::Backs]));
        for node in self.nodes(TraceSide::InFront) {
            targets.extend(self.references(node, &[Direction::Backs]));
        }
        let down = [self.root].into_iter().chain(self.nodes(TraceSide::Behind));
        for node in down {
            targets.extend(self.references(node, &[Direction::Fronts, Direction::Uses]));
        }
        for node in self.nodes(TraceSide::Uses) {
            targets.extend(self.references(node, &[Direction::Uses]));
        }
        let mut seen = BTreeSet::from([ReferenceTarget::of(&self.root.object)]);
        targets.retain(|target| seen.insert(target.clone()));
        let sources = targets.iter().filter_map(|target| {
            let source = target.source(self.scope.cluster, self.scope.types);
            source.filter(|source| !self.plan.sources.contains(source))
        });
        // What an object names is known only once it is read. If that took the place of the object itself, the plan would
        // change forever.
        let mut sources: Vec<SourceKey> = sources.collect();
        sources.sort_by_key(|source| !self.scope.followed.contains(source));
        for source in sources.into_iter().take(MAX_NAMED) {
            self.add(source);
        }
    }

    /// The objects that an object names, as far as the reach goes.
    fn references(&self, node: &Node, directions: &[Direction]) -> Vec<ReferenceTarget> {
        let is_root = node.uid == self.root.uid;
        let references = self.graph.references_of(&node.uid).iter();
        let wanted = references.filter(|reference| {
            let relation = reference.relation;
            let is_near = match relation.follow {
                Follow::Both | Follow::Forth => true,
                Follow::Root | Follow::Own => is_root,
                Follow::Back => false,
            };
            is_near
                && directions.contains(&relation.direction)
                && self.scope.reach.includes(relation.direction.outgoing())
                && self.scope.reach.follows(relation)
        });
        wanted.map(|reference| reference.target.clone()).collect()
    }

    /// Reads what the object and the objects behind it own and select.
    fn read_dependents(&mut self) {
        if !self.scope.reach.includes(TraceSide::Behind) {
            return;
        }
        let root = [(&self.root.uid, self.scope.cluster)];
        let owned = owned_lookups(self.graph, root, self.scope.types);
        self.plan.lookups.extend(owned);
        let is_top = |node: &&Node| {
            let mut owners = self.graph.owners(&node.uid);
            owners.all(Node::is_custom)
        };
        let mut behind: Vec<&Node> = self.nodes(TraceSide::Behind).filter(is_top).collect();
        behind.sort_by_cached_key(|node| {
            let sources = node.dependent_sources(self.scope.cluster);
            !sources
                .iter()
                .all(|source| self.scope.followed.contains(source))
        });
        let behind = behind.into_iter().take(MAX_EXPANDED);
        let behind: Vec<&Node> = [self.root].into_iter().chain(behind).collect();
        for node in behind {
            for source in node.dependent_sources(self.scope.cluster) {
                self.add(source);
            }
            for source in self.selected(node) {
                self.add(source);
            }
        }
    }

    /// The sources of the objects that an object selects. A selection from all namespaces is too wide.
    fn selected(&self, node: &Node) -> Vec<SourceKey> {
        let is_root = node.uid == self.root.uid;
        let links = self.graph.links_of(&node.uid).into_iter();
        let selections = links.flat_map(|links| &links.selections);
        let wanted = selections.filter(|selection| {
            let relation = selection.relation;
            let side = relation.direction.outgoing();
            let is_near = is_root || relation.follow == Follow::Both;
            is_near && self.scope.reach.includes(side) && self.scope.reach.follows(relation)
        });
        let source = |selection: &Selection| {
            let resource = self.scope.types.resource(&selection.kind)?.clone();
            let namespace = selection.namespace.clone();
            if namespace.is_none() && resource.namespaced {
                return None;
            }
            let select = Select::labelled(&selection.labels.to_string());
            let cluster = self.scope.cluster;
            Some(SourceKey::of(cluster, resource, namespace, select))
        };
        wanted.filter_map(source).collect()
    }

    /// Looks for the objects that name or select the object, and for those in front of these.
    fn look_up(&mut self) {
        let reach = self.scope.reach;
        let anchors: Vec<&Node> = [self.root]
            .into_iter()
            .chain(self.nodes(TraceSide::InFront))
            .collect();
        for relation in all().filter(|relation| reach.follows(relation)) {
            let side = relation.direction.incoming();
            let is_sought = match relation.follow {
                Follow::Both | Follow::Root | Follow::Back => true,
                Follow::Forth => reach.names(relation),
                Follow::Own => false,
            };
            if !is_sought || !reach.includes(side) || relation.from == ANY {
                continue;
            }
            for node in &anchors {
                // Of the objects in front, only what is in front of them in turn matters.
                if node.uid == self.root.uid || side == TraceSide::InFront {
                    self.look_for(relation, node, node);
                }
            }
        }
        // The neighbours of the object may decide together with others.
        for relation in relations_beside(&self.root.object.group_kind()) {
            let behind: Vec<&Node> = self.nodes(TraceSide::Behind).collect();
            for node in behind {
                self.look_for(relation, node, node);
            }
            let users: Vec<&Node> = self.nodes(TraceSide::UsedBy).collect();
            for node in users {
                self.look_for(relation, node, self.root);
            }
        }
        let read = &self.plan.sources;
        self.plan
            .lookups
            .retain(|lookup| !read.contains(&lookup.source));
    }

    /// Looks for the objects that have this relation to an object, in the namespace of a place.
    fn look_for(&mut self, relation: &Relation, node: &Node, place: &Node) {
        let anchor = Anchor::of(node, self.graph);
        let kind = node.object.group_kind();
        let creates = anchor.template.is_some()
            && node.uid == self.root.uid
            && relation.selects()
            && relation.may_lead_to(&group_kind("Pod"));
        if !creates && !relation.may_lead_to(&kind) {
            return;
        }
        let Some(source) = self.source_of(relation, place) else {
            return;
        };
        let mut lookup = Lookup::of(source);
        lookup.anchors.insert(anchor);
        self.plan.lookups.push(lookup);
    }

    /// The source of all objects in the namespace of this one that may have the relation; `None` if the type is not served.
    fn source_of(&self, relation: &Relation, node: &Node) -> Option<SourceKey> {
        let resource = self
            .scope
            .types
            .resource(&group_kind(relation.from))?
            .clone();
        let object = &node.object;
        let is_namespace = object.group().is_empty() && &*object.kind == "Namespace";
        let namespace = match &object.namespace {
            None if is_namespace => Some(object.name.clone()),
            namespace => namespace.clone(),
        };
        let select = relation.field(&object.name);
        let cluster = self.scope.cluster;
        Some(SourceKey::of(cluster, resource, namespace, select))
    }
}
