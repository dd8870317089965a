//! Which objects of a rollout have been read, and what is said of those that have not.

/// A kind of what a Deployment owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Its `ReplicaSets`.
    Sets,
    /// Their pods.
    Pods,
}

/// Of which kinds all objects have been read; the others may not be, or have not been yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) sets: bool,
    pub(super) pods: bool,
}

impl Kind {
    /// What is said where objects of this kind would tell.
    pub(super) fn unread(self) -> &'static str {
        match self {
            Kind::Sets => "replicasets not read",
            Kind::Pods => "pods not read",
        }
    }
}

impl Read {
    /// Notes that all objects of a kind have been read.
    pub(super) fn note(&mut self, kind: &str) {
        self.sets |= kind == "ReplicaSet";
        self.pods |= kind == "Pod";
    }

    /// The kinds that have not been read.
    pub(super) fn unread(self) -> impl Iterator<Item = Kind> {
        let kinds = [(Kind::Sets, self.sets), (Kind::Pods, self.pods)];
        let unread = kinds.into_iter().filter(|(_, is_read)| !is_read);
        unread.map(|(kind, _)| kind)
    }
}
