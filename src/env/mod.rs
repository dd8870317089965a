//! The only place that reads the clock, environment variables, terminal, locale and streams.
//!
//! All other code gets an [`Env`]. Tests build their own.

#[cfg(any(test, feature = "testing"))]
mod capture;
mod keys;
mod queued_stream;
mod streams;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, IsTerminal, Read};
use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::render::display::Stream;
use crate::render::screen::Size;
use streams::{Stdout, Unattended};

#[cfg(any(test, feature = "testing"))]
pub use capture::Capture;
pub(crate) use keys::{Keys, Typed, restore_terminal};
pub use queued_stream::QueuedStream;
pub use streams::RequestLines;
pub(crate) use streams::escape_panics;

/// Returns the size of the terminal as columns and rows; `None` if output is not a terminal.
pub type SizeSource = Arc<dyn Fn() -> Option<(u16, u16)> + Send + Sync>;

/// Returns how many bytes standard output surely takes now without blocking the writer.
pub type Room = Arc<dyn Fn() -> usize + Send + Sync>;

/// Returns whether nobody will read standard output any more.
pub type ReaderGone = Arc<dyn Fn() -> bool + Send + Sync>;

/// The values of `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ColorChoice {
    /// Colour on a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The environment of the process. Every value of every field is valid.
pub struct Env {
    /// This machine's clock.
    pub now: Clock,
    /// How far the clock that counts is ahead of this machine's. It is the server's clock for a verb that judges.
    pub ahead: Ahead,
    /// The environment variables at the start of the process.
    pub variables: BTreeMap<OsString, OsString>,
    /// Whether standard output is a terminal that supports colour and cursor sequences.
    pub stdout_tty: bool,
    /// Whether standard error is such a terminal.
    pub stderr_tty: bool,
    /// The current size of the terminal behind standard output.
    pub terminal: SizeSource,
    /// The local time zone.
    pub zone: TimeZone,
    /// Standard output: data.
    pub stdout: Stream,
    /// How many bytes standard output takes now.
    pub room: Room,
    /// Whether the reader of standard output has gone, as `head -1` has after its line.
    pub reader_gone: ReaderGone,
    /// Standard error: everything else.
    pub stderr: Stream,
    /// What waits for the reader of standard error.
    pub stderr_queue: QueuedStream,
    /// The lines of `-v`.
    pub requests: RequestLines,
    /// Standard input.
    pub stdin: Box<dyn Read + Send>,
}

/// The variable that sets the current time for end-to-end tests, in RFC 3339. It is not for users, so no help mentions it.
const NOW: &str = "KUBECTL_SPY_NOW";

/// The size of a terminal that does not report one: that of a VT100.
const USUAL_SIZE: (u16, u16) = (80, 24);

impl Env {
    /// The environment of this process.
    pub fn from_process() -> Env {
        let variables: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        let fixed = variables.get(OsStr::new(NOW));
        let fixed = fixed.and_then(|time| time.to_str()?.parse().ok());
        let obeys = obeys_sequences();
        let stdout_tty = io::stdout().is_terminal() && obeys;
        let stderr_tty = io::stderr().is_terminal() && obeys;
        let stderr_room: Room = Arc::new(|| room_of(&io::stderr()));
        let stderr_queue = QueuedStream::of_messages(Box::new(io::stderr()), stderr_room);
        Env {
            now: clock(fixed),
            ahead: Arc::new(|| SignedDuration::ZERO),
            variables,
            stdout_tty,
            stderr_tty,
            terminal: Arc::new(move || stdout_tty.then(terminal_size)),
            zone: TimeZone::system(),
            stdout: Stream::new(Stdout::of_process()),
            room: Arc::new(|| room_of(&io::stdout())),
            reader_gone: Arc::new(reader_gone),
            stderr: Stream::new(stderr_queue.clone()),
            requests: RequestLines::at_once(Stream::new(stderr_queue.clone())),
            stderr_queue,
            stdin: Box::new(io::stdin()),
        }
    }

    /// An empty environment. It has no variables, no terminal and no input, drops its output, and uses UTC. Its
    /// clock stands at 2026-01-02T03:04:05Z.
    #[cfg(any(test, feature = "testing"))]
    pub fn for_test() -> Env {
        let now = jiff::Timestamp::constant(1_767_323_045, 0);
        Env {
            now: Arc::new(move || now),
            ahead: Arc::new(|| SignedDuration::ZERO),
            variables: BTreeMap::new(),
            stdout_tty: false,
            stderr_tty: false,
            terminal: Arc::new(|| None),
            zone: TimeZone::UTC,
            stdout: Stream::default(),
            room: Arc::new(|| usize::MAX),
            reader_gone: Arc::new(|| false),
            stderr: Stream::default(),
            stderr_queue: QueuedStream::default(),
            requests: RequestLines::held(),
            stdin: Box::new(io::empty()),
        }
    }

    /// An environment with the same clocks and variables, and without a terminal and input. Its output goes to `stdout` and
    /// `stderr`.
    pub(crate) fn detached(&self, stdout: Stream, stderr: Stream) -> Env {
        Env {
            now: self.now.clone(),
            ahead: self.ahead.clone(),
            variables: self.variables.clone(),
            stdout_tty: false,
            stderr_tty: false,
            terminal: Arc::new(|| None),
            zone: TimeZone::UTC,
            stdout,
            room: Arc::new(|| usize::MAX),
            reader_gone: Arc::new(|| false),
            stderr,
            stderr_queue: QueuedStream::default(),
            requests: RequestLines::held(),
            stdin: Box::new(io::empty()),
        }
    }

    /// Keeps a reader that closes standard output from ending the program: what nobody reads is dropped from now on.
    pub(crate) fn outlive_reader(&mut self) {
        self.stdout = std::mem::take(&mut self.stdout).behind(Unattended::Open);
        self.reader_gone = Arc::new(|| false);
    }

    /// An environment variable; `None` if it is unset, empty or not UTF-8.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.path(name)?.to_str()
    }

    /// An environment variable that holds a path or a list of paths; `None` if it is unset or
    /// empty.
    pub fn path(&self, name: &str) -> Option<&OsStr> {
        let value = self.variables.get(OsStr::new(name))?;
        (!value.is_empty()).then_some(value)
    }

    /// The columns and rows of a view on standard output; `None` without a terminal, so that views cut nothing.
    ///
    /// `COLUMNS` can make it narrower but not wider, because a live frame must not wrap.
    pub fn size(&self) -> Option<Size> {
        let (columns, rows) = (self.terminal)()?;
        let wanted = self.variable("COLUMNS").and_then(|text| text.parse().ok());
        let wanted = wanted.filter(|&columns: &u16| columns > 0);
        let columns = wanted.unwrap_or(columns).min(columns);
        Some(Size {
            columns: columns.into(),
            rows: rows.into(),
        })
    }

    /// Whether to colour standard output.
    pub fn color(&self, choice: ColorChoice) -> bool {
        self.color_on(choice, self.stdout_tty)
    }

    /// Whether to colour standard error.
    pub fn stderr_color(&self, choice: ColorChoice) -> bool {
        self.color_on(choice, self.stderr_tty)
    }

    /// Whether a view may redraw itself in place on standard output.
    pub fn is_live(&self) -> bool {
        self.stdout_tty && !self.is_dumb()
    }

    /// Whether to print only ASCII, because the locale names another character set than UTF-8.
    ///
    /// `LC_ALL` comes before `LC_CTYPE` before `LANG`, as in setlocale(3). Without a locale it is false: containers have
    /// none, but the terminals in front of them show UTF-8.
    pub fn ascii(&self) -> bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
            .into_iter()
            .find_map(|name| self.path(name));
        locale.is_some_and(|locale| {
            let locale = locale.to_string_lossy().to_ascii_lowercase();
            !locale.contains("utf-8") && !locale.contains("utf8")
        })
    }

    /// Decides by `--color`, then <https://no-color.org>, then <https://bixense.com/clicolors> and `TERM`, then the terminal.
    fn color_on(&self, choice: ColorChoice, is_terminal: bool) -> bool {
        let is_on = |name| {
            self.variable(name)
                .map(|value| !matches!(value, "0" | "false"))
        };
        match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto if self.path("NO_COLOR").is_some() => false,
            ColorChoice::Auto if is_on("CLICOLOR_FORCE") == Some(true) => true,
            ColorChoice::Auto if is_on("FORCE_COLOR") == Some(true) => true,
            ColorChoice::Auto if is_on("CLICOLOR") == Some(false) => false,
            ColorChoice::Auto => is_terminal && !self.is_dumb(),
        }
    }

    fn is_dumb(&self) -> bool {
        self.variable("TERM") == Some("dumb")
    }

    /// The current time by the clock that counts.
    pub fn now(&self) -> Timestamp {
        shifted((self.now)(), (self.ahead)())
    }

    /// The clock that is ahead of this machine's.
    pub fn clock_ahead(&self, ahead: Ahead) -> Clock {
        clock_ahead(self.now.clone(), ahead)
    }
}

impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Variables may hold credentials.
        f.debug_struct("Env")
            .field("stdout_tty", &self.stdout_tty)
            .field("stderr_tty", &self.stderr_tty)
            .finish_non_exhaustive()
    }
}

fn terminal_size() -> (u16, u16) {
    match crossterm::terminal::size() {
        Ok((columns, rows)) if columns > 0 && rows > 0 => (columns, rows),
        _ => USUAL_SIZE,
    }
}

/// How many bytes a standard stream surely takes now.
///
/// A pipe that poll(2) reports as writable takes `PIPE_BUF` bytes (POSIX). So do files, and terminals unless their other
/// end has nearly stopped. On systems without poll it returns 0.
#[cfg(unix)]
fn room_of(stream: &impl std::os::fd::AsFd) -> usize {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut polled = [PollFd::new(stream, PollFlags::OUT)];
    // If the stream is broken, the write returns the error.
    let is_ready = poll(&mut polled, Some(&Timespec::default())).is_ok_and(|ready| ready > 0);
    if is_ready { rustix::pipe::PIPE_BUF } else { 0 }
}

#[cfg(not(unix))]
fn room_of<S>(_: &S) -> usize {
    0
}

/// Whether poll(2) reports that the other end of standard output is closed. Without poll, the next write finds out.
fn reader_gone() -> bool {
    #[cfg(unix)]
    let is_gone = {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let mut stdout = [PollFd::from_borrowed_fd(
            rustix::stdio::stdout(),
            PollFlags::empty(),
        )];
        let polled = poll(&mut stdout, Some(&Timespec::default()));
        let ends = PollFlags::ERR | PollFlags::HUP;
        polled.is_ok() && stdout[0].revents().intersects(ends)
    };
    #[cfg(not(unix))]
    let is_gone = false;
    is_gone
}

/// Whether terminals on this system support escape sequences. On Windows it first turns them on.
fn obeys_sequences() -> bool {
    #[cfg(windows)]
    let obeys = crossterm::ansi_support::supports_ansi();
    #[cfg(not(windows))]
    let obeys = true;
    obeys
}

/// Returns the current time.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Returns how far a clock is ahead of this machine's.
pub type Ahead = Arc<dyn Fn() -> SignedDuration + Send + Sync>;

/// Converts a time to a clock that is ahead.
pub fn shifted(time: Timestamp, ahead: SignedDuration) -> Timestamp {
    time.checked_add(ahead).unwrap_or(time)
}

/// The clock that is ahead of this one.
pub fn clock_ahead(now: Clock, ahead: Ahead) -> Clock {
    Arc::new(move || shifted(now(), ahead()))
}

/// This machine's clock, or one that stands still.
#[expect(clippy::disallowed_methods, reason = "the clock enters here")]
fn clock(fixed: Option<Timestamp>) -> Clock {
    match fixed {
        Some(time) => Arc::new(move || time),
        None => Arc::new(Timestamp::now),
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::render::display::Line;

    fn env(variables: &[(&str, &str)]) -> Env {
        let variables = variables
            .iter()
            .map(|&(name, value)| (name.into(), value.into()));
        Env {
            variables: variables.collect(),
            ..Env::for_test()
        }
    }

    #[test]
    fn who_decides_about_colour() {
        use ColorChoice::{Always, Auto, Never};
        let check = |variables: &[(&str, &str)], choice, on_terminal: bool, on_pipe: bool| {
            let terminal = Env {
                stdout_tty: true,
                ..env(variables)
            };
            assert_eq!(
                terminal.color(choice),
                on_terminal,
                "{variables:?} {choice:?}"
            );
            let pipe = env(variables);
            assert_eq!(pipe.color(choice), on_pipe, "{variables:?} {choice:?}");
            assert_eq!(
                pipe.stderr_color(choice),
                on_pipe,
                "{variables:?} {choice:?}"
            );
        };
        check(&[], Auto, true, false);
        check(&[], Always, true, true);
        check(&[], Never, false, false);
        check(&[("NO_COLOR", "1")], Auto, false, false);
        check(&[("NO_COLOR", "")], Auto, true, false);
        check(&[("NO_COLOR", "1")], Always, true, true);
        check(
            &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")],
            Auto,
            false,
            false,
        );
        check(&[("CLICOLOR_FORCE", "1")], Auto, true, true);
        check(&[("CLICOLOR_FORCE", "1")], Never, false, false);
        check(&[("CLICOLOR_FORCE", "0")], Auto, true, false);
        check(&[("FORCE_COLOR", "3"), ("TERM", "dumb")], Auto, true, true);
        check(&[("FORCE_COLOR", "false")], Auto, true, false);
        check(&[("CLICOLOR", "0")], Auto, false, false);
        check(&[("CLICOLOR", "1")], Auto, true, false);
        check(&[("TERM", "dumb")], Auto, false, false);
        check(&[("TERM", "xterm-256color")], Auto, true, false);
    }

    #[test]
    fn the_locale_says_whether_symbols_are_shown() {
        let check = |variables: &[(&str, &str)], expect: bool| {
            assert_eq!(env(variables).ascii(), expect, "{variables:?}");
        };
        check(&[], false);
        check(&[("LANG", "en_US.UTF-8")], false);
        check(&[("LANG", "C.utf8")], false);
        check(&[("LANG", "C")], true);
        check(&[("LANG", "de_DE.ISO-8859-1")], true);
        check(&[("LANG", "en_US.UTF-8"), ("LC_ALL", "POSIX")], true);
        check(&[("LANG", "C"), ("LC_CTYPE", "en_US.UTF-8")], false);
        check(&[("LC_ALL", ""), ("LANG", "C")], true);
    }

    #[test]
    fn columns_narrows_the_terminal() {
        let check = |columns: &str, expect: usize| {
            let terminal = Env {
                terminal: Arc::new(|| Some((100, 30))),
                ..env(&[("COLUMNS", columns)])
            };
            let size = Size {
                columns: expect,
                rows: 30,
            };
            assert_eq!(terminal.size(), Some(size), "{columns:?}");
        };
        check("", 100);
        check("60", 60);
        check("200", 100);
        check("0", 100);
        check("wide", 100);
        assert_eq!(env(&[("COLUMNS", "60")]).size(), None);
    }

    #[test]
    fn a_dumb_terminal_is_not_redrawn() {
        let terminal = |variables| Env {
            stdout_tty: true,
            ..env(variables)
        };
        assert!(terminal(&[]).is_live());
        assert!(!terminal(&[("TERM", "dumb")]).is_live());
        assert!(!env(&[]).is_live());
    }

    #[test]
    fn nothing_else_moves_in_tests() {
        let mut env = Env::for_test();
        assert_eq!(env.now().to_string(), "2026-01-02T03:04:05Z");
        let out = Capture::default();
        env.stdout = Stream::new(out.clone());
        let lines = Line::plain_lines("ok\n");
        env.stdout.print(&lines).expect("memory takes it");
        assert_eq!(out.text(), "ok\n");
        assert!(
            !format!(
                "{:?}",
                Env {
                    variables: BTreeMap::from([("TOKEN".into(), "t0p".into())]),
                    ..env
                }
            )
            .contains("t0p")
        );
    }

    #[test]
    fn a_stream_gets_whole_lines() {
        let out = Capture::default();
        let mut stream = Stream::new(out.clone());
        let mut lines = Line::plain_lines("one\n\ntwo\u{7}\n");
        lines.push(Line::plain("a\nb"));
        stream.print(&lines).expect("memory takes it");
        assert_eq!(out.text(), "one\n\ntwo^G\na\\nb\n");
    }

    #[test]
    fn the_clock_can_be_fixed() {
        let time = Timestamp::constant(1_800_000_000, 0);
        assert_eq!(clock(Some(time))(), time);
    }
}
