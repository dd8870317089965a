//! Walks back the objects of one chunk of revisions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::stream::{self, StreamExt, TryStreamExt};

use super::backfiller::{Backfiller, Filling};
use super::object_history::{ObjectHistories, ObjectHistory, unknown};
use crate::object::NamespacedName;
use crate::source::{Gap, GapCause};
use crate::watch::backfill::Filled;
use crate::watch::history::{
    End, Limits, ObjectAt, Past, PastEvent, Presence, Revision, RevisionSpan, Unread, Walk,
    in_order,
};

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
struct SpanWalk<'w> {
    span: RevisionSpan,
    bytes: &'w AtomicUsize,
}

impl Backfiller {
    /// Reads back everything up to `end`.
    pub(super) async fn chunk(
        &self,
        filling: &Filling,
        end: Revision,
    ) -> Result<(ObjectHistories, Filled), Unread> {
        let mut histories = self.at(filling, end).await?;
        let mut filled = Filled::default();
        let span = RevisionSpan {
            after: filling.base,
            upto: end,
        };
        self.walk(&mut histories, span).await?;
        if self.look(&mut histories, span).await? == Looked::NotAll {
            filled.gaps.push(Gap {
                after: span.after.into(),
                upto: span.upto.into(),
                cause: GapCause::Unseen,
            });
        }
        let told = histories
            .values_mut()
            .map(|history| std::mem::take(&mut history.told));
        filled.told = told.flatten().collect();
        filled.told.sort_by_key(|told| told.at);
        Ok((histories, filled))
    }

    /// Walks each object from the end of the span to its beginning.
    async fn walk(
        &self,
        histories: &mut ObjectHistories,
        span: RevisionSpan,
    ) -> Result<(), Unread> {
        let bytes = AtomicUsize::new(0);
        let walked = SpanWalk {
            span,
            bytes: &bytes,
        };
        let mut changed: Vec<_> = histories
            .values_mut()
            .filter(|history| !history.is_over())
            .collect();
        let parts = (AT_ONCE / changed.len().max(1)).max(1);
        let walks = changed.iter_mut().map(|history| async move {
            history.told = self.in_parts(history, walked, parts).await?;
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
        history: &ObjectHistory,
        walked: SpanWalk<'_>,
        parts: usize,
    ) -> Result<Vec<PastEvent>, Unread> {
        let RevisionSpan { after: base, upto } = walked.span;
        let parts = (parts as u64).min(upto.since(base) / PART).max(1);
        let step = upto.since(base) / parts;
        let one = self.archive.alone(&history.object);
        let inner = (1..parts).map(|part| base.forth(part * step));
        let reads = inner.map(|at| {
            let one = &one;
            async move {
                let there = one.object(&history.object, at).await?;
                Ok::<_, Unread>(ObjectAt { at, there })
            }
        });
        let reads = stream::iter(reads).buffered(AT_ONCE);
        let end = |at, there: &Presence| ObjectAt {
            at,
            there: there.clone(),
        };
        let mut ends = vec![end(base, &history.then)];
        ends.extend(reads.try_collect::<Vec<_>>().await?);
        ends.push(end(upto, &history.now));
        let walks = ends.iter().zip(ends.iter().skip(1)).map(|(then, now)| {
            let part = ObjectHistory {
                then: then.there.clone(),
                now: now.there.clone(),
                ..ObjectHistory::new(history.object.clone())
            };
            let span = RevisionSpan {
                after: then.at,
                upto: now.at,
            };
            let walked = SpanWalk { span, ..walked };
            async move { self.told(&part, walked, &BTreeSet::new()).await }
        });
        let walks: Vec<_> = walks.collect();
        let told: Vec<Vec<PastEvent>> = stream::iter(walks).buffered(AT_ONCE).try_collect().await?;
        Ok(told.into_iter().flatten().collect())
    }

    /// What happened to one object in a span, the oldest first. It was there at the revisions `present`.
    async fn told(
        &self,
        history: &ObjectHistory,
        walked: SpanWalk<'_>,
        present: &BTreeSet<Revision>,
    ) -> Result<Vec<PastEvent>, Unread> {
        let RevisionSpan { after: base, upto } = walked.span;
        let limits = Limits {
            floor: base,
            ..Limits::default()
        };
        let newest = history.now.clone();
        let start = ObjectAt {
            at: upto,
            there: newest.clone(),
        };
        let walk = Walk::new(&self.archive, &history.object, start, limits);
        let mut walk = walk.down_to(history.then.clone(), present.clone());
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
    async fn look(
        &self,
        histories: &mut ObjectHistories,
        span: RevisionSpan,
    ) -> Result<Looked, Unread> {
        // No more than is needed to see that it is too much.
        let mut open = unknown(histories, span, LOOKS.0 + 2);
        if self.is_single() {
            open.retain(|at| !histories.values().any(|history| history.is_there(*at)));
        }
        // Its end is a write, too.
        open.pop();
        let most = if self.is_single() { LOOKS.0 } else { LOOKS.1 };
        if open.len() > most || open.len() * self.shared.lock().store.len() > LISTED {
            return Ok(Looked::NotAll);
        }
        let met = self.meet(histories, open, span.after).await?;
        let bytes = AtomicUsize::new(0);
        let walked = SpanWalk {
            span,
            bytes: &bytes,
        };
        for (key, mut present) in met {
            if let Some(history) = histories.get_mut(&key) {
                present.extend(history.told.iter().filter_map(PastEvent::present));
                history.told = self.told(history, walked, &present).await?;
            }
        }
        Ok(Looked::All)
    }

    /// Finds objects that nobody knew to be there at these revisions, and at which of them they are.
    async fn meet(
        &self,
        histories: &mut ObjectHistories,
        open: Vec<Revision>,
        base: Revision,
    ) -> Result<BTreeMap<NamespacedName, BTreeSet<Revision>>, Unread> {
        let archive = self.archive.metadata();
        let archive = &archive;
        let looks = stream::iter(open).map(|at| async move {
            let there = archive.listing(at, self.page_items).await?;
            Ok::<_, Unread>((at, there))
        });
        let mut looks = looks.buffered(AT_ONCE);
        let mut met: BTreeMap<NamespacedName, BTreeSet<Revision>> = BTreeMap::new();
        while let Some(look) = looks.next().await {
            let (at, there) = look?;
            for version in there {
                let key = version.object.namespaced_name();
                let history = histories.get(&key);
                let own = Revision::parse(&version.version);
                if own.is_some_and(|own| own > base)
                    && !history.is_some_and(|history| history.is_there(at))
                {
                    histories
                        .entry(key.clone())
                        .or_insert_with(|| ObjectHistory::new(version.object.clone()));
                    met.entry(key).or_default().insert(at);
                }
            }
        }
        Ok(met)
    }

    /// Whether the source is of one name, which two objects cannot have at once.
    fn is_single(&self) -> bool {
        self.shared.key.select.is_of_one_name()
    }
}

/// Whether nothing can have been missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Looked {
    All,
    NotAll,
}
