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

/// A stream that drops what nobody reads: after its reader has closed the pipe, every write succeeds.
pub(super) enum Unattended {
    /// Somebody may read.
    Open(Box<dyn Write + Send>),
    /// The reader has gone.
    Closed,
}

impl Unattended {
    /// Writes to the stream, or drops the bytes for a reader that has gone.
    fn until_closed(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<usize>,
        dropped: usize,
    ) -> io::Result<usize> {
        let Unattended::Open(out) = self else {
            return Ok(dropped);
        };
        match write(out) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                *self = Unattended::Closed;
                Ok(dropped)
            }
            done => done,
        }
    }
}

impl Write for Unattended {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.until_closed(|out| out.write(bytes), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.until_closed(|out| out.flush().map(|()| 0), 0)
            .map(drop)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A pipe that takes this many bytes before its reader closes it, or another error.
    struct Pipe(usize, io::ErrorKind);

    impl Write for Pipe {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(self.0);
            self.0 -= taken;
            if taken == 0 {
                return Err(self.1.into());
            }
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(self.1.into())
        }
    }

    #[test]
    fn only_a_closed_pipe_drops_what_is_written() {
        for room in [0, 1, 4] {
            let pipe = Pipe(room, io::ErrorKind::BrokenPipe);
            let mut out = Unattended::Open(Box::new(pipe));
            for _ in 0..2 {
                out.write_all(b"line").expect("nobody reads it");
                out.flush().expect("nobody reads it");
            }
        }
        let full = Pipe(1, io::ErrorKind::StorageFull);
        let mut out = Unattended::Open(Box::new(full));
        let error = out.write_all(b"line").expect_err("the disk is full");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}
