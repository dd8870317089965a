//! What is printed at once: the lines of several entries of the timeline.

use jiff::Timestamp;

use super::run::Changes;
use super::state::TimelineEntry;
use crate::commands::{CommandError, Terminal};

/// Lines for standard output, and notes for standard error.
#[derive(Default)]
pub(super) struct Page {
    pub(super) lines: Vec<String>,
    pub(super) asides: Vec<String>,
    /// How many entries are shown, and when the first of them happened.
    pub(super) shown: usize,
    pub(super) first: Option<Timestamp>,
    /// How many versions are hidden.
    pub(super) hidden: usize,
}

impl Changes {
    /// Renders entries, up to `--count` of them.
    pub(super) fn page(&mut self, entries: &[TimelineEntry], terminal: &Terminal<'_>) -> Page {
        let mut page = Page::default();
        for entry in entries {
            if self.count_limit.is_reached() {
                break;
            }
            let rendered = self.rendered(entry, terminal);
            page.hidden += usize::from(rendered.quiet.is_some());
            if !rendered.lines.is_empty() {
                page.shown += 1;
                page.first = page.first.or(Some(entry.time()));
            }
            page.lines.extend(rendered.lines);
            page.asides.extend(rendered.asides);
            if rendered.redacted && !std::mem::replace(&mut self.has_warned, true) {
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

/// Printed once, where a document or a patch has placeholders for the values of Secrets.
const REDACTED: &str =
    "what Secrets hold is left out: this cannot be applied (--show-secrets leaves it in)";
