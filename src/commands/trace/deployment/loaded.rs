//! `Loaded`: which objects of a rollout have been read, and the text for the others.

use crate::commands::trace::traced::Traced;
use crate::source::SourceKey;

/// The kinds of a Deployment's dependents whose objects have all been read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Loaded {
    pub(super) sets: bool,
    pub(super) pods: bool,
}

/// The text in place of `ReplicaSets` that have not been read.
pub(super) const SETS_UNREAD: &str = "replicasets not read";
/// The text in place of Pods that have not been read.
pub(super) const PODS_UNREAD: &str = "pods not read";

impl Loaded {
    /// The kinds of these sources that have been read.
    pub(super) fn of(traced: &Traced, sources: &[SourceKey]) -> Loaded {
        let is_read = |kind: &str| {
            let mut of_kind = sources
                .iter()
                .filter(|source| &*source.resource.kind == kind);
            of_kind.any(|source| traced.is_read(source))
        };
        Loaded {
            sets: is_read("ReplicaSet"),
            pods: is_read("Pod"),
        }
    }

    /// The texts for the kinds that have not been read. Pods are found through their `ReplicaSets`.
    pub(super) fn unread(self) -> impl Iterator<Item = &'static str> {
        let kinds = [(SETS_UNREAD, self.sets), (PODS_UNREAD, self.pods)];
        let unread = kinds.into_iter().filter(|(_, is_read)| !is_read);
        unread.map(|(text, _)| text)
    }
}
