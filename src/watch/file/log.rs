//! The log of a file: the objects at its beginning, and the entries after them. For an endless stream it keeps
//! only the entries that its readers have not taken yet.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use super::error::FileError;
use super::objects::{EntryKey, FileEntry, KindOf, entry_key, kind_of};
use crate::watch::envelope::WatchVerb;

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
    /// A part of a stream that could not be read. Only one player gets it.
    Fault(FileError),
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

    /// Adds what could not be read after the last entry. The stream goes on.
    pub(super) fn add_fault(&self, fault: FileError) {
        let mut inner = self.lock();
        let next = inner.first + inner.entries.len() as u64;
        inner.faults.push_back((next, fault));
        drop(inner);
        self.moved.send_replace(());
    }

    /// The faults that no player has taken yet.
    pub(super) fn faults(&self) -> Vec<FileError> {
        let inner = self.lock();
        inner
            .faults
            .iter()
            .map(|(_, fault)| fault.clone())
            .collect()
    }

    /// Whether any object has arrived.
    pub(super) fn has_objects(&self) -> bool {
        !self.lock().seen.is_empty()
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

    /// Whether any readable entry is an event, also one of an object that exists from the start.
    pub(super) fn has_events(&self) -> bool {
        let inner = self.lock();
        let is_later = inner.entries.iter().any(|entry| entry.unreadable.is_none());
        is_later || inner.base.values().any(|entry| entry.is_event)
    }

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

    pub(super) fn take(&self, player: u64) -> NextEntry {
        let mut inner = self.lock();
        let inner = &mut *inner;
        let Some(at) = inner.players.get_mut(&player) else {
            return NextEntry::End(Ok(()));
        };
        let is_due = inner.faults.front().is_some_and(|(next, _)| next <= at);
        if let Some((_, fault)) = is_due.then(|| inner.faults.pop_front()).flatten() {
            return NextEntry::Fault(fault);
        }
        let index = usize::try_from(*at - inner.first).unwrap_or(usize::MAX);
        if let Some(entry) = inner.entries.get(index) {
            *at += 1;
            self.room.notify_all();
            return NextEntry::Entry(entry.clone());
        }
        inner.end.clone().map_or(NextEntry::Empty, NextEntry::End)
    }
}

/// How many bytes of JSON may wait for the players.
pub(super) const AHEAD: usize = 8 << 20;
/// How many bytes of a stream may belong to its beginning.
const BEGINNING: usize = 64 << 20;
/// The bytes of an entry without its text.
const ENTRY_BYTES: usize = 200;

/// The entries that are kept. The module describes them.
#[derive(Debug, Default)]
pub(super) struct KeptEntries {
    pub(super) phase: PlayPhase,
    /// The objects as they were before the first of `entries`, in order of arrival.
    pub(super) base: BTreeMap<u64, Arc<FileEntry>>,
    positions: HashMap<EntryKey, u64>,
    /// The number of the first of `entries`.
    pub(super) first: u64,
    pub(super) entries: VecDeque<Arc<FileEntry>>,
    pub(super) bytes: usize,
    /// What of a stream could not be read, and the number of the entry after it.
    faults: VecDeque<(u64, FileError)>,
    /// The number of the next entry of each player.
    players: BTreeMap<u64, u64>,
    next_player: u64,
    /// The kinds that the caller reads; `None` if objects of other kinds are skipped.
    pub(super) kinds: Option<HashSet<KindOf>>,
    /// The kinds that have arrived.
    pub(super) seen: HashSet<KindOf>,
    pub(super) end: Option<Result<(), FileError>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PlayPhase {
    /// Nothing has arrived, or only half a value.
    #[default]
    Waiting,
    /// All values so far are complete, and belong to the beginning.
    Beginning,
    /// Every further value is a later event.
    Running,
    /// Nobody reads the stream any more.
    Abandoned,
}

/// The bytes after the last complete value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    None,
    Partial,
}

impl KeptEntries {
    pub(super) fn push(&mut self, mut entry: FileEntry) {
        if self.phase == PlayPhase::Running && entry.verb.is_none() {
            entry.verb = Some(WatchVerb::Added);
        }
        self.append(Arc::new(entry));
    }

    pub(super) fn append(&mut self, entry: Arc<FileEntry>) {
        if let Some(Err(_)) = &self.end {
            return;
        }
        let known = |kinds: &HashSet<KindOf>| kinds.contains(&kind_of(&entry.object));
        if !self.kinds.as_ref().is_none_or(known) {
            let detail = format!(
                "{}: new kind in the stream; save a stream of several kinds to a file and pass that to --from",
                entry.object
            );
            self.end = Some(Err(FileError::new(entry.line, detail)));
            return;
        }
        let kind = kind_of(&entry.object);
        if !self.seen.contains(&kind) {
            self.seen.insert(kind);
        }
        self.bytes += weight(&entry);
        self.entries.push_back(entry);
    }

    /// Ends the beginning: separates the objects that exist from the entries to play.
    pub(super) fn begin(&mut self) {
        self.phase = PlayPhase::Running;
        self.bytes = 0;
        let first = self.first;
        self.faults.iter_mut().for_each(|(next, _)| *next = first);
        for entry in std::mem::take(&mut self.entries) {
            if entry.verb.is_none() {
                self.settle(entry);
            } else {
                self.bytes += weight(&entry);
                self.entries.push_back(entry);
            }
        }
    }

    /// Applies an entry to the current objects.
    fn settle(&mut self, entry: Arc<FileEntry>) {
        if entry.unreadable.is_some() {
            return;
        }
        let key = entry_key(&entry.object);
        if entry.verb == Some(WatchVerb::Deleted) {
            if let Some(at) = self.positions.remove(&key) {
                self.base.remove(&at);
            }
            return;
        }
        let next = self.base.last_key_value().map_or(0, |(last, _)| last + 1);
        let at = *self.positions.entry(key).or_insert(next);
        self.base.insert(at, entry);
    }

    /// The last versions of the objects that exist after the last entry, in order of arrival. Those without a name come last.
    pub(super) fn last_versions(&self) -> Vec<Arc<FileEntry>> {
        let mut all = KeptEntries {
            base: self.base.clone(),
            positions: self.positions.clone(),
            ..KeptEntries::default()
        };
        self.entries
            .iter()
            .for_each(|entry| all.settle(entry.clone()));
        let nameless = self.entries.iter().filter(|entry| entry.is_nameless);
        all.base.into_values().chain(nameless.cloned()).collect()
    }

    /// Drops the entries that every player has taken, once they are many.
    pub(super) fn trim(&mut self) {
        let Some(&taken) = self.players.values().min() else {
            return;
        };
        while self.bytes > AHEAD / 2 && self.first < taken {
            let Some(entry) = self.entries.pop_front() else {
                return;
            };
            self.first += 1;
            self.bytes -= weight(&entry);
            self.settle(entry);
        }
    }

    pub(super) fn is_full(&self) -> bool {
        match self.phase {
            PlayPhase::Waiting | PlayPhase::Beginning => self.bytes > BEGINNING,
            PlayPhase::Running => self.bytes > AHEAD,
            PlayPhase::Abandoned => false,
        }
    }
}

fn weight(entry: &FileEntry) -> usize {
    entry.doc.text().len() + ENTRY_BYTES
}
