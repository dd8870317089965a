//! The one integration binary: a file a verb, against the sandbox, and the checks of the tree itself.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    unreachable_pub,
    reason = "a test that cannot go on fails, has deadlines, and is a crate of its own"
)]

mod answers;
mod architecture;
mod changes;
mod cli;
mod credentials;
mod demo;
mod docs;
mod ends;
mod escapes;
mod faults;
mod file;
mod hostile;
mod manifests;
mod output;
mod requests;
mod schedules;
mod schema;
mod secrets;
mod status;
mod terminal;
mod trace;
mod watch_core;

#[path = "../support/mod.rs"]
mod support;
