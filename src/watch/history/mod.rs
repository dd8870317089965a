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
mod look;
mod memory;
mod order;
mod patient;
mod read;
mod replay;
mod revision;
mod ring;
#[cfg(test)]
mod tests;
mod turns;
mod walk;
mod window;

pub(super) use dates::leases;
pub use dates::{Between, Dates, is_surely_before};
pub use end::End;
pub use look::History;
pub(super) use memory::Memory;
pub use order::{Told, in_order};
pub(super) use read::{Archive, Unread};
pub(super) use replay::named_oldest;
pub use revision::Revision;
pub use turns::Turns;
pub use walk::{Limits, Past, Presence, Walk};
pub use window::{Changed, Comparison, Missing, ObjectsAt};
