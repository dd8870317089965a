//! The open sources of a multiplexer: one upstream and one driver for each distinct key.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use rustc_hash::FxHasher;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::driver::Driver;
use super::health::Health;
use super::history::{Archive, ServerPast};
use super::options::{Clock, MuxOptions};
use super::source::SharedSource;
use super::transport::{Transport, Upstream};
use crate::source::{ClusterId, SourceKey, SourceState};

/// The clusters, and their open sources.
pub(super) struct Upstreams {
    clusters: HashMap<ClusterId, Cluster>,
    clock: Clock,
    options: MuxOptions,
    open: Mutex<HashMap<SourceKey, Open>>,
}

/// How to reach a cluster, the health of its server, and how far back the server keeps its history.
struct Cluster {
    transport: Arc<dyn Transport>,
    health: Arc<Health>,
    compacted: Arc<ServerPast>,
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
    pub(super) fn new(
        transports: impl IntoIterator<Item = (ClusterId, Arc<dyn Transport>)>,
        clock: Clock,
        options: MuxOptions,
    ) -> Upstreams {
        let cluster = |(id, transport)| {
            let cluster = Cluster {
                transport,
                health: Arc::default(),
                compacted: Arc::default(),
            };
            (id, cluster)
        };
        Upstreams {
            clusters: transports.into_iter().map(cluster).collect(),
            clock,
            options,
            open: Mutex::default(),
        }
    }

    /// The settings.
    pub(super) fn options(&self) -> &MuxOptions {
        &self.options
    }

    /// Returns a handle to a source, which this opens if necessary.
    pub(super) fn lease(self: &Arc<Self>, key: SourceKey) -> Lease {
        let mut open = self.open();
        let entry = open.entry(key.clone()).or_insert_with(|| self.start(key));
        let shared = entry.shared.clone();
        shared.leases.send_modify(|leases| *leases += 1);
        drop(open);
        let upstreams = self.clone();
        Lease { upstreams, shared }
    }

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
        let shared = Arc::new(SharedSource::new(key, self.clock.clone(), upstream, health));
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

    /// Where to read a source from; `None` if its cluster is unknown.
    pub(super) fn archive(&self, key: &SourceKey) -> Option<Archive> {
        let cluster = self.clusters.get(&key.cluster)?;
        Some(Archive {
            transport: cluster.transport.clone(),
            compacted: cluster.compacted.clone(),
            key: Arc::new(key.clone()),
        })
    }

    /// Removes a source that nobody holds. Returns whether it did.
    fn retire(&self, shared: &Arc<SharedSource>) -> bool {
        let mut open = self.open();
        if *shared.leases.borrow() > 0 {
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
    driver: Option<Driver>,
    linger: Duration,
) {
    let mut leases = shared.leases.subscribe();
    let driving = async {
        shared.started().await;
        if let Some(driver) = driver {
            driver.run().await;
        }
        // A source that ended or failed stays open, so that its events can be read.
        std::future::pending::<()>().await;
    };
    let abandoned = async {
        loop {
            unused(&mut leases, linger).await;
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

/// Waits until nobody has held the source for the time `linger`.
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
    BuildHasherDefault::<FxHasher>::default().hash_one(key)
}

/// A handle to a source. It keeps the source and its multiplexer alive.
pub(super) struct Lease {
    upstreams: Arc<Upstreams>,
    shared: Arc<SharedSource>,
}

impl Lease {
    pub(super) fn shared(&self) -> &SharedSource {
        &self.shared
    }

    pub(super) fn options(&self) -> &MuxOptions {
        &self.upstreams.options
    }
}

impl Clone for Lease {
    fn clone(&self) -> Lease {
        self.shared.leases.send_modify(|leases| *leases += 1);
        Lease {
            upstreams: self.upstreams.clone(),
            shared: self.shared.clone(),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.shared.leases.send_modify(|leases| *leases -= 1);
    }
}
