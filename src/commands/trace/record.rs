//! The graph of a trace as the record of `-o json`.

use std::collections::BTreeMap;

use super::chain::Chain;
use super::headline::Headline;
use super::traced::Traced;
use crate::graph::{Facts, Node};
use crate::object::{ObjectRef, Uid};
use crate::render::json::RefRecord;
use crate::render::json::status::CauseRecord;
use crate::render::json::trace::{EdgeRecord, GraphRecord, NodeRecord, Relation, endpoint_state};
use crate::status::{CauseRule, Status};

/// The graph of all objects of a trace, and of missing objects that they refer to.
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
    }
    if builder.nodes.is_empty() {
        let name = &traced.object();
        builder.name(name.identity().as_str().to_owned(), name, Status::NotFound);
    }
    let order = |edge: &EdgeRecord| (edge.from.clone(), edge.to.clone(), edge.via);
    builder.edges.sort_by_key(order);
    GraphRecord {
        nodes: builder.nodes.into_values().collect(),
        edges: builder.edges,
        phases: chain.phases(),
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
        let record = NodeRecord {
            id: id.clone(),
            object: Some(RefRecord::new(self.cluster, &node.object)),
            status: assessment.status().as_str(),
            ghost: false,
            word: assessment.row.word.clone(),
            ready: assessment.row.ready.clone().unwrap_or_default(),
            causes: assessment.causes.iter().map(CauseRecord::of).collect(),
        };
        self.nodes.insert(id, record);
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
            record.causes.push(CauseRecord {
                rule: CauseRule::Endpoints.as_str(),
                text: headline.text(),
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
            self.edge(&owner.uid, &node.uid, Relation::Owns);
        }
        match &node.facts {
            Facts::Service(_) => {
                for pod in self.traced.graph().selected_pods(&node.uid) {
                    self.edge(&node.uid, &pod.uid, Relation::Selects);
                }
                for slice in self.traced.graph().slices(&node.uid) {
                    self.edge(&node.uid, &slice.uid, Relation::Slices);
                }
            }
            Facts::Slice(_) => self.endpoints(node),
            Facts::Workload(_) | Facts::Pod(_) | Facts::Other => {}
        }
    }

    fn edge(&mut self, from: &Uid, to: &Uid, relation: Relation) {
        self.edges.push(EdgeRecord {
            from: from.as_str().to_owned(),
            to: to.as_str().to_owned(),
            relation,
            via: relation.via(),
            state: None,
            addresses: Vec::new(),
        });
    }

    fn endpoints(&mut self, slice: &Node) {
        for backend in self.traced.graph().backends(&slice.uid) {
            let endpoint = backend.endpoint;
            let to = match (backend.pod, &endpoint.target) {
                (Some(pod), _) => pod.uid.as_str().to_owned(),
                (None, Some(target)) => {
                    let is_pod = &*target.kind == "Pod";
                    let object = ObjectRef {
                        api_version: if is_pod { "v1".into() } else { "".into() },
                        kind: target.kind.clone(),
                        namespace: self.traced.object().namespace,
                        name: target.name.clone(),
                        uid: target.uid.clone(),
                    };
                    let id = object.without_uid().identity().as_str().to_owned();
                    let status = if is_pod {
                        Status::NotFound
                    } else {
                        Status::Unknown
                    };
                    self.name(id.clone(), &object, status);
                    id
                }
                (None, None) => self.address(endpoint.addresses.first().map_or("", |first| first)),
            };
            self.edges.push(EdgeRecord {
                from: slice.uid.as_str().to_owned(),
                to,
                relation: Relation::Endpoint,
                via: Relation::Endpoint.via(),
                state: Some(endpoint_state(endpoint.state())),
                addresses: endpoint.addresses.iter().map(ToString::to_string).collect(),
            });
        }
    }

    /// Adds an address without an object.
    fn address(&mut self, address: &str) -> String {
        let id = format!("ip:{address}");
        self.unassessed(id.clone(), None, Status::Unknown);
        id
    }
}
