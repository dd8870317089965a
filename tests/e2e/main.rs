//! The end-to-end tests: the program against a real control plane, and against the reference of its
//! status rules. They need Go, and run with `cargo test --test e2e` alone.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on fails; clippy's leave does not reach helpers"
)]

mod controlplane;
mod kstatus;
mod outage;
mod verbs;

#[path = "../support/mod.rs"]
mod support;
