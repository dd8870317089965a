//! `EntryOrder`: brings the messages of all partitions into the order of the files that they are from.
//!
//! Entries of a file have numbers without a gap, and each partition has some of them in order. A message also says which
//! entries were in the topic before it. So an entry that is late is told from one that is lost: it is lost if everything
//! that was in the topic before such a message has been read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::message::{FileLabel, MessageContent, ReceivedMessage};
use crate::record::{RecordEntry, RecordHeading};

/// What comes next of a file.
#[derive(Clone, Debug)]
pub enum OrderedEntry {
    /// The file begins.
    Begin(RecordHeading),
    /// The next entry.
    Entry(RecordEntry),
    /// Entries are lost, so the rest of the file is of no use: it would show states that nobody had.
    Lost {
        /// The number of entries that are known to be lost.
        count: i64,
    },
}

/// When a message came into the topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Before the reader looked where the topic ends, at this time in milliseconds. Everything that was in the topic before it is
    /// read at the latest in this round.
    Before(i64),
    /// Since then. What was in the topic before it is read at the latest in the next round.
    Since,
}

/// A place in the topic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Claim {
    /// The time of the message.
    time: i64,
    /// What was in the topic before it.
    sent: i64,
}

/// How far a file has been read.
#[derive(Clone, Debug, Default)]
struct FileOrder {
    /// The number of the next entry.
    next: i64,
    /// Whether an entry is lost.
    is_lost: bool,
    /// Entries that came too early. Those of one number are in the order in which they came.
    early: BTreeMap<i64, Vec<MessageContent>>,
    /// The newest claim, which counts when everything of its time has been read.
    newest: Claim,
    /// The highest claim of the messages that came while the topic was read.
    since: i64,
    /// Every entry with a lower number was in the part of the topic that has been read.
    proven: i64,
    /// The same, of the round before.
    settled: i64,
}

/// Where to continue in a file, for the next run: the number of the next entry, or -1 if one is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FilePlace(i64);

/// The order of all files.
#[derive(Clone, Debug, Default)]
pub struct EntryOrder {
    files: BTreeMap<FileLabel, FileOrder>,
}

impl EntryOrder {
    /// Continues where an earlier run has stopped.
    pub fn resume(places: impl IntoIterator<Item = (FileLabel, FilePlace)>) -> EntryOrder {
        let files = places.into_iter().map(|(label, FilePlace(next))| {
            let file = FileOrder {
                next: next.max(0),
                is_lost: next < 0,
                ..FileOrder::default()
            };
            (label, file)
        });
        EntryOrder {
            files: files.collect(),
        }
    }

    /// Where the next run continues.
    pub fn places(&self) -> impl Iterator<Item = (&FileLabel, FilePlace)> {
        let files = self.files.iter();
        files.map(|(label, file)| {
            let next = if file.is_lost { -1 } else { file.next };
            (label, FilePlace(next))
        })
    }

    /// Whether the entry of a file with this number waits for others.
    pub fn waits(&self, label: &FileLabel, number: i64) -> bool {
        let file = self.files.get(label);
        file.is_some_and(|file| file.early.contains_key(&number))
    }

    /// Whether an entry is lost unless this round brings it.
    pub fn is_in_doubt(&self) -> bool {
        let mut files = self.files.values();
        files.any(|file| !file.is_lost && file.settled > file.next)
    }

    /// Whether a file is not known, and a later one of its recorder is. It was forgotten, unless the later one has just begun.
    pub fn is_over(&self, label: &FileLabel) -> bool {
        let mut known = self.files.keys();
        !self.files.contains_key(label) && known.any(|known| label.is_before(known))
    }

    /// Takes a message. Messages of one partition are taken in their order, those of several in the order of their times (in
    /// milliseconds). Returns what comes next of its file.
    pub fn take(&mut self, message: ReceivedMessage, arrival: Arrival) -> Vec<OrderedEntry> {
        let file = self.files.entry(message.label).or_default();
        file.claim(arrival, message.sent);
        if file.is_lost {
            return Vec::new();
        }
        let is_reached = message.content.is_reached();
        // An entry without a number of its own follows the one with its number.
        let place = message.number + i64::from(is_reached);
        if place >= file.next {
            let early = file.early.entry(place).or_default();
            // It says nothing about the entry with that place.
            let at = if is_reached { 0 } else { early.len() };
            early.insert(at, message.content);
        }
        let mut ready = file.advance();
        ready.extend(file.give_up(file.proven));
        ready
    }

    /// The end of the topic is reached. Returns which files have lost entries. An entry that may still be on its way is not
    /// lost: only claims of the round before count.
    pub fn end_round(&mut self) -> Vec<(FileLabel, OrderedEntry)> {
        let mut lost = Vec::new();
        for (label, file) in &mut self.files {
            let found = file.give_up(file.settled);
            lost.extend(found.map(|entry| (label.clone(), entry)));
            file.settled = file.claimed();
        }
        lost
    }

    /// Forgets the files of a recorder that has begun another one, when everything of them has been read. Returns which have
    /// lost entries.
    pub fn forget_before(&mut self, label: &FileLabel) -> Vec<(FileLabel, OrderedEntry)> {
        let mut lost = Vec::new();
        self.files.retain(|known, file| {
            let is_over = known.is_before(label);
            if is_over {
                let early = file.early.keys().next_back().copied();
                let found = file.give_up(file.claimed().max(early.unwrap_or_default()));
                lost.extend(found.map(|entry| (known.clone(), entry)));
            }
            !is_over
        });
        lost
    }
}

impl FileOrder {
    /// Notes what was in the topic before a message.
    fn claim(&mut self, arrival: Arrival, sent: i64) {
        match arrival {
            Arrival::Before(time) => {
                if time > self.newest.time {
                    self.proven = self.proven.max(self.newest.sent);
                    self.newest.time = time;
                }
                self.newest.sent = self.newest.sent.max(sent);
            }
            Arrival::Since => self.since = self.since.max(sent),
        }
    }

    /// Every entry with a lower number is in the topic or lost.
    fn claimed(&self) -> i64 {
        self.proven.max(self.newest.sent).max(self.since)
    }

    /// The entries that are next.
    fn advance(&mut self) -> Vec<OrderedEntry> {
        let mut ready = Vec::new();
        while let Some(early) = self.early.first_entry() {
            if *early.key() > self.next {
                break;
            }
            let place = *early.key();
            let mut has_own = false;
            for content in early.remove() {
                let is_reached = content.is_reached();
                // The same entry was sent twice, or has been read before.
                if !is_reached && (has_own || place < self.next) {
                    continue;
                }
                has_own |= !is_reached;
                ready.push(match content {
                    MessageContent::Begin(heading) => OrderedEntry::Begin(heading),
                    MessageContent::Entry(entry) => OrderedEntry::Entry(entry),
                });
            }
            self.next += i64::from(has_own);
        }
        ready
    }

    /// The next entry is lost if its number is lower than this one.
    fn give_up(&mut self, sent: i64) -> Option<OrderedEntry> {
        if self.is_lost || sent <= self.next {
            return None;
        }
        let first = self.early.keys().next().copied();
        let until = first.map_or(sent, |first| first.min(sent));
        self.is_lost = true;
        self.early.clear();
        Some(OrderedEntry::Lost {
            count: until - self.next,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kafka::message::tests::{label, version};
    use crate::record::RecordedCluster;

    /// A message of the file: its number, and what was in the topic before.
    fn message(number: i64, sent: i64) -> ReceivedMessage {
        let content = match number {
            0 => MessageContent::Begin(RecordHeading {
                cluster: RecordedCluster {
                    id: "c1".to_owned(),
                    name: "prod".to_owned(),
                    server: String::new(),
                },
                started: jiff::Timestamp::UNIX_EPOCH,
                redactions: Vec::new(),
            }),
            number => MessageContent::Entry(version(number, "web").entry),
        };
        ReceivedMessage {
            label: label("f-a"),
            number,
            sent,
            content,
        }
    }

    fn word(entry: &OrderedEntry) -> String {
        match entry {
            OrderedEntry::Begin(_) => "begin".to_owned(),
            OrderedEntry::Entry(entry) => {
                let fields = entry.fields();
                let rv = fields.iter().find(|(name, _)| *name == "rv");
                rv.map(|(_, value)| value.clone()).unwrap_or_default()
            }
            OrderedEntry::Lost { count } => format!("{count} lost"),
        }
    }

    /// What comes of messages, each with its time, and of two ends of the topic.
    fn check(messages: &[(i64, i64, i64)], expect: &str) {
        let mut order = EntryOrder::default();
        let mut found = Vec::new();
        for &(time, number, sent) in messages {
            found.extend(
                order
                    .take(message(number, sent), Arrival::Before(time))
                    .iter()
                    .map(word),
            );
        }
        for _ in 0..2 {
            found.extend(order.end_round().iter().map(|(_, entry)| word(entry)));
        }
        assert_eq!(found.join(" "), expect, "{messages:?}");
    }

    #[test]
    fn a_late_entry_is_told_from_a_lost_one() {
        check(&[], "");
        check(&[(1, 0, 0), (1, 1, 0), (1, 2, 0)], "begin 1 2");
        // Two partitions, read one after the other.
        check(&[(1, 2, 0), (1, 0, 0), (1, 1, 0)], "begin 1 2");
        // A window that was sent twice.
        check(
            &[(1, 0, 0), (1, 1, 0), (2, 0, 0), (2, 1, 0), (2, 2, 0)],
            "begin 1 2",
        );
        // A sender that was killed between two partitions sends its window again.
        check(
            &[(1, 0, 0), (1, 2, 0), (5, 0, 0), (5, 1, 0), (5, 2, 0)],
            "begin 1 2",
        );
        // A later window says that the one before was complete.
        check(
            &[(1, 0, 0), (1, 2, 0), (2, 3, 3), (3, 4, 4)],
            "begin 1 lost",
        );
        check(&[(1, 0, 0), (1, 2, 0), (2, 3, 3)], "begin 1 lost");
        // The beginning has been deleted.
        check(&[(7, 5, 3), (8, 6, 6)], "3 lost");
        check(&[(7, 5, 3)], "3 lost");
        // The end of a window is still on its way.
        check(&[(1, 0, 0), (1, 2, 0)], "begin");
    }

    #[test]
    fn a_run_continues_where_the_one_before_stopped() {
        let mut order = EntryOrder::default();
        order.take(message(0, 0), Arrival::Before(1));
        order.take(message(1, 0), Arrival::Before(1));
        let places: Vec<_> = order
            .places()
            .map(|(label, place)| (label.clone(), place))
            .collect();
        let text = serde_json::to_string(&places[0].1).expect("a number");
        assert_eq!(text, "2");
        let mut order = EntryOrder::resume(places);
        let found: Vec<String> = [1, 2, 3]
            .iter()
            .flat_map(|number| order.take(message(*number, 1), Arrival::Before(2)))
            .map(|entry| word(&entry))
            .collect();
        assert_eq!(found, ["2", "3"]);
        let other = label("g-b");
        order.forget_before(&other);
        assert_eq!(order.places().count(), 1);
        order.forget_before(&label("g-a"));
        assert_eq!(order.places().count(), 0);
    }

    #[test]
    fn a_message_that_came_during_the_round_proves_nothing_before_the_next_one() {
        let mut order = EntryOrder::default();
        let mut found = Vec::new();
        // The end of the partition of 1 was read before 1 came, and that of the others after that.
        for number in [0, 2, 3, 4] {
            found.extend(order.take(message(number, number), Arrival::Since));
        }
        assert!(order.end_round().is_empty() && order.is_in_doubt());
        found.extend(order.take(message(1, 1), Arrival::Since));
        assert!(order.end_round().is_empty() && !order.is_in_doubt());
        let found: Vec<String> = found.iter().map(word).collect();
        assert_eq!(found, ["begin", "1", "2", "3", "4"]);
    }

    #[test]
    fn a_file_that_is_over_is_not_read_again() {
        let mut order = EntryOrder::default();
        order.take(message(0, 0), Arrival::Since);
        order.take(message(3, 1), Arrival::Since);
        let next = ReceivedMessage {
            label: label("g-a"),
            ..message(0, 0)
        };
        order.take(next, Arrival::Since);
        assert!(order.waits(&label("f-a"), 3) && !order.is_over(&label("f-a")));
        let lost = order.forget_before(&label("g-a"));
        let lost: Vec<String> = lost.iter().map(|(_, entry)| word(entry)).collect();
        assert_eq!(lost, ["2 lost"]);
        assert!(order.is_over(&label("f-a")) && !order.is_over(&label("f-b")));
    }

    proptest! {
        /// Windows of entries on three partitions, some sent again: each entry comes out once and in order.
        #[test]
        fn each_entry_comes_once_and_in_order(
            windows in prop::collection::vec((1_i64..6, 0_usize..3, any::<bool>()), 1..12),
            places in prop::collection::vec(0_usize..3, 80),
        ) {
            let mut partitions: [Vec<(i64, i64, i64)>; 3] = Default::default();
            let (mut next, mut time) = (0, 0);
            for (length, cut, is_repeated) in windows {
                let range = next..next + length;
                for round in 0..=i64::from(is_repeated) {
                    time += 1;
                    for number in range.clone() {
                        let place = places[usize::try_from(number).expect("few") % places.len()];
                        // A sender that was killed has written to some partitions.
                        if round == 0 && is_repeated && place == cut {
                            continue;
                        }
                        partitions[place].push((time, number, next));
                    }
                }
                next += length;
            }
            let mut order = EntryOrder::default();
            let mut found = Vec::new();
            let mut all: Vec<(i64, i64, i64)> = partitions.concat();
            all.sort_by_key(|(time, _, _)| *time);
            for (time, number, sent) in all {
                found.extend(order.take(message(number, sent), Arrival::Before(time)).iter().map(word));
            }
            found.extend(order.end_round().iter().map(|(_, entry)| word(entry)));
            found.extend(order.end_round().iter().map(|(_, entry)| word(entry)));
            let expect: Vec<String> = (0..next).map(|number| match number {
                0 => "begin".to_owned(),
                number => number.to_string(),
            }).collect();
            prop_assert_eq!(found, expect);
        }
    }
}
