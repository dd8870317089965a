//! `Printout`: the output of several timeline entries.

use jiff::Timestamp;

use crate::commands::{CommandError, Terminal};

/// Lines for standard output, and messages for standard error.
#[derive(Default)]
pub(crate) struct Printout {
    pub(crate) lines: Vec<String>,
    /// The messages for standard error.
    pub(crate) asides: Vec<String>,
    /// The number of shown entries.
    pub(crate) shown: usize,
    /// The time of the first shown entry.
    pub(crate) first: Option<Timestamp>,
    /// The number of hidden versions.
    pub(crate) hidden: usize,
}

impl Printout {
    pub(crate) fn print(self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        if !self.lines.is_empty() {
            terminal.print(&self.lines)?;
        }
        for aside in self.asides {
            terminal.notify(&aside)?;
        }
        Ok(())
    }
}

/// The warning about a document or patch with placeholders for Secret values. It is printed once.
pub(crate) const REDACTED: &str =
    "Secret values are hidden, so this output cannot be applied; pass --show-secrets to print them";
