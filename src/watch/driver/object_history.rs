//! The history of each object inside the interval of a backfill.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::object::{NamespacedName, ObjectRef};
use crate::source::{Version, Why};
use crate::watch::history::{PastEvent, Presence};
use crate::watch::revision::{Revision, RevisionSpan};
use crate::watch::store::StoreChange;

/// The history of one name inside the interval.
#[derive(Clone, Debug)]
pub(super) struct ObjectHistory {
    pub(super) object: Arc<ObjectRef>,
    /// The object at the start and at the end of the interval.
    pub(super) then: Presence,
    pub(super) now: Presence,
    pub(super) events: Vec<PastEvent>,
}

pub(super) type ObjectHistories = BTreeMap<NamespacedName, ObjectHistory>;

impl ObjectHistory {
    /// Whether no event is missing: the object is the same at both ends.
    pub(super) fn is_over(&self) -> bool {
        let is_same = |then: &Arc<Version>, now: &Arc<Version>| {
            then.object.uid == now.object.uid && then.version == now.version
        };
        match (&self.then, &self.now) {
            (None, None) => true,
            (Some(then), Some(now)) => is_same(then, now),
            (None, Some(_)) | (Some(_), None) => false,
        }
    }

    pub(super) fn new(object: Arc<ObjectRef>) -> ObjectHistory {
        ObjectHistory {
            object,
            then: None,
            now: None,
            events: Vec::new(),
        }
    }

    pub(super) fn is_there(&self, at: Revision) -> bool {
        let last = self.events.iter().rfind(|event| event.at <= Some(at));
        last.map_or(self.then.is_some(), |event| event.present().is_some())
    }
}

impl PastEvent {
    /// The revision of the event, if the object exists after it.
    pub(super) fn present(&self) -> Option<Revision> {
        self.at.filter(|_| !self.is_end())
    }
}

/// The first open revisions in a span without a known event, at most `most`.
pub(super) fn unknown(
    histories: &ObjectHistories,
    span: RevisionSpan,
    most: usize,
    is_open: impl Fn(Revision) -> bool,
) -> Vec<Revision> {
    let known = histories.values().flat_map(|history| &history.events);
    let known: BTreeSet<Revision> = known.filter_map(|event| event.at).collect();
    let all = std::iter::successors(Some(span.after.next()), |at| Some(at.next()));
    all.take_while(|at| *at <= span.upto)
        .filter(|at| !known.contains(at) && is_open(*at))
        .take(most)
        .collect()
}

/// The difference between two listings, by namespace and name.
pub(super) fn histories_of(changes: &[StoreChange]) -> ObjectHistories {
    let mut histories = ObjectHistories::new();
    for change in changes {
        let history = histories
            .entry(change.now.object.namespaced_name())
            .or_insert_with(|| ObjectHistory::new(change.now.object.clone()));
        if change.why == Why::Vanished {
            history.then = Some(change.now.clone());
        } else {
            history.now = Some(change.now.clone());
            if change.prev.is_some() {
                history.then.clone_from(&change.prev);
            }
        }
    }
    histories
}

/// The changes for a subscriber that had `had` and now has `has`: what vanished, and what exists now.
pub(super) fn difference(
    had: Presence,
    has: Presence,
) -> (Option<StoreChange>, Option<StoreChange>) {
    let vanish = StoreChange::vanished;
    let arrive = |why, now, prev| StoreChange { why, now, prev };
    match (had, has) {
        (None, None) => (None, None),
        (Some(had), None) => (Some(vanish(had)), None),
        (None, Some(now)) => (None, Some(arrive(Why::Listed, now, None))),
        (Some(had), Some(now)) if had.object.uid != now.object.uid => {
            (Some(vanish(had)), Some(arrive(Why::Listed, now, None)))
        }
        (Some(had), Some(now)) if had.version == now.version => (None, None),
        (Some(had), Some(now)) => (None, Some(arrive(Why::Skipped, now, Some(had)))),
    }
}
