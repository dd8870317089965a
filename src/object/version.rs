//! Identity and versions of objects, as the API server hands them out.

use std::fmt::{self, Write};
use std::sync::Arc;

/// The `metadata.uid` of an object: its identity.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Uid(Arc<str>);

impl Uid {
    /// Wraps a uid as it stands in an object.
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

/// A `resourceVersion`: opaque, and compared for equality alone
/// (<https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions>).
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ResourceVersion(Arc<str>);

impl ResourceVersion {
    /// Wraps a resourceVersion as it stands in an object or a list.
    pub fn new(version: impl Into<Arc<str>>) -> ResourceVersion {
        ResourceVersion(version.into())
    }

    /// The resourceVersion as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// For people: [`write_opaque`]. Requests and records take [`ResourceVersion::as_str`].
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

/// Writes what the server calls opaque. It is a few letters and digits; whatever is not printable ASCII is not the
/// server's own and is written as `\u{1b}`.
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
    fn what_a_terminal_would_obey_is_written_out() {
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
