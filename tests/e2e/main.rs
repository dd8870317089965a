//! The end-to-end tests run the program against a real control plane, and against the reference
//! implementation of its status rules. They need Go, and run only with `cargo test --test e2e`.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stdout,
    unreachable_pub,
    reason = "tests fail by panicking, read the clock for deadlines, print figures, and are a crate of their own"
)]

mod arguments;
mod completion;
mod controlplane;
mod custom_evidence;
mod evidence;
mod faults;
mod hand_node;
mod history;
mod kstatus;
mod last_lines;
mod list_keys;
mod log_endpoint;
mod log_roles;
mod log_timeline;
mod logs;
mod logs_revoked;
mod logs_unread;
mod outage;
mod package_documents;
mod recorder;
mod refusals;
mod rollouts;
mod sandbox;
mod serve_clients;
mod serve_readers;
mod servers;
mod truth;
mod verbs;
mod wait;
mod wait_current;

#[expect(dead_code, reason = "only tests/it uses some of these")]
#[path = "../support/mod.rs"]
mod support;
