//! `kubectl-spy`: a kubectl plugin that watches objects. What state they are in and why, what changed,
//! who changed it, and what serves what.
//!
//! The map: [`object`] and [`source`] are the plain data that everyone shares; [`diff`], [`status`] and [`graph`] are
//! pure engines over it, [`logs`] reads the logs of containers without a gap, [`model`] is the live state of a view, and
//! [`rollout`] follows the change of a workload; [`cluster`] and [`watch`] do the talking; [`record`] keeps what was seen
//! in files, and [`kafka`] carries a record through a topic; [`serve`] shows what is there to browsers and programs, and
//! [`sink`] sends changes of state to others; [`render`] makes text; [`sandbox`] is an embedded API server; `commands` holds
//! a folder per verb and [`cli`] the command line. ARCHITECTURE.md says who may import whom and follows one event from the
//! wire to the screen.

pub mod cli;
pub mod cluster;
mod commands;
pub mod diff;
pub mod env;
pub mod graph;
pub mod kafka;
pub mod logs;
pub mod model;
pub mod object;
pub mod record;
pub mod render;
pub mod rollout;
pub mod sandbox;
pub mod serve;
pub mod sink;
pub mod source;
pub mod status;
pub mod watch;

pub use cli::run;
pub use env::Env;
