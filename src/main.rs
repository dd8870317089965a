//! The `kubectl-spy` binary: hands the arguments and the environment to the library.

use std::process::ExitCode;

/// The C library's allocators do not suit a watch that lasts for hours. musl's, which the released program would use, is
/// slow: a listing took 40 % more CPU time. glibc's keeps freed memory in pieces: 10,000 updates of 10,000 objects took
/// 12 MB more.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    kubectl_spy::run(std::env::args_os(), kubectl_spy::Env::from_process()).into()
}
