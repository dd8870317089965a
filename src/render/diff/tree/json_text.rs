//! Formats values as JSON in display text.

use crate::diff::{Content, Shown};

/// Appends a value as JSON in one line. A Secret value becomes its placeholder, without quotes.
fn json(shown: Shown<'_>, out: &mut String) {
    match shown.content() {
        Content::Null => out.push_str("null"),
        Content::Bool(bool) => out.push_str(if bool { "true" } else { "false" }),
        Content::Number(digits) => out.push_str(digits),
        Content::Redacted(redacted) => out.push_str(&redacted.to_string()),
        Content::Text(text) => out.push_str(&string(&text)),
        Content::Array => {
            out.push('[');
            for (index, item) in shown.items().enumerate() {
                out.push_str(if index == 0 { "" } else { ", " });
                json(item, out);
            }
            out.push(']');
        }
        Content::Object => {
            out.push('{');
            for (index, (name, value)) in shown.fields().enumerate() {
                out.push_str(if index == 0 { "" } else { ", " });
                out.push_str(&string(&name));
                out.push_str(": ");
                json(value, out);
            }
            out.push('}');
        }
    }
}

/// Formats a value as JSON in one line.
pub(super) fn text(shown: Shown<'_>) -> String {
    let mut out = String::new();
    json(shown, &mut out);
    out
}

/// Formats a string in JSON quotes, as display text.
pub(super) fn string(text: &str) -> String {
    // Serializing a string cannot fail.
    let quoted = serde_json::to_string(text).unwrap_or_default();
    crate::render::text::escape_line(&quoted).into_owned()
}
