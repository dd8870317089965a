//! `RestPace`: how long a connection rests between its reads.

use std::time::Duration;

/// The shortest rest, and the longest. Nobody sees the difference between a line and one that is this much later.
const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_millis(16);

/// If fewer bytes have come since the last rest, the next one is longer. If more have come, it is shorter: a stream of a log
/// has a window of 64 KiB, and a server that has filled it waits.
const FEW: usize = 16 << 10;
const MANY: usize = 48 << 10;

/// The rests of a connection. They grow while it brings little each time, and shrink while it brings much. After a rest that
/// brought nothing there is none, so that the first piece after a pause is read at once.
#[derive(Debug, Default)]
pub(super) struct RestPace {
    rest: Duration,
    /// How many bytes have come since the last rest began.
    bytes: usize,
}

impl RestPace {
    /// So many bytes were read.
    pub(super) fn note(&mut self, bytes: usize) {
        self.bytes += bytes;
    }

    /// Nothing is left to read. Returns how long to rest; `None` to wait for the next piece instead.
    pub(super) fn next_rest(&mut self) -> Option<Duration> {
        self.rest = match std::mem::take(&mut self.bytes) {
            0 => Duration::ZERO,
            1..FEW => (self.rest * 2).clamp(SHORTEST, LONGEST),
            FEW..=MANY => self.rest,
            _ => self.rest / 2,
        };
        Some(self.rest).filter(|rest| *rest >= SHORTEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rests, in milliseconds, after these numbers of bytes.
    fn rests(bytes: &[usize]) -> Vec<u128> {
        let mut pace = RestPace::default();
        let rest = |bytes: &usize| {
            pace.note(*bytes);
            pace.next_rest().unwrap_or_default().as_millis()
        };
        bytes.iter().map(rest).collect()
    }

    #[test]
    fn rests_grow_while_little_comes_and_end_with_a_pause() {
        assert_eq!(rests(&[0, 100, 100, 100]), [0, 1, 2, 4]);
        assert_eq!(rests(&[9; 7]), [1, 2, 4, 8, 16, 16, 16]);
        assert_eq!(rests(&[9, 9, 9, 0, 0, 9]), [1, 2, 4, 0, 0, 1]);
    }

    #[test]
    fn rests_shrink_while_much_comes() {
        let (some, much) = (FEW, MANY + 1);
        assert_eq!(
            rests(&[9, 9, 9, some, much, much, much, much]),
            [1, 2, 4, 4, 2, 1, 0, 0]
        );
        assert_eq!(rests(&[much; 3]), [0; 3]);
    }
}
