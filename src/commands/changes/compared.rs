//! `Compared`: a version and the previous one, read and compared once. Printing, counts, filters and dates all use this
//! value.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::doc_cache::DocCache;
use super::state::{PastTime, TimelineEntry, VersionEvent, When};
use crate::diff::{Diff, Noise};
use crate::object::list_keys::ListKeys;
use crate::object::managed_fields::{By, ManagedFieldsEntry, Writers};
use crate::object::{Doc, GroupKind, ParseError, Value};
use crate::render::diff::{ChangeType, Counts};
use crate::source::Version;

/// The parsed versions of an event.
pub(super) struct ReadVersions<'e> {
    pub(super) event: &'e VersionEvent,
    /// The previous version, if there is one and it can be parsed.
    pub(super) before: Option<Doc>,
    pub(super) doc: Doc,
    /// The keys that match list items; `None` if there is only one version.
    pub(super) keys: Option<Arc<ListKeys>>,
}

impl VersionEvent {
    /// Parses the version and the previous one. Fails if the version itself cannot be parsed.
    ///
    /// It calls `keys` only to compare two versions. That call fixes the list keys of the kind, so a version alone must not
    /// make it: the kind's schema may still arrive.
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
    /// The previous version, if it could be parsed.
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

    /// The old and the new object.
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

/// A version compared with the previous one.
pub(super) struct Compared<'a> {
    pub(super) read: &'a ReadVersions<'a>,
    /// The changes, without those that `--by` filters out; `None` if there is no previous version.
    pub(super) diff: Option<Diff<'a>>,
    pub(super) writers: Writers<'a>,
    /// The numbers of shown and hidden changes.
    pub(super) counts: Counts,
    /// The classes of noise that are shown.
    pub(super) noise: BTreeSet<Noise>,
    /// Whether a manager of `--by` wrote this version, or the server recorded no manager.
    pub(super) is_by_named: bool,
    /// Whether `--only` and `--ignore` select a part of the object.
    pub(super) is_selected: bool,
    /// The time of the write, if known.
    pub(super) written: Option<WriteTime>,
}

impl Compared<'_> {
    pub(super) fn change(&self) -> ChangeType {
        self.read.event.change
    }

    /// Whether text output shows this version: it has a change that is neither noise nor filtered out, or it has no
    /// previous version and a selected part.
    pub(super) fn is_shown(&self) -> bool {
        let has_part = match (self.change(), &self.diff) {
            (ChangeType::Baseline, _) => true,
            (ChangeType::Modified, Some(_)) => self.counts.shown > 0,
            (ChangeType::Modified, None)
            | (
                ChangeType::Created
                | ChangeType::Recreated
                | ChangeType::Deleted
                | ChangeType::Left,
                _,
            ) => self.is_selected,
        };
        self.is_by_named && has_part
    }

    /// The time of an entry that did not arrive live; `None` for a live one.
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

/// The managers that wrote a version. If the server recorded none, the owners of the changed fields: usually one of them
/// wrote twice in one second.
pub(super) fn authors<'w, 'a>(
    writers: &'w Writers<'a>,
    diff: Option<&Diff<'a>>,
) -> Vec<&'w ManagedFieldsEntry<'a>> {
    let recorded: Vec<_> = writers.actors().collect();
    if !recorded.is_empty() {
        return recorded;
    }
    let owners = diff.into_iter().flat_map(|diff| {
        let changes = diff.changes().iter();
        changes.filter_map(|change| match diff.by(writers, change)? {
            By::Owner(owner) => Some(owner),
            By::Actor(_) | By::Took { .. } => None,
        })
    });
    owners.collect()
}

/// The time of a write, by the server's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteTime {
    /// The time that the object records: the newest changed time in `managedFields`, the deletion, or the creation.
    At(Timestamp),
    /// The object records no time for this write. This is the newest time in it; the write was not earlier.
    After(Timestamp),
}

impl WriteTime {
    /// When the newer of two versions was written; `None` if they record no time.
    ///
    /// `is_again` compares the versions. It returns whether all changes are by managers whose last recorded write was at
    /// the given time.
    pub(super) fn of(
        read: &ReadVersions<'_>,
        writers: &Writers<'_>,
        is_again: impl FnOnce(Timestamp) -> bool,
    ) -> Option<WriteTime> {
        if let Some(time) = writers.moved() {
            return Some(WriteTime::At(time));
        }
        let (old, new) = read.roots();
        let created = || new.time_at(&["metadata", "creationTimestamp"]);
        let Some(old) = old else {
            return created().map(WriteTime::At);
        };
        let latest = writers.time();
        // The binding of a Pod has no manager, but it sets a condition, which has the time.
        let moved = transition(new).filter(|moved| Some(*moved) > transition(old));
        if let Some(moved) = moved.filter(|moved| Some(*moved) >= latest) {
            return Some(WriteTime::At(moved));
        }
        let Some(time) = latest else {
            return created().map(WriteTime::After);
        };
        // A second write in the same second changes no recorded time.
        Some(if is_again(time) {
            WriteTime::At(time)
        } else {
            WriteTime::After(time)
        })
    }

    /// Like [`WriteTime::of`], for versions that nobody else compares.
    pub(super) fn read(read: &ReadVersions<'_>) -> Option<WriteTime> {
        let (old, new) = read.roots();
        let writers = Writers::of(old, Some(new));
        WriteTime::of(read, &writers, |time| {
            Diff::of(old, Some(new)).is_again_by(&writers, time)
        })
    }

    /// The time, if the object records it.
    pub(super) fn exact(self) -> Option<Timestamp> {
        match self {
            WriteTime::At(time) => Some(time),
            WriteTime::After(_) => None,
        }
    }

    /// The earliest possible time.
    pub(super) fn earliest(self) -> Timestamp {
        let (WriteTime::At(time) | WriteTime::After(time)) = self;
        time
    }
}

/// The newest `lastTransitionTime` of an object's conditions.
fn transition(object: Value<'_>) -> Option<Timestamp> {
    let conditions = object.items_at(&["status", "conditions"]);
    let times = conditions.filter_map(|condition| condition.time_at(&["lastTransitionTime"]));
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
            object: ObjectRef::of(doc.root()).into(),
            version: ResourceVersion::new(number.to_string()),
            body: body.into(),
        })
    }

    /// Whether the kind still accepts a schema after this event was read.
    fn leaves_open(change: ChangeType, old: Option<Arc<Version>>) -> bool {
        let keys = KindKeys::default();
        let event = VersionEvent::new(change, old, route(2));
        let read = event.read(&mut DocCache::default(), |kind| keys.of(kind));
        assert!(read.is_ok());
        let schema = Schema::read(Doc::parse(SCHEMA).expect("JSON").root());
        keys.learn(&route(1).object.group_kind(), Arc::new(schema))
    }

    #[test]
    fn only_a_comparison_fixes_the_list_keys() {
        assert!(leaves_open(ChangeType::Baseline, None));
        assert!(leaves_open(ChangeType::Created, None));
        assert!(!leaves_open(ChangeType::Modified, Some(route(1))));
    }

    /// The write time of the newer of two objects.
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
    fn without_managed_fields_only_the_creation_has_a_time() {
        let created = CREATED.parse().expect("a time");
        let (old, new) = (object(1, ""), object(2, ""));
        let first = written(None, &old);
        assert_eq!(first, Some(WriteTime::At(created)));
        let second = written(Some(&old), &new);
        assert_eq!(second, Some(WriteTime::After(created)));
    }

    #[test]
    fn a_changed_manager_time_is_the_time_of_the_write() {
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

    /// An object with two managers and their fields. `late` wrote last, `early` ten seconds before.
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
    fn a_write_without_a_recorded_manager_has_no_exact_time() {
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
        // The last writer writes again in the same second.
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
        // The same write removes a field. Without the other field, its time would be unknown.
        let without = (r#"{"f:status":{"f:phase":{}}}"#, owned.1);
        check(
            without,
            r#""spec":{"image":"a"},"status":{"phase":"Running"}"#,
            WriteTime::At(time),
        );
        // The manager of the image wrote earlier, so it did not write this in that second.
        check(
            owned,
            r#""spec":{"image":"b"},"status":{"phase":"Running","observedGeneration":1}"#,
            WriteTime::After(time),
        );
        // The fields that a binding sets have no manager.
        check(
            owned,
            r#""spec":{"image":"a","nodeName":"n"},"status":{"phase":"Pending","observedGeneration":1}"#,
            WriteTime::After(time),
        );
        // A write that only removes fields records no time.
        check(
            (r#"{"f:status":{"f:observedGeneration":{}}}"#, owned.1),
            r#""spec":{"image":"a"},"status":{"observedGeneration":1}"#,
            WriteTime::After(time),
        );
        // Nothing changed: the object was stored again for an unknown reason.
        check(
            owned,
            r#""spec":{"image":"a"},"status":{"phase":"Pending","observedGeneration":1}"#,
            WriteTime::After(time),
        );
    }

    #[test]
    fn the_condition_of_a_pod_has_the_time_of_its_binding() {
        let owned = (r#"{"f:spec":{"f:image":{}}}"#, r#"{"f:status":{}}"#);
        let scheduled = |time: &str| {
            let condition = format!(r#"{{"type":"PodScheduled","lastTransitionTime":"{time}"}}"#);
            format!(r#""spec":{{"nodeName":"n"}},"status":{{"conditions":[{condition}]}}"#)
        };
        let old = owned_by(owned, r#""spec":{},"status":{}"#);
        let bound = owned_by(owned, &scheduled("2026-03-02T12:00:09Z"));
        let time = "2026-03-02T12:00:09Z".parse().expect("a time");
        assert_eq!(written(Some(&old), &bound), Some(WriteTime::At(time)));
        // An unchanged condition has no new time. A condition from before the newest write does not count.
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
