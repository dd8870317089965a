//! `SinkQueue`: what the follower of a cluster and the deliveries to the sinks share.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use super::known_states::{ClusterRows, KnownStates, RowCluster};
use super::outbox::{Outbox, OutboxError};
use super::transition::Delivery;
use super::webhook::Sink;
use crate::object::ObjectRef;
use crate::serve::SinkCounts;

/// The outbox with the known states and the configured sinks. One thread uses it, so the lock is never waited for.
#[derive(Debug)]
pub struct SinkQueue {
    state: Mutex<QueueState>,
    changed: Notify,
}

#[derive(Debug)]
struct QueueState {
    outbox: Outbox,
    /// The states of each cluster, by its key. Until they are compared with those of the run before, no held message of the
    /// cluster is released.
    known: BTreeMap<String, KnownStates>,
    sinks: Vec<Arc<Sink>>,
    counts: BTreeMap<String, SinkCounts>,
}

impl SinkQueue {
    /// Opens the outbox of this file.
    pub fn open(path: &Path, now: Timestamp) -> Result<SinkQueue, OutboxError> {
        let mut outbox = Outbox::open(path)?;
        let known = outbox.known_states(now)?;
        let state = QueueState {
            outbox,
            known,
            sinks: Vec::new(),
            counts: BTreeMap::new(),
        };
        Ok(SinkQueue {
            state: Mutex::new(state),
            changed: Notify::new(),
        })
    }

    /// Sends to these sinks from now on. Returns the number of messages to each other sink, which are dropped. An error changes
    /// nothing.
    pub fn set_sinks(
        &self,
        sinks: Vec<Arc<Sink>>,
        now: Timestamp,
    ) -> Result<BTreeMap<String, u64>, OutboxError> {
        let mut state = self.lock();
        let dropped = state.outbox.trim(&sinks, now)?;
        let names = sinks.iter().map(|sink| sink.name.clone());
        let mut counts = std::mem::take(&mut state.counts);
        state.counts = names
            .map(|name| {
                let count = counts.remove(&name).unwrap_or_default();
                (name, count)
            })
            .collect();
        state.sinks = sinks;
        state.count_dropped(&dropped);
        drop(state);
        self.changed.notify_waiters();
        Ok(dropped)
    }

    /// Takes the rows of a cluster. Changes of state become messages. `is_gone` tells whether an object without a row is surely
    /// deleted. Returns how many messages of each sink made room, because they were too old or too many.
    pub fn take(
        &self,
        of: &ClusterRows<'_>,
        is_gone: impl Fn(&ObjectRef) -> bool,
        now: Timestamp,
    ) -> Result<BTreeMap<String, u64>, OutboxError> {
        let mut state = self.lock();
        let QueueState {
            outbox,
            known,
            sinks,
            ..
        } = &mut *state;
        let known = known.entry(of.cluster.key().to_owned()).or_default();
        let update = known.compare(of, is_gone, now);
        // What the first rows lack is not known to be new.
        let is_first = known.until().is_none();
        let until = (is_first || of.is_current).then_some(now);
        let is_new = is_first || !update.is_empty();
        if is_new {
            let complete = until.map(|until| (of.cluster.key(), until));
            outbox.add(&update, sinks, complete)?;
        }
        known.apply(&update, of.rows);
        if let Some(until) = until {
            known.are_known_until(until);
        }
        let dropped = if is_new {
            state.trim(now)?
        } else {
            BTreeMap::new()
        };
        drop(state);
        self.changed.notify_waiters();
        Ok(dropped)
    }

    /// The known states of a cluster are complete until this time.
    pub fn are_known_until(
        &self,
        cluster: RowCluster<'_>,
        now: Timestamp,
    ) -> Result<(), OutboxError> {
        let mut state = self.lock();
        let QueueState { outbox, known, .. } = &mut *state;
        match known.get_mut(cluster.key()) {
            Some(known) if known.is_compared() => {
                known.are_known_until(now);
                outbox.are_known_until(cluster.key(), now)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// What is waiting and what was sent, of each sink.
    pub fn counts(&self) -> BTreeMap<String, SinkCounts> {
        let state = self.lock();
        let mut counts = state.counts.clone();
        for (name, counts) in &mut counts {
            counts.waiting = state.outbox.waiting(name).unwrap_or_default();
        }
        counts
    }

    /// The sinks.
    pub fn sinks(&self) -> Vec<Arc<Sink>> {
        self.lock().sinks.clone()
    }

    /// Is ready at the next change after this call.
    pub(super) fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }

    /// The next message to a sink, if it can be sent now.
    pub(super) fn next(&self, sink: &str, now: Timestamp) -> Result<Option<Delivery>, OutboxError> {
        let mut state = self.lock();
        let QueueState {
            outbox,
            known,
            sinks,
            ..
        } = &mut *state;
        let is_compared = |cluster: &str| known.get(cluster).is_some_and(KnownStates::is_compared);
        let due = outbox.next_release(is_compared)?;
        if due.is_some_and(|due| due <= now) {
            outbox.release(sinks, is_compared, now)?;
        }
        outbox.next(sink)
    }

    /// When a held message is released next; `None` if none is held, or if that is not known yet.
    pub(super) fn next_release(&self) -> Result<Option<Timestamp>, OutboxError> {
        let state = self.lock();
        let known = &state.known;
        let is_compared = |cluster: &str| known.get(cluster).is_some_and(KnownStates::is_compared);
        state.outbox.next_release(is_compared)
    }

    /// A message is delivered or skipped. It leaves the outbox.
    pub(super) fn remove(&self, seq: i64) -> Result<(), OutboxError> {
        self.lock().outbox.remove(seq)
    }

    /// Counts for a sink.
    pub(super) fn count(&self, sink: &str, count: impl FnOnce(&mut SinkCounts)) {
        let mut state = self.lock();
        if let Some(counts) = state.counts.get_mut(sink) {
            count(counts);
        }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueueState {
    fn trim(&mut self, now: Timestamp) -> Result<BTreeMap<String, u64>, OutboxError> {
        let dropped = self.outbox.trim(&self.sinks, now)?;
        self.count_dropped(&dropped);
        Ok(dropped)
    }

    fn count_dropped(&mut self, dropped: &BTreeMap<String, u64>) {
        for (sink, count) in dropped {
            if let Some(counts) = self.counts.get_mut(sink) {
                counts.dropped += count;
            }
        }
    }
}
