//! The multiplexer: gives views their sources, with one upstream per distinct key.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, BuildHasherDefault};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use rustc_hash::FxHasher;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::backoff::Health;
use super::driver::Driver;
use super::history::{Archive, Dates, History, leases};
use super::options::MuxOptions;
use super::queue::{Queue, SubscribeOptions};
use super::retrying_transport::ServerPast;
use super::source::SharedSource;
use super::store::KnownState;
use super::transport::{Transport, Upstream};
use crate::cluster::Clock;
use crate::object::{ObjectRef, ResourceVersion};
use crate::source::{ClusterId, Event, SourceKey, SourceState, Version};

/// Shares sources among views. Dropping it and all its sources ends every task that it started.
#[derive(Clone)]
pub struct Mux {
    upstreams: Arc<Upstreams>,
}

impl Mux {
    /// Creates a multiplexer for these clusters.
    pub fn new(
        transports: impl IntoIterator<Item = (ClusterId, Arc<dyn Transport>)>,
        clock: Clock,
    ) -> Mux {
        Mux::with_options(transports, clock, MuxOptions::default())
    }

    /// Creates a multiplexer as [`Mux::new`] does, with other settings.
    pub fn with_options(
        transports: impl IntoIterator<Item = (ClusterId, Arc<dyn Transport>)>,
        clock: Clock,
        options: MuxOptions,
    ) -> Mux {
        let cluster = |(id, transport)| (id, Cluster::new(transport));
        Mux {
            upstreams: Arc::new(Upstreams {
                clusters: Mutex::new(transports.into_iter().map(cluster).collect()),
                clock,
                options,
                open: Mutex::default(),
                resumed: Mutex::default(),
            }),
        }
    }

    /// Adds a cluster, before its first source is opened.
    pub fn add(&self, cluster: ClusterId, transport: Arc<dyn Transport>) {
        let mut clusters = self.upstreams.clusters();
        clusters.insert(cluster, Cluster::new(transport));
    }

    /// Opens a source, or joins one with an equal key. It reads nothing before [`Source::start`]. A subscriber that
    /// joins until then also gets the events just after the first listing. A source of an unknown cluster has the
    /// state Failed.
    ///
    /// Must be called inside a tokio runtime.
    pub fn open_idle(&self, key: SourceKey) -> Source {
        let lease = self.upstreams.lease(key);
        Source { lease }
    }

    /// Makes the source with this key start from a known state, once it is opened. An open source stays as it is.
    pub fn resume(&self, key: SourceKey, known: KnownState) {
        let resumed = self.upstreams.resumed.lock();
        let mut resumed = resumed.unwrap_or_else(PoisonError::into_inner);
        resumed.insert(key, known);
    }

    /// The objects of an open source that is up to date, sorted by namespace and name, and the version of this state.
    pub fn held(&self, key: &SourceKey) -> Option<(ResourceVersion, Vec<Arc<Version>>)> {
        let shared = self.upstreams.open().get(key)?.shared.clone();
        if *shared.state().borrow() != SourceState::Live {
            return None;
        }
        let inner = shared.lock();
        let objects = inner.store.iter().map(|held| held.version.clone());
        Some((inner.version.clone()?, objects.collect()))
    }

    /// The version up to which an open source has every event, if it is up to date.
    pub fn reached(&self, key: &SourceKey) -> Option<ResourceVersion> {
        let shared = self.upstreams.open().get(key)?.shared.clone();
        let is_live = *shared.state().borrow() == SourceState::Live;
        shared.version().filter(|_| is_live)
    }

    /// One object of an open source that is up to date, and the version of this state.
    pub fn held_object(
        &self,
        key: &SourceKey,
        object: ObjectRef,
    ) -> Option<(ResourceVersion, Option<Arc<Version>>)> {
        let shared = self.upstreams.open().get(key)?.shared.clone();
        if *shared.state().borrow() != SourceState::Live {
            return None;
        }
        let inner = shared.lock();
        let held = inner.store.named(object);
        Some((
            inner.version.clone()?,
            held.map(|held| held.version.clone()),
        ))
    }

    /// The past of a source, as far back as the server keeps it. `None` for a file, and for an unknown cluster.
    pub fn history(&self, key: &SourceKey) -> Option<History> {
        History::new(self.upstreams.archive(Arc::new(key.clone()))?)
    }

    /// The times of a cluster's revisions; `None` for an unknown cluster.
    pub fn dates(&self, cluster: &ClusterId) -> Option<Dates> {
        let leases = Arc::new(leases(cluster));
        self.upstreams.archive(leases).map(Dates::new)
    }
}

/// The clusters, and their open sources.
pub(super) struct Upstreams {
    clusters: Mutex<HashMap<ClusterId, Cluster>>,
    clock: Clock,
    options: MuxOptions,
    open: Mutex<HashMap<Arc<SourceKey>, Open>>,
    /// The states from which sources start.
    resumed: Mutex<HashMap<SourceKey, KnownState>>,
}

/// How to reach a cluster, the health of its server, and how far back the server keeps its history.
#[derive(Clone)]
struct Cluster {
    transport: Arc<dyn Transport>,
    health: Arc<Health>,
    compacted: Arc<ServerPast>,
}

impl Cluster {
    fn new(transport: Arc<dyn Transport>) -> Cluster {
        Cluster {
            transport,
            health: Arc::default(),
            compacted: Arc::default(),
        }
    }
}

/// An upstream and its driver.
struct Open {
    shared: Arc<SharedSource>,
    task: Option<JoinHandle<()>>,
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

impl Upstreams {
    /// Returns a handle to a source, which this opens if necessary.
    pub(super) fn lease(self: &Arc<Self>, key: SourceKey) -> Lease {
        let mut open = self.open();
        let key = Arc::new(key);
        let entry = open.entry(key.clone()).or_insert_with(|| self.start(key));
        let shared = entry.shared.clone();
        shared.demand.hold();
        drop(open);
        let upstreams = self.clone();
        Lease { upstreams, shared }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<Arc<SourceKey>, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn clusters(&self) -> MutexGuard<'_, HashMap<ClusterId, Cluster>> {
        self.clusters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cluster(&self, id: &ClusterId) -> Option<Cluster> {
        self.clusters().get(id).cloned()
    }

    fn start(self: &Arc<Self>, key: Arc<SourceKey>) -> Open {
        let cluster = self.cluster(&key.cluster);
        let seed = self.options.seed ^ hash(&key);
        let (upstream, health) = cluster.map_or_else(
            || (Upstream::Live, Arc::default()),
            |cluster| (cluster.transport.upstream(), cluster.health),
        );
        let archive = self.archive(key.clone());
        let mut resumed = self.resumed.lock().unwrap_or_else(PoisonError::into_inner);
        let known = resumed.remove(&key);
        drop(resumed);
        let shared = Arc::new(SharedSource::new(key, self.clock.clone(), upstream, health));
        if let Some(known) = known {
            shared.resume(known);
        }
        let driver = archive.map(|archive| {
            // A future keeps several copies of what it owns.
            Box::new(Driver::new(shared.clone(), archive, &self.options, seed))
        });
        if driver.is_none() {
            let cause = format!("no such cluster: {}", shared.key.cluster.0).into();
            shared.set_state(SourceState::Failed { cause });
        }
        let task = tokio::spawn(drive(
            Arc::downgrade(self),
            shared.clone(),
            driver,
            self.options.linger,
        ));
        Open {
            shared,
            task: Some(task),
        }
    }

    /// Where to read a source from; `None` if its cluster is unknown.
    pub(super) fn archive(&self, key: Arc<SourceKey>) -> Option<Archive> {
        let cluster = self.cluster(&key.cluster)?;
        Some(Archive {
            transport: cluster.transport,
            compacted: cluster.compacted,
            key,
            page_items: self.options.page_items,
        })
    }

    /// Removes a source that nobody holds. Returns whether it did.
    fn retire(&self, shared: &Arc<SharedSource>) -> bool {
        let mut open = self.open();
        if shared.demand.is_held() {
            return false;
        }
        if let Some(mut entry) = open.remove(&*shared.key) {
            // The task is the current one, which returns next: it must not abort itself.
            entry.task = None;
        }
        true
    }
}

/// The body of a source's task: drives the source while somebody holds it.
async fn drive(
    upstreams: Weak<Upstreams>,
    shared: Arc<SharedSource>,
    driver: Option<Box<Driver>>,
    linger: Duration,
) {
    let driving = async {
        shared.demand.started().await;
        if let Some(driver) = driver {
            driver.run().await;
        }
        // A source that ended or failed stays open, so that its events can be read.
        std::future::pending::<()>().await;
    };
    let abandoned = async {
        loop {
            shared.demand.unheld(linger).await;
            let upstreams = upstreams.upgrade();
            if upstreams.is_none_or(|upstreams| upstreams.retire(&shared)) {
                return;
            }
        }
    };
    tokio::select! {
        () = driving => {}
        () = abandoned => {}
    }
}

fn hash(key: &SourceKey) -> u64 {
    BuildHasherDefault::<FxHasher>::default().hash_one(key)
}

/// A handle to a source. It keeps the source and its multiplexer alive.
pub(super) struct Lease {
    upstreams: Arc<Upstreams>,
    pub(super) shared: Arc<SharedSource>,
}

impl Clone for Lease {
    fn clone(&self) -> Lease {
        self.shared.demand.hold();
        Lease {
            upstreams: self.upstreams.clone(),
            shared: self.shared.clone(),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.shared.demand.release();
    }
}

/// An open source. It stays up to date while a handle to it or one of its subscriptions exists.
#[derive(Clone)]
pub struct Source {
    pub(super) lease: Lease,
}

impl Source {
    /// Begins to read the source, unless reading has begun.
    pub fn start(&self) {
        self.lease.shared.demand.start();
    }

    /// Lists the objects of a source that is not watched once more, unless it is watched by then. Waits until subscriptions
    /// have the changes, and the versions between two listings.
    pub async fn poll(&self) {
        let shared = &self.lease.shared;
        let mut state = shared.state();
        tokio::select! {
            () = shared.demand.ask_for_listing() => {}
            _ = state.wait_for(|state| *state == SourceState::Live) => {}
        }
        shared.filled().await;
    }

    /// The key of the source. It is the same `Arc` while the source is open, so it identifies the source.
    pub fn key(&self) -> &Arc<SourceKey> {
        &self.lease.shared.key
    }

    /// Subscribes to every event. The subscription starts with the state, then all known objects as `Listed`,
    /// then `Synced` if they are a full listing. After that each event follows in the source's order.
    /// Several subscriptions may share the signal, which wakes their reader.
    pub(super) fn subscribe(
        &self,
        options: SubscribeOptions,
        signal: Arc<Notify>,
    ) -> LosslessSubscription {
        let limit = self.lease.upstreams.options.queue_bytes;
        let queue = Queue::new(limit, options, signal);
        let (id, backlog) = self.lease.shared.join(queue);
        LosslessSubscription {
            lease: self.lease.clone(),
            id,
            backlog,
        }
    }
}

/// A lossless subscription: every version in order, or an explicit [`Event::Gap`] followed by the known versions
/// in it.
pub(super) struct LosslessSubscription {
    lease: Lease,
    id: u64,
    backlog: VecDeque<Event>,
}

/// The result of [`LosslessSubscription::take`].
#[derive(Debug)]
pub(super) enum Taken {
    Event(Event),
    /// No event is ready yet.
    Empty,
    /// No event will follow.
    Done,
}

impl LosslessSubscription {
    pub(super) fn key(&self) -> &Arc<SourceKey> {
        &self.lease.shared.key
    }

    /// The version up to which the subscriber has taken every event; `None` while events wait.
    pub(super) fn reached(&self) -> Option<ResourceVersion> {
        let inner = self.lease.shared.lock();
        let queue = inner.queues.get(&self.id)?;
        let is_current = self.backlog.is_empty() && queue.is_idle() && inner.epoch > 0;
        // A source that is polled or disconnected may have missed versions.
        let is_live = *self.lease.shared.state().borrow() == SourceState::Live;
        inner.version.clone().filter(|_| is_current && is_live)
    }

    /// The next event, if one is ready.
    pub(super) fn take(&mut self) -> Taken {
        if let Some(event) = self.backlog.pop_front() {
            return Taken::Event(event);
        }
        let shared = &self.lease.shared;
        let mut guard = shared.lock();
        let inner = &mut *guard;
        if inner
            .queues
            .get(&self.id)
            .is_some_and(|queue| queue.is_behind())
        {
            // One gap then covers both intervals.
            inner.report_polled();
        }
        let Some(queue) = inner.queues.get_mut(&self.id) else {
            return Taken::Done;
        };
        let (was_full, had_room) = (queue.is_full(), queue.has_room());
        let event = queue.pop();
        if was_full && !queue.is_full() {
            shared.room.notify_one();
        }
        if !had_room && queue.has_room() {
            shared.drained.notify_one();
        }
        let event = event.or_else(|| {
            self.backlog = inner.catch_up(self.id, (shared.clock)())?;
            self.backlog.pop_front()
        });
        match event {
            Some(event) => Taken::Event(event),
            None if inner.closed => Taken::Done,
            None => Taken::Empty,
        }
    }
}

impl Drop for LosslessSubscription {
    fn drop(&mut self) {
        self.lease.shared.leave(self.id);
    }
}
