//! What waits for one lossless subscriber: bounded by bytes, and honest about what did not fit.
//!
//! A queue that is too full makes the driver wait, once, for as long as the subscriber's patience.
//! After that its events are no longer kept. What it will have missed is remembered as one version
//! per object. When it has read all that was kept, that is read back from the server's memory in parts, as
//! there is room; what cannot be is one `Gap`, then the difference.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::event::{Event, Version, Why};
use super::lag::{Lag, Missed};
use super::patience::{Company, Patience, Recall};
use super::store::{Change, Store};
use crate::object::{ResourceVersion, SourceState};

/// What an entry costs besides the body that only it keeps.
const ENTRY_BYTES: usize = 200;

/// Whether more is being read back for a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follows {
    More,
    Nothing,
}

/// What stands in a queue.
#[derive(Debug)]
enum Entry {
    /// An event, and what it weighs.
    Event(Event, usize),
    /// The place of what is being read back for this hole, and the difference that it made. Nothing behind
    /// it is handed out before.
    Hole(u64, Arc<[Change]>),
}

/// One subscriber's queue.
#[derive(Debug)]
pub(super) struct Queue {
    entries: VecDeque<Entry>,
    /// How many of the entries are holes.
    holes: usize,
    bytes: usize,
    limit: usize,
    patience: Patience,
    recall: Recall,
    /// Since when it has been full, without having been half empty in between: a reader that always
    /// makes just enough room would else set the pace of all.
    full_since: Option<Instant>,
    lag: Option<Lag>,
    /// Wakes the subscriber.
    signal: Arc<Notify>,
}

impl Queue {
    pub(super) fn new(limit: usize, patience: Patience, signal: Arc<Notify>) -> Queue {
        Queue {
            entries: VecDeque::new(),
            holes: 0,
            bytes: 0,
            limit,
            patience,
            recall: Recall::Every,
            full_since: None,
            lag: None,
            signal,
        }
    }

    /// The same, for a subscriber that is to be told so much after an interruption.
    pub(super) fn recalling(self, recall: Recall) -> Queue {
        Queue { recall, ..self }
    }

    /// Takes in an event. `before` is the source's version before it.
    pub(super) fn push(&mut self, event: &Event, before: Option<&ResourceVersion>) {
        match (&mut self.lag, event) {
            (Some(lag), _) => lag.miss(event, before),
            (None, Event::State(state)) if self.holes > 0 && *state != SourceState::Live => {
                self.overtake(event);
            }
            (None, _) => self.keep(event),
        }
        self.signal.notify_one();
    }

    /// Keeps a place for what is being read back; `false` if it does not wait for it, or is behind
    /// anyway.
    pub(super) fn reserve(&mut self, hole: u64, difference: &Arc<[Change]>) -> bool {
        let waits = self.lag.is_none() && self.recall == Recall::Every;
        if waits {
            self.holes += 1;
            self.entries
                .push_back(Entry::Hole(hole, difference.clone()));
        }
        waits
    }

    /// Puts what was read back in its place, which is kept if more may follow.
    pub(super) fn fill(&mut self, hole: u64, events: &[Event], follows: Follows) {
        let Some(at) = self.place(hole) else {
            return;
        };
        let mut behind = self.entries.split_off(at);
        if follows == Follows::Nothing {
            behind.pop_front();
            self.holes -= 1;
        }
        for event in events {
            self.keep(event);
        }
        self.entries.extend(behind);
        self.signal.notify_one();
    }

    /// Where what is being read back for a hole is to stand.
    pub(super) fn place(&self, hole: u64) -> Option<usize> {
        let is_it = |entry: &Entry| matches!(entry, Entry::Hole(own, _) if *own == hole);
        self.entries.iter().position(is_it)
    }

    /// Whether more that is read back for a hole has to wait for the subscriber to read what is before it.
    pub(super) fn is_filled(&self, hole: u64) -> bool {
        self.bytes > self.limit / 2 && self.place(hole) > Some(0)
    }

    /// Whether there is room for more that is read back.
    pub(super) fn has_room(&self) -> bool {
        let is_hole = matches!(self.entries.front(), Some(Entry::Hole(..)));
        is_hole || self.bytes <= self.limit / 2
    }

    /// How long it is waited for.
    pub(super) fn patience(&self, company: Company) -> Duration {
        self.patience.limit(company)
    }

    /// How much is told after an interruption.
    pub(super) fn recall(&self) -> Recall {
        self.recall
    }

    /// Gives up a place, and what stands behind it: the subscriber does not read, and misses from here on.
    pub(super) fn fall_behind(&mut self, hole: u64, mut lag: Lag) {
        let Some(at) = self.place(hole) else {
            return;
        };
        let mut behind = self.entries.split_off(at);
        behind.pop_front();
        self.holes -= 1;
        for entry in behind {
            match entry {
                Entry::Event(event, weight) => {
                    self.bytes -= weight;
                    lag.miss(&event, None);
                }
                // It has not begun to be filled.
                Entry::Hole(_, difference) => {
                    self.holes -= 1;
                    for change in &*difference {
                        lag.miss(&change.clone().event(0, Timestamp::UNIX_EPOCH), None);
                    }
                }
            }
        }
        if let Some(later) = self.lag.take() {
            lag.join(later);
        }
        self.lag = Some(lag);
    }

    pub(super) fn keep(&mut self, event: &Event) {
        let weight = weight(event);
        self.bytes += weight;
        self.entries.push_back(Entry::Event(event.clone(), weight));
    }

    /// Puts the state of a lost connection before the first hole, and drops the states behind it: the subscriber
    /// learns at once that the source is not live.
    fn overtake(&mut self, event: &Event) {
        let is_hole = |entry: &Entry| matches!(entry, Entry::Hole(..));
        let hole = self.entries.iter().position(is_hole);
        let behind = self.entries.split_off(hole.unwrap_or(self.entries.len()));
        self.keep(event);
        for entry in behind {
            match entry {
                Entry::Event(Event::State(_), weight) => self.bytes -= weight,
                entry => self.entries.push_back(entry),
            }
        }
    }

    /// The next event that was kept.
    pub(super) fn pop(&mut self) -> Option<Event> {
        let (event, weight) = match self.entries.pop_front()? {
            Entry::Event(event, weight) => (event, weight),
            hole @ Entry::Hole(..) => {
                self.entries.push_front(hole);
                return None;
            }
        };
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
        self.lag.is_some() && self.entries.is_empty()
    }

    /// Until when the driver should wait for room; `None` if there is room, or no more waiting: from
    /// then on events are missed.
    pub(super) fn wait_until(&mut self, now: Instant, company: Company) -> Option<Instant> {
        if !self.is_full() {
            return None;
        }
        let since = *self.full_since.get_or_insert(now);
        let until = since + self.patience.limit(company);
        // While something is read back nobody can make room by reading.
        if until > now && self.holes == 0 {
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
        now: Timestamp,
    ) -> Option<Missed> {
        let lag = self.lag.take_if(|_| self.entries.is_empty())?;
        self.full_since = None;
        Some(lag.missed(store, upto, now))
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
/// one is kept by the event that replaced it, and counted there. What a watch has brought is kept without its
/// tape or packed: as it came, only the event has it.
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
