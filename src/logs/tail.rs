//! `TailHold`: holds the lines of a tail back until it is known which of them are the last ones.
//!
//! A server counts the parts of lines: a runtime stores a line of 40 KiB in three. So a tail may begin within a line, and
//! have fewer lines than asked for. More parts are requested than lines wanted, and the last lines are kept.

use std::collections::VecDeque;

use crate::source::log::LogLine;

/// How many bytes of a line are one part (the kubelet's `max_container_log_line_size` of containerd and CRI-O).
const PART: usize = 16 << 10;
/// The most parts that are requested because lines are long: 64 MiB of text.
const MOST_PARTS: u64 = 4 << 10;

/// The last lines of the beginning of an answer.
#[derive(Clone, Debug)]
pub(super) struct TailHold {
    /// How many lines are wanted.
    wanted: usize,
    /// How many parts the request asked for.
    asked: u64,
    /// The parts of the complete lines.
    parts: u64,
    /// The bytes of the line that is not complete.
    begun: Option<usize>,
    /// Whether a line came before those that are held.
    has_dropped: bool,
    /// How many lines are held.
    lines: usize,
    held: VecDeque<LogLine>,
}

/// The end of a tail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TailEnd {
    /// The last lines. Whether the first line of the log is among those that were read.
    Lines(Vec<LogLine>, ReadFrom),
    /// Too few lines, because they are long: this many parts must be requested.
    AskMore(u64),
}

/// Where the lines of a tail begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadFrom {
    /// At the first line of the log.
    FirstLine,
    /// After it.
    Later,
    /// Within the first of these lines, because they are too long to be held.
    WithinLine,
}

impl TailHold {
    /// How many parts to request for this many lines, at least. Without any lines, one shows where the log is.
    pub(super) fn parts_for(wanted: u64) -> u64 {
        wanted.saturating_mul(2).saturating_add(1)
    }

    /// For the last `wanted` lines of an answer with at most `asked` parts at its beginning.
    pub(super) fn new(wanted: u64, asked: u64) -> TailHold {
        TailHold {
            wanted: usize::try_from(wanted).unwrap_or(usize::MAX),
            asked,
            parts: 0,
            begun: None,
            has_dropped: false,
            lines: 0,
            held: VecDeque::new(),
        }
    }

    /// Takes a line, or the next part of a long one. Returns whether the tail is over.
    pub(super) fn push(&mut self, line: LogLine) -> bool {
        let is_start = self.begun.is_none();
        let bytes = self.begun.unwrap_or_default() + line.text.len();
        self.begun = (!line.ends).then_some(bytes);
        let begun = if line.ends {
            let parts = bytes.div_ceil(PART).max(1);
            self.parts = self.parts.saturating_add(parts as u64);
            0
        } else {
            (bytes / PART) as u64
        };
        self.hold(line, is_start);
        self.parts.saturating_add(begun) >= self.asked
    }

    fn hold(&mut self, line: LogLine, is_start: bool) {
        if self.wanted == 0 {
            self.has_dropped = true;
            return;
        }
        self.held.push_back(line);
        self.lines += usize::from(is_start);
        if self.lines > self.wanted {
            let end = self.held.iter().position(|part| part.ends);
            self.held.drain(..=end.unwrap_or_default());
            self.lines -= 1;
            self.has_dropped = true;
        }
    }

    /// Whether fewer parts came than requested: the log has no more, or the answer was cut.
    pub(super) fn is_short(&self) -> bool {
        self.parts < self.asked
    }

    /// The end of the tail: it is over, or nothing follows at present.
    pub(super) fn end(self) -> TailEnd {
        let is_whole = self.parts < self.asked;
        if is_whole || self.has_dropped {
            let from = if is_whole {
                ReadFrom::FirstLine
            } else {
                ReadFrom::Later
            };
            return TailEnd::Lines(self.held.into(), from);
        }
        if self.asked < MOST_PARTS {
            return TailEnd::AskMore(self.asked.saturating_mul(4).min(MOST_PARTS));
        }
        TailEnd::Lines(self.held.into(), ReadFrom::WithinLine)
    }

    /// The lines of a tail whose answer broke.
    pub(super) fn broken(self) -> Vec<LogLine> {
        self.held.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use jiff::Timestamp;

    /// The lengths of the lines of a tail of `wanted` lines, of a log with lines of these lengths.
    fn check(wanted: u64, log: &[usize]) -> (Vec<usize>, ReadFrom, u32) {
        let mut asked = TailHold::parts_for(wanted);
        for requests in 1.. {
            let mut tail = TailHold::new(wanted, asked);
            for (_, length) in answer(log, asked) {
                let text = Bytes::from(vec![b'x'; length]);
                if push_in_pieces(&mut tail, &text) {
                    break;
                }
            }
            match tail.end() {
                TailEnd::Lines(pieces, from) => {
                    let lines = pieces.split_inclusive(|piece| piece.ends);
                    let length = |line: &[LogLine]| line.iter().map(|piece| piece.text.len()).sum();
                    return (lines.map(length).collect(), from, requests);
                }
                TailEnd::AskMore(more) => asked = more,
            }
        }
        unreachable!("the log has an end")
    }

    /// Pushes a line, in pieces of at most 1 MiB.
    fn push_in_pieces(tail: &mut TailHold, text: &Bytes) -> bool {
        let mut left = text.clone();
        loop {
            let piece = left.split_to(left.len().min(1 << 20));
            let line = LogLine {
                time: Timestamp::UNIX_EPOCH,
                text: piece,
                ends: left.is_empty(),
            };
            if tail.push(line) || left.is_empty() {
                return tail.parts >= tail.asked;
            }
        }
    }

    /// What a kubelet sends of a log for this many parts: the first line may be cut. With its index.
    fn answer(log: &[usize], parts: u64) -> Vec<(usize, usize)> {
        let mut left = parts;
        let mut lines = Vec::new();
        for (index, length) in log.iter().enumerate().rev() {
            let own = length.div_ceil(PART).max(1) as u64;
            if left == 0 {
                break;
            }
            let sent = if own <= left {
                *length
            } else {
                length - usize::try_from(own - left).expect("small") * PART
            };
            left = left.saturating_sub(own);
            lines.push((index, sent));
        }
        lines.reverse();
        lines
    }

    #[test]
    fn a_tail_has_the_last_lines_whole() {
        use ReadFrom::{FirstLine, Later, WithinLine};
        let long = 40 << 10;
        let longer = 3 << 20;
        let longest = 65 << 20;
        for (wanted, log, lines, from, requests) in [
            (0, &[][..], &[][..], FirstLine, 1),
            (0, &[1, 2], &[], Later, 1),
            (2, &[1], &[1], FirstLine, 1),
            (2, &[1, 2, 0], &[2, 0], FirstLine, 1),
            (2, &[1, 2, 3, 4, 5, 6], &[5, 6], Later, 1),
            (1, &[long, long], &[long], FirstLine, 2),
            (2, &[9, long, long], &[long, long], FirstLine, 2),
            (1, &[long], &[long], FirstLine, 2),
            (1, &[longer, longer, 5], &[5], Later, 1),
            (2, &[longer, longer, 5], &[longer, 5], Later, 4),
            (0, &[longer], &[], Later, 1),
            (1, &[7, longest], &[64 << 20], WithinLine, 7),
        ] {
            assert_eq!(
                check(wanted, log),
                (lines.to_vec(), from, requests),
                "{wanted} of {log:?}"
            );
        }
    }
}
