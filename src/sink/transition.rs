//! A change of state on its way: which sinks it is for, and the message about it.

use jiff::{SignedDuration, Timestamp};

use crate::serve::ServedRow;
use crate::status::Status;

/// Which changes a sink gets.
#[derive(Clone, Debug, Default)]
pub struct TransitionFilter {
    /// The states before; empty for all.
    pub from: Vec<Status>,
    /// The states after.
    pub to: Vec<Status>,
    /// How long a state must last; `None` for not at all.
    pub lasts: Option<SignedDuration>,
    /// The types, as kubectl names them; empty for all.
    pub kinds: Vec<String>,
    /// The namespaces; empty for all.
    pub namespaces: Vec<String>,
}

impl TransitionFilter {
    /// Whether changes of this object are of interest.
    pub(super) fn is_about(&self, row: &ServedRow) -> bool {
        let is_of_kind =
            self.kinds.is_empty() || self.kinds.iter().any(|kind| row.is_of_type(kind));
        let namespace = row.object_ref.namespace.as_deref();
        let is_in = |namespace: &str| self.namespaces.iter().any(|own| own == namespace);
        is_of_kind && (self.namespaces.is_empty() || namespace.is_some_and(is_in))
    }

    /// Whether it takes a change between these states.
    pub(super) fn takes(&self, from: Option<Status>, to: Status) -> bool {
        let is_from = || from.is_some_and(|from| self.from.contains(&from));
        self.to.contains(&to) && (self.from.is_empty() || is_from())
    }
}

/// A message that can be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Its place in the outbox.
    pub seq: i64,
    /// The id of the change. It is the same in each attempt.
    pub id: String,
    /// The state before; `None` for a new object.
    pub from: Option<Status>,
    /// The state after.
    pub to: Status,
    /// When the change was noticed.
    pub time: Timestamp,
    /// The record of the object as JSON.
    pub record: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::testing::failed_pod;

    #[test]
    fn a_filter_is_about_objects_and_takes_changes() {
        let filter = TransitionFilter {
            from: vec![Status::Current],
            to: vec![Status::Failed],
            lasts: None,
            kinds: vec!["po".to_owned()],
            namespaces: vec!["shop".to_owned()],
        };
        assert!(filter.takes(Some(Status::Current), Status::Failed));
        assert!(!filter.takes(Some(Status::InProgress), Status::Failed));
        assert!(!filter.takes(None, Status::Failed));
        assert!(!filter.takes(Some(Status::Current), Status::InProgress));
        let mut pod = failed_pod("web", "");
        assert!(filter.is_about(&pod));
        pod.object_ref.namespace = Some("prod".into());
        assert!(!filter.is_about(&pod));
        pod.object_ref.namespace = None;
        assert!(!filter.is_about(&pod));
    }
}
