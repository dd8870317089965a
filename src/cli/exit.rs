//! The exit codes, and how the process ends by a signal.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::commands::ErrorKind;

/// The verb printed its answer.
pub(super) const ANSWERED: u8 = 0;
/// An error: usage, credentials, the API server.
pub(super) const ERROR: u8 = 1;
/// With `--exit-code`: something changed or is not well.
pub(super) const FOUND: u8 = 1;
/// With `--for`: an object failed.
const GOAL_FAILED: u8 = 2;
/// With `--for`: an object did not meet the goal in time.
const GOAL_UNMET: u8 = 3;
/// With `--exit-code`: an error. There, 1 is an answer.
const ERROR_NOT_FOUND: u8 = 4;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// With this exit code.
    Code(u8),
    /// By this signal. The program raises it again, so that shells see it (130 for Ctrl-C).
    Signal(i32),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        match exit {
            Exit::Code(code) => ExitCode::from(code),
            Exit::Signal(signal) => {
                #[cfg(unix)]
                let _ends_here = signal_hook::low_level::emulate_default_handler(signal);
                ExitCode::from(128 + u8::try_from(signal).unwrap_or(0))
            }
        }
    }
}

/// The exit code of errors. It depends on `--exit-code`, which this searches in the raw arguments, because the command
/// line may be invalid.
pub(super) fn error_code(args: &[OsString]) -> u8 {
    let mut flags = args.iter().take_while(|arg| *arg != "--");
    if flags.any(|arg| arg == "--exit-code" || arg == "--exit-code=true") {
        ERROR_NOT_FOUND
    } else {
        ERROR
    }
}

/// How the program ends after one error.
pub(super) fn exit_of(kind: ErrorKind, error_code: u8) -> Exit {
    Exit::Code(match kind {
        ErrorKind::Usage | ErrorKind::Failed => error_code,
        ErrorKind::GoalFailed => GOAL_FAILED,
        ErrorKind::GoalUnmet => GOAL_UNMET,
        ErrorKind::BrokenPipe => ANSWERED,
        ErrorKind::Stopped(signal) => return Exit::Signal(signal.number()),
    })
}
