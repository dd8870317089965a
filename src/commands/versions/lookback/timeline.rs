//! `timeline`: the earlier versions of all objects in one order.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jiff::Timestamp;

use super::SourcePast;
use super::source_past::PastVersion;
use crate::commands::versions::compared::WriteTime;
use crate::commands::versions::state::{Occurrence, PastTime, TimelineEntry, VersionEvent, When};
use crate::object::ObjectRef;
use crate::render::diff::ChangeType;
use crate::source::{SourceKey, Version, Why};
use crate::watch::{PastEvent, Storage, is_surely_before};

/// All found versions, without those that were surely written before `since`. Those of one storage are in the order of
/// their revisions. Between storages only times are comparable.
pub(crate) fn timeline(
    found: &[SourcePast],
    since: Option<Timestamp>,
    now: Timestamp,
) -> Vec<TimelineEntry> {
    let mut storages: BTreeMap<Storage, Vec<(&Arc<SourceKey>, &PastVersion)>> = BTreeMap::new();
    for found in found {
        let versions = found.versions.iter().map(|version| (&found.key, version));
        storages.entry(found.storage).or_default().extend(versions);
    }
    let mut all = Vec::new();
    for mut versions in storages.into_values() {
        versions.sort_by_key(|(_, version)| version.event.at);
        let mut timeline = Timeline::new(now);
        for (key, version) in versions {
            timeline.add(key, version);
        }
        let mut latest = None;
        all.extend(timeline.entries(since).into_iter().map(|entry| {
            latest = latest.max(Some(entry.time()));
            (latest, entry)
        }));
    }
    // The sort is stable, so the entries of one storage keep their order.
    all.sort_by_key(|(latest, _)| *latest);
    all.into_iter().map(|(_, entry)| entry).collect()
}

/// A timeline under construction.
struct Timeline {
    entries: Vec<TimelineEntry>,
    last: HashMap<ObjectRef, Last>,
    /// The newest recorded time so far. Entries with a later revision are not older.
    latest: Option<Timestamp>,
    /// The entries without an exact time since the last entry that has one.
    open: Vec<usize>,
    now: Timestamp,
}

/// The last version of a name.
#[derive(Clone, Default)]
struct Last {
    time: Option<Timestamp>,
    /// Whether the time is only the earliest possible one.
    is_vague: bool,
    /// The last version of an object that is gone.
    gone: Option<Arc<Version>>,
}

impl Timeline {
    fn new(now: Timestamp) -> Timeline {
        Timeline {
            entries: Vec::new(),
            last: HashMap::new(),
            latest: None,
            open: Vec::new(),
            now,
        }
    }

    fn add(&mut self, key: &Arc<SourceKey>, version: &PastVersion) {
        let name = version.event.now.object.without_uid();
        let last = self.last.get(&name).cloned().unwrap_or_default();
        let is_gone = version.event.is_end();
        let exact = version.time().filter(|own| self.can_be(*own));
        if let (Some(own), true) = (exact, version.is_change()) {
            self.close(own);
        }
        let is_vague = exact.is_none();
        let past = self.past(version, last.time, exact);
        self.last.insert(
            name,
            Last {
                time: Some(past.time),
                is_vague,
                gone: is_gone.then(|| version.event.now.clone()),
            },
        );
        let PastEvent { why, now, prev, .. } = &version.event;
        if *why == Why::Listed && prev.is_none() {
            return; // the first known state is not a change
        }
        let mut event = VersionEvent::arrived(*why, prev.clone(), now.clone(), |_| last.gone);
        let is_known = is_gone || !(is_vague || last.is_vague);
        let is_modified = event.change == ChangeType::Modified;
        event.since = last.time.filter(|_| is_known && is_modified);
        event.was_unseen = *why == Why::Skipped;
        if is_vague {
            self.open.push(self.entries.len());
        }
        self.entries.push(TimelineEntry {
            seen: past.time,
            key: key.clone(),
            what: Occurrence::Version(event),
            when: When::Past(past),
        });
    }

    /// Whether the next version can have been written at this time. The versions before it are older.
    fn can_be(&self, own: Timestamp) -> bool {
        let is_surely_earlier = |latest| is_surely_before(own, latest);
        !self.latest.is_some_and(is_surely_earlier) && !is_surely_before(self.now, own)
    }

    /// The time of a version. The entries before it and the Leases narrow a vague time.
    fn past(
        &self,
        version: &PastVersion,
        last: Option<Timestamp>,
        exact: Option<Timestamp>,
    ) -> PastTime {
        if let Some(time) = exact {
            return PastTime { time, until: None };
        }
        let own = version.written.map(WriteTime::earliest);
        let own = own.filter(|own| *own <= self.now);
        let dated = version.dated.map(|dated| dated.from);
        let earliest = self.latest.max(last).max(own).max(dated);
        let time = earliest.unwrap_or(self.now);
        let until = version.dated.and_then(|dated| dated.until);
        PastTime {
            time,
            until: Some(until.unwrap_or(self.now).max(time)),
        }
    }

    /// Ends the open intervals at this time, because their revisions are older.
    fn close(&mut self, time: Timestamp) {
        for at in self.open.drain(..) {
            if let When::Past(past) = &mut self.entries[at].when {
                let until = past.until.map_or(time, |until| until.min(time));
                past.until = Some(until.max(past.time));
            }
        }
        self.latest = self.latest.max(Some(time));
    }

    fn entries(mut self, since: Option<Timestamp>) -> Vec<TimelineEntry> {
        self.entries.retain_mut(|entry| {
            let When::Past(past) = &mut entry.when else {
                return true;
            };
            let until = past.until;
            // Times are whole seconds, so an interval within one second is an exact time.
            past.until = until.filter(|until| *until > past.time);
            let times = until.zip(since);
            !times.is_some_and(|(until, since)| is_surely_before(until, since))
        });
        self.entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::ResourceVersion;
    use crate::watch::{Between, Revision};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("in range")
    }

    /// A version of a source, written at this second, or between two.
    fn version(
        name: &str,
        revision: u64,
        why: Why,
        second: Result<i64, (i64, i64)>,
    ) -> PastVersion {
        let object = ObjectRef {
            api_version: "v1".into(),
            kind: "X".into(),
            namespace: None,
            name: name.into(),
            uid: None,
        };
        let version = Arc::new(Version {
            object: object.into(),
            version: ResourceVersion::new(revision.to_string()),
            body: "{".into(),
        });
        PastVersion {
            event: PastEvent {
                why,
                at: Revision::read(&revision.to_string()),
                now: version.clone(),
                prev: (why != Why::Added).then_some(version),
            },
            written: second.ok().map(at).map(WriteTime::At),
            dated: second.err().map(|(from, until)| Between {
                from: at(from),
                until: Some(at(until)),
            }),
        }
    }

    fn source(storage: u8, versions: Vec<PastVersion>) -> SourcePast {
        let mut found = SourcePast::new(Arc::new(SourceKey::all("", "Pod")));
        found.storage = Storage::numbered(storage);
        found.versions = versions;
        found
    }

    /// The name and the time of each entry.
    fn lines(found: &[SourcePast]) -> Vec<String> {
        let entries = timeline(found, None, at(100));
        let line = |entry: &TimelineEntry| {
            let When::Past(past) = entry.when else {
                return String::new();
            };
            let name = &entry.version().expect("a version").now.object.name;
            let until = past.until.map(|until| format!("-{}", until.as_second()));
            format!(
                "{name} {}{}",
                past.time.as_second(),
                until.unwrap_or_default()
            )
        };
        entries.iter().map(line).collect()
    }

    #[test]
    fn revisions_of_two_storages_are_not_compared() {
        let objects = vec![
            version("a", 500, Why::Added, Ok(5)),
            version("a", 501, Why::Deleted, Err((8, 9))),
            version("b", 502, Why::Added, Ok(9)),
        ];
        // The second storage is younger: its revisions are lower.
        let events = || {
            vec![
                version("e", 7, Why::Added, Ok(6)),
                version("f", 8, Why::Added, Ok(60)),
            ]
        };
        let apart = [source(0, objects), source(1, events())];
        assert_eq!(lines(&apart), ["a 5", "e 6", "a 8-9", "b 9", "f 60"]);
        // One storage has one order. A write between two others was made between their times.
        let one = vec![
            version("a", 5, Why::Added, Ok(5)),
            version("a", 6, Why::Deleted, Err((1, 90))),
        ];
        let shared = [source(0, one), source(0, events())];
        assert_eq!(lines(&shared), ["a 5", "a 5-6", "e 6", "f 60"]);
    }

    #[test]
    fn a_time_that_contradicts_the_order_is_no_time() {
        let versions = vec![
            version("a", 5, Why::Added, Ok(50)),
            version("a", 6, Why::Modified, Ok(7)),
            version("a", 7, Why::Modified, Ok(999)),
            version("a", 8, Why::Modified, Ok(60)),
        ];
        assert_eq!(
            lines(&[source(0, versions)]),
            ["a 50", "a 50-60", "a 50-60", "a 60"]
        );
    }
}
