//! `UnreadLogs`: the logs that could not be read, or not to their end.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::commands::CommandError;
use crate::render::count::plural;
use crate::source::log::{LogContainer, LogRefusal};

/// The code of an answer to a user without the right.
const FORBIDDEN: u16 = 403;

/// The logs that could not be read, by their containers. In one namespace of a cluster, only one message says that the right is missing.
#[derive(Debug, Default)]
pub(super) struct UnreadLogs {
    refusals: BTreeMap<Arc<LogContainer>, LogRefusal>,
    /// How many of them had no message of their own since the last count of them.
    unsaid: usize,
}

impl UnreadLogs {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.refusals.len()
    }

    /// The log can be read again.
    pub(super) fn remove(&mut self, container: &LogContainer) {
        self.refusals.remove(container);
    }

    /// The log was refused. Returns whether that needs a message.
    pub(super) fn insert(&mut self, container: &Arc<LogContainer>, refusal: &LogRefusal) -> bool {
        let is_known = self.is_known_lack(container, refusal);
        self.unsaid += usize::from(is_known);
        self.refusals.insert(container.clone(), refusal.clone());
        !is_known
    }

    /// Lines of the log are missing, or may be.
    pub(super) fn note_incomplete(&mut self, container: &Arc<LogContainer>) {
        let text = "error: the log is not complete".into();
        let incomplete = LogRefusal { code: 0, text };
        self.refusals.entry(container.clone()).or_insert(incomplete);
    }

    /// Whether a message has said that the right to logs of this namespace is missing.
    fn is_known_lack(&self, container: &LogContainer, refusal: &LogRefusal) -> bool {
        let mut refusals = self.refusals.iter();
        refusal.code == FORBIDDEN
            && refusals.any(|(other, known)| {
                known.code == FORBIDDEN
                    && other.cluster == container.cluster
                    && other.pod.namespace == container.pod.namespace
            })
    }

    /// A line about the logs that have had no message since the last call.
    pub(super) fn take_unsaid(&mut self) -> Option<String> {
        let unsaid = std::mem::take(&mut self.unsaid);
        let more = plural(unsaid, "more log");
        (unsaid > 0).then(|| format!("{more} cannot be read, for the same reason"))
    }

    /// The error about them, of so many logs in all, of one or several clusters; `None` if there are none.
    pub(super) fn error(&self, total: usize, are_several: bool) -> Option<CommandError> {
        let (container, refusal) = self.refusals.iter().next()?;
        let error = if total == 1 {
            CommandError::failed(&refusal.text)
        } else {
            let are_begun = self.refusals.values().any(|refusal| refusal.code == 0);
            let end = if are_begun { " to the end" } else { "" };
            let count = self.refusals.len();
            CommandError::failed(format!(
                "error: {count} of {total} logs could not be read{end}"
            ))
        };
        let namespace = container.pod.namespace.as_deref().unwrap_or_default();
        let context = are_several.then(|| format!(" --context {}", container.cluster.0));
        let context = context.unwrap_or_default();
        Some(match refusal.code {
            FORBIDDEN => error.hint(format!(
                "try `kubectl auth can-i get pods/log -n {namespace}{context}`"
            )),
            _ => error,
        })
    }
}
