//! What is kept of a file while it is played: the objects that are there, and what happens next.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use super::entry::{FileEntry, KindOf, Place, kind_of, place};
use super::error::FileError;
use crate::watch::envelope::Verb;

/// How much may wait for those who play it, in bytes of JSON.
pub(super) const AHEAD: usize = 8 << 20;
/// How much of a stream may belong to its beginning.
const BEGINNING: usize = 64 << 20;
/// What an entry costs besides its text.
const ENTRY_BYTES: usize = 200;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct KeptEntries {
    pub(super) phase: PlayPhase,
    /// The objects as they were before the first of `entries`, in the order they came.
    pub(super) base: BTreeMap<u64, Arc<FileEntry>>,
    places: HashMap<Place, u64>,
    /// What happened, from the entry of this number on.
    pub(super) first: u64,
    pub(super) entries: VecDeque<Arc<FileEntry>>,
    pub(super) bytes: usize,
    /// Which entry each player takes next.
    pub(super) players: BTreeMap<u64, u64>,
    pub(super) next_player: u64,
    /// The kinds that are looked for; `None` if others are passed over.
    pub(super) kinds: Option<HashSet<KindOf>>,
    pub(super) end: Option<Result<(), FileError>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PlayPhase {
    /// Nothing has come, or half a value.
    #[default]
    Waiting,
    /// What has come is whole, and belongs to the beginning.
    Beginning,
    /// What comes now has happened since.
    Running,
    /// Nobody reads any more.
    Abandoned,
}

/// What follows the last value that was read whole.
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
                "{}: its kind was not there at the beginning; a stream of several kinds has to be read from a file",
                entry.object
            );
            self.end = Some(Err(FileError::new(entry.line, detail)));
            return;
        }
        self.bytes += weight(&entry);
        self.entries.push_back(entry);
    }

    /// Tells the objects that are there from what happens.
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

    /// Puts an entry to what is there.
    fn settle(&mut self, entry: Arc<FileEntry>) {
        if entry.unreadable.is_some() {
            return;
        }
        let place = place(&entry.object);
        if entry.verb == Some(Verb::Deleted) {
            if let Some(at) = self.places.remove(&place) {
                self.base.remove(&at);
            }
            return;
        }
        let next = self.base.last_key_value().map_or(0, |(last, _)| last + 1);
        let at = *self.places.entry(place).or_insert(next);
        self.base.insert(at, entry);
    }

    /// Lets go of what all have taken, once it is much.
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
