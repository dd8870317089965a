//! Runs `kubectl-spy` on a pseudo-terminal, whose other side is a terminal emulator.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use portable_pty::{
    Child, CommandBuilder, ExitStatus, MasterPty, PtySize, SlavePty, native_pty_system,
};
use vt100::{Parser, Screen};

use super::{PATIENCE, Spy};

/// The test writes this mark to the terminal after the process has ended. All bytes before it are the
/// process's output. (The end of a pseudo-terminal is no such mark: Linux may report it before the last
/// output.)
const END: &[u8] = b"\x1b]end of test\x07";

/// The start and the end of a synchronized update, which enclose a frame.
const FRAME: [&[u8]; 2] = [b"\x1b[?2026h", b"\x1b[?2026l"];

/// The number of rows in the emulator's scrollback.
const SCROLLBACK: usize = 1000;

/// A run on a terminal. Dropping it ends the process.
pub struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    /// Keeps the terminal open after the process has ended.
    _slave: Box<dyn SlavePty + Send>,
    keyboard: Box<dyn Write + Send>,
    output: Receiver<Vec<u8>>,
    parser: Parser,
    bytes: Vec<u8>,
}

fn size((columns, rows): (u16, u16)) -> PtySize {
    PtySize {
        rows,
        cols: columns,
        pixel_width: 0,
        pixel_height: 0,
    }
}

impl Spy {
    /// Starts a run as the only process on a terminal of this size, columns before rows.
    pub fn on_terminal(&self, size: (u16, u16), args: &[&str]) -> Terminal {
        let program = [env!("CARGO_BIN_EXE_kubectl-spy")];
        self.other_on_terminal(size, &[&program, args].concat())
    }

    /// Starts another program in the environment of the runs.
    pub fn other_on_terminal(&self, size: (u16, u16), program: &[&str]) -> Terminal {
        let mut command = CommandBuilder::new(program[0]);
        command.args(&program[1..]);
        self.open(size, command)
    }

    /// Starts a run from a shell script, which then prints the exit status.
    pub fn in_shell(&self, size: (u16, u16), args: &[&str]) -> Terminal {
        let shell = [
            "/bin/sh",
            "-c",
            r#"trap : INT; "$0" "$@"; echo "status $?""#,
            env!("CARGO_BIN_EXE_kubectl-spy"),
        ];
        self.other_on_terminal(size, &[&shell, args].concat())
    }

    fn open(&self, columns_and_rows: (u16, u16), mut command: CommandBuilder) -> Terminal {
        command.env_clear();
        for (name, value) in self.environment() {
            command.env(name, value);
        }
        command.env("TERM", "xterm-256color");
        let pair = native_pty_system().openpty(size(columns_and_rows)).unwrap();
        let child = pair.slave.spawn_command(command).unwrap();
        let mut reader = pair.master.try_clone_reader().unwrap();
        let (send, output) = channel();
        std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(read @ 1..) = reader.read(&mut chunk) {
                if send.send(chunk[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        let (columns, rows) = columns_and_rows;
        Terminal {
            child,
            keyboard: pair.master.take_writer().unwrap(),
            master: pair.master,
            _slave: pair.slave,
            output,
            parser: Parser::new(rows, columns, SCROLLBACK),
            bytes: Vec::new(),
        }
    }
}

impl Terminal {
    /// Waits until a whole frame is shown for which `holds` is true. (On Ctrl-C a terminal drops output that
    /// it has not shown yet. So a test must not type a key in the middle of a frame.)
    pub fn until_shown(&mut self, what: &str, holds: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while self.is_amid_a_frame() || !holds(&self.parser.screen().contents()) {
            let left = deadline.saturating_duration_since(Instant::now());
            let goes_on = self.take(left);
            assert!(
                goes_on,
                "{what} is not shown:\n{}",
                self.parser.screen().contents()
            );
        }
    }

    fn is_amid_a_frame(&self) -> bool {
        let last = |mark: &[u8]| self.bytes.windows(mark.len()).rposition(|at| at == mark);
        let [begun, ended] = FRAME.map(last);
        begun > ended
    }

    /// Types on the keyboard.
    pub fn type_in(&mut self, keys: &[u8]) {
        self.keyboard.write_all(keys).unwrap();
    }

    /// Sends a signal to the process.
    pub fn signal(&self, name: &str) {
        let pid = self.child.process_id().unwrap().to_string();
        let args = [format!("-{name}"), pid];
        let kill = std::process::Command::new("kill").args(args).status();
        assert!(kill.unwrap().success());
    }

    /// Stops the process with SIGSTOP, which it cannot notice. Then it uses the terminal as a shell does: it clears the
    /// terminal and sets the usual modes.
    #[cfg(unix)]
    pub fn stop_and_clear(&self) {
        let pid = self.child.process_id().unwrap().to_string();
        let is_stopped = || {
            let mut ps = std::process::Command::new("ps");
            let ps = ps.args(["-o", "stat=", "-p", &pid]).output().unwrap();
            ps.stdout.trim_ascii_start().starts_with(b"T")
        };
        self.signal("STOP");
        let deadline = Instant::now() + PATIENCE;
        while !is_stopped() {
            assert!(Instant::now() < deadline, "it does not stop");
        }
        let tty = self.master.tty_name().unwrap();
        let mut terminal = OpenOptions::new().read(true).write(true).open(tty).unwrap();
        terminal.write_all(b"\x1b[2J\x1b[H").unwrap();
        let stty = std::process::Command::new("stty")
            .arg("sane")
            .stdin(terminal)
            .status();
        assert!(stty.unwrap().success());
    }

    /// Resizes the terminal and rewraps its lines, as tmux, VTE and kitty do.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        let mut parser = Parser::new(rows, columns, SCROLLBACK);
        for line in self.transcript().lines() {
            parser.process(line.as_bytes());
            parser.process(b"\r\n");
        }
        self.parser = parser;
        self.master.resize(size((columns, rows))).unwrap();
    }

    /// Waits until the process has ended, and reads its last output.
    pub fn finish(&mut self) -> ExitStatus {
        let status = self.child.wait().unwrap();
        let tty = self.master.tty_name().unwrap();
        OpenOptions::new()
            .write(true)
            .open(tty)
            .unwrap()
            .write_all(END)
            .unwrap();
        while !self.bytes.ends_with(END) {
            assert!(self.take(PATIENCE), "the terminal is gone");
        }
        self.bytes.truncate(self.bytes.len() - END.len());
        status
    }

    /// All text of the terminal, including its scrollback.
    pub fn transcript(&mut self) -> String {
        let (_, columns) = self.parser.screen().size();
        let screen = self.parser.screen_mut();
        screen.set_scrollback(usize::MAX);
        let mut lines = Vec::new();
        for offset in (1..=screen.scrollback()).rev() {
            screen.set_scrollback(offset);
            lines.extend(screen.rows(0, columns).next());
        }
        screen.set_scrollback(0);
        lines.extend(screen.contents().lines().map(str::to_owned));
        for line in &mut lines {
            line.truncate(line.trim_end().len());
            line.push('\n');
        }
        lines.concat()
    }

    /// Whether the cursor is hidden.
    pub fn hides_cursor(&self) -> bool {
        self.parser.screen().hide_cursor()
    }

    /// The screen at the end of each frame so far.
    pub fn screens(&self) -> Vec<Screen> {
        let (rows, columns) = self.parser.screen().size();
        let mut parser = Parser::new(rows, columns, 0);
        let [_, end] = FRAME;
        let mut screens = Vec::new();
        let mut rest = self.bytes.as_slice();
        while let Some(at) = rest.windows(end.len()).position(|bytes| bytes == end) {
            let (frame, after) = rest.split_at(at + end.len());
            parser.process(frame);
            screens.push(parser.screen().clone());
            rest = after;
        }
        screens
    }

    /// All bytes written to the terminal.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Reads the next output; returns whether there was any.
    fn take(&mut self, patience: Duration) -> bool {
        match self.output.recv_timeout(patience) {
            Ok(chunk) => {
                self.parser.process(&chunk);
                self.bytes.extend(chunk);
                true
            }
            Err(RecvTimeoutError::Disconnected) => false,
            Err(RecvTimeoutError::Timeout) => {
                panic!("nothing happens:\n{}", self.parser.screen().contents())
            }
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _already_gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}
