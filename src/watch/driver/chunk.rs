//! Walks back the objects of one chunk of revisions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::stream::{self, StreamExt, TryStreamExt};

use super::course::{Course, Courses, unknown};
use super::fill::{Filler, Filling};
use crate::watch::event::{Gap, GapCause};
use crate::watch::history::{
    End, Limits, ObjectAt, Past, Presence, Revision, Span, Told, Unread, Walk, in_order,
};
use crate::watch::hole::Filled;
use crate::watch::store::{Name, name};

/// How many objects are walked at once, or parts of one that is alone.
const AT_ONCE: usize = 4;
/// How many revisions a part of a walk has at least.
const PART: u64 = 64;
/// How many revisions are looked at for objects that came and went inside the chunk: of a single object,
/// and of a listing.
const LOOKS: (usize, usize) = (4096, 256);
/// How many objects may be listed in all to that end.
const LISTED: usize = 100_000;

/// A span that is walked, and how many bytes of versions that has taken.
#[derive(Clone, Copy)]
struct Walked<'w> {
    span: Span,
    bytes: &'w AtomicUsize,
}

impl Filler {
    /// Reads back everything up to `end`.
    pub(super) async fn chunk(
        &self,
        filling: &Filling,
        end: Revision,
    ) -> Result<(Courses, Filled), Unread> {
        let mut courses = self.at(filling, end).await?;
        let mut filled = Filled::default();
        let span = Span {
            after: filling.base,
            upto: end,
        };
        self.walk(&mut courses, span).await?;
        if self.look(&mut courses, span).await? == Looked::NotAll {
            filled.gaps.push(Gap {
                after: span.after.into(),
                upto: span.upto.into(),
                cause: GapCause::Unseen,
            });
        }
        let told = courses
            .values_mut()
            .map(|course| std::mem::take(&mut course.told));
        filled.told = told.flatten().collect();
        filled.told.sort_by_key(|told| told.at);
        Ok((courses, filled))
    }

    /// Walks each object from the end of the span to its beginning.
    async fn walk(&self, courses: &mut Courses, span: Span) -> Result<(), Unread> {
        let bytes = AtomicUsize::new(0);
        let walked = Walked {
            span,
            bytes: &bytes,
        };
        let mut changed: Vec<_> = courses
            .values_mut()
            .filter(|course| !course.is_over())
            .collect();
        let parts = (AT_ONCE / changed.len().max(1)).max(1);
        let walks = changed.iter_mut().map(|course| async move {
            course.told = self.in_parts(course, walked, parts).await?;
            Ok(())
        });
        let walks: Vec<_> = walks.collect();
        stream::iter(walks)
            .buffer_unordered(AT_ONCE)
            .try_collect()
            .await
    }

    /// What happened to one object: its versions are read one after the other, so that a long walk is
    /// made in several parts at once.
    async fn in_parts(
        &self,
        course: &Course,
        walked: Walked<'_>,
        parts: usize,
    ) -> Result<Vec<Told>, Unread> {
        let Span { after: base, upto } = walked.span;
        let parts = (parts as u64).min(upto.since(base) / PART).max(1);
        let step = upto.since(base) / parts;
        let one = self.archive.alone(&course.object);
        let inner = (1..parts).map(|part| base.forth(part * step));
        let reads = inner.map(|at| {
            let one = &one;
            async move {
                let there = one.object(&course.object, at).await?;
                Ok::<_, Unread>(ObjectAt { at, there })
            }
        });
        let reads = stream::iter(reads).buffered(AT_ONCE);
        let end = |at, there: &Presence| ObjectAt {
            at,
            there: there.clone(),
        };
        let mut ends = vec![end(base, &course.then)];
        ends.extend(reads.try_collect::<Vec<_>>().await?);
        ends.push(end(upto, &course.now));
        let walks = ends.iter().zip(ends.iter().skip(1)).map(|(then, now)| {
            let part = Course {
                then: then.there.clone(),
                now: now.there.clone(),
                ..Course::new(course.object.clone())
            };
            let span = Span {
                after: then.at,
                upto: now.at,
            };
            let walked = Walked { span, ..walked };
            async move { self.told(&part, walked, &BTreeSet::new()).await }
        });
        let walks: Vec<_> = walks.collect();
        let told: Vec<Vec<Told>> = stream::iter(walks).buffered(AT_ONCE).try_collect().await?;
        Ok(told.into_iter().flatten().collect())
    }

    /// What happened to one object in a span, the oldest first. It was there at the revisions `present`.
    async fn told(
        &self,
        course: &Course,
        walked: Walked<'_>,
        present: &BTreeSet<Revision>,
    ) -> Result<Vec<Told>, Unread> {
        let Span { after: base, upto } = walked.span;
        let limits = Limits {
            floor: base,
            ..Limits::default()
        };
        let newest = course.now.clone();
        let start = ObjectAt {
            at: upto,
            there: newest.clone(),
        };
        let walk = Walk::new(&self.archive, &course.object, start, limits);
        let mut walk = walk.down_to(course.then.clone(), present.clone());
        let mut found = Vec::new();
        while let Some(past) = walk.next().await {
            if let Past::Version(version) = &past
                && walked
                    .bytes
                    .fetch_add(version.body.weight(), Ordering::Relaxed)
                    > self.bytes
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
    async fn look(&self, courses: &mut Courses, span: Span) -> Result<Looked, Unread> {
        // No more than is needed to see that it is too much.
        let mut open = unknown(courses, span, LOOKS.0 + 2);
        if self.is_single() {
            open.retain(|at| !courses.values().any(|course| course.is_there(*at)));
        }
        // Its end is a write, too.
        open.pop();
        let most = if self.is_single() { LOOKS.0 } else { LOOKS.1 };
        if open.len() > most || open.len() * self.shared.lock().store.len() > LISTED {
            return Ok(Looked::NotAll);
        }
        let met = self.meet(courses, open, span.after).await?;
        let bytes = AtomicUsize::new(0);
        let walked = Walked {
            span,
            bytes: &bytes,
        };
        for (key, mut present) in met {
            if let Some(course) = courses.get_mut(&key) {
                present.extend(course.told.iter().filter_map(Told::present));
                course.told = self.told(course, walked, &present).await?;
            }
        }
        Ok(Looked::All)
    }

    /// Finds objects that nobody knew to be there at these revisions, and at which of them they are.
    async fn meet(
        &self,
        courses: &mut Courses,
        open: Vec<Revision>,
        base: Revision,
    ) -> Result<BTreeMap<Name, BTreeSet<Revision>>, Unread> {
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
                        .or_insert_with(|| Course::new(version.object.clone()));
                    met.entry(key).or_default().insert(at);
                }
            }
        }
        Ok(met)
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
