//! What a driver and the subscribers of one source share: the store and the queues, under one lock that is never
//! held across an await.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout_at};

use super::backfill::Backfill;
use super::envelope::Verb;
use super::health::Health;
use super::history::Revision;
use super::options::Clock;
use super::queue::Queue;
use super::store::{Continuity, ObjectStore, StoreChange, reached};
use super::transport::Upstream;
use crate::object::ResourceVersion;
use crate::source::SourceKey;
use crate::source::SourceState;
use crate::source::{Event, Gap, GapCause, Version, Why};

/// One source.
pub(super) struct SharedSource {
    pub(super) key: Arc<SourceKey>,
    pub(super) clock: Clock,
    /// How the cluster's server is doing.
    pub(super) health: Arc<Health>,
    inner: Mutex<SourceInner>,
    state: watch::Sender<SourceState>,
    /// Wakes the driver when a queue has room again, or a subscriber came or went.
    pub(super) room: Notify,
    /// Wakes a backfill when a queue has room for more.
    pub(super) drained: Notify,
    /// Wakes a backfill when the server's history was set back.
    pub(super) restored: Notify,
    /// How many handles there are: sources and subscriptions.
    pub(super) leases: watch::Sender<usize>,
    /// Whether it is to be read.
    started: watch::Sender<bool>,
}

/// What the lock guards.
pub(super) struct SourceInner {
    pub(super) store: ObjectStore,
    /// Counts the object events.
    pub(super) seq: u64,
    /// Every event up to this version has come.
    pub(super) version: Option<ResourceVersion>,
    /// Since which version listings have found nothing new, while objects may have come and gone
    /// between them.
    pub(super) untold: Option<ResourceVersion>,
    /// Whether the next listing is known to be of another history than the store.
    pub(super) continuity: Continuity,
    /// How often the server's history was set back: what a backfill read before that is of no use.
    pub(super) restores: u32,
    /// How many full listings there were.
    pub(super) epoch: u32,
    pub(super) queues: BTreeMap<u64, Queue>,
    pub(super) upstream: Upstream,
    /// No event will follow.
    pub(super) closed: bool,
    /// The backfills for the driver to run, and the end of the channel that it takes.
    pub(super) backfills: UnboundedSender<Backfill>,
    pub(super) to_fill: Option<UnboundedReceiver<Backfill>>,
    next_id: u64,
}

impl SharedSource {
    pub(super) fn new(
        key: SourceKey,
        clock: Clock,
        upstream: Upstream,
        health: Arc<Health>,
    ) -> SharedSource {
        let (backfills, to_fill) = unbounded_channel();
        let inner = SourceInner {
            store: ObjectStore::default(),
            seq: 0,
            version: None,
            untold: None,
            continuity: Continuity::Continued,
            restores: 0,
            epoch: 0,
            queues: BTreeMap::new(),
            upstream,
            closed: false,
            backfills,
            to_fill: Some(to_fill),
            next_id: 0,
        };
        SharedSource {
            key: Arc::new(key),
            clock,
            health,
            inner: Mutex::new(inner),
            state: watch::Sender::new(SourceState::Connecting),
            room: Notify::new(),
            drained: Notify::new(),
            restored: Notify::new(),
            leases: watch::Sender::new(0),
            started: watch::Sender::new(false),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, SourceInner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn state(&self) -> watch::Receiver<SourceState> {
        self.state.subscribe()
    }

    /// Lets it be read from here on.
    pub(super) fn start(&self) {
        self.started.send_replace(true);
    }

    /// Waits until it is to be read.
    pub(super) async fn started(&self) {
        let mut started = self.started.subscribe();
        // The sender lives as long as this does.
        let _always = started.wait_for(|started| *started).await;
    }

    /// Our clock, `after` from now.
    pub(super) fn time(&self, after: Duration) -> Timestamp {
        let now = (self.clock)();
        SignedDuration::try_from(after)
            .ok()
            .and_then(|after| now.checked_add(after).ok())
            .unwrap_or(now)
    }

    /// Up to which version all is known.
    pub(super) fn version(&self) -> Option<ResourceVersion> {
        self.lock().version.clone()
    }

    /// The newest version that is held, and its revision.
    pub(super) fn newest_held(&self) -> Option<(Revision, Arc<Version>)> {
        let inner = self.lock();
        let held = inner.store.iter().map(|entry| &entry.version);
        let dated = held.filter_map(|held| Some((Revision::parse(&held.version)?, held)));
        let (at, newest) = dated.max_by_key(|(at, _)| *at)?;
        Some((at, newest.clone()))
    }

    /// Whether the next listing is known to be of another history than what is held.
    pub(super) fn continuity(&self) -> Continuity {
        self.lock().continuity
    }

    /// The server's history was set back: the next listing is of another.
    pub(super) fn set_back(&self) {
        self.lock().continuity = Continuity::Restored;
    }

    pub(super) fn set_state(&self, state: SourceState) {
        let mut inner = self.lock();
        if *self.state.borrow() != state {
            inner.closed |= state == SourceState::Ended;
            inner.tell(&Event::State(state.clone()));
            self.state.send_replace(state);
        }
    }

    pub(super) fn undecodable(&self, detail: Arc<str>) {
        self.lock().tell(&Event::Undecodable { detail });
    }

    /// Moves on to `version`, all before which has arrived.
    pub(super) fn bookmark(&self, version: ResourceVersion) {
        let mut inner = self.lock();
        let old = |known| reached(known, &version);
        if !inner.version.as_ref().is_some_and(old) {
            inner.version = Some(version);
        }
    }

    /// Whether this event has been seen before.
    pub(super) fn is_replay(&self, verb: Verb, version: &Version) -> bool {
        self.lock().store.is_replay(verb, version)
    }

    /// Takes in a version of an object that is there.
    pub(super) fn put(&self, verb: Verb, now: Version) {
        let seen = (self.clock)();
        let mut inner = self.lock();
        let now = Arc::new(now);
        let version = now.version.clone();
        let changes = inner.store.put(verb, now, seen);
        inner.publish(changes, seen);
        inner.reach(version);
    }

    /// Takes in the last state of an object that is not there any more.
    pub(super) fn remove(&self, why: Why, now: Version) {
        let seen = (self.clock)();
        let mut inner = self.lock();
        let version = now.version.clone();
        let change = inner.store.remove(why, Arc::new(now));
        inner.publish(vec![change], seen);
        inner.reach(version);
    }

    /// Says what polls that found nothing new have not: versions may be missing.
    pub(super) fn admit(&self) {
        self.lock().admit();
    }

    /// Waits for the subscribers whose queues are full, each as long as its patience.
    pub(super) async fn settle(&self) {
        loop {
            let room = self.room.notified();
            let Some(until) = self.lock().wait_until(Instant::now()) else {
                return;
            };
            // Either way the queues are looked at again.
            let _ = timeout_at(until, room).await;
        }
    }
}

impl SourceInner {
    pub(super) fn id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    /// That all is there as of `version`, once it is.
    pub(super) fn synced(&self, version: Option<&ResourceVersion>) -> Option<Event> {
        let version = version.cloned();
        (self.epoch > 0).then(|| Event::Synced {
            epoch: self.epoch,
            count: self.store.len(),
            version: version.unwrap_or_else(|| ResourceVersion::new("")),
        })
    }

    /// See [`SharedSource::admit`].
    pub(super) fn admit(&mut self) {
        if let (Some(after), Some(upto)) = (self.untold.take(), self.version.clone()) {
            let cause = GapCause::Polled;
            self.tell(&Event::Gap(Gap { after, upto, cause }));
        }
    }

    fn reach(&mut self, version: ResourceVersion) {
        if !version.as_str().is_empty() {
            self.version = Some(version);
        }
    }

    pub(super) fn publish(&mut self, changes: Vec<StoreChange>, seen: Timestamp) {
        for change in changes {
            self.seq += 1;
            let event = change.event(self.seq, seen);
            self.tell(&event);
        }
    }

    /// Sends an event to every subscriber.
    pub(super) fn tell(&mut self, event: &Event) {
        for queue in self.queues.values_mut() {
            queue.push(event, self.version.as_ref());
        }
    }
}
