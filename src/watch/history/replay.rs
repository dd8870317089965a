//! The watch cache's latest events, with their objects: a watch from an old revision gets them in one
//! request, the oldest first. Reads at exact revisions have neither deletions nor short lives; events do.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use rustc_hash::FxHashMap;
use tokio::time::timeout;

use super::read::Archive;
use super::revision::Revision;
use crate::object::ResourceVersion;
use crate::watch::body::{Body, Packer};
use crate::watch::envelope::{Line, Reader, Verb};
use crate::watch::event::Version;
use crate::watch::store::{Name, name};

/// The watch cache has sent all it holds once two such spans pass without an event, one after the other. One
/// alone proves nothing: a busy program sees its timer before the bytes that have arrived.
const QUIET: Duration = Duration::from_millis(50);
const QUIET_SPANS: u32 = 2;
/// How many such spans to wait for an event that must still come.
const PATIENT_SPANS: u32 = 100;
/// How often to ask again. A server that no longer has the first event names the oldest one, and may drop that
/// one the next moment.
const TRIES: usize = 3;

/// Which events to read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// Those after this revision,
    pub(super) after: Revision,
    /// up to this one.
    pub(super) upto: Revision,
    /// There is one at this revision.
    pub(super) known: Option<Revision>,
}

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

/// Why a replay has not all the events.
enum Short {
    /// The server has those after this revision.
    Only(Revision),
    /// The connection broke.
    Broken,
    /// The server has none of them, or an event that must be there did not come.
    Never,
}

impl Replay {
    /// Reads the events, or as far back as they go; `None` if the watch cache cannot be read.
    pub(super) async fn read(archive: &Archive, mut asked: Asked) -> Option<Replay> {
        for _ in 0..TRIES {
            match Replay::fill(archive, asked).await {
                Ok(replay) => return Some(replay),
                Err(Short::Only(oldest)) if oldest > asked.after && oldest < asked.upto => {
                    asked.after = oldest;
                }
                Err(Short::Broken) => {}
                Err(Short::Only(_) | Short::Never) => return None,
            }
        }
        None
    }

    async fn fill(archive: &Archive, asked: Asked) -> Result<Replay, Short> {
        let from = ResourceVersion::from(asked.after);
        let opened = archive.transport.watch(&archive.key, &from).await;
        let mut lines = opened.map_err(|error| too_old(&error.to_string()))?;
        let (mut reader, mut keeper) = (Reader::new(&archive.key), Keeper::new());
        let mut replay = Replay {
            reaches: asked.after,
            events: Vec::new(),
        };
        let (mut last, mut quiet) = (asked.after, 0);
        while last < asked.upto {
            let lacks = asked.known.is_some_and(|known| known > last);
            let Ok(line) = timeout(QUIET, lines.next()).await else {
                quiet += 1;
                match lacks {
                    false if quiet >= QUIET_SPANS => break,
                    true if quiet >= PATIENT_SPANS => return Err(Short::Never),
                    _ => continue,
                }
            };
            quiet = 0;
            let line = line.and_then(Result::ok).ok_or(Short::Broken)?;
            let at = match reader.line(&line).map_err(|_| Short::Never)? {
                Line::Object { verb, item } => {
                    let at = Revision::parse(&item.version.version).ok_or(Short::Never)?;
                    if at > last && at <= asked.upto {
                        let version = keeper.keep(&item.version, verb);
                        replay.events.push(Happening { at, verb, version });
                    }
                    at
                }
                Line::Bookmark(version) => Revision::parse(&version).ok_or(Short::Never)?,
                Line::Error(status) if status.code == 410 => return Err(too_old(&status.message)),
                Line::Error(_) => return Err(Short::Broken),
            };
            last = last.max(at);
        }
        Ok(replay)
    }
}

/// Keeps versions packed, each with what its object's last one was packed with.
struct Keeper {
    packer: Packer,
    last: FxHashMap<Name, Body>,
}

impl Keeper {
    fn new() -> Keeper {
        Keeper {
            packer: Packer::new(),
            last: FxHashMap::default(),
        }
    }

    fn keep(&mut self, version: &Version, verb: Verb) -> Arc<Version> {
        let name = name(&version.object);
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

/// The number in the parentheses of `too old resource version: 5 (1234)`: the oldest revision that a
/// watch can start from
/// (<https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apiserver/pkg/storage/cacher/watch_cache.go>).
pub(in crate::watch) fn named_oldest(message: &str) -> Option<Revision> {
    let (_, tail) = message.rsplit_once('(')?;
    Revision::read(tail.split_once(')')?.0)
}

fn too_old(message: &str) -> Short {
    named_oldest(message).map_or(Short::Never, Short::Only)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_stands_in_parentheses() {
        for (message, number) in [
            ("too old resource version: 5 (1234)", Some("1234")),
            ("too old resource version: 5", None),
            ("(x)", None),
            ("(12", None),
        ] {
            let read = named_oldest(message).map(|oldest| oldest.to_string());
            assert_eq!(read.as_deref(), number, "{message}");
        }
    }
}
