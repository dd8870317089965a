//! Shared parts of the targets: the program inside this process, the properties of its output, and a mutator
//! for objects.

pub mod mutate;

use kubectl_spy::cli::{self, Exit};
use kubectl_spy::env::{Capture, Env};
use kubectl_spy::render::display::Stream;
use kubectl_spy::render::text::escape_line;

/// The result of a run.
pub struct Ran {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// The exit code.
    pub code: u8,
}

/// Runs the program with these arguments and this standard input, in an empty environment.
///
/// The caller must make sure that the arguments name no file and no server.
pub fn run<'a>(args: impl IntoIterator<Item = &'a str>, stdin: &[u8]) -> Ran {
    let (stdout, stderr) = (Capture::default(), Capture::default());
    let env = Env {
        stdout: Stream::new(stdout.clone()),
        stderr: Stream::new(stderr.clone()),
        stdin: Box::new(std::io::Cursor::new(stdin.to_vec())),
        ..Env::for_test()
    };
    let args = std::iter::once("kubectl-spy").chain(args);
    let code = match cli::run(args.map(Into::into), env) {
        Exit::Code(code) => code,
        Exit::Signal(signal) => panic!("ended by signal {signal}"),
    };
    Ran {
        stdout: stdout.text(),
        stderr: stderr.text(),
        code,
    }
}

impl Ran {
    /// Asserts properties of every run: its text is safe on a terminal, and an error has a message.
    pub fn check(&self) {
        assert_displayable(&self.stdout);
        assert_displayable(&self.stderr);
        assert!(self.code <= 4, "exit code {}", self.code);
        assert!(
            self.code == 0 || !self.stderr.trim().is_empty() || !self.stdout.is_empty(),
            "exit code {} without a word",
            self.code
        );
    }
}

/// Asserts that a terminal obeys and hides no character of the text, except line feeds and tabs.
pub fn assert_displayable(text: &str) {
    let rest = text.replace(['\n', '\t'], "");
    let safe = escape_line(&rest);
    assert!(safe == rest, "{text:?} holds what a terminal obeys");
}
