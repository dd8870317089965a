//! The cells of an object's row: READY, STATUS and RESTARTS, in kubectl's words where it has them.
//!
//! Source: the API server's own printers (`pkg/printers/internalversion` of Kubernetes 1.36), which
//! `kubectl get` shows.

mod kinds;
mod pod;

use jiff::Timestamp;

use crate::object::{Value, condition};

use super::read;
use super::state::Status;

/// The cells of an object's row. Some hold cluster text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The numbers of ready and of wanted parts, `2/3`; `None` for kinds without parts.
    pub ready: Option<String>,
    /// kubectl's word for the state (`Running`, `ImagePullBackOff`, `Bound`), else kstatus's.
    pub word: String,
    /// The restarts of its containers; `None` for all kinds but Pod.
    pub restarts: Option<Restarts>,
}

/// The RESTARTS cell: `5`, or `5 (3m ago)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Restarts {
    /// The number of restarts of all containers.
    pub count: i64,
    /// When a container last ended before a restart; `None` if that is unknown or no container restarted.
    pub last: Option<Timestamp>,
}

impl Row {
    /// Reads the cells of an object that has this status.
    pub fn of(object: Value<'_>, status: Status) -> Row {
        let kind = read::group_kind(object).unwrap_or_default();
        if kind == "Pod" {
            return pod::row(object, status);
        }
        Row {
            ready: kinds::ready(object, &kind),
            word: kinds::word(object, &kind).unwrap_or_else(|| status.as_str().to_owned()),
            restarts: None,
        }
    }
}

/// Whether the object is being deleted.
fn is_deleted(object: Value<'_>) -> bool {
    object
        .str_at(&["metadata", "deletionTimestamp"])
        .is_some_and(|time| !time.is_empty())
}

/// Whether the first condition of this type is True.
fn is_true(object: Value<'_>, kind: &str) -> bool {
    let found = condition(object, kind);
    found.is_some_and(|found| found.status == "True")
}

#[cfg(test)]
mod tests;
