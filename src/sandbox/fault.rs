//! The fault script as plain data: which requests fail, and how.

use std::ops::RangeInclusive;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The verbs of the requests that a fault can hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Every verb.
    Any,
    /// One object by name.
    Get,
    /// A listing or a page of one, of the present or of the past.
    List,
    /// A listing of the past (`resourceVersionMatch=Exact`).
    Exact,
    /// A watch.
    Watch,
}

/// A position in an answer. Bookmarks do not count as events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Before any byte is sent.
    BeforeHeaders,
    /// After the headers, before the body.
    AfterHeaders,
    /// After this many events of a watch; in the middle of the body of a list.
    AfterEvents(usize),
    /// In the middle of the event after this many; in the middle of the body of a list.
    MidLine(usize),
}

/// How a connection or a body ends early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// As if it were complete, with the last chunk.
    Clean,
    /// The connection is closed (FIN) without the last chunk.
    Dropped,
    /// The connection is reset (RST).
    Reset,
}

/// A bad line in place of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadLine {
    /// Text that is not JSON.
    Garbage,
    /// The event's first half, with a line end.
    Truncated,
    /// The event with bytes that are not UTF-8.
    NotUtf8,
    /// The event, padded to this many bytes.
    Long(usize),
    /// The event with a `type` that no client knows.
    UnknownType,
}

/// The layout of events on the wire. All of these layouts are legal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Lines end in CR LF.
    Crlf,
    /// An empty line after each event.
    BlankLines,
    /// `object` before `type`.
    ObjectFirst,
    /// All due events in one chunk.
    Together,
    /// Each line in chunks of this many bytes.
    Split(usize),
    /// Each event as a gzip member of its own, if the client accepts gzip.
    Gzip,
}

/// The place where an expiry (410) appears.
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
    /// The HTML page of a proxy.
    Html,
}

/// The effect of a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// The answer ends early.
    Cut {
        /// Position of the end.
        at: Place,
        /// Kind of end.
        end: End,
    },
    /// No more bytes are sent, and the connection stays open.
    Stall {
        /// Position of the stall.
        at: Place,
    },
    /// The answer begins this much later.
    Latency(Duration),
    /// Each event is delayed by this time.
    Slow(Duration),
    /// An HTTP error.
    Status {
        /// The code.
        code: u16,
        /// The `Retry-After` header, in seconds.
        retry_after: Option<u32>,
        /// The body.
        body: ErrorBody,
    },
    /// A 410.
    Expire(Expiry),
    /// An ERROR event, then the end of the watch.
    ErrorEvent {
        /// The number of events before it.
        after: usize,
        /// `code` of the `Status`; with 0 it has neither a reason nor a message.
        code: u16,
    },
    /// One line is bad; the stream continues after it.
    BadLine {
        /// The number of events before the one that it replaces.
        after: usize,
        /// The kind of bad line.
        line: BadLine,
    },
    /// Events have another layout.
    Framing(Framing),
    /// The watch first repeats this many versions up to its resourceVersion.
    Replay(usize),
    /// The watch omits this many versions after its resourceVersion.
    Skip(usize),
    /// The watch sends no bookmarks, even if the client asked for them.
    NoBookmarks,
    /// Every further page of a list begins with the last item of the page before.
    RepeatAcrossPages,
    /// A listing of the past answers the present, as from a server that ignores `resourceVersionMatch`.
    PresentInsteadOfPast,
}

/// One fault: the requests that it hits, and its effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The verb of the requests.
    pub verb: Verb,
    /// The plural of the resource; `None` for all resources.
    pub resource: Option<String>,
    /// The range of matching requests that it hits, counted from 1 since the injection.
    pub nth: RangeInclusive<u32>,
    /// Of that range, it hits the first request and then each one after this many. At least 1.
    pub step: u32,
    /// The effect.
    pub effect: Effect,
}

impl Fault {
    fn hits(&self, verb: Verb, resource: &str) -> bool {
        let is_of_verb = match self.verb {
            Verb::Any => true,
            Verb::List => matches!(verb, Verb::List | Verb::Exact),
            Verb::Get | Verb::Exact | Verb::Watch => self.verb == verb,
        };
        is_of_verb && self.resource.as_ref().is_none_or(|known| known == resource)
    }
}

/// The active faults, each with the number of requests that it has matched.
#[derive(Debug, Default)]
pub(super) struct ActiveFaults(Mutex<Vec<(Fault, u32)>>);

impl ActiveFaults {
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

    /// Counts a request and returns the effects of the faults that hit it.
    pub(super) fn effects_of(&self, verb: Verb, resource: &str) -> Vec<Effect> {
        let mut faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut effects = Vec::new();
        for (fault, count) in faults
            .iter_mut()
            .filter(|(fault, _)| fault.hits(verb, resource))
        {
            *count = count.saturating_add(1);
            if fault.nth.contains(count) && (*count - fault.nth.start()) % fault.step == 0 {
                effects.push(fault.effect.clone());
            }
        }
        faults.retain(|(fault, count)| count < fault.nth.end());
        effects
    }
}
