//! Runs `kubectl-spy` as a user would: as a process, in an environment with only the test's variables.

pub mod cluster;
pub mod fault_proxy;
pub mod fleet;
pub mod hostile;
pub mod pty;

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// The limit of the wait for a line. No working run takes this long.
const PATIENCE: Duration = Duration::from_secs(60);

/// The environment of a run: the kubeconfig and the test's variables, without those of the machine.
#[derive(Clone, Debug)]
pub struct Spy {
    kubeconfig: Option<String>,
    vars: Vec<(String, String)>,
}

/// The output of a run that ended.
#[derive(Debug)]
pub struct Ran {
    pub stdout: String,
    pub stderr: String,
    pub status: ExitStatus,
}

impl Ran {
    /// All output: stdout, then the marked lines of stderr.
    pub fn transcript(&self) -> String {
        let mut lines: Vec<String> = self.stdout.lines().map(str::to_owned).collect();
        lines.extend(self.stderr.lines().map(|line| format!("! {line}")));
        lines.join("\n")
    }
}

impl Spy {
    /// Runs without a kubeconfig.
    pub fn alone() -> Spy {
        Spy {
            kubeconfig: None,
            vars: Vec::new(),
        }
    }

    /// Runs with a kubeconfig file.
    pub fn with_kubeconfig(path: &str) -> Spy {
        Spy {
            kubeconfig: Some(path.to_owned()),
            vars: Vec::new(),
        }
    }

    /// Sets another environment variable.
    pub fn var(mut self, name: &str, value: &str) -> Spy {
        self.vars.push((name.to_owned(), value.to_owned()));
        self
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-spy"));
        command.args(args).env_clear().envs(self.environment());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// The variables of a run.
    pub fn environment(&self) -> impl Iterator<Item = (&str, &str)> {
        let usual = [("TZ", "UTC"), ("LC_ALL", "C.UTF-8")];
        let kubeconfig = self.kubeconfig.as_deref();
        let kubeconfig = kubeconfig.map(|path| ("KUBECONFIG", path));
        let vars = self.vars.iter();
        usual
            .into_iter()
            .chain(kubeconfig)
            .chain(vars.map(|(name, value)| (name.as_str(), value.as_str())))
    }

    /// Starts a run whose output the test reads itself, at its own speed.
    pub fn spawn(&self, args: &[&str]) -> Child {
        self.command(args).spawn().unwrap()
    }

    /// Starts a run whose stdout goes to `stdout`.
    pub fn spawn_to(&self, stdout: Stdio, args: &[&str]) -> Child {
        self.command(args).stdout(stdout).spawn().unwrap()
    }

    /// Starts a run whose stdout and stderr go to these.
    pub fn spawn_to_both(&self, stdout: Stdio, stderr: Stdio, args: &[&str]) -> Child {
        let mut command = self.command(args);
        command.stdout(stdout).stderr(stderr).spawn().unwrap()
    }

    /// Starts a run from a shell script, in which `"$0" "$@"` is the program.
    pub fn spawn_in_shell(&self, script: &str, args: &[&str]) -> Child {
        let program = self.command(args);
        let mut shell = Command::new("/bin/sh");
        shell
            .args(["-c", script])
            .arg(program.get_program())
            .args(args)
            .env_clear()
            .envs(self.environment())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        shell.spawn().unwrap()
    }

    /// Runs the program until it exits. A program that does not end is ended, and fails the test.
    pub fn run(&self, args: &[&str]) -> Ran {
        self.start(args).finish()
    }

    /// Runs all of them at the same time: a time limit that each one waits for passes once.
    pub fn run_together(&self, runs: &[Vec<&str>]) -> Vec<Ran> {
        let started: Vec<Running> = runs.iter().map(|args| self.start(args)).collect();
        started.into_iter().map(Running::finish).collect()
    }

    /// Starts a run that continues until the test interrupts it.
    pub fn start(&self, args: &[&str]) -> Running {
        Spy::follow(self.command(args).spawn().unwrap())
    }

    /// Starts a run whose stderr nobody reads until the test does.
    pub fn start_unread(&self, args: &[&str]) -> (Running, ChildStderr) {
        let mut child = self.command(args).spawn().unwrap();
        let stderr = child.stderr.take().unwrap();
        let (send, lines) = channel();
        forward(child.stdout.take().unwrap(), Stream::Out, send);
        let running = Running {
            child,
            lines,
            seen: Vec::new(),
        };
        (running, stderr)
    }

    /// Starts a run whose stdin the test writes.
    pub fn start_reading(&self, args: &[&str]) -> (Running, ChildStdin) {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take().unwrap();
        (Spy::follow(child), input)
    }

    fn follow(mut child: Child) -> Running {
        let (send, lines) = channel();
        forward(child.stdout.take().unwrap(), Stream::Out, send.clone());
        forward(child.stderr.take().unwrap(), Stream::Err, send);
        Running {
            child,
            lines,
            seen: Vec::new(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stream {
    Out,
    Err,
}

fn forward(from: impl Read + Send + 'static, stream: Stream, to: Sender<(Stream, String)>) {
    std::thread::spawn(move || {
        let mut from = BufReader::new(from);
        let mut line = Vec::new();
        while from.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            let text = String::from_utf8(std::mem::take(&mut line)).unwrap();
            if to.send((stream, text)).is_err() {
                return;
            }
        }
    });
}

/// A running program. Dropping it ends the process.
#[derive(Debug)]
pub struct Running {
    child: Child,
    lines: Receiver<(Stream, String)>,
    seen: Vec<(Stream, String)>,
}

impl Running {
    /// Waits for a line of stdout or stderr that contains `text`, and returns it. Fails with all output so
    /// far if no such line comes.
    pub fn until(&mut self, text: &str) -> String {
        self.until_where(text, |line| line.contains(text))
    }

    /// Waits for a line with each of `texts`, in any order. One line may have several of them, so each text is
    /// there once.
    pub fn until_each(&mut self, texts: &[&str]) {
        let mut missing = texts.to_vec();
        missing.sort_unstable();
        missing.dedup();
        assert_eq!(missing.len(), texts.len(), "a text twice: {texts:?}");
        while !missing.is_empty() {
            let line = self.until_where(&missing.join(" or "), |line| {
                missing.iter().any(|text| line.contains(text))
            });
            missing.retain(|text| !line.contains(text));
        }
    }

    /// Waits for a line for which `holds` is true.
    pub fn until_where(&mut self, what: &str, holds: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self
                .lines
                .recv_timeout(deadline.saturating_duration_since(Instant::now()))
            {
                Ok((stream, line)) => {
                    self.seen.push((stream, line.clone()));
                    let line = line.trim_end_matches('\n');
                    if holds(line) {
                        return line.to_owned();
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    panic!("no line with {what:?} in {:#?}", self.seen)
                }
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("it ended without a line with {what:?}: {:#?}", self.seen)
                }
            }
        }
    }

    /// Sends Ctrl-C and waits for the exit; returns all output.
    pub fn interrupt(self) -> Ran {
        self.signal("INT")
    }

    /// Sends a signal (`INT`, `TERM`, `KILL`) and waits for the exit; returns all output.
    pub fn signal(self, name: &str) -> Ran {
        self.send(name);
        self.finish()
    }

    /// Sends SIGHUP. The program continues.
    pub fn hang_up(&self) {
        self.send("HUP");
    }

    fn send(&self, signal: &str) {
        let pid = self.child.id().to_string();
        let kill = Command::new("kill")
            .args([&format!("-{signal}"), &pid])
            .status();
        assert!(kill.unwrap().success());
    }

    /// Waits until the program exits; returns all output.
    pub fn finish(mut self) -> Ran {
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => self.seen.push(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("it does not end: {:#?}", self.seen),
            }
        }
        let status = self.child.wait().unwrap();
        let of = |stream| {
            let lines = self.seen.iter().filter(|(from, _)| *from == stream);
            lines.map(|(_, line)| line.as_str()).collect()
        };
        Ran {
            stdout: of(Stream::Out),
            stderr: of(Stream::Err),
            status,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _already_gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}
