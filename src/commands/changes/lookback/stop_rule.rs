//! How far back is far enough: what a walk finds, weighed as it comes.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::diff::{Diff, Filter, Noise};
use crate::object::managed_fields::Writers;
use crate::object::{Doc, Value};
use crate::render::diff::counts;
use crate::watch::{Past, Presence, Told, Version};

/// Decides how far back is far enough.
pub(in crate::commands::changes) struct Judge<'l> {
    shows: &'l (Filter, BTreeSet<Noise>),
    since: Option<Timestamp>,
    pub(in crate::commands::changes) there: Presence,
    /// How many versions will be shown.
    pub(in crate::commands::changes) shown: usize,
}

impl<'l> Judge<'l> {
    /// Begins with what is there now; what was written before `since` is too old.
    pub(in crate::commands::changes) fn new(
        there: Presence,
        since: Option<Timestamp>,
        shows: &'l (Filter, BTreeSet<Noise>),
    ) -> Judge<'l> {
        Judge {
            shows,
            since,
            there,
            shown: 0,
        }
    }

    /// Whether it belongs to what is told. What is older than that is not, and is the end.
    pub(in crate::commands::changes) fn is_wanted(&mut self, past: &Past) -> bool {
        match past {
            Past::Version(older) => {
                let newer = self.there.replace(older.clone());
                let Some(newer) = newer else { return true };
                let (is_shown, time) = self.compare(older, &newer);
                self.shown += usize::from(is_shown);
                self.is_recent(time)
            }
            Past::Created => {
                let newer = self.there.take();
                let written = newer.and_then(|newer| Written::of(None, &newer));
                let time = written.and_then(Written::time);
                self.shown += 1;
                self.is_recent(time)
            }
            Past::Deleted(_) => {
                self.shown += 1;
                true
            }
        }
    }

    fn is_recent(&self, time: Option<Timestamp>) -> bool {
        self.since
            .zip(time)
            .is_none_or(|(since, time)| time >= since)
    }

    /// Whether a version shows anything, and when it was written.
    fn compare(&self, old: &Version, new: &Version) -> (bool, Option<Timestamp>) {
        let before = old.doc().ok();
        let both = before.and_then(|before| {
            let doc = new.doc_after(Some(&before)).ok()?;
            Some((before, doc))
        });
        let Some((before, doc)) = both else {
            return (true, None);
        };
        let diff = Diff::of(Some(before.root()), Some(doc.root()));
        let (filter, noise) = self.shows;
        let is_shown = counts(&diff, filter, noise).shown > 0;
        let written = Written::read(Some(before.root()), doc.root());
        (is_shown, written.and_then(Written::time))
    }
}

/// When something was, where it says so itself: a deletion does not.
pub(in crate::commands::changes) fn wrote(told: &Told) -> Option<Timestamp> {
    let there = Some(told).filter(|told| !told.is_end())?;
    Written::of(there.prev.as_deref(), &there.now)?.time()
}

/// When a version was written, by the server's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands::changes) enum Written {
    /// The newest time in `managedFields` that moved; of the first version the object's creation.
    At(Timestamp),
    /// Not before this, the newest time in the object: of such a write no time is kept.
    After(Timestamp),
}

impl Written {
    /// When the successor of `old` was; `None` if nothing tells.
    pub(in crate::commands::changes) fn of(
        old: Option<&Version>,
        new: &Version,
    ) -> Option<Written> {
        let before = old.and_then(|old| old.doc().ok());
        let doc = new.doc().ok()?;
        Written::read(before.as_ref().map(Doc::root), doc.root())
    }

    fn read(old: Option<Value<'_>>, new: Value<'_>) -> Option<Written> {
        Written::by(&Writers::of(old, Some(new)), (old, new))
    }

    /// The same by the managers of both versions.
    pub(in crate::commands::changes) fn by<'a>(
        writers: &Writers<'a>,
        (old, new): (Option<Value<'a>>, Value<'a>),
    ) -> Option<Written> {
        if let Some(time) = writers.moved() {
            return Some(Written::At(time));
        }
        let created = || {
            let created = new.str_at(&["metadata", "creationTimestamp"])?;
            created.parse().ok()
        };
        let Some(old) = old else {
            return created().map(Written::At);
        };
        let Some(time) = writers.time() else {
            return created().map(Written::After);
        };
        // A status that is written twice in a second moves no time, either.
        let is_again = Diff::of(Some(old), Some(new)).is_again_by(writers, time);
        Some(if is_again {
            Written::At(time)
        } else {
            Written::After(time)
        })
    }

    /// The time, where it is known.
    pub(in crate::commands::changes) fn time(self) -> Option<Timestamp> {
        match self {
            Written::At(time) => Some(time),
            Written::After(_) => None,
        }
    }

    /// Not before this.
    pub(in crate::commands::changes) fn earliest(self) -> Timestamp {
        let (Written::At(time) | Written::After(time)) = self;
        time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREATED: &str = "2026-03-02T12:00:00Z";

    fn object(generation: u32, entries: &str) -> Doc {
        let text = format!(
            r#"{{"metadata":{{"creationTimestamp":"{CREATED}","generation":{generation},"managedFields":[{entries}]}}}}"#
        );
        Doc::parse(text).expect("valid")
    }

    #[test]
    fn of_what_nobody_owns_only_the_creation_has_a_time() {
        let created = CREATED.parse().expect("a time");
        let (old, new) = (object(1, ""), object(2, ""));
        let first = Written::read(None, old.root());
        assert_eq!(first, Some(Written::At(created)));
        let second = Written::read(Some(old.root()), new.root());
        assert_eq!(second, Some(Written::After(created)));
    }

    #[test]
    fn a_time_that_moved_is_the_writes() {
        let entry =
            |time: &str| format!(r#"{{"manager":"m","operation":"Update","time":"{time}"}}"#);
        let (old, new) = (
            object(1, &entry(CREATED)),
            object(2, &entry("2026-03-02T12:00:09Z")),
        );
        let written = Written::read(Some(old.root()), new.root());
        let time = "2026-03-02T12:00:09Z".parse().expect("a time");
        assert_eq!(written, Some(Written::At(time)));
    }

    /// An object of two managers, by the fields that they own: one wrote last, the other ten seconds before.
    fn owned_by((late, early): (&str, &str), rest: &str) -> Doc {
        let entry = |manager: &str, (time, fields): (&str, &str)| {
            format!(
                r#"{{"manager":"{manager}","operation":"Update","time":"{time}","fieldsV1":{fields}}}"#
            )
        };
        let (late, early) = (
            entry("late", (CREATED, late)),
            entry("early", ("2026-03-02T11:59:50Z", early)),
        );
        let text = format!(r#"{{"metadata":{{"managedFields":[{late},{early}]}},{rest}}}"#);
        Doc::parse(text).expect("valid")
    }

    #[test]
    fn what_nobody_is_recorded_for_has_no_time_of_its_own() {
        let time = CREATED.parse().expect("a time");
        let owned = (
            r#"{"f:status":{"f:phase":{},"f:observedGeneration":{}}}"#,
            r#"{"f:spec":{"f:image":{}}}"#,
        );
        let old = owned_by(
            owned,
            r#""spec":{"image":"a"},"status":{"phase":"Pending","observedGeneration":1}"#,
        );
        let check = |owned, rest: &str, expected| {
            let new = owned_by(owned, rest);
            let written = Written::read(Some(old.root()), new.root());
            assert_eq!(written, Some(expected), "{rest}");
        };
        // The same one again, in the same second.
        check(
            owned,
            r#""spec":{"image":"a"},"status":{"phase":"Running","observedGeneration":1}"#,
            Written::At(time),
        );
        check(
            owned,
            r#""spec":{"image":"a"},"status":{"phase":"Pending","observedGeneration":2}"#,
            Written::At(time),
        );
        // It wrote earlier: in that second it did not write this.
        check(
            owned,
            r#""spec":{"image":"b"},"status":{"phase":"Running","observedGeneration":1}"#,
            Written::After(time),
        );
        // What a binding sets is nobody's.
        check(
            owned,
            r#""spec":{"image":"a","nodeName":"n"},"status":{"phase":"Pending","observedGeneration":1}"#,
            Written::After(time),
        );
        // Who removes fields leaves no time.
        check(
            (r#"{"f:status":{"f:observedGeneration":{}}}"#, owned.1),
            r#""spec":{"image":"a"},"status":{"observedGeneration":1}"#,
            Written::After(time),
        );
        // It is stored anew, and nobody knows why.
        check(
            owned,
            r#""spec":{"image":"a"},"status":{"phase":"Pending","observedGeneration":1}"#,
            Written::After(time),
        );
    }
}
