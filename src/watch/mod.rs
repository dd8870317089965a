//! The multiplexer: one upstream list and watch per source, however many views subscribe.

mod error;
mod event;
mod http;
mod key;
mod transport;

pub use error::SourceError;
pub use event::{Event, Gap, GapCause, Version, Why};
pub use http::HttpTransport;
pub use key::{ClusterId, Form, Scope, SourceKey};
pub use transport::{At, BoxFuture, LineStream, ListPage, Page, Transport};
