//! The faults that a proxy can cause, and their counts.

use std::time::Duration;

/// The behaviour of the proxy for all connections, until the test changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weather {
    /// All bytes pass.
    Fair,
    /// No bytes pass in either direction, and all connections stay open.
    Stalled,
    /// This many bytes each second pass on each connection.
    Throttled(u32),
    /// Each piece is delayed by this time.
    Delayed(Duration),
    /// New connections are reset.
    Refusing,
    /// Each connection ends after this many bytes of answers, at any point.
    Leaky(usize),
    /// One in this many requests is answered with 429, 500, 503 or 504. This fault and the next two need
    /// [`Protocol::Http`].
    Failing(u32),
    /// After one in this many lines of a watch, some of the last lines are repeated.
    Repeating(u32),
    /// One in this many lines of a watch loses its second half.
    Garbling(u32),
}

/// How all open connections end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With a FIN.
    Closed,
    /// With an RST.
    Reset,
}

/// The protocol that the proxy understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// None. TLS and HTTP/2 can pass through.
    Bytes,
    /// HTTP/1.1, one request for each connection.
    Http,
}

/// The number of strikes of each fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Struck {
    pub connections: u64,
    pub ended: u64,
    pub refused: u64,
    pub leaked: u64,
    pub failed: u64,
    pub repeated: u64,
    pub garbled: u64,
}

impl Struck {
    /// The number of strikes of this weather, if it is counted.
    pub fn of(&self, weather: Weather) -> Option<u64> {
        match weather {
            Weather::Fair | Weather::Stalled | Weather::Throttled(_) | Weather::Delayed(_) => None,
            Weather::Refusing => Some(self.refused),
            Weather::Leaky(_) => Some(self.leaked),
            Weather::Failing(_) => Some(self.failed),
            Weather::Repeating(_) => Some(self.repeated),
            Weather::Garbling(_) => Some(self.garbled),
        }
    }
}
