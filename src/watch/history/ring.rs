//! The server's ring: the latest events of a resource, which a watch from an old revision is sent at
//! once. Unlike reads it has the deletions, and lives too short to be met by probing.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::StreamExt;
use tokio::time::timeout;

use super::read::Archive;
use super::revision::Revision;
use crate::object::{ObjectRef, ResourceVersion};
use crate::watch::envelope::{Line, Reader, Verb};
use crate::watch::store::{Name, name};

/// After so long without an event all that the ring holds has been sent, unless one is known to lack.
const QUIET: Duration = Duration::from_millis(100);
/// How long one is waited for that is known to lack.
const PATIENCE: Duration = Duration::from_secs(1);

/// What the ring has told of one object, or of all of a source.
#[derive(Debug, Default)]
pub(super) struct Ring {
    /// From this revision on it has every event; `None` if it is not known to reach back.
    pub(super) reaches: Option<Revision>,
    /// At which revisions the object was deleted, or ceased to match.
    deletions: BTreeSet<Revision>,
    /// Revisions at which it is known to be there.
    present: BTreeSet<Revision>,
    /// What was deleted, by name.
    gone: BTreeMap<Name, ObjectRef>,
}

/// Which events are asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// Those after this revision,
    pub(super) after: Revision,
    /// up to this one.
    pub(super) upto: Revision,
    /// There is one at this revision.
    pub(super) known: Option<Revision>,
}

impl Ring {
    /// What is known without the server's ring.
    pub(super) fn known(present: BTreeSet<Revision>) -> Ring {
        Ring {
            present,
            ..Ring::default()
        }
    }

    /// The newest revision before `at` at which it is known to be there.
    pub(super) fn present(&self, at: Revision) -> Option<Revision> {
        self.present.range(..at).next_back().copied()
    }

    /// The newest deletion that is not newer than `at`.
    pub(super) fn deletion(&self, at: Revision) -> Option<Revision> {
        self.deletions.range(..=at).next_back().copied()
    }

    /// What was deleted.
    pub(super) fn into_gone(self) -> BTreeMap<Name, ObjectRef> {
        self.gone
    }

    /// Reads the events that are asked for, or as far back as they go.
    pub(super) async fn read(archive: &Archive, mut asked: Asked) -> Ring {
        // A server that has forgotten the first of them names the oldest; that may be gone the next
        // moment.
        for _ in 0..3 {
            let mut ring = Ring {
                reaches: Some(asked.after),
                ..Ring::default()
            };
            match ring.fill(archive, asked).await {
                Ok(()) => return ring,
                Err(Some(oldest)) if oldest > asked.after && oldest < asked.upto => {
                    asked.after = oldest;
                }
                Err(_) => break,
            }
        }
        Ring::default()
    }

    /// The error is the oldest revision that the server names, if it does.
    async fn fill(&mut self, archive: &Archive, asked: Asked) -> Result<(), Option<Revision>> {
        let from = ResourceVersion::from(asked.after);
        let opened = archive.transport.watch(&archive.key, &from).await;
        let mut lines = opened.map_err(|error| oldest(&error.to_string()))?;
        let mut reader = Reader::new(&archive.key);
        let mut lacks = asked.known.filter(|known| *known > asked.after);
        loop {
            let patience = if lacks.is_some() { PATIENCE } else { QUIET };
            let Ok(line) = timeout(patience, lines.next()).await else {
                // What is known to lack does not come.
                return lacks.map_or(Ok(()), |_| Err(None));
            };
            let Some(Ok(line)) = line else {
                // Whether there was more nobody can tell.
                return Err(None);
            };
            let at = match reader.line(&line) {
                Ok(Line::Object { verb, item }) => {
                    let at = Revision::parse(&item.version.version).ok_or(None)?;
                    if verb == Verb::Deleted && at <= asked.upto {
                        self.deletions.insert(at);
                        let object = item.version.object;
                        self.gone.insert(name(&object), object);
                    }
                    at
                }
                Ok(Line::Bookmark(version)) => Revision::parse(&version).ok_or(None)?,
                Ok(Line::Error(status)) => return Err(oldest(&status.message)),
                Err(_) => return Err(None),
            };
            if at >= asked.upto {
                return Ok(());
            }
            lacks = lacks.filter(|known| at < *known);
        }
    }
}

/// The number in the parentheses of `too old resource version: 5 (1234)`: the oldest revision that a
/// watch can start from
/// (<https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apiserver/pkg/storage/cacher/watch_cache.go>).
pub(in crate::watch) fn oldest(message: &str) -> Option<Revision> {
    let (_, tail) = message.rsplit_once('(')?;
    Revision::read(tail.split_once(')')?.0)
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
            let read = oldest(message).map(|oldest| oldest.to_string());
            assert_eq!(read.as_deref(), number, "{message}");
        }
    }
}
