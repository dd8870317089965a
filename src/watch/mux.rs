//! The multiplexer: hands out sources, one upstream for each distinct key.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::driver::Driver;
use super::health::Health;
use super::history::{Archive, Dates, History, Memory, leases};
use super::key::{ClusterId, SourceKey};
use super::source::Shared;
use super::subscribe::Source;
use super::transport::{Transport, Upstream};
use crate::object::SourceState;

/// Tells the time, for what is shown. Waiting goes by tokio's.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// What can be set about a [`Mux`].
#[derive(Clone, Debug)]
pub struct Options {
    /// From which all jitter follows.
    pub seed: u64,
    /// How many bytes one lossless subscriber may have waiting, per source: text and tape.
    pub queue_bytes: usize,
    /// How long a source is kept after its last handle is dropped, so that a view can change its
    /// mind without listing again.
    pub linger: Duration,
    /// Items a page of a listing; 0 for all at once.
    pub page_items: u32,
    /// How many times shorter than for real servers a driver's waits are: before the next try, between
    /// polls, and until a silent watch is given up. What `Retry-After` says stays as it is. For tests
    /// on the clock of the wall.
    pub speed: NonZeroU32,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            seed: fastrand::u64(..),
            queue_bytes: 64 << 20,
            linger: Duration::from_secs(2),
            // What kubectl asks for.
            page_items: 500,
            speed: NonZeroU32::MIN,
        }
    }
}

/// Shares sources among views. Dropping it and all its sources ends every task it started.
#[derive(Clone)]
pub struct Mux {
    core: Arc<Core>,
}

struct Core {
    clusters: HashMap<ClusterId, Cluster>,
    clock: Clock,
    options: Options,
    open: Mutex<HashMap<SourceKey, Open>>,
}

/// How a cluster is reached, how it is doing, and how far back it remembers.
struct Cluster {
    transport: Arc<dyn Transport>,
    health: Arc<Health>,
    memory: Arc<Memory>,
}

/// An upstream, and its driver.
struct Open {
    shared: Arc<Shared>,
    task: Option<JoinHandle<()>>,
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

impl Mux {
    /// A multiplexer over these clusters.
    pub fn new(
        transports: impl IntoIterator<Item = (ClusterId, Arc<dyn Transport>)>,
        clock: Clock,
    ) -> Mux {
        Mux::with_options(transports, clock, Options::default())
    }

    /// [`Mux::new`], with other settings.
    pub fn with_options(
        transports: impl IntoIterator<Item = (ClusterId, Arc<dyn Transport>)>,
        clock: Clock,
        options: Options,
    ) -> Mux {
        let cluster = |(id, transport)| {
            let cluster = Cluster {
                transport,
                health: Arc::default(),
                memory: Arc::default(),
            };
            (id, cluster)
        };
        let core = Core {
            clusters: transports.into_iter().map(cluster).collect(),
            clock,
            options,
            open: Mutex::default(),
        };
        Mux {
            core: Arc::new(core),
        }
    }

    /// Opens a source, or joins one of an equal key. A cluster that is not among the transports gives a source that
    /// has failed.
    ///
    /// Must be called inside a tokio runtime.
    pub fn open(&self, key: SourceKey) -> Source {
        let source = self.open_idle(key);
        source.start();
        source
    }

    /// [`Mux::open`], but that nothing is read before [`Source::start`]: who subscribes until then misses
    /// nothing that comes just after the first listing.
    pub fn open_idle(&self, key: SourceKey) -> Source {
        let mut open = self.core.open();
        let entry = open
            .entry(key.clone())
            .or_insert_with(|| self.core.start(key));
        let shared = entry.shared.clone();
        shared.leases.send_modify(|leases| *leases += 1);
        drop(open);
        Source::new(Lease {
            core: self.core.clone(),
            shared,
        })
    }

    /// The past of a source, as far as its server remembers; `None` for a file, and for a cluster that
    /// is not among the transports.
    pub fn history(&self, key: &SourceKey) -> Option<History> {
        let archive = self.core.archive(key)?;
        History::new(archive, self.core.options.page_items)
    }

    /// What dates a cluster's revisions; `None` for a cluster that is not among the transports.
    pub fn dates(&self, cluster: &ClusterId) -> Option<Dates> {
        self.core.archive(&leases(cluster)).map(Dates::new)
    }
}

impl Core {
    fn open(&self) -> MutexGuard<'_, HashMap<SourceKey, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(self: &Arc<Self>, key: SourceKey) -> Open {
        let cluster = self.clusters.get(&key.cluster);
        let seed = self.options.seed ^ hash(&key);
        let (upstream, health) = cluster.map_or_else(
            || (Upstream::Live, Arc::default()),
            |cluster| (cluster.transport.upstream(), cluster.health.clone()),
        );
        let archive = self.archive(&key);
        let shared = Arc::new(Shared::new(key, self.clock.clone(), upstream, health));
        let driver =
            archive.map(|archive| Driver::new(shared.clone(), archive, &self.options, seed));
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

    /// Where a source is read from; `None` if its cluster is not known.
    fn archive(&self, key: &SourceKey) -> Option<Archive> {
        let cluster = self.clusters.get(&key.cluster)?;
        Some(Archive {
            transport: cluster.transport.clone(),
            memory: cluster.memory.clone(),
            key: Arc::new(key.clone()),
        })
    }

    /// Forgets a source that nobody holds; says whether it was so.
    fn retire(&self, shared: &Arc<Shared>) -> bool {
        let mut open = self.open();
        if *shared.leases.borrow() > 0 {
            return false;
        }
        if let Some(mut entry) = open.remove(&*shared.key) {
            // It is this task, which is about to return.
            entry.task = None;
        }
        true
    }
}

/// A task's whole life: drives the source for as long as somebody holds it.
async fn drive(core: Weak<Core>, shared: Arc<Shared>, driver: Option<Driver>, linger: Duration) {
    let mut leases = shared.leases.subscribe();
    let driving = async {
        shared.started().await;
        if let Some(driver) = driver {
            driver.run().await;
        }
        // A source that ended or failed stays, to be read.
        std::future::pending::<()>().await;
    };
    let abandoned = async {
        loop {
            unused(&mut leases, linger).await;
            if core.upgrade().is_none_or(|core| core.retire(&shared)) {
                return;
            }
        }
    };
    tokio::select! {
        () = driving => {}
        () = abandoned => {}
    }
}

/// Waits until nobody has held the source for as long as it lingers.
async fn unused(leases: &mut watch::Receiver<usize>, linger: Duration) {
    loop {
        if leases.wait_for(|leases| *leases == 0).await.is_err() {
            return;
        }
        if timeout(linger, leases.wait_for(|leases| *leases > 0))
            .await
            .is_err()
        {
            return;
        }
    }
}

fn hash(key: &SourceKey) -> u64 {
    use std::hash::{BuildHasher, BuildHasherDefault};
    BuildHasherDefault::<rustc_hash::FxHasher>::default().hash_one(key)
}

/// A share in a source, which keeps it and its multiplexer alive.
pub(super) struct Lease {
    core: Arc<Core>,
    shared: Arc<Shared>,
}

impl Lease {
    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }

    pub(super) fn options(&self) -> &Options {
        &self.core.options
    }
}

impl Clone for Lease {
    fn clone(&self) -> Lease {
        self.shared.leases.send_modify(|leases| *leases += 1);
        Lease {
            core: self.core.clone(),
            shared: self.shared.clone(),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.shared.leases.send_modify(|leases| *leases -= 1);
    }
}
