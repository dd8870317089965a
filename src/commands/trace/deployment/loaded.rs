//! `Loaded`: which objects of a rollout have been read, and the text for the others.

use crate::commands::trace::traced::Traced;
use crate::source::SourceKey;

/// A kind of a Deployment's dependents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoadedKind {
    /// Its `ReplicaSets`.
    Sets,
    /// Their pods.
    Pods,
}

/// The kinds whose objects have all been read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Loaded {
    pub(super) sets: bool,
    pub(super) pods: bool,
}

impl LoadedKind {
    /// The text in place of objects of this kind.
    pub(super) fn unread(self) -> &'static str {
        match self {
            LoadedKind::Sets => "replicasets not read",
            LoadedKind::Pods => "pods not read",
        }
    }
}

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

    /// The kinds that have not been read.
    pub(super) fn unread(self) -> impl Iterator<Item = LoadedKind> {
        let kinds = [(LoadedKind::Sets, self.sets), (LoadedKind::Pods, self.pods)];
        let unread = kinds.into_iter().filter(|(_, is_read)| !is_read);
        unread.map(|(kind, _)| kind)
    }
}
