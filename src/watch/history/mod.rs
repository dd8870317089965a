//! Reads the past: the versions that an API server still has, one by one at their exact revisions. It has them
//! until it compacts its storage, by default for five to ten minutes.
//!
//! A list with `resourceVersionMatch=Exact` returns the objects at a revision
//! (<https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list>). With
//! `fieldSelector=metadata.name=` the server reads only one key. It needs the permission to list, which a source
//! needs anyway.

mod cached;
mod cached_object;
mod dates;
mod end;
mod left_selector;
mod look;
mod objects_at;
mod past_event;
mod read;
mod replay;
mod request_limit;
mod revision;
mod search;
mod server_past;
#[cfg(test)]
mod tests;
mod versions_before;
mod walk;
mod watch_cache;
mod window;

pub(super) use dates::leases;
pub use dates::{Between, Dates, Storage, is_surely_before};
pub use end::End;
pub use look::History;
pub(super) use objects_at::ObjectAt;
pub use objects_at::ObjectsAt;
pub use past_event::{Past, PastEvent, Presence, in_order};
pub(super) use read::{Archive, PastError};
pub use request_limit::{RequestAllowance, RequestLimit};
pub use revision::Revision;
pub(super) use revision::RevisionSpan;
pub(super) use server_past::ServerPast;
pub use walk::{Walk, WalkLimits};
pub(super) use watch_cache::{CacheEnd, CacheWait, CachedEvent, Lacks, WatchCache};
pub use window::{Changed, Comparison, Missing};
