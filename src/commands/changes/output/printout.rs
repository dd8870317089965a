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
    /// The earliest and the latest possible time of the first shown entry.
    pub(crate) first: Option<[Timestamp; 2]>,
    /// The number of hidden versions.
    pub(crate) hidden: usize,
    /// The number of versions that a counted line stands for.
    pub(crate) folded: usize,
}

impl Printout {
    /// Inserts lines, each below a number of the present lines. They are in this order.
    pub(super) fn insert(&mut self, lines: Vec<(usize, String)>) {
        let mut later = lines.into_iter().peekable();
        let mut all = Vec::with_capacity(self.lines.len() + later.len());
        for (at, line) in std::mem::take(&mut self.lines).into_iter().enumerate() {
            while let Some((_, line)) = later.next_if(|(above, _)| *above <= at) {
                all.push(line);
            }
            all.push(line);
        }
        all.extend(later.map(|(_, line)| line));
        self.lines = all;
    }

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
