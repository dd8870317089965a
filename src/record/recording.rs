//! `Recording`: takes the events of all sources and writes them to files, one after the other.
//!
//! It knows the last version of each object, packed. So it can begin another file at any time with a snapshot: on the next
//! day, when a file is large, and after the disk was full.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::block::RecordedWhy;
use super::delta::{Delta, DeltaPacker, PackedName};
use super::entry::EntryContent;
use super::error::StoreError;
use super::file_reader::{RecordedVersion, managers};
use super::file_writer::{NewVersion, StoreFileWriter};
use super::mark::Mark;
use super::progress::{SharedProgress, lock};
use super::redaction::Redaction;
use super::schema::{NewFile, RecordedCluster, Synchronous};
use super::sealer::Sealer;
use super::store::{ClusterFiles, RetentionPolicy, Store, StoreFile};
use crate::object::{ObjectRef, ResourceVersion, Uid};
use crate::source::{Event, Gap, GapCause, SourceKey, Why};
use crate::watch::{Clock, KnownState, Revision};

/// How long events may wait before they are written to the disk. A recorder that is killed reads them back from the server
/// when it starts again.
const UNSAVED: SignedDuration = SignedDuration::from_secs(5);
/// How many versions may wait.
const UNSAVED_VERSIONS: usize = 2000;
/// The pause before another try after a write that failed.
const RETRY: SignedDuration = SignedDuration::from_secs(5);

/// What to record where.
pub struct RecordOptions {
    /// The store.
    pub store: Store,
    /// The cluster.
    pub cluster: RecordedCluster,
    /// How long to keep it.
    pub retention: RetentionPolicy,
    /// The sources that resume from an earlier recorder. They send its last state first.
    pub resumed: HashMap<SourceKey, ResumedSource>,
    /// The paths whose values do not enter it.
    pub redactions: Vec<Redaction>,
    /// Gives the times of the record.
    pub clock: Clock,
    /// This machine's clock, by which the files have the times at which they were written.
    pub local_clock: Clock,
}

/// The last state of a source in an earlier file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumedSource {
    /// Its version.
    pub version: ResourceVersion,
    /// The last time at which it was so.
    pub at: Timestamp,
}

impl ResumedSource {
    /// What is resumed from this state.
    pub fn of(known: &KnownState) -> ResumedSource {
        ResumedSource {
            version: known.version.clone(),
            at: known.at,
        }
    }
}

/// What is recorded, and how far.
pub(super) struct Recording {
    options: RecordOptions,
    files: ClusterFiles,
    /// The name of this recorder in the names of its files.
    name: String,
    synchronous: Synchronous,
    writer: Option<StoreFileWriter>,
    /// The day on which the file begins.
    day: Date,
    packer: DeltaPacker,
    sealer: Sealer,
    sources: Vec<Tracked>,
    places: HashMap<Arc<SourceKey>, usize>,
    live: HashMap<(usize, Uid), LiveObject>,
    /// Since when events wait, and how many versions.
    unsaved: Option<Timestamp>,
    unsaved_versions: usize,
    retry_at: Timestamp,
    progress: SharedProgress,
}

/// Whether events arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// More events will soon share a block.
    Busy,
    /// Nothing has arrived for some seconds.
    Quiet,
}

/// A source, and how far it is recorded.
struct Tracked {
    key: Arc<SourceKey>,
    /// Its row in the file.
    row: i64,
    /// Whether a listing of it is complete.
    is_synced: bool,
    /// The last state.
    state: Option<Mark>,
    /// The version up to which it has sent everything, and when that was so.
    reached: Option<(ResourceVersion, Timestamp)>,
    /// Whether the file does not know that yet.
    is_ahead: bool,
}

/// The last version of an object.
struct LiveObject {
    object: Arc<ObjectRef>,
    /// Its row in the file; `None` before its first version there.
    row: Option<i64>,
    delta: Delta,
    seen: Timestamp,
    version: ResourceVersion,
    managers: Box<str>,
}

impl Recording {
    /// Begins the first file.
    pub(super) fn begin(
        options: RecordOptions,
        progress: SharedProgress,
    ) -> Result<Recording, StoreError> {
        let name = format!("{:08x}", fastrand::u32(..));
        Recording::begin_as(name, Synchronous::Normal, options, progress)
    }

    /// Begins a copy of the first file of a recorder with this name. No server has what a power failure takes from it.
    pub(super) fn begin_copy(
        name: String,
        options: RecordOptions,
    ) -> Result<Recording, StoreError> {
        Recording::begin_as(name, Synchronous::Full, options, SharedProgress::default())
    }

    fn begin_as(
        name: String,
        synchronous: Synchronous,
        options: RecordOptions,
        progress: SharedProgress,
    ) -> Result<Recording, StoreError> {
        let now = (options.clock)();
        let mut recording = Recording {
            files: options.store.cluster(&options.cluster.id),
            name,
            synchronous,
            sealer: Sealer::new(options.store.key.clone(), &options.redactions),
            options,
            writer: None,
            day: Date::default(),
            packer: DeltaPacker::default(),
            sources: Vec::new(),
            places: HashMap::new(),
            live: HashMap::new(),
            unsaved: None,
            unsaved_versions: 0,
            retry_at: now,
            progress,
        };
        recording.begin_file(now)?;
        recording.report();
        Ok(recording)
    }

    /// Records an event.
    pub(super) fn take(&mut self, key: &Arc<SourceKey>, event: &Event) {
        let now = (self.options.clock)();
        let recorded = self.source(key).and_then(|place| match event {
            Event::Object {
                why,
                past,
                seen,
                now,
                ..
            } => {
                let (why, past) = (*why, *past);
                let recorded = RecordedVersion {
                    why: RecordedWhy { why, past },
                    seen: *seen,
                    version: now.clone(),
                };
                self.take_version(place, &recorded)
            }
            Event::Synced { .. } | Event::State(_) | Event::Gap(_) | Event::Undecodable { .. } => {
                // Nothing is known of the time between the last state and the first answer of the server.
                let is_answer = matches!(event, Event::Synced { .. });
                let known = is_answer.then(|| self.options.resumed.remove(&**key));
                let at = known.flatten().map_or(now, |known| known.at);
                Mark::of(event).map_or(Ok(()), |mark| self.take_mark(place, at, &mark))
            }
        });
        self.unsaved.get_or_insert(now);
        self.note(recorded, now);
    }

    /// Records that a source has sent everything up to a version.
    pub(super) fn reach(&mut self, key: &Arc<SourceKey>, version: &ResourceVersion) {
        let now = (self.options.clock)();
        let place = self.places.get(key);
        if let Some(source) = place.and_then(|place| self.sources.get_mut(*place)) {
            source.reach(version, now);
            self.unsaved.get_or_insert(now);
        }
    }

    /// Records an entry of a source as another recorder has recorded it.
    pub(super) fn replay(
        &mut self,
        key: &Arc<SourceKey>,
        content: &EntryContent,
    ) -> Result<(), StoreError> {
        let place = self.source(key)?;
        match content {
            EntryContent::Version(version) => self.take_version(place, version),
            EntryContent::Mark { seen, mark } => self.take_mark(place, *seen, mark),
            EntryContent::Missing { version, seen, .. } => self.take_loss(place, version, *seen),
            EntryContent::Reached { version, at } => {
                if let Some(source) = self.sources.get_mut(place) {
                    source.reach(version, *at);
                }
                Ok(())
            }
        }
    }

    /// Writes everything to the disk. Returns the present file, and fails if there is none.
    pub(super) fn save(&mut self) -> Result<&Path, StoreError> {
        let saved = self.commit();
        self.report();
        saved.and_then(|()| self.file())
    }

    /// Writes to the disk what has waited for long enough, and begins another file when it is time.
    pub(super) fn tend(&mut self, pace: Pace) {
        let now = (self.options.clock)();
        let waited = self.unsaved.map(|since| now.duration_since(since).abs());
        let is_due = match pace {
            Pace::Busy => waited.is_some_and(|waited| waited >= UNSAVED),
            Pace::Quiet => waited.is_some(),
        };
        if self.writer.is_none() {
            // A clock that was set back must not delay the next try.
            if now.duration_since(self.retry_at).abs() >= RETRY {
                let begun = self.begin_file(now);
                self.note(begun, now);
                self.report();
            }
        } else if is_due || self.unsaved_versions >= UNSAVED_VERSIONS {
            let saved = self.commit().and_then(|()| self.next_file(now));
            self.note(saved, now);
            self.report();
        }
    }

    /// The present file. It fails if there is none.
    pub(super) fn file(&self) -> Result<&Path, StoreError> {
        let writer = self.writer.as_ref().map(StoreFileWriter::path);
        writer.ok_or_else(|| {
            let error = io::Error::other("no file is being written");
            StoreError::io(&self.files.path, error)
        })
    }

    /// Writes the rest, and ends the file. One that cannot be written stays as its last commit has left it.
    pub(super) fn finish(mut self) -> Result<(), StoreError> {
        let done = self.commit();
        let writer = self.writer.take();
        let ended = done.and_then(|()| writer.map_or(Ok(()), StoreFileWriter::close));
        self.report();
        ended
    }

    fn take_version(&mut self, place: usize, recorded: &RecordedVersion) -> Result<(), StoreError> {
        let (why, seen) = (recorded.why, recorded.seen);
        let Ok(now) = self.sealer.sealed(&recorded.version) else {
            // What cannot be read may be a Secret.
            return self.take_loss(place, &recorded.version.version, seen);
        };
        let uid = (place, now.object.identity());
        let before = self.live.remove(&uid);
        let name = PackedName {
            source: place,
            name: &now.object.name,
        };
        let delta = self
            .packer
            .pack(name, &now.body.text(), before.as_ref().map(|it| &it.delta));
        let mut object = LiveObject {
            object: now.object.clone(),
            row: before
                .filter(|before| before.object == now.object)
                .and_then(|before| before.row),
            delta,
            seen,
            version: now.version.clone(),
            managers: managers(&now, why.why),
        };
        let written = self.write(place, why, &mut object);
        if !why.why.is_gone() {
            self.live.insert(uid, object);
        }
        self.unsaved_versions += 1;
        let mut progress = lock(&self.progress);
        progress.versions += 1;
        progress.objects = self.live.len();
        drop(progress);
        let is_ordered = why.why.is_live();
        let source = self.sources.get_mut(place).filter(|_| is_ordered);
        if let Some(source) = source {
            source.reach(&now.version, seen);
        }
        written
    }

    /// A version that cannot be recorded is a gap, and its object is not known from then on.
    fn take_loss(
        &mut self,
        place: usize,
        version: &ResourceVersion,
        seen: Timestamp,
    ) -> Result<(), StoreError> {
        let after = self.sources.get(place).and_then(|it| it.reached.clone());
        let after = after.map_or_else(|| ResourceVersion::new(""), |(after, _)| after);
        let (upto, cause) = (version.clone(), GapCause::Undecodable);
        self.take_mark(place, seen, &Mark::Gap(Gap { after, upto, cause }))?;
        let version = version.clone();
        self.take_mark(place, seen, &Mark::Lost { version })
    }

    /// Writes the last version of an object, if there is a file.
    fn write(
        &mut self,
        place: usize,
        why: RecordedWhy,
        object: &mut LiveObject,
    ) -> Result<(), StoreError> {
        let (Some(writer), Some(source)) = (&mut self.writer, self.sources.get(place)) else {
            return Ok(());
        };
        let row = match object.row {
            Some(row) => row,
            None => writer.add_object(source.row, &object.object)?,
        };
        object.row = Some(row);
        writer.add_version(&NewVersion {
            object: row,
            why,
            seen: object.seen,
            version: &object.version,
            managers: &object.managers,
            delta: &object.delta,
        })
    }

    fn take_mark(&mut self, place: usize, now: Timestamp, mark: &Mark) -> Result<(), StoreError> {
        let Some(source) = self.sources.get_mut(place) else {
            return Ok(());
        };
        match mark {
            Mark::Synced { version, .. } => {
                source.is_synced = true;
                source.reach(version, now);
            }
            Mark::Gap(gap) => {
                lock(&self.progress).gaps += 1;
                if gap.cause == GapCause::Restored {
                    source.is_synced = false;
                    source.reached = None;
                }
            }
            // An outage has many attempts, which mostly fail in the same way.
            Mark::State { name, .. }
                if **name != *"live" && source.state.as_ref() == Some(mark) =>
            {
                return Ok(());
            }
            Mark::State { .. } => source.state = Some(mark.clone()),
            Mark::Resumed { .. } | Mark::Undecodable { .. } | Mark::Lost { .. } => {}
        }
        let row = source.row;
        match &mut self.writer {
            Some(writer) => writer.add_mark(row, now, mark),
            None => Ok(()),
        }
    }

    /// The place of a source, which is new in the file if this is its first event.
    fn source(&mut self, key: &Arc<SourceKey>) -> Result<usize, StoreError> {
        if let Some(place) = self.places.get(key) {
            return Ok(*place);
        }
        let place = self.sources.len();
        self.places.insert(key.clone(), place);
        self.sources.push(Tracked {
            key: key.clone(),
            row: 0,
            is_synced: false,
            state: None,
            reached: None,
            is_ahead: false,
        });
        if let (Some(writer), Some(source)) = (&mut self.writer, self.sources.last_mut()) {
            source.row = writer.add_source(key)?;
            if let Some(known) = self.options.resumed.get(&**key) {
                let version = known.version.clone();
                writer.add_mark(source.row, known.at, &Mark::Resumed { version })?;
            }
        }
        Ok(place)
    }

    /// Begins a file with a snapshot of everything. One that cannot be completed is of no use, and takes room that the next
    /// one needs.
    fn begin_file(&mut self, now: Timestamp) -> Result<(), StoreError> {
        let path = self.files.new_file(now, &self.name)?;
        let new = NewFile {
            cluster: &self.options.cluster,
            redactions: self.sealer.redactions(),
            started: now,
            synchronous: self.synchronous,
        };
        let writer = StoreFileWriter::create(&path, &new)?;
        let begun = self.write_snapshot(writer, now);
        if begun.is_err() {
            self.writer = None;
            let _kept = StoreFile::remove_at(&path);
        }
        begun
    }

    /// Writes the sources and the last version of each object to a new file, which is then the present one.
    fn write_snapshot(
        &mut self,
        mut writer: StoreFileWriter,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        for source in &mut self.sources {
            source.row = writer.add_source(&source.key)?;
            source.is_ahead = true;
            let reached = source.reached.iter().filter(|_| source.is_synced);
            for (version, _) in reached {
                let version = version.clone();
                writer.add_mark(source.row, now, &Mark::Resumed { version })?;
            }
            if let Some(state) = &source.state {
                writer.add_mark(source.row, now, state)?;
            }
        }
        self.writer = Some(writer);
        self.day = now.to_zoned(TimeZone::UTC).date();
        let mut live: Vec<_> = std::mem::take(&mut self.live).into_iter().collect();
        live.sort_by(|((a, _), one), ((b, _), other)| (a, &one.object).cmp(&(b, &other.object)));
        let why = RecordedWhy {
            why: Why::Listed,
            past: false,
        };
        let mut counts = vec![0; self.sources.len()];
        let mut written = Ok(());
        for (uid, mut object) in live {
            object.row = None;
            if written.is_ok() {
                written = self.write(uid.0, why, &mut object);
            }
            counts[uid.0] += 1;
            self.live.insert(uid, object);
        }
        written?;
        for (source, count) in self.sources.iter().zip(counts) {
            if let (true, Some((version, at))) = (source.is_synced, source.reached.clone()) {
                let mark = Mark::Synced { count, version };
                if let Some(writer) = &mut self.writer {
                    writer.add_mark(source.row, at, &mark)?;
                }
            }
        }
        self.commit()?;
        if let Some(writer) = &self.writer {
            let (retention, now) = (self.options.retention, (self.options.local_clock)());
            let retained = retention.apply(&self.files, &[writer.path()], now);
            lock(&self.progress).undeleted = retained.err().map(|error| error.to_string());
        }
        Ok(())
    }

    /// Ends the file and begins another one, if it is from another day or large.
    fn next_file(&mut self, now: Timestamp) -> Result<(), StoreError> {
        let is_large = |writer: &StoreFileWriter| {
            let limit = self.options.retention.file_bytes();
            writer.bytes() >= limit
        };
        let is_of_today = self.day == now.to_zoned(TimeZone::UTC).date();
        if is_of_today && !self.writer.as_ref().is_some_and(is_large) {
            return Ok(());
        }
        self.writer.take().map_or(Ok(()), StoreFileWriter::close)?;
        self.begin_file(now)
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        let Some(writer) = &mut self.writer else {
            return Ok(());
        };
        for source in self.sources.iter_mut().filter(|source| source.is_ahead) {
            if let (true, Some((version, at))) = (source.is_synced, &source.reached) {
                writer.reach(source.row, version, *at)?;
                source.is_ahead = false;
            }
        }
        writer.commit()?;
        self.unsaved = None;
        self.unsaved_versions = 0;
        lock(&self.progress).trouble = None;
        Ok(())
    }

    /// After an error nothing more goes into the file. Another one begins when the disk has room again, and what happened
    /// meanwhile is a hole.
    fn note(&mut self, done: Result<(), StoreError>, now: Timestamp) {
        if let Err(error) = done {
            self.writer = None;
            self.retry_at = now;
            self.unsaved_versions = 0;
            let mut progress = lock(&self.progress);
            if progress.trouble.is_none() {
                progress.gaps += 1;
            }
            progress.trouble = Some(error.to_string());
        }
    }

    fn report(&self) {
        // A folder that cannot be listed keeps its last numbers.
        let Ok(files) = self.files.list() else {
            return;
        };
        let mut progress = lock(&self.progress);
        progress.bytes = files.iter().map(|file| file.bytes).sum();
        progress.files = files.len();
        progress.oldest = files.first().and_then(StoreFile::begun);
    }
}

impl Tracked {
    /// Moves on to a version, never back.
    fn reach(&mut self, version: &ResourceVersion, at: Timestamp) {
        let number = Revision::parse(version);
        let is_older = self.reached.as_ref().is_some_and(|(known, _)| {
            let known = Revision::parse(known);
            known.is_some() && number.is_some() && number < known
        });
        if !is_older && !version.as_str().is_empty() {
            self.reached = Some((version.clone(), at));
            self.is_ahead = true;
        }
    }
}

#[cfg(test)]
impl Recording {
    /// Whether nothing waits to be written.
    pub(super) fn is_saved(&self) -> bool {
        self.unsaved.is_none()
    }

    /// What the present file does at a commit.
    pub(super) fn synchronous(&self) -> Option<i64> {
        self.writer.as_ref().map(StoreFileWriter::synchronous)
    }

    /// Makes the disk full after this many pages of the present file.
    pub(super) fn limit_pages(&self, pages: u32) {
        if let Some(writer) = &self.writer {
            writer.limit_pages(pages);
        }
    }
}
