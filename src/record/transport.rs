//! `StoreTransport`: a record as a server whose revisions do not end.
//!
//! It answers lists and watches as an API server does: a list at any recorded revision, and a watch from any revision since
//! its beginning. Inside a hole it answers with the state before it, and names the hole ([`RecordedPast`]). Files are read on
//! another thread, so that a view never stands still meanwhile.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::{BoxFuture, pending};
use futures::{FutureExt, StreamExt, stream};
use jiff::Timestamp;
use tokio::task::{JoinError, spawn_blocking};

use super::error::StoreError;
use super::recorded_history::{RecordedEvents, RecordedHistory};
use super::redaction::Redaction;
use super::schema::RecordedCluster;
use super::store::ClusterFiles;
use crate::object::ResourceVersion;
use crate::source::SourceKey;
use crate::watch::{
    At, Between, Hole, LineStream, ListPage, Page, RecordBegin, RecordedPast, Revision,
    SourceError, Transport, Upstream,
};

/// The record of one cluster.
#[derive(Clone)]
pub struct StoreTransport {
    history: Arc<RecordedHistory>,
}

impl StoreTransport {
    /// Opens the files of a cluster; `None` if it has none. It reads the head of each file.
    pub fn open(files: &ClusterFiles) -> Result<Option<StoreTransport>, StoreError> {
        let history = RecordedHistory::open(files)?;
        Ok(history.map(|history| StoreTransport {
            history: Arc::new(history),
        }))
    }

    /// The cluster.
    pub fn cluster(&self) -> &RecordedCluster {
        &self.history.cluster
    }

    /// What is recorded.
    pub fn sources(&self) -> &[SourceKey] {
        &self.history.sources
    }

    /// A line for each file that cannot be read.
    pub fn unread(&self) -> &[String] {
        &self.history.unread
    }

    /// The beginning of the record; `None` if it cannot be read.
    pub async fn begin(&self) -> Option<RecordBegin> {
        self.read(RecordedHistory::begin).await
    }

    /// The newest revision that was recorded at a time; `None` if no source was.
    pub async fn newest_at(&self, time: Timestamp) -> Result<Option<Revision>, StoreError> {
        self.read(move |history| history.newest_at(time)).await
    }

    /// The time at which the record ends.
    pub fn until(&self) -> Option<Timestamp> {
        self.history.until
    }

    /// The paths whose values are not in the record.
    pub(super) fn redactions(&self) -> &[Redaction] {
        &self.history.redactions
    }

    /// Reads the files on another thread. A reading that nobody waits for any more goes on to its end.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&RecordedHistory) -> T + Send + 'static,
    ) -> T {
        let history = self.history.clone();
        on_other_thread(move || read(&history)).await
    }

    /// Reads about a source.
    pub(super) fn read_of<'a, T: Send + 'static>(
        &'a self,
        key: &SourceKey,
        read: impl FnOnce(&RecordedHistory, &SourceKey) -> T + Send + 'static,
    ) -> BoxFuture<'a, T> {
        let key = key.clone();
        self.read(move |history| read(history, &key)).boxed()
    }

    /// The recorded events after an old revision, and the revision at their end; `None` if the server has as much.
    pub(super) async fn recorded_lines(
        &self,
        key: &SourceKey,
        from: &ResourceVersion,
    ) -> Result<Option<(LineStream, Revision)>, SourceError> {
        let from = from.clone();
        let events = self.read_of(key, move |history, key| {
            history.events_before_server(key, &from)
        });
        let events = events.await.transpose()?;
        Ok(events.map(|events| {
            let end = events.end;
            (self.lines(events), end)
        }))
    }

    /// The lines of events.
    fn lines(&self, events: RecordedEvents) -> LineStream {
        let watch = RecordedWatch {
            history: self.history.clone(),
            events,
            ready: VecDeque::new(),
        };
        stream::unfold(watch, RecordedWatch::next).boxed()
    }
}

/// Runs a function that blocks. If it panics, so does this.
async fn on_other_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match spawn_blocking(work)
        .await
        .map_err(JoinError::try_into_panic)
    {
        Ok(done) => done,
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        // The program ends, and with it whoever waits.
        Err(Err(_cancelled)) => pending().await,
    }
}

impl Transport for StoreTransport {
    fn list<'a>(
        &'a self,
        key: &'a SourceKey,
        at: At,
        page: Page,
    ) -> BoxFuture<'a, Result<ListPage, SourceError>> {
        self.read_of(key, move |history, key| history.page(key, &at, &page))
    }

    /// The events after a revision, and a bookmark at the end of the record.
    fn watch<'a>(
        &'a self,
        key: &'a SourceKey,
        from: &'a ResourceVersion,
    ) -> BoxFuture<'a, Result<LineStream, SourceError>> {
        Box::pin(async move {
            let from = from.clone();
            let events = self.read_of(key, move |history, key| history.events(key, &from));
            let events = events.await?;
            let bookmark = bookmark(events.end);
            // A record that is read has no more events.
            let end = stream::iter([Ok(bookmark)]).chain(stream::pending());
            Ok(self.lines(events).chain(end).boxed())
        })
    }

    fn upstream(&self) -> Upstream {
        Upstream::Replayable
    }

    fn has_past(&self) -> bool {
        true
    }

    fn recorded(&self) -> Option<&dyn RecordedPast> {
        Some(self)
    }
}

impl RecordedPast for StoreTransport {
    fn begin<'a>(&'a self, key: &'a SourceKey) -> BoxFuture<'a, Option<RecordBegin>> {
        self.read_of(key, RecordedHistory::begin_of)
    }

    fn oldest<'a>(&'a self, key: &'a SourceKey) -> BoxFuture<'a, Option<Revision>> {
        self.read_of(key, RecordedHistory::oldest)
    }

    fn holes<'a>(&'a self, key: &'a SourceKey) -> BoxFuture<'a, Vec<Hole>> {
        self.read_of(key, RecordedHistory::holes_to_end)
    }

    fn time_of<'a>(&'a self, key: &'a SourceKey, at: Revision) -> BoxFuture<'a, Option<Between>> {
        self.read_of(key, move |history, key| history.time_of(key, at))
    }

    fn before<'a>(
        &'a self,
        key: &'a SourceKey,
        time: Timestamp,
    ) -> BoxFuture<'a, Option<Revision>> {
        self.read_of(key, move |history, key| history.before(key, time))
    }
}

/// The events of a watch.
struct RecordedWatch {
    history: Arc<RecordedHistory>,
    events: RecordedEvents,
    /// The lines that are read.
    ready: VecDeque<Result<Bytes, SourceError>>,
}

impl RecordedWatch {
    async fn next(mut self) -> Option<(Result<Bytes, SourceError>, RecordedWatch)> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Some((line, self));
            }
            self = on_other_thread(move || self.read()).await?;
        }
    }

    /// Reads some more lines; `None` after the last ones.
    fn read(mut self) -> Option<RecordedWatch> {
        let lines = self.events.next_lines(&self.history)?;
        self.ready.extend(lines);
        Some(self)
    }
}

fn bookmark(at: Revision) -> Bytes {
    format!(r#"{{"type":"BOOKMARK","object":{{"metadata":{{"resourceVersion":"{at}"}}}}}}"#).into()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use futures::future::join_all;

    use super::*;
    use crate::record::Store;
    use crate::record::recorded_history::{BATCH, BATCH_BYTES};
    use crate::record::tests::{FOREVER, Folder, block_on, config_map, object, recorder, start};
    use crate::source::{Event, Why};

    /// A record of three versions of one object: 3, 4 and 5.
    fn recorded(folder: &Folder) -> (StoreTransport, SourceKey) {
        let key = Arc::new(SourceKey::all("", "ConfigMap"));
        let recorder = recorder(folder.path(), FOREVER);
        recorder.record(&key, object(Why::Listed, config_map(1, 3, "a")));
        let version = ResourceVersion::new("3");
        let (epoch, count) = (1, 1);
        recorder.record(
            &key,
            Event::Synced {
                epoch,
                count,
                version,
            },
        );
        for (version, data) in [(4, "b"), (5, "c")] {
            recorder.record(&key, object(Why::Modified, config_map(1, version, data)));
        }
        recorder.finish().expect("written");
        let store = Store::open(folder.path()).expect("a store");
        let record = StoreTransport::open(&store.cluster("c1")).expect("a record");
        (record.expect("a record"), (*key).clone())
    }

    fn revision(version: &str) -> Revision {
        Revision::parse(&ResourceVersion::new(version)).expect("a number")
    }

    #[test]
    fn a_view_goes_on_while_a_file_is_read() {
        let folder = Folder::new();
        let (record, key) = recorded(&folder);
        let from = ResourceVersion::new("3");
        // Another thread reads until it is told to end. It ends anyway, so that a view that stands still is found.
        let (begun, begins) = channel();
        let (end, ends) = channel::<()>();
        let history = record.history.clone();
        let reading = thread::spawn(move || {
            let _past = history.past();
            begun.send(()).expect("a test that waits");
            let _ended = ends.recv_timeout(Duration::from_secs(20));
        });
        begins.recv().expect("a thread that reads");
        block_on(async {
            let mut answers = vec![
                record
                    .list(&key, At::Latest, Page::default())
                    .map(|it| it.is_ok())
                    .boxed(),
                record.watch(&key, &from).map(|it| it.is_ok()).boxed(),
                RecordedPast::begin(&record, &key)
                    .map(|it| it.is_some())
                    .boxed(),
                record.holes(&key).map(|it| it.is_empty()).boxed(),
                record
                    .time_of(&key, revision("4"))
                    .map(|it| it.is_some())
                    .boxed(),
                record.before(&key, start()).map(|it| it.is_none()).boxed(),
                record.begin().map(|it| it.is_some()).boxed(),
            ];
            for answer in &mut answers {
                assert!(answer.now_or_never().is_none(), "it has stood still");
            }
            end.send(()).expect("a thread that reads");
            let answers = join_all(answers).await;
            assert_eq!(answers, [true; 7]);
        });
        reading.join().expect("no panic");
    }

    #[test]
    fn a_watch_of_more_events_than_are_read_at_once_has_all_of_them() {
        let folder = Folder::new();
        let key = Arc::new(SourceKey::all("", "ConfigMap"));
        let recorder = recorder(folder.path(), FOREVER);
        let version = ResourceVersion::new("1");
        let (epoch, count) = (1, 0);
        recorder.record(
            &key,
            Event::Synced {
                epoch,
                count,
                version,
            },
        );
        let last = 3 * BATCH + 7;
        let long = "a long text ".repeat(BATCH_BYTES / 36);
        for at in 2..=last {
            // The first four have more bytes than are read at once.
            let long = if at < 6 { &*long } else { "" };
            let version = config_map(1, at as u64, &format!("{long}{at}"));
            recorder.record(&key, object(Why::Modified, version));
        }
        recorder.finish().expect("written");
        let store = Store::open(folder.path()).expect("a store");
        let record = StoreTransport::open(&store.cluster("c1")).expect("a record");
        let record = record.expect("a record");
        let lines = block_on(async {
            let from = ResourceVersion::new("1");
            let lines = record.watch(&key, &from).await.expect("a watch");
            lines.take(last).collect::<Vec<_>>().await
        });
        for (place, line) in lines.iter().enumerate() {
            let line = String::from_utf8_lossy(line.as_ref().expect("a line")).into_owned();
            let version = format!(r#""resourceVersion":"{}""#, (place + 2).min(last));
            assert!(line.contains(&version), "{place}: {line}");
        }
        assert!(
            lines[last - 1]
                .as_ref()
                .is_ok_and(|line| line.starts_with(b"{\"type\":\"BOOKMARK"))
        );
    }
}
