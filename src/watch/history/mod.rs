//! Looking back: the versions that an API server still has, until it compacts its store (by default for
//! five to ten minutes), read one by one at their exact revisions.
//!
//! A list with `resourceVersionMatch=Exact` answers what was there at a revision
//! (<https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list>); with
//! `fieldSelector=metadata.name=` it reads one key. It takes the right to list, which a watch takes anyway.

mod dates;
mod look;
mod order;
mod read;
mod revision;
mod ring;
#[cfg(test)]
mod tests;
mod turns;
mod walk;

pub(super) use dates::leases;
pub use dates::{Between, Dates, is_surely_before};
pub use look::{Comparison, History};
pub use order::{Told, in_order};
pub(super) use read::{Archive, Memory, Unread};
pub use revision::Revision;
pub(super) use ring::oldest as named_oldest;
pub use turns::Turns;
pub use walk::{End, Limits, Past, Presence, Walk};
