//! Revisions: resourceVersions that can be compared and subtracted.
//!
//! By contract a resourceVersion is opaque. Those of kube-apiserver are revisions of etcd: decimal numbers that
//! count the writes to the whole cluster
//! (<https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions>). Look-back needs arithmetic
//! on them, which only this module does. An object with any other resourceVersion has no look-back.

use std::fmt;

use jiff::Timestamp;

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

    /// The revision with this number; `None` for 0.
    pub fn of(number: u64) -> Option<Revision> {
        (number > 0).then_some(Revision(number))
    }

    /// The revision this many writes earlier, or the first one.
    pub(in crate::watch) fn back(self, writes: u64) -> Revision {
        Revision(self.0.saturating_sub(writes).max(1))
    }

    pub(in crate::watch) fn forth(self, writes: u64) -> Revision {
        Revision(self.0.saturating_add(writes))
    }

    pub(crate) fn next(self) -> Revision {
        Revision(self.0.saturating_add(1))
    }

    pub(in crate::watch) fn since(self, older: Revision) -> u64 {
        self.0.saturating_sub(older.0)
    }

    /// At most `most` revisions between `low` and `high`, in equal distances, newest first.
    pub(in crate::watch) fn between(low: Revision, high: Revision, most: u64) -> Vec<Revision> {
        let distance = high.since(low);
        let count = most.min(distance.saturating_sub(1));
        let part = |part: u64| {
            let writes = u128::from(distance) * u128::from(part) / u128::from(count + 1);
            low.forth(u64::try_from(writes).unwrap_or(distance))
        };
        (1..=count).rev().map(part).collect()
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

/// The times between which something was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Between {
    /// The earliest possible time.
    pub from: Timestamp,
    /// The latest possible time, except for the margin of [`super::history::is_surely_before`]; `None` if it may be just now.
    pub until: Option<Timestamp>,
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
    }

    #[test]
    fn revisions_between_two_are_different_and_in_order() {
        let between = |low, high, most| {
            let between = Revision::between(Revision(low), Revision(high), most);
            between.iter().map(|at| at.0).collect::<Vec<_>>()
        };
        assert_eq!(between(2, 5, 1), [3]);
        assert_eq!(between(2, 5, 4), [4, 3]);
        assert_eq!(between(0, 100, 4), [80, 60, 40, 20]);
        assert_eq!(between(1, 7, 4), [5, 4, 3, 2]);
        for (low, high) in [(4, 5), (5, 5), (6, 5)] {
            assert!(between(low, high, 4).is_empty(), "{low} {high}");
        }
        let all = between(1, u64::MAX, 4);
        assert!(all.is_sorted_by(|newer, older| newer > older) && all.len() == 4);
    }
}
