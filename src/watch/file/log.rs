//! The log of a file: the objects at its beginning, and the entries after them. For an endless stream it keeps
//! only the entries that its readers have not taken yet.

use std::collections::HashSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use super::entry::{FileEntry, KindOf};
use super::error::FileError;
use super::kept::{KeptEntries, PlayPhase, Rest};

/// A stream that is silent for this long has ended its beginning: the objects that exist at the start are written
/// without a pause.
const PAUSE: Duration = Duration::from_millis(100);
/// The log of a file. The module describes it.
#[derive(Debug)]
pub(super) struct FileLog {
    inner: Mutex<KeptEntries>,
    /// Wakes the players that wait for an entry.
    moved: watch::Sender<()>,
    /// Wakes the writer when there is room.
    room: Condvar,
}

/// What a player gets next.
pub(super) enum NextEntry {
    Entry(Arc<FileEntry>),
    /// No entry is ready yet.
    Empty,
    /// No entry will follow.
    End(Result<(), FileError>),
}

impl FileLog {
    /// An empty log, for a writer.
    pub(super) fn new() -> FileLog {
        FileLog {
            inner: Mutex::default(),
            moved: watch::Sender::new(()),
            room: Condvar::new(),
        }
    }

    /// A complete log with this end.
    pub(super) fn of(entries: &[Arc<FileEntry>], end: Result<(), FileError>) -> FileLog {
        let log = FileLog::new();
        let mut inner = log.lock();
        for entry in entries {
            inner.append(entry.clone());
        }
        inner.end = Some(end);
        inner.begin();
        drop(inner);
        log
    }

    fn lock(&self) -> MutexGuard<'_, KeptEntries> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds entries, and waits for room. `rest` describes the bytes after them. Returns whether to read more.
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

    /// Ends the log: no entry will follow.
    pub(super) fn end(&self, end: Result<(), FileError>) {
        self.lock().end.get_or_insert(end);
        self.moved.send_replace(());
    }

    /// Whether no entry will follow.
    pub(super) fn has_ended(&self) -> bool {
        self.lock().end.is_some()
    }

    /// Ends the writer's wait, and stops it.
    pub(super) fn abandon(&self) {
        self.lock().phase = PlayPhase::Abandoned;
        self.room.notify_all();
    }

    /// Waits for the beginning, and returns its entries. An error before any entry is an error of the whole file.
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
                // This cannot fail: the log owns the sender.
                let _ = more.await;
            } else if timeout(PAUSE, more).await.is_err() {
                break;
            }
        }
        let mut inner = self.lock();
        if let Some(Err(error)) = &inner.end
            && inner.entries.is_empty()
        {
            return Err(error.clone());
        }
        let all = inner.entries.iter().cloned().collect();
        inner.begin();
        self.room.notify_all();
        Ok(all)
    }

    /// Whether an object of this kind has arrived.
    pub(super) fn has_seen(&self, kind: &KindOf) -> bool {
        self.lock().seen.contains(kind)
    }

    /// Makes every later object of another kind an error.
    pub(super) fn only(&self, kinds: HashSet<KindOf>) {
        let mut inner = self.lock();
        inner.kinds = Some(kinds);
        let (entries, end) = (std::mem::take(&mut inner.entries), inner.end.take());
        inner.bytes = 0;
        for entry in entries {
            inner.append(entry);
        }
        if inner.end.is_none() {
            inner.end = end;
        }
        drop(inner);
        self.moved.send_replace(());
    }

    /// The objects before the entries that [`FileLog::join`] plays, and the number of the first of those entries.
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

    /// The last versions of the objects that exist at the end, in the order in which they were read.
    pub(super) fn last_versions(&self) -> Vec<Arc<FileEntry>> {
        self.lock().last_versions()
    }

    /// Why each unreadable object with a name cannot be read.
    pub(super) fn unreadable(&self) -> Vec<Arc<str>> {
        let inner = self.lock();
        let entries = inner.entries.iter().filter(|entry| !entry.is_nameless);
        entries
            .filter_map(|entry| entry.unreadable.clone())
            .collect()
    }

    /// Whether any readable entry is an event.
    pub(super) fn has_events(&self) -> bool {
        let inner = self.lock();
        inner.entries.iter().any(|entry| entry.unreadable.is_none())
    }

    /// The end so far.
    pub(super) fn end_reached(&self) -> Result<(), FileError> {
        self.lock().end.clone().unwrap_or(Ok(()))
    }

    /// The last entry that matches.
    pub(super) fn last(&self, is: impl Fn(&FileEntry) -> bool) -> Option<Arc<FileEntry>> {
        let inner = self.lock();
        let mut all = inner.base.values().chain(&inner.entries).rev();
        all.find(|entry| is(entry)).cloned()
    }

    /// Adds a player, which gets all kept entries. Returns `None` if the entries from this number on are no
    /// longer complete.
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

    /// The next entry of a player.
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
