//! `CoveredSource`: what the files of a cluster have of one source.

use jiff::{SignedDuration, Timestamp};

use super::covered_revisions::{CoveredRevisions, CoveredSpan};
use super::error::StoreError;
use super::file_reader::{RecordedSource, StoreFileReader};
use super::index::IndexRow;
use super::mark::Mark;
use crate::source::{Gap, GapCause, Why};
use crate::watch::Revision;

/// A version in a file, and the revision from which on it was the state of its object.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacedRow {
    pub(super) file: usize,
    pub(super) row: IndexRow,
    pub(super) revision: Revision,
    /// Whether the object no longer existed from then on.
    pub(super) is_gone: bool,
}

/// What the files have of a source.
#[derive(Debug, Default)]
pub(super) struct CoveredSource {
    pub(super) coverage: CoveredRevisions,
    /// The only name that it selects, in a wider source of the files.
    pub(super) name: Option<Box<str>>,
    /// The sources of files that have its objects, in the order of the files.
    pub(super) parts: Vec<CoveredPart>,
}

impl CoveredSource {
    /// What single files have around a revision.
    pub(super) fn spans_of(&self, at: Revision) -> impl Iterator<Item = CoveredSpan> {
        let parts = self.parts.iter();
        parts.filter_map(move |part| part.coverage.span(at))
    }

    /// Whether versions arrived after a time that may have been written before it.
    pub(super) fn is_late_at(&self, time: Timestamp) -> bool {
        self.parts.iter().any(|part| part.is_late_at(time))
    }

    /// When the first listing at a revision, or at a later one, was read. What is so old was written before that.
    pub(super) fn listed_since(&self, at: Revision) -> Option<Timestamp> {
        let spans = self.parts.iter().flat_map(|part| part.coverage.spans());
        let listed = spans.filter(|span| span.from >= at);
        listed.map(|span| span.since).min()
    }

    /// The file that has the state at a revision: if there are several, one that has lost no version.
    pub(super) fn part_with(&self, at: Revision) -> Option<&CoveredPart> {
        let parts = self.parts.iter().filter(|part| part.covers(at));
        parts.min_by_key(|part| part.lost.is_some())
    }

    /// Whether versions are lost to any of its files.
    pub(super) fn has_lost(&self) -> bool {
        self.parts.iter().any(|part| part.lost.is_some())
    }

    /// Since when versions are lost that the state at a revision may lack, if that began before a time.
    pub(super) fn lost_at(&self, at: Revision, time: Timestamp) -> Option<Timestamp> {
        let lost = self.part_with(at)?.lost;
        lost.filter(|since| *since <= time)
    }

    /// The newest revision that a single file shows to have been reached at a time.
    pub(super) fn reached_at(&self, time: Timestamp) -> Option<Revision> {
        let spans = self.parts.iter().flat_map(|part| part.coverage.spans());
        let reached = spans.filter(|span| span.since <= time).map(|span| {
            if span.reached <= time {
                span.upto
            } else {
                span.from
            }
        });
        reached.max()
    }
}

/// What one file has of a source.
#[derive(Debug)]
pub(super) struct CoveredPart {
    /// The place of the file.
    pub(super) file: usize,
    pub(super) source: RecordedSource,
    pub(super) coverage: CoveredRevisions,
    /// The number of the first version after each gap, and the revision at its end.
    gaps: Vec<(i64, Revision)>,
    /// The number of the first version of the newest history.
    first: i64,
    /// The spans in which versions arrived late.
    pub(super) late: Vec<LateSpan>,
    /// Since when versions are lost to this copy of a file, so that an object may be older than it was, or missing.
    lost: Option<Timestamp>,
}

/// After an interruption, versions arrive that were written during it.
#[derive(Clone, Copy, Debug)]
pub(super) struct LateSpan {
    /// When the interruption began.
    pub(super) since: Timestamp,
    /// When its end was over for so long that everything has arrived.
    pub(super) until: Timestamp,
}

/// How long after an interruption the missed versions arrive at most.
const LATE: SignedDuration = SignedDuration::from_secs(60);

impl CoveredPart {
    /// Reads the marks of a source in the file at a place. The files before this one end at `before`.
    pub(super) fn read(
        at: usize,
        file: &StoreFileReader,
        source: &RecordedSource,
        mut before: Option<Timestamp>,
    ) -> Result<CoveredPart, StoreError> {
        let (mut gaps, mut first) = (Vec::new(), 0);
        let (mut late, mut interrupted, mut lost) = (Vec::new(), None, None);
        for (next, seen, mark) in file.marks_of(source)? {
            match mark {
                Mark::Gap(Gap { upto, cause, .. }) => {
                    gaps.extend(Revision::parse(&upto).map(|upto| (next, upto)));
                    if cause == GapCause::Restored {
                        first = next;
                    }
                }
                Mark::State { name, .. } if &*name == "live" => {
                    let until = seen.checked_add(LATE).unwrap_or(seen);
                    late.extend(interrupted.take().map(|since| LateSpan { since, until }));
                }
                // What was written since then arrives late, whatever other files have.
                Mark::Resumed { .. } => before = Some(seen),
                Mark::State { name, .. } if &*name == "connecting" => interrupted = before,
                Mark::State { .. } => interrupted = interrupted.or(Some(seen)),
                Mark::Lost { .. } => lost = lost.or(Some(seen)),
                Mark::Synced { .. } | Mark::Undecodable { .. } => {}
            }
        }
        Ok(CoveredPart {
            late,
            lost,
            file: at,
            coverage: file.coverage(source)?,
            source: source.clone(),
            gaps,
            first,
        })
    }

    /// Whether it has versions that arrived after a time and may have been written before it.
    pub(super) fn is_late_at(&self, time: Timestamp) -> bool {
        let mut late = self.late.iter();
        late.any(|late| late.since <= time && time < late.until)
    }

    /// Whether it has everything at a revision.
    pub(super) fn covers(&self, at: Revision) -> bool {
        self.coverage.span(at).is_some()
    }

    /// The rows of the newest history with their revisions. An object that was missing from a listing after a gap was gone
    /// at the end of that gap.
    pub(super) fn placed(&self, rows: Vec<IndexRow>) -> Vec<PlacedRow> {
        let rows = rows.into_iter().filter(|row| row.id >= self.first);
        let placed = rows.filter_map(|row| {
            let own = row.revision?;
            let gap = self.gaps.iter().rev().find(|(next, _)| *next <= row.id);
            let revision = match (row.why(), gap) {
                (Some(Why::Vanished), Some((_, upto))) => own.max(*upto),
                _ => own,
            };
            Some(PlacedRow {
                file: self.file,
                row,
                revision,
                is_gone: row.is_gone(),
            })
        });
        placed.collect()
    }
}
