//! The latest events of a source, with their objects, as the watch cache has them.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::read::Archive;
use super::revision::{Revision, RevisionSpan};
use super::watch_cache::{CacheWait, Lacks, Short, WatchCache};
use crate::object::NamespacedName;
use crate::source::Version;
use crate::source::{Body, Packer};
use crate::watch::envelope::Verb;

/// How often to ask again. A server that no longer has the first event names the oldest one, and may drop that
/// one the next moment.
const TRIES: usize = 3;

/// One event.
#[derive(Clone, Debug)]
pub(super) struct Happening {
    pub(super) at: Revision,
    pub(super) verb: Verb,
    pub(super) version: Arc<Version>,
}

/// The events of a source, the oldest first.
#[derive(Debug)]
pub(super) struct Replay {
    /// Every event after this revision is here.
    pub(super) reaches: Revision,
    pub(super) events: Vec<Happening>,
}

impl Replay {
    /// Reads the events of a span, or as far back as they go; `None` if the watch cache cannot be read. There is
    /// an event at the revision `known`.
    pub(super) async fn read(
        archive: &Archive,
        mut span: RevisionSpan,
        known: Option<Revision>,
    ) -> Option<Replay> {
        for _ in 0..TRIES {
            match Replay::fill(archive, span, known).await {
                Ok(replay) => return Some(replay),
                Err(Short::Only(oldest)) if oldest > span.after && oldest < span.upto => {
                    span.after = oldest;
                }
                Err(Short::Broken) => {}
                Err(Short::Only(_) | Short::Never) => return None,
            }
        }
        None
    }

    async fn fill(
        archive: &Archive,
        span: RevisionSpan,
        known: Option<Revision>,
    ) -> Result<Replay, Short> {
        let mut cache = WatchCache::open(archive, span, CacheWait::Short).await?;
        let mut keeper = Keeper::new();
        let mut events = Vec::new();
        loop {
            let lacks = match known {
                Some(known) if known > cache.last() => Lacks::AnEvent,
                Some(_) | None => Lacks::Nothing,
            };
            let Some(event) = cache.next(lacks).await? else {
                let reaches = span.after;
                return Ok(Replay { reaches, events });
            };
            events.push(Happening {
                at: event.at,
                verb: event.verb,
                version: keeper.keep(&event.version, event.verb),
            });
        }
    }
}

/// Keeps versions packed, each with what its object's last one was packed with.
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
        // What cannot be packed is kept without its tape.
        Arc::new(if kept.body.is_packed() {
            kept
        } else {
            kept.unread()
        })
    }
}
