//! The unknown parts of the past: interrupted walks, and reads that the server refused.

use super::divider::{Divider, refusal};
use super::missing;
use crate::commands::Unknown;
use crate::commands::sources::describe;
use crate::render::text::escape_line;

/// How many interrupted sources a line names.
const NAMED: usize = 3;

impl Divider<'_> {
    /// The line that names the sources whose look-back was interrupted.
    pub(crate) fn interruption(&self) -> Option<String> {
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
        let line = format!("look-back interrupted: earlier versions of {names} may be missing");
        Some(escape_line(&line).into_owned())
    }

    /// The parts of the requested past that are not known.
    pub(crate) fn unknown(&self) -> Vec<Unknown> {
        let found = self.found.iter().filter_map(|found| match refusal(found) {
            _ if found.is_cut => Some(Unknown::Late(format!(
                "earlier versions of {}",
                describe(&found.key)
            ))),
            Some(line) => Some(Unknown::Refused(format!("error: {line}"))),
            None => None,
        });
        let skipped = self.skipped.iter().filter(|skipped| !skipped.has_no_past());
        let skipped = skipped.map(|skipped| Unknown::Refused(skipped.error()));
        let missing = missing::lines(self.found).into_iter();
        let missing = missing.map(|line| Unknown::Refused(format!("error: {line}")));
        let asked = found.chain(skipped).chain(missing);
        let asked = asked.filter(|_| self.is_asked);
        asked.collect()
    }
}
