//! The multiplexer: one upstream list and watch per source, however many views subscribe.

mod backoff;
mod body;
mod driver;
mod envelope;
mod error;
mod event;
#[cfg(test)]
mod fake;
mod file;
mod health;
mod history;
mod hole;
mod http;
mod key;
mod lag;
mod members;
mod merge;
mod mux;
mod pages;
mod patience;
mod patient;
mod queue;
mod recent;
mod selector;
mod source;
mod store;
mod subscribe;
#[cfg(test)]
mod tests;
mod transport;

pub use body::Body;
pub use envelope::{Item, Line, Reader, Verb};
pub use error::SourceError;
pub use event::{Event, Gap, GapCause, Version, Why};
pub use file::{
    FileError, FileResource, FileTransport, Language, Plural, Syntax, documents, documents_by_line,
};
pub use history::{
    Between, Changed, Comparison, Dates, End, History, Limits, Missing, ObjectsAt, Past, Presence,
    Revision, Told, Turns, Walk, in_order, is_surely_before,
};
pub use http::{HttpTransport, parse_page, refusal, source_keys};
pub use key::{ClusterId, Form, Scope, SourceKey};
pub use merge::Subscriptions;
pub use mux::{Clock, Mux, Options};
pub use patience::{Patience, Recall};
pub use recent::Recent;
pub use store::identity;
pub use subscribe::{Every, Source};
pub use transport::{
    At, BoxFuture, LineStream, ListPage, Page, Transport, Upstream, WATCH_SECONDS,
};
