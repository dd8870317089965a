//! What has been read of a file: the objects at its beginning, and what happens after. Of a stream that
//! goes on, no more is kept than its readers have still to take.

use std::collections::HashSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use super::entry::{FileEntry, KindOf};
use super::error::FileError;
use super::kept::{KeptEntries, PlayPhase, Rest};

/// A stream that is silent for this long has told what was there from the start: whoever writes it writes
/// that at once.
const PAUSE: Duration = Duration::from_millis(100);
/// See the module.
#[derive(Debug)]
pub(super) struct FileLog {
    inner: Mutex<KeptEntries>,
    /// Wakes those who wait for more.
    moved: watch::Sender<()>,
    /// Wakes the writer, who waits for room.
    room: Condvar,
}

/// What a player gets.
pub(super) enum NextEntry {
    Entry(Arc<FileEntry>),
    /// Nothing yet.
    Empty,
    /// Nothing any more.
    End(Result<(), FileError>),
}

impl FileLog {
    /// One that is to be written.
    pub(super) fn new() -> FileLog {
        FileLog {
            inner: Mutex::default(),
            moved: watch::Sender::new(()),
            room: Condvar::new(),
        }
    }

    /// One that is complete.
    pub(super) fn of(entries: &[Arc<FileEntry>]) -> FileLog {
        let log = FileLog::new();
        let mut inner = log.lock();
        inner.entries = entries.iter().cloned().collect();
        inner.end = Some(Ok(()));
        inner.begin();
        drop(inner);
        log
    }

    fn lock(&self) -> MutexGuard<'_, KeptEntries> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds what was read, and waits for room; `rest` is what followed it. Says whether more is wanted.
    pub(super) fn write(&self, entries: Vec<FileEntry>, rest: Rest) -> bool {
        let mut inner = self.lock();
        for entry in entries {
            inner.push(entry);
        }
        if matches!(inner.phase, PlayPhase::Waiting | PlayPhase::Beginning) {
            inner.phase = match rest {
                Rest::None if !inner.entries.is_empty() => PlayPhase::Beginning,
                Rest::None | Rest::Partial => PlayPhase::Waiting,
            };
        }
        self.moved.send_replace(());
        inner.trim();
        while inner.is_full() {
            inner = self
                .room
                .wait(inner)
                .unwrap_or_else(PoisonError::into_inner);
            inner.trim();
        }
        inner.phase != PlayPhase::Abandoned && inner.end.is_none()
    }

    /// Says that no more will come, and why.
    pub(super) fn end(&self, end: Result<(), FileError>) {
        self.lock().end.get_or_insert(end);
        self.moved.send_replace(());
    }

    /// Lets the writer go.
    pub(super) fn abandon(&self) {
        self.lock().phase = PlayPhase::Abandoned;
        self.room.notify_all();
    }

    /// Waits until the beginning is there, and closes it. An error in it is an error of the whole.
    pub(super) async fn beginning(&self) -> Result<Vec<Arc<FileEntry>>, FileError> {
        let mut moved = self.moved.subscribe();
        loop {
            let (phase, ended) = {
                let inner = self.lock();
                (inner.phase, inner.end.is_some() || inner.is_full())
            };
            if ended {
                break;
            }
            let more = moved.changed();
            if phase == PlayPhase::Waiting {
                // The sender is ours.
                let _ = more.await;
            } else if timeout(PAUSE, more).await.is_err() {
                break;
            }
        }
        let mut inner = self.lock();
        if let Some(Err(error)) = &inner.end {
            return Err(error.clone());
        }
        let all = inner.entries.iter().cloned().collect();
        inner.begin();
        self.room.notify_all();
        Ok(all)
    }

    /// From here on an object of another kind is an error.
    pub(super) fn only(&self, kinds: HashSet<KindOf>) {
        let mut inner = self.lock();
        inner.kinds = Some(kinds);
        let entries = std::mem::take(&mut inner.entries);
        inner.bytes = 0;
        for entry in entries {
            inner.append(entry);
        }
        drop(inner);
        self.moved.send_replace(());
    }

    /// What is there before what [`FileLog::join`] plays, which goes on from this number.
    pub(super) fn base(&self) -> (u64, Vec<Arc<FileEntry>>) {
        let inner = self.lock();
        (inner.first, inner.base.values().cloned().collect())
    }

    #[cfg(test)]
    pub(super) fn all(&self) -> Vec<Arc<FileEntry>> {
        let inner = self.lock();
        inner.base.values().chain(&inner.entries).cloned().collect()
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.lock().bytes
    }

    /// The last that is known of an object.
    pub(super) fn last(&self, is: impl Fn(&FileEntry) -> bool) -> Option<Arc<FileEntry>> {
        let inner = self.lock();
        let mut all = inner.base.values().chain(&inner.entries).rev();
        all.find(|entry| is(entry)).cloned()
    }

    /// Adds a player; it takes all that is kept. `None` if that is no longer all from this number on.
    pub(super) fn join(&self, from: Option<u64>) -> Option<(u64, watch::Receiver<()>)> {
        let mut inner = self.lock();
        if from.is_some_and(|from| from < inner.first) {
            return None;
        }
        let (id, first) = (inner.next_player, inner.first);
        inner.next_player += 1;
        inner.players.insert(id, first);
        Some((id, self.moved.subscribe()))
    }

    pub(super) fn leave(&self, player: u64) {
        self.lock().players.remove(&player);
        self.room.notify_all();
    }

    /// The next entry for a player.
    pub(super) fn take(&self, player: u64) -> NextEntry {
        let mut inner = self.lock();
        let inner = &mut *inner;
        let Some(at) = inner.players.get_mut(&player) else {
            return NextEntry::End(Ok(()));
        };
        let index = usize::try_from(*at - inner.first).unwrap_or(usize::MAX);
        if let Some(entry) = inner.entries.get(index) {
            *at += 1;
            self.room.notify_all();
            return NextEntry::Entry(entry.clone());
        }
        inner.end.clone().map_or(NextEntry::Empty, NextEntry::End)
    }
}
