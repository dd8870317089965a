//! Classifies changes that mean nothing for the object.

use serde::Serialize;

use crate::object::Value;

use super::{Diff, NodeId};

/// Why text views hide a change. They count hidden changes by these names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Noise {
    /// A counter of the server: `resourceVersion`, `generation`, `observedGeneration`.
    Version,
    /// The record of field managers: `metadata.managedFields`.
    ManagedFields,
    /// A sign of life: probe and heartbeat times, renewed leases.
    Heartbeat,
    /// A moved item in a list whose order means nothing.
    Order,
    /// Another spelling of the same quantity, time or number.
    Equivalent,
}

impl Noise {
    /// All kinds of noise, in the order in which views list them.
    pub const ALL: [Noise; 5] = [
        Noise::Version,
        Noise::ManagedFields,
        Noise::Heartbeat,
        Noise::Order,
        Noise::Equivalent,
    ];
}

/// The kind of noise that a change at `at` is because of its path alone.
pub(super) fn of(diff: &Diff<'_>, at: NodeId) -> Option<Noise> {
    let name = diff.field(at)?;
    let parent = diff.parent(at);
    match name {
        "resourceVersion" | "generation" if is_root_field(diff, parent, "metadata") => {
            Some(Noise::Version)
        }
        "observedGeneration" if is_below(diff, parent, "status") => Some(Noise::Version),
        "managedFields" if is_root_field(diff, parent, "metadata") => Some(Noise::ManagedFields),
        // Conditions of Nodes, Pods and Deployments.
        "lastHeartbeatTime" | "lastProbeTime" | "lastUpdateTime"
            if diff.field(diff.parent(parent)) == Some("conditions") =>
        {
            Some(Noise::Heartbeat)
        }
        "renewTime" if is_root_field(diff, parent, "spec") && is_kind(diff, "Lease") => {
            Some(Noise::Heartbeat)
        }
        // Leader election from before Leases existed.
        "control-plane.alpha.kubernetes.io/leader" if diff.field(parent) == Some("annotations") => {
            Some(Noise::Heartbeat)
        }
        _ => None,
    }
}

fn is_root_field(diff: &Diff<'_>, at: NodeId, name: &str) -> bool {
    at != NodeId::ROOT && diff.parent(at) == NodeId::ROOT && diff.field(at) == Some(name)
}

fn is_below(diff: &Diff<'_>, at: NodeId, name: &str) -> bool {
    diff.chain(at)
        .last()
        .is_some_and(|top| diff.field(top) == Some(name))
}

fn is_kind(diff: &Diff<'_>, kind: &str) -> bool {
    let root = diff.node(NodeId::ROOT);
    root.new
        .or(root.old)
        .and_then(|object| object.get("kind"))
        .and_then(Value::as_str)
        .is_some_and(|own| own == kind)
}
