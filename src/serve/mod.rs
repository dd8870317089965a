//! The server of `kubectl spy serve`: one follower of a cluster, and many readers.
//!
//! The follower publishes a [`Board`] whenever something has changed. A snapshot on it never changes, so readers share it
//! without a copy. Events are kept in a ring, and each reader has only a position in it: a reader that does not read costs
//! nothing, delays nobody, and finds a gap when it comes back too late.

mod board;
mod event_ring;
mod gate;
mod metrics;
mod page;
mod params;
mod routes;
mod snapshot;
mod streams;

pub use board::{Board, SourceRecord, Totals, Transition};
pub use event_ring::{EventId, EventRing, EventSubject, NumberedEvent, Resumption, RingEvent};
pub use gate::{AccessToken, Denial, Gate, TokenPlace};
pub use metrics::{ServerCounts, metrics};
pub use params::{ParamError, Params, RowFilter};
pub use routes::{Question, QuestionError, RecordVerb, WebServer, router};
pub use snapshot::{Link, ServedRow, Snapshot, SourceHealth, UnhealthyRow};
