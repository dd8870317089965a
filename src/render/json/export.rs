//! The records of `store export`: what a record has, with the columns of its view `versions`.

use serde::Serialize;
use serde_json::value::RawValue;

use super::VERSION;

/// A record of an export. Its fields are in the order of its schema; common fields come first.
#[derive(Debug, Serialize)]
pub struct ExportRecord<'r> {
    v: u32,
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(flatten)]
    body: ExportBody<'r>,
}

/// The part of such a record that depends on its type.
#[derive(Debug, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum ExportBody<'r> {
    /// `version`: a version of an object.
    Version {
        /// When it arrived, by the server's clock.
        time: String,
        /// The context with which it was recorded.
        cluster: &'r str,
        /// The `apiVersion`.
        api_version: &'r str,
        /// The kind.
        kind: &'r str,
        /// The namespace; `None` for cluster-scoped objects.
        namespace: Option<&'r str>,
        /// The name.
        name: &'r str,
        /// The field managers with the newest time.
        managers: Vec<&'r str>,
        /// The resourceVersion.
        revision: &'r str,
        /// Why it was sent.
        why: &'static str,
        /// Whether it was read back from the server's history, so that it arrived later than it was written.
        past: bool,
        /// The object.
        object: Box<RawValue>,
    },
    /// `hole`: a time of which versions may be missing.
    Hole {
        /// The context.
        cluster: &'r str,
        /// The resource.
        source: String,
        /// The namespace of the source; `None` for all.
        namespace: Option<&'r str>,
        /// The last recorded revision before it.
        after: String,
        /// The first recorded revision after it.
        upto: String,
        /// When it begins.
        since: String,
        /// When it ends.
        until: String,
        /// Why it is there; `None` if nobody recorded.
        #[serde(skip_serializing_if = "Option::is_none")]
        cause: Option<&'r str>,
    },
    /// `damaged`: a part of a file cannot be read.
    Damaged {
        /// The error, with the path of the file.
        cause: String,
    },
}

impl<'r> ExportBody<'r> {
    /// Builds the record.
    pub fn record(self) -> ExportRecord<'r> {
        let kind = match &self {
            ExportBody::Version { .. } => "version",
            ExportBody::Hole { .. } => "hole",
            ExportBody::Damaged { .. } => "damaged",
        };
        ExportRecord {
            v: VERSION,
            kind,
            body: self,
        }
    }
}
