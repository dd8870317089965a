//! The record of `trace -o json`: a whole graph a line.

use serde::Serialize;

use super::status::CauseRecord;
use super::{RefRecord, VERSION, line};
use crate::graph::EndpointState;

/// A graph: everything that is known of one chain at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GraphRecord {
    /// The objects and addresses.
    pub nodes: Vec<NodeRecord>,
    /// How they relate.
    pub edges: Vec<EdgeRecord>,
    /// The phases of a rollout, where the graph is that of one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseRecord>,
}

/// An object, or an address that no object stands behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NodeRecord {
    /// The uid; for a ghost `GROUP/KIND/NAMESPACE/NAME`, for a bare address `ip:ADDRESS`.
    pub id: String,
    /// Which object; absent for a bare address.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub object: Option<RefRecord>,
    /// The state in kstatus's words; `NotFound` for a ghost, `Unknown` for what is not looked at.
    pub status: &'static str,
    /// Whether the object is named by others but not there.
    pub ghost: bool,
    /// kubectl's word for the state.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub word: String,
    /// How many parts are ready: `1/2`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub ready: String,
    /// Why the object is not as it should be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<CauseRecord>,
}

/// How two nodes relate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EdgeRecord {
    /// The `id` of a node.
    pub from: String,
    /// The `id` of a node.
    pub to: String,
    /// What `from` does with `to`.
    pub relation: Relation,
    /// The field that says so.
    pub via: &'static str,
    /// For an endpoint: whether it gets traffic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<&'static str>,
    /// For an endpoint: its addresses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<String>,
}

/// What one node does with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Relation {
    /// It is its owner.
    Owns,
    /// Its selector finds it.
    Selects,
    /// It is served by it: a Service by its slices.
    Slices,
    /// It sends to it: a slice to its endpoints.
    Endpoint,
}

impl Relation {
    /// The field that says so.
    pub fn via(self) -> &'static str {
        match self {
            Relation::Owns => "metadata.ownerReferences",
            Relation::Selects => "spec.selector",
            Relation::Slices => "metadata.labels[kubernetes.io/service-name]",
            Relation::Endpoint => "endpoints",
        }
    }
}

/// One phase of a rollout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PhaseRecord {
    /// Its name.
    pub phase: &'static str,
    /// `done`, `underway`, `failed` or `waiting`.
    pub state: &'static str,
    /// When it was done, as far as that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// How far it is.
    pub text: String,
}

impl GraphRecord {
    /// The record as a line, at a time in RFC 3339.
    pub fn line(&self, time: &str) -> String {
        #[derive(Serialize)]
        struct TraceRecord<'a> {
            v: u32,
            time: &'a str,
            #[serde(flatten)]
            graph: &'a GraphRecord,
        }
        line::line(&TraceRecord {
            v: VERSION,
            time,
            graph: self,
        })
    }
}

/// Whether an endpoint gets traffic, as records spell it.
pub fn endpoint_state(state: EndpointState) -> &'static str {
    match state {
        EndpointState::Ready => "ready",
        EndpointState::NotReady => "notReady",
        EndpointState::TerminatingServing => "terminatingServing",
        EndpointState::Terminating => "terminating",
    }
}
