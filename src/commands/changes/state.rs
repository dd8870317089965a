//! What `changes` keeps between two events, and what an event means to someone who follows the object.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;

use super::lookback::stop_rule::Written;
use crate::commands::Note;
use crate::object::{ObjectRef, Uid};
use crate::watch::{Event, Gap, SourceKey, Version, Why};

/// What has happened, when, and where it was seen.
#[derive(Clone, Debug)]
pub(super) struct Happened {
    /// When it was seen, by our clock.
    pub(super) seen: Timestamp,
    /// The source that saw it.
    pub(super) key: Arc<SourceKey>,
    /// What it means.
    pub(super) step: Step,
    /// When it happened, if it was not seen as it did, but read back from the server's memory.
    pub(super) past: Option<PastTime>,
}

/// When something happened that was not seen, by the server's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PastTime {
    /// When, or since when at the earliest.
    pub(super) time: Timestamp,
    /// The other end, where only an interval is known.
    pub(super) until: Option<Timestamp>,
}

/// What one event means.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// The object is there when we come.
    Baseline(Arc<Version>),
    /// A full listing is in, of a wide scope or without the one object that was asked for.
    Synced {
        /// How many objects there are.
        count: usize,
    },
    /// It was created.
    Created {
        now: Arc<Version>,
        /// An object of this name was deleted before.
        again: bool,
    },
    /// It has another version.
    Modified {
        old: Arc<Version>,
        now: Arc<Version>,
        /// Whether there may be versions between the two.
        skipped: bool,
        /// Since its last change that was seen.
        since: Option<Timestamp>,
    },
    /// It was deleted.
    Deleted {
        /// The version before the last, where it is known.
        old: Option<Arc<Version>>,
        /// Its last state.
        last: Arc<Version>,
        /// Whether it went while the source could not see.
        unseen: bool,
    },
    /// It no longer matches the selector.
    Left { last: Arc<Version> },
    /// Versions are missing.
    Gap(Gap),
    /// A line could not be read.
    Undecodable { detail: Arc<str> },
    /// The source has come to another state.
    State(Note),
}

impl Happened {
    /// When it was: by the server's clock if it is past, else by ours.
    pub(super) fn time(&self) -> Timestamp {
        self.past.map_or(self.seen, |past| past.time)
    }

    /// The object that it has happened to.
    pub(super) fn object(&self) -> Option<&ObjectRef> {
        match &self.step {
            Step::Baseline(now) | Step::Created { now, .. } | Step::Modified { now, .. } => {
                Some(&now.object)
            }
            Step::Deleted { last, .. } | Step::Left { last } => Some(&last.object),
            Step::Synced { .. } | Step::Gap(_) | Step::Undecodable { .. } | Step::State(_) => None,
        }
    }
}

/// How many deleted names are remembered, to tell a re-creation from a creation.
const DELETED_NAMES: usize = 1024;

/// What is kept between events: when each object last changed, and the names that were deleted.
#[derive(Debug, Default)]
pub(super) struct State {
    changed: HashMap<Uid, Timestamp>,
    deleted: VecDeque<ObjectRef>,
    synced: Vec<Arc<SourceKey>>,
    /// How many objects there are now.
    pub(super) objects: usize,
    /// How many versions were seen, the first listing not counted.
    pub(super) versions: u64,
    /// How many of them changed nothing that is shown.
    pub(super) hidden: u64,
    /// When the last of them came.
    pub(super) last: Option<Timestamp>,
}

impl State {
    /// Takes one event; `named` says whether its source is about one object.
    pub(super) fn apply(
        &mut self,
        key: &Arc<SourceKey>,
        event: Event,
        (at, named): (Timestamp, bool),
    ) -> Option<Happened> {
        let mut past = None;
        let (seen, step) = match event {
            Event::Object {
                why,
                seen,
                now,
                prev,
                past: read_back,
                ..
            } => {
                past = read_back.then(|| missed((why, seen), &now, prev.as_deref()));
                (seen, self.object((key, named), (why, seen), (now, prev))?)
            }
            Event::Synced { count, .. } => {
                let first = !self.synced.contains(key);
                if first {
                    self.synced.push(key.clone());
                }
                let tells = first && (!named || count == 0);
                (at, tells.then_some(Step::Synced { count })?)
            }
            Event::Gap(gap) => (at, Step::Gap(gap)),
            Event::Undecodable { detail } => (at, Step::Undecodable { detail }),
            Event::State(_) => return None,
        };
        Some(Happened {
            seen,
            key: key.clone(),
            step: if past.is_some() {
                unspanned(step)
            } else {
                step
            },
            past,
        })
    }

    fn object(
        &mut self,
        (key, named): (&Arc<SourceKey>, bool),
        (why, seen): (Why, Timestamp),
        (now, prev): (Arc<Version>, Option<Arc<Version>>),
    ) -> Option<Step> {
        let first_listing = why == Why::Listed && !self.synced.contains(key);
        if first_listing {
            self.objects += 1;
            return named.then_some(Step::Baseline(now));
        }
        self.versions += 1;
        self.last = Some(seen);
        let since = self.touch(&now.object, seen);
        match (why, prev) {
            (Why::Deleted | Why::Vanished, old) => {
                self.forget(&now.object);
                self.remember_deleted(&now.object);
                Some(Step::Deleted {
                    old,
                    last: now,
                    unseen: why == Why::Vanished,
                })
            }
            (Why::LeftSelector, _) => {
                self.forget(&now.object);
                Some(Step::Left { last: now })
            }
            (Why::Listed | Why::Added | Why::Modified | Why::Skipped, Some(old)) => {
                Some(Step::Modified {
                    old,
                    now,
                    skipped: why == Why::Skipped,
                    since,
                })
            }
            (Why::Listed | Why::Added | Why::Modified | Why::Skipped, None) => {
                self.objects += 1;
                let again = self.was_deleted(&now.object);
                Some(Step::Created { now, again })
            }
        }
    }

    /// Notes that an object has changed; returns when it did before.
    fn touch(&mut self, object: &ObjectRef, seen: Timestamp) -> Option<Timestamp> {
        self.changed.insert(object.uid.clone()?, seen)
    }

    fn forget(&mut self, object: &ObjectRef) {
        self.objects = self.objects.saturating_sub(1);
        if let Some(uid) = &object.uid {
            self.changed.remove(uid);
        }
    }

    pub(super) fn remember_deleted(&mut self, object: &ObjectRef) {
        if self.deleted.len() == DELETED_NAMES {
            self.deleted.pop_front();
        }
        self.deleted.push_back(ObjectRef {
            uid: None,
            ..object.clone()
        });
    }

    fn was_deleted(&mut self, object: &ObjectRef) -> bool {
        let name = ObjectRef {
            uid: None,
            ..object.clone()
        };
        let at = self.deleted.iter().position(|deleted| *deleted == name);
        at.and_then(|at| self.deleted.remove(at)).is_some()
    }
}

/// When a version was written that was missed, and read back.
fn missed((why, seen): (Why, Timestamp), now: &Version, prev: Option<&Version>) -> PastTime {
    let written = Written::of(prev, now);
    let is_deletion = matches!(why, Why::Deleted | Why::LeftSelector);
    let is_vague = matches!(written, Some(Written::After(_)));
    PastTime {
        time: written.map_or(seen, Written::earliest),
        until: (is_deletion || is_vague).then_some(seen),
    }
}

/// A span from what was seen to what was not says nothing.
fn unspanned(step: Step) -> Step {
    match step {
        Step::Modified {
            old, now, skipped, ..
        } => Step::Modified {
            old,
            now,
            skipped,
            since: None,
        },
        other => other,
    }
}
