//! `Mark`: an event of a source that is not a version, as a row.

use std::sync::Arc;

use jiff::Timestamp;

use super::schema::Checksum;
use crate::object::ResourceVersion;
use crate::source::{Event, Gap, GapCause};

/// An event of a source that is not a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The source continues what was recorded before, up to this version. So it is of the same history.
    Resumed {
        /// The last recorded version.
        version: ResourceVersion,
    },
    /// All objects up to this version are recorded.
    Synced {
        /// The number of objects.
        count: usize,
        /// The version of the listing.
        version: ResourceVersion,
    },
    /// Versions are missing.
    Gap(Gap),
    /// The state of the source changed.
    State {
        /// The name of the state: `live`, `retrying`.
        name: Arc<str>,
        /// The reason, if there is one.
        cause: Option<Arc<str>>,
    },
    /// A line could not be decoded.
    Undecodable {
        /// The error.
        detail: Arc<str>,
    },
    /// A version did not come into this copy of a record. From then on an object may be older here than it was, or missing.
    Lost {
        /// The version, if it is known.
        version: ResourceVersion,
    },
}

impl Mark {
    /// The mark of an event; `None` for a version.
    pub(super) fn of(event: &Event) -> Option<Mark> {
        Some(match event {
            Event::Object { .. } => return None,
            Event::Synced { count, version, .. } => Mark::Synced {
                count: *count,
                version: version.clone(),
            },
            Event::Gap(gap) => Mark::Gap(gap.clone()),
            Event::State(state) => Mark::State {
                name: state.name().into(),
                cause: state.cause().cloned(),
            },
            Event::Undecodable { detail } => Mark::Undecodable {
                detail: detail.clone(),
            },
        })
    }
}

/// A mark as its columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MarkRow {
    /// The number of the version that follows.
    pub(super) version: i64,
    pub(super) source: i64,
    /// When it arrived, in microseconds since the epoch.
    pub(super) seen: i64,
    pub(super) kind: String,
    pub(super) after: Option<String>,
    pub(super) upto: Option<String>,
    pub(super) count: Option<i64>,
    pub(super) cause: Option<String>,
}

impl MarkRow {
    pub(super) fn new(source: i64, seen: Timestamp, mark: &Mark) -> MarkRow {
        let row = MarkRow {
            source,
            seen: seen.as_microsecond(),
            ..MarkRow::default()
        };
        let text = |version: &ResourceVersion| Some(version.as_str().to_owned());
        match mark {
            Mark::Resumed { version } => MarkRow {
                kind: "resumed".to_owned(),
                upto: text(version),
                ..row
            },
            Mark::Synced { count, version } => MarkRow {
                kind: "synced".to_owned(),
                upto: text(version),
                count: i64::try_from(*count).ok(),
                ..row
            },
            Mark::Gap(Gap { after, upto, cause }) => MarkRow {
                kind: "gap".to_owned(),
                after: text(after),
                upto: text(upto),
                count: match cause {
                    GapCause::SlowSubscriber { dropped } => i64::try_from(*dropped).ok(),
                    _ => None,
                },
                cause: Some(cause.name().to_owned()),
                ..row
            },
            Mark::State { name, cause } => MarkRow {
                kind: name.to_string(),
                cause: cause.as_deref().map(str::to_owned),
                ..row
            },
            Mark::Undecodable { detail } => MarkRow {
                kind: "undecodable".to_owned(),
                cause: Some(detail.to_string()),
                ..row
            },
            Mark::Lost { version } => MarkRow {
                kind: "lost".to_owned(),
                upto: text(version),
                ..row
            },
        }
    }

    /// The mark of the columns; `None` if they are those of none.
    pub(super) fn mark(&self) -> Option<Mark> {
        let version = |text: &Option<String>| text.as_deref().map(ResourceVersion::new);
        let cause = self.cause.as_deref();
        Some(match &*self.kind {
            "resumed" => Mark::Resumed {
                version: version(&self.upto)?,
            },
            "synced" => Mark::Synced {
                count: usize::try_from(self.count?).ok()?,
                version: version(&self.upto)?,
            },
            "gap" => Mark::Gap(Gap {
                after: version(&self.after)?,
                upto: version(&self.upto)?,
                cause: gap_cause(cause?, self.count)?,
            }),
            "undecodable" => Mark::Undecodable {
                detail: cause?.into(),
            },
            "lost" => Mark::Lost {
                version: version(&self.upto)?,
            },
            name => Mark::State {
                name: name.into(),
                cause: cause.map(Into::into),
            },
        })
    }

    pub(super) fn checksum(&self) -> i64 {
        let mut sum = Checksum::new();
        for number in [self.version, self.source, self.seen] {
            sum.number(number);
        }
        sum.text(Some(&self.kind));
        sum.text(self.after.as_deref());
        sum.text(self.upto.as_deref());
        sum.number(self.count.unwrap_or(-1));
        sum.text(self.cause.as_deref());
        sum.value()
    }
}

/// The cause with this name.
fn gap_cause(name: &str, dropped: Option<i64>) -> Option<GapCause> {
    let dropped = dropped.and_then(|count| u64::try_from(count).ok());
    let all = [
        GapCause::Expired,
        GapCause::Undecodable,
        GapCause::Polled,
        GapCause::Unseen,
        GapCause::Restored,
        GapCause::Refused,
        GapCause::NotOffered,
        GapCause::Unanswered,
        GapCause::SlowSubscriber {
            dropped: dropped.unwrap_or(0),
        },
    ];
    all.into_iter().find(|cause| cause.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_as_it_was_written() {
        let version = ResourceVersion::new;
        let gap = |cause| {
            Mark::Gap(Gap {
                after: version("4"),
                upto: version("9"),
                cause,
            })
        };
        for mark in [
            Mark::Resumed {
                version: version("12"),
            },
            Mark::Synced {
                count: 7,
                version: version("12"),
            },
            gap(GapCause::Expired),
            gap(GapCause::SlowSubscriber { dropped: 3 }),
            gap(GapCause::Restored),
            Mark::State {
                name: "retrying".into(),
                cause: Some("connection refused".into()),
            },
            Mark::State {
                name: "live".into(),
                cause: None,
            },
            Mark::Undecodable {
                detail: "eof".into(),
            },
            Mark::Lost {
                version: version("7"),
            },
        ] {
            let row = MarkRow::new(1, Timestamp::UNIX_EPOCH, &mark);
            assert_eq!(row.mark(), Some(mark));
        }
    }
}
