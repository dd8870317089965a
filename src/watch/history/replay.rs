//! The latest events of a source in the watch cache, with their objects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::past_event::{ObjectAt, ObjectsAt, Past, PastEvent, Presence};
use super::read::{Archive, PastError};
use super::watch_cache::{CacheEnd, CacheWait, CachedEvent, Lacks, WatchCache};
use crate::object::{NamespacedName, ObjectRef, ResourceVersion};
use crate::source::{Body, Packer, Version, Why};
use crate::watch::envelope::WatchVerb;
use crate::watch::revision::{Revision, RevisionSpan};

/// How often to try. A server that no longer has the first event names its oldest one, but may drop that one in
/// the next moment.
const TRIES: usize = 3;

/// What is known of the last event of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LastEvent {
    /// There is an event at this revision.
    At(Revision),
    /// If there are events, the last one is a deletion.
    Deletion,
    Unknown,
}

/// The events of a source, oldest first.
#[derive(Debug)]
pub(super) struct Replay {
    /// Every event after this revision is in `events`.
    pub(super) reaches: Revision,
    pub(super) events: Vec<CachedEvent>,
}

impl Replay {
    /// Reads the events of a span, or as far back as the watch cache reaches; `None` if it cannot be read, or if
    /// the last event does not arrive.
    pub(super) async fn read(
        archive: &Archive,
        mut span: RevisionSpan,
        last: LastEvent,
    ) -> Option<Replay> {
        let mut record = begin_of_record(archive).await;
        // To find out that the server no longer continues the record costs one.
        for _ in 0..TRIES + usize::from(record.is_some()) {
            let end = match Replay::fill(archive, span, last).await {
                Ok(replay) => return Some(replay),
                Err(end) => end,
            };
            // A record that begins earlier than the server's cache continues in it.
            let record = record.take_if(|begin| end.is_after(*begin) && *begin > span.after);
            match (end, record) {
                (_, Some(begin)) => span.after = begin,
                (CacheEnd::Only(oldest), None) if oldest > span.after && oldest < span.upto => {
                    span.after = oldest;
                }
                // Nothing has happened in a record since it began.
                (CacheEnd::Only(oldest), None)
                    if oldest == span.upto && archive.transport.recorded().is_some() =>
                {
                    span.after = oldest;
                }
                (CacheEnd::Broken, None) => {}
                (CacheEnd::Only(_) | CacheEnd::Never, None) => return None,
            }
        }
        None
    }

    async fn fill(
        archive: &Archive,
        span: RevisionSpan,
        last: LastEvent,
    ) -> Result<Replay, CacheEnd> {
        let mut cache = WatchCache::open(archive, span, CacheWait::Short).await?;
        let mut keeper = Keeper::new();
        let mut events = Vec::new();
        loop {
            let lacks = last.lacks(cache.last, &events);
            let Some(event) = cache.next(lacks).await? else {
                let reaches = span.after;
                return Ok(Replay { reaches, events });
            };
            events.push(CachedEvent {
                version: keeper.keep(&event.version, event.verb),
                ..event
            });
        }
    }
}

/// The revision with which the record of a whole kind begins. Of one object it can have many more versions than a view shows.
async fn begin_of_record(archive: &Archive) -> Option<Revision> {
    let recorded = archive.transport.recorded()?;
    match archive.key.select.name() {
        Some(_) => None,
        None => recorded.oldest(&archive.key).await,
    }
}

impl LastEvent {
    /// Whether an event must still arrive after these, which are all events up to a revision.
    fn lacks(self, upto: Revision, events: &[CachedEvent]) -> Lacks {
        let is_open = |event: &CachedEvent| event.verb != WatchVerb::Deleted;
        match self {
            LastEvent::At(last) if last > upto => Lacks::AnEvent,
            LastEvent::Deletion if events.last().is_some_and(is_open) => Lacks::AnEvent,
            LastEvent::At(_) | LastEvent::Unknown if events.is_empty() => Lacks::Unknown,
            LastEvent::At(_) | LastEvent::Deletion | LastEvent::Unknown => Lacks::Nothing,
        }
    }
}

/// Packs versions. The last version of an object helps to pack its next one.
struct Keeper {
    packer: Packer,
    last: FxHashMap<NamespacedName, Body>,
}

impl Keeper {
    fn new() -> Keeper {
        Keeper {
            packer: Packer::new(),
            last: FxHashMap::default(),
        }
    }

    fn keep(&mut self, version: &Version, verb: WatchVerb) -> Arc<Version> {
        let name = version.object.namespaced_name();
        let before = self.last.remove(&name);
        let kept = version.packed(&mut self.packer, before.as_ref());
        if verb != WatchVerb::Deleted {
            self.last.insert(name, kept.body.clone());
        }
        // A version that cannot be packed is kept without its tape.
        Arc::new(if kept.body.is_packed() {
            kept
        } else {
            kept.without_tape()
        })
    }
}

/// The events of a source after a revision, by object.
pub(super) struct Cached {
    /// Every event after this revision is in `objects`.
    pub(super) reaches: Revision,
    /// Whether the watch cache could be read.
    pub(super) is_read: bool,
    pub(super) objects: BTreeMap<NamespacedName, EventsOfObject>,
}

/// The events of one object, oldest first. There is at least one.
#[derive(Default)]
pub(super) struct EventsOfObject(Vec<CachedEvent>);

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
        let there = (event.verb != WatchVerb::Deleted).then_some(&event.version.version);
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

impl EventsOfObject {
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
        first.is_some_and(|event| event.verb != WatchVerb::Added)
    }

    pub(super) fn past_events(self, before: Before) -> Vec<PastEvent> {
        let (mut there, mut is_unread) = match before {
            Before::Known(there) => (there, false),
            Before::Unread => (None, true),
        };
        let past = self.0.into_iter().map(|event| {
            let is_modified = event.verb == WatchVerb::Modified;
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

/// The known past of one object.
#[derive(Debug, Default)]
pub(super) struct CachedObject {
    /// From this revision on, the watch cache has every event; `None` if it was not read.
    pub(super) reaches: Option<Revision>,
    /// The events, oldest first.
    events: Vec<CachedEvent>,
    /// Revisions at which the object is known to exist.
    present: BTreeSet<Revision>,
}

impl CachedObject {
    /// Creates a value without reading the watch cache.
    pub(super) fn known(present: BTreeSet<Revision>) -> CachedObject {
        CachedObject {
            present,
            ..CachedObject::default()
        }
    }

    /// Reads the events that lead to a state, after `floor` or as far back as the watch cache reaches.
    pub(super) async fn read(archive: Archive, state: ObjectAt, floor: Revision) -> CachedObject {
        let own = |there: &Version| Revision::parse(&there.version);
        let last = match &state.there {
            Some(there) => own(there).map_or(LastEvent::Unknown, LastEvent::At),
            None => LastEvent::Deletion,
        };
        let span = RevisionSpan {
            after: floor,
            upto: state.at,
        };
        let Some(replay) = Replay::read(&archive, span, last).await else {
            return CachedObject::default();
        };
        CachedObject {
            reaches: Some(replay.reaches),
            events: replay.events,
            present: BTreeSet::new(),
        }
    }

    /// Whether the watch cache showed events. A silent cache is no proof: they may still be on their way.
    pub(super) fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// The newest revision before `at` at which the object is known to exist.
    pub(super) fn present(&self, at: Revision) -> Option<Revision> {
        let deleted = self.deletion(at).filter(|deleted| deleted.at == at);
        let before = deleted.map(|_| at.back(1));
        before.or_else(|| self.present.range(..at).next_back().copied())
    }

    /// The newest deletion that is not after `at`: the object was deleted, or stopped matching.
    pub(super) fn deletion(&self, at: Revision) -> Option<&CachedEvent> {
        let mut events = self.upto(at).iter().rev();
        events.find(|event| event.verb == WatchVerb::Deleted)
    }

    /// The findings before a state, and the state before them, if the events lead from one to the other.
    pub(super) fn before(&self, state: &ObjectAt) -> Option<(Vec<Past>, ObjectAt)> {
        let (last, earlier) = self.upto(state.at).split_last()?;
        let earlier = earlier
            .last()
            .filter(|event| event.verb != WatchVerb::Deleted);
        let there = |event: &CachedEvent| ObjectAt {
            at: event.at,
            there: Some(event.version.clone()),
        };
        let absent = ObjectAt {
            at: last.at.back(1),
            there: None,
        };
        match (&state.there, last.verb) {
            (Some(now), WatchVerb::Modified) if last.is_of(now) => {
                let earlier = earlier?;
                let version = Past::Version(earlier.version.clone());
                Some((vec![version], there(earlier)))
            }
            (Some(now), WatchVerb::Added) if last.is_of(now) => Some((vec![Past::Created], absent)),
            (None, WatchVerb::Deleted) => {
                let earlier = earlier?;
                let version = Past::Version(earlier.version.clone());
                Some((vec![Past::Deleted(last.at), version], there(earlier)))
            }
            (Some(_) | None, _) => None,
        }
    }

    /// The last state of a deleted object whose last version is unknown: the event of its deletion has it.
    pub(super) fn last_state(&self, state: &ObjectAt) -> Option<[Past; 2]> {
        let last = self.upto(state.at).last()?;
        let is_end = state.there.is_none() && last.verb == WatchVerb::Deleted;
        let version = Past::Version(last.version.clone());
        is_end.then_some([Past::Deleted(last.at), version])
    }

    fn upto(&self, at: Revision) -> &[CachedEvent] {
        &self.events[..self.events.partition_point(|event| event.at <= at)]
    }
}

impl CachedEvent {
    /// Whether a version came with this event.
    fn is_of(&self, now: &Version) -> bool {
        self.version.version == now.version && self.version.object.uid == now.object.uid
    }
}

/// Tells objects that started or stopped matching a selector from created and deleted ones. A watch with a selector reports
/// both as additions and deletions.
impl Archive {
    /// Marks the deletions of objects that only stopped matching the selector.
    pub(in crate::watch) async fn mark_left_selector(
        &self,
        events: &mut [PastEvent],
    ) -> Result<(), PastError> {
        if !self.key.select.can_leave() {
            return Ok(());
        }
        for event in events.iter_mut().filter(|event| event.why == Why::Deleted) {
            let Some(at) = event.at else { continue };
            let object = &event.now.object;
            let unselected = self.unselected(object);
            let there = match unselected.object(object, at).await {
                Ok(there) => there,
                Err(unread) => {
                    let event = unselected.event_in_cache(at).await.ok_or(unread)?;
                    (event.verb != WatchVerb::Deleted).then_some(event.version)
                }
            };
            if there.is_some_and(|there| there.object.uid == object.uid) {
                event.why = Why::LeftSelector;
            }
        }
        Ok(())
    }

    /// Turns the creations of objects that only started to match the selector into changes of the version before. If that
    /// cannot be read, what came before the version is unknown.
    pub(in crate::watch) async fn mark_joined_selector(&self, events: &mut [PastEvent]) {
        if !self.key.select.can_leave() {
            return;
        }
        for event in events.iter_mut().filter(|event| event.why == Why::Added) {
            let Some(at) = event.at else { continue };
            let object = &event.now.object;
            let unselected = self.unselected(object);
            match unselected.object(object, at.back(1)).await {
                Ok(Some(before)) if before.object.uid == object.uid => {
                    (event.why, event.prev) = (Why::Modified, Some(before));
                }
                Ok(_) => {}
                Err(_) => {
                    let cached = unselected.event_in_cache(at).await;
                    if cached.is_none_or(|event| event.verb != WatchVerb::Added) {
                        event.why = Why::Listed;
                    }
                }
            }
        }
    }

    /// The event at a revision of the one object of this archive; `None` if the watch cache does not have it.
    async fn event_in_cache(&self, at: Revision) -> Option<CachedEvent> {
        let span = RevisionSpan {
            after: at.back(1),
            upto: at,
        };
        let replay = Replay::read(self, span, LastEvent::At(at)).await?;
        replay.events.into_iter().next_back()
    }
}
