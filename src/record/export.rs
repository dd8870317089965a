//! `RecordExport`: what the files of a cluster have, one event at a time.
//!
//! It reads file after file, and of each a page of the index and a block of versions. So its memory depends neither on the
//! size nor on the number of the files. Of a version that several files have, it gives only that of the first file.

use std::collections::{HashMap, VecDeque};

use jiff::Timestamp;

use super::covered_revisions::CoveredRevisions;
use super::error::StoreError;
use super::file_reader::{RecordedSource, RecordedVersion, StoreFileReader};
use super::index::{IndexRow, NamedRow, ObjectRow};
use super::mark::Mark;
use super::schema::RecordedCluster;
use super::store::{ClusterFiles, StoreFile};
use super::unread::UnreadStoreFiles;
use crate::source::{Gap, GapCause, Scope, SourceKey, Why};
use crate::watch::{Hole, Revision};

/// How many rows of an index are read at once.
const PAGE: usize = 512;

/// Which events to read.
#[derive(Clone, Debug, Default)]
pub struct ExportQuery {
    /// The sources whose objects are read; `None` for everything.
    pub keys: Option<Vec<SourceKey>>,
    /// Nothing that arrived earlier.
    pub since: Option<Timestamp>,
    /// Nothing that arrived later.
    pub until: Option<Timestamp>,
}

/// An event of a record.
#[derive(Debug)]
pub enum ExportedEvent {
    /// A version of an object.
    Version(RecordedVersion),
    /// Nobody recorded a source, so versions may be missing.
    Hole(SourceKey, Hole),
    /// A part of a file cannot be read.
    Damage(StoreError),
}

/// The events of the files of a cluster, in the order of the files and of their arrival. A hole is before the first version
/// that arrived after it.
pub struct RecordExport {
    query: ExportQuery,
    cluster: Option<RecordedCluster>,
    sources: Vec<SourceKey>,
    files: VecDeque<StoreFile>,
    open: Option<OpenFile>,
    /// What the earlier files have, and of which sources.
    earlier: Vec<(SourceKey, CoveredRevisions)>,
    /// The holes that are not yet given, in the order of their ends.
    holes: VecDeque<(SourceKey, Hole)>,
    /// Events that come before the next version.
    waiting: VecDeque<ExportedEvent>,
}

/// A file, and how far it has been read.
struct OpenFile {
    reader: StoreFileReader,
    sources: HashMap<i64, ExportedSource>,
    page: std::vec::IntoIter<NamedRow>,
    /// The number of the last version of the page.
    last: i64,
}

/// A source of a file.
struct ExportedSource {
    /// Which objects are wanted; `None` for all.
    wanted: Option<Vec<SourceKey>>,
    /// What earlier files have of it.
    known: CoveredRevisions,
    /// The revision of its first listing in this file.
    listed: Option<Revision>,
    /// The number of its first version of the newest history.
    first: i64,
}

impl RecordExport {
    /// Reads the heads of the files of a cluster. A file that cannot be read is passed over: it is named when its versions
    /// are read.
    pub fn open(files: &ClusterFiles) -> Result<RecordExport, StoreError> {
        let unread = UnreadStoreFiles::list(files)?;
        let mut export = RecordExport {
            query: ExportQuery::default(),
            cluster: None,
            sources: Vec::new(),
            files: unread.listed().into(),
            open: None,
            earlier: Vec::new(),
            holes: VecDeque::new(),
            waiting: VecDeque::new(),
        };
        let mut holes = export.find_holes(unread);
        holes.sort_by_cached_key(|(key, hole)| {
            let resource = key.resource.group_resource().clone();
            (hole.until, hole.since, resource)
        });
        export.holes = holes.into();
        Ok(export)
    }

    /// The cluster, as the newest file names it; `None` if no file can be read.
    pub fn cluster(&self) -> Option<&RecordedCluster> {
        self.cluster.as_ref()
    }

    /// What is recorded.
    pub fn sources(&self) -> &[SourceKey] {
        &self.sources
    }

    /// Only the events that a query selects.
    #[must_use]
    pub fn select(mut self, query: ExportQuery) -> RecordExport {
        self.holes.retain(|(key, hole)| query.has_hole(key, hole));
        RecordExport { query, ..self }
    }

    fn find_holes(&mut self, mut unread: UnreadStoreFiles) -> Vec<(SourceKey, Hole)> {
        let mut covered: HashMap<SourceKey, CoveredRevisions> = HashMap::new();
        let (mut found, mut restored) = (Vec::new(), Vec::new());
        for file in &self.files {
            let Some(reader) = unread.open(file) else {
                continue;
            };
            for source in reader.sources() {
                let key = &source.key;
                if !self.sources.contains(key) {
                    self.sources.push(key.clone());
                }
                let (Ok(coverage), Ok(marks)) = (reader.coverage(source), reader.marks_of(source))
                else {
                    continue;
                };
                let before = covered.entry(key.clone()).or_default();
                let ended = before.clone();
                restored.extend(restorations(&marks).map(|hole| (key.clone(), hole)));
                if unread.join(before, &file.path, &coverage) {
                    // What was recorded before belongs to another history.
                    let between = ended.hole_before(&coverage);
                    let between = between.filter(|_| !coverage.restarts());
                    let holes = ended.holes().chain(between);
                    found.extend(holes.map(|hole| (key.clone(), hole)));
                }
            }
            self.cluster = Some(reader.cluster().clone());
        }
        for (key, coverage) in &covered {
            found.extend(coverage.holes().map(|hole| (key.clone(), hole)));
        }
        for (_, hole) in &mut found {
            let unread = unread.between(hole.since, hole.until);
            hole.cause = unread.or(hole.cause.take());
        }
        found.extend(restored);
        found
    }

    /// Opens the next file that may have wanted versions.
    fn next_file(&mut self) -> Option<()> {
        let file = self.files.pop_front()?;
        let reader = match StoreFileReader::open(&file.path) {
            Ok(reader) => reader,
            Err(error) => {
                self.waiting.push_back(ExportedEvent::Damage(error));
                return Some(());
            }
        };
        let mut sources = HashMap::new();
        let mut added = Vec::new();
        for source in reader.sources() {
            match ExportedSource::read(&reader, source, &mut self.earlier, &self.query) {
                Ok((exported, coverage)) => {
                    sources.insert(source.id, exported);
                    added.push((source.key.clone(), coverage));
                }
                Err(error) => self.waiting.push_back(ExportedEvent::Damage(error)),
            }
        }
        self.earlier.extend(added);
        self.open = Some(OpenFile {
            reader,
            sources,
            page: Vec::new().into_iter(),
            last: 0,
        });
        Some(())
    }

    /// The next wanted version, or damage; `None` at the end of the file.
    fn next_of(&self, file: &mut OpenFile) -> Option<ExportedEvent> {
        loop {
            let Some(row) = file.page.next() else {
                match file.next_page() {
                    Ok(true) => continue,
                    Ok(false) => return None,
                    Err(error) => {
                        // No further page can be found.
                        file.last = i64::MAX;
                        return Some(ExportedEvent::Damage(error));
                    }
                }
            };
            let NamedRow { row, object } = row;
            let Some(object) = object else {
                let error = file.reader.index().damaged_version(row.id);
                return Some(ExportedEvent::Damage(error));
            };
            if !self.query.has_time(file.reader.seen(&row)) {
                continue;
            }
            let source = file.sources.get(&object.source);
            if source.is_some_and(|source| !source.may_have(&object) || source.is_known(&row)) {
                continue;
            }
            match file.reader.version(&row) {
                Ok(version) => return Some(ExportedEvent::Version(version)),
                Err(error) => return Some(ExportedEvent::Damage(error)),
            }
        }
    }

    /// The next hole that ended before a version arrived.
    fn hole_before(&mut self, next: &ExportedEvent) -> Option<ExportedEvent> {
        let ExportedEvent::Version(version) = next else {
            return None;
        };
        let (_, hole) = self.holes.front()?;
        (hole.until <= version.seen).then(|| self.next_hole())?
    }

    fn next_hole(&mut self) -> Option<ExportedEvent> {
        let (key, hole) = self.holes.pop_front()?;
        Some(ExportedEvent::Hole(key, hole))
    }
}

impl Iterator for RecordExport {
    type Item = ExportedEvent;

    fn next(&mut self) -> Option<ExportedEvent> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Some(event);
            }
            if let Some(mut file) = self.open.take() {
                if let Some(event) = self.next_of(&mut file) {
                    self.open = Some(file);
                    while let Some(hole) = self.hole_before(&event) {
                        self.waiting.push_back(hole);
                    }
                    self.waiting.push_back(event);
                }
            } else if self.next_file().is_none() {
                return self.next_hole();
            }
        }
    }
}

impl OpenFile {
    /// Reads the next page of the index; false at its end.
    fn next_page(&mut self) -> Result<bool, StoreError> {
        if self.last == i64::MAX {
            return Ok(false);
        }
        let page = self.reader.index().page_after(self.last, PAGE)?;
        let Some(last) = page.last() else {
            self.last = i64::MAX;
            return Ok(false);
        };
        self.last = last.row.id;
        self.page = page.into_iter();
        Ok(true)
    }
}

impl ExportedSource {
    /// Reads how a source of a file continues what earlier files have.
    fn read(
        reader: &StoreFileReader,
        source: &RecordedSource,
        earlier: &mut Vec<(SourceKey, CoveredRevisions)>,
        query: &ExportQuery,
    ) -> Result<(ExportedSource, CoveredRevisions), StoreError> {
        let coverage = reader.coverage(source)?;
        let marks = reader.marks_of(source)?;
        let mut known = CoveredRevisions::default();
        for (key, part) in earlier.iter() {
            if key.covers(&source.key) {
                known.join(part);
            }
        }
        if known.clone().join(&coverage) {
            earlier.retain(|(key, _)| key.resource != source.key.resource);
        }
        let listed = marks.iter().find_map(|(_, _, mark)| match mark {
            Mark::Synced { version, .. } => Revision::parse(version),
            Mark::Resumed { .. }
            | Mark::Gap(_)
            | Mark::State { .. }
            | Mark::Undecodable { .. }
            | Mark::Lost { .. } => None,
        });
        let is_restored =
            |mark: &Mark| matches!(mark, Mark::Gap(gap) if gap.cause == GapCause::Restored);
        let last = marks.iter().rev().find(|(_, _, mark)| is_restored(mark));
        let exported = ExportedSource {
            wanted: query.wanted(&source.key),
            known,
            listed,
            first: last.map_or(0, |(next, _, _)| *next),
        };
        Ok((exported, coverage))
    }

    /// Whether an object can be a wanted one.
    fn may_have(&self, object: &ObjectRow<'_>) -> bool {
        let is_of = |key: &SourceKey| {
            let name = key.select.name();
            let has_name = name.is_none_or(|name| object.name == name);
            has_name && has_namespace(key, object.namespace.as_deref())
        };
        self.wanted
            .as_ref()
            .is_none_or(|keys| keys.iter().any(is_of))
    }

    /// Whether an earlier file has the version of a row.
    fn is_known(&self, row: &IndexRow) -> bool {
        let Some(revision) = row.revision else {
            return false;
        };
        if row.id < self.first {
            return false;
        }
        let is_listed = row.why() == Some(Why::Listed);
        self.known.spans().iter().any(|span| {
            // A listing has the version of its own revision, unless that is a deletion.
            let is_after = span.from < revision || (span.from == revision && !row.is_gone());
            let is_inside = is_after && revision <= span.upto;
            // An object that a later listing has in an older version was there when the span began.
            let was_there = revision <= span.from && self.listed.is_some_and(|it| span.from <= it);
            is_inside || (is_listed && was_there)
        })
    }
}

impl ExportQuery {
    fn has_time(&self, seen: Timestamp) -> bool {
        let is_late = self.since.is_none_or(|since| since <= seen);
        is_late && self.until.is_none_or(|until| seen <= until)
    }

    /// Whether a hole is one of a wanted source, and reaches into the requested time.
    fn has_hole(&self, key: &SourceKey, hole: &Hole) -> bool {
        let is_late = self.since.is_none_or(|since| since <= hole.until);
        let is_early = self.until.is_none_or(|until| hole.since <= until);
        let is_wanted = self.wanted(key).is_none_or(|wanted| !wanted.is_empty());
        is_late && is_early && is_wanted
    }

    /// The wanted objects of a source; `None` for all.
    fn wanted(&self, source: &SourceKey) -> Option<Vec<SourceKey>> {
        let keys = self.keys.as_ref()?.iter();
        let own = keys.filter(|key| {
            let (one, other) = (&key.resource, &source.resource);
            let is_same = (&one.group, &one.plural) == (&other.group, &other.plural);
            let namespace = source.namespace();
            is_same && (namespace.is_none() || has_namespace(key, namespace))
        });
        Some(own.cloned().collect())
    }
}

/// Whether a key is about this namespace.
fn has_namespace(key: &SourceKey, namespace: Option<&str>) -> bool {
    match &key.scope {
        Scope::Cluster => true,
        Scope::Namespace(own) => namespace == Some(&**own),
    }
}

/// The holes at which a server was restored from a backup.
fn restorations(marks: &[(i64, Timestamp, Mark)]) -> impl Iterator<Item = Hole> {
    marks.iter().filter_map(|(_, seen, mark)| {
        let Mark::Gap(Gap {
            after,
            upto,
            cause: GapCause::Restored,
        }) = mark
        else {
            return None;
        };
        Some(Hole {
            after: Revision::parse(after)?,
            upto: Revision::parse(upto)?,
            since: *seen,
            until: *seen,
            cause: Some("the server was restored from a backup".into()),
        })
    })
}
