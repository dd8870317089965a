//! The graph of a trace as the record of `-o json`.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::chain::{Chain, Headline};
use super::connections;
use super::traced::Traced;
use crate::graph::{
    EndpointTarget, Facts, Node, PodCoverage, ReferenceTarget, RelationEnd, TraceSide, backends,
    neighbours,
};
use crate::model::{Absence, missing_in_front, pod_coverage};
use crate::object::{ObjectRef, Uid};
use crate::render::json::RefRecord;
use crate::render::json::status::CauseRecord;
use crate::render::json::trace::{EdgeRecord, GraphRecord, NodeRecord, Structure, endpoint_state};
use crate::status::{Cause, CauseRule, Status};

/// The graph of the object, of what leads to it, and of what it leads to, missing objects included.
pub(super) fn graph(chain: &dyn Chain) -> GraphRecord {
    let traced = chain.traced();
    let mut builder = GraphBuilder {
        cluster: &traced.source.cluster.0,
        traced,
        nodes: BTreeMap::new(),
        edges: Vec::new(),
    };
    for node in traced.graph().nodes() {
        builder.add(node);
    }
    for node in traced.graph().nodes() {
        builder.relate(node);
    }
    if let Some(uid) = traced.uid() {
        builder.head(uid, &chain.headline());
        builder.retain(&reachable(uid.as_str(), &builder.edges));
    }
    if builder.nodes.is_empty() {
        let name = &traced.object();
        builder.name(name.identity().as_str().to_owned(), name, Status::NotFound);
    }
    let order = |edge: &EdgeRecord| (edge.from.clone(), edge.to.clone(), edge.via.clone());
    builder.edges.sort_by_key(order);
    GraphRecord {
        nodes: builder.nodes.into_values().collect(),
        edges: builder.edges,
        phases: chain.phases(),
        last_changes: traced
            .last_changes
            .iter()
            .map(|change| change.record(&traced.source.cluster.0))
            .collect(),
    }
}

struct GraphBuilder<'a> {
    cluster: &'a str,
    traced: &'a Traced,
    nodes: BTreeMap<String, NodeRecord>,
    edges: Vec<EdgeRecord>,
}

impl GraphBuilder<'_> {
    fn add(&mut self, node: &Node) {
        let Some(assessment) = self.traced.assessment(&node.uid) else {
            return;
        };
        let id = node.uid.as_str().to_owned();
        let record_of: fn(&Cause) -> CauseRecord = if self.traced.explains {
            CauseRecord::explained
        } else {
            CauseRecord::of
        };
        let root = self.traced.uid().filter(|root| **root == node.uid);
        let missing = root.and_then(|root| missing_in_front(self.traced.model.around(), root));
        let record = NodeRecord {
            id: id.clone(),
            object: Some(RefRecord::new(self.cluster, &node.object)),
            status: assessment.status().as_str(),
            ghost: false,
            word: assessment.row.word.clone(),
            ready: assessment.row.ready.clone().unwrap_or_default(),
            causes: assessment
                .causes
                .iter()
                .chain(&missing)
                .map(record_of)
                .collect(),
        };
        self.nodes.insert(id, record);
    }

    /// Drops the other nodes and their edges.
    fn retain(&mut self, ids: &BTreeSet<String>) {
        self.nodes.retain(|id, _| ids.contains(id));
        let both = |edge: &EdgeRecord| ids.contains(&edge.from) && ids.contains(&edge.to);
        self.edges.retain(both);
    }

    /// Gives the traced object the status of the headline, with its cause.
    fn head(&mut self, uid: &Uid, headline: &Headline) {
        let Some(record) = self.nodes.get_mut(uid.as_str()) else {
            return;
        };
        if record.status == headline.status.as_str() {
            return;
        }
        record.status = headline.status.as_str();
        if record.causes.is_empty() && headline.status != Status::Current {
            let rule = CauseRule::Endpoints.explanation();
            record.causes.push(CauseRecord {
                rule: rule.name,
                text: headline.text(),
                source: self.traced.explains.then_some(rule.source),
            });
        }
    }

    /// Adds an object that others refer to: `NotFound` if it does not exist although its kind is followed,
    /// `Unknown` if its kind is not followed.
    fn name(&mut self, id: String, object: &ObjectRef, status: Status) {
        let object = RefRecord::new(self.cluster, object);
        self.unassessed(id, Some(object), status);
    }

    /// Adds a node without an assessment.
    fn unassessed(&mut self, id: String, object: Option<RefRecord>, status: Status) {
        self.nodes.entry(id.clone()).or_insert(NodeRecord {
            id,
            object,
            status: status.as_str(),
            ghost: status == Status::NotFound,
            word: String::new(),
            ready: String::new(),
            causes: Vec::new(),
        });
    }

    fn relate(&mut self, node: &Node) {
        for owner in self.traced.graph().owners(&node.uid) {
            self.edge(&owner.uid, &node.uid, Structure::Owns);
        }
        match &node.facts {
            Facts::Service(_) => {
                for pod in self.traced.graph().selected_pods(&node.uid) {
                    self.edge(&node.uid, &pod.uid, Structure::Selects);
                }
                for slice in self.traced.graph().slices(&node.uid) {
                    self.edge(&node.uid, &slice.uid, Structure::Slices);
                }
            }
            Facts::Slice(_) => self.endpoints(node),
            Facts::Workload(_)
            | Facts::Pod(_)
            | Facts::Ingress { .. }
            | Facts::Data(_)
            | Facts::Other => {}
        }
        self.connect(node);
    }

    /// Adds the objects that an object names and selects, and what selects the Pods that it creates.
    fn connect(&mut self, node: &Node) {
        let found = neighbours(self.traced.graph(), &node.uid);
        for neighbour in found {
            let is_forth = matches!(neighbour.side, TraceSide::Behind | TraceSide::Uses);
            if !is_forth && !neighbour.is_of_root {
                continue;
            }
            let is_root = self.traced.uid() == Some(&node.uid);
            if neighbour.is_of_root && !is_root && matches!(neighbour.end, RelationEnd::Ghost(_)) {
                continue;
            }
            let own = node.uid.as_str().to_owned();
            let other = match &neighbour.end {
                RelationEnd::Node(other) => other.uid.as_str().to_owned(),
                RelationEnd::Ghost(target) => self.ghost(target),
            };
            let (from, to) = if is_forth { (own, other) } else { (other, own) };
            let relations = neighbour.relations.iter();
            // The graph has edges of its own for owners, and for the parts of a Service.
            let has_own = |name| matches!(name, "owner" | "selects" | "slice" | "endpoint");
            for relation in relations.filter(|relation| !has_own(relation.name)) {
                self.edges.push(EdgeRecord {
                    from: from.clone(),
                    to: to.clone(),
                    relation: relation.name.to_owned(),
                    via: relation.via(),
                    state: None,
                    addresses: Vec::new(),
                });
            }
        }
    }

    /// Adds an object that is named and not in the graph.
    fn ghost(&mut self, target: &ReferenceTarget) -> String {
        let object = target.object(self.traced.model.types());
        let id = object.identity().as_str().to_owned();
        let status = match connections::absence(self.traced, target) {
            Absence::Missing => Status::NotFound,
            Absence::NotInFile | Absence::Refused | Absence::Unserved | Absence::Unread => {
                Status::Unknown
            }
        };
        self.name(id.clone(), &object, status);
        id
    }

    fn edge(&mut self, from: &Uid, to: &Uid, relation: Structure) {
        self.edges.push(EdgeRecord {
            from: from.as_str().to_owned(),
            to: to.as_str().to_owned(),
            relation: relation.as_str().to_owned(),
            via: relation.via().to_owned(),
            state: None,
            addresses: Vec::new(),
        });
    }

    fn endpoints(&mut self, slice: &Node) {
        for backend in backends(self.traced.graph(), &slice.uid) {
            let endpoint = backend.endpoint;
            let to = match (backend.pod, &endpoint.target) {
                (Some(pod), _) => pod.uid.as_str().to_owned(),
                (None, Some(target)) => self.target(slice, target),
                (None, None) => self.address(endpoint.addresses.first().map_or("", |first| first)),
            };
            self.edges.push(EdgeRecord {
                from: slice.uid.as_str().to_owned(),
                to,
                relation: Structure::Endpoint.as_str().to_owned(),
                via: Structure::Endpoint.via().to_owned(),
                state: Some(endpoint_state(endpoint.state())),
                addresses: endpoint.addresses.iter().map(ToString::to_string).collect(),
            });
        }
    }

    /// Adds the object behind an endpoint that is not in the graph. A Pod is missing only if all Pods of the Service
    /// were read.
    fn target(&mut self, slice: &Node, target: &EndpointTarget) -> String {
        let is_pod = &*target.kind == "Pod";
        let object = ObjectRef {
            api_version: if is_pod { "v1".into() } else { "".into() },
            kind: target.kind.clone(),
            namespace: slice.object.namespace.clone(),
            name: target.name.clone(),
            uid: target.uid.clone(),
        };
        let model = &self.traced.model;
        let services = model.graph().services_of(&slice.uid);
        let mut pods = services
            .iter()
            .map(|service| pod_coverage(model.around(), service));
        let are_known = model.knows_absence() && pods.any(|pods| pods == PodCoverage::Known);
        let status = if is_pod && are_known {
            Status::NotFound
        } else {
            Status::Unknown
        };
        let id = object.without_uid().identity().as_str().to_owned();
        self.name(id.clone(), &object, status);
        id
    }

    /// Adds an address without an object.
    fn address(&mut self, address: &str) -> String {
        let id = format!("ip:{address}");
        self.unassessed(id.clone(), None, Status::Unknown);
        id
    }
}

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
fn reachable(root: &str, edges: &[EdgeRecord]) -> BTreeSet<String> {
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
