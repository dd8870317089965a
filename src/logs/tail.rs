//! `TailHold`: holds the lines of a tail back until it is known which of them are the last ones.
//!
//! A server counts the parts of lines: a runtime stores a line of 40 KiB in three. So a tail may begin within a line, and
//! have fewer lines than asked for. More parts are requested than lines wanted, and the last lines are kept.

use std::collections::VecDeque;

use crate::source::log::LogLine;

/// How many bytes of a line are one part (the kubelet's `max_container_log_line_size` of containerd and CRI-O).
const PART: usize = 16 << 10;

/// The last lines of the beginning of an answer.
#[derive(Clone, Debug)]
pub(super) struct TailHold {
    /// How many lines are wanted.
    wanted: usize,
    /// How many parts the request asked for.
    asked: u64,
    parts: u64,
    /// Whether a line came before those that are held.
    has_dropped: bool,
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
            has_dropped: false,
            held: VecDeque::new(),
        }
    }

    /// Takes a line. Returns whether the tail is over.
    pub(super) fn push(&mut self, line: LogLine) -> bool {
        let parts = line.text.len().div_ceil(PART).max(1);
        self.parts = self.parts.saturating_add(parts as u64);
        self.held.push_back(line);
        if self.held.len() > self.wanted {
            self.held.pop_front();
            self.has_dropped = true;
        }
        self.parts >= self.asked
    }

    /// The end of the tail: it is over, or nothing follows at present.
    pub(super) fn end(self) -> TailEnd {
        let is_whole = self.parts < self.asked;
        if !is_whole && !self.has_dropped {
            return TailEnd::AskMore(self.asked.saturating_mul(4));
        }
        let from = if is_whole {
            ReadFrom::FirstLine
        } else {
            ReadFrom::Later
        };
        TailEnd::Lines(self.held.into(), from)
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
                let is_over = tail.push(LogLine {
                    time: Timestamp::UNIX_EPOCH,
                    text,
                });
                if is_over {
                    break;
                }
            }
            match tail.end() {
                TailEnd::Lines(lines, from) => {
                    return (
                        lines.iter().map(|line| line.text.len()).collect(),
                        from,
                        requests,
                    );
                }
                TailEnd::AskMore(more) => asked = more,
            }
        }
        unreachable!("the log has an end")
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
        use ReadFrom::{FirstLine, Later};
        let long = 40 << 10;
        for (wanted, log, lines, from, requests) in [
            (0, &[][..], &[][..], FirstLine, 1),
            (0, &[1, 2], &[], Later, 1),
            (2, &[1], &[1], FirstLine, 1),
            (2, &[1, 2, 0], &[2, 0], FirstLine, 1),
            (2, &[1, 2, 3, 4, 5, 6], &[5, 6], Later, 1),
            (1, &[long, long], &[long], FirstLine, 2),
            (2, &[9, long, long], &[long, long], FirstLine, 2),
            (1, &[long], &[long], FirstLine, 2),
        ] {
            assert_eq!(
                check(wanted, log),
                (lines.to_vec(), from, requests),
                "{wanted} of {log:?}"
            );
        }
    }
}
