//! The fault script: what goes wrong with which requests, as plain data.

use std::ops::RangeInclusive;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The requests a fault can hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Each of the others.
    Any,
    /// One object by name.
    Get,
    /// A listing or a page of one.
    List,
    /// A watch.
    Watch,
}

/// A place in an answer. Bookmarks do not count as events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Before anything is sent.
    BeforeHeaders,
    /// After the headers; of the body, nothing.
    AfterHeaders,
    /// After this many events of a watch; amid the body of a list.
    AfterEvents(usize),
    /// In the middle of the event after this many; amid the body of a list.
    MidLine(usize),
}

/// How a connection or a body ends before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// As if all had been said: with the last chunk.
    Clean,
    /// The connection is closed (FIN) without the last chunk.
    Dropped,
    /// The connection is reset (RST).
    Reset,
}

/// A line that does not say what it should, in place of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadLine {
    /// No JSON at all.
    Garbage,
    /// The event's first half, with a line end.
    Truncated,
    /// The event with bytes that are not UTF-8.
    NotUtf8,
    /// The event, padded to this many bytes.
    Long(usize),
    /// The event under a `type` that no client knows.
    UnknownType,
}

/// How events are laid out on the wire; all of these are legal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Lines end in CR LF.
    Crlf,
    /// An empty line after each event.
    BlankLines,
    /// `object` before `type`.
    ObjectFirst,
    /// All events that are due in one chunk.
    Together,
    /// Each line in chunks of this many bytes.
    Split(usize),
    /// Each event a gzip member of its own, if the client accepts gzip.
    Gzip,
}

/// Where an expiry (410) shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// As an ERROR event after this many events of a watch.
    InStream(usize),
    /// As the HTTP status.
    HttpStatus,
    /// As the HTTP status of a list's second and later pages.
    SecondPage,
}

/// The body of an injected error status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorBody {
    /// A `Status` object in one line.
    Status,
    /// A `Status` object over several lines.
    PrettyStatus,
    /// A proxy's page.
    Html,
}

/// What goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// The answer ends early.
    Cut {
        /// Where.
        at: Place,
        /// How.
        end: End,
    },
    /// Nothing more comes, while the connection stays open.
    Stall {
        /// From where on.
        at: Place,
    },
    /// Each event comes this much later.
    Slow(Duration),
    /// An HTTP error.
    Status {
        /// The code.
        code: u16,
        /// The `Retry-After` header, seconds.
        retry_after: Option<u32>,
        /// The body.
        body: ErrorBody,
    },
    /// 410.
    Expire(Expiry),
    /// An ERROR event, and the end.
    ErrorEvent {
        /// After how many events.
        after: usize,
        /// `code` of the `Status`; 0 for none that says anything.
        code: u16,
    },
    /// One line is bad; the stream goes on after it.
    BadLine {
        /// It replaces the event after this many.
        after: usize,
        /// How it is bad.
        line: BadLine,
    },
    /// Another layout.
    Framing(Framing),
    /// The watch first repeats this many versions from before its resourceVersion.
    Replay(usize),
    /// The watch leaves out this many versions after its resourceVersion.
    Skip(usize),
    /// No bookmarks, though they were asked for.
    NoBookmarks,
    /// Each further page of a list begins with the last item of the page before.
    RepeatAcrossPages,
}

/// One fault: the requests it hits, and what happens to them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Which requests.
    pub verb: Verb,
    /// The plural of the resource; `None` for every one.
    pub resource: Option<String>,
    /// Which of the matching requests since the fault was injected, from 1.
    pub nth: RangeInclusive<u32>,
    /// What happens.
    pub effect: Effect,
}

impl Fault {
    /// A fault of the next request of this verb for this resource (`*`: any).
    pub fn on(verb: Verb, resource: &str, effect: Effect) -> Self {
        let resource = (resource != "*").then(|| resource.to_owned());
        Self {
            verb,
            resource,
            nth: 1..=1,
            effect,
        }
    }

    /// The same for the `nth` matching request, from 1.
    #[must_use]
    pub fn nth(self, nth: u32) -> Self {
        self.range(nth..=nth)
    }

    /// The same for these matching requests, from 1.
    #[must_use]
    pub fn range(mut self, nth: RangeInclusive<u32>) -> Self {
        self.nth = nth;
        self
    }

    /// The same for every matching request.
    #[must_use]
    pub fn always(self) -> Self {
        self.range(1..=u32::MAX)
    }

    fn hits(&self, verb: Verb, resource: &str) -> bool {
        (self.verb == Verb::Any || self.verb == verb)
            && self.resource.as_ref().is_none_or(|known| known == resource)
    }
}

/// The faults in force, each with the number of requests it has matched.
#[derive(Debug, Default)]
pub(super) struct Faults(Mutex<Vec<(Fault, u32)>>);

impl Faults {
    pub(super) fn inject(&self, fault: Fault) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push((fault, 0));
    }

    pub(super) fn clear(&self) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    /// Counts a request and answers what befalls it.
    pub(super) fn befall(&self, verb: Verb, resource: &str) -> Vec<Effect> {
        let mut faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut effects = Vec::new();
        for (fault, count) in faults
            .iter_mut()
            .filter(|(fault, _)| fault.hits(verb, resource))
        {
            *count = count.saturating_add(1);
            if fault.nth.contains(count) {
                effects.push(fault.effect.clone());
            }
        }
        faults.retain(|(fault, count)| count < fault.nth.end());
        effects
    }
}
