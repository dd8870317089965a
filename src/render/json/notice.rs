//! The records of `changes -o json` that describe a source or the run, and not a version of an object.

use serde::Serialize;

use crate::render::diff::ChangeType;

use super::{RefRecord, VERSION};

/// A record about a source or the run. Its fields are in the order of its schema; common fields come first.
#[derive(Debug, Serialize)]
pub struct Notice<'r> {
    v: u32,
    #[serde(rename = "type")]
    kind: &'static str,
    /// The time, by the local clock.
    seen: &'r str,
    /// The name of the context, or of the file.
    cluster: &'r str,
    /// The resource that is listed and watched; `None` for a record about the whole run.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'r str>,
    #[serde(flatten)]
    body: NoticeBody<'r>,
}

/// The part of such a record that depends on its type.
#[derive(Debug, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum NoticeBody<'r> {
    /// `synced`: a full listing is complete.
    Synced {
        /// The number of objects.
        count: usize,
    },
    /// `gap`: versions may be missing.
    Gap {
        /// The last resourceVersion before the gap.
        after: Option<&'r str>,
        /// The first resourceVersion after the gap.
        upto: Option<&'r str>,
        /// The cause, in one word.
        cause: &'static str,
    },
    /// `state`: the connection changed its state.
    State {
        /// The name of the state.
        state: &'r str,
        /// The cause.
        #[serde(skip_serializing_if = "Option::is_none")]
        cause: Option<&'r str>,
    },
    /// `undecodable`, for a watch line.
    Line {
        /// The parse error.
        cause: &'r str,
    },
    /// `undecodable`, for a version of a known object.
    Version {
        /// The parse error.
        cause: &'r str,
        /// The type that the record of the version would have.
        event: ChangeType,
        /// The object.
        #[serde(rename = "ref")]
        object_ref: RefRecord,
        /// The resourceVersion of the version before.
        from: Option<&'r str>,
        /// The resourceVersion of this version.
        to: Option<&'r str>,
    },
    /// `lookback`: how far back a source was read.
    Lookback {
        /// Why it stops there, in one word.
        end: &'static str,
        /// The revision after which every version that could be read is reported.
        from: Option<String>,
        /// The time of `from`.
        #[serde(skip_serializing_if = "Option::is_none")]
        time: Option<String>,
        /// The revision after which no version is missing.
        complete: Option<String>,
        /// The time of `complete`.
        #[serde(skip_serializing_if = "Option::is_none")]
        complete_time: Option<String>,
        /// Why the source could not be read.
        #[serde(skip_serializing_if = "Option::is_none")]
        cause: Option<String>,
        /// The objects with missing versions, because the server did not answer.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        missing: Vec<MissingRecord>,
        /// The objects with a compacted write in the window.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        compacted: Vec<CompactedRecord>,
    },
    /// `seam`: the divider between the past and what follows.
    Divider {
        /// The number of past versions reported.
        versions: usize,
        /// Whether live versions follow.
        live: bool,
        /// The managers whose versions `--people` leaves out.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<LeftOutRecord>,
    },
}

/// A manager whose versions are left out.
#[derive(Debug, Serialize)]
pub struct LeftOutRecord {
    /// Its name; `None` if the server recorded none.
    pub manager: Option<String>,
    /// The number of its versions.
    pub versions: usize,
}

/// An object with missing versions.
#[derive(Debug, Serialize)]
pub struct MissingRecord {
    /// The object.
    #[serde(rename = "ref")]
    pub object_ref: RefRecord,
    /// The cause.
    pub cause: String,
}

/// An object that was written in the window, without the version that shows it.
#[derive(Debug, Serialize)]
pub struct CompactedRecord {
    /// The object.
    #[serde(rename = "ref")]
    pub object_ref: RefRecord,
    /// Whether it was created in the window.
    #[serde(rename = "created")]
    pub is_creation: bool,
}

impl<'r> NoticeBody<'r> {
    /// Builds the record.
    pub fn record(self, seen: &'r str, cluster: &'r str, source: Option<&'r str>) -> Notice<'r> {
        Notice {
            v: VERSION,
            kind: self.kind(),
            seen,
            cluster,
            source,
            body: self,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            NoticeBody::Synced { .. } => "synced",
            NoticeBody::Gap { .. } => "gap",
            NoticeBody::State { .. } => "state",
            NoticeBody::Line { .. } | NoticeBody::Version { .. } => "undecodable",
            NoticeBody::Lookback { .. } => "lookback",
            NoticeBody::Divider { .. } => "seam",
        }
    }
}
