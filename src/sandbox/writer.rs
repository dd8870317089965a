//! What a test hands in with a write: who writes, to which object, and what can go wrong.

use jiff::Timestamp;

/// Who writes, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Writer {
    /// Name of the field manager, as in `kubectl-edit`.
    pub manager: String,
    /// The subresource written to, as in `status`. A write to `status` changes the status and
    /// the annotations only.
    pub subresource: Option<String>,
    /// When; `None` asks the clock of the options.
    pub time: Option<Timestamp>,
}

impl Writer {
    /// A field manager that writes the objects themselves, now.
    pub fn new(manager: &str) -> Self {
        Self {
            manager: manager.to_owned(),
            subresource: None,
            time: None,
        }
    }

    /// The same manager writing to a subresource.
    #[must_use]
    pub fn on(mut self, subresource: &str) -> Self {
        self.subresource = Some(subresource.to_owned());
        self
    }

    /// The same manager writing at a time of its own.
    #[must_use]
    pub fn at(mut self, time: Timestamp) -> Self {
        self.time = Some(time);
        self
    }
}

/// An object by resource, namespace and name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Plural, alone or with the group: `deployments`, `deployments.apps`.
    pub resource: String,
    /// Empty for cluster-wide kinds.
    pub namespace: String,
    /// Name of the object.
    pub name: String,
}

impl Target {
    /// An object in a namespace.
    pub fn new(resource: &str, namespace: &str, name: &str) -> Self {
        Self {
            resource: resource.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }

    /// A cluster-wide object.
    pub fn cluster(resource: &str, name: &str) -> Self {
        Self::new(resource, "", name)
    }
}

/// How a deletion ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deletion {
    /// At once, unless finalizers hold the object.
    Immediate,
    /// The object stays, marked with a `deletionTimestamp` this many seconds ahead, until a second deletion.
    Graceful(u32),
}

/// Why a write was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// No kind of this name is served.
    #[error("no kind {0:?} is served")]
    UnknownKind(String),
    /// There is one of this name.
    #[error("{0} already exists")]
    AlreadyExists(String),
    /// There is none of this name.
    #[error("{0} not found")]
    NotFound(String),
    /// The object has been written since it was read.
    #[error("operation cannot be fulfilled on {0}: the object has been modified")]
    Conflict(String),
    /// The object lacks a name, or a namespace where one is due.
    #[error("invalid object: {0}")]
    Invalid(&'static str),
}
