//! The process's standard output. Its errors name `/dev/stdout`.

use std::io::{self, Write};

/// Standard output, with kubectl's error messages: `write /dev/stdout: …`.
///
/// A process without standard output (`>&-`) cannot notice that: Rust opens `/dev/null` in its place before `main`, as Go
/// does for kubectl. That looks like a `/dev/null` that the parent opened for reading and writing, such as Python's
/// `subprocess.DEVNULL`.
pub(super) enum Stdout {
    /// A stream that is open for writing.
    Open(io::Stdout),
    /// A stream that is open only for reading. Rust would drop writes to it without an error.
    ReadOnly,
}

impl Stdout {
    /// The standard output of this process.
    pub(super) fn of_process() -> Stdout {
        if is_read_only() {
            Stdout::ReadOnly
        } else {
            Stdout::Open(io::stdout())
        }
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stdout::Open(stdout) => stdout.write(bytes).map_err(|error| named(&error)),
            Stdout::ReadOnly => Err(named(&io::Error::other("Bad file descriptor"))),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stdout::Open(stdout) => stdout.flush().map_err(|error| named(&error)),
            Stdout::ReadOnly => Ok(()),
        }
    }
}

/// Adds `write /dev/stdout` to an error, and removes its number.
fn named(error: &io::Error) -> io::Error {
    let text = error.to_string();
    let what = text.split(" (os error").next().unwrap_or_default();
    io::Error::new(error.kind(), format!("write /dev/stdout: {what}"))
}

#[cfg(unix)]
fn is_read_only() -> bool {
    use rustix::fs::{OFlags, fcntl_getfl};
    let flags = fcntl_getfl(rustix::stdio::stdout());
    flags.is_ok_and(|flags| flags & OFlags::RWMODE == OFlags::RDONLY)
}

#[cfg(not(unix))]
fn is_read_only() -> bool {
    false
}
