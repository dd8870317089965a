//! `timeline`: the earlier versions of all objects in one order.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::SourcePast;
use super::source_past::PastVersion;
use crate::commands::changes::compared::WriteTime;
use crate::commands::changes::state::{Occurrence, PastTime, TimelineEntry, VersionEvent, When};
use crate::object::ObjectRef;
use crate::render::diff::ChangeType;
use crate::source::{SourceKey, Why};
use crate::watch::{PastEvent, is_surely_before};

/// All found versions in the order of their revisions, without those that were surely written before `since`.
pub(crate) fn timeline(
    found: &[SourcePast],
    since: Option<Timestamp>,
    now: Timestamp,
) -> Vec<TimelineEntry> {
    let mut all: Vec<(&Arc<SourceKey>, &PastVersion)> = found
        .iter()
        .flat_map(|found| {
            found
                .versions
                .iter()
                .map(move |version| (&found.key, version))
        })
        .collect();
    all.sort_by_key(|(_, version)| version.event.at);
    let mut timeline = Timeline::new(now);
    for (key, version) in all {
        timeline.add(key, version);
    }
    timeline.entries(since)
}

/// A timeline under construction.
struct Timeline {
    entries: Vec<TimelineEntry>,
    last: HashMap<ObjectRef, Last>,
    /// The newest write time so far. Entries with a later revision are not older.
    latest: Option<Timestamp>,
    /// The entries without an exact time since the last entry that has one.
    open: Vec<usize>,
    now: Timestamp,
}

/// The last version of a name.
#[derive(Clone, Copy, Default)]
struct Last {
    time: Option<Timestamp>,
    /// Whether the time is only the earliest possible one.
    is_vague: bool,
    is_gone: bool,
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
        let last = self.last.get(&name).copied().unwrap_or_default();
        let is_gone = version.event.is_end();
        if let (Some(own), true) = (version.time(), version.is_change()) {
            self.close(own);
        }
        let is_vague = is_gone || matches!(version.written, Some(WriteTime::After(_)));
        let past = self.past(version, last.time, is_vague);
        self.last.insert(
            name,
            Last {
                time: Some(past.time),
                is_vague,
                is_gone,
            },
        );
        let PastEvent { why, now, prev, .. } = &version.event;
        if *why == Why::Listed && prev.is_none() {
            return; // the first known state is not a change
        }
        let mut event = VersionEvent::arrived(*why, prev.clone(), now.clone(), |_| last.is_gone);
        let is_known = is_gone || !(is_vague || last.is_vague);
        let is_modified = event.change == ChangeType::Modified;
        event.since = last.time.filter(|_| is_known && is_modified);
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

    /// The time of a version. The entries before it and the Leases narrow a vague time.
    fn past(&self, version: &PastVersion, last: Option<Timestamp>, is_vague: bool) -> PastTime {
        let dated = version.dated.filter(|_| is_vague);
        let earliest = self
            .latest
            .max(last)
            .max(version.written.map(WriteTime::earliest))
            .max(dated.map(|dated| dated.from));
        let time = version.time().or(earliest).unwrap_or(self.now);
        let until = dated.and_then(|dated| dated.until).unwrap_or(self.now);
        PastTime {
            time,
            until: is_vague.then_some(until.max(time)),
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
