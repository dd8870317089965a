//! `OrderWindow`: holds followed lines back for a moment, so that those of several containers come in the order of their
//! times.
//!
//! A fixed moment is wrong on a busy machine, and too long on others. So it grows while lines come late, and shrinks back.
//! A line that is late is shown late, never dropped.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};
use std::time::Duration;

use jiff::Timestamp;

/// The shortest and the longest time that a line waits.
const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(1);
/// After how many lines the window is adjusted, and how many of them may be late.
const SAMPLE: u32 = 200;
const LATE: u32 = 2;
/// The most bytes that wait.
const MOST: usize = 16 << 20;

/// The lines that wait. Arrival times are durations since any fixed moment.
#[derive(Debug)]
pub struct OrderWindow<T> {
    waiting: BinaryHeap<Reverse<WaitingItem<T>>>,
    /// The moments at which items have arrived that still wait, the oldest first.
    arrivals: VecDeque<Arrival>,
    /// The number of the oldest of them.
    oldest: u64,
    /// The last key of each log.
    last: BTreeMap<usize, Timestamp>,
    released: Option<Key>,
    /// The logs of whose beginning more may come.
    opening: BTreeSet<usize>,
    /// When the beginnings of all logs had come, before any item was released: those that wait then wait no longer.
    settled: Option<Duration>,
    width: Duration,
    bytes: usize,
    sampled: u32,
    late: u32,
    next: u64,
}

/// The items that have arrived at the same moment. A line that is ahead of all others may wait for long, so their number
/// counts instead of a list of them.
#[derive(Debug)]
struct Arrival {
    at: Duration,
    /// How many of them still wait.
    waiting: usize,
}

/// An item that takes its place in the order.
#[derive(Debug)]
pub struct OrderedItem<T> {
    /// Its time; one without a time comes right after the one before of its log.
    pub time: Option<Timestamp>,
    /// The memory that it takes.
    pub bytes: usize,
    /// The item itself.
    pub item: T,
}

/// The place of an item in the order: by time, then by arrival.
type Key = (Timestamp, u64);

#[derive(Debug)]
struct WaitingItem<T> {
    key: Key,
    log: usize,
    bytes: usize,
    /// The number of its arrival.
    arrival: u64,
    item: T,
}

impl<T> PartialEq for WaitingItem<T> {
    fn eq(&self, other: &WaitingItem<T>) -> bool {
        self.key == other.key
    }
}

impl<T> Eq for WaitingItem<T> {}

impl<T> PartialOrd for WaitingItem<T> {
    fn partial_cmp(&self, other: &WaitingItem<T>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for WaitingItem<T> {
    fn cmp(&self, other: &WaitingItem<T>) -> Ordering {
        self.key.cmp(&other.key)
    }
}

impl<T> Default for OrderWindow<T> {
    fn default() -> OrderWindow<T> {
        OrderWindow {
            waiting: BinaryHeap::new(),
            arrivals: VecDeque::new(),
            oldest: 0,
            last: BTreeMap::new(),
            released: None,
            opening: BTreeSet::new(),
            settled: None,
            width: SHORTEST,
            bytes: 0,
            sampled: 0,
            late: 0,
            next: 0,
        }
    }
}

impl<T> OrderWindow<T> {
    /// Adds a log, whose beginning is still to come.
    pub fn open(&mut self, log: usize) {
        self.opening.insert(log);
    }

    /// The beginning of a log has come, and nothing follows it at present.
    pub fn settle(&mut self, log: usize, now: Duration) {
        let was_opening = self.opening.remove(&log);
        if was_opening && self.opening.is_empty() && self.released.is_none() {
            self.settled = Some(now);
        }
    }

    /// Takes an item of a log.
    pub fn put(&mut self, log: usize, item: OrderedItem<T>, now: Duration) {
        let OrderedItem { time, bytes, item } = item;
        let last = self.last.entry(log).or_insert(Timestamp::MIN);
        *last = time.map_or(*last, |time| time.max(*last));
        let key = (*last, self.next);
        self.next += 1;
        self.sample(key);
        self.bytes += bytes;
        let arrival = self.arrive(now);
        self.waiting.push(Reverse(WaitingItem {
            key,
            log,
            bytes,
            arrival,
            item,
        }));
    }

    /// Counts an item that arrives. Returns the number of its arrival.
    fn arrive(&mut self, now: Duration) -> u64 {
        match self.arrivals.back_mut() {
            Some(arrival) if arrival.at == now => arrival.waiting += 1,
            Some(_) | None => self.arrivals.push_back(Arrival {
                at: now,
                waiting: 1,
            }),
        }
        self.oldest + self.arrivals.len() as u64 - 1
    }

    /// An item of this arrival waits no more.
    fn leave(&mut self, arrival: u64) {
        let place = usize::try_from(arrival - self.oldest).unwrap_or(usize::MAX);
        if let Some(arrival) = self.arrivals.get_mut(place) {
            arrival.waiting -= 1;
        }
        while self
            .arrivals
            .front()
            .is_some_and(|first| first.waiting == 0)
        {
            self.arrivals.pop_front();
            self.oldest += 1;
        }
    }

    fn sample(&mut self, key: Key) {
        self.sampled += 1;
        self.late += u32::from(self.released.is_some_and(|released| key.0 < released.0));
        if self.sampled < SAMPLE {
            return;
        }
        let is_late = self.late > LATE;
        self.width = if is_late {
            self.width * 2
        } else {
            self.width / 2
        };
        self.width = self.width.clamp(SHORTEST, LONGEST);
        (self.sampled, self.late) = (0, 0);
    }

    /// Whether so many bytes wait that none may be added before others have been taken.
    pub fn is_full(&self) -> bool {
        self.bytes > MOST
    }

    /// The next item that has waited long enough, or that comes before one that has.
    pub fn next(&mut self, now: Duration) -> Option<(usize, T)> {
        if self.due()? > now && !self.is_full() {
            return None;
        }
        self.pop()
    }

    /// The next item, however short it has waited.
    pub fn pop(&mut self) -> Option<(usize, T)> {
        let Reverse(next) = self.waiting.pop()?;
        self.bytes -= next.bytes;
        self.released = self.released.max(Some(next.key));
        self.leave(next.arrival);
        Some((next.log, next.item))
    }

    /// When the next item is due; `None` if none waits.
    pub fn due(&self) -> Option<Duration> {
        let arrived = self.arrivals.front()?.at;
        let is_settled = self.settled.is_some_and(|settled| arrived <= settled);
        Some(if is_settled {
            arrived
        } else {
            arrived + self.width
        })
    }

    /// Forgets a log that has ended.
    pub fn forget(&mut self, log: usize) {
        self.last.remove(&log);
        self.opening.remove(&log);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millisecond: i64) -> Timestamp {
        Timestamp::from_millisecond(millisecond).expect("a time")
    }

    fn item<T>(millisecond: i64, item: T, bytes: usize) -> OrderedItem<T> {
        let time = Some(at(millisecond));
        OrderedItem { time, bytes, item }
    }

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    /// Puts items of logs, each with its time and its arrival, and takes what is due at each arrival and at the end.
    fn order(items: &[(usize, i64, u64)]) -> Vec<i64> {
        let mut window = OrderWindow::default();
        let mut shown = Vec::new();
        for (log, time, arrived) in items {
            shown.extend(std::iter::from_fn(|| window.next(ms(*arrived))));
            window.put(*log, item(*time, *time, 1), ms(*arrived));
        }
        shown.extend(std::iter::from_fn(|| window.next(ms(1_000_000))));
        assert_eq!(window.due(), None);
        assert_eq!(window.bytes, 0);
        shown.into_iter().map(|(_, time)| time).collect()
    }

    #[test]
    fn lines_within_the_window_are_ordered_and_late_ones_are_shown_late() {
        assert_eq!(order(&[(0, 20, 0), (1, 10, 50), (0, 30, 60)]), [10, 20, 30]);
        assert_eq!(
            order(&[(0, 20, 0), (0, 30, 60), (1, 10, 170)]),
            [20, 30, 10]
        );
        // The lines of one log keep their order.
        assert_eq!(order(&[(0, 20, 0), (0, 15, 10), (1, 18, 20)]), [18, 20, 15]);
    }

    #[test]
    fn a_line_is_due_after_the_width_of_the_window() {
        let mut window = OrderWindow::default();
        window.put(0, item(5, "a", 1), ms(40));
        assert_eq!(window.due(), Some(ms(140)));
        assert_eq!(window.next(ms(139)), None);
        assert_eq!(window.next(ms(140)), Some((0, "a")));
    }

    #[test]
    fn the_first_lines_wait_no_longer_than_the_last_log_for_its_own() {
        let mut window = OrderWindow::default();
        (0..3).for_each(|log| window.open(log));
        window.put(1, item(20, "b", 1), ms(10));
        window.settle(1, ms(10));
        window.put(0, item(10, "a", 1), ms(40));
        window.settle(0, ms(40));
        assert_eq!(
            window.due(),
            Some(ms(110)),
            "the last log may have older lines"
        );
        assert_eq!(window.next(ms(50)), None);
        window.settle(2, ms(60));
        assert_eq!(window.next(ms(60)), Some((0, "a")));
        assert_eq!(window.next(ms(60)), Some((1, "b")));
        // Later lines wait, and so do those of a log that is opened later.
        window.put(0, item(30, "c", 1), ms(70));
        window.open(3);
        window.settle(3, ms(80));
        assert_eq!(window.due(), Some(ms(170)));
    }

    #[test]
    fn the_window_grows_while_lines_come_late_and_shrinks_back() {
        let mut window = OrderWindow::default();
        let mut arrived = 0;
        let mut feed = |window: &mut OrderWindow<u64>, lateness: i64, count: u32| {
            for turn in 0..count {
                arrived += 10;
                let late = if turn % 2 == 0 { lateness } else { 0 };
                let log = usize::from(turn % 2 == 0);
                let time = i64::try_from(arrived).expect("small") - late;
                window.put(log, item(time, arrived, 1), ms(arrived));
                while window.next(ms(arrived)).is_some() {}
            }
            window.width
        };
        assert_eq!(feed(&mut window, 50, 400), SHORTEST);
        assert!(feed(&mut window, 300, 400) >= ms(400));
        assert_eq!(feed(&mut window, 2_000, 2_000), LONGEST);
        assert_eq!(feed(&mut window, 0, 2_000), SHORTEST);
    }

    /// One line is ahead of all others, and waits as long as it may.
    #[test]
    fn a_line_that_waits_keeps_no_other_in_memory() {
        let mut window = OrderWindow::default();
        window.put(0, item(1_000_000, "ahead", 1), ms(0));
        for number in 0..100_000 {
            let time = i64::try_from(number).expect("small");
            window.put(1, item(time, "other", MOST), ms(number / 1000));
            assert!(window.next(ms(number / 1000)).is_some());
        }
        assert_eq!((window.waiting.len(), window.bytes), (1, 1));
        assert_eq!(window.arrivals.len(), 100, "an arrival is a moment");
    }

    #[test]
    fn too_many_bytes_do_not_wait() {
        let mut window = OrderWindow::default();
        window.put(0, item(1, "a", MOST), ms(0));
        assert_eq!((window.next(ms(1)), window.is_full()), (None, false));
        window.put(0, item(2, "b", 1), ms(1));
        assert!(window.is_full());
        assert_eq!(window.next(ms(1)), Some((0, "a")));
        assert_eq!(window.next(ms(1)), None);
    }
}
