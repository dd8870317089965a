//! The output of `changes`.

mod body;
mod documents;
mod fights;
mod initial_sync;
mod left_out;
mod options;
mod printout;
mod quiet_runs;
mod records;
mod rendered;
mod renderer;
mod seen_managers;
mod seen_paths;
mod short;
mod summary;
mod text;
mod unmatched;

pub(super) use crate::env::shifted;
pub(super) use left_out::LeftOut;
pub(super) use options::{Creation, DisplayOptions};
pub(super) use printout::Printout;
pub(super) use renderer::Renderer;
