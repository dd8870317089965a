//! The process's standard output, whose errors say what they are about.

use std::io::{self, Write};

/// Standard output, with kubectl's words for what goes wrong: `write /dev/stdout: …`.
///
/// A process that was started without one (`>&-`) does not come to know it: Rust opens `/dev/null` in its
/// place before `main`, as Go does before kubectl's, and no one can tell that from a `/dev/null` that the
/// parent has opened for reading and writing, as Python's `subprocess.DEVNULL` is.
pub(super) enum Stdout {
    /// What was opened for writing.
    Open(io::Stdout),
    /// What was opened for reading alone. Rust takes what is written to it, and drops it.
    ReadOnly,
}

impl Stdout {
    /// That of this process.
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

/// Says what an error is about, and leaves out its number.
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
