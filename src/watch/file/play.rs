//! Plays the entries of a file to one source, as a server's watch sends them.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::watch;

use super::log::{FileLog, NextEntry};
use super::objects::FileEntry;
use crate::cluster::{ApiError, ApiStatus};
use crate::object::Uid;
use crate::source::{Matcher, Scope, SourceKey};
use crate::watch::envelope::WatchVerb;
use crate::watch::error::SourceError;

/// The events of one source. It applies selectors as a server does: an object that stops matching is `DELETED`.
pub(super) struct Play {
    name: Arc<str>,
    log: Arc<FileLog>,
    player: u64,
    moved: watch::Receiver<()>,
    /// The objects that matched in their last version.
    selected: HashSet<Uid>,
    key: SourceKey,
    over: bool,
}

impl Play {
    /// Plays the entries after a listing that ended at `from`. Fails with 410 if those are no longer all kept.
    pub(super) fn open(
        name: &Arc<str>,
        log: &Arc<FileLog>,
        key: &SourceKey,
        from: Option<u64>,
    ) -> Result<Play, SourceError> {
        let (player, moved) = log.join(from).ok_or_else(|| forgotten(key))?;
        let filter = FileFilter::new(key);
        let (_, there) = log.base();
        let selected = there
            .iter()
            .filter(|entry| filter.is_about(entry) && filter.selects(entry))
            .map(|entry| entry.object.identity())
            .collect();
        Ok(Play {
            name: name.clone(),
            log: log.clone(),
            player,
            moved,
            selected,
            key: key.clone(),
            over: false,
        })
    }

    /// The next line of the watch.
    pub(super) async fn next(mut self) -> Option<(Result<Bytes, SourceError>, Play)> {
        if self.over {
            return None;
        }
        loop {
            self.moved.mark_unchanged();
            match self.log.take(self.player) {
                NextEntry::Entry(entry) => {
                    if let Some(line) = self.line(&entry) {
                        return Some((line, self));
                    }
                }
                NextEntry::Fault(fault) => {
                    let detail = format!("{}: {fault}", self.name).into();
                    return Some((Err(SourceError::Decode { detail }), self));
                }
                NextEntry::Empty => {
                    // This cannot fail: `self` holds the log, which owns the sender.
                    let _ = self.moved.changed().await;
                }
                NextEntry::End(end) => {
                    self.over = true;
                    let end = end.map_or_else(
                        |error| SourceError::Input {
                            detail: format!("error: {}: {error}", self.name).into(),
                        },
                        |()| SourceError::Ended,
                    );
                    return Some((Err(end), self));
                }
            }
        }
    }

    /// The watch line for this source, if the entry concerns it.
    fn line(&mut self, entry: &FileEntry) -> Option<Result<Bytes, SourceError>> {
        let filter = FileFilter::new(&self.key);
        if !filter.is_about(entry) {
            return None;
        }
        if let Some(detail) = entry.unreadable.clone() {
            return Some(Err(SourceError::Decode { detail }));
        }
        let uid = entry.object.identity();
        let selects = filter.selects(entry);
        let before = if selects && entry.verb != Some(WatchVerb::Deleted) {
            !self.selected.insert(uid)
        } else {
            self.selected.remove(&uid)
        };
        let kind = match (entry.verb, selects, before) {
            (None, _, _) | (_, false, false) => return None,
            (Some(WatchVerb::Added), true, _) => "ADDED",
            (Some(WatchVerb::Modified), true, _) => "MODIFIED",
            (Some(WatchVerb::Deleted), _, _) | (_, false, true) => "DELETED",
        };
        let body = entry.doc.text();
        let line = format!(r#"{{"type":"{kind}","object":{body}}}"#);
        Some(Ok(line.into()))
    }
}

impl Drop for Play {
    fn drop(&mut self) {
        self.log.leave(self.player);
    }
}

fn forgotten(key: &SourceKey) -> SourceError {
    SourceError::Expired(ApiError {
        verb: "watch",
        resource: key.resource.group_resource().into(),
        namespace: key.namespace().map(Into::into),
        status: ApiStatus {
            code: 410,
            reason: "Expired".to_owned(),
            message: "the stream has gone on since".to_owned(),
        },
    })
}

/// Decides which entries belong to a source.
pub(super) struct FileFilter<'a> {
    key: &'a SourceKey,
    api_version: String,
    matcher: Matcher<'a>,
}

impl<'a> FileFilter<'a> {
    pub(super) fn new(key: &'a SourceKey) -> FileFilter<'a> {
        FileFilter {
            key,
            api_version: key.resource.api_version(),
            matcher: Matcher::new(&key.select),
        }
    }

    pub(super) fn is_of_resource(&self, entry: &FileEntry) -> bool {
        entry.object.kind == self.key.resource.kind
            && *entry.object.api_version == *self.api_version
    }

    /// Whether an object may belong to the source. A manifest without a namespace belongs to every namespace,
    /// because it can be applied to any.
    pub(super) fn is_about(&self, entry: &FileEntry) -> bool {
        let inside = match (&self.key.scope, &entry.object.namespace) {
            (Scope::Namespace(asked), Some(namespace)) => asked == namespace,
            (Scope::Namespace(_), None) | (Scope::Cluster, _) => true,
        };
        inside && self.is_of_resource(entry)
    }

    /// Whether the source selects an object. Most objects have another name, which shows without a look into their text.
    pub(super) fn selects(&self, entry: &FileEntry) -> bool {
        let may_be_named = |name: &str| *entry.object.name == *name;
        self.key.select.name().is_none_or(may_be_named) && self.matcher.matches(entry.doc.root())
    }
}
