//! Identities and versions of objects, as the API server assigns them.

use std::cmp::Ordering;
use std::fmt::{self, Write};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The `metadata.uid` of an object: its identity. Uids are ordered as their texts are.
#[derive(Clone)]
pub struct Uid {
    /// The first eight bytes of the text. Most comparisons end here, without a look at the text.
    start: u64,
    text: Arc<str>,
}

impl Uid {
    /// Wraps a uid from an object.
    pub fn new(uid: impl Into<Arc<str>>) -> Uid {
        let text: Arc<str> = uid.into();
        let mut start = [0; 8];
        for (to, from) in start.iter_mut().zip(text.bytes()) {
            *to = from;
        }
        Uid {
            start: u64::from_be_bytes(start),
            text,
        }
    }

    /// The uid as text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The same text, shared.
    pub fn text(&self) -> Arc<str> {
        self.text.clone()
    }

    /// Compares the whole texts. Equal uids mostly share one.
    fn compare_texts(&self, other: &Uid) -> Ordering {
        if Arc::ptr_eq(&self.text, &other.text) {
            return Ordering::Equal;
        }
        self.text.cmp(&other.text)
    }
}

impl PartialEq for Uid {
    #[inline]
    fn eq(&self, other: &Uid) -> bool {
        self.start == other.start && self.compare_texts(other).is_eq()
    }
}

impl Eq for Uid {}

impl PartialOrd for Uid {
    fn partial_cmp(&self, other: &Uid) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Uid {
    #[inline]
    fn cmp(&self, other: &Uid) -> Ordering {
        match self.start.cmp(&other.start) {
            Ordering::Equal => self.compare_texts(other),
            decided => decided,
        }
    }
}

impl Hash for Uid {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl fmt::Debug for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_opaque(f, &self.text)
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
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn uids_are_compared_as_their_texts(one in "[ab\\x00]{0,12}", other in "[ab\\x00]{0,12}") {
            let [uid, next] = [&one, &other].map(|text| Uid::new(text.as_str()));
            prop_assert_eq!(uid.cmp(&next), one.cmp(&other));
            prop_assert_eq!(uid == next, one == other);
        }
    }

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
