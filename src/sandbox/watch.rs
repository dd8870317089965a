//! WATCH: the events of a selection in order, as the API server's watch cache sends them.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{Instant, Interval, MissedTickBehavior};

use super::route::Query;
use super::select::ListSelection;
use super::state::ServerState;
use super::status::ApiFailure;
use super::store::{Change, LogEntry, StoredVersion};
use super::view::{ObjectView, TableColumns};

/// The lifetime of a watch without a requested timeout: kube-apiserver's minimum.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(1800);
/// The limit of a watch's lifetime, whatever timeout the client requests.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(24 * 3600);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventType {
    Changed(Change),
    Bookmark,
    Error,
}

impl EventType {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Changed(change) => change.as_str(),
            Self::Bookmark => "BOOKMARK",
            Self::Error => "ERROR",
        }
    }
}

/// One event, with its object already in the requested form.
#[derive(Debug, Clone)]
pub(super) struct WatchEvent {
    pub(super) kind: EventType,
    pub(super) object: Bytes,
}

impl WatchEvent {
    pub(super) fn error(failure: &ApiFailure) -> Self {
        Self {
            kind: EventType::Error,
            object: failure.json(),
        }
    }
}

/// The events of one watch.
pub(super) struct WatchSource {
    shared: Arc<ServerState>,
    selection: ListSelection,
    view: ObjectView,
    /// The requested start revision.
    from: u64,
    /// The revision up to which all events are sent or in `pending`.
    cursor: u64,
    pending: VecDeque<WatchEvent>,
    newest: watch::Receiver<u64>,
    pub(super) bookmarks: Option<Interval>,
    deadline: Instant,
    columns: TableColumns,
    is_over: bool,
}

impl WatchSource {
    pub(super) fn open(
        shared: &Arc<ServerState>,
        selection: ListSelection,
        view: ObjectView,
        query: &Query,
    ) -> Result<Self, ApiFailure> {
        let from = query.revision(view.version_text)?;
        let timeout = query
            .parsed("timeoutSeconds")?
            .map_or(DEFAULT_TIMEOUT, Duration::from_secs);
        let bookmarks = query.flag("allowWatchBookmarks").then(|| {
            let period = shared.bookmark_interval;
            let mut ticks = tokio::time::interval_at(Instant::now() + period, period);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            ticks
        });
        let mut source = Self {
            shared: Arc::clone(shared),
            selection,
            view,
            from: from.unwrap_or_default(),
            cursor: 0,
            pending: VecDeque::new(),
            newest: shared.store.subscribe(),
            bookmarks,
            deadline: Instant::now() + timeout.min(LONGEST_TIMEOUT),
            columns: TableColumns::Given,
            is_over: false,
        };
        source.start(from.filter(|revision| *revision > 0));
        Ok(source)
    }

    fn start(&mut self, from: Option<u64>) {
        let shared = Arc::clone(&self.shared);
        let inner = shared.store.lock();
        match from {
            Some(from) if from < inner.window => {
                let expired = ApiFailure::watch_expired(from, inner.window);
                self.pending.push_back(WatchEvent::error(&expired));
                self.is_over = true;
            }
            Some(from) => self.cursor = from,
            None => {
                let Ok(listing) = inner.list(self.selection.kind, None) else {
                    return;
                };
                for (key, version) in &listing.items {
                    if self.selection.covers(key) && self.selection.matches(version) {
                        self.push(Change::Added, version);
                    }
                }
                self.cursor = listing.revision;
            }
        }
    }

    /// Repeats the last `count` events before the start.
    pub(super) fn replay(&mut self, count: usize) {
        let shared = Arc::clone(&self.shared);
        let inner = shared.store.lock();
        let mut events = Vec::new();
        for entry in inner.until(self.cursor).iter().rev() {
            if events.len() == count {
                break;
            }
            events.extend(self.seen(entry));
        }
        for (change, version) in events.into_iter().rev() {
            self.push(change, &version);
        }
    }

    /// Omits the next `count` events, as a server does that resumes with a gap.
    pub(super) fn skip(&mut self, count: usize) {
        let shared = Arc::clone(&self.shared);
        let inner = shared.store.lock();
        let mut skipped = 0;
        for entry in inner.after(self.cursor) {
            if skipped == count {
                break;
            }
            skipped += usize::from(self.seen(entry).is_some());
            self.cursor = entry.revision;
        }
    }

    /// The 410 of a watch whose start revision is no longer in the watch cache.
    pub(super) fn expired(&self) -> ApiFailure {
        ApiFailure::watch_expired(self.from, self.shared.store.lock().revision)
    }

    /// The next event that is already due.
    pub(super) fn ready(&mut self) -> Option<WatchEvent> {
        if self.pending.is_empty() && !self.is_over {
            self.fetch();
        }
        self.pending.pop_front()
    }

    /// The next event; `None` when the watch times out.
    pub(super) async fn next(&mut self) -> Option<WatchEvent> {
        loop {
            if let Some(event) = self.ready() {
                return Some(event);
            }
            if self.is_over {
                return None;
            }
            tokio::select! {
                () = tokio::time::sleep_until(self.deadline) => {
                    // Before the server closes a watch, a last bookmark reports how far the watch has come.
                    if self.bookmarks.is_some() {
                        self.push_bookmark();
                    }
                    self.is_over = true;
                }
                changed = self.newest.changed() => self.is_over = changed.is_err(),
                () = tick(self.bookmarks.as_mut()) => self.push_bookmark(),
            }
        }
    }

    fn fetch(&mut self) {
        let shared = Arc::clone(&self.shared);
        let inner = shared.store.lock();
        for entry in inner.after(self.cursor) {
            if let Some((change, version)) = self.seen(entry) {
                self.push(change, &version);
            }
            self.cursor = entry.revision;
        }
    }

    /// The event that a write is for this selection. A modified object can enter or leave a selection, which
    /// is an ADDED or DELETED event.
    fn seen(&self, entry: &LogEntry) -> Option<(Change, Arc<StoredVersion>)> {
        if !self.selection.covers(&entry.key) {
            return None;
        }
        let is_in = entry.change != Change::Deleted && self.selection.matches(&entry.after);
        let was_in = entry
            .before
            .as_ref()
            .is_some_and(|before| self.selection.matches(before));
        match (was_in, is_in) {
            (false, true) => Some((Change::Added, Arc::clone(&entry.after))),
            (true, true) => Some((Change::Modified, Arc::clone(&entry.after))),
            (true, false) => {
                // The last version that matched the selection, with the revision of the write that ended the
                // match.
                let mut value = entry.before.as_ref()?.value.clone();
                value["metadata"]["resourceVersion"] =
                    Value::from(self.view.version_text.of(entry.revision));
                Some((
                    Change::Deleted,
                    Arc::new(StoredVersion::new(value, entry.revision)),
                ))
            }
            (false, false) => None,
        }
    }

    fn push(&mut self, change: Change, version: &StoredVersion) {
        let now = (self.shared.clock)();
        let object = self.view.object(version, now, self.columns);
        self.columns = TableColumns::Known;
        self.pending.push_back(WatchEvent {
            kind: EventType::Changed(change),
            object,
        });
    }

    fn push_bookmark(&mut self) {
        self.fetch();
        let object = self.view.bookmark(self.cursor);
        self.pending.push_back(WatchEvent {
            kind: EventType::Bookmark,
            object,
        });
    }
}

async fn tick(interval: Option<&mut Interval>) {
    match interval {
        Some(interval) => drop(interval.tick().await),
        None => std::future::pending().await,
    }
}
