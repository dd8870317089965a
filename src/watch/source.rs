//! The state that a driver and the subscribers of one source share: the store and the queues. One lock guards
//! both, and nobody holds it across an await.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout_at};

use super::backfill::Backfill;
use super::backoff::Health;
use super::demand::SourceDemand;
use super::envelope::WatchVerb;
use super::queue::{Queue, Readers};
use super::revision::Revision;
use super::store::{Continuity, KnownState, ObjectStore, StoreChange, reached};
use super::transport::Upstream;
use crate::cluster::Clock;
use crate::object::ResourceVersion;
use crate::source::{Event, Gap, GapCause, SourceKey, SourceState, Version, Why};

pub(super) struct SharedSource {
    pub(super) key: Arc<SourceKey>,
    pub(super) clock: Clock,
    /// The health of the cluster's server.
    pub(super) health: Arc<Health>,
    inner: Mutex<SourceInner>,
    state: watch::Sender<SourceState>,
    /// Wakes the driver when a queue has room again, and when a subscriber joins or leaves.
    pub(super) room: Notify,
    /// Wakes a backfill when a queue has room for more.
    pub(super) drained: Notify,
    /// Wakes a backfill when the server's history was restored.
    pub(super) restored: Notify,
    /// Wakes who waits for the end of backfills.
    pub(super) filled: Notify,
    /// What its holders want of the driver.
    pub(super) demand: SourceDemand,
    /// Wakes the driver when a backfill waits.
    backfill_waits: Arc<Notify>,
}

/// The fields that the lock guards.
pub(super) struct SourceInner {
    pub(super) store: ObjectStore,
    /// The source has every event up to this version.
    pub(super) version: Option<ResourceVersion>,
    /// The version since which polls have found nothing new. Objects may have been created and deleted between
    /// the polls.
    pub(super) unchanged_since: Option<ResourceVersion>,
    /// Whether the next listing is known to belong to another history than the store.
    pub(super) continuity: Continuity,
    /// How often the server's history was restored. A backfill from before a restore is useless.
    pub(super) restores: u32,
    /// How many full listings arrived.
    pub(super) epoch: u32,
    /// Boxed, as a map has room for several, and nearly every source has one subscriber.
    pub(super) queues: BTreeMap<u64, Box<Queue>>,
    pub(super) upstream: Upstream,
    /// Whether the last event has been sent.
    pub(super) closed: bool,
    /// The backfills that the driver must run.
    backfills: VecDeque<Backfill>,
    /// That of the source, which is out of reach under the lock.
    backfill_waits: Arc<Notify>,
    next_id: u64,
}

impl SharedSource {
    pub(super) fn new(
        key: Arc<SourceKey>,
        clock: Clock,
        upstream: Upstream,
        health: Arc<Health>,
    ) -> SharedSource {
        let backfill_waits = Arc::new(Notify::new());
        let inner = SourceInner {
            store: ObjectStore::default(),
            version: None,
            unchanged_since: None,
            continuity: Continuity::Continued,
            restores: 0,
            epoch: 0,
            queues: BTreeMap::new(),
            upstream,
            closed: false,
            backfills: VecDeque::new(),
            backfill_waits: backfill_waits.clone(),
            next_id: 0,
        };
        SharedSource {
            key,
            clock,
            health,
            inner: Mutex::new(inner),
            state: watch::Sender::new(SourceState::Connecting),
            room: Notify::new(),
            drained: Notify::new(),
            restored: Notify::new(),
            filled: Notify::new(),
            demand: SourceDemand::default(),
            backfill_waits,
        }
    }

    /// Starts from a known state.
    pub(super) fn resume(&self, known: KnownState) {
        let mut inner = self.lock();
        inner.store.restore(known.objects);
        inner.version = Some(known.version);
        inner.epoch = 1;
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, SourceInner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn state(&self) -> watch::Receiver<SourceState> {
        self.state.subscribe()
    }

    /// The time on our clock, `after` from now.
    pub(super) fn time(&self, after: Duration) -> Timestamp {
        let now = (self.clock)();
        SignedDuration::try_from(after)
            .ok()
            .and_then(|after| now.checked_add(after).ok())
            .unwrap_or(now)
    }

    pub(super) fn version(&self) -> Option<ResourceVersion> {
        self.lock().version.clone()
    }

    pub(super) fn newest_held(&self) -> Option<(Revision, Arc<Version>)> {
        let inner = self.lock();
        let held = inner.store.iter().map(|entry| &entry.version);
        let dated = held.filter_map(|held| Some((Revision::parse(&held.version)?, held)));
        let (at, newest) = dated.max_by_key(|(at, _)| *at)?;
        Some((at, newest.clone()))
    }

    /// Whether the next listing is known to belong to another history than the store.
    pub(super) fn continuity(&self) -> Continuity {
        self.lock().continuity
    }

    /// Records that the server's history was restored: the next listing belongs to another history.
    pub(super) fn set_back(&self) {
        self.lock().continuity = Continuity::Restored;
    }

    pub(super) fn set_state(&self, state: SourceState) {
        let mut inner = self.lock();
        if *self.state.borrow() != state {
            inner.closed |= state == SourceState::Ended;
            inner.broadcast(&Event::State(state.clone()));
            self.state.send_replace(state);
        }
    }

    pub(super) fn undecodable(&self, detail: Arc<str>) {
        self.lock().broadcast(&Event::Undecodable { detail });
    }

    /// Moves on to `version`. All events before it have arrived.
    pub(super) fn bookmark(&self, version: ResourceVersion) {
        let mut inner = self.lock();
        let old = |known| reached(known, &version);
        if !inner.version.as_ref().is_some_and(old) {
            inner.version = Some(version);
        }
    }

    /// Whether this event arrived before.
    pub(super) fn was_seen(&self, verb: WatchVerb, version: &Version) -> bool {
        self.lock().store.was_seen(verb, version)
    }

    /// Takes in a version of an existing object.
    pub(super) fn put(&self, verb: WatchVerb, now: Version) {
        let seen = (self.clock)();
        let mut inner = self.lock();
        let now = Arc::new(now);
        let version = now.version.clone();
        let changes = inner.store.put(verb, now, seen);
        inner.publish(changes, seen);
        inner.reach(version);
    }

    /// Takes in the last state of an object that no longer exists or no longer matches.
    pub(super) fn remove(&self, why: Why, now: Version) {
        let seen = (self.clock)();
        let mut inner = self.lock();
        let version = now.version.clone();
        let change = inner.store.remove(why, Arc::new(now));
        inner.publish(vec![change], seen);
        inner.reach(version);
    }

    /// Sends a gap for polls that found nothing new: versions between them may be missing.
    pub(super) fn report_polled(&self) {
        self.lock().report_polled();
    }

    /// Waits for the subscribers whose queues are full, for each as long as its patience.
    pub(super) async fn settle(&self) {
        loop {
            let room = self.room.notified();
            let Some(until) = self.lock().wait_until(Instant::now()) else {
                return;
            };
            // After a wake-up and after a timeout alike, the loop checks the queues again.
            let _ = timeout_at(until, room).await;
        }
    }

    /// Adds a lossless subscriber. Returns its id and the events that it starts with.
    pub(super) fn join(&self, queue: Queue) -> (u64, VecDeque<Event>) {
        let mut inner = self.lock();
        // This goes to the other subscribers: the missing versions are older than the new subscription.
        inner.report_polled();
        let state = self.state().borrow().clone();
        let mut start: VecDeque<Event> = VecDeque::new();
        start.push_back(Event::State(state));
        start.extend(inner.store.iter().map(|entry| {
            let change = StoreChange {
                why: Why::Listed,
                now: entry.version.clone(),
                prev: None,
            };
            change.event(entry.seen)
        }));
        start.extend(inner.synced(inner.version.as_ref()));
        let id = inner.id();
        inner.queues.insert(id, Box::new(queue));
        self.room.notify_one();
        (id, start)
    }

    /// Waits for the next backfill to run.
    pub(super) async fn next_backfill(&self) -> Backfill {
        loop {
            let waits = self.backfill_waits.notified();
            let next = self.lock().backfills.pop_front();
            match next {
                Some(next) => return next,
                None => waits.await,
            }
        }
    }

    /// Waits until the source has a subscriber.
    pub(super) async fn first_reader(&self) {
        while self.lock().queues.is_empty() {
            self.room.notified().await;
        }
    }

    /// Removes a subscriber.
    pub(super) fn leave(&self, id: u64) {
        let mut inner = self.lock();
        let queue = inner.queues.remove(&id);
        drop(inner);
        drop(queue);
        self.room.notify_one();
    }
}

impl SourceInner {
    pub(super) fn id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    /// The event that all objects as of `version` have arrived; `None` before the first listing.
    pub(super) fn synced(&self, version: Option<&ResourceVersion>) -> Option<Event> {
        let version = version.cloned();
        (self.epoch > 0).then(|| Event::Synced {
            epoch: self.epoch,
            count: self.store.len(),
            version: version.unwrap_or_else(|| ResourceVersion::new("")),
        })
    }

    pub(super) fn report_polled(&mut self) {
        if let (Some(after), Some(upto)) = (self.unchanged_since.take(), self.version.clone()) {
            let cause = GapCause::Polled;
            self.broadcast(&Event::Gap(Gap { after, upto, cause }));
        }
    }

    fn reach(&mut self, version: ResourceVersion) {
        if !version.as_str().is_empty() {
            self.version = Some(version);
        }
    }

    pub(super) fn publish(&mut self, changes: Vec<StoreChange>, seen: Timestamp) {
        for change in changes {
            self.broadcast(&change.event(seen));
        }
    }

    /// Sends an event to every subscriber.
    pub(super) fn broadcast(&mut self, event: &Event) {
        for queue in self.queues.values_mut() {
            queue.push(event, self.version.as_ref());
        }
    }

    /// Lets the driver run a backfill, after those that wait already.
    pub(super) fn begin_backfill(&mut self, backfill: Backfill) {
        self.backfills.push_back(backfill);
        self.backfill_waits.notify_one();
    }

    /// Whether others read the source too.
    pub(super) fn readers(&self) -> Readers {
        match (self.upstream, self.queues.len()) {
            (Upstream::Replayable, _) => Readers::Unhurried,
            (Upstream::Live, 0 | 1) => Readers::Alone,
            (Upstream::Live, _) => Readers::Others,
        }
    }

    /// The time until which the driver waits for the subscribers whose queues are full.
    pub(super) fn wait_until(&mut self, now: Instant) -> Option<Instant> {
        let readers = self.readers();
        self.queues
            .values_mut()
            .filter_map(|queue| queue.wait_until(now, readers))
            .min()
    }
}
