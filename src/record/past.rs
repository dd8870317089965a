//! `ClusterPast`: what all files together have of a cluster, by revision.
//!
//! Each file begins with a snapshot, so the state at a revision needs one file. The history of an object needs all of them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jiff::Timestamp;
use rustc_hash::FxHashMap;

use super::covered_revisions::{CoveredRevisions, CoveredSpan, MISSED, TOGETHER};
use super::covered_source::{CoveredPart, CoveredSource, PlacedRow};
use super::error::StoreError;
use super::file_reader::{RecordedSource, RecordedVersion, StoreFileReader};
use super::redaction::Redaction;
use super::schema::RecordedCluster;
use super::store::ClusterFiles;
use super::unread::UnreadStoreFiles;
use crate::object::{Value, listed};
use crate::source::{SourceKey, Why};
use crate::watch::{Between, Hole, KnownState, Revision};

/// The files of a cluster, open for reading.
pub(super) struct ClusterPast {
    files: Vec<StoreFileReader>,
    unread: UnreadStoreFiles,
    covered: HashMap<SourceKey, Arc<CoveredSource>>,
    indexes: HashMap<(usize, i64), Arc<[PlacedRow]>>,
    /// Those of one name.
    named: HashMap<(usize, i64, Box<str>), Arc<[PlacedRow]>>,
}

/// Of how many versions after a time the writers are read.
const DATED: usize = 256;

/// How many indexes of one name are kept.
const NAMED: usize = 64;

impl ClusterPast {
    /// Opens the files of a cluster. A file without a version yet is passed over. It fails if none of them can be read.
    pub(super) fn open(files: &ClusterFiles) -> Result<ClusterPast, StoreError> {
        let mut unread = UnreadStoreFiles::list(files)?;
        let listed = unread.listed();
        let open = listed.iter().filter_map(|file| unread.open(file));
        let open: Vec<StoreFileReader> = open.collect();
        if open.is_empty() {
            unread = unread.or_fail()?;
        }
        Ok(ClusterPast {
            files: open,
            unread,
            covered: HashMap::new(),
            indexes: HashMap::new(),
            named: HashMap::new(),
        })
    }

    /// The files that cannot be read.
    pub(super) fn unread(&self) -> &UnreadStoreFiles {
        &self.unread
    }

    /// Why what was recorded in a hole cannot be read; `None` if nobody recorded. The hole can be that before the record of a
    /// source, or that after it.
    pub(super) fn unread_in(
        &self,
        covered: &CoveredSource,
        times: [Timestamp; 2],
        [after, upto]: [Option<Revision>; 2],
    ) -> Option<Arc<str>> {
        let is_at = |part: &CoveredPart, is_end: &dyn Fn(&CoveredSpan) -> bool| {
            part.coverage.spans().iter().any(is_end)
        };
        let path = |part: &CoveredPart| self.files[part.file].path();
        let mut before = covered
            .parts
            .iter()
            .filter(|part| is_at(part, &|span| Some(span.upto) == after));
        let mut next = covered
            .parts
            .iter()
            .rev()
            .filter(|part| is_at(part, &|span| Some(span.from) == upto));
        let ends = [before.next().map(path), next.next().map(path)];
        self.unread.in_hole(times, ends)
    }

    /// The holes in the record of a source, the oldest first.
    pub(super) fn holes(&mut self, key: &SourceKey) -> Result<Vec<Hole>, StoreError> {
        let covered = self.covered(key)?;
        let mut holes: Vec<Hole> = covered.coverage.holes().collect();
        for hole in &mut holes {
            hole.cause = self.cause_of(key, &covered, hole)?;
        }
        Ok(holes)
    }

    /// The hole between the end of a source and that of the record; `None` if they end together.
    pub(super) fn last_hole(&mut self, key: &SourceKey) -> Result<Option<Hole>, StoreError> {
        let covered = self.covered(key)?;
        let (Some(newest), Some(until)) = (covered.coverage.newest(), self.until()) else {
            return Ok(None);
        };
        let Some(since) = covered.coverage.ends_before(until) else {
            return Ok(None);
        };
        let reached = self.files.iter().flat_map(StoreFileReader::sources);
        let reached = reached.filter_map(|it| Revision::parse(&it.reached.as_ref()?.0));
        // Its recorder may have gone on without contact.
        let ran = covered
            .parts
            .iter()
            .filter_map(|part| self.files[part.file].end())
            .any(|end| until.duration_since(end) <= TOGETHER);
        let mut hole = Hole {
            after: newest.upto,
            upto: reached.max().unwrap_or(newest.upto),
            since,
            until,
            cause: ran.then(|| MISSED.into()),
        };
        hole.cause = self.cause_of(key, &covered, &hole)?;
        Ok(Some(hole))
    }

    /// Why there is a hole: a file that cannot be read, or else what was recorded in its place.
    fn cause_of(
        &mut self,
        key: &SourceKey,
        covered: &CoveredSource,
        hole: &Hole,
    ) -> Result<Option<Arc<str>>, StoreError> {
        let ends = [Some(hole.after), Some(hole.upto)];
        let unread = self.unread_in(covered, [hole.since, hole.until], ends);
        if let Some(cause) = unread.or(hole.cause.clone()) {
            return Ok(Some(cause));
        }
        let overlaps = |span: &CoveredSpan| span.since < hole.until && hole.since < span.until;
        let mut parts = Vec::new();
        for part in self.sources() {
            if key.covers(&part) && self.covered(&part)?.coverage.spans().iter().any(overlaps) {
                parts.push(part);
            }
        }
        let only = (!parts.is_empty()).then(|| format!("only {} were recorded", listed(parts, 1)));
        Ok(only.map(Into::into))
    }

    /// From now on, a file that has turned out to be damaged counts as one that cannot be read. It fails with the error if that file
    /// alone has the end of what is recorded of a source.
    pub(super) fn leave_out(
        &mut self,
        error: StoreError,
        key: &SourceKey,
    ) -> Result<(), StoreError> {
        let path = error.path();
        let is_known = self.files.iter().any(|file| file.path() == path);
        if !is_known || self.unread.has(path) {
            return Err(error);
        }
        let before = self.end(key)?;
        self.unread.add(error);
        self.covered.clear();
        if before.is_some() && self.end(key)? == before {
            return Ok(());
        }
        self.covered.clear();
        self.unread.take_last().map_or(Ok(()), Err)
    }

    /// The last recorded revision of a source; `None` if it is not recorded.
    fn end(&mut self, key: &SourceKey) -> Result<Option<Revision>, StoreError> {
        let newest = self.covered(key)?.coverage.newest();
        Ok(newest.map(|span| span.upto))
    }

    /// The cluster, as the newest file names it; `None` if there are no files.
    pub(super) fn cluster(&self) -> Option<&RecordedCluster> {
        self.files.last().map(StoreFileReader::cluster)
    }

    /// The recorded sources, each once.
    pub(super) fn sources(&self) -> Vec<SourceKey> {
        let sources = self.files.iter().flat_map(StoreFileReader::sources);
        each_once(sources.map(|source| &source.key))
    }

    /// The paths whose values are not in the files, each once.
    pub(super) fn redactions(&self) -> Vec<Redaction> {
        each_once(self.files.iter().flat_map(StoreFileReader::redactions))
    }

    /// The time at which the record ends.
    pub(super) fn until(&self) -> Option<Timestamp> {
        let sources = self.files.iter().flat_map(StoreFileReader::sources);
        sources.filter_map(|it| Some(it.reached.as_ref()?.1)).max()
    }

    /// Whether a recorder saw that the server did not have the type of a source at a time.
    pub(super) fn was_unserved(
        &self,
        key: &SourceKey,
        time: Timestamp,
    ) -> Result<bool, StoreError> {
        let read = self.files.iter();
        for file in read.filter(|file| !self.unread.has(file.path())) {
            for source in file.sources().iter().filter(|it| it.key.covers(key)) {
                let mut times = file.unserved_times(source)?.into_iter();
                if times.any(|[since, until]| since <= time && time <= until) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// What the files have of a source.
    pub(super) fn covered(&mut self, key: &SourceKey) -> Result<Arc<CoveredSource>, StoreError> {
        let key = SourceKey {
            form: crate::source::Form::Full,
            ..key.clone()
        };
        if let Some(covered) = self.covered.get(&key) {
            return Ok(covered.clone());
        }
        let mut covered = CoveredSource {
            name: key.select.name().map(Into::into),
            ..CoveredSource::default()
        };
        let files = self.files.iter().enumerate();
        for (at, file) in files.filter(|(_, file)| !self.unread.has(file.path())) {
            for source in file.sources().iter().filter(|it| it.key.covers(&key)) {
                let until = covered.coverage.newest().map(|span| span.until);
                let part = CoveredPart::read(at, file, source, until)?;
                let (all, own) = (&mut covered.coverage, &part.coverage);
                if self.unread.join(all, file.path(), own) {
                    covered.parts.clear();
                }
                covered.parts.push(part);
            }
        }
        let covered = Arc::new(covered);
        self.covered.insert(key, covered.clone());
        Ok(covered)
    }

    /// The last versions of the objects that existed at a revision, in the order of one file.
    pub(super) fn state(
        &mut self,
        covered: &CoveredSource,
        at: Revision,
    ) -> Result<Vec<PlacedRow>, StoreError> {
        let Some(part) = covered.part_with(at) else {
            return Ok(Vec::new());
        };
        let mut last: FxHashMap<i64, PlacedRow> = FxHashMap::default();
        for placed in self.index(covered, part)?.iter() {
            if placed.revision <= at {
                last.insert(placed.row.object, *placed);
            }
        }
        let mut last: Vec<PlacedRow> = last
            .into_values()
            .filter(|placed| !placed.is_gone)
            .collect();
        last.sort_by_key(|placed| placed.row.id);
        Ok(last)
    }

    /// The versions of a source after a revision, up to another, in order. A version that several files have appears once.
    pub(super) fn between(
        &mut self,
        covered: &CoveredSource,
        after: Revision,
        upto: Revision,
    ) -> Result<Vec<PlacedRow>, StoreError> {
        let is_inside = |span: &CoveredSpan| span.upto > after && span.from <= upto;
        let mut found =
            self.found_in(covered, |part| part.coverage.spans().iter().any(is_inside))?;
        found.retain(|it| it.revision > after && it.revision <= upto);
        for hole in covered.coverage.holes() {
            if hole.after >= after && hole.upto <= upto {
                let gone = self.gone_in(covered, &hole, &found)?;
                found.extend(gone);
            }
        }
        Ok(in_order(found))
    }

    /// The versions of a source in the files that cover a revision, in order. They are the nearest ones on both sides of it.
    pub(super) fn around(
        &mut self,
        covered: &CoveredSource,
        at: Revision,
    ) -> Result<Vec<PlacedRow>, StoreError> {
        let found = self.found_in(covered, |part| part.covers(at))?;
        Ok(in_order(found))
    }

    /// The versions of a source in the files that tell what was so at a time, in order: those that cover the time, and those to
    /// which versions of that time came late.
    pub(super) fn around_time(
        &mut self,
        covered: &CoveredSource,
        time: Timestamp,
    ) -> Result<Vec<PlacedRow>, StoreError> {
        let is_of = |since: Timestamp, until: Timestamp| since <= time && time < until;
        let found = self.found_in(covered, |part| {
            let mut spans = part.coverage.spans().iter();
            spans.any(|span| is_of(span.since, span.until)) || part.is_late_at(time)
        })?;
        Ok(in_order(found))
    }

    /// The objects that existed before a hole and not after it. Nobody has seen their end, unless it is one of the known rows.
    fn gone_in(
        &mut self,
        covered: &CoveredSource,
        hole: &Hole,
        known: &[PlacedRow],
    ) -> Result<Vec<PlacedRow>, StoreError> {
        let vanished = known.iter().copied();
        let vanished = vanished.filter(|row| row.is_gone && row.revision == hole.upto);
        let mut uids = HashSet::new();
        for row in self.state(covered, hole.upto)?.into_iter().chain(vanished) {
            uids.insert(self.read(&row)?.version.object.identity());
        }
        let mut gone = Vec::new();
        for row in self.state(covered, hole.after)? {
            if !uids.contains(&self.read(&row)?.version.object.identity()) {
                gone.push(PlacedRow {
                    revision: hole.upto,
                    is_gone: true,
                    ..row
                });
            }
        }
        Ok(gone)
    }

    /// The versions in some parts.
    fn found_in(
        &mut self,
        covered: &CoveredSource,
        is_read: impl Fn(&CoveredPart) -> bool,
    ) -> Result<Vec<PlacedRow>, StoreError> {
        let mut found = Vec::new();
        for part in covered.parts.iter().filter(|part| is_read(part)) {
            found.extend(self.index(covered, part)?.iter().copied());
        }
        Ok(found)
    }

    /// Reads a version. The file is not given free until [`ClusterPast::release`].
    pub(super) fn read(&mut self, placed: &PlacedRow) -> Result<RecordedVersion, StoreError> {
        let file = &mut self.files[placed.file];
        file.index().database().hold()?;
        file.version(&placed.row)
    }

    /// Gives all files free, so that recorders may write.
    pub(super) fn release(&self) {
        for file in &self.files {
            file.index().database().release();
        }
    }

    /// When a version arrived.
    pub(super) fn seen(&self, placed: &PlacedRow) -> Timestamp {
        self.files[placed.file].seen(&placed.row)
    }

    /// When a version was written: when it arrived, unless it arrived late.
    pub(super) fn written(&self, covered: &CoveredSource, placed: &PlacedRow) -> Between {
        let seen = self.seen(placed);
        let parts = covered.parts.iter();
        let mut late = parts
            .filter(|part| part.file == placed.file)
            .flat_map(|part| &part.late);
        let late = late.find(|late| late.since <= seen && seen <= late.until);
        Between {
            from: late.map_or(seen, |late| late.since),
            until: Some(seen),
        }
    }

    /// When an interruption began that was not over at a time, if one of the later versions, which are in order, arrived after it.
    /// It may have been written before that time. If its writers say that it was not, the versions after it were not, either.
    pub(super) fn late_since(
        &mut self,
        covered: &CoveredSource,
        later: &[PlacedRow],
        time: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let mut since: Option<Timestamp> = None;
        for (place, placed) in later.iter().enumerate() {
            let from = self.written(covered, placed).from;
            if from > time {
                continue;
            }
            if place < DATED && !placed.is_gone {
                let object = self.read(placed)?.version.doc();
                let written = object.ok().and_then(|doc| last_written(doc.root()));
                if written.is_some_and(|written| written >= time) {
                    break;
                }
            }
            since = Some(since.map_or(from, |since| since.min(from)));
        }
        Ok(since)
    }

    /// The versions of a part, in the order of the file. Those of one name are soon found, so only some of them are kept.
    fn index(
        &mut self,
        covered: &CoveredSource,
        part: &CoveredPart,
    ) -> Result<Arc<[PlacedRow]>, StoreError> {
        let file = &self.files[part.file];
        if let Some(name) = &covered.name {
            let id = (part.file, part.source.id, name.clone());
            if let Some(index) = self.named.get(&id) {
                return Ok(index.clone());
            }
            let rows = file.index().of_name(part.source.id, name)?;
            let index: Arc<[PlacedRow]> = part.placed(rows).into();
            if self.named.len() >= NAMED {
                self.named.clear();
            }
            self.named.insert(id, index.clone());
            return Ok(index);
        }
        let id = (part.file, part.source.id);
        if let Some(index) = self.indexes.get(&id) {
            return Ok(index.clone());
        }
        let index: Arc<[PlacedRow]> = part.placed(file.index().of_source(part.source.id)?).into();
        self.indexes.insert(id, index.clone());
        Ok(index)
    }
}

/// The last recorded state of each of these sources: their objects, and the version that was reached. It reads the marks of all
/// files, and the versions of the file that has come furthest. A file that cannot be read counts as missing.
pub fn last_states(
    files: &ClusterFiles,
    keys: &[SourceKey],
) -> Result<HashMap<SourceKey, KnownState>, StoreError> {
    let mut unread = UnreadStoreFiles::list(files)?;
    let listed = unread.listed();
    let open = listed.iter().filter_map(|file| unread.open(file));
    let mut open: Vec<StoreFileReader> = open.collect();
    let mut found = HashMap::new();
    for key in keys {
        let mut files = furthest_first(&open, &unread, key).into_iter();
        let state = files.find_map(|(at, source)| open[at].last_state(&source).ok()?);
        found.extend(state.map(|state| (key.clone(), state)));
    }
    Ok(found)
}

/// The places of the files with the newest history of a source, those that have come furthest first, without copies that have
/// lost versions.
fn furthest_first(
    files: &[StoreFileReader],
    unread: &UnreadStoreFiles,
    key: &SourceKey,
) -> Vec<(usize, RecordedSource)> {
    let mut history = CoveredRevisions::default();
    let mut found = Vec::new();
    for (at, file) in files.iter().enumerate() {
        let is_same = |source: &&RecordedSource| {
            let renamed = SourceKey {
                cluster: key.cluster.clone(),
                ..source.key.clone()
            };
            renamed == *key && source.reached.is_some()
        };
        let Some(source) = file.sources().iter().find(is_same) else {
            continue;
        };
        if file.last_lost(source).is_ok_and(|lost| lost.is_some()) {
            continue;
        }
        let own = file.coverage(source);
        if own.is_ok_and(|own| unread.join(&mut history, file.path(), &own)) {
            found.clear();
        }
        found.push((at, source.clone()));
    }
    // Of two that have come equally far, and of versions that are no numbers, the later file counts.
    found.sort_by_key(|(at, source)| {
        let reached = source.reached.as_ref();
        let reached = reached.and_then(|(version, _)| Revision::parse(version));
        std::cmp::Reverse((reached, *at))
    });
    found
}

/// When the server has last stored an object for one of its writers, in whole seconds; `None` if it does not say.
fn last_written(object: Value<'_>) -> Option<Timestamp> {
    let written = object.items_at(&["metadata", "managedFields"]);
    let written = written.filter_map(|entry| entry.time_at(&["time"]));
    let created = object.time_at(&["metadata", "creationTimestamp"]);
    written.chain(created).max()
}

/// These values without repetitions, in order.
fn each_once<'v, T: Clone + PartialEq + 'v>(values: impl Iterator<Item = &'v T>) -> Vec<T> {
    let mut all: Vec<T> = Vec::new();
    for value in values {
        if !all.contains(value) {
            all.push(value.clone());
        }
    }
    all
}

/// The versions in the order of their revisions, each once. The snapshot of a file repeats versions of the file before.
fn in_order(mut found: Vec<PlacedRow>) -> Vec<PlacedRow> {
    let is_repeated = |placed: &PlacedRow| placed.row.why() == Some(Why::Listed);
    found.sort_by_key(|it| (it.revision, it.is_gone, is_repeated(it)));
    // Several objects can be missing after one hole.
    found.dedup_by(|next, it| {
        let is_same = (next.revision, next.is_gone) == (it.revision, it.is_gone);
        is_same && (!it.is_gone || (next.file, next.row.object) == (it.file, it.row.object))
    });
    found
}
