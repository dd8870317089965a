//! The events that wait for one subscriber. The queue is bounded in bytes and reports what did not fit.
//!
//! A full queue makes the driver wait once, for the subscriber's patience. After that the queue keeps no more
//! events. It remembers one version of each object with a dropped event. Once the subscriber has read the kept
//! events, the driver reads the missed versions back from the server, in parts, as there is room. The versions
//! that cannot be read back become one `Gap`, then the difference.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::missed::{Missed, MissedChanges};
use super::store::{ObjectStore, StoreChange};
use crate::object::ResourceVersion;
use crate::source::{Event, SourceState, Version, Why};

/// The bytes of an event without the body that only it keeps.
const ENTRY_BYTES: usize = 200;

/// The room that an empty queue keeps. A listing needs more, and once.
const KEPT_ROOM: usize = 64;

/// Whether more events of a backfill follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follows {
    More,
    Nothing,
}

/// An entry of a queue.
#[derive(Debug)]
enum Queued {
    /// An event, and its weight in bytes.
    Event(Event, usize),
    /// The place of a backfill, and the difference between its ends. Events after it wait until the backfill
    /// ends.
    Backfill(u64, Arc<[StoreChange]>),
}

/// One subscriber's queue.
#[derive(Debug)]
pub(super) struct Queue {
    entries: VecDeque<Queued>,
    /// How many of the entries are backfills.
    backfills: usize,
    pub(super) bytes: usize,
    limit: usize,
    pub(super) options: SubscribeOptions,
    /// Since when the queue has been full without becoming half empty. Otherwise a reader that always makes just
    /// enough room would slow everyone down.
    full_since: Option<Instant>,
    pub(super) missed: Option<Missed>,
    /// Wakes the subscriber.
    signal: Arc<Notify>,
}

impl Queue {
    pub(super) fn new(limit: usize, options: SubscribeOptions, signal: Arc<Notify>) -> Queue {
        Queue {
            entries: VecDeque::new(),
            backfills: 0,
            bytes: 0,
            limit,
            options,
            full_since: None,
            missed: None,
            signal,
        }
    }

    /// Takes in an event. `before` is the source's version before that event.
    pub(super) fn push(&mut self, event: &Event, before: Option<&ResourceVersion>) {
        match (&mut self.missed, event) {
            (Some(missed), _) => missed.miss(event, before),
            (None, Event::State(state)) if self.backfills > 0 && *state != SourceState::Live => {
                self.overtake(event);
            }
            (None, _) => self.keep(event),
        }
        self.signal.notify_one();
    }

    /// Reserves a place for a backfill. Returns `false` if the subscriber does not want it, or already misses
    /// events.
    pub(super) fn reserve(&mut self, backfill: u64, difference: &Arc<[StoreChange]>) -> bool {
        let waits = self.missed.is_none() && self.options.catch_up == CatchUp::Every;
        if waits {
            self.backfills += 1;
            self.entries
                .push_back(Queued::Backfill(backfill, difference.clone()));
        }
        waits
    }

    /// Puts the events that were read back in their place. The place stays if more follows.
    pub(super) fn fill(&mut self, backfill: u64, events: &[Event], follows: Follows) {
        let Some(at) = self.place(backfill) else {
            return;
        };
        let mut behind = self.entries.split_off(at);
        if follows == Follows::Nothing {
            behind.pop_front();
            self.backfills -= 1;
        }
        for event in events {
            self.keep(event);
        }
        self.entries.extend(behind);
        self.signal.notify_one();
    }

    /// Whether events wait for a backfill.
    pub(super) fn is_filling(&self) -> bool {
        self.backfills > 0
    }

    pub(super) fn place(&self, backfill: u64) -> Option<usize> {
        let is_it = |entry: &Queued| matches!(entry, Queued::Backfill(own, _) if *own == backfill);
        self.entries.iter().position(is_it)
    }

    /// Whether a backfill must pause until the subscriber has read the events before it.
    pub(super) fn is_filled(&self, backfill: u64) -> bool {
        self.bytes > self.limit / 2 && self.place(backfill) > Some(0)
    }

    /// Whether there is room for more events of a backfill.
    pub(super) fn has_room(&self) -> bool {
        let is_backfill = matches!(self.entries.front(), Some(Queued::Backfill(..)));
        is_backfill || self.bytes <= self.limit / 2
    }

    /// How long the driver waits for the subscriber.
    pub(super) fn patience(&self, readers: Readers) -> Duration {
        self.options.patience.limit(readers)
    }

    /// Drops the place of a backfill and the events behind it. The subscriber does not read, so it misses them.
    pub(super) fn fall_behind(&mut self, backfill: u64, mut missed: Missed) {
        let Some(at) = self.place(backfill) else {
            return;
        };
        let mut behind = self.entries.split_off(at);
        behind.pop_front();
        self.backfills -= 1;
        for entry in behind {
            match entry {
                Queued::Event(event, weight) => {
                    self.bytes -= weight;
                    missed.miss(&event, None);
                }
                // Only the first backfill of a queue is being filled, so this one still covers its whole
                // interval.
                Queued::Backfill(_, difference) => {
                    self.backfills -= 1;
                    for change in &*difference {
                        missed.miss(&change.clone().event(Timestamp::UNIX_EPOCH), None);
                    }
                }
            }
        }
        if let Some(later) = self.missed.take() {
            missed.join(later);
        }
        self.missed = Some(missed);
    }

    pub(super) fn keep(&mut self, event: &Event) {
        let weight = weight(event);
        self.bytes += weight;
        self.entries.push_back(Queued::Event(event.clone(), weight));
    }

    /// Puts the state of a lost connection before the first backfill, and drops the states behind it. So the
    /// subscriber learns at once that the source is not live.
    fn overtake(&mut self, event: &Event) {
        let is_backfill = |entry: &Queued| matches!(entry, Queued::Backfill(..));
        let backfill = self.entries.iter().position(is_backfill);
        let behind = self
            .entries
            .split_off(backfill.unwrap_or(self.entries.len()));
        self.keep(event);
        for entry in behind {
            match entry {
                Queued::Event(Event::State(_), weight) => self.bytes -= weight,
                entry => self.entries.push_back(entry),
            }
        }
    }

    /// The next event that was kept.
    pub(super) fn pop(&mut self) -> Option<Event> {
        let (event, weight) = match self.entries.pop_front()? {
            Queued::Event(event, weight) => (event, weight),
            backfill @ Queued::Backfill(..) => {
                self.entries.push_front(backfill);
                return None;
            }
        };
        self.bytes -= weight;
        if self.entries.is_empty() {
            self.entries.shrink_to(KEPT_ROOM);
        }
        if self.bytes <= self.limit / 2 {
            self.full_since = None;
        }
        Some(event)
    }

    /// Whether no event waits, and none was missed.
    pub(super) fn is_idle(&self) -> bool {
        self.entries.is_empty() && self.missed.is_none()
    }

    /// Whether the driver must wait for the subscriber.
    pub(super) fn is_full(&self) -> bool {
        self.missed.is_none() && self.bytes > self.limit
    }

    /// Whether the subscriber has read every event before the missed ones.
    pub(super) fn is_behind(&self) -> bool {
        self.missed.is_some() && self.entries.is_empty()
    }

    /// The time until which the driver waits for room. `None` if there is room, or if it has waited long enough;
    /// the subscriber then misses events.
    pub(super) fn wait_until(&mut self, now: Instant, readers: Readers) -> Option<Instant> {
        if !self.is_full() {
            return None;
        }
        let since = *self.full_since.get_or_insert(now);
        let until = since + self.options.patience.limit(readers);
        // During a backfill the subscriber cannot make room by reading.
        if until > now && self.backfills == 0 {
            return Some(until);
        }
        self.missed = Some(Missed::default());
        None
    }

    /// What the subscriber missed, once it has read all kept events. From here on the queue keeps events again.
    pub(super) fn catch_up(
        &mut self,
        store: &ObjectStore,
        upto: Option<&ResourceVersion>,
        now: Timestamp,
    ) -> Option<MissedChanges> {
        let missed = self.missed.take_if(|_| self.entries.is_empty())?;
        self.full_since = None;
        Some(missed.changes(store, upto, now))
    }
}

impl StoreChange {
    pub(super) fn event(self, seen: Timestamp) -> Event {
        Event::Object {
            why: self.why,
            past: false,
            seen,
            now: self.now,
            prev: self.prev,
        }
    }
}

/// The bytes that an event keeps in memory. The store keeps the newest version of each object anyway. An older
/// version is kept by the event that replaced it, and counts there. The store keeps a version from a watch
/// without its tape, or packed, so only the event holds the version as it came.
fn weight(event: &Event) -> usize {
    let body = |version: &Arc<Version>| version.body.weight();
    match event {
        Event::Object { why, now, prev, .. } => {
            let is_packed = prev.as_ref().is_some_and(|prev| prev.body.is_packed());
            let now = match why {
                Why::Deleted | Why::LeftSelector => body(now),
                Why::Added | Why::Modified if is_packed || now.body.read().is_some() => body(now),
                Why::Vanished | Why::Listed | Why::Added | Why::Modified | Why::Skipped => 0,
            };
            ENTRY_BYTES + now + prev.as_ref().map_or(0, body)
        }
        Event::Synced { .. } | Event::State(_) | Event::Gap(_) | Event::Undecodable { .. } => {
            ENTRY_BYTES
        }
    }
}

/// How long a source waits for a subscriber whose queue is full, before it continues without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// 250 ms, for a view that draws and can catch up.
    Screen,
    /// 30 s, for a pipe or a file, whose reader would lose lines for good. It is 250 ms while others read the
    /// same source, because no subscriber may delay another.
    Pipe,
}

impl Patience {
    /// The patience as a time.
    pub(super) fn limit(self, readers: Readers) -> Duration {
        match (self, readers) {
            // As good as forever: 136 years.
            (_, Readers::Unhurried) => Duration::from_secs(u64::from(u32::MAX)),
            (Patience::Pipe, Readers::Alone) => Duration::from_secs(30),
            (Patience::Pipe, Readers::Others) | (Patience::Screen, _) => Duration::from_millis(250),
        }
    }
}

/// What a subscriber requires of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubscribeOptions {
    /// How long the source waits for the subscriber.
    pub patience: Patience,
    /// What the subscriber gets after an interruption.
    pub catch_up: CatchUp,
}

impl From<Patience> for SubscribeOptions {
    fn from(patience: Patience) -> SubscribeOptions {
        let catch_up = CatchUp::Every;
        SubscribeOptions { patience, catch_up }
    }
}

/// What a subscriber gets after an interruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CatchUp {
    /// Every version that it missed, once they have been read back. For views that show a history.
    Every,
    /// A gap and the newest versions, at once. For views that show the current state.
    Newest,
}

/// Whether others read the source too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readers {
    Alone,
    Others,
    /// Waiting delays nobody: the upstream keeps what has not been read.
    Unhurried,
}
