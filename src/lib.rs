//! `kubectl-spy`: status, changes and traces of Kubernetes objects on one watch core.

pub mod cluster;
pub mod env;
pub mod diff;
pub mod graph;
pub mod object;
pub mod render;
pub mod sandbox;
pub mod status;
pub mod watch;
