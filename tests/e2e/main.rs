//! The end-to-end tests: the program against a real control plane, and against the reference of its
//! status rules. They need Go, and run with `cargo test --test e2e` alone.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    unreachable_pub,
    reason = "a test that cannot go on fails, has deadlines, and is a crate of its own"
)]

mod controlplane;
mod ends;
mod faults;
mod history;
mod kstatus;
mod list_keys;
mod outage;
mod sandbox;
mod verbs;

#[expect(dead_code, reason = "tests/it uses what this does not")]
#[path = "../support/mod.rs"]
mod support;
