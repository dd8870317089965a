//! What a source is, and what it sends: plain data between those who read objects and those who look at them.
//!
//! A source is one list and watch of one resource in one scope. A [`SourceKey`] says which, an [`Event`] is what it
//! sends, a [`Version`] is one version of one object in it.

mod body;
mod event;
mod key;
mod select;
mod state;
mod version;

pub use body::Body;
pub(crate) use body::Packer;
pub use event::{Event, Gap, GapCause, Why};
pub use key::{ClusterId, Form, Scope, SourceKey};
pub(crate) use select::Matcher;
pub use select::{Select, Selectors};
pub use state::SourceState;
pub use version::Version;
