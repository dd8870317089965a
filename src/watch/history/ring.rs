//! The server's ring: the latest events of a resource, which a watch from an old revision is sent at
//! once. Unlike reads it has the deletions, and lives too short to be met by probing.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::StreamExt;
use tokio::time::timeout;

use super::read::Archive;
use super::revision::Revision;
use crate::object::ResourceVersion;
use crate::watch::envelope::{Line, Reader, Verb};

/// After so long without an event all that the ring holds has been sent.
const QUIET: Duration = Duration::from_millis(100);

/// What the ring has told of one object.
#[derive(Debug, Default)]
pub(super) struct Ring {
    /// From this revision on it has every event; `None` if it is not known to reach back.
    pub(super) reaches: Option<Revision>,
    /// At which revisions the object was deleted, or ceased to match.
    deletions: BTreeSet<Revision>,
    /// Revisions at which it is known to be there.
    present: BTreeSet<Revision>,
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

    /// Reads the events from `low` to `high`, or as far back as they go.
    pub(super) async fn read(archive: &Archive, low: Revision, high: Revision) -> Ring {
        let mut from = low;
        // A server that has forgotten `low` names the oldest; that may be gone the next moment.
        for _ in 0..3 {
            let mut ring = Ring {
                reaches: Some(from),
                ..Ring::default()
            };
            match ring.fill(archive, from, high).await {
                Ok(()) => return ring,
                Err(Some(oldest)) if oldest > from && oldest < high => from = oldest,
                Err(_) => break,
            }
        }
        Ring::default()
    }

    /// The error is the oldest revision that the server names, if it does.
    async fn fill(
        &mut self,
        archive: &Archive,
        from: Revision,
        high: Revision,
    ) -> Result<(), Option<Revision>> {
        let from = ResourceVersion::from(from);
        let opened = archive.transport.watch(&archive.key, &from).await;
        let mut lines = opened.map_err(|error| oldest(&error.to_string()))?;
        let mut reader = Reader::new(&archive.key);
        while let Ok(line) = timeout(QUIET, lines.next()).await {
            let Some(Ok(line)) = line else {
                // Whether there was more nobody can tell.
                return Err(None);
            };
            let at = match reader.line(&line) {
                Ok(Line::Object { verb, item }) => {
                    let at = Revision::parse(&item.version.version).ok_or(None)?;
                    if verb == Verb::Deleted {
                        self.deletions.insert(at);
                    }
                    at
                }
                Ok(Line::Bookmark(version)) => Revision::parse(&version).ok_or(None)?,
                Ok(Line::Error(status)) => return Err(oldest(&status.message)),
                Err(_) => return Err(None),
            };
            if at >= high {
                break;
            }
        }
        Ok(())
    }
}

/// The number in the parentheses of `too old resource version: 5 (1234)`: the oldest revision that a
/// watch can start from
/// (<https://github.com/kubernetes/kubernetes/blob/master/staging/src/k8s.io/apiserver/pkg/storage/cacher/watch_cache.go>).
fn oldest(message: &str) -> Option<Revision> {
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
