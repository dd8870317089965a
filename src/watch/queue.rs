//! What waits for one lossless subscriber: bounded by bytes, and honest about what did not fit.
//!
//! A queue that is too full makes the driver wait, once, for as long as the subscriber's patience.
//! After that its events are no longer kept. What it will have missed is remembered as one version
//! per object, and told when it has read all that was kept: one `Gap`, then the difference.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::event::{Event, Gap, GapCause, Version, Why};
use super::store::{Change, Store, identity};
use crate::object::{ResourceVersion, Uid};

/// What an entry costs besides the body that only it keeps.
const ENTRY_BYTES: usize = 200;

/// How long a source may wait for a subscriber whose queue is full, before it goes on without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// 250 ms: a view that draws, and can catch up.
    Screen,
    /// 30 s: a pipe or a file, whose reader would lose lines for good. While others read the same
    /// source it is that of a screen, as nobody may stop another.
    Pipe,
}

impl Patience {
    /// As a time; `alone` is whether nobody else reads the source.
    pub(super) fn limit(self, company: Company) -> Duration {
        match (self, company) {
            // A lifetime.
            (_, Company::Unhurried) => Duration::from_secs(u64::from(u32::MAX)),
            (Patience::Pipe, Company::Alone) => Duration::from_secs(30),
            (Patience::Pipe, Company::Others) | (Patience::Screen, _) => Duration::from_millis(250),
        }
    }
}

/// Whether others read the source as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Company {
    Alone,
    Others,
    /// It does not matter: what is upstream stays there.
    Unhurried,
}

/// One subscriber's queue.
#[derive(Debug)]
pub(super) struct Queue {
    events: VecDeque<(Event, usize)>,
    bytes: usize,
    limit: usize,
    patience: Patience,
    /// Since when it has been full, without having been half empty in between: a reader that always
    /// makes just enough room would else set the pace of all.
    full_since: Option<Instant>,
    lag: Option<Lag>,
    /// Wakes the reader.
    pub(super) signal: Arc<Notify>,
}

/// What a subscriber misses.
#[derive(Debug, Default)]
struct Lag {
    /// The version up to which the subscriber has all.
    after: Option<ResourceVersion>,
    /// How many object events were not kept.
    dropped: u64,
    /// Of each object with a missed event: the version that the subscriber has.
    missed: BTreeMap<Uid, Option<Arc<Version>>>,
    /// The last full listing and the last state that were not told.
    epoch: Option<u32>,
    state: Option<Event>,
}

impl Queue {
    pub(super) fn new(limit: usize, patience: Patience, signal: Arc<Notify>) -> Queue {
        Queue {
            events: VecDeque::new(),
            bytes: 0,
            limit,
            patience,
            full_since: None,
            lag: None,
            signal,
        }
    }

    /// Takes in an event. `before` is the source's version before it.
    pub(super) fn push(&mut self, event: &Event, before: Option<&ResourceVersion>) {
        if let Some(lag) = &mut self.lag {
            lag.miss(event, before);
        } else {
            let weight = weight(event);
            self.bytes += weight;
            self.events.push_back((event.clone(), weight));
        }
        self.signal.notify_one();
    }

    /// The next event that was kept.
    pub(super) fn pop(&mut self) -> Option<Event> {
        let (event, weight) = self.events.pop_front()?;
        self.bytes -= weight;
        if self.bytes <= self.limit / 2 {
            self.full_since = None;
        }
        Some(event)
    }

    /// Whether the driver would have to wait for it.
    pub(super) fn is_full(&self) -> bool {
        self.lag.is_none() && self.bytes > self.limit
    }

    /// Whether what it missed comes next.
    pub(super) fn is_behind(&self) -> bool {
        self.lag.is_some() && self.events.is_empty()
    }

    /// Until when the driver should wait for room; `None` if there is room, or no more waiting: from
    /// then on events are missed.
    pub(super) fn wait_until(&mut self, now: Instant, company: Company) -> Option<Instant> {
        if !self.is_full() {
            return None;
        }
        let since = *self.full_since.get_or_insert(now);
        let until = since + self.patience.limit(company);
        if until > now {
            return Some(until);
        }
        self.lag = Some(Lag::default());
        None
    }

    /// What the subscriber missed, now that it has read all that was kept; from here on events are
    /// kept again.
    pub(super) fn catch_up(
        &mut self,
        store: &Store,
        upto: Option<&ResourceVersion>,
        stamp: (u64, Timestamp),
    ) -> Option<VecDeque<Event>> {
        let lag = self.lag.take()?;
        self.full_since = None;
        Some(lag.tell(store, upto, stamp))
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.lag.as_ref().map_or(0, |lag| lag.missed.len())
    }
}

impl Lag {
    fn miss(&mut self, event: &Event, before: Option<&ResourceVersion>) {
        match event {
            Event::Object { why, now, prev, .. } => {
                self.dropped += 1;
                self.object(*why, now, prev.as_ref());
            }
            Event::Synced { epoch, .. } => {
                self.epoch = Some(*epoch);
                return;
            }
            Event::State(_) => {
                self.state = Some(event.clone());
                return;
            }
            Event::Gap(_) | Event::Undecodable { .. } => {}
        }
        let before = match event {
            Event::Gap(gap) => Some(&gap.after),
            _ => before,
        };
        self.after
            .get_or_insert_with(|| before.cloned().unwrap_or_else(|| ResourceVersion::new("")));
    }

    fn object(&mut self, why: Why, now: &Version, prev: Option<&Arc<Version>>) {
        let uid = identity(&now.object);
        let has = self
            .missed
            .entry(uid.clone())
            .or_insert_with(|| prev.cloned());
        let gone = match why {
            Why::Deleted | Why::LeftSelector | Why::Vanished => true,
            Why::Listed | Why::Added | Why::Modified | Why::Skipped => false,
        };
        if gone && has.is_none() {
            // It came and went: there is nothing to tell, and nothing to keep.
            self.missed.remove(&uid);
        }
    }

    fn tell(
        self,
        store: &Store,
        upto: Option<&ResourceVersion>,
        (seq, clock): (u64, Timestamp),
    ) -> VecDeque<Event> {
        let mut events = VecDeque::new();
        if let Some(after) = self.after {
            let upto = upto.cloned().unwrap_or_else(|| after.clone());
            let dropped = self.dropped;
            let cause = GapCause::SlowSubscriber { dropped };
            events.push_back(Event::Gap(Gap { after, upto, cause }));
        }
        let (gone, there): (Vec<_>, Vec<_>) = self
            .missed
            .into_iter()
            .map(|(uid, has)| (has, store.get(&uid)))
            .partition(|(_, now)| now.is_none());
        for has in gone.into_iter().filter_map(|(has, _)| has) {
            let change = Change {
                why: Why::Vanished,
                now: has.clone(),
                prev: Some(has),
            };
            events.push_back(change.event(seq, clock));
        }
        for (prev, entry) in there {
            let Some(entry) = entry else { continue };
            if prev
                .as_ref()
                .is_some_and(|prev| Arc::ptr_eq(prev, &entry.version))
            {
                continue;
            }
            let why = if prev.is_some() {
                Why::Skipped
            } else {
                Why::Listed
            };
            let now = entry.version.clone();
            events.push_back(Change { why, now, prev }.event(seq, entry.seen));
        }
        let count = store.len();
        events.extend(self.epoch.map(|epoch| Event::Synced { epoch, count }));
        events.extend(self.state);
        events
    }
}

impl Change {
    pub(super) fn event(self, seq: u64, seen: Timestamp) -> Event {
        Event::Object {
            seq,
            why: self.why,
            past: false,
            seen,
            now: self.now,
            prev: self.prev,
        }
    }
}

/// What an event keeps in memory. The store keeps the newest version of each object anyway; an older
/// one is kept by the event that replaced it, and counted there.
fn weight(event: &Event) -> usize {
    let body = |version: &Arc<Version>| version.body.len();
    match event {
        Event::Object { why, now, prev, .. } => {
            let now = match why {
                Why::Deleted | Why::LeftSelector => body(now),
                Why::Vanished | Why::Listed | Why::Added | Why::Modified | Why::Skipped => 0,
            };
            ENTRY_BYTES + now + prev.as_ref().map_or(0, body)
        }
        Event::Synced { .. } | Event::State(_) | Event::Gap(_) | Event::Undecodable { .. } => {
            ENTRY_BYTES
        }
    }
}
