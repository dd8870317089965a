//! The graph of a trace as the record of `-o json`.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::objects::Objects;
use super::target::Target;
use crate::graph::{Facts, Node};
use crate::object::{ObjectRef, Uid};
use crate::render::json::RefRecord;
use crate::render::json::trace::{Cause, Edge, Graph, Node as Record, Relation, endpoint_state};
use crate::status::Status;

/// Everything a trace holds, and what its objects name that is not there.
pub(super) fn graph(target: &Target, objects: &Objects, now: Timestamp) -> Graph {
    let mut builder = Builder {
        cluster: &target.cluster.0,
        target,
        objects,
        nodes: BTreeMap::new(),
        edges: Vec::new(),
    };
    for node in objects.graph().nodes() {
        builder.add(node, now);
    }
    for node in objects.graph().nodes() {
        builder.relate(node);
    }
    if builder.nodes.is_empty() {
        let name = &target.object();
        builder.name(ghost_id(name), name, State::Ghost);
    }
    let order = |edge: &Edge| (edge.from.clone(), edge.to.clone(), edge.via);
    builder.edges.sort_by_key(order);
    Graph {
        nodes: builder.nodes.into_values().collect(),
        edges: builder.edges,
        phases: Vec::new(),
    }
}

struct Builder<'a> {
    cluster: &'a str,
    target: &'a Target,
    objects: &'a Objects,
    nodes: BTreeMap<String, Record>,
    edges: Vec<Edge>,
}

/// What is known of an object that is only named.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// It would be here if it were there.
    Ghost,
    /// Its kind is not looked at.
    Unread,
}

impl Builder<'_> {
    fn add(&mut self, node: &Node, now: Timestamp) {
        let Some(judged) = self.objects.judge(&node.uid, now) else {
            return;
        };
        let causes = judged.causes.into_iter().map(|cause| Cause {
            rule: cause.rule,
            text: cause.text,
        });
        let id = node.uid.as_str().to_owned();
        let record = Record {
            id: id.clone(),
            object: Some(RefRecord::new(self.cluster, &node.object)),
            status: judged.status.as_str(),
            ghost: false,
            word: judged.word,
            ready: judged.ready,
            causes: causes.collect(),
        };
        self.nodes.insert(id, record);
    }

    /// Adds an object that is only named.
    fn name(&mut self, id: String, object: &ObjectRef, state: State) {
        let status = match state {
            State::Ghost => Status::NotFound,
            State::Unread => Status::Unknown,
        };
        self.nodes.entry(id.clone()).or_insert(Record {
            id,
            object: Some(RefRecord::new(self.cluster, object)),
            status: status.as_str(),
            ghost: state == State::Ghost,
            word: String::new(),
            ready: String::new(),
            causes: Vec::new(),
        });
    }

    fn relate(&mut self, node: &Node) {
        for owner in self.objects.graph().owners(&node.uid) {
            self.edge(
                &owner.uid,
                &node.uid,
                (Relation::Owns, "metadata.ownerReferences"),
            );
        }
        match &node.facts {
            Facts::Service(_) => {
                for pod in self.objects.graph().selected_pods(&node.uid) {
                    self.edge(&node.uid, &pod.uid, (Relation::Selects, "spec.selector"));
                }
                for slice in self.objects.graph().slices(&node.uid) {
                    let via = "metadata.labels[kubernetes.io/service-name]";
                    self.edge(&node.uid, &slice.uid, (Relation::Slices, via));
                }
            }
            Facts::Slice(_) => self.endpoints(node),
            Facts::Workload(_) | Facts::Pod(_) | Facts::Other => {}
        }
    }

    fn edge(&mut self, from: &Uid, to: &Uid, (relation, via): (Relation, &'static str)) {
        self.edges.push(Edge {
            from: from.as_str().to_owned(),
            to: to.as_str().to_owned(),
            relation,
            via,
            state: None,
            addresses: Vec::new(),
        });
    }

    fn endpoints(&mut self, slice: &Node) {
        for backend in self.objects.graph().backends(&slice.uid) {
            let endpoint = backend.endpoint;
            let to = match (backend.pod, &endpoint.target) {
                (Some(pod), _) => pod.uid.as_str().to_owned(),
                (None, Some(target)) => {
                    let is_pod = &*target.kind == "Pod";
                    let object = ObjectRef {
                        api_version: if is_pod { "v1".into() } else { "".into() },
                        kind: target.kind.clone(),
                        namespace: Some(self.target.namespace.clone()),
                        name: target.name.clone(),
                        uid: target.uid.clone(),
                    };
                    let id = ghost_id(&object);
                    let state = if is_pod { State::Ghost } else { State::Unread };
                    self.name(id.clone(), &object, state);
                    id
                }
                (None, None) => self.address(endpoint.addresses.first().map_or("", |first| first)),
            };
            self.edges.push(Edge {
                from: slice.uid.as_str().to_owned(),
                to,
                relation: Relation::Endpoint,
                via: "endpoints",
                state: Some(endpoint_state(endpoint.state())),
                addresses: endpoint.addresses.iter().map(ToString::to_string).collect(),
            });
        }
    }

    /// Adds an address that no object stands behind.
    fn address(&mut self, address: &str) -> String {
        let id = format!("ip:{address}");
        self.nodes.entry(id.clone()).or_insert(Record {
            id: id.clone(),
            object: None,
            status: Status::Unknown.as_str(),
            ghost: false,
            word: String::new(),
            ready: String::new(),
            causes: Vec::new(),
        });
        id
    }
}

fn ghost_id(object: &ObjectRef) -> String {
    let namespace = object.namespace.as_deref().unwrap_or_default();
    format!(
        "{}/{}/{namespace}/{}",
        object.group(),
        object.kind,
        object.name
    )
}
