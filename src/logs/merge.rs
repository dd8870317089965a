//! `Merge`: joins the logs of several containers in the order of their times.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use jiff::Timestamp;

/// Joins logs that are read once. It is exact, and holds one item of each log.
///
/// The items of one log keep their order, even if their times go back.
#[derive(Debug)]
pub struct Merge<T> {
    heads: BinaryHeap<Reverse<Head>>,
    items: BTreeMap<usize, T>,
    /// The last time of each log that has not ended.
    open: BTreeMap<usize, Option<Timestamp>>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Head {
    time: Option<Timestamp>,
    log: usize,
}

impl<T> Default for Merge<T> {
    fn default() -> Merge<T> {
        Merge {
            heads: BinaryHeap::new(),
            items: BTreeMap::new(),
            open: BTreeMap::new(),
        }
    }
}

impl<T> Merge<T> {
    /// Adds a log. Nothing is returned until it has an item, or has ended.
    pub fn open(&mut self, log: usize) {
        self.open.insert(log, None);
    }

    /// Whether it waits for the next item of a log.
    pub fn wants(&self, log: usize) -> bool {
        self.open.contains_key(&log) && !self.items.contains_key(&log)
    }

    /// Whether it has an item of a log.
    pub fn holds(&self, log: usize) -> bool {
        self.items.contains_key(&log)
    }

    /// Takes the next item of a log that it wants. An item without a time comes right after the one before.
    pub fn put(&mut self, log: usize, time: Option<Timestamp>, item: T) {
        let last = self.open.entry(log).or_default();
        *last = (*last).max(time);
        self.heads.push(Reverse(Head { time: *last, log }));
        self.items.insert(log, item);
    }

    /// A log has no further items.
    pub fn end(&mut self, log: usize) {
        if !self.items.contains_key(&log) {
            self.open.remove(&log);
        }
    }

    /// The next item of all logs; `None` while a log may still have an earlier one.
    pub fn pop(&mut self) -> Option<(usize, T)> {
        if self.items.len() < self.open.len() {
            return None;
        }
        let Reverse(Head { log, .. }) = self.heads.pop()?;
        Some((log, self.items.remove(&log)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a time")
    }

    /// Merges logs with items at these times.
    fn merged(logs: &[Vec<i64>]) -> Vec<(usize, i64)> {
        let mut left: Vec<_> = logs.iter().map(|log| log.iter().copied()).collect();
        let mut merge = Merge::default();
        for log in 0..logs.len() {
            merge.open(log);
        }
        let mut order = Vec::new();
        loop {
            for (log, items) in left
                .iter_mut()
                .enumerate()
                .filter(|(log, _)| merge.wants(*log))
                .collect::<Vec<_>>()
            {
                match items.next() {
                    Some(time) => merge.put(log, Some(at(time)), time),
                    None => merge.end(log),
                }
            }
            match merge.pop() {
                Some(item) => order.push(item),
                None => return order,
            }
        }
    }

    #[test]
    fn logs_are_joined_by_time_and_keep_their_own_order() {
        assert_eq!(
            merged(&[vec![1, 4, 3, 6], vec![], vec![2, 3, 5]]),
            [(0, 1), (2, 2), (2, 3), (0, 4), (0, 3), (2, 5), (0, 6)]
        );
    }

    proptest! {
        #[test]
        fn sorted_logs_give_a_sorted_whole(mut logs in prop::collection::vec(prop::collection::vec(0_i64..50, 0..20), 0..6)) {
            for log in &mut logs {
                log.sort_unstable();
            }
            let times: Vec<i64> = merged(&logs).into_iter().map(|(_, time)| time).collect();
            let mut expect = logs.concat();
            expect.sort_unstable();
            prop_assert_eq!(times, expect);
        }
    }
}
