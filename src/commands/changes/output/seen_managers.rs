//! `SeenManagers`: the managers of the compared versions, for a message if none matches `--by`.

use std::collections::BTreeSet;

use crate::commands::changes::by::ManagerFilter;
use crate::commands::changes::compared::Compared;

/// The most managers that the message names.
const MOST: usize = 8;

/// The managers of the compared versions.
#[derive(Default)]
pub(super) struct SeenManagers {
    names: BTreeSet<String>,
    has_match: bool,
}

impl SeenManagers {
    /// Notes the managers of a version.
    pub(super) fn see(&mut self, by: &ManagerFilter, compared: &Compared<'_>) {
        if !by.is_by_name() || self.has_match {
            return;
        }
        self.has_match = compared.is_by_named;
        let names = compared.writers.actors();
        let names = names.map(|actor| actor.manager.clone().into_owned());
        self.names.extend(names);
    }

    /// The message if no version matches, once; `None` if one does, or if there is none.
    pub(super) fn take_unmatched(&mut self) -> Option<String> {
        if self.has_match || self.names.is_empty() {
            return None;
        }
        self.has_match = true;
        let names: Vec<&str> = self.names.iter().take(MOST).map(String::as_str).collect();
        let more = match self.names.len().saturating_sub(MOST) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let names = names.join(", ");
        Some(format!(
            "no version matches --by; these managers wrote: {names}{more}"
        ))
    }
}
