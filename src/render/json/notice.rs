//! The records of `changes -o json` that are no versions of objects: what is told of a source, or of the run.

use serde::Serialize;

use crate::render::diff::ChangeType;

use super::{RefRecord, VERSION};

/// Such a record. Its fields stand as in its schema: what all records have first.
#[derive(Debug, Serialize)]
pub struct Notice<'r> {
    v: u32,
    #[serde(rename = "type")]
    kind: &'static str,
    /// When, by our clock.
    seen: &'r str,
    /// The name of the context, or of the file.
    cluster: &'r str,
    /// What is listed and watched; none for what is of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'r str>,
    #[serde(flatten)]
    body: NoticeBody<'r>,
}

/// What such a record says.
#[derive(Debug, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum NoticeBody<'r> {
    /// `synced`: a full listing is in.
    Synced {
        /// How many objects there are.
        count: usize,
    },
    /// `gap`: versions may be missing.
    Gap {
        /// The last resourceVersion that is known to be complete.
        after: Option<&'r str>,
        /// The one from which on all is known again.
        upto: Option<&'r str>,
        /// Why, in a word.
        cause: &'static str,
    },
    /// `state`: the connection has come to another state.
    State {
        /// Its name.
        state: &'r str,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none")]
        cause: Option<&'r str>,
    },
    /// `undecodable`, of a line.
    Line {
        /// What is wrong with it.
        cause: &'r str,
    },
    /// `undecodable`, of a version that came.
    Version {
        /// What is wrong with it.
        cause: &'r str,
        /// What its type would have been.
        event: ChangeType,
        /// Which object.
        #[serde(rename = "ref")]
        object_ref: RefRecord,
        /// The resourceVersion before.
        from: Option<&'r str>,
        /// The resourceVersion now.
        to: Option<&'r str>,
    },
    /// `lookback`: how far back a source was looked at.
    Lookback {
        /// Why it goes no further, in a word.
        end: &'static str,
        /// The revision after which each version is told.
        from: Option<String>,
        /// When that was.
        #[serde(skip_serializing_if = "Option::is_none")]
        time: Option<String>,
        /// The revision after which nothing at all is missing.
        complete: Option<String>,
        /// When that was.
        #[serde(skip_serializing_if = "Option::is_none")]
        complete_time: Option<String>,
        /// Why it was not read.
        #[serde(skip_serializing_if = "Option::is_none")]
        cause: Option<String>,
        /// The objects of which versions are missing because the server did not answer.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        missing: Vec<MissingRecord>,
    },
    /// `seam`: the end of the past.
    Divider {
        /// How many records of versions are past.
        versions: usize,
        /// Whether what follows is live.
        live: bool,
    },
}

/// An object of which versions are missing.
#[derive(Debug, Serialize)]
pub struct MissingRecord {
    /// Which object.
    #[serde(rename = "ref")]
    pub object_ref: RefRecord,
    /// Why.
    pub cause: String,
}

impl<'r> NoticeBody<'r> {
    /// The record that says it.
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
