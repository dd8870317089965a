//! The one integration binary: a file a verb, against the sandbox, and the checks of the tree itself.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on fails; clippy's leave does not reach helpers"
)]

mod architecture;
mod changes;
mod cli;
mod docs;
mod secrets;
mod status;
mod terminal;
mod watch_core;
mod schema;
mod trace;

#[path = "../support/mod.rs"]
mod support;
