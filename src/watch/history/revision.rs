//! Revisions: resourceVersions that can be compared and subtracted.
//!
//! By contract a resourceVersion is opaque. Those of kube-apiserver are revisions of etcd: decimal numbers that
//! count the writes to the whole cluster
//! (<https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions>). Look-back needs arithmetic
//! on them, which only this module does. An object with any other resourceVersion has no look-back.

use std::fmt;

use crate::object::ResourceVersion;

/// One write to the cluster, and the state after it. It is a number from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(u64);

impl Revision {
    /// The oldest possible revision.
    pub(in crate::watch) const FIRST: Revision = Revision(1);

    /// Reads a resourceVersion that is a revision: decimal digits, without a sign or leading zeros.
    pub fn parse(version: &ResourceVersion) -> Option<Revision> {
        Revision::read(version.as_str())
    }

    /// Reads a text as [`Revision::parse`] does.
    pub fn read(text: &str) -> Option<Revision> {
        let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
        let number = text.parse().ok().filter(|_| plain)?;
        Some(Revision(number))
    }

    /// The revision this many writes earlier, or the first one.
    pub(in crate::watch) fn back(self, writes: u64) -> Revision {
        Revision(self.0.saturating_sub(writes).max(1))
    }

    /// The revision this many writes later.
    pub(in crate::watch) fn forth(self, writes: u64) -> Revision {
        Revision(self.0.saturating_add(writes))
    }

    /// The next revision.
    pub(in crate::watch) fn next(self) -> Revision {
        Revision(self.0.saturating_add(1))
    }

    /// The number of writes from `older` to this revision.
    pub(in crate::watch) fn since(self, older: Revision) -> u64 {
        self.0.saturating_sub(older.0)
    }

    /// The revision half way between `low` and `high`; `None` if there is none between them.
    pub(in crate::watch) fn between(low: Revision, high: Revision) -> Option<Revision> {
        let distance = high.since(low);
        (distance > 1).then(|| Revision(low.0 + distance / 2))
    }
}

/// The writes after one revision, up to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::watch) struct RevisionSpan {
    pub(in crate::watch) after: Revision,
    pub(in crate::watch) upto: Revision,
}

impl From<Revision> for ResourceVersion {
    fn from(revision: Revision) -> ResourceVersion {
        ResourceVersion::new(revision.0.to_string())
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_decimal_numbers_are_revisions() {
        for (text, number) in [
            ("1", Some(1)),
            ("90120", Some(90_120)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("", None),
            ("0", None),
            ("007", None),
            ("+7", None),
            ("-7", None),
            ("7 ", None),
            ("0x7", None),
            ("a", None),
        ] {
            let read = Revision::parse(&ResourceVersion::new(text));
            assert_eq!(read, number.map(Revision), "{text}");
            assert!(read.is_none_or(|read| ResourceVersion::from(read).as_str() == text));
        }
    }

    #[test]
    fn steps_stay_in_range() {
        let at = Revision(5);
        assert_eq!((at.back(1), at.back(9)), (Revision(4), Revision::FIRST));
        assert_eq!((at.next(), at.since(Revision(2))), (Revision(6), 3));
        assert_eq!(Revision(2).since(at), 0);
        assert_eq!(Revision::between(Revision(2), at), Some(Revision(3)));
        assert_eq!(Revision::between(Revision(4), at), None);
        assert_eq!(Revision::between(at, at), None);
    }
}
