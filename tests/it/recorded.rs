//! What terminals of 80, 100 and 120 columns show of real broken objects: the reasons, the states and the new values stay.
//!
//! `recorded/shop.jsonl` was recorded from the control plane of `tests/e2e/controlplane` with
//! `kubectl get -w -o json --output-watch-events`: a Deployment and a `StatefulSet` get a bad image, the first is scaled
//! into a quota, and another Deployment crashes. Of some objects only the last version is kept, and not their
//! `managedFields`.

mod changes;
mod status;
mod trace;

use super::support::Spy;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/recorded/shop.jsonl");

/// What a terminal of this width shows.
fn shown(columns: u16, args: &str) -> String {
    let args: Vec<&str> = args.split(' ').collect();
    let place = [
        "-n",
        "shop",
        "--from",
        FILE,
        "--now",
        "2026-11-24T18:41:00Z",
        "--once",
    ];
    let mut terminal = Spy::alone().on_terminal((columns, 12), &[&args[..], &place].concat());
    assert!(terminal.finish().success());
    terminal.transcript()
}
