//! `Phase`: what the driver of a source does next. A phase ends with the next one. After an error it may be repeated.

use std::sync::Arc;

use tokio::time::Instant;

use super::continuity::Trust;
use crate::object::ResourceVersion;
use crate::source::GapCause;

/// The cause to show when a watch ends just after it was opened.
pub(super) const CLOSED: &str = "the server ended the watch";

/// What a driver does next.
#[derive(Debug)]
pub(super) enum Phase {
    /// It lists. `gap` is why versions since the last listing may be missing.
    List { gap: Option<GapCause> },
    /// It watches from the version of the source.
    Watch(NextWatch),
    /// It lists from time to time, because the source cannot be watched.
    Poll(Polling),
}

impl Phase {
    /// The first listing, or one that itself finds out what is missing.
    pub(super) const LIST: Phase = Phase::List { gap: None };

    pub(super) fn list_after(gap: GapCause) -> Phase {
        Phase::List { gap: Some(gap) }
    }
}

/// A watch that is to be opened.
#[derive(Clone, Debug)]
pub(super) struct NextWatch {
    /// Whether the server may have been restored since the last listing.
    pub(super) trust: Trust,
    /// Whether a 410 caused the last listing, and no watch has lasted since.
    pub(super) is_after_410: bool,
    /// The version before the last line that could not be read.
    pub(super) bad_at: Option<ResourceVersion>,
    /// Why the watch before it ended, if nothing was reported.
    pub(super) why_ended: Arc<str>,
}

impl NextWatch {
    pub(super) fn after_list(is_after_410: bool) -> NextWatch {
        NextWatch {
            trust: Trust::Proven,
            is_after_410,
            bad_at: None,
            why_ended: CLOSED.into(),
        }
    }

    /// The first watch of a source that starts from a known state.
    pub(super) fn resumed() -> NextWatch {
        NextWatch {
            trust: Trust::Doubted,
            ..NextWatch::after_list(false)
        }
    }

    /// The watch after this one, which ended in a routine way.
    pub(super) fn again(&self, why_ended: Arc<str>) -> Phase {
        Phase::Watch(NextWatch {
            why_ended,
            ..self.clone()
        })
    }
}

/// How a source is polled.
#[derive(Clone, Debug)]
pub(super) struct Polling {
    /// Why it cannot be watched.
    pub(super) cause: Arc<str>,
    /// The time at which to try a watch again.
    pub(super) until: Instant,
}

/// What the server has allowed so far.
#[derive(Debug, Default)]
pub(super) struct Allowed {
    /// Whether a listing has ever succeeded.
    pub(super) has_listed: bool,
    /// Whether a listing has succeeded since the last final refusal of one.
    lists: bool,
    watches: bool,
    /// The start of the refusals that are still doubted.
    pub(super) refused_since: Option<Instant>,
}

impl Allowed {
    pub(super) fn listed(&mut self) {
        (self.has_listed, self.lists) = (true, true);
    }

    /// Records an open watch.
    pub(super) fn watched(&mut self) {
        self.watches = true;
    }

    /// Whether the request of a phase has succeeded since its last final refusal.
    pub(super) fn worked(&mut self, phase: &Phase) -> &mut bool {
        match phase {
            Phase::List { .. } | Phase::Poll(_) => &mut self.lists,
            Phase::Watch(_) => &mut self.watches,
        }
    }
}
