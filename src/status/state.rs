//! `Status`: the state of an object.

use std::fmt;

/// The state of an object in kstatus's words, ordered from the best to the worst, so that the worst of
/// several is their maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// The object has the desired state.
    Current,
    /// It is being deleted.
    Terminating,
    /// It is moving towards the desired state.
    InProgress,
    /// It does not exist.
    NotFound,
    /// Its status could not be computed, or the object has not been read yet.
    Unknown,
    /// It will not reach the desired state without help.
    Failed,
}

impl Status {
    /// All states, from the best to the worst.
    pub const ALL: [Status; 6] = [
        Status::Current,
        Status::Terminating,
        Status::InProgress,
        Status::NotFound,
        Status::Unknown,
        Status::Failed,
    ];

    /// The state with this word; `None` for another text.
    pub fn named(word: &str) -> Option<Status> {
        let mut all = Status::ALL.into_iter();
        all.find(|status| status.as_str() == word)
    }

    /// The word, as kstatus spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Current => "Current",
            Status::Terminating => "Terminating",
            Status::InProgress => "InProgress",
            Status::NotFound => "NotFound",
            Status::Unknown => "Unknown",
            Status::Failed => "Failed",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
