//! `Compared`: a version and the previous one, read and compared once. Printing, counts, filters and dates all use this
//! value.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::by::ManagerFilter;
use super::read_versions::ReadVersions;
use super::state::{PastTime, TimelineEntry, When};
use crate::commands::live::sources::named;
use crate::diff::{Diff, Filter, Noise, Redactor};
use crate::env::Clock;
use crate::object::Value;
use crate::object::list_keys::KindKeys;
use crate::object::managed_fields::Writers;
use crate::object::path::Path;
use crate::render::diff::{ChangeCounts, ChangeType, counts};
use crate::source::SourceKey;

/// A version compared with the previous one.
pub(crate) struct Compared<'a> {
    pub(crate) read: &'a ReadVersions<'a>,
    /// The changes, without those that `--by` filters out; `None` if there is no previous version.
    pub(crate) diff: Option<Diff<'a>>,
    pub(crate) writers: Writers<'a>,
    /// The numbers of shown and hidden changes.
    pub(crate) counts: ChangeCounts,
    /// The number of changes that would be shown if its managers were selected.
    pub(crate) selected: usize,
    /// The classes of noise that are shown.
    pub(crate) noise: BTreeSet<Noise>,
    /// Whether a manager of `--by` wrote this version, or the server recorded no manager.
    pub(crate) is_by_named: bool,
    /// Whether `--only` and `--ignore` select a part of the object.
    pub(crate) is_selected: bool,
    /// The time of the write, if known.
    pub(crate) written: Option<WriteTime>,
}

impl Compared<'_> {
    pub(crate) fn change(&self) -> ChangeType {
        self.read.event.change
    }

    /// Whether text output shows this version: it has a change that is neither noise nor filtered out, or it has no
    /// previous version and a selected part.
    pub(crate) fn is_shown(&self) -> bool {
        self.is_by_named && self.has_part()
    }

    /// Whether it is not shown only because of its managers.
    pub(crate) fn is_left_out(&self) -> bool {
        !self.is_by_named && self.has_part()
    }

    fn has_part(&self) -> bool {
        match (self.change(), &self.diff) {
            (ChangeType::Baseline, _) => true,
            (ChangeType::Modified, Some(_)) => self.selected > 0,
            (ChangeType::Modified, None)
            | (
                ChangeType::Created
                | ChangeType::Recreated
                | ChangeType::Joined
                | ChangeType::Deleted
                | ChangeType::Left,
                _,
            ) => self.is_selected,
        }
    }

    /// The time of an entry, or the interval in which its version was written, whose end is not its start.
    pub(crate) fn moment(&self, entry: &TimelineEntry) -> (Timestamp, Option<Timestamp>) {
        match self.past(entry) {
            Some(PastTime { time, until }) => (time, until.filter(|until| *until > time)),
            None => (entry.seen, None),
        }
    }

    /// The time of an entry that did not arrive live; `None` for a live one.
    pub(crate) fn past(&self, entry: &TimelineEntry) -> Option<PastTime> {
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

/// How much older than an earlier write a write may seem: the clocks of several API servers differ.
const SKEW: SignedDuration = SignedDuration::from_secs(2);

/// The time of a write, by the server's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteTime {
    /// The time that the server recorded for this write: in the entry of its writer, as the request to delete the object,
    /// or as its creation.
    At(Timestamp),
    /// The server recorded no time for this write. It was not earlier than this: the creation of the object.
    After(Timestamp),
}

impl WriteTime {
    /// When the newer of two versions was written; `None` if the object has no creation time. A time that is older than
    /// one in the old version is no time.
    ///
    /// `is_again` compares the versions. It returns whether all changes are by managers whose last recorded write was at
    /// the given time.
    pub(crate) fn of(
        read: &ReadVersions<'_>,
        writers: &Writers<'_>,
        is_again: impl FnOnce(Timestamp) -> bool,
    ) -> Option<WriteTime> {
        let (old, new) = read.roots();
        let created = new.time_at(&["metadata", "creationTimestamp"]);
        let Some(old) = old else {
            return created.map(if read.event.change.is_creation() {
                WriteTime::At
            } else {
                WriteTime::After
            });
        };
        let again = || writers.newest().filter(|newest| is_again(*newest));
        let recorded = (writers.moved()).or_else(|| bound(old, new)).or_else(again);
        let oldest = created.max(writers.newest_before());
        let is_time =
            |time: &Timestamp| oldest.is_none_or(|oldest| oldest.duration_since(*time) <= SKEW);
        match recorded.filter(is_time) {
            Some(time) => Some(WriteTime::At(time)),
            None => created.map(WriteTime::After),
        }
    }

    /// Like [`WriteTime::of`], for versions that nobody else compares.
    pub(crate) fn read(read: &ReadVersions<'_>) -> Option<WriteTime> {
        let (old, new) = read.roots();
        let diff = Diff::of(old, Some(new));
        let writers = diff.writers(old, Some(new));
        WriteTime::of(read, &writers, |time| diff.is_again_by(&writers, time))
    }

    /// The time, if the object records it.
    pub(crate) fn exact(self) -> Option<Timestamp> {
        match self {
            WriteTime::At(time) => Some(time),
            WriteTime::After(_) => None,
        }
    }

    /// The earliest possible time.
    pub(crate) fn earliest(self) -> Timestamp {
        let (WriteTime::At(time) | WriteTime::After(time)) = self;
        time
    }
}

/// When a Pod was bound to its node. The write has no manager, but the server sets a condition, which has the time.
fn bound(old: Value<'_>, new: Value<'_>) -> Option<Timestamp> {
    let node = |pod: Value<'_>| pod.at(&["spec", "nodeName"]).is_some();
    let scheduled = |pod: Value<'_>| {
        let mut conditions = pod.items_at(&["status", "conditions"]);
        let is_scheduled =
            |condition: &Value<'_>| condition.str_at(&["type"]).as_deref() == Some("PodScheduled");
        conditions
            .find(is_scheduled)?
            .time_at(&["lastTransitionTime"])
    };
    scheduled(new)
        .filter(|_| !node(old) && node(new))
        .filter(|time| scheduled(old) != Some(*time))
}

/// The flags that select versions and changes.
#[derive(Default)]
pub(crate) struct ShownVersions {
    /// `--only` and `--ignore`.
    pub(crate) filter: Filter,
    /// `--by` and `--people`.
    pub(crate) by: ManagerFilter,
    /// The classes of noise to show.
    pub(crate) noise: BTreeSet<Noise>,
    /// The keys that match list items, by kind.
    pub(crate) keys: KindKeys,
    /// The server's clock. Nothing was written after its time.
    pub(crate) clock: Option<Clock>,
}

impl ShownVersions {
    /// Compares the versions of an event that a source sent.
    pub(crate) fn compare<'a>(&self, key: &SourceKey, read: &'a ReadVersions<'a>) -> Compared<'a> {
        let (old, new) = read.roots();
        let mut diff = (read.pair_keys()).map(|keys| Diff::keyed(old, Some(new), keys));
        let writers = match &diff {
            Some(diff) => diff.writers(old, Some(new)),
            None => Writers::of(old, Some(new)),
        };
        let mut writers = match &self.clock {
            Some(clock) => writers.up_to(clock()),
            None => writers,
        };
        if read.event.change == ChangeType::Joined {
            writers.retain(|_, _| false);
        }
        let writers = if read.event.was_unseen {
            writers.of_several_writes()
        } else {
            writers
        };
        let written = WriteTime::of(read, &writers, |time| {
            (diff.as_ref()).is_some_and(|diff| diff.is_again_by(&writers, time))
        });
        // A Lease has only heartbeats, so a user who names one wants to see them.
        let is_lease = &*key.resource.kind == "Lease" && named(key).is_some();
        let heartbeats = is_lease.then_some(Noise::Heartbeat);
        let noise: BTreeSet<Noise> = self.noise.iter().copied().chain(heartbeats).collect();
        let is_by_named = self.is_by_named(read, &writers, diff.as_ref());
        let counts = diff.as_mut().map_or_else(ChangeCounts::default, |diff| {
            let others = self.by.narrow(diff, &writers);
            let mut counts = counts(diff, &self.filter, &noise);
            counts.filtered += others;
            counts
        });
        let selected = counts.shown;
        let counts = if is_by_named {
            counts
        } else {
            ChangeCounts {
                filtered: counts.shown + counts.hidden() + counts.filtered,
                ..ChangeCounts::default()
            }
        };
        Compared {
            read,
            diff,
            writers,
            counts,
            selected,
            noise,
            is_by_named,
            is_selected: self.selects(read),
            written,
        }
    }

    /// Whether a selected manager wrote a version. Nobody is recorded for an object that exists at the start, or that may
    /// only have started to match, so it matches every `--by`.
    fn is_by_named<'a>(
        &self,
        read: &ReadVersions<'a>,
        writers: &Writers<'a>,
        diff: Option<&Diff<'a>>,
    ) -> bool {
        match read.event.change {
            ChangeType::Baseline | ChangeType::Joined => true,
            ChangeType::Deleted | ChangeType::Left => self.by.has_written(read),
            ChangeType::Created | ChangeType::Recreated | ChangeType::Modified => {
                self.by.is_among(read, writers, diff)
            }
        }
    }

    /// Whether `--only` and `--ignore` select a part of the object.
    fn selects(&self, read: &ReadVersions<'_>) -> bool {
        let object = Path { steps: Vec::new() };
        let redactor = Redactor::new();
        self.filter.is_everything()
            || self
                .filter
                .keeps_value(&object, redactor.shown(read.doc.root()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::commands::versions::read_versions::DocCache;
    use crate::commands::versions::state::VersionEvent;
    use crate::object::Doc;
    use crate::object::list_keys::{KindKeys, Schema};
    use crate::object::{ObjectRef, ResourceVersion};
    use crate::source::Version;

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
    fn written(change: ChangeType, old: Option<&Doc>, new: &Doc) -> Option<WriteTime> {
        let event = VersionEvent::new(change, None, route(2));
        WriteTime::read(&ReadVersions {
            event: &event,
            before: old.cloned(),
            former: None,
            doc: new.clone(),
            keys: None,
        })
    }

    fn at(time: &str) -> Timestamp {
        time.parse().expect("a time")
    }

    const CREATED: &str = "2026-03-02T11:59:00Z";
    const LATEST: &str = "2026-03-02T12:00:00Z";

    fn object(generation: u32, entries: &str) -> Doc {
        let text = format!(
            r#"{{"metadata":{{"creationTimestamp":"{CREATED}","managedFields":[{entries}]}},"spec":{{"n":{generation}}}}}"#
        );
        Doc::parse(text).expect("valid")
    }

    #[test]
    fn without_managed_fields_only_the_creation_has_a_time() {
        let created = at(CREATED);
        let (old, new) = (object(1, ""), object(2, ""));
        let first = written(ChangeType::Created, None, &old);
        assert_eq!(first, Some(WriteTime::At(created)));
        // What came before the oldest readable version is not known.
        let oldest = written(ChangeType::Modified, None, &old);
        assert_eq!(oldest, Some(WriteTime::After(created)));
        let second = written(ChangeType::Modified, Some(&old), &new);
        assert_eq!(second, Some(WriteTime::After(created)));
    }

    #[test]
    fn only_the_time_of_the_owner_of_a_change_is_the_time_of_the_write() {
        let entry = |time: &str, fields: &str| {
            format!(r#"{{"manager":"m","operation":"Update","time":"{time}","fieldsV1":{fields}}}"#)
        };
        let spec = r#"{"f:spec":{"f:n":{}}}"#;
        let check = |before: &str, time: &str, fields: &str, expected: WriteTime| {
            let (old, new) = (
                object(1, &entry(before, spec)),
                object(2, &entry(time, fields)),
            );
            let time_of = written(ChangeType::Modified, Some(&old), &new);
            assert_eq!(time_of, Some(expected), "{before} {time} {fields}");
        };
        let later = "2026-03-02T12:00:09Z";
        check(LATEST, later, spec, WriteTime::At(at(later)));
        // The entry owns nothing that changed: a client sent it.
        let vague = WriteTime::After(at(CREATED));
        check(LATEST, "2026-03-02T11:00:00Z", "{}", vague);
        // No time is older than the creation, or than an earlier write.
        check("2001-01-01T00:00:00Z", "2001-01-02T00:00:00Z", spec, vague);
        check("2099-01-01T00:00:00Z", later, spec, vague);
        // The clocks of two API servers may differ a little.
        check(
            later,
            "2026-03-02T12:00:08Z",
            spec,
            WriteTime::At(at("2026-03-02T12:00:08Z")),
        );
    }

    /// An object with two managers and their fields. `late` wrote last, `early` ten seconds before.
    fn owned_by((late, early): (&str, &str), rest: &str) -> Doc {
        let entry = |manager: &str, (time, fields): (&str, &str)| {
            format!(
                r#"{{"manager":"{manager}","operation":"Update","time":"{time}","fieldsV1":{fields}}}"#
            )
        };
        let (late, early) = (
            entry("late", (LATEST, late)),
            entry("early", ("2026-03-02T11:59:50Z", early)),
        );
        let text = format!(
            r#"{{"metadata":{{"creationTimestamp":"{CREATED}","managedFields":[{late},{early}]}},{rest}}}"#
        );
        Doc::parse(text).expect("valid")
    }

    #[test]
    fn a_write_without_a_recorded_manager_has_no_exact_time() {
        let (time, created) = (at(LATEST), at(CREATED));
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
            let time_of = written(ChangeType::Modified, Some(&old), &new);
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
            WriteTime::After(created),
        );
        // The fields that a binding sets have no manager.
        check(
            owned,
            r#""spec":{"image":"a","nodeName":"n"},"status":{"phase":"Pending","observedGeneration":1}"#,
            WriteTime::After(created),
        );
        // A write that only removes fields records no time.
        check(
            (r#"{"f:status":{"f:observedGeneration":{}}}"#, owned.1),
            r#""spec":{"image":"a"},"status":{"observedGeneration":1}"#,
            WriteTime::After(created),
        );
        // Nothing changed: the object was stored again for an unknown reason.
        check(
            owned,
            r#""spec":{"image":"a"},"status":{"phase":"Pending","observedGeneration":1}"#,
            WriteTime::After(created),
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
        let written = |old, new| written(ChangeType::Modified, Some(old), new);
        assert_eq!(written(&old, &bound), Some(WriteTime::At(time)));
        // Only the binding sets the condition on the server. Later its time is what a controller sent.
        let again = owned_by(owned, &scheduled("2026-03-02T12:00:19Z"));
        let created = Some(WriteTime::After(at(CREATED)));
        assert_eq!(written(&bound, &again), created);
        let early = owned_by(owned, &scheduled("2026-03-02T11:00:00Z"));
        assert_eq!(written(&old, &early), created);
    }

    fn version(name: &str, n: usize) -> Version {
        let body = format!(r#"{{"kind":"A","metadata":{{"name":"{name}"}},"n":{n}}}"#);
        Version {
            object: ObjectRef::of(Doc::parse(&*body).expect("valid").root()).into(),
            version: ResourceVersion::new(n.to_string()),
            body: body.into(),
        }
    }

    fn both(cache: &mut DocCache, old: &Version, now: &Version) -> (Doc, Doc) {
        let (before, doc) = cache.read(Some(old), now);
        (before.expect("valid"), doc.expect("valid"))
    }

    #[test]
    fn the_previous_version_is_not_parsed_again() {
        let mut cache = DocCache::default();
        let [one, two, three] = [1, 2, 3].map(|n| version("a", n));
        let (_, doc) = both(&mut cache, &one, &two);
        let (before, after) = both(&mut cache, &two, &three);
        assert!(std::ptr::eq(doc.text(), before.text()));
        assert!(after.is_same_tape(&three.doc().expect("valid")));
    }

    #[test]
    fn after_a_gap_the_cached_version_is_not_used_as_the_previous_one() {
        let mut cache = DocCache::default();
        both(&mut cache, &version("a", 1), &version("a", 2));
        let (before, _) = both(&mut cache, &version("a", 7), &version("a", 8));
        assert_eq!(*before.text(), *version("a", 7).body.text());
    }

    #[test]
    fn a_version_that_cannot_be_parsed_is_not_cached() {
        let mut cache = DocCache::default();
        let broken = Version {
            body: "{".into(),
            ..version("a", 2)
        };
        let (_, doc) = cache.read(Some(&version("a", 1)), &broken);
        assert!(doc.is_err());
        let (before, doc) = cache.read(Some(&broken), &version("a", 3));
        assert!(before.is_none() && doc.is_ok());
    }
}
