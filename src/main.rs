//! The `kubectl-spy` binary: hands the arguments and the environment to the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    kubectl_spy::run(std::env::args_os(), kubectl_spy::Env::from_process()).into()
}
