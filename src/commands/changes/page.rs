//! What is printed at once: the lines of several things that have happened.

use jiff::Timestamp;

use super::run::Changes;
use super::state::Happened;
use crate::commands::{CommandError, Terminal};

/// Lines, and what is said beside them.
#[derive(Default)]
pub(super) struct Page {
    pub(super) lines: Vec<String>,
    pub(super) asides: Vec<String>,
    /// How many things that have happened are told, and when the first of them was.
    pub(super) shown: usize,
    pub(super) first: Option<Timestamp>,
    /// Of how many versions nothing is.
    pub(super) hidden: usize,
}

impl Changes {
    /// What is told of what has happened.
    pub(super) fn page(&mut self, happened: &[Happened], terminal: &Terminal<'_>) -> Page {
        let mut page = Page::default();
        for happened in happened {
            if self.tally.is_enough() {
                break;
            }
            let told = self.told(happened, terminal);
            page.hidden += usize::from(told.quiet.is_some());
            if !told.lines.is_empty() {
                page.shown += 1;
                page.first = page.first.or(Some(happened.time()));
                self.tally.note(happened, &self.view.shown);
            }
            page.lines.extend(told.lines);
            page.asides.extend(told.asides);
            if told.redacted && !std::mem::replace(&mut self.has_warned, true) {
                page.asides.push(REDACTED.to_owned());
            }
        }
        page
    }
}

impl Page {
    pub(super) fn print(self, terminal: &mut Terminal<'_>) -> Result<(), CommandError> {
        if !self.lines.is_empty() {
            terminal.print(&self.lines)?;
        }
        for aside in self.asides {
            terminal.say(&aside)?;
        }
        Ok(())
    }
}

/// What is said once where a document or a patch has placeholders in it.
const REDACTED: &str =
    "what Secrets hold is left out: this cannot be applied (--show-secrets leaves it in)";
