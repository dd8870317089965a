//! What of the past is not known: where it was interrupted, and what the server refused.

use super::divider::{Divider, refusal};
use super::missing;
use crate::commands::Unknown;
use crate::commands::sources::describe;
use crate::render::text::escape_line;

/// How many sources are named that were not read to the end.
const NAMED: usize = 3;

impl Divider<'_> {
    /// That the look-back was interrupted, and what it did not read to the end.
    pub(in crate::commands::changes) fn interruption(&self) -> Option<String> {
        let cut = self.found.iter().filter(|found| found.is_cut);
        let mut names: Vec<String> = cut.map(|found| describe(&found.key)).collect();
        if names.is_empty() {
            return None;
        }
        let more = names.len().saturating_sub(NAMED);
        if more > 0 {
            names.truncate(NAMED);
            names.push(format!("{more} more"));
        }
        let names = names.join(", ");
        let line = format!("look-back interrupted: earlier versions may be missing of {names}");
        Some(escape_line(&line).into_owned())
    }

    /// What was asked of the past and is not known.
    pub(in crate::commands::changes) fn unknown(&self) -> Vec<Unknown> {
        let found = self.found.iter().filter_map(|found| match refusal(found) {
            _ if found.is_cut => Some(Unknown::Late(format!(
                "earlier versions of {}",
                describe(&found.key)
            ))),
            Some(line) => Some(Unknown::Refused(format!("error: {line}"))),
            None => None,
        });
        let unread = self.unread.iter().filter(|unread| !unread.has_no_past());
        let unread = unread.map(|unread| Unknown::Refused(unread.error()));
        let missing = missing::lines(self.found).into_iter();
        let missing = missing.map(|line| Unknown::Refused(format!("error: {line}")));
        let asked = found.chain(unread).chain(missing);
        let asked = asked.filter(|_| self.is_asked);
        asked.collect()
    }
}
