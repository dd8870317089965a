//! The latest events of a source in the watch cache, with their objects.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::read::Archive;
use super::revision::{Revision, RevisionSpan};
use super::watch_cache::{CacheEnd, CacheWait, CachedEvent, Lacks, WatchCache};
use crate::object::NamespacedName;
use crate::source::{Body, Packer, Version};
use crate::watch::envelope::Verb;

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
        for _ in 0..TRIES {
            match Replay::fill(archive, span, last).await {
                Ok(replay) => return Some(replay),
                Err(CacheEnd::Only(oldest)) if oldest > span.after && oldest < span.upto => {
                    span.after = oldest;
                }
                Err(CacheEnd::Broken) => {}
                Err(CacheEnd::Only(_) | CacheEnd::Never) => return None,
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
            let lacks = last.lacks(cache.last(), &events);
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

impl LastEvent {
    /// Whether an event must still arrive after these, which are all events up to a revision.
    fn lacks(self, upto: Revision, events: &[CachedEvent]) -> Lacks {
        let is_open = |event: &CachedEvent| event.verb != Verb::Deleted;
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

    fn keep(&mut self, version: &Version, verb: Verb) -> Arc<Version> {
        let name = version.object.namespaced_name();
        let before = self.last.remove(&name);
        let kept = version.packed(&mut self.packer, before.as_ref());
        if verb != Verb::Deleted {
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
