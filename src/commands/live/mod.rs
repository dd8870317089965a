//! The frame of every live verb: its session and sources, the loop, the terminal and the end.

pub(super) mod follow;
pub(super) mod nonblocking_stdout;
pub(super) mod session;
pub(super) mod shutdown;
pub(super) mod sources;
pub(super) mod terminal;
