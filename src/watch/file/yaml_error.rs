//! The errors of YAML documents. Their words quote nothing of the text.

use serde_saphyr::Error;
use serde_saphyr::budget::BudgetBreach;

use super::error::{FileError, Language};

/// The error of a document that begins on this line. The parser's own message quotes the text.
pub(super) fn wrong(error: &Error, line: usize) -> FileError {
    let place = error.location();
    let of = |place: Option<u64>| usize::try_from(place.unwrap_or(1)).unwrap_or(1).max(1);
    let row = of(place.map(|place| place.line()));
    let column = of(place.map(|place| place.column()));
    FileError::new(line + row - 1, kind_of(cause(error))).against(Language::Yaml, column)
}

/// The error itself, without what surrounds it.
pub(super) fn cause(error: &Error) -> &Error {
    let mut cause = error;
    while let Error::AliasError { error, .. } | Error::WithSnippet { error, .. } = cause {
        cause = error;
    }
    cause
}

/// The kind of an error. The words quote nothing of the text: it may be a Secret, or a file that only a link led to.
fn kind_of(error: &Error) -> String {
    let words = match error {
        Error::Budget { breach, .. } => return too_much(breach),
        // This message would have the character.
        Error::Message { msg, .. } | Error::ExternalMessage { msg, .. }
            if msg.starts_with("unexpected character") =>
        {
            "found character that cannot start any token"
        }
        Error::Message { msg, .. } | Error::ExternalMessage { msg, .. } => msg,
        Error::UnknownAnchor { .. } => "unknown anchor",
        Error::Eof { .. } => "unexpected end of the document",
        Error::UnsupportedTag { .. } => "unsupported tag",
        Error::InvalidBinaryBase64 { .. } | Error::BinaryNotUtf8 { .. } => "invalid !!binary value",
        _ => "not valid YAML",
    };
    words.lines().next().unwrap_or_default().to_owned()
}

/// The message for an exceeded budget.
fn too_much(breach: &BudgetBreach) -> String {
    match breach {
        BudgetBreach::Depth { depth } => format!("values nested {depth} deep"),
        BudgetBreach::Nodes { .. }
        | BudgetBreach::Events { .. }
        | BudgetBreach::ScalarBytes { .. }
        | BudgetBreach::Aliases { .. }
        | BudgetBreach::AliasAnchorRatio { .. }
        | BudgetBreach::RecordedAnchorEvents { .. }
        | BudgetBreach::RecordedAnchorBytes { .. } => "aliases that expand too far".to_owned(),
        other => format!("a document over the limits: {other:?}"),
    }
}
