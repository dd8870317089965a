//! What a subscriber asks of its source: how long to wait for it, and what it gets after an interruption.

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

/// What a subscriber asks of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// How long the source waits for it.
    pub patience: Patience,
    /// What it gets after an interruption.
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
    /// Every version it missed, once that has been read back: it shows how things came about.
    Every,
    /// A gap and the newest versions, at once: it shows how things are.
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
