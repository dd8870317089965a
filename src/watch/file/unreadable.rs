//! Decides whether a source can read an object of a file.

use super::super::envelope::item_head;
use crate::object::{Doc, Kind, ParseError};

/// The metadata fields with the identity and the version of an object.
const HEAD: [&str; 5] = [
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "deletionTimestamp",
];

/// Why a source cannot read an object, if that is so. The text contains no values of the object.
pub(super) fn unreadable(doc: &Doc) -> Option<String> {
    if let Ok(head) = item_head(doc.text()) {
        return (!head.has_type_of(doc.root())).then(|| ParseError::TwoTypes.to_string());
    }
    let meta = doc.root().get("metadata");
    let wrong = HEAD.iter().find_map(|field| {
        let value = meta?.get(field)?;
        let what = match value.kind() {
            Kind::Null | Kind::String => return None,
            Kind::Bool => "a boolean",
            Kind::Number => "a number",
            Kind::Array => "a list",
            Kind::Object => "an object",
        };
        Some(format!("metadata.{field} must be a string, not {what}"))
    });
    Some(wrong.unwrap_or_else(|| "apiVersion, kind or metadata cannot be read".to_owned()))
}
