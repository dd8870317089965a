//! `SinkQueue`: what the follower of a cluster and the deliveries to the sinks share.

use std::collections::{BTreeMap, BTreeSet};
use std::future::pending;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;
use tokio::task::spawn_blocking;

use super::known_states::{ClusterRows, KnownStates, RowAbsence, RowCluster, StateUpdate};
use super::outbox::{Outbox, OutboxError};
use super::transition::Delivery;
use super::webhook::Sink;
use crate::object::ObjectRef;
use crate::serve::{ServedRow, SinkCounts};

/// The outbox with the known states and the configured sinks.
///
/// What reads or writes the file blocks for as long as the disk takes: [`SinkQueue::on_thread`] does so on another thread, and
/// so must everyone who follows clusters or answers readers. Everything else only takes a moment.
#[derive(Debug)]
pub struct SinkQueue {
    /// The file. Its lock is taken before that of the state.
    outbox: Mutex<Outbox>,
    state: Mutex<QueueState>,
    changed: Notify,
}

/// It is not locked while the file is read or written.
#[derive(Debug)]
struct QueueState {
    /// The states of each cluster, by its key. Until they are compared with those of the run before, no held message of the
    /// cluster is released.
    known: BTreeMap<String, KnownStates>,
    sinks: Vec<Arc<Sink>>,
    counts: BTreeMap<String, SinkCounts>,
}

/// What rows say that is new, before it is in the file.
#[derive(Debug)]
pub struct NewStates {
    cluster: String,
    rows: Vec<Arc<ServedRow>>,
    update: StateUpdate,
    /// Until when the states are complete.
    until: Option<Timestamp>,
    now: Timestamp,
}

impl SinkQueue {
    /// Opens the outbox of this file.
    pub fn open(path: &Path, now: Timestamp) -> Result<SinkQueue, OutboxError> {
        let mut outbox = Outbox::open(path)?;
        let known = outbox.known_states(now)?;
        let state = QueueState {
            known,
            sinks: Vec::new(),
            counts: BTreeMap::new(),
        };
        Ok(SinkQueue {
            outbox: Mutex::new(outbox),
            state: Mutex::new(state),
            changed: Notify::new(),
        })
    }

    /// Does work that may block on another thread. It is done, whether or not anyone waits for its end.
    pub fn on_thread<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&SinkQueue) -> T + Send + 'static,
    ) -> impl Future<Output = T> + Send + 'static {
        let queue = self.clone();
        on_thread(move || work(&queue))
    }

    /// Sends to these sinks from now on. Returns the number of messages to each other sink, which are dropped. An error changes
    /// nothing. It blocks.
    pub fn set_sinks(
        &self,
        sinks: Vec<Arc<Sink>>,
        now: Timestamp,
    ) -> Result<BTreeMap<String, u64>, OutboxError> {
        let mut outbox = lock(&self.outbox);
        let dropped = outbox.trim(&sinks, now)?;
        let names = sinks.iter().map(|sink| sink.name.clone());
        let mut state = self.state();
        let mut counts = std::mem::take(&mut state.counts);
        state.counts = names
            .map(|name| {
                let count = counts.remove(&name).unwrap_or_default();
                (name, count)
            })
            .collect();
        state.sinks = sinks;
        state.count_dropped(&dropped);
        state.count_waiting(&outbox);
        drop((state, outbox));
        self.changed.notify_waiters();
        Ok(dropped)
    }

    /// Notes a row of a cluster that is new or has changed. Its rows may be compared much later, when a deleted object has none.
    pub fn note(&self, cluster: RowCluster<'_>, row: &Arc<ServedRow>) {
        let mut state = self.state();
        let known = state.known.entry(cluster.key().to_owned()).or_default();
        known.note(row);
    }

    /// Compares the rows of a cluster with its known states. Returns what to [`write`](SinkQueue::write) before the next rows of
    /// the cluster are compared; `None` if nothing is new. `absence` tells why an object has no row.
    pub fn compare(
        &self,
        of: &ClusterRows<'_>,
        absence: impl Fn(&ObjectRef) -> RowAbsence,
        now: Timestamp,
    ) -> Option<NewStates> {
        let mut state = self.state();
        let known = state.known.entry(of.cluster.key().to_owned()).or_default();
        let update = known.compare(of, absence, now);
        // What the first rows lack is not known to be new.
        let is_first = known.until().is_none();
        let until = (is_first || of.is_current).then_some(now);
        if is_first || !update.is_empty() {
            return Some(NewStates {
                cluster: of.cluster.key().to_owned(),
                rows: of.rows.to_vec(),
                update,
                until,
                now,
            });
        }
        known.apply(&update, of.rows);
        if let Some(until) = until {
            known.are_known_until(until);
        }
        drop(state);
        self.changed.notify_waiters();
        None
    }

    /// Writes what is new. Changes of state become messages. Returns how many messages of each sink made room, because they were
    /// too old or too many. After an error, the next comparison finds the same again. It blocks.
    pub fn write(&self, new: &NewStates) -> Result<BTreeMap<String, u64>, OutboxError> {
        let mut outbox = lock(&self.outbox);
        let sinks = self.sinks();
        let complete = new.until.map(|until| (&*new.cluster, until));
        outbox.add(&new.update, &sinks, complete)?;
        if let Some(known) = self.state().known.get_mut(&new.cluster) {
            known.apply(&new.update, &new.rows);
            if let Some(until) = new.until {
                known.are_known_until(until);
            }
        }
        let dropped = outbox.trim(&sinks, new.now)?;
        let mut state = self.state();
        state.count_dropped(&dropped);
        state.count_waiting(&outbox);
        drop((state, outbox));
        self.changed.notify_waiters();
        Ok(dropped)
    }

    /// Compares rows, and writes what is new.
    #[cfg(test)]
    pub(super) fn take(
        &self,
        of: &ClusterRows<'_>,
        absence: impl Fn(&ObjectRef) -> RowAbsence,
        now: Timestamp,
    ) -> Result<BTreeMap<String, u64>, OutboxError> {
        let new = self.compare(of, absence, now);
        new.map_or_else(|| Ok(BTreeMap::new()), |new| self.write(&new))
    }

    /// The known states of a cluster are complete until this time. It blocks.
    pub fn are_known_until(
        &self,
        cluster: RowCluster<'_>,
        now: Timestamp,
    ) -> Result<(), OutboxError> {
        let mut outbox = lock(&self.outbox);
        match self.state().known.get_mut(cluster.key()) {
            Some(known) if known.is_compared() => known.are_known_until(now),
            Some(_) | None => return Ok(()),
        }
        outbox.are_known_until(cluster.key(), now)
    }

    /// What is waiting and what was sent, of each sink, as of the last use of the file.
    pub fn counts(&self) -> BTreeMap<String, SinkCounts> {
        self.state().counts.clone()
    }

    /// The sinks.
    pub fn sinks(&self) -> Vec<Arc<Sink>> {
        self.state().sinks.clone()
    }

    /// Is ready at the next change after this call.
    pub(super) fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }

    /// The next message to a sink, if it can be sent now. It blocks.
    pub(super) fn next(&self, sink: &str, now: Timestamp) -> Result<Option<Delivery>, OutboxError> {
        let mut outbox = lock(&self.outbox);
        let compared = self.compared();
        let is_compared = |cluster: &str| compared.contains(cluster);
        let due = outbox.next_release(is_compared)?;
        if due.is_some_and(|due| due <= now) {
            outbox.release(&self.sinks(), is_compared, now)?;
            self.state().count_waiting(&outbox);
        }
        outbox.next(sink)
    }

    /// When a held message is released next; `None` if none is held, or if that is not known yet. It blocks.
    pub(super) fn next_release(&self) -> Result<Option<Timestamp>, OutboxError> {
        let outbox = lock(&self.outbox);
        let compared = self.compared();
        outbox.next_release(|cluster| compared.contains(cluster))
    }

    /// The keys of the clusters whose states are compared with those of the run before.
    fn compared(&self) -> BTreeSet<String> {
        let state = self.state();
        let compared = state.known.iter().filter(|(_, known)| known.is_compared());
        compared.map(|(cluster, _)| cluster.clone()).collect()
    }

    /// A message is delivered or skipped. It leaves the outbox. It blocks.
    pub(super) fn remove(&self, seq: i64) -> Result<(), OutboxError> {
        let mut outbox = lock(&self.outbox);
        outbox.remove(seq)?;
        self.state().count_waiting(&outbox);
        Ok(())
    }

    /// Counts for a sink.
    pub(super) fn count(&self, sink: &str, count: impl FnOnce(&mut SinkCounts)) {
        if let Some(counts) = self.state().counts.get_mut(sink) {
            count(counts);
        }
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        lock(&self.state)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl QueueState {
    /// Counts what waits for each sink.
    fn count_waiting(&mut self, outbox: &Outbox) {
        for (name, counts) in &mut self.counts {
            counts.waiting = outbox.waiting(name);
        }
    }

    fn count_dropped(&mut self, dropped: &BTreeMap<String, u64>) {
        for (sink, count) in dropped {
            if let Some(counts) = self.counts.get_mut(sink) {
                counts.dropped += count;
            }
        }
    }
}

/// Does work that may block on another thread. It is done, whether or not anyone waits for its end.
pub fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = T> + Send + 'static {
    let done = spawn_blocking(work);
    async move {
        match done.await {
            Ok(done) => done,
            Err(stopped) => match stopped.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                // The program ends.
                Err(_) => pending().await,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use futures::FutureExt;

    use super::*;
    use crate::serve::testing::failed_pod;
    use crate::sink::{TransitionFilter, Webhook};
    use crate::status::Status;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    /// A directory that is removed after the test.
    struct Folder(PathBuf);

    impl Drop for Folder {
        fn drop(&mut self) {
            let _gone = std::fs::remove_dir_all(&self.0);
        }
    }

    /// A queue in this folder that has seen the Pod `web` as Current, and the rows with which it fails.
    fn queue(folder: &str) -> (Folder, Arc<SinkQueue>, Vec<Arc<ServedRow>>) {
        let folder = format!("spy-queue-{folder}-{}", std::process::id());
        let folder = Folder(std::env::temp_dir().join(folder));
        let queue = SinkQueue::open(&folder.0.join("outbox"), NOW).expect("it opens");
        let failed = failed_pod("web", "it fails");
        let mut current = failed.clone();
        Arc::make_mut(&mut current.assessment).verdict.status = Status::Current;
        let first = queue.take(&rows(&[Arc::new(current)]), |_| RowAbsence::Unread, NOW);
        assert!(first.expect("taken").is_empty());
        (folder, Arc::new(queue), vec![Arc::new(failed)])
    }

    fn rows(rows: &[Arc<ServedRow>]) -> ClusterRows<'_> {
        ClusterRows {
            cluster: RowCluster::Only("test"),
            rows,
            is_current: true,
        }
    }

    #[tokio::test]
    async fn a_disk_that_hangs_delays_only_what_is_written() {
        let (_folder, queue, failed) = queue("disk");
        let disk = lock(&queue.outbox);
        let new = queue.compare(&rows(&failed), |_| RowAbsence::Unread, NOW);
        let new = new.expect("a change");
        let mut written = queue.on_thread(move |queue| queue.write(&new)).boxed();
        let known = queue.on_thread(|queue| queue.are_known_until(RowCluster::Only("test"), NOW));
        assert!((&mut written).now_or_never().is_none());
        // None of this waits for the disk.
        assert!(queue.sinks().is_empty() && queue.counts().is_empty());
        let other = ClusterRows {
            cluster: RowCluster::OneOfSeveral("other"),
            ..rows(&[])
        };
        assert!(queue.compare(&other, |_| RowAbsence::Unread, NOW).is_some());
        drop(disk);
        assert!(written.await.expect("written").is_empty());
        known.await.expect("written");
        let again = queue.compare(&rows(&failed), |_| RowAbsence::Unread, NOW);
        assert!(again.is_none(), "it is known");
    }

    /// A scrape of the metrics finds the number, however busy the disk is.
    #[test]
    fn what_waits_is_counted_without_the_file() {
        let (_folder, queue, failed) = queue("counts");
        let webhook = Webhook::new("http://127.0.0.1:9/", None).expect("an address");
        let sink = Sink {
            name: "ops".to_owned(),
            when: TransitionFilter {
                to: vec![Status::Failed],
                ..TransitionFilter::default()
            },
            webhook,
        };
        queue.set_sinks(vec![Arc::new(sink)], NOW).expect("set");
        let counted = || {
            let _disk = lock(&queue.outbox);
            queue.counts()["ops"].waiting
        };
        assert_eq!(counted(), 0);
        let written = queue.take(&rows(&failed), |_| RowAbsence::Unread, NOW);
        written.expect("written");
        assert_eq!(counted(), 1);
        let next = queue.next("ops", NOW).expect("read").expect("a message");
        queue.remove(next.seq).expect("removed");
        assert_eq!(counted(), 0);
    }

    /// The Pod is deleted while its last change is written, and has no row any more when that has ended.
    #[test]
    fn a_deletion_during_a_slow_write_is_found_after_it() {
        let (_folder, queue, failed) = queue("deleted");
        let absence = |_: &ObjectRef| RowAbsence::Unselected;
        let slow = queue.compare(&rows(&failed), absence, NOW);
        let mut deleted = ServedRow::clone(&failed[0]);
        Arc::make_mut(&mut deleted.assessment).verdict.status = Status::NotFound;
        queue.note(RowCluster::Only("test"), &Arc::new(deleted));
        let written = queue.write(&slow.expect("a change"));
        written.expect("written");
        let found = queue.compare(&rows(&[]), absence, NOW).expect("a change");
        let changes = found.update.changes.iter();
        let changes: Vec<_> = changes.map(|it| (it.from, it.row.status())).collect();
        assert_eq!(changes, [(Some(Status::Failed), Status::NotFound)]);
    }

    #[test]
    fn what_was_not_written_is_found_again() {
        let (_folder, queue, failed) = queue("again");
        for _ in 0..2 {
            let new = queue.compare(&rows(&failed), |_| RowAbsence::Unread, NOW);
            assert_eq!(new.expect("a change").update.changes.len(), 1);
        }
    }
}
