//! The inputs of a write: the writer, the target, and the possible errors.

use jiff::Timestamp;

/// The writer, and the time of its writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Writer {
    /// The field manager, as in `kubectl-edit`.
    pub manager: String,
    /// The subresource, as in `status`. A write to `status` changes only the status and the annotations.
    pub subresource: Option<String>,
    /// The time of the write; `None` reads the clock of the options.
    pub time: Option<Timestamp>,
}

impl Writer {
    /// A field manager that writes to the object itself, at the current time.
    pub fn new(manager: &str) -> Self {
        Self {
            manager: manager.to_owned(),
            subresource: None,
            time: None,
        }
    }

    /// The same manager, for a subresource.
    #[must_use]
    pub fn on(mut self, subresource: &str) -> Self {
        self.subresource = Some(subresource.to_owned());
        self
    }

    /// The same manager, at a fixed time.
    #[must_use]
    pub fn at(mut self, time: Timestamp) -> Self {
        self.time = Some(time);
        self
    }
}

/// An object, by resource, namespace and name.
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
}

/// How an object is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deletion {
    /// At once, unless the object has finalizers.
    Immediate,
    /// The object stays until a second deletion, with a `deletionTimestamp` this many seconds ahead.
    Graceful(u32),
}

/// Why a write was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// No served kind has this name.
    #[error("no kind {0:?} is served")]
    UnknownKind(String),
    /// An object with this name exists.
    #[error("{0} already exists")]
    AlreadyExists(String),
    /// No object with this name exists.
    #[error("{0} not found")]
    NotFound(String),
    /// The object was written after the client had read it.
    #[error("operation cannot be fulfilled on {0}: the object has been modified")]
    Conflict(String),
    /// The object has no name, or no namespace although its kind needs one.
    #[error("invalid object: {0}")]
    Invalid(&'static str),
}
