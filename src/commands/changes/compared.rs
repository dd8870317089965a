//! `Compared`: a version and the one before it, read and compared once. Everything that is printed, counted,
//! filtered or dated asks this value.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::doc_cache::DocCache;
use super::state::{PastTime, TimelineEntry, VersionEvent, When};
use crate::diff::{Diff, Noise};
use crate::object::list_keys::ListKeys;
use crate::object::managed_fields::Writers;
use crate::object::{Doc, GroupKind, ParseError, Value, time};
use crate::render::diff::{ChangeType, Counts};
use crate::source::Version;

/// The versions of an event, as they were read.
pub(super) struct ReadVersions<'e> {
    pub(super) event: &'e VersionEvent,
    /// The version before, if there is one that can be read.
    pub(super) before: Option<Doc>,
    pub(super) doc: Doc,
    /// How the items of lists are told apart, where two versions are compared.
    pub(super) keys: Option<Arc<ListKeys>>,
}

impl VersionEvent {
    /// Reads the version and the one before it. Asks for the list keys of the kind only to compare two
    /// versions: a version alone must not settle how the lists of its kind are read.
    pub(super) fn read(
        &self,
        docs: &mut DocCache,
        keys: impl FnOnce(&GroupKind) -> Arc<ListKeys>,
    ) -> Result<ReadVersions<'_>, ParseError> {
        let (before, doc) = docs.read(self.old.as_deref(), &self.now);
        let doc = doc?;
        let keys = (before.is_some()).then(|| keys(&self.now.object.group_kind()));
        Ok(ReadVersions {
            event: self,
            before,
            doc,
            keys,
        })
    }
}

impl ReadVersions<'_> {
    /// The version before, if it could be read.
    pub(super) fn old(&self) -> Option<VersionDoc<'_>> {
        let (version, doc) = self.event.old.as_deref().zip(self.before.as_ref())?;
        Some(VersionDoc { version, doc })
    }

    pub(super) fn now(&self) -> VersionDoc<'_> {
        VersionDoc {
            version: &self.event.now,
            doc: &self.doc,
        }
    }

    /// Both objects.
    pub(super) fn roots(&self) -> (Option<Value<'_>>, Value<'_>) {
        (self.before.as_ref().map(Doc::root), self.doc.root())
    }
}

/// A version and the object in it.
#[derive(Clone, Copy)]
pub(super) struct VersionDoc<'v> {
    pub(super) version: &'v Version,
    pub(super) doc: &'v Doc,
}

/// A version compared with the one before it.
pub(super) struct Compared<'a> {
    pub(super) read: &'a ReadVersions<'a>,
    /// What changed, without the changes of managers that `--by` does not name; `None` where there is nothing
    /// to compare with.
    pub(super) diff: Option<Diff<'a>>,
    /// Who wrote.
    pub(super) writers: Writers<'a>,
    /// How many changes are shown and how many are hidden.
    pub(super) counts: Counts,
    /// Which classes of noise are shown.
    pub(super) noise: BTreeSet<Noise>,
    /// Whether a manager wrote it that `--by` names, or that cannot be known.
    pub(super) is_by_named: bool,
    /// When it was written.
    pub(super) written: Option<WriteTime>,
}

impl Compared<'_> {
    pub(super) fn change(&self) -> ChangeType {
        self.read.event.change
    }

    /// Whether it is shown to people: it changes something that is neither noise nor filtered out. What
    /// has no version before it is shown as a whole.
    pub(super) fn is_shown(&self) -> bool {
        let has_changes = self.change() != ChangeType::Modified || self.diff.is_none();
        self.is_by_named && (has_changes || self.counts.shown > 0)
    }

    /// When an entry happened that was not seen as it did.
    pub(super) fn past(&self, entry: &TimelineEntry) -> Option<PastTime> {
        match entry.when {
            When::Live => None,
            When::Past(past) => Some(past),
            When::ReadBack => {
                let is_vague = matches!(self.written, Some(WriteTime::After(_)));
                Some(PastTime {
                    time: self.written.map_or(entry.seen, WriteTime::earliest),
                    until: (is_vague || self.read.event.is_end()).then_some(entry.seen),
                })
            }
        }
    }
}

/// When a version was written, by the server's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteTime {
    /// The object says so: the newest time in `managedFields` that moved, the deletion, or the creation.
    At(Timestamp),
    /// Not before this, the newest time in the object: the write left no time.
    After(Timestamp),
}

impl WriteTime {
    /// When the newer of these versions was written; `None` if nothing in them says. `is_again` compares them: it
    /// says whether all of it was written by managers that wrote at this time before.
    pub(super) fn of(
        read: &ReadVersions<'_>,
        writers: &Writers<'_>,
        is_again: impl FnOnce(Timestamp) -> bool,
    ) -> Option<WriteTime> {
        if let Some(time) = writers.moved() {
            return Some(WriteTime::At(time));
        }
        let (old, new) = read.roots();
        let created = || time(&new.str_at(&["metadata", "creationTimestamp"])?);
        let Some(old) = old else {
            return created().map(WriteTime::At);
        };
        let latest = writers.time();
        // The binding of a Pod has no manager, but the condition that it sets says when it was.
        let moved = transition(new).filter(|moved| Some(*moved) > transition(old));
        if let Some(moved) = moved.filter(|moved| Some(*moved) >= latest) {
            return Some(WriteTime::At(moved));
        }
        let Some(time) = latest else {
            return created().map(WriteTime::After);
        };
        // A status that is written twice in a second moves no time, either.
        Some(if is_again(time) {
            WriteTime::At(time)
        } else {
            WriteTime::After(time)
        })
    }

    /// The same for versions that are not compared otherwise.
    pub(super) fn read(read: &ReadVersions<'_>) -> Option<WriteTime> {
        let (old, new) = read.roots();
        let writers = Writers::of(old, Some(new));
        WriteTime::of(read, &writers, |time| {
            Diff::of(old, Some(new)).is_again_by(&writers, time)
        })
    }

    /// The time, where it is known.
    pub(super) fn exact(self) -> Option<Timestamp> {
        match self {
            WriteTime::At(time) => Some(time),
            WriteTime::After(_) => None,
        }
    }

    /// The earliest time it can have been.
    pub(super) fn earliest(self) -> Timestamp {
        let (WriteTime::At(time) | WriteTime::After(time)) = self;
        time
    }
}

/// The newest time at which a condition of an object changed its status.
fn transition(object: Value<'_>) -> Option<Timestamp> {
    let conditions = object.items_at(&["status", "conditions"]);
    let times =
        conditions.filter_map(|condition| time(&condition.str_at(&["lastTransitionTime"])?));
    times.max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::list_keys::{KindKeys, Schema};
    use crate::object::{ObjectRef, ResourceVersion};

    const SCHEMA: &str = r#"{"components":{"schemas":{"R":{"x-kubernetes-group-version-kind":[
        {"group":"example.com","version":"v1","kind":"Route"}]}}}}"#;

    fn route(number: u32) -> Arc<Version> {
        let body = format!(r#"{{"apiVersion":"example.com/v1","kind":"Route","spec":{number}}}"#);
        let doc = Doc::parse(body.as_str()).expect("JSON");
        Arc::new(Version {
            object: ObjectRef::of(doc.root()),
            version: ResourceVersion::new(number.to_string()),
            body: body.into(),
        })
    }

    /// Whether a schema that comes after this event was read still counts.
    fn leaves_open(change: ChangeType, old: Option<Arc<Version>>) -> bool {
        let keys = KindKeys::default();
        let event = VersionEvent::new(change, old, route(2));
        let read = event.read(&mut DocCache::default(), |kind| keys.of(kind));
        assert!(read.is_ok());
        let schema = Schema::read(Doc::parse(SCHEMA).expect("JSON").root());
        keys.learn(&route(1).object.group_kind(), Arc::new(schema))
    }

    #[test]
    fn only_a_comparison_settles_how_lists_are_read() {
        assert!(leaves_open(ChangeType::Baseline, None));
        assert!(leaves_open(ChangeType::Created, None));
        assert!(!leaves_open(ChangeType::Modified, Some(route(1))));
    }

    /// When the newer of two objects was written.
    fn written(old: Option<&Doc>, new: &Doc) -> Option<WriteTime> {
        let event = VersionEvent::new(ChangeType::Modified, None, route(2));
        WriteTime::read(&ReadVersions {
            event: &event,
            before: old.cloned(),
            doc: new.clone(),
            keys: None,
        })
    }

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
        let first = written(None, &old);
        assert_eq!(first, Some(WriteTime::At(created)));
        let second = written(Some(&old), &new);
        assert_eq!(second, Some(WriteTime::After(created)));
    }

    #[test]
    fn a_time_that_moved_is_the_writes() {
        let entry =
            |time: &str| format!(r#"{{"manager":"m","operation":"Update","time":"{time}"}}"#);
        let (old, new) = (
            object(1, &entry(CREATED)),
            object(2, &entry("2026-03-02T12:00:09Z")),
        );
        let time_of = written(Some(&old), &new);
        let time = "2026-03-02T12:00:09Z".parse().expect("a time");
        assert_eq!(time_of, Some(WriteTime::At(time)));
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
            let time_of = written(Some(&old), &new);
            assert_eq!(time_of, Some(expected), "{rest}");
        };
        // The same one again, in the same second.
        check(
            owned,
            r#""spec":{"image":"a"},"status":{"phase":"Running","observedGeneration":1}"#,
            WriteTime::At(time),
        );
        check(
            owned,
            r#""spec":{"image":"a"},"status":{"phase":"Pending","observedGeneration":2}"#,
            WriteTime::At(time),
        );
        // It wrote earlier: in that second it did not write this.
        check(
            owned,
            r#""spec":{"image":"b"},"status":{"phase":"Running","observedGeneration":1}"#,
            WriteTime::After(time),
        );
        // What a binding sets is nobody's.
        check(
            owned,
            r#""spec":{"image":"a","nodeName":"n"},"status":{"phase":"Pending","observedGeneration":1}"#,
            WriteTime::After(time),
        );
        // Who removes fields leaves no time.
        check(
            (r#"{"f:status":{"f:observedGeneration":{}}}"#, owned.1),
            r#""spec":{"image":"a"},"status":{"observedGeneration":1}"#,
            WriteTime::After(time),
        );
        // It is stored anew, and nobody knows why.
        check(
            owned,
            r#""spec":{"image":"a"},"status":{"phase":"Pending","observedGeneration":1}"#,
            WriteTime::After(time),
        );
    }

    #[test]
    fn a_condition_says_when_a_pod_was_bound() {
        let owned = (r#"{"f:spec":{"f:image":{}}}"#, r#"{"f:status":{}}"#);
        let scheduled = |time: &str| {
            let condition = format!(r#"{{"type":"PodScheduled","lastTransitionTime":"{time}"}}"#);
            format!(r#""spec":{{"nodeName":"n"}},"status":{{"conditions":[{condition}]}}"#)
        };
        let old = owned_by(owned, r#""spec":{},"status":{}"#);
        let bound = owned_by(owned, &scheduled("2026-03-02T12:00:09Z"));
        let time = "2026-03-02T12:00:09Z".parse().expect("a time");
        assert_eq!(written(Some(&old), &bound), Some(WriteTime::At(time)));
        // A condition that stands says nothing, nor does one of before the newest write.
        let again = owned_by(owned, &scheduled("2026-03-02T12:00:09Z"));
        let created = CREATED.parse().expect("a time");
        assert_eq!(
            written(Some(&bound), &again),
            Some(WriteTime::After(created))
        );
        let early = owned_by(owned, &scheduled("2026-03-02T11:00:00Z"));
        assert_eq!(written(Some(&old), &early), Some(WriteTime::After(created)));
    }
}
