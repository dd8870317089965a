//! The handles that views hold: a source and a subscription.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::Notify;

use super::patience::Terms;
use super::queue::Queue;
use super::upstreams::Lease;
use crate::source::{Event, SourceKey, SourceState};

/// An open source. It stays up to date while a handle to it or one of its subscriptions exists.
#[derive(Clone)]
pub struct Source {
    pub(super) lease: Lease,
}

impl Source {
    pub(super) fn new(lease: Lease) -> Source {
        Source { lease }
    }

    /// Begins to read the source, unless reading has begun.
    pub fn start(&self) {
        self.lease.shared().start();
    }

    /// Lists the objects of a source that is not watched once more, unless it is watched by then. Waits until subscriptions
    /// have the changes, and the versions between two listings.
    pub async fn poll(&self) {
        let shared = self.lease.shared();
        let mut state = shared.state();
        tokio::select! {
            () = shared.polls.ask() => {}
            _ = state.wait_for(|state| *state == SourceState::Live) => {}
        }
        shared.filled().await;
    }

    /// The key of the source. It is the same `Arc` while the source is open, so it identifies the source.
    pub fn key(&self) -> &Arc<SourceKey> {
        &self.lease.shared().key
    }

    /// Subscribes to every event. The subscription starts with the state, then all known objects as `Listed`,
    /// then `Synced` if they are a full listing. After that each event follows in the source's order.
    /// Several subscriptions may share the signal, which wakes their reader.
    pub(super) fn subscribe(&self, terms: Terms, signal: Arc<Notify>) -> LosslessSubscription {
        let limit = self.lease.options().queue_bytes;
        let queue = Queue::new(limit, terms, signal);
        let (id, backlog) = self.lease.shared().join(queue);
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
    /// The key of the source.
    pub(super) fn key(&self) -> &Arc<SourceKey> {
        &self.lease.shared().key
    }

    /// The next event, if one is ready.
    pub(super) fn take(&mut self) -> Taken {
        if let Some(event) = self.backlog.pop_front() {
            return Taken::Event(event);
        }
        let shared = self.lease.shared();
        let mut guard = shared.lock();
        let inner = &mut *guard;
        if inner.queues.get(&self.id).is_some_and(Queue::is_behind) {
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
        self.lease.shared().leave(self.id);
    }
}
