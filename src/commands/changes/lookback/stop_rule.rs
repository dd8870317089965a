//! How far back is far enough: what a walk finds, weighed as it comes.

use jiff::Timestamp;

use crate::commands::changes::shown::Shown;
use crate::diff::Diff;
use crate::object::managed_fields::Writers;
use crate::object::{Doc, Value};
use crate::watch::{Past, PastEvent, Presence, SourceKey, Version};

/// Decides how far back is far enough.
pub(in crate::commands::changes) struct Judge<'l> {
    shows: &'l Shown,
    key: &'l SourceKey,
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
        (shows, key): (&'l Shown, &'l SourceKey),
    ) -> Judge<'l> {
        Judge {
            shows,
            key,
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
                let (is_shown, time) = self.first();
                self.shown += usize::from(is_shown);
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
        let kind = new.object.group_kind();
        let (old, new) = (before.root(), doc.root());
        let keys = self.shows.keys.so_far(&kind);
        let compared = self.shows.compare(self.key, [old, new], &keys);
        let written = Written::by(&compared.writers, (Some(old), new));
        (compared.is_shown(), written.and_then(Written::time))
    }

    /// The same of the version that is there, which was the first.
    fn first(&mut self) -> (bool, Option<Timestamp>) {
        let doc = self.there.take().and_then(|first| first.doc().ok());
        let Some(doc) = doc else { return (true, None) };
        let written = Written::read(None, doc.root());
        let is_shown = self.shows.shows_first(doc.root());
        (is_shown, written.and_then(Written::time))
    }
}

/// When something was, where it says so itself: a deletion does not.
pub(in crate::commands::changes) fn wrote(told: &PastEvent) -> Option<Timestamp> {
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
    use std::sync::Arc;

    use super::*;
    use crate::commands::changes::by::By;
    use crate::diff::Filter;
    use crate::object::{ObjectRef, Resource, ResourceVersion};
    use crate::watch::{ClusterId, Form, Scope, Select};

    const CREATED: &str = "2026-03-02T12:00:00Z";

    fn object(generation: u32, entries: &str) -> Doc {
        let text = format!(
            r#"{{"metadata":{{"creationTimestamp":"{CREATED}","generation":{generation},"managedFields":[{entries}]}}}}"#
        );
        Doc::parse(text).expect("valid")
    }

    /// Version `n` of a `ConfigMap`, with nothing but a field of this manager.
    fn written_by(manager: &str, n: u32) -> Arc<Version> {
        let entry = format!(
            r#"{{"manager":"{manager}","operation":"Update","time":"2026-03-02T12:00:{n:02}Z","fieldsV1":{{"f:data":{{"f:{manager}":{{}}}}}}}}"#
        );
        let text = format!(
            r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"x","managedFields":[{entry}]}},"data":{{"{manager}":"{n}"}}}}"#
        );
        Arc::new(Version {
            object: ObjectRef::of(Doc::parse(&*text).expect("valid").root()),
            version: ResourceVersion::new(n.to_string()),
            body: text.into(),
        })
    }

    fn config_map() -> SourceKey {
        SourceKey {
            cluster: ClusterId("test".into()),
            resource: Resource {
                group: "".into(),
                version: "v1".into(),
                plural: "configmaps".into(),
                kind: "ConfigMap".into(),
                namespaced: true,
            },
            scope: Scope::Namespace("shop".into()),
            select: Select::Name("x".into()),
            form: Form::Full,
        }
    }

    /// How many versions count that were written, the newest first, by these managers.
    fn counted(shown: &Shown, writers: &str) -> usize {
        let key = config_map();
        let count = u32::try_from(writers.len()).expect("few");
        let versions = writers.chars().zip((1..=count).rev());
        let mut versions = versions.map(|(manager, n)| written_by(&manager.to_string(), n));
        let mut judge = Judge::new(versions.next(), None, (shown, &key));
        for older in versions {
            judge.is_wanted(&Past::Version(older));
        }
        judge.is_wanted(&Past::Created);
        judge.shown
    }

    #[test]
    fn only_versions_that_are_shown_count() {
        let everyone = Shown::default();
        let by = |manager: &str| Shown {
            by: By::new(&[manager.to_owned()]),
            ..Shown::default()
        };
        let only = |path: &str| Shown {
            filter: Filter {
                only: vec![path.parse().expect("a path")],
                ignore: Vec::new(),
            },
            ..Shown::default()
        };
        for (shown, writers, expect) in [
            (&everyone, "aaaa", 4),
            (&by("a"), "aaaa", 4),
            (&by("b"), "bbaa", 2),
            (&by("c"), "aaaa", 0),
            // The first version is shown as a whole.
            (&only("data.a"), "aaaa", 4),
            (&only("data.none"), "aaaa", 1),
        ] {
            assert_eq!(counted(shown, writers), expect, "{writers}");
        }
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
