//! `RecordedHistory`: what the files of a cluster have, as answers to questions about one source.
//!
//! Each question reads files, so it can take a second. The loop of a view asks through `StoreTransport`, which asks on another
//! thread.

use std::collections::HashSet;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};

use super::covered_source::{CoveredSource, PlacedRow};
use super::error::StoreError;
use super::listing::{KeyFilter, Listing, selected};
use super::past::ClusterPast;
use super::redaction::Redaction;
use super::schema::RecordedCluster;
use super::store::ClusterFiles;
use super::unread::UnreadStoreFiles;
use crate::cluster::{ApiError, ApiStatus};
use crate::object::{ResourceVersion, Uid, counted, listed};
use crate::source::{SourceKey, Version, Why};
use crate::watch::{
    At, Between, Hole, ListPage, Page, RecordBegin, Revision, SourceError, deleted,
};

/// A write may have this age when it arrives. A window begins so much earlier, and its versions decide by their own times.
const LATENCY: SignedDuration = SignedDuration::from_secs(5);

/// How many versions are read at once for a watch, and how many bytes of them.
pub(super) const BATCH: usize = 256;
pub(super) const BATCH_BYTES: usize = 4 << 20;

/// The state of a source at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RecordedMoment {
    /// The last revision that was recorded then.
    pub(super) revision: Revision,
    /// Until when nothing else can have happened: that time, or an earlier one if nobody recorded then.
    pub(super) until: Timestamp,
}

/// The record of one cluster.
pub(super) struct RecordedHistory {
    past: Mutex<ClusterPast>,
    pub(super) cluster: RecordedCluster,
    /// What is recorded.
    pub(super) sources: Vec<SourceKey>,
    /// The paths whose values are not in the record.
    pub(super) redactions: Vec<Redaction>,
    /// The time at which the record ends.
    pub(super) until: Option<Timestamp>,
    /// A line for each file that cannot be read.
    pub(super) unread: Vec<String>,
}

/// The most files that are named because they cannot be read.
const NAMED: usize = 3;

impl RecordedHistory {
    /// Opens the files of a cluster; `None` if it has none.
    pub(super) fn open(files: &ClusterFiles) -> Result<Option<RecordedHistory>, StoreError> {
        let past = ClusterPast::open(files)?;
        let cluster = past.cluster().cloned();
        Ok(cluster.map(|cluster| RecordedHistory {
            cluster,
            sources: past.sources(),
            redactions: past.redactions(),
            until: past.until(),
            unread: unread_lines(past.unread()),
            past: Mutex::new(past),
        }))
    }

    /// The beginning of the record; `None` if it cannot be read.
    pub(super) fn begin(&self) -> Option<RecordBegin> {
        let sources = self.sources.iter();
        let begins = sources.filter_map(|key| self.begin_of(key));
        begins.min_by_key(|begin| begin.since)
    }

    /// The listing of a source around a revision; `None` if the record does not have every version there.
    pub(super) fn complete_page(
        &self,
        key: &SourceKey,
        at: Revision,
        page: &Page,
    ) -> Option<Result<ListPage, SourceError>> {
        let listing = Listing { key, at, page };
        let page = self.reading(key, |past| {
            let covered = past.covered(key)?;
            let is_complete = covered.coverage.span(at).is_some();
            let page = is_complete.then(|| listing.read(past, &covered, at));
            page.transpose()
        });
        page.map_err(SourceError::from).transpose()
    }

    /// The versions of the objects at a revision, for [`RecordedHistory::items`]; `None` if the revision is not recorded.
    pub(super) fn complete_state(
        &self,
        key: &SourceKey,
        at: Revision,
    ) -> Option<Result<Vec<PlacedRow>, SourceError>> {
        let state = self.reading(key, |past| {
            let covered = past.covered(key)?;
            let is_complete = covered.coverage.span(at).is_some();
            let state = is_complete.then(|| past.state(&covered, at));
            state.transpose()
        });
        state.map_err(SourceError::from).transpose()
    }

    /// Those of some versions that a source selects, as items of a listing.
    pub(super) fn items(
        &self,
        key: &SourceKey,
        rows: &[PlacedRow],
    ) -> Result<Vec<Bytes>, StoreError> {
        let filter = KeyFilter::new(key);
        self.reading(key, |past| filter.items(past, rows))
    }

    /// The error of a listing whose next page cannot be read. Read from its beginning, it may be another one.
    pub(super) fn expired_listing(&self, key: &SourceKey) -> SourceError {
        match self.past().covered(key) {
            Ok(covered) => expired(key, "list", &covered),
            Err(error) => error.into(),
        }
    }

    /// The last revision of a source that is recorded, and its time.
    pub(super) fn newest(&self, key: &SourceKey) -> Option<(Revision, Timestamp)> {
        let covered = self.past().covered(key).ok()?;
        covered
            .coverage
            .newest()
            .map(|span| (span.upto, span.until))
    }

    /// Until when nothing else can have happened in a source, as its state at a time was recorded: see [`RecordedMoment`]. It mostly
    /// needs no look at single versions.
    pub(super) fn known_until(
        &self,
        key: &SourceKey,
        time: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let covered = self.reading(key, |past| past.covered(key))?;
        let mut spans = covered.coverage.spans().iter().rev();
        match spans.find(|span| span.since <= time) {
            Some(_) if covered.is_late_at(time) => {
                let moment = self.moment(key, time)?;
                Ok(moment.map(|moment| moment.until))
            }
            span => Ok(span.map(|span| span.until.min(time))),
        }
    }

    /// The state of a source at a time, as it was recorded; `None` if its record begins later.
    pub(super) fn moment(
        &self,
        key: &SourceKey,
        time: Timestamp,
    ) -> Result<Option<RecordedMoment>, StoreError> {
        self.reading(key, |past| {
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
                until: past.late_since(&covered, &later, time)?.unwrap_or(time),
            }))
        })
    }

    /// The newest revision that was recorded at a time; `None` if no source was.
    pub(super) fn newest_at(&self, time: Timestamp) -> Result<Option<Revision>, StoreError> {
        let mut newest = None;
        for key in &self.sources {
            let moment = self.moment(key, time)?;
            newest = newest.max(moment.filter(|it| it.until == time).map(|it| it.revision));
        }
        Ok(newest)
    }

    /// Since when versions are lost that the state of a source at a time may lack; `None` if there are none.
    pub(super) fn lost_at(
        &self,
        key: &SourceKey,
        time: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        // Only a copy can have lost versions. Nothing else needs an index for this.
        if !self.reading(key, |past| Ok(past.covered(key)?.has_lost()))? {
            return Ok(None);
        }
        let moment = self.moment(key, time)?;
        self.reading(key, |past| {
            let covered = past.covered(key)?;
            Ok(moment.and_then(|moment| covered.lost_at(moment.revision, time)))
        })
    }

    /// Why what was recorded after a time cannot be read; `None` if it can, as far as anybody recorded. A recorder reads back
    /// what it has missed, so its file can have what was before it.
    pub(super) fn unread_since(&self, since: Timestamp) -> Option<Arc<str>> {
        self.past().unread().between(since, Timestamp::MAX)
    }

    /// The state before the hole in which a revision lies; `None` if nothing is recorded before it.
    pub(super) fn before_hole(
        &self,
        key: &SourceKey,
        at: Revision,
        page: &Page,
    ) -> Option<Result<ListPage, SourceError>> {
        let listing = Listing { key, at, page };
        let page = self.reading(key, |past| {
            let covered = past.covered(key)?;
            let known = covered.coverage.at_or_before(at);
            let page = known.map(|known| listing.read(past, &covered, known));
            page.transpose()
        });
        page.map_err(SourceError::from).transpose()
    }

    /// The beginning of the record of a source; `None` if it is not recorded.
    pub(super) fn begin_of(&self, key: &SourceKey) -> Option<RecordBegin> {
        let mut past = self.past();
        let covered = past.covered(key).ok()?;
        let first = covered.coverage.spans().first()?;
        let (since, ends) = (first.since, [None, Some(first.from)]);
        let unread = past.unread_in(&covered, [Timestamp::MIN, since], ends);
        Some(RecordBegin { since, unread })
    }

    /// The first revision of a source that is recorded; `None` if it is not recorded.
    pub(super) fn oldest(&self, key: &SourceKey) -> Option<Revision> {
        let covered = self.past().covered(key).ok()?;
        covered.coverage.spans().first().map(|span| span.from)
    }

    /// The holes in the record of a source, the oldest first.
    pub(super) fn holes(&self, key: &SourceKey) -> Vec<Hole> {
        let mut past = self.past();
        past.holes(key).unwrap_or_default()
    }

    /// The same with the hole at the end of the source, if the record goes on without it.
    pub(super) fn holes_to_end(&self, key: &SourceKey) -> Vec<Hole> {
        let mut past = self.past();
        let mut holes = past.holes(key).unwrap_or_default();
        holes.extend(past.last_hole(key).ok().flatten());
        holes
    }

    /// The hole between the end of the record of a source and a revision; `None` if the record ends later.
    pub(super) fn hole_until(
        &self,
        key: &SourceKey,
        upto: Revision,
        until: Timestamp,
    ) -> Option<Hole> {
        let mut past = self.past();
        let covered = past.covered(key).ok()?;
        let newest = covered.coverage.newest()?;
        let (after, since) = (newest.upto, newest.until);
        (upto > after).then(|| Hole {
            after,
            upto,
            since,
            until,
            cause: past.unread_in(&covered, [since, until], [Some(after), None]),
        })
    }

    /// Whether a recorder saw that the server did not have the type of a source at a time.
    pub(super) fn was_unserved(
        &self,
        key: &SourceKey,
        time: Timestamp,
    ) -> Result<bool, StoreError> {
        self.reading(key, |past| past.was_unserved(key, time))
    }

    /// When a revision of a source was written; `None` if it is not recorded.
    pub(super) fn time_of(&self, key: &SourceKey, at: Revision) -> Option<Between> {
        let time = self.reading(key, |past| {
            let covered = past.covered(key)?;
            time_of(past, &covered, at)
        });
        time.ok().flatten()
    }

    /// A revision of a source from before a time, close to it; `None` if the record begins later.
    pub(super) fn before(&self, key: &SourceKey, time: Timestamp) -> Option<Revision> {
        let time = time.checked_sub(LATENCY).ok()?;
        let moment = self.moment(key, time).ok()??;
        Some(moment.revision)
    }

    /// The files. While another thread reads them, this waits.
    pub(super) fn past(&self) -> PastReading<'_> {
        PastReading(self.past.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads about a source. A file that turns out to be damaged is left out, if the record of the source goes on after it.
    fn reading<T>(
        &self,
        key: &SourceKey,
        read: impl Fn(&mut ClusterPast) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut past = self.past();
        loop {
            match read(&mut past) {
                Ok(done) => return Ok(done),
                Err(error) => past.leave_out(error, key)?,
            }
        }
    }

    /// The listing of a source at a revision.
    pub(super) fn page(
        &self,
        key: &SourceKey,
        at: &At,
        page: &Page,
    ) -> Result<ListPage, SourceError> {
        self.reading(key, |past| {
            let covered = past.covered(key)?;
            let Some(newest) = covered.coverage.newest() else {
                return Ok(Err(not_recorded(key, past)));
            };
            let at = match at {
                At::Latest => newest.upto,
                At::Exact(at) => *at,
            };
            let listing = Listing { key, at, page };
            let known = covered.coverage.at_or_before(at);
            match known.filter(|_| at <= newest.upto) {
                Some(known) => Ok(Ok(listing.read(past, &covered, known)?)),
                None => Ok(Err(expired(key, "list", &covered))),
            }
        })?
    }

    /// The events after a revision, up to the end of the record.
    pub(super) fn events(
        &self,
        key: &SourceKey,
        from: &ResourceVersion,
    ) -> Result<RecordedEvents, SourceError> {
        self.reading(key, |past| {
            let covered = past.covered(key)?;
            let Some(newest) = covered.coverage.newest() else {
                return Ok(Err(not_recorded(key, past)));
            };
            let oldest = covered.coverage.spans().first().map(|span| span.from);
            let from = Revision::parse(from).filter(|from| Some(*from) >= oldest);
            let Some(from) = from else {
                return Ok(Err(expired(key, "watch", &covered)));
            };
            let rows = past.between(&covered, from, newest.upto)?;
            let selected = if key.select.can_leave() {
                selected(past, &covered, key, from)?
            } else {
                HashSet::new()
            };
            Ok(Ok(RecordedEvents {
                key: key.clone(),
                rows: rows.into_iter(),
                selected,
                end: newest.upto,
            }))
        })?
    }

    /// The same events after an old revision; `None` if the server has as much, or the record less.
    pub(super) fn events_before_server(
        &self,
        key: &SourceKey,
        from: &ResourceVersion,
    ) -> Option<Result<RecordedEvents, SourceError>> {
        let (newest, _) = self.newest(key)?;
        if Revision::parse(from)? >= newest {
            return None;
        }
        match self.events(key, from) {
            Err(SourceError::Expired(_)) => None,
            events => Some(events),
        }
    }
}

/// The files, for one reading. When it ends, recorders may write to them again.
pub(super) struct PastReading<'h>(MutexGuard<'h, ClusterPast>);

impl Deref for PastReading<'_> {
    type Target = ClusterPast;

    fn deref(&self) -> &ClusterPast {
        &self.0
    }
}

impl DerefMut for PastReading<'_> {
    fn deref_mut(&mut self) -> &mut ClusterPast {
        &mut self.0
    }
}

impl Drop for PastReading<'_> {
    fn drop(&mut self) {
        self.0.release();
    }
}

/// When a revision of a source was written; `None` if it is not recorded.
fn time_of(
    past: &mut ClusterPast,
    covered: &CoveredSource,
    at: Revision,
) -> Result<Option<Between>, StoreError> {
    let mut holes = covered.coverage.holes();
    if let Some(hole) = holes.find(|hole| at > hole.after && at <= hole.upto) {
        return Ok(Some(Between {
            from: hole.since,
            until: Some(hole.until),
        }));
    }
    let Some(span) = covered.coverage.span(at) else {
        return Ok(None);
    };
    let mut rows = past.around(covered, at)?;
    rows.retain(|row| span.from < row.revision && row.revision <= span.upto);
    let next = rows.partition_point(|it| it.revision < at);
    let seen = |place: usize| rows.get(place).map(|row| past.seen(row));
    if rows.get(next).is_some_and(|row| row.revision == at) {
        return Ok(rows.get(next).map(|row| past.written(covered, row)));
    }
    // Each file has reached the revision in a time of its own.
    let begun = covered.spans_of(at).filter(|span| span.from < at);
    let begun = begun.map(|span| span.since).max().unwrap_or(span.since);
    let ended = covered.spans_of(at).map(|span| span.reached).min();
    let listed = covered.listed_since(at);
    let before = next.checked_sub(1).and_then(seen);
    let from = before.unwrap_or(begun).max(begun);
    let until = seen(next).into_iter().chain(ended).chain(listed).min();
    let until = until.unwrap_or(span.until);
    // A clock may have been set back in between.
    Ok(Some(Between {
        from: from.min(until),
        until: Some(from.max(until)),
    }))
}

/// The events of a watch that are not read yet.
pub(super) struct RecordedEvents {
    key: SourceKey,
    rows: std::vec::IntoIter<PlacedRow>,
    /// The objects that matched the selector so far.
    selected: HashSet<Uid>,
    /// The last revision of the record.
    pub(super) end: Revision,
}

impl RecordedEvents {
    /// The lines of some of the next events; `None` after the last one.
    pub(super) fn next_lines(
        &mut self,
        history: &RecordedHistory,
    ) -> Option<Vec<Result<Bytes, SourceError>>> {
        if self.rows.as_slice().is_empty() {
            return None;
        }
        let mut past = history.past();
        let (mut lines, mut read, mut bytes) = (Vec::new(), 0, 0);
        while read < BATCH
            && bytes < BATCH_BYTES
            && let Some(row) = self.rows.next()
        {
            read += 1;
            let line = match past.read(&row) {
                Ok(recorded) => self.line(&recorded.version, &row).map(Ok),
                Err(error) => Some(Err(error.into())),
            };
            bytes += line.iter().flatten().map(Bytes::len).sum::<usize>();
            lines.extend(line);
        }
        Some(lines)
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
        let text = if row.is_gone && Revision::parse(&version.version) != Some(row.revision) {
            // Of an object that was gone after a hole, only the last state is recorded.
            deleted(version, row.revision).body.text()
        } else {
            version.body.text()
        };
        Some(format!(r#"{{"type":"{verb}","object":{text}}}"#).into())
    }
}

impl From<StoreError> for SourceError {
    fn from(error: StoreError) -> SourceError {
        SourceError::from(&error)
    }
}

impl From<&StoreError> for SourceError {
    fn from(error: &StoreError) -> SourceError {
        SourceError::Input {
            detail: format!("error: {error}").into(),
        }
    }
}

/// The error about a source that the record does not have, or not whole.
fn not_recorded(key: &SourceKey, past: &ClusterPast) -> SourceError {
    let resource = key.resource.group_resource();
    let recorded = past.sources().into_iter();
    let recorded = recorded.filter(|it| it.resource.group_kind() == key.resource.group_kind());
    let recorded: Vec<String> = recorded.map(|it| it.to_string()).collect();
    let place = match key.namespace() {
        None if key.resource.namespaced => " in all namespaces",
        Some(_) | None => "",
    };
    let detail = match (past.unread().ever(), &recorded[..]) {
        (Some(cause), _) => format!("error: no file that can be read has {key}{place}: {cause}"),
        (None, []) => format!("error: nobody recorded {resource}"),
        (None, recorded) => {
            let recorded = listed(recorded, 1);
            format!("error: nobody recorded {key}{place}, only {recorded}")
        }
    };
    SourceError::Input {
        detail: detail.into(),
    }
}

/// A line for each of the first files that cannot be read, and one for the others.
fn unread_lines(unread: &UnreadStoreFiles) -> Vec<String> {
    let line = |error: &StoreError| format!("a part of the record is not read: {error}");
    let mut lines: Vec<String> = unread.errors().take(NAMED).map(line).collect();
    let others = unread.errors().skip(NAMED).count();
    if others > 0 {
        let files = counted(others, "other file", "other files");
        lines.push(format!("{files} of the record cannot be read"));
    }
    lines
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
