//! The library as private modules of a program: `.ci/run` checks it, nobody runs it.
//!
//! In the library every `pub` item counts as used. Here rustc reports each item that the program does not use.
//! What only tests and fuzz targets use is behind the feature `testing`, which is off here.

#![deny(dead_code)]
#![expect(
    unreachable_pub,
    unused_imports,
    reason = "the library exports names for others"
)]

#[path = "../src/cli/mod.rs"]
mod cli;
#[path = "../src/cluster/mod.rs"]
mod cluster;
#[path = "../src/commands/mod.rs"]
mod commands;
#[path = "../src/diff/mod.rs"]
mod diff;
#[path = "../src/env/mod.rs"]
mod env;
#[path = "../src/graph/mod.rs"]
mod graph;
#[path = "../src/kafka/mod.rs"]
mod kafka;
#[path = "../src/logs/mod.rs"]
mod logs;
#[path = "../src/model/mod.rs"]
mod model;
#[path = "../src/object/mod.rs"]
mod object;
#[path = "../src/record/mod.rs"]
mod record;
#[path = "../src/render/mod.rs"]
mod render;
#[path = "../src/rollout/mod.rs"]
mod rollout;
#[path = "../src/sandbox/mod.rs"]
mod sandbox;
#[path = "../src/serve/mod.rs"]
mod serve;
#[path = "../src/sink/mod.rs"]
mod sink;
#[path = "../src/source/mod.rs"]
mod source;
#[path = "../src/status/mod.rs"]
mod status;
#[path = "../src/watch/mod.rs"]
mod watch;

fn main() -> std::process::ExitCode {
    cli::run(std::env::args_os(), env::Env::from_process()).into()
}
