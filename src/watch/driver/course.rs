//! What became of each object inside a hole.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::object::ObjectRef;
use crate::watch::event::{Version, Why};
use crate::watch::history::{Presence, Revision, Span, Told};
use crate::watch::store::{Change, Name, name};

/// What became of one name inside a hole.
#[derive(Clone, Debug)]
pub(super) struct Course {
    pub(super) object: ObjectRef,
    /// What was there when it began, and when it ended.
    pub(super) then: Presence,
    pub(super) now: Presence,
    pub(super) told: Vec<Told>,
}

pub(super) type Courses = BTreeMap<Name, Course>;

impl Course {
    /// Whether nothing happened to it.
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

    /// Of an object that neither listing has.
    pub(super) fn new(object: ObjectRef) -> Course {
        Course {
            object,
            then: None,
            now: None,
            told: Vec::new(),
        }
    }

    /// Whether it is known to be there at a revision.
    pub(super) fn is_there(&self, at: Revision) -> bool {
        let last = self.told.iter().rfind(|told| told.at <= Some(at));
        last.map_or(self.then.is_some(), |told| told.present().is_some())
    }
}

impl Told {
    /// When the object is there.
    pub(super) fn present(&self) -> Option<Revision> {
        self.at.filter(|_| !self.is_end())
    }
}

/// The first revisions in a span of which nothing is known.
pub(super) fn unknown(courses: &Courses, span: Span, most: usize) -> Vec<Revision> {
    let known = courses.values().flat_map(|course| &course.told);
    let known: BTreeSet<Revision> = known.filter_map(|told| told.at).collect();
    let all = std::iter::successors(Some(span.after.next()), |at| Some(at.next()));
    all.take_while(|at| *at <= span.upto)
        .filter(|at| !known.contains(at))
        .take(most)
        .collect()
}

/// The difference between two listings, by name.
pub(super) fn courses(changes: &[Change]) -> Courses {
    let mut courses = Courses::new();
    for change in changes {
        let course = courses
            .entry(name(&change.now.object))
            .or_insert_with(|| Course::new(change.now.object.clone()));
        if change.why == Why::Vanished {
            course.then = Some(change.now.clone());
        } else {
            course.now = Some(change.now.clone());
            if change.prev.is_some() {
                course.then.clone_from(&change.prev);
            }
        }
    }
    courses
}

/// What to tell a subscriber who had the one and now has the other: what vanished, and what is there.
pub(super) fn difference(had: Presence, has: Presence) -> (Option<Change>, Option<Change>) {
    let vanish = Change::vanished;
    let arrive = |why, now, prev| Change { why, now, prev };
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
