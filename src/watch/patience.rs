//! What a subscriber requires of its source: how long the source waits for it, and what it gets after an
//! interruption.

use std::time::Duration;

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
    pub(super) fn limit(self, company: Company) -> Duration {
        match (self, company) {
            // As good as forever: 136 years.
            (_, Company::Unhurried) => Duration::from_secs(u64::from(u32::MAX)),
            (Patience::Pipe, Company::Alone) => Duration::from_secs(30),
            (Patience::Pipe, Company::Others) | (Patience::Screen, _) => Duration::from_millis(250),
        }
    }
}

/// What a subscriber requires of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// How long the source waits for the subscriber.
    pub patience: Patience,
    /// What the subscriber gets after an interruption.
    pub catch_up: CatchUp,
}

impl From<Patience> for Terms {
    fn from(patience: Patience) -> Terms {
        let catch_up = CatchUp::Every;
        Terms { patience, catch_up }
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
pub(super) enum Company {
    Alone,
    Others,
    /// Waiting delays nobody: the upstream keeps what has not been read.
    Unhurried,
}
