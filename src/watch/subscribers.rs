//! The subscribers of a source: joining and leaving it.

use std::collections::VecDeque;

use tokio::time::Instant;

use super::patience::Company;
use super::queue::Queue;
use super::source::{SharedSource, SourceInner};
use super::store::StoreChange;
use super::transport::Upstream;
use crate::source::{Event, Why};

impl SharedSource {
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
        inner.queues.insert(id, queue);
        self.room.notify_one();
        (id, start)
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
    /// Whether others read the source too.
    pub(super) fn company(&self) -> Company {
        match (self.upstream, self.queues.len()) {
            (Upstream::Kept, _) => Company::Unhurried,
            (Upstream::Live, 0 | 1) => Company::Alone,
            (Upstream::Live, _) => Company::Others,
        }
    }

    /// The time until which the driver waits for the subscribers whose queues are full.
    pub(super) fn wait_until(&mut self, now: Instant) -> Option<Instant> {
        let company = self.company();
        self.queues
            .values_mut()
            .filter_map(|queue| queue.wait_until(now, company))
            .min()
    }
}
