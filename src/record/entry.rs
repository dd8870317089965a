//! `RecordEntry`: one entry of a file of a record, and its form outside of files: words with names, and a text.

use std::sync::Arc;

use jiff::Timestamp;

use super::block::RecordedWhy;
use super::file_reader::RecordedVersion;
use super::mark::{Mark, MarkRow};
use super::schema::SourceRow;
use crate::object::{ObjectRef, ResourceVersion};
use crate::source::{ClusterId, SourceKey};
use crate::watch::Reader;

/// One entry of a file.
#[derive(Clone, Debug)]
pub struct RecordEntry {
    /// The source that it came from. The cluster has the name under which it was recorded.
    pub source: Arc<SourceKey>,
    /// What it says.
    pub content: EntryContent,
}

/// What an entry says.
#[derive(Clone, Debug)]
pub enum EntryContent {
    /// A version of an object.
    Version(RecordedVersion),
    /// An event of the source that is not a version, and when it arrived.
    Mark {
        /// When it arrived.
        seen: Timestamp,
        /// The event.
        mark: Mark,
    },
    /// Everything up to a version is among the entries before.
    Reached {
        /// The version.
        version: ResourceVersion,
        /// When that was so.
        at: Timestamp,
    },
    /// A version that cannot be passed on.
    Missing {
        /// The version, if it is known.
        version: ResourceVersion,
        /// When it arrived.
        seen: Timestamp,
        /// Why, in a few words.
        cause: String,
    },
}

/// A word with a name.
pub type EntryField = (&'static str, String);

impl RecordEntry {
    /// The object of a version; `None` for other entries.
    pub fn object(&self) -> Option<&ObjectRef> {
        match &self.content {
            EntryContent::Version(recorded) => Some(&recorded.version.object),
            EntryContent::Mark { .. }
            | EntryContent::Reached { .. }
            | EntryContent::Missing { .. } => None,
        }
    }

    /// When the entry arrived.
    pub fn seen(&self) -> Timestamp {
        match &self.content {
            EntryContent::Version(recorded) => recorded.seen,
            EntryContent::Mark { seen, .. } | EntryContent::Missing { seen, .. } => *seen,
            EntryContent::Reached { at, .. } => *at,
        }
    }

    /// The entry as words with names. The text of a version is apart ([`RecordEntry::text`]).
    pub fn fields(&self) -> Vec<EntryField> {
        let watch = serde_json::to_string(&SourceRow::new(&self.source)).unwrap_or_default();
        let mut fields = vec![("watch", watch), ("seen", self.seen().to_string())];
        let rv = |version: &ResourceVersion| ("rv", version.as_str().to_owned());
        match &self.content {
            EntryContent::Version(RecordedVersion { why, version, .. }) => {
                let object = &version.object;
                fields.push(("type", "version".to_owned()));
                fields.push(rv(&version.version));
                fields.push(("why", why.name().to_owned()));
                fields.push(("past", why.past.to_string()));
                fields.push(("apiVersion", object.api_version.to_string()));
                fields.push(("kind", object.kind.to_string()));
                fields.extend(
                    object
                        .namespace
                        .iter()
                        .map(|it| ("namespace", it.to_string())),
                );
                fields.push(("name", object.name.to_string()));
            }
            EntryContent::Mark { seen, mark } => {
                let row = MarkRow::new(0, *seen, mark);
                fields.push(("type", "mark".to_owned()));
                fields.push(("mark", row.kind));
                fields.extend(row.after.map(|it| ("after", it)));
                fields.extend(row.upto.map(|it| ("upto", it)));
                fields.extend(row.count.map(|it| ("count", it.to_string())));
                fields.extend(row.cause.map(|it| ("cause", it)));
            }
            EntryContent::Reached { version, .. } => {
                fields.push(("type", "reached".to_owned()));
                fields.push(rv(version));
            }
            EntryContent::Missing { version, cause, .. } => {
                fields.push(("type", "missing".to_owned()));
                fields.push(rv(version));
                fields.push(("cause", cause.clone()));
            }
        }
        fields
    }

    /// The text of a version: the whole object as JSON.
    pub fn text(&self) -> Option<String> {
        match &self.content {
            EntryContent::Version(recorded) => Some(recorded.version.body.text().to_string()),
            EntryContent::Mark { .. }
            | EntryContent::Reached { .. }
            | EntryContent::Missing { .. } => None,
        }
    }

    /// The entry of these words and this text, from a cluster with this name; `None` if they are those of none.
    pub fn parse(
        field: &dyn Fn(&str) -> Option<String>,
        text: Option<&[u8]>,
        cluster: &ClusterId,
    ) -> Option<RecordEntry> {
        let row: SourceRow = serde_json::from_str(&field("watch")?).ok()?;
        let source = row.key(cluster);
        let seen: Timestamp = field("seen")?.parse().ok()?;
        let rv = || Some(ResourceVersion::new(field("rv")?));
        let content = match &*field("type")? {
            "version" => {
                let why = RecordedWhy::named(&field("why")?, field("past")? == "true")?;
                let version = Reader::new(&source).item(text?).ok()?;
                let version = Arc::new(version);
                EntryContent::Version(RecordedVersion { why, seen, version })
            }
            "mark" => {
                let row = MarkRow {
                    kind: field("mark")?,
                    after: field("after"),
                    upto: field("upto"),
                    count: field("count").and_then(|count| count.parse().ok()),
                    cause: field("cause"),
                    ..MarkRow::default()
                };
                let mark = row.mark()?;
                EntryContent::Mark { seen, mark }
            }
            "reached" => EntryContent::Reached {
                version: rv()?,
                at: seen,
            },
            "missing" => EntryContent::Missing {
                version: rv()?,
                seen,
                cause: field("cause")?,
            },
            _ => return None,
        };
        let source = Arc::new(source);
        Some(RecordEntry { source, content })
    }
}
