//! `Headline`: the state of the traced object, in the line below the title.

use crate::status::Status;

/// The state of the traced object and its current stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Headline {
    /// The state.
    pub(super) status: Status,
    /// The current stage: `rolling out`.
    pub(super) stage: String,
    /// The progress: `1/3 updated`.
    pub(super) progress: Option<String>,
}

impl Headline {
    /// A headline without progress.
    pub(super) fn new(status: Status, stage: impl Into<String>) -> Headline {
        Headline {
            status,
            stage: stage.into(),
            progress: None,
        }
    }

    /// The text: `rolling out: 1/3 updated, 3 available`.
    pub(super) fn text(&self) -> String {
        match &self.progress {
            Some(progress) => format!("{}: {progress}", self.stage),
            None => self.stage.clone(),
        }
    }
}
