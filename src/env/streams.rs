//! The process's standard streams: output with kubectl's errors, the lines of `-v`, and the messages of panics.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};

use super::keys::restore_terminal;
use crate::render::display::{Line, Stream};

/// Standard output, with kubectl's error messages: `write /dev/stdout: …`.
///
/// A process without standard output (`>&-`) cannot notice that: Rust opens `/dev/null` in its place before `main`, as Go
/// does for kubectl. That looks like a `/dev/null` that the parent opened for reading and writing, such as Python's
/// `subprocess.DEVNULL`.
pub(super) enum Stdout {
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

/// Where the lines go: at once to standard error, unless a view redraws a frame on the same terminal. Then they wait until
/// the view prints them above the frame.
#[derive(Clone)]
pub struct RequestLines {
    held: Arc<Mutex<Vec<String>>>,
    stderr: Option<Arc<Mutex<Stream>>>,
    /// Whether a view redraws frames on the terminal of standard error.
    has_frames: Arc<AtomicBool>,
}

impl RequestLines {
    pub(super) fn at_once(stderr: Stream) -> RequestLines {
        RequestLines {
            held: Arc::default(),
            stderr: Some(Arc::new(Mutex::new(stderr))),
            has_frames: Arc::default(),
        }
    }

    /// Keeps the lines until they are taken.
    pub(super) fn held() -> RequestLines {
        RequestLines {
            held: Arc::default(),
            stderr: None,
            has_frames: Arc::default(),
        }
    }

    /// From now on, a view redraws frames on the same terminal.
    pub(crate) fn hold(&self) {
        self.has_frames.store(true, Ordering::Relaxed);
    }

    /// Prints lines, or holds them.
    pub(crate) fn print(&self, lines: Vec<String>) {
        let has_frames = self.has_frames.load(Ordering::Relaxed);
        let Some(stderr) = self.stderr.as_ref().filter(|_| !has_frames) else {
            let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            held.extend(lines);
            return;
        };
        let lines: Vec<_> = lines.iter().map(Line::plain).collect();
        let mut stderr = stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let _closed_pipe = stderr.print(&lines);
    }

    /// The lines that wait, each once.
    pub(crate) fn take(&self) -> Vec<String> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *held)
    }
}

/// Makes a panic print its message as display text. A second call does nothing.
pub(crate) fn escape_panics() {
    static SET: Once = Once::new();
    SET.call_once(|| {
        std::panic::set_hook(Box::new(|panic| {
            restore_terminal();
            let thread = std::thread::current();
            let thread = thread.name().unwrap_or("<unnamed>");
            let report = report(thread, &panic.to_string(), &Backtrace::capture());
            // If the stream is closed, there is nothing to do.
            let _closed = Stream::new(io::stderr()).print(&Line::plain_lines(&report));
        }));
    });
}

/// The text that std prints for a panic.
fn report(thread: &str, panic: &str, backtrace: &Backtrace) -> String {
    match backtrace.status() {
        BacktraceStatus::Captured => format!("thread '{thread}' {panic}\n{backtrace}"),
        _ => format!("thread '{thread}' {panic}\nnote: set RUST_BACKTRACE=1 to see a backtrace\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Capture;

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

    #[test]
    fn lines_are_printed_at_once_or_wait() {
        let out = Capture::default();
        let at_once = RequestLines::at_once(Stream::new(out.clone()));
        at_once.print(vec!["a".to_owned(), "b".to_owned()]);
        assert_eq!(out.text(), "a\nb\n");
        assert!(at_once.take().is_empty());
        at_once.hold();
        at_once.print(vec!["c".to_owned()]);
        assert_eq!(out.text(), "a\nb\n");
        assert_eq!(at_once.take(), ["c"]);
        let held = RequestLines::held();
        held.print(vec!["a".to_owned()]);
        held.print(vec!["b".to_owned()]);
        assert_eq!(held.take(), ["a", "b"]);
        assert!(held.take().is_empty());
    }

    #[test]
    fn a_panic_prints_nothing_that_a_terminal_obeys() {
        let panic = "panicked at src/a.rs:1:2:\nno pod \u{1b}]0;owned\u{7}";
        let report = report("main", panic, &Backtrace::disabled());
        let lines: Vec<String> = Line::plain_lines(&report)
            .iter()
            .map(|line| line.as_str().to_owned())
            .collect();
        assert_eq!(
            lines,
            [
                "thread 'main' panicked at src/a.rs:1:2:",
                "no pod ^[]0;owned^G",
                "note: set RUST_BACKTRACE=1 to see a backtrace",
            ]
        );
    }
}
