//! The ends that views hold: a source, its lossless subscription, and its table.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use tokio::sync::{Notify, watch};

use super::event::{Event, Version};
use super::key::SourceKey;
use super::mux::Lease;
use super::patience::{Patience, Recall};
use super::queue::Queue;
use crate::object::{SourceState, Uid};

/// An open source. While any handle to it is held, or any subscription of it, it is kept up to date.
#[derive(Clone)]
pub struct Source {
    lease: Lease,
}

impl Source {
    pub(super) fn new(lease: Lease) -> Source {
        Source { lease }
    }

    /// Begins to read it, unless that has begun.
    pub fn start(&self) {
        self.lease.shared().start();
    }

    /// What it is a source of, in canonical spelling.
    pub fn key(&self) -> &Arc<SourceKey> {
        &self.lease.shared().key
    }

    /// What it is doing, now and from here on.
    pub fn state(&self) -> watch::Receiver<SourceState> {
        self.lease.shared().state()
    }

    /// Subscribes to every event. It starts with the state, all objects that are known, as `Listed`,
    /// and `Synced` if that is a full listing; then each event follows in the source's order.
    pub fn every(&self, patience: Patience) -> Every {
        self.every_waking((patience, Recall::Every), Arc::new(Notify::new()))
    }

    /// [`Source::every`] with a signal that others may share.
    pub(super) fn every_waking(
        &self,
        (patience, recall): (Patience, Recall),
        signal: Arc<Notify>,
    ) -> Every {
        let limit = self.lease.options().queue_bytes;
        let queue = Queue::new(limit, patience, signal.clone()).recalling(recall);
        let (id, backlog) = self.lease.shared().join(queue);
        Every {
            lease: self.lease.clone(),
            id,
            signal,
            backlog,
        }
    }

    /// Subscribes to the newest versions alone, as tables do.
    pub fn latest(&self) -> Latest {
        let signal = Arc::new(Notify::new());
        let id = self.lease.shared().join_table(signal.clone());
        Latest {
            lease: self.lease.clone(),
            id,
            signal,
        }
    }

    /// Everything that is held now.
    pub fn snapshot(&self) -> Snapshot {
        snapshot(&self.lease)
    }

    #[cfg(test)]
    pub(super) fn shared(&self) -> &super::source::Shared {
        self.lease.shared()
    }
}

/// What a source holds at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The number of the last object event before it.
    pub seq: u64,
    /// Which full listing it goes back to; 0 while there has been none, and nothing is known.
    pub epoch: u32,
    /// The newest version of each object, by namespace and name.
    pub objects: Vec<Arc<Version>>,
}

fn snapshot(lease: &Lease) -> Snapshot {
    let inner = lease.shared().lock();
    Snapshot {
        seq: inner.seq,
        epoch: inner.epoch,
        objects: inner
            .store
            .iter()
            .map(|entry| entry.version.clone())
            .collect(),
    }
}

/// A lossless subscription: every version in order, or an explicit [`Event::Gap`] and what is known
/// of the versions in it.
pub struct Every {
    lease: Lease,
    id: u64,
    signal: Arc<Notify>,
    backlog: VecDeque<Event>,
}

/// What [`Every::take`] found.
#[derive(Debug)]
pub(super) enum Taken {
    Event(Event),
    /// Nothing yet.
    Empty,
    /// Nothing any more.
    Done,
}

impl Every {
    /// What it is a subscription of.
    pub fn key(&self) -> &Arc<SourceKey> {
        &self.lease.shared().key
    }

    /// The next event; `None` after a file's end. Nothing is lost when it is dropped half way, so it
    /// can stand in a `select!`.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            match self.take() {
                Taken::Event(event) => return Some(event),
                Taken::Done => return None,
                // A signal that came since is kept until somebody waits.
                Taken::Empty => self.signal.notified().await,
            }
        }
    }

    /// The next event if there is one.
    pub(super) fn take(&mut self) -> Taken {
        if let Some(event) = self.backlog.pop_front() {
            return Taken::Event(event);
        }
        let shared = self.lease.shared();
        let mut guard = shared.lock();
        let inner = &mut *guard;
        if inner.queues.get(&self.id).is_some_and(Queue::is_behind) {
            // One gap tells it all.
            inner.admit();
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

impl Drop for Every {
    fn drop(&mut self) {
        self.lease.shared().leave(self.id);
    }
}

/// A subscription to what is, not to how it came about: a reader as slow as it likes skips versions,
/// and never misses the last.
pub struct Latest {
    lease: Lease,
    id: u64,
    signal: Arc<Notify>,
}

impl Latest {
    /// Which objects changed since the last call; at first, all. Objects that are gone are among
    /// them. The set is empty when only the state changed, or a listing brought nothing new. `None`
    /// after a file's end.
    pub async fn changed(&mut self) -> Option<BTreeSet<Uid>> {
        loop {
            {
                let mut inner = self.lease.shared().lock();
                let changed = inner.tables.get_mut(&self.id)?.take();
                if changed.is_some() {
                    return changed;
                }
                if inner.closed {
                    return None;
                }
            }
            self.signal.notified().await;
        }
    }

    /// The newest version of an object; `None` if it is gone. The uid is as
    /// [`identity`](super::identity) has it.
    pub fn get(&self, uid: &Uid) -> Option<Arc<Version>> {
        let inner = self.lease.shared().lock();
        Some(inner.store.get(uid)?.version.clone())
    }

    /// Everything that is held now.
    pub fn snapshot(&self) -> Snapshot {
        snapshot(&self.lease)
    }
}

impl Drop for Latest {
    fn drop(&mut self) {
        self.lease.shared().leave(self.id);
    }
}
