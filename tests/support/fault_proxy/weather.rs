//! What a proxy can do, and how often it did.

use std::time::Duration;

/// What the proxy does to every connection until the test changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weather {
    /// Everything passes.
    Fair,
    /// Nothing passes in either direction, and all connections stay open.
    Stalled,
    /// So many bytes a second pass on each connection.
    Throttled(u32),
    /// Each piece passes so much later.
    Delayed(Duration),
    /// New connections are reset.
    Refusing,
    /// Each connection ends after so many bytes of answers, in the middle of whatever they are.
    Leaky(usize),
    /// One in so many requests is answered with 429, 500, 503 or 504. As the next two, this needs
    /// [`Protocol::Http`].
    Failing(u32),
    /// One in so many lines of a watch is followed by some of the last lines again.
    Repeating(u32),
    /// One in so many lines of a watch loses its second half.
    Garbling(u32),
}

/// How all connections of a moment end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With a FIN.
    Closed,
    /// With an RST.
    Reset,
}

/// What the proxy knows of what it forwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Nothing. TLS can pass, and HTTP/2 in it.
    Bytes,
    /// HTTP/1.1, a request a connection.
    Http,
}

/// How often each fault has struck.
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
    /// How often this weather has struck, if it is of those that are counted.
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
