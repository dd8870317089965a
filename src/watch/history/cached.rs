//! The events of a source in the watch cache, by object, after a check against the current objects.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::objects_at::ObjectsAt;
use super::past_event::{PastEvent, Presence};
use super::read::Archive;
use super::replay::{LastEvent, Replay};
use super::revision::{Revision, RevisionSpan};
use super::watch_cache::CachedEvent;
use crate::object::{NamespacedName, ObjectRef, ResourceVersion};
use crate::source::{Version, Why};
use crate::watch::envelope::Verb;

/// The events of a source after a revision, by object.
pub(super) struct Cached {
    /// Every event after this revision is in `objects`.
    pub(super) reaches: Revision,
    /// Whether the watch cache could be read.
    pub(super) is_read: bool,
    pub(super) objects: BTreeMap<NamespacedName, Events>,
}

/// The events of one object, oldest first. There is at least one.
#[derive(Default)]
pub(super) struct Events(Vec<CachedEvent>);

/// The state of an object before the first of its events.
#[derive(Clone, Debug)]
pub(super) enum Before {
    Known(Presence),
    /// The object existed, but that version could not be read.
    Unread,
}

impl Cached {
    /// Reads the events that lead to `now`, from `floor` on or as far back as the watch cache reaches.
    pub(super) async fn read(archive: &Archive, now: &ObjectsAt, floor: Revision) -> Cached {
        let mut cached = Cached {
            reaches: now.at,
            is_read: floor >= now.at,
            objects: BTreeMap::new(),
        };
        let own = |there: &Arc<Version>| Revision::parse(&there.version);
        if cached.is_read {
            return cached;
        }
        let span = RevisionSpan {
            after: floor,
            upto: now.at,
        };
        let known = now.objects.iter().filter_map(own).max();
        let last = known.map_or(LastEvent::Unknown, LastEvent::At);
        let replay = Replay::read(archive, span, last).await;
        if let Some(replay) = replay.filter(|replay| lead(replay, now)) {
            (cached.reaches, cached.is_read) = (replay.reaches, true);
            for event in replay.events {
                let events = cached.objects.entry(event.version.object.namespaced_name());
                events.or_default().0.push(event);
            }
        }
        cached
    }
}

/// Whether the events of a replay end with the current objects. If not, events are missing, and nothing else
/// would show that.
fn lead(replay: &Replay, now: &ObjectsAt) -> bool {
    let mut last: BTreeMap<NamespacedName, Option<&ResourceVersion>> = BTreeMap::new();
    for event in &replay.events {
        let there = (event.verb != Verb::Deleted).then_some(&event.version.version);
        last.insert(event.version.object.namespaced_name(), there);
    }
    let are_met = now.objects.iter().all(|there| {
        let own = &there.version;
        match last.remove(&there.object.namespaced_name()) {
            Some(last) => last == Some(own),
            None => Revision::parse(own).is_some_and(|own| own <= replay.reaches),
        }
    });
    are_met && last.into_values().all(|there| there.is_none())
}

impl Events {
    /// The object of the first event.
    pub(super) fn object(&self) -> Option<&ObjectRef> {
        self.0.first().map(|event| &*event.version.object)
    }

    /// The revision of the first event.
    pub(super) fn first(&self) -> Option<Revision> {
        self.0.first().map(|event| event.at)
    }

    /// Whether the object existed before the first event.
    pub(super) fn follow_a_version(&self) -> bool {
        let first = self.0.first();
        first.is_some_and(|event| event.verb != Verb::Added)
    }

    /// The events as past events of an object that was `before` them.
    pub(super) fn past_events(self, before: Before) -> Vec<PastEvent> {
        let (mut there, mut is_unread) = match before {
            Before::Known(there) => (there, false),
            Before::Unread => (None, true),
        };
        let past = self.0.into_iter().map(|event| {
            let is_modified = event.verb == Verb::Modified;
            let mut past = event.past(&mut there);
            if std::mem::take(&mut is_unread) && is_modified {
                // It has no version before, but the next event is compared with it.
                past.why = Why::Listed;
            }
            past
        });
        past.collect()
    }
}
