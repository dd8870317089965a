//! Fills holes: after an interruption, and for a subscriber that was too slow, what was missed is read
//! back and told in order, from the oldest on. It goes on for as long as the server answers. A gap is left
//! only where the server itself has forgotten, or does not answer any more.
//!
//! As far as the server's ring of events reaches, one watch from the old version has them all. What is
//! older is walked back, object by object, in chunks of revisions that memory holds.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::continuity::is_set_back;
use super::course::{Course, Courses, courses, difference};
use crate::object::ResourceVersion;
use crate::watch::backoff::Pace;
use crate::watch::event::{Gap, GapCause};
use crate::watch::history::{Archive, Revision, Unread};
use crate::watch::hole::{Filled, Hole};
use crate::watch::lag::Lag;
use crate::watch::mux::Options;
use crate::watch::patient::Patient;
use crate::watch::queue::Follows;
use crate::watch::source::Shared;
use crate::watch::store::name;

/// For how long a server is asked that answers nothing at all.
const STALL: Duration = Duration::from_secs(60);
/// How many revisions a chunk has at least.
const CHUNK: u64 = 16;

/// Fills the holes of one source, one after the other.
#[derive(Clone)]
pub(super) struct Filler {
    pub(super) shared: Arc<Shared>,
    pub(super) archive: Archive,
    pub(super) pace: Pace,
    /// From which the jitter of its retries follows.
    seed: u64,
    pub(super) page_items: u32,
    /// How many bytes of versions are held at once.
    pub(super) bytes: usize,
}

/// How far a hole has been filled.
pub(super) struct Filling {
    pub(super) hole: Hole,
    /// All up to here is told.
    pub(super) base: Revision,
    /// What became of each object: `then` is what subscribers have.
    pub(super) courses: Courses,
    /// From here on the server's ring is known to reach.
    pub(super) ring: Option<Revision>,
}

impl Filler {
    pub(super) fn new((shared, archive): (Arc<Shared>, Archive), options: &Options) -> Filler {
        Filler {
            shared,
            archive,
            pace: Pace(options.speed),
            seed: options.seed,
            page_items: options.page_items,
            bytes: options.queue_bytes,
        }
    }

    /// Fills what comes, for as long as the source is there.
    pub(super) async fn run(self) {
        let Some(mut holes) = self.shared.lock().to_fill.take() else {
            return;
        };
        while let Some(hole) = holes.recv().await {
            let patient = Patient::new(self.archive.transport.clone(), STALL)
                .paced(self.seed, self.pace)
                .while_live(self.shared.state());
            let filler = Filler {
                archive: Archive {
                    transport: Arc::new(patient),
                    ..self.archive.clone()
                },
                ..self.clone()
            };
            let mut filling = Filling {
                base: hole.after,
                courses: courses(&hole.difference),
                ring: Some(hole.after),
                hole,
            };
            let restored = self.shared.restored.notified();
            let left = tokio::select! {
                left = filler.fill(&mut filling) => left,
                // What is asked for is of a history that is no more.
                () = restored => Err(Unread::Spent),
            };
            filler.finish(filling, left.err());
        }
    }

    /// Fills a hole up to its end; the error is why it could not.
    async fn fill(&self, filling: &mut Filling) -> Result<(), Unread> {
        while filling.base < filling.hole.upto {
            self.check(filling).await?;
            if self.replay(filling).await {
                continue;
            }
            match self.walk_on(filling).await {
                Err(Unread::Forgotten) => self.skip(filling).await?,
                other => other?,
            }
        }
        Ok(())
    }

    /// Fails where it is of no use to go on. The server may have been restored before its watch has ended:
    /// what it answers is then of another history.
    pub(super) async fn check(&self, filling: &Filling) -> Result<(), Unread> {
        if self.shared.is_void(&filling.hole) {
            return Err(Unread::Spent);
        }
        match is_set_back(&self.archive, filling.hole.upto).await {
            Ok(false) => Ok(()),
            Ok(true) => Err(Unread::Spent),
            Err(error) => Err(Unread::Failed(error)),
        }
    }

    /// Reads back the next chunk, as large as memory holds.
    async fn walk_on(&self, filling: &mut Filling) -> Result<(), Unread> {
        let mut revisions = self.chunk_size(&filling.courses);
        loop {
            let end = filling.base.forth(revisions).min(filling.hole.upto);
            let end = filling
                .ring
                .filter(|ring| *ring > filling.base)
                .map_or(end, |ring| end.min(ring));
            match self.chunk(filling, end).await {
                Err(Unread::Spent) if revisions > 1 => {
                    revisions = (end.since(filling.base) / 2).max(1);
                }
                Err(other) => return Err(other),
                Ok((courses, filled)) => {
                    self.check(filling).await?;
                    self.shared.fill(&mut filling.hole, filled, Follows::More);
                    for (key, course) in courses {
                        let known = filling.courses.entry(key);
                        let known = known.or_insert_with(|| Course::new(course.object));
                        known.then = course.now;
                    }
                    filling.base = end;
                    self.wait(filling).await;
                    return Ok(());
                }
            }
        }
    }

    /// How many revisions are read back at once: each may be a version of one of these objects.
    fn chunk_size(&self, courses: &Courses) -> u64 {
        let bodies = courses.values().filter_map(|course| course.now.as_ref());
        let (count, bytes) = bodies.fold((0, 0), |(count, bytes), now| {
            (count + 1, bytes + now.body.weight())
        });
        let one = (bytes / usize::max(count, 1)).max(512);
        CHUNK.max((self.bytes / 2 / one) as u64)
    }

    /// Waits until there is room for more.
    pub(super) async fn wait(&self, filling: &Filling) {
        let rest = || {
            let mut lag = Lag::after(filling.base.into());
            for course in filling.courses.values().filter(|course| !course.is_over()) {
                lag.resume(course.then.as_ref(), course.now.as_ref());
            }
            lag
        };
        self.shared.drained(&filling.hole, rest).await;
    }

    /// Goes on at the oldest revision that can be read: before that there is a gap, and then the difference
    /// that it made.
    async fn skip(&self, filling: &mut Filling) -> Result<(), Unread> {
        let (base, upto) = (filling.base, filling.hole.upto);
        let oldest = self.archive.oldest(base.next(), upto).await?;
        if oldest <= base {
            // It forgets faster than it is read.
            return Err(Unread::Forgotten);
        }
        let gap = Gap {
            after: base.into(),
            upto: oldest.into(),
            cause: forgotten(filling.hole.gap.cause, oldest.since(base)),
        };
        let (mut vanished, mut there) = (Vec::new(), Vec::new());
        for (key, course) in self.at(filling, oldest).await? {
            let had = course.then.clone();
            let (gone, change) = difference(had, course.now.clone());
            vanished.extend(gone);
            there.extend(change);
            let known = filling.courses.entry(key);
            let known = known.or_insert_with(|| Course::new(course.object));
            known.then = course.now;
        }
        vanished.append(&mut there);
        let filled = Filled {
            gaps: vec![gap],
            difference: vanished,
            told: Vec::new(),
        };
        self.shared.fill(&mut filling.hole, filled, Follows::More);
        filling.base = oldest;
        Ok(())
    }

    /// What is there at a revision of the hole, beside what subscribers have.
    pub(super) async fn at(&self, filling: &Filling, at: Revision) -> Result<Courses, Unread> {
        let part = |course: &Course| Course {
            now: None,
            ..course.clone()
        };
        let courses = filling.courses.iter();
        let mut courses: Courses = courses
            .map(|(key, course)| (key.clone(), part(course)))
            .collect();
        if at >= filling.hole.upto {
            for (key, course) in &mut courses {
                course.now = filling.courses.get(key).and_then(|known| known.now.clone());
            }
            return Ok(courses);
        }
        let mut listed = BTreeMap::new();
        for version in self.archive.listing(at, self.page_items).await? {
            let own = Revision::parse(&version.version);
            let is_newer = own.is_some_and(|own| own > filling.base);
            let key = name(&version.object);
            if is_newer || courses.contains_key(&key) {
                let course = courses.entry(key.clone());
                course.or_insert_with(|| Course::new(version.object.clone()));
                listed.insert(key, version);
            }
        }
        for (key, course) in &mut courses {
            course.now = listed.remove(key);
        }
        Ok(courses)
    }

    /// Ends with a hole: what could not be read back is a gap, and then the difference.
    fn finish(&self, mut filling: Filling, why: Option<Unread>) {
        let mut filled = Filled::default();
        if let Some(why) = why {
            let left = filling.hole.upto.since(filling.base);
            let own = within(filling.hole.gap.cause, left);
            filled.gaps.push(Gap {
                after: match filling.base {
                    base if base == filling.hole.after => filling.hole.gap.after.clone(),
                    base => ResourceVersion::from(base),
                },
                upto: filling.hole.gap.upto.clone(),
                cause: match why {
                    Unread::Forgotten => forgotten(own, left),
                    Unread::Failed(_) => GapCause::Unanswered,
                    Unread::NotOffered(_) | Unread::Spent => own,
                },
            });
            let mut there = Vec::new();
            for course in filling.courses.into_values() {
                let (gone, change) = difference(course.then, course.now);
                filled.difference.extend(gone);
                there.extend(change);
            }
            filled.difference.append(&mut there);
        }
        self.shared
            .fill(&mut filling.hole, filled, Follows::Nothing);
    }
}

/// The cause of a gap of so many revisions: no more can have been dropped in it.
fn within(own: GapCause, revisions: u64) -> GapCause {
    match own {
        GapCause::SlowSubscriber { dropped } => GapCause::SlowSubscriber {
            dropped: dropped.min(revisions),
        },
        other => other,
    }
}

/// The same where the server has forgotten what was missed. A line that could not be read, and a subscriber
/// that did not read, are causes of their own.
fn forgotten(own: GapCause, revisions: u64) -> GapCause {
    match own {
        GapCause::Refused | GapCause::Unanswered | GapCause::Unseen => GapCause::Expired,
        GapCause::Expired
        | GapCause::Undecodable
        | GapCause::Polled
        | GapCause::Restored
        | GapCause::SlowSubscriber { .. } => within(own, revisions),
    }
}
