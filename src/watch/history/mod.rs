//! Looking back: the versions that an API server still has, until it compacts its store (by default for
//! five to ten minutes), read one by one at their exact revisions.
//!
//! A list with `resourceVersionMatch=Exact` answers what was there at a revision
//! (<https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list>); with
//! `fieldSelector=metadata.name=` it reads one key. It takes the right to list, which a watch takes anyway.

mod cached;
mod dates;
mod end;
mod firsts;
mod lifetimes;
mod look;
mod memory;
mod objects_at;
mod past_event;
mod read;
mod replay;
mod revision;
#[cfg(test)]
mod tests;
mod turns;
mod walk;
mod watch_cache;
mod window;

pub(super) use dates::leases;
pub use dates::{Between, Dates, is_surely_before};
pub use end::End;
pub use look::History;
pub(super) use memory::Memory;
pub(super) use objects_at::ObjectAt;
pub use objects_at::ObjectsAt;
pub use past_event::{Past, Presence, Told, in_order};
pub(super) use read::{Archive, Unread};
pub use revision::Revision;
pub(super) use revision::Span;
pub use turns::Turns;
pub use walk::{Limits, Walk};
pub(super) use watch_cache::{CachedEvent, Lacks, Quiet, Short, WatchCache};
pub use window::{Changed, Comparison, Missing};
