//! `PartitionPlace`: how far a partition of a topic has been read, and where the next run goes on.

use std::collections::VecDeque;

use super::client::{FetchedMessage, FetchedPart};
use super::error::TopicError;
use super::message::FileLabel;
use super::order::Arrival;

/// How much older than the newest message of its partition a message is at most while others of its window are on their way,
/// in milliseconds. A sender that is interrupted for longer sends the whole window again.
const ON_THEIR_WAY: i64 = 600_000;

/// How far a partition has been read.
#[derive(Default)]
pub(super) struct PartitionPlace {
    /// The offset of the next message to fetch.
    offset: i64,
    /// The offset at which this round ends.
    end: i64,
    /// The offset at which the partition ended before the last look for new partitions.
    looked: i64,
    fetched: VecDeque<FetchedMessage>,
    /// The time of its last message, which never goes back.
    time: i64,
    /// The messages that wait for others, in order.
    waiting: VecDeque<WaitingMessage>,
}

/// A message that waits for others of its file.
struct WaitingMessage {
    offset: i64,
    time: i64,
    label: FileLabel,
    number: i64,
}

impl PartitionPlace {
    /// Continues at an offset.
    pub(super) fn at(offset: i64) -> PartitionPlace {
        PartitionPlace {
            offset,
            ..PartitionPlace::default()
        }
    }

    /// Notes where the partition ends before a look for new partitions.
    pub(super) fn look(&mut self, end: i64) {
        self.looked = end;
    }

    /// Begins a round that ends at this offset. Returns whether the partition begins anew: it is shorter than what was read, so
    /// it is another one.
    pub(super) fn begin_round(&mut self, end: i64) -> bool {
        let is_another = end < self.offset;
        if is_another {
            *self = PartitionPlace {
                time: self.time,
                ..PartitionPlace::default()
            };
        }
        self.end = end;
        is_another
    }

    /// The offset to fetch from, if there is nothing to take before the end of the round.
    pub(super) fn to_fetch(&self) -> Option<i64> {
        (self.fetched.is_empty() && self.offset < self.end).then_some(self.offset)
    }

    /// Takes what was fetched. It fails if the broker has less than another one has said.
    pub(super) fn add(&mut self, part: FetchedPart) -> Result<(), TopicError> {
        let is_behind = part.messages.is_empty() && part.watermark < self.end;
        if is_behind || part.from < self.offset {
            return Err(TopicError::Behind);
        }
        self.offset = match part.messages.last() {
            Some(last) => last.offset + 1,
            // A note of the brokers themselves has an offset, too. What comes after it may be a message.
            None => part.from.max(self.end.min(part.from + 1)),
        };
        self.fetched = part.messages.into();
        Ok(())
    }

    /// The time of the next message, which is not before that of the last one; `None` if nothing is fetched.
    pub(super) fn next_time(&mut self) -> Option<i64> {
        let first = self.fetched.front()?;
        self.time = self.time.max(first.time);
        Some(self.time)
    }

    /// The next message.
    pub(super) fn next(&mut self) -> Option<(FetchedMessage, Arrival)> {
        let message = self.fetched.pop_front()?;
        let arrival = if message.offset < self.looked {
            Arrival::Before(self.time)
        } else {
            Arrival::Since
        };
        Some((message, arrival))
    }

    /// Notes that the message at an offset waits for others of its file.
    pub(super) fn wait(&mut self, offset: i64, label: FileLabel, number: i64) {
        let time = self.time;
        self.waiting.push_back(WaitingMessage {
            offset,
            time,
            label,
            number,
        });
    }

    /// The offset at which another run goes on: that of the oldest message that waits, if what it waits for may still come
    /// alone.
    pub(super) fn resume_offset(&mut self, waits: impl Fn(&FileLabel, i64) -> bool) -> i64 {
        let oldest = self.time.saturating_sub(ON_THEIR_WAY);
        self.waiting
            .retain(|it| it.time >= oldest && waits(&it.label, it.number));
        let waiting = self.waiting.front().map(|first| first.offset);
        let fetched = self.fetched.front().map(|first| first.offset);
        waiting.or(fetched).unwrap_or(self.offset)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::kafka::TopicMessage;
    use crate::kafka::message::tests::label;

    fn message(offset: i64, time: i64) -> FetchedMessage {
        FetchedMessage {
            offset,
            time,
            message: TopicMessage {
                key: String::new(),
                value: None,
                headers: BTreeMap::new(),
            },
        }
    }

    /// The offset after the answer to a request, in a round that ends at 9.
    fn after(from: i64, messages: &[i64], watermark: i64) -> Result<i64, String> {
        let mut place = PartitionPlace::at(4);
        assert!(!place.begin_round(9));
        let part = FetchedPart {
            from,
            messages: messages.iter().map(|offset| message(*offset, 0)).collect(),
            watermark,
        };
        let added = place.add(part).map_err(|error| error.to_string());
        added.map(|()| place.offset)
    }

    #[test]
    fn an_empty_answer_does_not_end_the_partition() {
        let behind = Err("the broker does not give the newest messages yet".to_owned());
        assert_eq!(after(4, &[4, 5], 9), Ok(6));
        assert_eq!(after(4, &[7], 9), Ok(8));
        // The commit of a transaction.
        assert_eq!(after(4, &[], 9), Ok(5));
        // Everything is deleted.
        assert_eq!(after(9, &[], 9), Ok(9));
        assert_eq!(after(12, &[], 12), Ok(12));
        // A broker that has just taken over.
        assert_eq!(after(4, &[], 6), behind);
        // The partition has become shorter meanwhile.
        assert_eq!(after(0, &[0, 1], 2), behind);
    }

    #[test]
    fn a_partition_that_is_shorter_than_before_is_read_from_its_beginning() {
        let mut place = PartitionPlace::at(4);
        assert!(!place.begin_round(4));
        assert!(place.begin_round(3));
        assert_eq!((place.offset, place.to_fetch()), (0, Some(0)));
    }

    #[test]
    fn a_message_that_waits_does_not_hold_the_others_for_ever() {
        let mut place = PartitionPlace::at(4);
        place.begin_round(9);
        let part = FetchedPart {
            from: 4,
            messages: vec![
                message(4, 5),
                message(5, ON_THEIR_WAY),
                message(6, ON_THEIR_WAY + 6),
            ],
            watermark: 9,
        };
        place.add(part).expect("in order");
        place.next_time();
        assert!(place.next().is_some());
        place.wait(4, label("f-a"), 502);
        assert_eq!(place.resume_offset(|_, _| true), 4);
        place.next_time();
        assert!(place.next().is_some());
        assert_eq!(place.resume_offset(|_, _| true), 4);
        place.next_time();
        assert_eq!(place.resume_offset(|_, _| true), 6);
        place.wait(6, label("f-a"), 503);
        assert!(place.next().is_some());
        // What it has waited for has come.
        assert_eq!(place.resume_offset(|_, number| number != 503), 7);
    }
}
