//! `UnreadLogs`: the logs that could not be read, or not to their end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::commands::CommandError;
use crate::render::count::plural;
use crate::source::ClusterId;
use crate::source::log::{LogContainer, LogRefusal};

/// The code of an answer to a user without the right.
const FORBIDDEN: u16 = 403;

/// How long a message about one log is about the others, too.
const LATELY: Duration = Duration::from_secs(10);

/// The logs that could not be read, by their containers. In one namespace of a cluster, only one message says that the right is missing.
#[derive(Debug, Default)]
pub(in crate::commands) struct UnreadLogs {
    refusals: BTreeMap<Arc<LogContainer>, LogRefusal>,
    /// When a message with this text was shown about a log of this cluster.
    said: BTreeMap<(ClusterId, Arc<str>), Duration>,
    /// How many of them had no message of their own since the last count of them.
    unsaid: usize,
}

impl UnreadLogs {
    /// How many there are.
    pub(in crate::commands) fn len(&self) -> usize {
        self.refusals.len()
    }

    /// Whether the log could not be read.
    pub(in crate::commands) fn has(&self, container: &LogContainer) -> bool {
        self.refusals.contains_key(container)
    }

    /// The log can be read again.
    pub(in crate::commands) fn remove(&mut self, container: &LogContainer) {
        self.refusals.remove(container);
    }

    /// Whether a text about a log was not shown lately about another log of its cluster. If a server goes away, all logs have
    /// the same error.
    pub(in crate::commands) fn is_news(
        &mut self,
        container: &LogContainer,
        text: &Arc<str>,
        now: Duration,
    ) -> bool {
        self.said.retain(|_, said| now < *said + LATELY);
        let key = (container.cluster.clone(), text.clone());
        self.said.insert(key, now).is_none()
    }

    /// The log was refused. Returns whether that needs a message.
    pub(in crate::commands) fn insert(
        &mut self,
        container: &Arc<LogContainer>,
        refusal: &LogRefusal,
    ) -> bool {
        let is_known = self.is_known_lack(container, refusal);
        self.unsaid += usize::from(is_known);
        self.refusals.insert(container.clone(), refusal.clone());
        !is_known
    }

    /// Lines of the log are missing, or may be.
    pub(in crate::commands) fn note_incomplete(&mut self, container: &Arc<LogContainer>) {
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
    pub(in crate::commands) fn take_unsaid(&mut self) -> Option<String> {
        let unsaid = std::mem::take(&mut self.unsaid);
        let more = plural(unsaid, "more log");
        (unsaid > 0).then(|| format!("{more} cannot be read, for the same reason"))
    }

    /// The error about them, of so many logs in all, of one or several clusters; `None` if there are none.
    pub(in crate::commands) fn error(
        &self,
        total: usize,
        are_several: bool,
    ) -> Option<CommandError> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::container_lines::line_order::testing::container;

    #[test]
    fn the_same_error_of_many_logs_is_shown_once_in_a_while() {
        let mut unread = UnreadLogs::default();
        let refused: Arc<str> = "connection refused".into();
        for (name, text, second, expect) in [
            ("a", &refused, 1, true),
            ("b", &refused, 2, false),
            ("b", &"no route".into(), 3, true),
            ("c", &refused, 11, false),
            ("a", &refused, 30, true),
        ] {
            let now = Duration::from_secs(second);
            let is_news = unread.is_news(&container(name, "app"), text, now);
            assert_eq!(is_news, expect, "{name} {text} {second}");
        }
    }
}
