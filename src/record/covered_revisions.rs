//! `CoveredRevisions`: which parts of the history of a source are recorded, and where the holes are.

use jiff::{SignedDuration, Timestamp};

use super::mark::Mark;
use crate::object::ResourceVersion;
use crate::source::{Gap, GapCause};
use crate::watch::{Hole, Revision};

/// A part of the history of a source without a hole: each version after `from`, up to `upto`, and all objects at `from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CoveredSpan {
    /// Its first revision.
    pub(super) from: Revision,
    /// Its last revision.
    pub(super) upto: Revision,
    /// When it begins, by the server's clock.
    pub(super) since: Timestamp,
    /// When its last revision was reached.
    pub(super) reached: Timestamp,
    /// Until when it is known that nothing else has happened.
    pub(super) until: Timestamp,
    /// Whether its recorder ran on without a break, although versions were lost to it.
    ran_on: bool,
}

/// The recorded parts of the newest history of a source, the oldest first, with a hole between each two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoveredRevisions {
    spans: Vec<CoveredSpan>,
    /// Whether it begins with a restored backup: what was recorded before belongs to another history.
    restarts: bool,
    /// Whether it continues an earlier file, so that it cannot be of another history.
    continues: bool,
}

impl CoveredRevisions {
    /// The coverage of a source in one file, by its marks and the version that it has reached. The file has other sources until
    /// `end`.
    pub(super) fn of<'m>(
        marks: impl Iterator<Item = (Timestamp, &'m Mark)>,
        reached: Option<&(ResourceVersion, Timestamp)>,
        end: Timestamp,
    ) -> CoveredRevisions {
        let mut coverage = CoveredRevisions::default();
        let mut open: Option<CoveredSpan> = None;
        let mut contact = Contact::default();
        for (seen, mark) in marks {
            match mark {
                Mark::Resumed { .. } => coverage.continues = true,
                Mark::Synced { version, .. } => {
                    if let (None, Some(at)) = (&open, Revision::parse(version)) {
                        open = Some(CoveredSpan::at(at, seen));
                        contact = Contact::until(seen);
                    }
                }
                Mark::Gap(Gap {
                    cause: GapCause::Restored,
                    ..
                }) => {
                    (coverage.restarts, open) = (true, None);
                    coverage.spans.clear();
                }
                Mark::Gap(Gap { after, upto, .. }) => {
                    // In the middle of the first listing, one version is lost, and the others are not complete yet.
                    let next = Revision::parse(upto).filter(|_| open.is_some());
                    if let Some(open) = &mut open {
                        open.ran_on = contact.is_present(seen);
                    }
                    let last = contact.last(seen);
                    coverage.close(open.take(), Revision::parse(after), [last; 2]);
                    open = next.map(|at| CoveredSpan::at(at, seen));
                }
                Mark::State { name, .. } if **name == *"live" => contact.begin(seen),
                Mark::State { .. } => contact.lose(seen),
                Mark::Undecodable { .. } | Mark::Lost { .. } => {}
            }
        }
        if let Some((version, at)) = reached {
            // A source in which nothing happens is reached rarely.
            let until = if contact.is_present(end) { end } else { *at };
            coverage.close(open, Revision::parse(version), [*at, until.max(*at)]);
        }
        coverage
    }

    /// Ends a span at a revision that was reached at the first time, and known to be the last one until the second. A span that ends
    /// before it begins has nothing.
    fn close(&mut self, open: Option<CoveredSpan>, upto: Option<Revision>, times: [Timestamp; 2]) {
        if let (Some(open), Some(upto)) = (open, upto)
            && upto >= open.from
        {
            let [reached, until] = times.map(|time| time.max(open.since));
            self.spans.push(CoveredSpan {
                upto,
                reached,
                until,
                ..open
            });
        }
    }

    /// Adds the coverage of the same source in another file. Files are added in the order of their times.
    ///
    /// Returns whether the other file begins another history, of which this one has nothing.
    pub fn join(&mut self, other: &CoveredRevisions) -> bool {
        let is_lower = match (self.spans.last(), other.spans.first()) {
            (Some(last), Some(next)) => next.since > last.until && next.from < last.upto,
            (None, _) | (_, None) => false,
        };
        if other.restarts || (is_lower && !other.continues) {
            *self = other.clone();
            return true;
        }
        let mut all = std::mem::take(&mut self.spans);
        all.extend(&other.spans);
        all.sort_by_key(|span| (span.from, span.upto));
        for span in all {
            match self.spans.last_mut() {
                Some(last) if span.from <= last.upto => {
                    if span.upto > last.upto {
                        last.ran_on = span.ran_on;
                    }
                    last.upto = last.upto.max(span.upto);
                    last.since = last.since.min(span.since);
                    last.reached = last.reached.max(span.reached);
                    last.until = last.until.max(span.until);
                }
                Some(_) | None => self.spans.push(span),
            }
        }
        false
    }

    /// The same without the proof that it is of the history of an earlier file.
    pub(super) fn of_any_history(self) -> CoveredRevisions {
        CoveredRevisions {
            continues: false,
            ..self
        }
    }

    /// The recorded parts, the oldest first.
    pub(super) fn spans(&self) -> &[CoveredSpan] {
        &self.spans
    }

    /// The last part.
    pub(super) fn newest(&self) -> Option<CoveredSpan> {
        self.spans.last().copied()
    }

    /// The part with a revision.
    pub(super) fn span(&self, at: Revision) -> Option<CoveredSpan> {
        let inside = |span: &&CoveredSpan| span.from <= at && at <= span.upto;
        self.spans.iter().find(inside).copied()
    }

    /// When it ends, if the record goes on without it until a time.
    pub fn ends_before(&self, time: Timestamp) -> Option<Timestamp> {
        let until = self.newest()?.until;
        (time.duration_since(until) > TOGETHER).then_some(until)
    }

    /// When it begins.
    pub fn since(&self) -> Option<Timestamp> {
        self.spans.first().map(|span| span.since)
    }

    /// A revision, or the last one before the hole in which it lies. `None` for one before the record.
    pub(super) fn at_or_before(&self, at: Revision) -> Option<Revision> {
        let before = self.spans.iter().rev().find(|span| span.from <= at)?;
        Some(at.min(before.upto))
    }

    /// Whether it begins with a restored backup.
    pub(super) fn restarts(&self) -> bool {
        self.restarts
    }

    /// The part between this and a later one.
    pub(super) fn hole_before(&self, next: &CoveredRevisions) -> Option<Hole> {
        let (before, after) = (self.newest()?, next.spans.first()?);
        Some(before.hole_before(after))
    }

    /// The parts between those that are recorded, the oldest first.
    pub fn holes(&self) -> impl Iterator<Item = Hole> {
        let pairs = self.spans.iter().zip(self.spans.iter().skip(1));
        pairs.map(|(before, after)| before.hole_before(after))
    }
}

/// Recorders that stop together, and the sources of one, end one after the other, within this time.
pub(super) const TOGETHER: SignedDuration = SignedDuration::from_secs(5);

/// Why there is a hole, if there was a recorder.
pub(super) const MISSED: &str = "a recorder ran, but may have missed versions";

/// Until when a source had contact with its server.
#[derive(Clone, Copy, Debug, Default)]
struct Contact {
    /// When it was lost; `None` if it was not.
    lost: Option<Timestamp>,
    /// When a watch began after that.
    begun: Option<Timestamp>,
}

/// A watch from a compacted revision begins, and then fails at once. One that lasts longer than this has sent what there was.
const LASTING: SignedDuration = SignedDuration::from_secs(5);

impl Contact {
    /// Contact that ended at a time, with a listing.
    fn until(time: Timestamp) -> Contact {
        Contact {
            lost: Some(time),
            begun: None,
        }
    }

    fn begin(&mut self, now: Timestamp) {
        self.begun = Some(now);
    }

    fn lose(&mut self, now: Timestamp) {
        *self = Contact::until(self.last(now));
    }

    /// Whether there is contact, seen from `now`.
    fn is_present(&self, now: Timestamp) -> bool {
        let lasts = |begun: Timestamp| now.duration_since(begun) > LASTING;
        self.lost.is_none() || self.begun.is_some_and(lasts)
    }

    /// The last contact, seen from `now`.
    fn last(&self, now: Timestamp) -> Timestamp {
        self.lost.filter(|_| !self.is_present(now)).unwrap_or(now)
    }
}

impl CoveredSpan {
    fn hole_before(&self, after: &CoveredSpan) -> Hole {
        // A second recorder that starts later has read a later revision than the one that runs has reached.
        let ran = self.ran_on || self.until > after.since;
        Hole {
            after: self.upto,
            upto: after.from,
            since: self.until,
            until: after.since.max(self.until),
            cause: ran.then(|| MISSED.into()),
        }
    }

    fn at(at: Revision, seen: Timestamp) -> CoveredSpan {
        CoveredSpan {
            from: at,
            upto: at,
            since: seen,
            reached: seen,
            until: seen,
            ran_on: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a time")
    }

    fn synced(version: &str) -> Mark {
        Mark::Synced {
            count: 1,
            version: ResourceVersion::new(version),
        }
    }

    fn state(name: &str) -> Mark {
        let (name, cause) = (name.into(), None);
        Mark::State { name, cause }
    }

    fn gap(after: &str, upto: &str, cause: GapCause) -> Mark {
        Mark::Gap(Gap {
            after: ResourceVersion::new(after),
            upto: ResourceVersion::new(upto),
            cause,
        })
    }

    fn coverage(marks: &[(i64, Mark)], reached: Option<(&str, i64)>) -> CoveredRevisions {
        let end = at(reached.map_or(0, |(_, second)| second));
        coverage_until(end, marks, reached)
    }

    /// The same in a file that ends later.
    fn coverage_until(
        end: Timestamp,
        marks: &[(i64, Mark)],
        reached: Option<(&str, i64)>,
    ) -> CoveredRevisions {
        let marks = marks.iter().map(|(second, mark)| (at(*second), mark));
        let reached = reached.map(|(version, second)| (ResourceVersion::new(version), at(second)));
        CoveredRevisions::of(marks, reached.as_ref(), end)
    }

    /// `4-9 0-5s`: the revisions and the times of each span.
    fn words(coverage: &CoveredRevisions) -> String {
        let spans = coverage.spans.iter().map(|span| {
            let (since, until) = (span.since.as_second(), span.until.as_second());
            format!("{}-{} {since}-{until}s", span.from, span.upto)
        });
        spans.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn a_gap_is_a_hole() {
        let (live, lost) = (|| state("live"), || state("retrying"));
        let expired = |after, upto| gap(after, upto, GapCause::Expired);
        for (marks, reached, expected) in [
            (vec![], None, ""),
            (vec![(1, synced("4"))], None, ""),
            (vec![(1, synced("4"))], Some(("9", 7)), "4-9 1-7s"),
            // A version of the first listing is lost.
            (
                vec![(1, gap("", "5", GapCause::Undecodable)), (2, synced("100"))],
                Some(("150", 7)),
                "100-150 2-7s",
            ),
            (
                vec![
                    (1, synced("4")),
                    (1, live()),
                    (50, expired("6", "8")),
                    (50, synced("8")),
                ],
                Some(("9", 70)),
                "4-6 1-50s, 8-9 50-70s",
            ),
            (
                vec![
                    (1, synced("4")),
                    (2, live()),
                    (30, lost()),
                    (40, lost()),
                    (50, expired("6", "8")),
                ],
                Some(("9", 70)),
                "4-6 1-30s, 8-9 50-70s",
            ),
            // The file ends inside the difference after a gap.
            (
                vec![(1, synced("4")), (1, live()), (50, expired("6", "8"))],
                Some(("6", 40)),
                "4-6 1-50s",
            ),
            (
                vec![
                    (1, synced("4")),
                    (5, gap("6", "3", GapCause::Restored)),
                    (5, synced("3")),
                ],
                Some(("5", 7)),
                "3-5 5-7s",
            ),
            (vec![(1, synced("opaque"))], Some(("opaque", 7)), ""),
        ] {
            assert_eq!(words(&coverage(&marks, reached)), expected);
        }
    }

    #[test]
    fn an_idle_source_is_known_until_the_file_ends() {
        let idle = [(1, synced("4")), (1, state("live"))];
        let covered = coverage_until(at(60), &idle, Some(("9", 20)));
        assert_eq!(words(&covered), "4-9 1-60s");
        assert_eq!(covered.spans[0].reached, at(20));
        let lost = [
            (1, synced("4")),
            (1, state("live")),
            (30, state("retrying")),
        ];
        let covered = coverage_until(at(60), &lost, Some(("9", 20)));
        assert_eq!(words(&covered), "4-9 1-20s");
    }

    /// Checks the causes of the holes that several files leave.
    #[track_caller]
    fn check_causes(files: &[CoveredRevisions], expected: &[Option<&str>]) {
        let mut all = CoveredRevisions::default();
        for file in files {
            all.join(file);
        }
        let causes: Vec<_> = all.holes().map(|hole| hole.cause).collect();
        let causes: Vec<_> = causes.iter().map(Option::as_deref).collect();
        assert_eq!(causes, expected);
    }

    #[test]
    fn a_hole_says_whether_a_recorder_ran() {
        let file =
            |since, from, upto, until| coverage(&[(since, synced(from))], Some((upto, until)));
        check_causes(&[file(1, "4", "9", 5), file(7, "11", "12", 9)], &[None]);
        // The first one still runs, but its server has not told it yet that it has everything up to the later revision.
        let first = file(1, "4", "9", 60);
        check_causes(&[first.clone(), file(7, "11", "12", 50)], &[Some(MISSED)]);
        check_causes(
            &[first, file(7, "8", "12", 50), file(70, "14", "15", 80)],
            &[None],
        );
        for (lost, expected) in [
            (vec![], Some(MISSED)),
            (vec![(30, state("retrying"))], None),
        ] {
            let mut marks = vec![(1, synced("4")), (1, state("live"))];
            marks.extend(lost);
            marks.push((50, gap("6", "8", GapCause::Expired)));
            check_causes(&[coverage(&marks, Some(("9", 70)))], &[expected]);
        }
    }

    #[test]
    fn a_recorder_that_resumes_knows_nothing_of_the_time_since_the_one_before_it() {
        let marks = [
            (9, state("connecting")),
            (1, synced("4")),
            (9, state("connecting")),
            (9, state("live")),
            (9, state("retrying")),
            (9, gap("4", "8", GapCause::Expired)),
            (9, state("live")),
        ];
        let covered = coverage(&marks, Some(("9", 12)));
        assert_eq!(words(&covered), "4-4 1-1s, 8-9 9-12s");
    }

    #[test]
    fn files_fill_the_holes_of_each_other() {
        let file = |from: &str, since, upto, until| {
            coverage(&[(since, synced(from))], Some((upto, until)))
        };
        for (files, expected, holes) in [
            (
                vec![file("4", 1, "9", 5), file("9", 7, "12", 9)],
                "4-12 1-9s",
                0,
            ),
            (
                vec![file("4", 1, "9", 5), file("11", 7, "12", 9)],
                "4-9 1-5s, 11-12 7-9s",
                1,
            ),
            (
                vec![file("4", 1, "9", 5), file("7", 3, "8", 4)],
                "4-9 1-5s",
                0,
            ),
            // A lower revision at a later time is of another history.
            (
                vec![file("40", 1, "90", 5), file("7", 6, "8", 9)],
                "7-8 6-9s",
                0,
            ),
        ] {
            let mut all = CoveredRevisions::default();
            for file in &files {
                all.join(file);
            }
            assert_eq!((&*words(&all), all.holes().count()), (expected, holes));
        }
        // A recorder that resumes knows that the history is the same, although the other one ends later.
        let resumed = Mark::Resumed {
            version: ResourceVersion::new("7"),
        };
        let resumed = coverage(&[(6, resumed), (6, synced("7"))], Some(("8", 9)));
        let mut all = file("4", 1, "9", 5);
        all.join(&resumed);
        assert_eq!(words(&all), "4-9 1-9s");
        let restored = coverage(
            &[(6, gap("9", "8", GapCause::Restored)), (6, synced("8"))],
            Some(("9", 9)),
        );
        let mut all = file("4", 1, "9", 5);
        all.join(&restored);
        assert_eq!(words(&all), "8-9 6-9s");
    }
}
