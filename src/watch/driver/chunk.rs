//! Reads back the objects of one chunk of revisions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::stream::{self, StreamExt, TryStreamExt};

use super::backfiller::{Backfiller, Filling};
use super::object_history::{ObjectHistories, ObjectHistory, unknown};
use crate::object::NamespacedName;
use crate::source::{Gap, GapCause};
use crate::watch::backfill::Filled;
use crate::watch::history::{
    End, ObjectAt, Past, PastError, PastEvent, Presence, Walk, WalkLimits, in_order,
};
use crate::watch::revision::{Revision, RevisionSpan};

/// How many objects are walked at the same time. A single object is walked in this many parts.
const AT_ONCE: usize = 4;
/// The least number of revisions in a part of a walk.
const PART: u64 = 64;
/// How many revisions may be listed to find objects that were created and deleted inside the chunk: for a source
/// of one object, and for any other source.
const LOOKS: (usize, usize) = (4096, 256);
/// How many objects those listings may contain in total.
const LISTED: usize = 100_000;

/// The span of a walk, and how many bytes of versions all walks have taken.
#[derive(Clone, Copy)]
struct SpanWalk<'w> {
    span: RevisionSpan,
    bytes: &'w AtomicUsize,
}

impl Backfiller {
    /// Reads back every version up to `end`.
    pub(super) async fn chunk(
        &self,
        filling: &Filling,
        end: Revision,
    ) -> Result<(ObjectHistories, Filled), PastError> {
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
        let events = histories
            .values_mut()
            .map(|history| std::mem::take(&mut history.events));
        filled.events = events.flatten().collect();
        filled.events.sort_by_key(|event| event.at);
        Ok((histories, filled))
    }

    /// The objects at a revision of the interval, beside the versions that subscribers have.
    pub(super) async fn at(
        &self,
        filling: &Filling,
        at: Revision,
    ) -> Result<ObjectHistories, PastError> {
        let part = |history: &ObjectHistory| ObjectHistory {
            now: None,
            ..history.clone()
        };
        let histories = filling.histories.iter();
        let mut histories: ObjectHistories = histories
            .map(|(key, history)| (key.clone(), part(history)))
            .collect();
        if at >= filling.backfill.upto {
            for (key, history) in &mut histories {
                history.now = filling
                    .histories
                    .get(key)
                    .and_then(|known| known.now.clone());
            }
            return Ok(histories);
        }
        let mut listed = BTreeMap::new();
        for version in self.archive.listing(at).await? {
            let own = Revision::parse(&version.version);
            let is_newer = own.is_some_and(|own| own > filling.base);
            let key = version.object.namespaced_name();
            if is_newer || histories.contains_key(&key) {
                let history = histories.entry(key.clone());
                history.or_insert_with(|| ObjectHistory::new(version.object.clone()));
                listed.insert(key, version);
            }
        }
        for (key, history) in &mut histories {
            history.now = listed.remove(key);
        }
        Ok(histories)
    }

    /// Walks each object from the end of the span back to its start.
    async fn walk(
        &self,
        histories: &mut ObjectHistories,
        span: RevisionSpan,
    ) -> Result<(), PastError> {
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
            history.events = self.in_parts(history, walked, parts).await?;
            Ok(())
        });
        let walks: Vec<_> = walks.collect();
        stream::iter(walks)
            .buffer_unordered(AT_ONCE)
            .try_collect()
            .await
    }

    /// The events of one object. A walk reads one version after another, so a long walk is split into parts that
    /// run at the same time.
    async fn in_parts(
        &self,
        history: &ObjectHistory,
        walked: SpanWalk<'_>,
        parts: usize,
    ) -> Result<Vec<PastEvent>, PastError> {
        let RevisionSpan { after: base, upto } = walked.span;
        let parts = (parts as u64).min(upto.since(base) / PART).max(1);
        let step = upto.since(base) / parts;
        let one = self.archive.alone(&history.object);
        let inner = (1..parts).map(|part| base.forth(part * step));
        let reads = inner.map(|at| {
            let one = &one;
            async move {
                let there = one.object(&history.object, at).await?;
                Ok::<_, PastError>(ObjectAt { at, there })
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
            async move { self.past_events(&part, walked, &BTreeSet::new()).await }
        });
        let walks: Vec<_> = walks.collect();
        let events: Vec<Vec<PastEvent>> =
            stream::iter(walks).buffered(AT_ONCE).try_collect().await?;
        Ok(events.into_iter().flatten().collect())
    }

    /// The events of one object in a span, oldest first. The object is known to exist at the revisions `present`.
    async fn past_events(
        &self,
        history: &ObjectHistory,
        walked: SpanWalk<'_>,
        present: &BTreeSet<Revision>,
    ) -> Result<Vec<PastEvent>, PastError> {
        let RevisionSpan { after: base, upto } = walked.span;
        let limits = WalkLimits {
            floor: base,
            ..WalkLimits::default()
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
                return Err(PastError::Spent);
            }
            found.push(past);
        }
        match walk.end() {
            Some(End::Limit) | None => {}
            Some(End::Forgotten(_)) => return Err(PastError::Forgotten),
            Some(End::NotOffered(cause)) => return Err(PastError::NotOffered(cause.clone())),
            Some(End::Failed(error)) => return Err(PastError::Failed(error.clone())),
            Some(End::Spent | End::OutOfTime(_)) => return Err(PastError::Spent),
        }
        let mut events = in_order(newest, found);
        events.retain(|event| event.at.is_some_and(|at| at > base));
        self.archive.mark_left_selector(&mut events).await?;
        Ok(events)
    }

    /// Finds objects that were created and deleted inside the span. Each of their writes has a revision without a
    /// known event, and listings between two such revisions contain them.
    async fn look(
        &self,
        histories: &mut ObjectHistories,
        span: RevisionSpan,
    ) -> Result<Looked, PastError> {
        // Two objects cannot have one name at the same time.
        let is_single = self.shared.key.select.is_of_one_name();
        let is_open = |at| !is_single || !histories.values().any(|history| history.is_there(at));
        // Two more than the limit are enough to exceed it.
        let mut open = unknown(histories, span, LOOKS.0 + 2, is_open);
        // The deletion is a write too, and no listing at its revision contains the object.
        open.pop();
        let most = if is_single { LOOKS.0 } else { LOOKS.1 };
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
                present.extend(history.events.iter().filter_map(PastEvent::present));
                history.events = self.past_events(history, walked, &present).await?;
            }
        }
        Ok(Looked::All)
    }

    /// Lists these revisions, and returns which further objects exist at which of them.
    async fn meet(
        &self,
        histories: &mut ObjectHistories,
        open: Vec<Revision>,
        base: Revision,
    ) -> Result<BTreeMap<NamespacedName, BTreeSet<Revision>>, PastError> {
        let archive = self.archive.metadata();
        let archive = &archive;
        let looks = stream::iter(open).map(|at| async move {
            let there = archive.listing(at).await?;
            Ok::<_, PastError>((at, there))
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
}

/// Whether the search was complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Looked {
    All,
    NotAll,
}
