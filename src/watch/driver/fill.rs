//! Fills holes: after an interruption each object that changed is walked back to the version that
//! subscribers have, so that they get what they missed, in order. A gap is left only where the server
//! itself has forgotten.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::stream::{self, StreamExt, TryStreamExt};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{sleep, timeout};

use super::course::{Course, Courses, courses, difference, unknown};
use crate::watch::backoff::Pace;
use crate::watch::event::{Gap, GapCause};
use crate::watch::history::{Archive, End, Limits, Past, Revision, Told, Unread, Walk, in_order};
use crate::watch::hole::{Filled, Hole};
use crate::watch::source::Shared;
use crate::watch::store::{Change, Name, name};

/// How long it may take. Newer events wait so long at most.
const LIMIT: Duration = Duration::from_secs(60);
/// How long a server that does not answer is left alone.
const PAUSE: Duration = Duration::from_millis(500);
/// How many objects are walked at once.
const AT_ONCE: usize = 4;
/// How many revisions are looked at for objects that came and went inside the hole: of a single object,
/// and of a listing.
const LOOKS: (usize, usize) = (4096, 256);
/// How many objects may be listed in all to that end.
const LISTED: usize = 100_000;

/// Fills the holes of one source, one after the other.
pub(super) struct Filler {
    pub(super) shared: Arc<Shared>,
    pub(super) archive: Archive,
    pub(super) pace: Pace,
    pub(super) page_items: u32,
    /// How many bytes of versions are read back at most.
    pub(super) bytes: usize,
}

impl Filler {
    /// Fills what comes, until none can come any more.
    pub(super) async fn run(self, mut holes: UnboundedReceiver<Hole>) {
        let mut offered = true;
        while let Some(hole) = holes.recv().await {
            let filled = if offered {
                let filling = timeout(self.pace.of(LIMIT), self.fill(&hole));
                filling.await.unwrap_or(Ok(None))
            } else {
                Ok(None)
            };
            offered = filled.is_ok();
            self.shared.fill(hole, filled.ok().flatten());
        }
    }

    /// The error is that there is nothing to be read back here, ever.
    async fn fill(&self, hole: &Hole) -> Result<Option<Filled>, ()> {
        let mut base = hole.after;
        loop {
            let unread = match self.attempt(hole, base).await {
                Ok(filled) => return Ok(Some(filled)),
                Err(unread) => unread,
            };
            let oldest = match unread {
                Unread::Forgotten => self.archive.oldest(base.next(), hole.upto).await,
                other => Err(other),
            };
            match oldest {
                Ok(oldest) if oldest > base => base = oldest,
                Err(Unread::NotOffered(_)) => return Err(()),
                // It forgets faster than it is read, or it is too much.
                Ok(_) | Err(Unread::Forgotten | Unread::Spent) => return Ok(None),
                Err(Unread::Failed(_)) => sleep(self.pace.of(PAUSE)).await,
            }
        }
    }

    /// Reads back everything after `base`, which is the hole's beginning or the oldest revision that
    /// can be read.
    async fn attempt(&self, hole: &Hole, base: Revision) -> Result<Filled, Unread> {
        let mut courses = courses(&hole.difference);
        let mut filled = Filled::default();
        if base > hole.after {
            filled.gaps.push(Gap {
                upto: base.into(),
                ..hole.gap.clone()
            });
            filled.difference = self.restart(&mut courses, (hole.after, base)).await?;
        }
        let span = (base, hole.upto);
        self.walk(&mut courses, span).await?;
        if self.look(&mut courses, span).await? == Looked::NotAll {
            filled.gaps.push(Gap {
                after: base.into(),
                upto: hole.gap.upto.clone(),
                cause: GapCause::Unseen,
            });
        }
        let told = courses.into_values().flat_map(|course| course.told);
        filled.told = told.collect();
        filled.told.sort_by_key(|told| told.at);
        Ok(filled)
    }

    /// Begins at a later revision: what was there then takes the place of what subscribers have.
    /// Returns the difference.
    async fn restart(
        &self,
        courses: &mut Courses,
        (after, base): (Revision, Revision),
    ) -> Result<Vec<Change>, Unread> {
        let mut listed = BTreeMap::new();
        for version in self.archive.listing(base, self.page_items).await? {
            let is_newer = Revision::parse(&version.version).is_some_and(|own| own > after);
            let key = name(&version.object);
            if is_newer || courses.contains_key(&key) {
                courses
                    .entry(key.clone())
                    .or_insert_with(|| Course::unknown(&version));
                listed.insert(key, version);
            }
        }
        let (mut vanished, mut there) = (Vec::new(), Vec::new());
        for (key, course) in courses {
            let then = listed.remove(key);
            let had = std::mem::replace(&mut course.then, then.clone());
            let (gone, change) = difference(had, then);
            vanished.extend(gone);
            there.extend(change);
        }
        vanished.append(&mut there);
        Ok(vanished)
    }

    /// Walks each object from the end of the span to its beginning.
    async fn walk(&self, courses: &mut Courses, span: (Revision, Revision)) -> Result<(), Unread> {
        let read = AtomicUsize::new(0);
        let walks = courses.values_mut().map(|course| {
            let read = &read;
            async move {
                course.told = self.told(course, span, (&BTreeSet::new(), read)).await?;
                Ok(())
            }
        });
        let walks: Vec<_> = walks.collect();
        stream::iter(walks)
            .buffer_unordered(AT_ONCE)
            .try_collect()
            .await
    }

    /// What happened to one object after `base`, the oldest first.
    async fn told(
        &self,
        course: &Course,
        (base, upto): (Revision, Revision),
        (present, read): (&BTreeSet<Revision>, &AtomicUsize),
    ) -> Result<Vec<Told>, Unread> {
        let limits = Limits {
            floor: base,
            ..Limits::default()
        };
        let newest = course.now.clone();
        let start = (upto, newest.clone());
        let walk = Walk::new(&self.archive, &course.object, start, limits);
        let mut walk = walk.down_to(course.then.clone(), present.clone());
        let mut found = Vec::new();
        while let Some(past) = walk.next().await {
            if let Past::Version(version) = &past
                && read.fetch_add(version.body.weight(), Ordering::Relaxed) > self.bytes
            {
                return Err(Unread::Spent);
            }
            found.push(past);
        }
        match walk.end() {
            Some(End::Limit) | None => {}
            Some(End::Forgotten(_)) => return Err(Unread::Forgotten),
            Some(End::NotOffered(cause)) => return Err(Unread::NotOffered(cause.clone())),
            Some(End::Failed(error)) => return Err(Unread::Failed(error.clone())),
        }
        let mut told = in_order(newest, found);
        told.retain(|told| told.at.is_some_and(|at| at > base));
        self.archive.tell_why(&mut told).await?;
        Ok(told)
    }

    /// Looks for objects that came and went: each of their writes is a revision of which nothing is
    /// known yet, and between two such they are in a listing.
    async fn look(
        &self,
        courses: &mut Courses,
        (base, upto): (Revision, Revision),
    ) -> Result<Looked, Unread> {
        // No more than is needed to see that it is too much.
        let mut open = unknown(courses, (base, upto), LOOKS.0 + 2);
        if self.is_single() {
            open.retain(|at| !courses.values().any(|course| course.is_there(*at)));
        }
        // Its end is a write, too.
        open.pop();
        let most = if self.is_single() { LOOKS.0 } else { LOOKS.1 };
        if open.len() > most || open.len() * self.shared.lock().store.len() > LISTED {
            return Ok(Looked::NotAll);
        }
        let archive = self.archive.metadata();
        let archive = &archive;
        let looks = stream::iter(open).map(|at| async move {
            let there = archive.listing(at, self.page_items).await?;
            Ok::<_, Unread>((at, there))
        });
        let mut looks = looks.buffered(AT_ONCE);
        let mut met: BTreeMap<Name, BTreeSet<Revision>> = BTreeMap::new();
        while let Some(look) = looks.next().await {
            let (at, there) = look?;
            for version in there {
                let key = name(&version.object);
                let course = courses.get(&key);
                let own = Revision::parse(&version.version);
                if own.is_some_and(|own| own > base)
                    && !course.is_some_and(|course| course.is_there(at))
                {
                    courses
                        .entry(key.clone())
                        .or_insert_with(|| Course::unknown(&version));
                    met.entry(key).or_default().insert(at);
                }
            }
        }
        drop(looks);
        let read = AtomicUsize::new(0);
        for (key, mut present) in met {
            if let Some(course) = courses.get_mut(&key) {
                present.extend(course.told.iter().filter_map(Told::present));
                course.told = self.told(course, (base, upto), (&present, &read)).await?;
            }
        }
        Ok(Looked::All)
    }

    /// Whether the source is of one name, which two objects cannot have at once.
    fn is_single(&self) -> bool {
        let fields = self.shared.key.fields.as_deref().unwrap_or_default();
        fields
            .split(',')
            .any(|field| field.starts_with("metadata.name="))
    }
}

/// Whether nothing can have been missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Looked {
    All,
    NotAll,
}
