//! What a subscriber asks of its source: how long it is waited for, and what it is told after an
//! interruption.

use std::time::Duration;

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

/// What a subscriber is told after an interruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recall {
    /// Every version it missed, once that has been read back: what it is for is how things came about.
    Every,
    /// What is now, at once, after a gap: what it is for is how things are.
    Newest,
}

/// Whether others read the source as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Company {
    Alone,
    Others,
    /// It does not matter: what is upstream stays there.
    Unhurried,
}
