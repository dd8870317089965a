//! The `kubectl-spy` binary: hands arguments and environment to the library.

fn main() {}
