//! The multiplexer: one upstream list and watch per source, however many views subscribe.

mod backfill;
mod backoff;
mod demand;
mod driver;
mod envelope;
mod error;
mod file;
mod history;
mod http;
mod interruption;
pub mod logs;
mod missed;
mod mux;
mod options;
mod pages;
mod queue;
mod recent;
mod retrying_transport;
mod revision;
mod snapshot;
mod source;
mod store;
mod subscriptions;
#[cfg(test)]
mod tests;
mod transport;
mod watch_window;

pub use crate::cluster::Clock;
pub use envelope::{Item, Reader, WatchLine, WatchVerb};
pub use error::SourceError;
pub use file::{
    Faults, FileError, FileReader, FileResource, FileTransport, Foreign, LONGEST_INPUT, Language,
    Nameless, Plural, Syntax, documents_by_line, foreign_object, foreign_text, text_of,
};
pub(crate) use history::deleted;
pub use history::{
    Changed, Comparison, Dates, End, History, Missing, ObjectsAt, Past, PastEvent, Presence,
    Refusals, RequestAllowance, RequestLimit, Storage, Walk, WalkLimits, in_order,
    is_surely_before,
};
pub use http::{HttpTransport, source_keys};
#[cfg(any(test, feature = "testing"))]
pub use http::{parse_page, refusal};
pub use mux::{Mux, Source};
pub use options::MuxOptions;
pub use queue::{CatchUp, Patience, SubscribeOptions};
pub use recent::Recent;
pub use revision::{Between, Revision};
pub use snapshot::SnapshotTransport;
pub use store::KnownState;
pub use subscriptions::Subscriptions;
pub use transport::{
    At, Hole, LineStream, ListPage, LogAnswer, Page, RecordBegin, RecordedPast, Transport,
    Upstream, WATCH_SECONDS,
};
pub use watch_window::{WatchWindow, WindowEvent, WindowPlace, WindowStep};
