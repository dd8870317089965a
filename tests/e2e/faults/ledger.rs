//! The ground truth: each version of each object that etcd ever stored, in order.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use serde_json::Value;

use super::objects::{Kind, Place, counter};

/// One write to etcd.
pub struct Change {
    pub key: String,
    pub revision: u64,
    /// `None` for a deletion.
    pub value: Option<Vec<u8>>,
}

/// One version of an object, or its deletion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The number of restores of etcd before it.
    pub era: usize,
    pub revision: u64,
    pub place: Place,
    pub uid: String,
    pub what: What,
}

/// Identifies a version. Each number is written once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum What {
    Version(u64),
    Gone,
}

/// All writes to etcd.
#[derive(Default)]
pub struct Ledger {
    book: Mutex<Book>,
    more: Condvar,
}

#[derive(Default)]
struct Book {
    entries: Vec<Entry>,
    /// The last recorded revision.
    at: u64,
    /// For each era, the revision to which etcd was compacted.
    compacted: HashMap<usize, u64>,
    /// The revision to which the saved copy of etcd's data is compacted.
    saved: Option<u64>,
    /// For each era but the first, the revision that it began after.
    restored: Vec<u64>,
    /// The uid of the current object at each place.
    uids: HashMap<Place, String>,
}

/// The recorded writes of one namespace.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    pub entries: Vec<Entry>,
    /// For each era, the revision to which etcd was compacted.
    pub compacted: HashMap<usize, u64>,
    /// For each era but the first, the revision that it began after.
    pub restored: Vec<u64>,
}

impl Ledger {
    /// Records writes. A late write of a past era is dropped, because the restore has undone it.
    pub fn add(&self, era: usize, changes: impl Iterator<Item = Change>) {
        let mut book = self.book.lock().unwrap();
        if era != book.restored.len() {
            return;
        }
        for change in changes {
            book.at = book.at.max(change.revision);
            if let Some(place) = Place::of_key(&change.key) {
                book.enter(place, &change);
            }
        }
        drop(book);
        self.more.notify_all();
    }

    /// Waits until this revision is recorded.
    pub fn reach(&self, revision: u64, patience: Duration) {
        let behind = |book: &mut Book| book.at < revision;
        let book = self.book.lock().unwrap();
        let (book, waited) = self
            .more
            .wait_timeout_while(book, patience, behind)
            .unwrap();
        assert!(!waited.timed_out(), "at {}, not {revision}", book.at);
    }

    /// Records a compaction to this revision.
    pub fn compacted(&self, revision: u64) {
        let mut book = self.book.lock().unwrap();
        let era = book.restored.len();
        book.compacted.insert(era, revision);
    }

    /// Records that a copy of etcd's data was saved.
    pub fn saved(&self) {
        let mut book = self.book.lock().unwrap();
        book.saved = book.compacted.get(&book.restored.len()).copied();
    }

    /// Records a restore to this revision, which undoes all later writes. Returns the number of the new era.
    pub fn restored(&self, revision: u64) -> usize {
        let mut book = self.book.lock().unwrap();
        book.restored.push(revision);
        let era = book.restored.len();
        if let Some(compacted) = book.saved {
            book.compacted.insert(era, compacted);
        }
        book.at = revision;
        let there = book.truth(|_| true).state(era, revision);
        book.uids = there
            .into_iter()
            .map(|entry| (entry.place, entry.uid))
            .collect();
        era
    }

    /// The writes in one namespace.
    pub fn of(&self, namespace: &str) -> Truth {
        let book = self.book.lock().unwrap();
        book.truth(|entry| entry.place.namespace == namespace)
    }
}

impl Book {
    fn enter(&mut self, place: Place, change: &Change) {
        let (uid, what) = match &change.value {
            None => {
                let uid = self.uids.remove(&place);
                (uid.expect("a deleted object existed"), What::Gone)
            }
            Some(value) => {
                let object: Value = serde_json::from_slice(value).unwrap();
                let uid = object["metadata"]["uid"].as_str().unwrap().to_owned();
                self.uids.insert(place.clone(), uid.clone());
                let number = counter(&object).expect("each version has a number");
                (uid, What::Version(number))
            }
        };
        self.entries.push(Entry {
            era: self.restored.len(),
            revision: change.revision,
            place,
            uid,
            what,
        });
    }

    fn truth(&self, is_wanted: impl Fn(&Entry) -> bool) -> Truth {
        let entries = self.entries.iter().filter(|entry| is_wanted(entry));
        Truth {
            entries: entries.cloned().collect(),
            compacted: self.compacted.clone(),
            restored: self.restored.clone(),
        }
    }
}

impl Truth {
    /// Whether an entry is part of the history that leads to the end of this era.
    fn leads_to(&self, entry: &Entry, era: usize) -> bool {
        let undone = self.restored.get(entry.era..era).unwrap_or_default();
        entry.era <= era && undone.iter().all(|restored| entry.revision <= *restored)
    }

    /// The objects at a revision of an era, each with its last version.
    pub fn state(&self, era: usize, revision: u64) -> Vec<Entry> {
        let mut last: HashMap<&str, &Entry> = HashMap::new();
        for entry in &self.entries {
            if self.leads_to(entry, era) && entry.revision <= revision {
                last.insert(&entry.uid, entry);
            }
        }
        let there = last.into_values().filter(|entry| entry.what != What::Gone);
        there.cloned().collect()
    }

    /// The objects at the end, each with its last version.
    pub fn last(&self) -> Vec<Entry> {
        self.state(self.restored.len(), u64::MAX)
    }

    /// The entries that a restore has undone, without those that happened again later: a second deletion of
    /// an object looks like the first.
    pub fn undone(&self) -> Vec<&Entry> {
        let (undone, lasting): (Vec<&Entry>, Vec<&Entry>) =
            self.entries.iter().partition(|at| self.is_undone(at));
        let again = |at: &Entry| {
            let mut lasting = lasting.iter();
            lasting.any(|other| other.uid == at.uid && other.what == at.what)
        };
        undone.into_iter().filter(|at| !again(at)).collect()
    }

    /// Whether etcd was restored to a state before this entry.
    pub fn is_undone(&self, entry: &Entry) -> bool {
        !self.leads_to(entry, self.restored.len())
    }

    /// Whether etcd was ever compacted up to this entry.
    pub fn is_forgotten(&self, entry: &Entry) -> bool {
        let compacted = |era| self.compacted.get(&era).copied().unwrap_or_default();
        (entry.era..=self.restored.len())
            .any(|era| self.leads_to(entry, era) && entry.revision <= compacted(era))
    }

    /// The kinds with writes.
    pub fn kinds(&self) -> Vec<Kind> {
        let mut kinds: Vec<Kind> = self.entries.iter().map(|entry| entry.place.kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }
}
