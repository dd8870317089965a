//! What is printed at once: the lines of several entries of the timeline.

use jiff::Timestamp;

use crate::commands::{CommandError, Terminal};

/// Lines for standard output, and notes for standard error.
#[derive(Default)]
pub(crate) struct Printout {
    pub(crate) lines: Vec<String>,
    pub(crate) asides: Vec<String>,
    /// How many entries are shown, and when the first of them happened.
    pub(crate) shown: usize,
    pub(crate) first: Option<Timestamp>,
    /// How many versions are hidden.
    pub(crate) hidden: usize,
}

impl Printout {
    pub(crate) fn print(self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        if !self.lines.is_empty() {
            terminal.print(&self.lines)?;
        }
        for aside in self.asides {
            terminal.say(&aside)?;
        }
        Ok(())
    }
}

/// Printed once, where a document or a patch has placeholders for the values of Secrets.
pub(crate) const REDACTED: &str =
    "Secret values are hidden, so this output cannot be applied; pass --show-secrets to print them";
