//! The command line: the clap tree, dispatch, error printing and exit codes.

mod refusal;
mod tree;

use std::ffi::OsString;
use std::process::ExitCode;

use crate::commands;
use crate::commands::{CommandError, ErrorKind, LookArgs};
use crate::env::{Env, escape_panics};
use crate::render::display::Line;
use crate::render::screen::restore_cursor_on_panic;
use crate::render::style::Role;
use crate::render::text::Text;
use refusal::{Refusal, command_words};
pub use tree::command;
use tree::{Cli, CliCommand, parse, parser};

/// What printing an error depends on, besides the error.
struct ErrorStyle<'a> {
    args: &'a [OsString],
    look: LookArgs,
}

/// Runs the program: reads the command line, runs the verb and prints its error, if any.
pub fn run(args: impl IntoIterator<Item = OsString>, mut env: Env) -> Exit {
    let exit = run_verb(args, &mut env);
    env.stderr_queue.close();
    exit
}

fn run_verb(args: impl IntoIterator<Item = OsString>, env: &mut Env) -> Exit {
    colored::control::set_override(true); // only `Styles` decides whether to use colour
    escape_panics();
    restore_cursor_on_panic();
    let args: Vec<OsString> = args.into_iter().collect();
    if let Some(words) = commands::complete::words(&args) {
        return complete(words, env);
    }
    let mut style = ErrorStyle {
        args: &args,
        look: LookArgs::default(),
    };
    let ended = match parse(&args) {
        Ok(cli) => {
            style.look = cli.look;
            dispatch(cli, env)
        }
        Err(refused) => match Refusal::of(&refused, &args) {
            Refusal::Answer(text) => {
                let wrote = env.stdout.print(&Line::plain_lines(&text));
                wrote
                    .map(|()| commands::Ended::Answered)
                    .map_err(Into::into)
            }
            Refusal::Usage(text) => {
                let _closed_pipe = env.stderr.print(&Line::plain_lines(&text));
                return Exit::Code(error_code(&args));
            }
        },
    };
    end(ended, &style, env)
}

/// Prints what the last word may become. A shell has no use for an error.
fn complete(words: &[OsString], env: &mut Env) -> Exit {
    let mut context = commands::Context {
        origin: commands::ClusterOrigin::Kubeconfig(Box::default()),
        look: LookArgs::default(),
        env,
        unread: commands::UnreadFiles::default(),
    };
    let _unprinted = commands::complete::run(words, parser(), &mut context);
    Exit::Code(ANSWERED)
}

/// Prints the error if there is one, and picks the exit code.
fn end(
    ended: Result<commands::Ended, CommandError>,
    style: &ErrorStyle<'_>,
    env: &mut Env,
) -> Exit {
    let requests = env.requests.take();
    let requests: Vec<_> = requests.iter().map(Line::plain).collect();
    let _closed_pipe = env.stderr.print(&requests);
    match ended {
        Ok(commands::Ended::Answered | commands::Ended::OutOfTime) => Exit::Code(ANSWERED),
        Ok(commands::Ended::Found) => Exit::Code(FOUND),
        Ok(commands::Ended::By(signal)) => Exit::Signal(signal.number()),
        Err(error) => {
            print_error(&error, style, env);
            exit_of(error.kind(), error_code(style.args))
        }
    }
}

fn dispatch(cli: Cli, env: &mut Env) -> Result<commands::Ended, CommandError> {
    let Cli {
        cluster,
        look,
        verb,
    } = cli;
    let origin = commands::ClusterOrigin::Kubeconfig(Box::new(cluster));
    let mut context = commands::Context {
        origin,
        look,
        env,
        unread: commands::UnreadFiles::default(),
    };
    let ended = match verb {
        CliCommand::Status(args) => commands::status::run(&args, &mut context),
        CliCommand::Changes(args) => commands::changes::run(&args, &mut context),
        CliCommand::Trace(args) => commands::trace::run(&args, &mut context),
        CliCommand::Logs(args) => commands::logs::run(&args, &mut context),
        CliCommand::Record(args) => commands::record::run(&args, &mut context),
        CliCommand::Store(args) => commands::store::run(&args, &mut context),
        CliCommand::Serve(args) => commands::serve::run(&args, &mut context),
        CliCommand::Demo(args) => commands::demo::run(&args, &mut context),
        CliCommand::Completion(args) => commands::completion::run(&args, &mut context),
        CliCommand::Options => commands::help::options(&command(), &mut context),
        CliCommand::Version(args) => commands::version::run(&args, &mut context),
        CliCommand::Help(args) => commands::help::run(&args, command(), &mut context),
    };
    context.unread.conclude(ended)
}

/// Prints an error and its hints. No other code prints errors.
fn print_error(error: &CommandError, style: &ErrorStyle<'_>, env: &mut Env) {
    if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::Stopped(_)) {
        return;
    }
    let styles = style.look.stderr(env);
    let message = error.to_string();
    let mut lines = Line::plain_lines(&message);
    for hint in error.hints() {
        let mut lead = Text::new(Role::Warning, "hint:") + " ";
        let hint = hint.lines();
        lines.extend(hint.map(|line| styles.text(std::mem::take(&mut lead) + Text::data(line))));
    }
    if error.kind() == ErrorKind::Usage {
        let words = command_words(style.args);
        let see = format!("See '{words} -h' for help and examples");
        lines.push(Line::plain(see));
    }
    let _closed_pipe = env.stderr.print(&lines);
}

/// The verb printed its answer.
const ANSWERED: u8 = 0;
/// An error: usage, credentials, the API server.
pub(super) const ERROR: u8 = 1;
/// With `--exit-code`: something changed or is not well.
const FOUND: u8 = 1;
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
fn error_code(args: &[OsString]) -> u8 {
    let mut flags = args.iter().take_while(|arg| *arg != "--");
    if flags.any(|arg| arg == "--exit-code" || arg == "--exit-code=true") {
        ERROR_NOT_FOUND
    } else {
        ERROR
    }
}

/// How the program ends after one error.
fn exit_of(kind: ErrorKind, error_code: u8) -> Exit {
    Exit::Code(match kind {
        ErrorKind::Usage | ErrorKind::Failed => error_code,
        ErrorKind::GoalFailed => GOAL_FAILED,
        ErrorKind::GoalUnmet => GOAL_UNMET,
        ErrorKind::BrokenPipe => ANSWERED,
        ErrorKind::Stopped(signal) => return Exit::Signal(signal.number()),
    })
}
