//! The record of `trace -o json`: one graph on each line.

use serde::Serialize;

use super::status::CauseRecord;
use super::{LastChangeRecord, RefRecord, VERSION, line};
use crate::graph::EndpointState;

/// A graph: one chain at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GraphRecord {
    /// The objects, and the addresses without an object.
    pub nodes: Vec<NodeRecord>,
    /// The relations between them.
    pub edges: Vec<EdgeRecord>,
    /// The phases of the rollout, if the graph shows one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseRecord>,
    /// What changed before the object failed and may be the cause, once that is known. The most suspect change comes first.
    #[serde(rename = "lastChanges", skip_serializing_if = "Vec::is_empty")]
    pub last_changes: Vec<LastChangeRecord>,
}

/// An object, or an address without an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NodeRecord {
    /// The uid; for a ghost `GROUP/KIND/NAMESPACE/NAME`, for a bare address `ip:ADDRESS`.
    pub id: String,
    /// The object; absent for a bare address.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub object: Option<RefRecord>,
    /// The state in kstatus's words; `NotFound` for a ghost, `Unknown` for an object that is not assessed.
    pub status: &'static str,
    /// Whether other objects name the object but it does not exist.
    pub ghost: bool,
    /// kubectl's word for the state.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub word: String,
    /// The ready and total parts: `1/2`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub ready: String,
    /// The causes of its state, if it is not healthy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<CauseRecord>,
}

/// The relation between two nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EdgeRecord {
    /// The `id` of a node.
    pub from: String,
    /// The `id` of a node.
    pub to: String,
    /// The relation of `from` to `to`: `owns`, `selects`, `slices`, `endpoint`, or the name of a reference.
    pub relation: String,
    /// The field that states the relation.
    pub via: String,
    /// For an endpoint: whether it receives traffic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<&'static str>,
    /// For an endpoint: its addresses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<String>,
}

/// The relations that are not references: owners, and the parts of a Service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// An object owns another.
    Owns,
    /// A selector matches an object.
    Selects,
    /// A slice belongs to a Service.
    Slices,
    /// A slice lists an endpoint.
    Endpoint,
}

impl Structure {
    /// The name in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Structure::Owns => "owns",
            Structure::Selects => "selects",
            Structure::Slices => "slices",
            Structure::Endpoint => "endpoint",
        }
    }

    /// Whether a relation in a record has this name: it is not a reference.
    pub fn is_name(relation: &str) -> bool {
        let all = [
            Structure::Owns,
            Structure::Selects,
            Structure::Slices,
            Structure::Endpoint,
        ];
        all.iter().any(|own| own.as_str() == relation)
    }

    /// The field that states the relation.
    pub fn via(self) -> &'static str {
        match self {
            Structure::Owns => "metadata.ownerReferences",
            Structure::Selects => "spec.selector",
            Structure::Slices => "metadata.labels[kubernetes.io/service-name]",
            Structure::Endpoint => "endpoints",
        }
    }
}

/// One phase of a rollout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PhaseRecord {
    /// The name of the phase.
    pub phase: &'static str,
    /// `done`, `underway`, `failed` or `waiting`.
    pub state: &'static str,
    /// The time of its completion, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// Its progress.
    pub text: String,
}

impl GraphRecord {
    /// The record as one line. `time` is in RFC 3339.
    pub fn line(&self, time: &str) -> String {
        #[derive(Serialize)]
        struct TraceRecord<'a> {
            v: u32,
            time: &'a str,
            #[serde(flatten)]
            graph: &'a GraphRecord,
        }
        line(&TraceRecord {
            v: VERSION,
            time,
            graph: self,
        })
    }
}

/// Whether an endpoint receives traffic, in the words of the records.
pub fn endpoint_state(state: EndpointState) -> &'static str {
    match state {
        EndpointState::Ready => "ready",
        EndpointState::NotReady => "notReady",
        EndpointState::TerminatingServing => "terminatingServing",
        EndpointState::Terminating => "terminating",
    }
}
