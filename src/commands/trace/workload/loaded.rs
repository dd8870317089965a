//! `Loaded`: which objects of a rollout have been read, and the text for the others.

use crate::commands::trace::traced::Traced;
use crate::source::SourceKey;

/// Which objects of a rollout have all been read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Loaded {
    /// The objects between the workload and its Pods.
    pub(super) groups: bool,
    /// The Pods.
    pub(super) pods: bool,
    /// The texts in place of the objects that have not been read.
    pub(super) unread: Vec<String>,
}

impl Loaded {
    /// Looks up which of these sources have been read.
    pub(super) fn of(group_kind: &str, traced: &Traced, sources: &[SourceKey]) -> Loaded {
        let is_read = |kind: &str| {
            let mut of_kind = sources
                .iter()
                .filter(|source| &*source.resource.kind == kind);
            of_kind.any(|source| traced.is_read(source))
        };
        let kinds = [group_kind, "Pod"].into_iter();
        let unread = kinds.filter(|kind| !kind.is_empty() && !is_read(kind));
        Loaded {
            groups: is_read(group_kind),
            pods: is_read("Pod"),
            unread: unread.map(unread_text).collect(),
        }
    }
}

/// The text in place of objects that have not been read: `replicasets not read`.
pub(super) fn unread_text(kind: &str) -> String {
    format!("{}s not read", kind.to_lowercase())
}
