//! `Moment`: when something happened.

use jiff::Timestamp;

use crate::render::age;

/// When something happened: by the server's clock, in seconds, and by our clock if it was seen live.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) server: Option<Timestamp>,
    pub(super) seen: Option<Timestamp>,
}

impl Moment {
    /// The known time; the server's if both are known.
    pub(super) fn time(self) -> Option<Timestamp> {
        self.server.or(self.seen)
    }

    /// The time since `start`: in tenths of a second if both were seen live, because one clock then shows
    /// both; otherwise in seconds. `None` if a time is unknown, or `start` was later.
    pub(super) fn after(self, start: Moment) -> Option<String> {
        if let (Some(seen), Some(start)) = (self.seen, start.seen) {
            return Some(age::since_start(seen.duration_since(start)));
        }
        let span = self.time()?.duration_since(start.time()?);
        (!span.is_negative()).then(|| age::delta(span))
    }
}
