//! `Headline`: the state of what is traced, in the line below the title.

use crate::status::Status;

/// The state of what is traced, and what it is at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Headline {
    /// The state.
    pub(super) status: Status,
    /// What it is at: `rolling out`; not escaped.
    pub(super) stage: String,
    /// How far it is: `1/3 updated`; not escaped.
    pub(super) progress: Option<String>,
}

impl Headline {
    /// A state that has no progress.
    pub(super) fn new(status: Status, stage: impl Into<String>) -> Headline {
        Headline {
            status,
            stage: stage.into(),
            progress: None,
        }
    }

    /// The headline with how far it is.
    pub(super) fn at(self, progress: impl Into<String>) -> Headline {
        Headline {
            progress: Some(progress.into()),
            ..self
        }
    }

    /// The words: `rolling out: 1/3 updated, 3 available`.
    pub(super) fn words(&self) -> String {
        match &self.progress {
            Some(progress) => format!("{}: {progress}", self.stage),
            None => self.stage.clone(),
        }
    }
}
