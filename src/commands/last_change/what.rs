//! What a change did, when it was made, and who made it.

use crate::object::managed_fields::{By, ManagedFieldsEntry};
use crate::render::age::{age, interval};
use jiff::Timestamp;

/// When a change was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Made {
    /// The server recorded this time.
    At(Timestamp),
    /// Other writes before and after it have recorded times. Without the second one, it may be just now.
    Between(Timestamp, Option<Timestamp>),
}

/// What a change did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// It changed fields.
    Changed(FieldChanges),
    /// It wrote fields whose old values are not known.
    Wrote(WrittenFields),
    /// It created the object.
    Created,
    /// It created the object anew, with these fields of the former one changed.
    Recreated(FieldChanges),
    /// It deleted the object.
    Deleted,
}

/// The fields that a change changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FieldChanges {
    /// The first few, with the arrow between the values left open.
    pub(super) first: Vec<[String; 2]>,
    /// How many more there are.
    pub(super) more: usize,
}

/// The fields of a write whose old values are not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WrittenFields {
    /// The paths of the first few.
    pub(super) first: Vec<String>,
    /// How many more there are.
    pub(super) more: usize,
    /// Whether the writer owns no other field. Otherwise its last write may have changed another one.
    pub(super) is_all: bool,
    pub(super) old: OldValues,
}

/// Why the old values of a write are not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OldValues {
    /// The server has compacted them.
    Compacted,
    /// They were not read: requests or time ran out, or the server does not answer them.
    Unread,
}

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

impl Made {
    /// ` 30s ago`.
    pub(super) fn ago(self, now: Timestamp) -> String {
        match self {
            Made::At(at) => format!(" {} ago", age(at, now)),
            Made::Between(from, until) => {
                format!(" {} ago", interval(from, until.unwrap_or(now), now))
            }
        }
    }

    /// The earliest time at which it may have been made.
    pub(super) fn time(self) -> Timestamp {
        let (Made::At(time) | Made::Between(time, _)) = self;
        time
    }
}

impl WrittenFields {
    /// `containers[web].image, 2 more`.
    pub(super) fn text(&self) -> String {
        let more = match self.more {
            0 => String::new(),
            more => format!(", {more} more"),
        };
        format!("{}{more}", self.first.join(", "))
    }

    pub(super) fn old_values(&self) -> &'static str {
        match (self.first.len() + self.more, self.old) {
            (1, OldValues::Compacted) => "the old value is compacted",
            (1, OldValues::Unread) => "the old value was not read",
            (_, OldValues::Compacted) => "the old values are compacted",
            (_, OldValues::Unread) => "the old values were not read",
        }
    }
}

impl FieldChanges {
    pub(super) fn texts(&self, arrow: &str) -> Vec<String> {
        self.first.iter().map(|parts| parts.join(arrow)).collect()
    }

    pub(super) fn text(&self, arrow: &str) -> String {
        let first = self.texts(arrow);
        let more = match self.more {
            0 => String::new(),
            more => format!(", {more} more"),
        };
        format!("{}{more}", first.join(", "))
    }
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
