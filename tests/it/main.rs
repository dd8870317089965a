//! The integration tests in one binary: one file for each verb, against the sandbox, and checks of the source
//! tree.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    unreachable_pub,
    reason = "tests fail by panicking, read the clock for deadlines, and are a crate of their own"
)]

mod agreement;
mod answers;
mod architecture;
mod at;
mod changes;
mod cli;
mod clock;
mod clusters;
mod complete;
mod credentials;
mod demo;
mod dependents;
mod docs;
mod dumps;
mod escapes;
mod faults;
mod fights;
mod file;
mod helm;
mod hostile;
mod inventories;
mod last_change;
mod last_lines;
mod log_timeline;
mod log_wait;
mod logs;
mod manifests;
mod outages;
mod output;
mod package_states;
mod packages;
mod plain_english;
mod record;
mod record_at;
mod record_attacks;
mod record_complete;
mod record_missing;
mod record_unread;
mod recorded;
mod recording;
mod recreated;
mod requests;
mod revoked;
mod schedules;
mod schema;
mod secrets;
mod serve;
mod serve_kube_api;
mod serve_manifest;
mod serve_openapi;
mod serve_readers;
mod serve_reports;
mod servers;
mod status;
mod taken_away;
mod terminal;
mod throttled;
mod trace;
mod wait;
mod wait_current;
mod wait_logs;
mod watch_core;
mod webhooks;

#[path = "../support/mod.rs"]
mod support;
