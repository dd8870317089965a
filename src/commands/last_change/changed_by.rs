//! `ChangedBy`: the field manager behind a change, as far as the server shows it.

use crate::object::managed_fields::{By, ManagedFieldsEntry};

/// The field manager behind a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum ChangedBy {
    /// It made the change.
    Recorded(String),
    /// It owns the fields, so it probably made the change.
    Probably(String),
    /// It owned the removed fields. Who removed them is not recorded.
    Was(String),
    #[default]
    Unknown,
}

impl ChangedBy {
    pub(super) fn of(by: By<'_, '_>) -> ChangedBy {
        let name = |entry: &ManagedFieldsEntry<'_>| entry.manager.clone().into_owned();
        match by {
            By::Actor(writer) | By::Took { actor: writer, .. } => ChangedBy::Recorded(name(writer)),
            By::Owner(owner) => ChangedBy::Probably(name(owner)),
            By::Was(owner) => ChangedBy::Was(name(owner)),
        }
    }

    /// The manager, if the server recorded that it made the change.
    pub(super) fn recorded(&self) -> Option<String> {
        match self {
            ChangedBy::Recorded(by) => Some(by.clone()),
            ChangedBy::Probably(_) | ChangedBy::Was(_) | ChangedBy::Unknown => None,
        }
    }

    /// What a sentence says about it after the verb.
    pub(super) fn text(&self) -> String {
        match self {
            ChangedBy::Recorded(by) => format!(" by {by}"),
            ChangedBy::Probably(by) => format!(" probably by {by}"),
            ChangedBy::Was(_) | ChangedBy::Unknown => String::new(),
        }
    }

    /// What a sentence says about it at the end: `was helm's`.
    pub(super) fn note(&self) -> Option<String> {
        match self {
            ChangedBy::Was(was) => Some(format!("was {was}'s")),
            ChangedBy::Recorded(_) | ChangedBy::Probably(_) | ChangedBy::Unknown => None,
        }
    }
}
