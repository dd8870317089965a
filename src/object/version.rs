//! Identities and versions of objects, as the API server assigns them.

use std::fmt::{self, Write};
use std::sync::Arc;

/// The `metadata.uid` of an object: its identity.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Uid(Arc<str>);

impl Uid {
    /// Wraps a uid from an object.
    pub fn new(uid: impl Into<Arc<str>>) -> Uid {
        Uid(uid.into())
    }

    /// The uid as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_opaque(f, &self.0)
    }
}

/// A `resourceVersion`. It is opaque, and is compared only for equality
/// (<https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions>).
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ResourceVersion(Arc<str>);

impl ResourceVersion {
    /// Wraps a resourceVersion from an object or a list.
    pub fn new(version: impl Into<Arc<str>>) -> ResourceVersion {
        ResourceVersion(version.into())
    }

    /// The resourceVersion as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The form for people: [`write_opaque`]. Requests and records use [`ResourceVersion::as_str`].
impl fmt::Display for ResourceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_opaque(f, &self.0)
    }
}

impl fmt::Debug for ResourceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_opaque(f, &self.0)
    }
}

/// Writes an opaque text of the server. It should have only a few letters and digits. Any character that is not
/// printable ASCII is written as `\u{1b}`.
fn write_opaque(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    text.chars().try_for_each(|c| match c {
        ' '..='~' => f.write_char(c),
        _ => write!(f, "{}", c.escape_unicode()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        let cases = [
            ("4711", "4711"),
            ("", ""),
            ("7\u{1b}]52;c;aGk=\u{7}", "7\\u{1b}]52;c;aGk=\\u{7}"),
            ("7\u{9b}2J\u{202e}\r\n", "7\\u{9b}2J\\u{202e}\\u{d}\\u{a}"),
        ];
        for (text, expected) in cases {
            let version = ResourceVersion::new(text);
            assert_eq!(version.to_string(), expected);
            assert_eq!(
                format!("{version:?} {:?}", Uid::new(text)),
                format!("{expected} {expected}")
            );
            assert_eq!(version.as_str(), text);
        }
    }
}
