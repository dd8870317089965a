//! `changes`: each version of each object as a diff, with who made it.

mod state;
