//! `RecordedSnapshot`: a cluster as its record shows it at one time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use jiff::Timestamp;

use super::covered_revisions::TOGETHER;
use super::covered_source::PlacedRow;
use super::error::StoreError;
use super::recorded_history::{RecordedHistory, RecordedMoment};
use super::transport::StoreTransport;
use crate::object::ResourceVersion;
use crate::source::SourceKey;
use crate::watch::{
    At, LineStream, ListPage, Page, RecordBegin, RecordedPast, Revision, SourceError, Transport,
    Upstream,
};

/// A source whose state at a time is not known, and the last time at which it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaleSource {
    /// What was recorded.
    pub key: SourceKey,
    /// The last time before at which it was recorded.
    pub until: Timestamp,
    /// When it was recorded again; `None` if it was not.
    pub again: Option<Timestamp>,
    /// Why it is not known.
    pub cause: StaleCause,
}

/// Why the state of a source at a time is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StaleCause {
    /// A recorder saw that the server did not have its type.
    Unserved,
    /// What was recorded cannot be read, or only a part was recorded: the cause of a hole.
    Unread(Arc<str>),
    /// Its state is of that time, but versions of it did not come into this copy of a record.
    Lost,
    /// Nobody recorded it.
    Unrecorded,
}

/// Reads everything as it was at a time, from the record alone. Older versions stay readable.
pub struct RecordedSnapshot {
    record: Arc<StoreTransport>,
    moments: Moments,
}

/// The states of sources at one time. Each is found once, because that reads an index of all versions around the time.
#[derive(Clone)]
struct Moments {
    time: Timestamp,
    found: Arc<Mutex<HashMap<SourceKey, Option<RecordedMoment>>>>,
    /// The listings that are read in pages: the files are read on another thread while the objects of a page are parsed.
    begun: Arc<Mutex<HashMap<SourceKey, BegunListing>>>,
}

/// A listing, and the versions that are left after its last page. Their number is the continue token.
struct BegunListing {
    at: Revision,
    /// How many versions a page has.
    limit: usize,
    left: Vec<PlacedRow>,
}

impl RecordedSnapshot {
    /// The cluster of a record as it was at a time.
    pub fn new(record: Arc<StoreTransport>, time: Timestamp) -> RecordedSnapshot {
        let (found, begun) = (Arc::default(), Arc::default());
        let moments = Moments { time, found, begun };
        RecordedSnapshot { record, moments }
    }

    /// The last time, up to that of the snapshot, at which anything was recorded; `None` if the record begins later.
    pub async fn known_until(&self) -> Result<Option<Timestamp>, StoreError> {
        let time = self.moments.time;
        let known = self.record.read(move |history| {
            let mut last = None;
            for key in &history.sources {
                last = last.max(history.known_until(key, time)?);
            }
            Ok(last)
        });
        known.await
    }

    /// Why what was recorded after a time cannot be read; `None` if it can, as far as anybody recorded.
    pub async fn unread_since(&self, since: Timestamp) -> Option<Arc<str>> {
        let read = move |history: &RecordedHistory| history.unread_since(since);
        self.record.read(read).await
    }

    /// The sources that nobody recorded at the time of the snapshot, those that are unknown for longest first.
    pub async fn stale(&self) -> Result<Vec<StaleSource>, StoreError> {
        let moments = self.moments.clone();
        self.record
            .read(move |history| moments.stale(history))
            .await
    }
}

impl Moments {
    /// The state of a source; `None` if its record begins later.
    fn of(
        &self,
        history: &RecordedHistory,
        key: &SourceKey,
    ) -> Result<Option<RecordedMoment>, StoreError> {
        let known = || self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(moment) = known().get(key) {
            return Ok(*moment);
        }
        let moment = history.moment(key, self.time)?;
        known().insert(key.clone(), moment);
        Ok(moment)
    }

    fn stale(&self, history: &RecordedHistory) -> Result<Vec<StaleSource>, StoreError> {
        let mut stale = Vec::new();
        for key in &history.sources {
            stale.extend(history.lost_at(key, self.time)?.map(|until| StaleSource {
                key: key.clone(),
                until,
                again: None,
                cause: StaleCause::Lost,
            }));
            let until = history.known_until(key, self.time)?.unwrap_or(self.time);
            if self.time.duration_since(until) > TOGETHER {
                let mut holes = history.holes(key).into_iter();
                let hole = holes.find(|hole| hole.since <= self.time && self.time < hole.until);
                let again = hole.as_ref().map(|hole| hole.until);
                let unread = hole.and_then(|hole| hole.cause);
                let unread = unread.or_else(|| history.unread_since(until));
                stale.push(StaleSource {
                    key: key.clone(),
                    until,
                    again,
                    cause: if history.was_unserved(key, self.time)? {
                        StaleCause::Unserved
                    } else {
                        unread.map_or(StaleCause::Unrecorded, StaleCause::Unread)
                    },
                });
            }
        }
        stale.sort_by_key(|source| source.until);
        Ok(stale)
    }

    fn begun(&self) -> MutexGuard<'_, HashMap<SourceKey, BegunListing>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next page of a listing. If a file turns out to be damaged, the listing begins again: another file may have the same
    /// versions.
    fn page_of(
        &self,
        mut listing: BegunListing,
        history: &RecordedHistory,
        key: &SourceKey,
    ) -> Result<ListPage, SourceError> {
        let left = listing
            .left
            .split_off(listing.limit.min(listing.left.len()));
        let items = history.items(key, &listing.left);
        let page = ListPage {
            version: listing.at.into(),
            items: items.map_err(|_damage| history.expired_listing(key))?,
            next: (!left.is_empty()).then(|| left.len().to_string().into()),
        };
        if page.next.is_some() {
            self.begun()
                .insert(key.clone(), BegunListing { left, ..listing });
        }
        Ok(page)
    }

    /// The objects of a source.
    fn listed(
        &self,
        history: &RecordedHistory,
        key: &SourceKey,
        page: &Page,
    ) -> Result<ListPage, SourceError> {
        if let Some(token) = &page.next {
            let begun = self.begun().remove(key);
            return match begun.filter(|listing| listing.left.len().to_string() == **token) {
                Some(listing) => self.page_of(listing, history, key),
                None => Err(history.expired_listing(key)),
            };
        }
        let moment = self.of(history, key)?.map(|moment| moment.revision);
        let listed = moment.and_then(|at| {
            // A probe, or all objects.
            if page.limit <= 1 {
                return history.complete_page(key, at, page);
            }
            let state = history.complete_state(key, at)?;
            let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
            let listing = state.map(|left| BegunListing { at, limit, left });
            Some(listing.and_then(|listing| self.page_of(listing, history, key)))
        });
        if let Some(listed) = listed {
            return listed;
        }
        let Some(RecordBegin { since, unread }) = history.begin_of(key) else {
            return history.page(key, &At::Latest, page);
        };
        let resource = key.resource.group_resource();
        // A file of that time can turn out to be damaged.
        let cause = unread.or_else(|| history.unread_since(Timestamp::MIN));
        let detail = match cause {
            Some(cause) => format!(
                "error: {resource} at {:.0} are not known: {cause}",
                self.time
            ),
            None => format!("error: nobody recorded {resource} before {since:.0}"),
        };
        Err(SourceError::Input {
            detail: detail.into(),
        })
    }
}

impl Transport for RecordedSnapshot {
    fn list<'a>(
        &'a self,
        key: &'a SourceKey,
        at: At,
        page: Page,
    ) -> BoxFuture<'a, Result<ListPage, SourceError>> {
        if at != At::Latest {
            return self.record.list(key, at, page);
        }
        let moments = self.moments.clone();
        self.record
            .read_of(key, move |history, key| moments.listed(history, key, &page))
    }

    fn watch<'a>(
        &'a self,
        key: &'a SourceKey,
        from: &'a ResourceVersion,
    ) -> BoxFuture<'a, Result<LineStream, SourceError>> {
        self.record.watch(key, from)
    }

    fn upstream(&self) -> Upstream {
        self.record.upstream()
    }

    fn has_past(&self) -> bool {
        true
    }

    fn recorded(&self) -> Option<&dyn RecordedPast> {
        Some(&*self.record)
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use std::collections::BTreeMap;
    use std::sync::atomic::{AtomicI64, Ordering};

    use proptest::prelude::*;

    use super::*;
    use crate::record::progress::SharedProgress;
    use crate::record::recording::Recording;
    use crate::record::tests::{FOREVER, Folder, block_on, config_map, files, recorder, start};
    use crate::record::{RecordOptions, RecordedCluster, Store};
    use crate::source::{Event, SourceState, Version, Why};
    use crate::watch::Reader;

    fn after_start(seconds: i64) -> Timestamp {
        let later = start().checked_add(SignedDuration::from_secs(seconds));
        later.expect("a time")
    }

    /// A recording whose clock shows this second after the start.
    fn recording(folder: &Folder, second: &Arc<AtomicI64>) -> Recording {
        let time = second.clone();
        let options = RecordOptions {
            store: Store::create(folder.path()).expect("a store"),
            cluster: RecordedCluster {
                id: "c1".to_owned(),
                name: "test".to_owned(),
                server: "localhost:6443".to_owned(),
            },
            retention: FOREVER,
            resumed: HashMap::new(),
            redactions: Vec::new(),
            clock: Arc::new(move || after_start(time.load(Ordering::Relaxed))),
            local_clock: Arc::new(start),
        };
        Recording::begin(options, SharedProgress::default()).expect("a file")
    }

    /// The record in a directory as it was at this second after the start.
    fn snapshot(folder: &Folder, second: i64) -> RecordedSnapshot {
        let store = Store::open(folder.path()).expect("a store");
        let record = StoreTransport::open(&store.cluster("c1")).expect("a record");
        RecordedSnapshot::new(record.expect("a record").into(), after_start(second))
    }

    /// The sources that are not known three minutes after the start, of a record of two. That of Services stops after some
    /// seconds, with this state.
    fn unknown_after(state: Option<SourceState>) -> Vec<(String, StaleCause)> {
        let folder = Folder::new();
        let second = Arc::new(AtomicI64::new(0));
        let mut recording = recording(&folder, &second);
        let [kept, gone] = ["ConfigMap", "Service"].map(|kind| Arc::new(SourceKey::all("", kind)));
        for key in [&kept, &gone] {
            let version = ResourceVersion::new("10");
            let (epoch, count) = (1, 0);
            recording.take(
                key,
                &Event::Synced {
                    epoch,
                    count,
                    version,
                },
            );
        }
        second.store(5, Ordering::Relaxed);
        if let Some(state) = state {
            recording.take(&gone, &Event::State(state));
        }
        second.store(200, Ordering::Relaxed);
        recording.reach(&kept, &ResourceVersion::new("20"));
        recording.finish().expect("written");
        let snapshot = snapshot(&folder, 180);
        let found = block_on(snapshot.stale()).expect("whole files").into_iter();
        let found = found.map(|source| (source.key.resource.kind.to_string(), source.cause));
        found.collect()
    }

    #[test]
    fn a_type_that_the_server_no_longer_had_is_not_one_that_nobody_recorded() {
        let cause = || "not found".into();
        let services = |cause| vec![("Service".to_owned(), cause)];
        let unserved = SourceState::Unserved { cause: cause() };
        assert_eq!(
            unknown_after(Some(unserved)),
            services(StaleCause::Unserved)
        );
        let forbidden = SourceState::Forbidden { cause: cause() };
        let unrecorded = services(StaleCause::Unrecorded);
        assert_eq!(unknown_after(Some(forbidden)), unrecorded);
        assert_eq!(unknown_after(None), unrecorded);
    }

    /// A version that was stored at this second after the start.
    fn stored_at(second: i64) -> Arc<Version> {
        let time = after_start(second);
        let version = config_map(1, u64::try_from(second).expect("a revision"), "a");
        let managed =
            format!(r#""metadata":{{"managedFields":[{{"manager":"m","time":"{time}"}}],"#);
        let text = version.body.text().replace(r#""metadata":{"#, &managed);
        Arc::new(Version {
            body: text.into(),
            ..Version::clone(&version)
        })
    }

    #[test]
    fn only_what_arrived_late_hides_the_state_after_an_interruption() {
        let folder = Folder::new();
        let second = Arc::new(AtomicI64::new(0));
        let mut recording = recording(&folder, &second);
        let key = Arc::new(SourceKey::all("", "ConfigMap"));
        let synced = Event::Synced {
            epoch: 1,
            count: 0,
            version: ResourceVersion::new("10"),
        };
        let lost = SourceState::Retrying {
            attempt: 1,
            cause: "connection refused".into(),
            until: start(),
            is_throttled: false,
        };
        let changed = |seen, stored| Event::Object {
            why: Why::Modified,
            past: false,
            seen: after_start(seen),
            now: stored_at(stored),
            prev: None,
        };
        for (at, event) in [
            (0, synced),
            (1, Event::State(SourceState::Live)),
            (10, Event::State(lost)),
            (40, Event::State(SourceState::Live)),
            (42, changed(42, 20)),
            (55, changed(55, 55)),
            (70, changed(70, 69)),
        ] {
            second.store(at, Ordering::Relaxed);
            recording.take(&key, &event);
        }
        recording.finish().expect("written");
        let known =
            |second| block_on(snapshot(&folder, second).known_until()).expect("whole files");
        for (asked, expected) in [(5, 5), (30, 10), (41, 10), (50, 50), (60, 60), (69, 69)] {
            assert_eq!(known(asked), Some(after_start(expected)), "{asked}");
        }
    }

    /// One write: the object, its new data or its end, and how many seconds after the write before.
    fn write() -> impl Strategy<Value = (usize, Option<String>, i64)> {
        let names = prop::sample::select(vec![1, 22, 333, 4444]);
        (names, prop::option::weighted(0.7, "[ab]{1,3}"), 1_i64..30)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn a_snapshot_has_what_had_arrived_by_its_time(
            writes in prop::collection::vec(write(), 1..30),
            asked in 3_600_i64..4_600,
        ) {
            let folder = Folder::new();
            let key = Arc::new(SourceKey::all("", "ConfigMap"));
            let recorder = recorder(folder.path(), FOREVER);
            let version = ResourceVersion::new("10");
            recorder.record(&key, Event::Synced { epoch: 1, count: 0, version });
            let mut state: BTreeMap<usize, String> = BTreeMap::new();
            let mut expect = state.clone();
            let (mut revision, mut second) = (10, 3_600);
            for (name, data, pause) in &writes {
                second += pause;
                let had = state.get(name).cloned();
                let (why, text) = match (data, &had) {
                    (Some(data), Some(_)) => (Why::Modified, data.clone()),
                    (Some(data), None) => (Why::Added, data.clone()),
                    (None, Some(had)) => (Why::Deleted, had.clone()),
                    (None, None) => continue,
                };
                revision += 1;
                match data {
                    Some(data) => state.insert(*name, data.clone()),
                    None => state.remove(name),
                };
                if second <= asked {
                    expect = state.clone();
                }
                let now = config_map(*name, revision, &text);
                let seen = after_start(second);
                recorder.record(&key, Event::Object { why, past: false, seen, now, prev: None });
            }
            recorder.finish().expect("written");
            prop_assume!(revision > 10);
            let store = Store::open(folder.path()).expect("a store");
            prop_assert_eq!(files(folder.path()).len(), 1);
            let record = StoreTransport::open(&store.cluster("c1")).expect("a record");
            let record = Arc::new(record.expect("a record"));
            let snapshot = RecordedSnapshot::new(record.clone(), after_start(asked));
            let end = record.until().expect("an end");
            let known = block_on(snapshot.known_until()).expect("whole files");
            prop_assert_eq!(known, Some(after_start(asked).min(end)));
            let mut reader = Reader::new(&key);
            let mut found = BTreeMap::new();
            let mut page = Page { limit: 2, next: None };
            loop {
                let listed = block_on(snapshot.list(&key, At::Latest, page.clone())).expect("a list");
                prop_assert!(listed.items.len() <= 2);
                for item in &listed.items {
                    let version = reader.item(item).expect("an object");
                    let doc = version.doc().expect("JSON");
                    let data = doc.root().get("data").and_then(|data| data.get("a"));
                    let name = version.object.name.trim_start_matches("flags-").parse().expect("a number");
                    let data = data.and_then(|data| data.as_str().map(|it| it.to_string())).expect("a text");
                    prop_assert_eq!(found.insert(name, data), None);
                }
                page.next = listed.next;
                if page.next.is_none() {
                    break;
                }
            }
            prop_assert_eq!(found, expect);
        }
    }
}
