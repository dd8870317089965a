//! `StoreTransport`: a record as a server whose revisions do not end.
//!
//! It answers lists and watches as an API server does: a list at any recorded revision, and a watch from any revision since
//! its beginning. Inside a hole it answers with the state before it, and names the hole ([`RecordedPast`]).

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{StreamExt, stream};
use jiff::{SignedDuration, Timestamp};

use super::error::StoreError;
use super::past::{ClusterPast, CoveredSource, PlacedRow};
use super::redaction::Redaction;
use super::schema::RecordedCluster;
use super::store::ClusterFiles;
use crate::cluster::{ApiError, ApiStatus};
use crate::object::{ResourceVersion, Uid};
use crate::source::{Form, Matcher, Scope, SourceKey, Version, Why};
use crate::watch::{
    At, Between, Hole, LineStream, ListPage, Page, RecordedPast, Revision, SourceError, Transport,
    Upstream,
};

/// A write may have this age when it arrives. A window begins so much earlier, and its versions decide by their own times.
const LATENCY: SignedDuration = SignedDuration::from_secs(5);

/// What a bookmark begins with.
const BOOKMARK: &[u8] = br#"{"type":"BOOKMARK","object":"#;

/// The state of a source at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RecordedMoment {
    /// The last revision that was recorded then.
    pub(super) revision: Revision,
    /// Until when nothing else can have happened: that time, or an earlier one if nobody recorded then.
    pub(super) until: Timestamp,
}

/// The record of one cluster.
pub struct StoreTransport {
    past: Arc<Mutex<ClusterPast>>,
    cluster: RecordedCluster,
    sources: Vec<SourceKey>,
    until: Option<Timestamp>,
}

impl StoreTransport {
    /// Opens the files of a cluster; `None` if it has none.
    pub fn open(files: &ClusterFiles) -> Result<Option<StoreTransport>, StoreError> {
        let past = ClusterPast::open(files)?;
        let cluster = past.cluster().cloned();
        Ok(cluster.map(|cluster| StoreTransport {
            cluster,
            sources: past.sources(),
            until: past.until(),
            past: Arc::new(Mutex::new(past)),
        }))
    }

    /// The cluster.
    pub fn cluster(&self) -> &RecordedCluster {
        &self.cluster
    }

    /// What is recorded.
    pub fn sources(&self) -> &[SourceKey] {
        &self.sources
    }

    /// The time at which the record begins; `None` if it cannot be read.
    pub fn begin(&self) -> Option<Timestamp> {
        let sources = self.sources.iter();
        sources
            .filter_map(|key| RecordedPast::since(self, key))
            .min()
    }

    /// The time at which the record ends.
    pub fn until(&self) -> Option<Timestamp> {
        self.until
    }

    /// The paths whose values are not in the record.
    pub(super) fn redactions(&self) -> Vec<Redaction> {
        self.past().redactions()
    }

    /// Whether the record has every version of a source around a revision.
    pub(super) fn is_complete_at(&self, key: &SourceKey, at: Revision) -> bool {
        let covered = self.past().covered(key);
        covered.is_ok_and(|covered| covered.coverage.span(at).is_some())
    }

    /// The last revision of a source that is recorded, and its time.
    pub(super) fn newest(&self, key: &SourceKey) -> Option<(Revision, Timestamp)> {
        let covered = self.past().covered(key).ok()?;
        covered
            .coverage
            .newest()
            .map(|span| (span.upto, span.until))
    }

    /// The state of a source at a time, as it was recorded; `None` if its record begins later.
    pub(super) fn moment(
        &self,
        key: &SourceKey,
        time: Timestamp,
    ) -> Result<Option<RecordedMoment>, StoreError> {
        let mut past = self.past();
        let covered = past.covered(key)?;
        let spans = covered.coverage.spans();
        let Some(span) = spans.iter().rev().find(|span| span.since <= time) else {
            return Ok(None);
        };
        if span.until <= time {
            return Ok(Some(RecordedMoment {
                revision: span.upto,
                until: span.until,
            }));
        }
        let mut rows = past.around_time(&covered, time)?;
        rows.retain(|row| span.from < row.revision && row.revision <= span.upto);
        let (earlier, later): (Vec<PlacedRow>, Vec<PlacedRow>) =
            rows.iter().partition(|row| past.seen(row) <= time);
        let revision = earlier.iter().map(|row| row.revision).max();
        Ok(Some(RecordedMoment {
            revision: revision.max(covered.reached_at(time)).unwrap_or(span.from),
            until: past.late_since(&covered, &later, time).unwrap_or(time),
        }))
    }

    /// The state before the hole in which a revision lies; `None` if nothing is recorded before it.
    pub(super) fn before_hole(
        &self,
        key: &SourceKey,
        at: Revision,
        page: &Page,
    ) -> Option<Result<ListPage, SourceError>> {
        let covered = self.past().covered(key).ok()?;
        let known = covered.coverage.at_or_before(at)?;
        let before = self.page(key, &At::Exact(known), page);
        let version = at.into();
        Some(before.map(|page| ListPage { version, ..page }))
    }

    /// The recorded events after an old revision, and the revision at their end; `None` if the server has as much.
    pub(super) fn recorded_lines(
        &self,
        key: &SourceKey,
        from: &ResourceVersion,
    ) -> Option<(LineStream, Revision)> {
        let (newest, _) = self.newest(key)?;
        if Revision::parse(from)? >= newest {
            return None;
        }
        let lines = self.lines(key, from).ok()?;
        // The bookmark at the end is the last recorded line.
        let lines = lines.take_while(|line| {
            let is_bookmark = line.as_ref().is_ok_and(|line| line.starts_with(BOOKMARK));
            std::future::ready(!is_bookmark)
        });
        Some((Box::pin(lines), newest))
    }

    fn past(&self) -> MutexGuard<'_, ClusterPast> {
        self.past.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn page(&self, key: &SourceKey, at: &At, page: &Page) -> Result<ListPage, SourceError> {
        let mut past = self.past();
        let covered = past.covered(key)?;
        let newest = covered.coverage.newest();
        let newest = newest.ok_or_else(|| not_recorded(key))?.upto;
        let at = match at {
            At::Latest => newest,
            At::Exact(at) => *at,
        };
        let known = covered.coverage.at_or_before(at);
        let known = known.filter(|_| at <= newest);
        let known = known.ok_or_else(|| expired(key, "list", &covered))?;
        let is_probe = key.form == Form::Metadata && page.limit == 1;
        let filter = KeyFilter::new(key);
        let (mut rows, mut items) = (Vec::new(), Vec::new());
        if !is_probe {
            rows = past.state(&covered, known)?;
        }
        for row in rows {
            let version = past.read(&row)?.version;
            items.extend(filter.item(&version));
        }
        Ok(ListPage {
            version: at.into(),
            items,
            next: None,
        })
    }

    /// The lines of a watch: the events after a revision, and a bookmark at the end of the record.
    fn lines(&self, key: &SourceKey, from: &ResourceVersion) -> Result<LineStream, SourceError> {
        let mut past = self.past();
        let covered = past.covered(key)?;
        let newest = covered.coverage.newest();
        let newest = newest.ok_or_else(|| not_recorded(key))?;
        let oldest = covered.coverage.spans().first().map(|span| span.from);
        let from = Revision::parse(from).filter(|from| Some(*from) >= oldest);
        let from = from.ok_or_else(|| expired(key, "watch", &covered))?;
        let rows = past.between(&covered, from, newest.upto)?;
        let mut selected = HashSet::new();
        if key.select.can_leave() {
            let known = covered.coverage.at_or_before(from).unwrap_or(from);
            let before = past.state(&covered, known)?;
            for row in before {
                let version = past.read(&row)?.version;
                if KeyFilter::new(key).selects(&version) {
                    selected.insert(version.object.identity());
                }
            }
        }
        let playing = RecordedWatch {
            past: self.past.clone(),
            key: key.clone(),
            rows: rows.into_iter(),
            selected,
            end: Some(newest.upto),
        };
        Ok(Box::pin(stream::unfold(playing, RecordedWatch::next)))
    }
}

impl Transport for StoreTransport {
    fn list<'a>(
        &'a self,
        key: &'a SourceKey,
        at: At,
        page: Page,
    ) -> BoxFuture<'a, Result<ListPage, SourceError>> {
        Box::pin(async move { self.page(key, &at, &page) })
    }

    fn watch<'a>(
        &'a self,
        key: &'a SourceKey,
        from: &'a ResourceVersion,
    ) -> BoxFuture<'a, Result<LineStream, SourceError>> {
        Box::pin(async move { self.lines(key, from) })
    }

    fn upstream(&self) -> Upstream {
        Upstream::Kept
    }

    fn has_past(&self) -> bool {
        true
    }

    fn recorded(&self) -> Option<&dyn RecordedPast> {
        Some(self)
    }
}

impl RecordedPast for StoreTransport {
    fn since(&self, key: &SourceKey) -> Option<Timestamp> {
        let covered = self.past().covered(key).ok()?;
        covered.coverage.spans().first().map(|span| span.since)
    }

    fn holes(&self, key: &SourceKey) -> Vec<Hole> {
        let covered = self.past().covered(key);
        covered.map_or_else(|_| Vec::new(), |covered| covered.coverage.holes().collect())
    }

    fn time_of(&self, key: &SourceKey, at: Revision) -> Option<Between> {
        let mut past = self.past();
        let covered = past.covered(key).ok()?;
        let mut holes = covered.coverage.holes();
        if let Some(hole) = holes.find(|hole| at > hole.after && at <= hole.upto) {
            return Some(Between {
                from: hole.since,
                until: Some(hole.until),
            });
        }
        let span = covered.coverage.span(at)?;
        let mut rows = past.around(&covered, at).ok()?;
        rows.retain(|row| span.from < row.revision && row.revision <= span.upto);
        let next = rows.partition_point(|it| it.revision < at);
        let seen = |place: usize| rows.get(place).map(|row| past.seen(row));
        if rows.get(next).is_some_and(|row| row.revision == at) {
            return rows.get(next).map(|row| past.written(&covered, row));
        }
        // Each file has reached the revision in a time of its own.
        let begun = covered.spans_of(at).filter(|span| span.from < at);
        let begun = begun.map(|span| span.since).max().unwrap_or(span.since);
        let ended = covered.spans_of(at).map(|span| span.until).min();
        let before = next.checked_sub(1).and_then(seen);
        let from = before.unwrap_or(begun).max(begun);
        let until = seen(next).into_iter().chain(ended).min();
        let until = until.unwrap_or(span.until);
        // A clock may have been set back in between.
        Some(Between {
            from: from.min(until),
            until: Some(from.max(until)),
        })
    }

    fn before(&self, key: &SourceKey, time: Timestamp) -> Option<Revision> {
        let time = time.checked_sub(LATENCY).ok()?;
        let moment = self.moment(key, time).ok()??;
        Some(moment.revision)
    }
}

/// The events of a watch.
struct RecordedWatch {
    past: Arc<Mutex<ClusterPast>>,
    key: SourceKey,
    rows: std::vec::IntoIter<PlacedRow>,
    /// The objects that matched the selector so far.
    selected: HashSet<Uid>,
    /// The revision of the bookmark, until it is sent.
    end: Option<Revision>,
}

impl RecordedWatch {
    async fn next(mut self) -> Option<(Result<Bytes, SourceError>, RecordedWatch)> {
        while let Some(row) = self.rows.next() {
            let mut past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
            let version = past.read(&row);
            drop(past);
            match version {
                Ok(recorded) => {
                    if let Some(line) = self.line(&recorded.version, &row) {
                        return Some((Ok(line), self));
                    }
                }
                Err(error) => return Some((Err(error.into()), self)),
            }
        }
        if let Some(end) = self.end.take() {
            let mut line = BOOKMARK.to_vec();
            line.extend(format!(r#"{{"metadata":{{"resourceVersion":"{end}"}}}}}}"#).into_bytes());
            return Some((Ok(line.into()), self));
        }
        // A record that is read has no more events.
        std::future::pending().await
    }

    fn line(&mut self, version: &Version, row: &PlacedRow) -> Option<Bytes> {
        let filter = KeyFilter::new(&self.key);
        if !filter.is_inside(version) {
            return None;
        }
        let uid = version.object.identity();
        let is_there = !row.is_gone && filter.selects(version);
        let was_there = if is_there {
            !self.selected.insert(uid)
        } else {
            self.selected.remove(&uid)
        };
        let verb = match (is_there, row.row.why()) {
            (true, Some(Why::Added)) => "ADDED",
            (true, _) => "MODIFIED",
            // Without a selector, nothing keeps track of what was there.
            (false, _) if was_there || !self.key.select.can_leave() => "DELETED",
            (false, _) => return None,
        };
        let text = version.body.text();
        Some(format!(r#"{{"type":"{verb}","object":{text}}}"#).into())
    }
}

/// Which objects belong to a source.
struct KeyFilter<'k> {
    key: &'k SourceKey,
    matcher: Matcher<'k>,
}

impl<'k> KeyFilter<'k> {
    fn new(key: &'k SourceKey) -> KeyFilter<'k> {
        KeyFilter {
            key,
            matcher: Matcher::new(&key.select),
        }
    }

    /// Whether an object lies in the namespace of the source.
    fn is_inside(&self, version: &Version) -> bool {
        match &self.key.scope {
            Scope::Cluster => true,
            Scope::Namespace(namespace) => version.object.namespace.as_ref() == Some(namespace),
        }
    }

    fn selects(&self, version: &Version) -> bool {
        let is_all = self.key.select == crate::source::Select::All;
        let matches = || {
            version
                .doc()
                .is_ok_and(|doc| self.matcher.matches(doc.root()))
        };
        self.is_inside(version) && (is_all || matches())
    }

    fn item(&self, version: &Version) -> Option<Bytes> {
        let text = || Bytes::from(version.body.text().to_string());
        self.selects(version).then(text)
    }
}

impl From<StoreError> for SourceError {
    fn from(error: StoreError) -> SourceError {
        SourceError::Input {
            detail: format!("error: {error}").into(),
        }
    }
}

fn not_recorded(key: &SourceKey) -> SourceError {
    let resource = key.resource.group_resource();
    SourceError::Input {
        detail: format!("error: nobody recorded {resource}").into(),
    }
}

/// The 410 of a server, with the oldest revision from which it can be watched.
fn expired(key: &SourceKey, verb: &'static str, covered: &CoveredSource) -> SourceError {
    let oldest = covered.coverage.spans().first();
    let oldest = oldest.map(|span| span.from.to_string());
    SourceError::Expired(ApiError {
        verb,
        resource: key.resource.group_resource().into(),
        namespace: key.namespace().map(Into::into),
        status: ApiStatus {
            code: 410,
            reason: "Expired".to_owned(),
            message: format!("not recorded ({})", oldest.unwrap_or_default()),
        },
    })
}
