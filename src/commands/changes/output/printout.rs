//! What is printed at once: the lines of several entries of the timeline.

use jiff::Timestamp;

use crate::commands::{CommandError, Terminal};

/// Lines for standard output, and notes for standard error.
#[derive(Default)]
pub(in crate::commands::changes) struct Printout {
    pub(in crate::commands::changes) lines: Vec<String>,
    pub(in crate::commands::changes) asides: Vec<String>,
    /// How many entries are shown, and when the first of them happened.
    pub(in crate::commands::changes) shown: usize,
    pub(in crate::commands::changes) first: Option<Timestamp>,
    /// How many versions are hidden.
    pub(in crate::commands::changes) hidden: usize,
}

impl Printout {
    pub(in crate::commands::changes) fn print(
        self,
        terminal: &mut Terminal<'_>,
    ) -> Result<(), CommandError> {
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
pub(in crate::commands::changes) const REDACTED: &str =
    "what Secrets hold is left out: this cannot be applied (--show-secrets leaves it in)";
