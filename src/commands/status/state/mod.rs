//! The state of `status`: every object, its owners, and its assessment.

mod refresh;

pub(super) use refresh::TREES;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::sources::{Heard, Wanted};
use crate::commands::sources::named;
use crate::graph::{self, Graph};
use crate::object::{ObjectRef, Uid};
use crate::status::{Assessment, Departure, RolloutCounts, Rules, Status};
use crate::watch::{Event, Scope, SourceKey, Version, Why};

/// The objects that were asked for and what they own. Events go in at once; what they mean is worked
/// out by [`State::refresh`], once for many.
#[derive(Debug)]
pub(super) struct State {
    rules: Rules,
    wanted: Wanted,
    pub(super) graph: Graph,
    pub(super) objects: BTreeMap<Uid, Known>,
    dirty: BTreeSet<Uid>,
    /// What is to be judged again when its time comes, though nothing has happened to it.
    reviews: BTreeSet<(Timestamp, Uid)>,
    /// What is gone and still shown.
    gone: BTreeSet<Uid>,
    /// How many objects wide sources that were asked for have found.
    wide: usize,
    /// Whether something has come that decides which dependents are followed.
    is_plan_old: bool,
    /// Whether there are objects of which the dependents are not followed.
    pub(super) is_flat: bool,
    /// Since when it is watched.
    pub(super) started: Timestamp,
    /// When an object last changed, what was there at first not counted.
    pub(super) last: Option<Timestamp>,
    pub(super) not_found: Assessment,
    pub(super) unread: Assessment,
}

/// One object.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) object: ObjectRef,
    /// Its newest version in each source that has it; the first is the one that counts.
    held: Vec<(Arc<SourceKey>, Arc<Version>)>,
    /// The source that was asked for and has it, by its place.
    pub(super) asked: Option<usize>,
    pub(super) assessment: Assessment,
    /// The worst state among the dependents of its current revision.
    pub(super) worst: Option<Status>,
    pub(super) rollout: Option<RolloutCounts>,
    /// When its assessment last changed; `None` if it has not since the first listing.
    pub(super) changed: Option<Timestamp>,
    pub(super) gone: Option<(Departure, Timestamp)>,
    is_news: bool,
    review: Option<Timestamp>,
    dependents: Vec<SourceKey>,
}

impl State {
    /// Nothing is known yet of the sources that were asked for.
    pub(super) fn new(asked: Vec<SourceKey>, rules: Rules, started: Timestamp) -> State {
        State {
            rules,
            wanted: Wanted::new(asked),
            graph: Graph::default(),
            objects: BTreeMap::new(),
            dirty: BTreeSet::new(),
            reviews: BTreeSet::new(),
            gone: BTreeSet::new(),
            wide: 0,
            is_plan_old: false,
            is_flat: false,
            started,
            last: None,
            not_found: Assessment::not_found(),
            unread: Assessment::unread(),
        }
    }

    /// The sources to follow: those that were asked for, and those of what their objects own.
    pub(super) fn wanted(&self) -> impl Iterator<Item = &SourceKey> {
        self.wanted.keys()
    }

    /// The sources that were asked for.
    pub(super) fn asked(&self) -> impl Iterator<Item = &SourceKey> {
        self.wanted.asked()
    }

    /// Whether every source has been read or cannot be read.
    pub(super) fn is_settled(&self) -> bool {
        let is_settled = |heard: &Heard| matches!(heard, Heard::All | Heard::Refused);
        self.dirty.is_empty() && self.wanted.heard().all(is_settled)
    }

    /// Whether there is nothing to wait for before what is known is told: every source has answered, or
    /// does not.
    pub(super) fn is_presentable(&self) -> bool {
        self.dirty.is_empty() && self.wanted.heard().all(|heard| *heard != Heard::Part)
    }

    /// Whether it is known that there are no objects of the types that were asked for; a single object
    /// that is not there says nothing of its type.
    pub(super) fn is_empty(&self) -> bool {
        let is_read = |index: usize| self.wanted.is_read(index) && !self.is_name(index);
        self.objects.is_empty() && (0..self.asked().count()).all(is_read)
    }

    /// Whether nothing that was asked for can be read.
    pub(super) fn is_refused(&self) -> bool {
        let asked = self.wanted.asked().count();
        let mut heard = self.wanted.heard().take(asked);
        asked > 0 && heard.all(|heard| *heard == Heard::Refused)
    }

    /// Why a source does not answer after `patience` attempts.
    pub(super) fn silence(&self, patience: u32) -> Option<Arc<str>> {
        self.wanted.heard().find_map(|heard| match heard {
            Heard::Silence { attempts, cause } if *attempts >= patience => Some(cause.clone()),
            _ => None,
        })
    }

    /// The single objects that were asked for and were never there, each with its source; only of
    /// sources that have been read.
    pub(super) fn absent(&self) -> impl Iterator<Item = (usize, &SourceKey)> {
        let is_there = |index| {
            self.objects
                .values()
                .any(|known| known.asked == Some(index))
        };
        self.asked().enumerate().filter(move |(index, key)| {
            named(key).is_some() && self.wanted.is_read(*index) && !is_there(*index)
        })
    }

    /// Whether all that was asked for is well: it is there, read, and as it should be, and nothing that it
    /// owns has failed. What a wide source had and has no longer does not count.
    pub(super) fn is_well(&self) -> bool {
        let is_well = |known: &Known| match known.asked {
            None => true,
            Some(asked) if known.gone.is_some() && !self.is_name(asked) => true,
            Some(_) => known.assessment.is_well() && known.worst != Some(Status::Failed),
        };
        let is_read = (0..self.asked().count()).all(|index| !self.is_unread(index));
        is_read && self.absent().next().is_none() && self.objects.values().all(is_well)
    }

    /// Whether the source that was asked for at this place is about one object.
    pub(super) fn is_name(&self, asked: usize) -> bool {
        !self.wanted.is_wide(asked)
    }

    /// Whether the source that was asked for at this place is not read yet.
    pub(super) fn is_unread(&self, asked: usize) -> bool {
        !self.wanted.is_read(asked)
    }

    /// Takes one event.
    pub(super) fn apply(&mut self, key: &Arc<SourceKey>, event: Event, now: Timestamp) {
        self.wanted.note(key, &event);
        let Event::Object {
            why,
            seen,
            now: version,
            ..
        } = event
        else {
            return;
        };
        if why != Why::Listed {
            self.last = Some(seen);
        }
        match why {
            Why::Listed | Why::Added | Why::Modified | Why::Skipped => self.put(key, version, why),
            Why::Deleted => self.remove(key, &version, (Departure::Deleted, now)),
            Why::Vanished => self.lose(key, &version, (Departure::Deleted, now)),
            Why::LeftSelector => self.lose(key, &version, (Departure::LeftSelector, now)),
        }
    }

    fn put(&mut self, key: &Arc<SourceKey>, version: Arc<Version>, why: Why) {
        let uid = graph::key(&version.object);
        let asked = self.wanted.asked_index(key);
        let known = self.objects.entry(uid.clone()).or_insert_with(|| Known {
            object: version.object.clone(),
            held: Vec::new(),
            asked: None,
            assessment: Assessment::unread(),
            worst: None,
            rollout: None,
            changed: None,
            gone: None,
            is_news: why != Why::Listed,
            review: None,
            dependents: Vec::new(),
        });
        let is_wide = |index: usize| self.wanted.is_wide(index);
        if known.asked.is_none() && asked.is_some_and(is_wide) {
            self.wide += 1;
            self.is_plan_old |= self.wide == TREES + 1;
        }
        known.asked = known.asked.or(asked);
        match known.held.iter_mut().find(|(source, _)| source == key) {
            // Another source has already reported its deletion.
            Some(held) if known.gone.is_some() => held.1 = version,
            Some(held) => {
                held.1 = version;
                self.dirty.insert(uid);
            }
            None => {
                known.held.push((key.clone(), version));
                known.gone = None;
                self.gone.remove(&uid);
                self.dirty.insert(uid);
            }
        }
    }

    /// The object is gone, whatever other sources still show.
    fn remove(&mut self, key: &Arc<SourceKey>, version: &Version, gone: (Departure, Timestamp)) {
        let uid = graph::key(&version.object);
        if let Some(known) = self.objects.get_mut(&uid) {
            known.held.retain(|(source, _)| source != key);
            known.gone.get_or_insert(gone);
            self.gone.insert(uid.clone());
            self.dirty.insert(uid);
        }
    }

    /// One source no longer has the object; others may.
    fn lose(&mut self, key: &Arc<SourceKey>, version: &Version, gone: (Departure, Timestamp)) {
        let uid = graph::key(&version.object);
        if let Some(known) = self.objects.get_mut(&uid) {
            known.held.retain(|(source, _)| source != key);
            if known.held.is_empty() {
                known.gone.get_or_insert(gone);
                self.gone.insert(uid.clone());
            }
            self.dirty.insert(uid);
        }
    }
}

/// The object that a source about one object means, there or not.
pub(super) fn meant(key: &SourceKey) -> ObjectRef {
    ObjectRef {
        api_version: key.resource.api_version().into(),
        kind: key.resource.kind.clone(),
        namespace: match &key.scope {
            Scope::Cluster => None,
            Scope::Namespace(namespace) => Some(namespace.clone()),
        },
        name: named(key).unwrap_or_default().into(),
        uid: None,
    }
}
