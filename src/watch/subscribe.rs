//! What views hold: a source, and its subscription.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::Notify;

use super::patience::{Patience, Terms};
use super::queue::Queue;
use super::upstreams::Lease;
use crate::source::Event;
use crate::source::SourceKey;

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

    /// What it is a source of. It is one `Arc` for as long as the source is open, which tells it from others.
    pub fn key(&self) -> &Arc<SourceKey> {
        &self.lease.shared().key
    }

    /// Subscribes to every event. It starts with the state, all objects that are known, as `Listed`,
    /// and `Synced` if that is a full listing; then each event follows in the source's order.
    pub fn every(&self, patience: Patience) -> Every {
        self.every_waking(patience.into(), Arc::new(Notify::new()))
    }

    /// [`Source::every`] with a signal that others may share.
    pub(super) fn every_waking(&self, terms: Terms, signal: Arc<Notify>) -> Every {
        let limit = self.lease.options().queue_bytes;
        let queue = Queue::new(limit, terms, signal.clone());
        let (id, backlog) = self.lease.shared().join(queue);
        Every {
            lease: self.lease.clone(),
            id,
            signal,
            backlog,
        }
    }

    #[cfg(test)]
    pub(super) fn shared(&self) -> &super::source::SharedSource {
        self.lease.shared()
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
