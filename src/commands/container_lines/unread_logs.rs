//! `UnreadLogs`: the logs that could not be read, or not to their end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::commands::CommandError;
use crate::render::count::plural;
use crate::source::ClusterId;
use crate::source::log::{LogContainer, LogRefusal};

/// The code of an answer to a user without the right.
const FORBIDDEN: u16 = 403;

/// The code of an answer to a request that fits no state of the container, and the kubelet's words about `previous` if no
/// instance has ended.
const BAD_REQUEST: u16 = 400;
const NO_PREVIOUS: &str = "previous terminated container";

/// How long a message about one log is about the others, too.
const LATELY: Duration = Duration::from_secs(10);

/// The logs that could not be read, by their containers. Those with the same reason have one message.
#[derive(Debug, Default)]
pub(in crate::commands) struct UnreadLogs {
    refusals: BTreeMap<Arc<LogContainer>, LogRefusal>,
    reasons: BTreeSet<(ClusterId, String)>,
    /// When a message with this text was shown about a log of this cluster.
    said: BTreeMap<(ClusterId, String), Duration>,
    /// How many of them had no message of their own since the last count of them.
    unsaid: usize,
    without_previous: Vec<LogRefusal>,
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
        if let Some(refusal) = self.refusals.remove(container) {
            let reason = without_names(&refusal.text, container);
            self.reasons.remove(&(container.cluster.clone(), reason));
        }
    }

    /// Whether a text about a log was not shown lately about another log of its cluster. If a server goes away, all logs have
    /// the same error.
    pub(in crate::commands) fn is_news(
        &mut self,
        container: &LogContainer,
        text: &str,
        now: Duration,
    ) -> bool {
        self.said.retain(|_, said| now < *said + LATELY);
        let key = (container.cluster.clone(), without_names(text, container));
        self.said.insert(key, now).is_none()
    }

    /// The log was refused. Returns whether that needs a message.
    pub(in crate::commands) fn insert(
        &mut self,
        container: &Arc<LogContainer>,
        refusal: &LogRefusal,
    ) -> bool {
        if refusal.code == BAD_REQUEST && refusal.text.contains(NO_PREVIOUS) {
            self.without_previous.push(refusal.clone());
            return false;
        }
        let reason = without_names(&refusal.text, container);
        let is_new = self.reasons.insert((container.cluster.clone(), reason));
        self.unsaid += usize::from(!is_new);
        self.refusals.insert(container.clone(), refusal.clone());
        is_new
    }

    /// A line about the containers that have no instance before the present one, of so many in all; `None` if all have one, or
    /// if none has.
    pub(in crate::commands) fn without_previous(&self, total: usize) -> Option<String> {
        let count = self.without_previous.len();
        (1..total).contains(&count).then(|| {
            let containers = plural(total, "container");
            format!("{count} of {containers} have no previous instance")
        })
    }

    /// Lines of the log are missing, or may be.
    pub(in crate::commands) fn note_incomplete(&mut self, container: &Arc<LogContainer>) {
        let text = "error: the log is not complete".into();
        let incomplete = LogRefusal { code: 0, text };
        self.refusals.entry(container.clone()).or_insert(incomplete);
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
        if let Some(refusal) = self.without_previous.first()
            && self.without_previous.len() == total
        {
            let error = CommandError::of_cause(&refusal.text);
            return Some(match total {
                1 => error,
                _ => error.hint(format!(
                    "none of the {total} containers has a previous instance"
                )),
            });
        }
        let (container, refusal) = self.refusals.iter().next()?;
        let error = if total == 1 {
            CommandError::of_cause(&refusal.text)
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

/// A text about a log without the names of its Pod and its container: the same for all logs with this reason.
fn without_names(text: &str, container: &LogContainer) -> String {
    let text = text.replace(&*container.pod.name, "*");
    text.replace(&*container.name, "*")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::container_lines::line_order::testing::container;

    #[test]
    fn the_same_error_of_many_logs_is_shown_once_in_a_while() {
        let mut unread = UnreadLogs::default();
        for (name, text, second, expect) in [
            ("a", "dial NAME: refused", 1, true),
            ("b", "dial NAME: refused", 2, false),
            ("b", "no route", 3, true),
            ("c", "dial NAME: refused", 11, false),
            ("a", "dial NAME: refused", 30, true),
        ] {
            let now = Duration::from_secs(second);
            let pod = format!("web-{name}");
            let text = text.replace("NAME", &pod);
            let is_news = unread.is_news(&container(&pod, "app"), &text, now);
            assert_eq!(is_news, expect, "{name} {text} {second}");
        }
    }
    /// The messages about these refusals of the Pods `web-0`, `web-1`, …, and the error at the end.
    fn check(refusals: &[(u16, &str)], total: usize) -> String {
        let mut unread = UnreadLogs::default();
        let mut said = Vec::new();
        for (number, (code, text)) in refusals.iter().enumerate() {
            let pod = format!("web-{number}");
            let text: Arc<str> = text.replace("NAME", &pod).into();
            let refusal = LogRefusal { code: *code, text };
            if unread.insert(&container(&pod, "app"), &refusal) {
                said.push(refusal.text.to_string());
            }
        }
        said.extend(unread.without_previous(total));
        let error = unread.error(total, false);
        said.extend(error.map(|error| error.to_string()));
        said.join("; ")
    }

    #[test]
    fn logs_with_the_same_reason_have_one_message() {
        let waiting = (400, r#"container "app" in pod "NAME" is waiting to start"#);
        let pulling = (400, r#"container "app" in pod "NAME" is pulled"#);
        assert_eq!(
            check(&[waiting, waiting, pulling], 4),
            "container \"app\" in pod \"web-0\" is waiting to start; container \"app\" in pod \"web-2\" is pulled; \
             error: 3 of 4 logs could not be read"
        );
    }

    #[test]
    fn a_container_without_an_instance_before_is_no_error_beside_others() {
        let none = (
            400,
            r#"previous terminated container "app" in pod "NAME" not found"#,
        );
        let text = none.1.replace("NAME", "web-0");
        assert_eq!(
            check(&[none, none], 3),
            "2 of 3 containers have no previous instance"
        );
        assert_eq!(check(&[none, none], 2), text);
        assert_eq!(check(&[none], 1), text);
    }
}
