//! The plain data of sources, shared by the code that reads objects and the code that shows them.
//!
//! A source is one list and watch of one resource in one scope. A [`SourceKey`] identifies it. It sends
//! [`Event`]s, and a [`Version`] is one version of one object.

mod body;
mod event;
mod key;
mod printed;
mod select;
mod state;
mod version;

pub use body::Body;
pub(crate) use body::Packer;
pub use event::{Event, Gap, GapCause, Why};
pub use key::{ClusterId, Form, Scope, SourceKey};
pub(crate) use printed::{PRINTED_PATH, with_printed};
pub use printed::{PrintedCell, printed};
pub(crate) use select::Matcher;
pub use select::{Select, Selectors};
pub use state::SourceState;
pub use version::Version;
