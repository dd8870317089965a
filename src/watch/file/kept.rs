//! The part of a file that is kept while it plays: the current objects, and the entries that are still to be
//! played.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use super::entry::{EntryKey, FileEntry, KindOf, entry_key, kind_of};
use super::error::FileError;
use crate::watch::envelope::Verb;

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
    /// The number of the next entry of each player.
    pub(super) players: BTreeMap<u64, u64>,
    pub(super) next_player: u64,
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
            entry.verb = Some(Verb::Added);
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
        if entry.verb == Some(Verb::Deleted) {
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
