//! Changes that say nothing about the object: which ones, and of what sort.

use std::fmt;

use serde::Serialize;

use crate::object::Value;

use super::{Diff, SegId};

/// Why a change is of little interest. Text views hide such changes and count them by these names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Noise {
    /// The server counts: `resourceVersion`, `generation`, `observedGeneration`.
    Version,
    /// Who wrote what: `metadata.managedFields`.
    ManagedFields,
    /// Someone says it is still alive: probe and heartbeat times, renewed leases.
    Heartbeat,
    /// An item has another place in a list whose order means nothing.
    Order,
    /// Another spelling of the same quantity, time or number.
    Equivalent,
}

impl Noise {
    /// All of them, in the order they are listed in.
    pub const ALL: [Noise; 5] = [
        Noise::Version,
        Noise::ManagedFields,
        Noise::Heartbeat,
        Noise::Order,
        Noise::Equivalent,
    ];

    /// Its name, as flags and records spell it.
    pub fn name(self) -> &'static str {
        match self {
            Noise::Version => "version",
            Noise::ManagedFields => "managedFields",
            Noise::Heartbeat => "heartbeat",
            Noise::Order => "order",
            Noise::Equivalent => "equivalent",
        }
    }
}

impl fmt::Display for Noise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The sort of noise a change at `at` is by its place alone.
pub(super) fn of(diff: &Diff<'_>, at: SegId) -> Option<Noise> {
    let name = diff.field(at)?;
    let parent = diff.parent(at);
    match name {
        "resourceVersion" | "generation" if is_root_field(diff, parent, "metadata") => {
            Some(Noise::Version)
        }
        "observedGeneration" if is_below(diff, parent, "status") => Some(Noise::Version),
        "managedFields" if is_root_field(diff, parent, "metadata") => Some(Noise::ManagedFields),
        // Node, Pod and Deployment conditions.
        "lastHeartbeatTime" | "lastProbeTime" | "lastUpdateTime"
            if diff.field(diff.parent(parent)) == Some("conditions") =>
        {
            Some(Noise::Heartbeat)
        }
        "renewTime" if is_root_field(diff, parent, "spec") && is_kind(diff, "Lease") => {
            Some(Noise::Heartbeat)
        }
        // Leader election before there were Leases.
        "control-plane.alpha.kubernetes.io/leader" if diff.field(parent) == Some("annotations") => {
            Some(Noise::Heartbeat)
        }
        _ => None,
    }
}

/// Whether a value is compared as a whole. Of field managers nobody asks which entry moved.
pub(super) fn is_one_piece(diff: &Diff<'_>, at: SegId) -> bool {
    of(diff, at) == Some(Noise::ManagedFields)
}

fn is_root_field(diff: &Diff<'_>, at: SegId, name: &str) -> bool {
    at != SegId::ROOT && diff.parent(at) == SegId::ROOT && diff.field(at) == Some(name)
}

fn is_below(diff: &Diff<'_>, at: SegId, name: &str) -> bool {
    diff.chain(at)
        .last()
        .is_some_and(|top| diff.field(top) == Some(name))
}

fn is_kind(diff: &Diff<'_>, kind: &str) -> bool {
    let root = diff.seg(SegId::ROOT);
    root.new
        .or(root.old)
        .and_then(|object| object.get("kind"))
        .and_then(Value::as_str)
        .is_some_and(|own| own == kind)
}
