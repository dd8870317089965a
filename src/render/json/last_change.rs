//! The record of what changed just before an object failed, in the records of `status` and `trace`.

use serde::Serialize;

use super::RefRecord;

/// A change of an object, or of an object that it needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LastChangeRecord {
    /// The changed object; absent if it is the failed one.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub object: Option<RefRecord>,
    /// When it was changed; absent if that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// Whether the server recorded no time: `time` is that of another write before it.
    pub about: bool,
    /// The latest time at which it was changed, if no time is recorded; absent if that may be just now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// The field manager that changed it; absent if the server recorded none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Whether it was created. After one that was deleted, `changes` has the differences that the failure is about.
    pub created: bool,
    /// Whether it was deleted.
    pub deleted: bool,
    /// The first changed fields with their old and new values, as the text views show them.
    pub changes: Vec<String>,
    /// The first written fields, if their old values are compacted. The manager owns them, and wrote then or before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<String>,
    /// How many more fields changed, or were written.
    pub more: usize,
    /// What two managers do with the first field: `flipped 9 times in 25s between …`; absent if they do not fight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fight: Option<String>,
    /// What ties it to the failure.
    pub sign: SignRecord,
}

/// What ties a change to a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SignRecord {
    /// Nothing: it was only made before the failure.
    None,
    /// It changed the failed object, or an object that the kind of the failure is about.
    Possible,
    /// The failure or its words are about what it changed.
    Tied,
}
