//! Which objects of a rollout have been read, and the words for those that have not.

/// A kind of what a Deployment owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoadedKind {
    /// Its `ReplicaSets`.
    Sets,
    /// Their pods.
    Pods,
}

/// Of which kinds all objects have been read; the others may not be, or have not been yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Loaded {
    pub(super) sets: bool,
    pub(super) pods: bool,
}

impl LoadedKind {
    /// The words in place of what objects of this kind would show.
    pub(super) fn unread(self) -> &'static str {
        match self {
            LoadedKind::Sets => "replicasets not read",
            LoadedKind::Pods => "pods not read",
        }
    }
}

impl Loaded {
    /// Notes that all objects of a kind have been read.
    pub(super) fn note(&mut self, kind: &str) {
        self.sets |= kind == "ReplicaSet";
        self.pods |= kind == "Pod";
    }

    /// The kinds that have not been read.
    pub(super) fn unread(self) -> impl Iterator<Item = LoadedKind> {
        let kinds = [(LoadedKind::Sets, self.sets), (LoadedKind::Pods, self.pods)];
        let unread = kinds.into_iter().filter(|(_, is_read)| !is_read);
        unread.map(|(kind, _)| kind)
    }
}
