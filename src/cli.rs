//! The command line: the clap tree, dispatch, error printing and exit codes.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind as ClapKind};
use clap::{ArgAction, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::commands::{self, ClusterArgs, CommandError, ErrorKind, LookArgs};
use crate::env::{Env, escape_panics};
use crate::render::screen::restore_cursor_on_panic;
use crate::render::style::Styles;
use crate::render::text::escape_line;

/// The verb printed its answer.
const ANSWERED: u8 = 0;
/// An error: usage, credentials, the API server.
const ERROR: u8 = 1;
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

/// See what state your Kubernetes objects are in and why, what changed, and who changed it.
#[derive(Parser, Debug)]
#[command(
    name = "kubectl-spy",
    args_override_self = true,
    disable_help_subcommand = true
)]
struct Cli {
    #[command(flatten)]
    cluster: ClusterArgs,
    #[command(flatten)]
    look: LookArgs,
    #[command(subcommand)]
    verb: CliCommand,
}

#[derive(Subcommand, Debug)]
enum CliCommand {
    Demo(commands::demo::DemoArgs),
    Changes(commands::changes::ChangesArgs),
    Status(commands::status::Args),
    Completion(commands::completion::CompletionArgs),
    /// List the flags that every command takes
    Options,
    Trace(commands::trace::Args),
    Version(commands::version::VersionArgs),
}

/// Runs the program: reads the command line, runs the verb and prints its error, if any.
pub fn run(args: impl IntoIterator<Item = OsString>, mut env: Env) -> Exit {
    colored::control::set_override(true); // only `Styles` decides whether to use colour
    escape_panics();
    restore_cursor_on_panic();
    let args: Vec<OsString> = args.into_iter().collect();
    if let Some(words) = commands::complete::words(&args) {
        return complete(words, &mut env);
    }
    let error_code = error_code(&args);
    let cli = match parse(args) {
        Ok(cli) => cli,
        Err(refused) => return print_refusal(&refused, error_code, &mut env),
    };
    let look = cli.look;
    let ended = dispatch(cli, &mut env);
    end(ended, look, error_code, &mut env)
}

/// Prints what the last word may become. A shell has no use for an error.
fn complete(words: &[OsString], env: &mut Env) -> Exit {
    let mut context = commands::Context {
        origin: commands::Origin::Kubeconfig(Box::default()),
        look: LookArgs::default(),
        env,
    };
    let _unprinted = commands::complete::run(words, command(), &mut context);
    Exit::Code(ANSWERED)
}

/// Prints the error if there is one, and picks the exit code.
fn end(
    ended: Result<commands::Ended, CommandError>,
    look: LookArgs,
    error_code: u8,
    env: &mut Env,
) -> Exit {
    match ended {
        Ok(commands::Ended::Answered | commands::Ended::OutOfTime) => Exit::Code(ANSWERED),
        Ok(commands::Ended::Found) => Exit::Code(FOUND),
        Ok(commands::Ended::By(signal)) => Exit::Signal(signal.number()),
        Err(error) => {
            print_error(&error, look, env);
            Exit::Code(code(error.kind(), error_code))
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

/// The exit code of one error.
fn code(kind: ErrorKind, error_code: u8) -> u8 {
    match kind {
        ErrorKind::Usage | ErrorKind::Failed => error_code,
        ErrorKind::GoalFailed => GOAL_FAILED,
        ErrorKind::GoalUnmet => GOAL_UNMET,
        ErrorKind::BrokenPipe => ANSWERED,
    }
}

fn dispatch(cli: Cli, env: &mut Env) -> Result<commands::Ended, CommandError> {
    let Cli {
        cluster,
        look,
        verb,
    } = cli;
    let origin = commands::Origin::Kubeconfig(Box::new(cluster));
    let mut context = commands::Context { origin, look, env };
    match verb {
        CliCommand::Demo(args) => commands::demo::run(&args, &mut context),
        CliCommand::Changes(args) => commands::changes::run(&args, &mut context),
        CliCommand::Status(args) => commands::status::run(&args, &mut context),
        CliCommand::Completion(args) => commands::completion::run(&args, &mut context),
        CliCommand::Options => commands::options::run(&command(), &mut context),
        CliCommand::Trace(args) => commands::trace::run(&args, &mut context),
        CliCommand::Version(args) => commands::version::run(&args, &mut context),
    }
}

/// The clap command. As in kubectl, switches take `=true` and `=false`, and only `options` lists the global flags.
pub fn command() -> clap::Command {
    kubectl_habits(Cli::command().bin_name("kubectl spy"))
}

fn kubectl_habits(command: clap::Command) -> clap::Command {
    command
        .mut_args(|arg| match arg.get_action() {
            ArgAction::SetTrue => arg
                .action(ArgAction::Set)
                .num_args(0..=1)
                .require_equals(true)
                .default_value("false")
                .default_missing_value("true")
                .value_name("true|false")
                .hide_possible_values(true)
                .hide_default_value(true),
            _ => arg,
        })
        .mut_args(|arg| {
            if arg.is_global_set() {
                arg.hide(true)
            } else {
                arg
            }
        })
        .mut_subcommands(kubectl_habits)
}

fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let mut matches = command().try_get_matches_from(args)?;
    Cli::from_arg_matches_mut(&mut matches)
}

/// Prints clap's output: help on stdout, a usage error with kubectl's message on stderr.
fn print_refusal(refused: &clap::Error, error_code: u8, env: &mut Env) -> Exit {
    let text = refused.render().to_string();
    match refused.kind() {
        ClapKind::DisplayHelp | ClapKind::DisplayVersion => {
            let wrote = env.stdout.print(&Styles::PLAIN.lines(&text));
            let ended = wrote.map(|()| commands::Ended::Answered);
            let look = LookArgs::default();
            end(ended.map_err(Into::into), look, error_code, env)
        }
        ClapKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _closed_pipe = env.stderr.print(&Styles::PLAIN.lines(&text));
            Exit::Code(error_code)
        }
        _ => {
            let text = usage_error(refused);
            let _closed_pipe = env.stderr.print(&Styles::PLAIN.lines(&text));
            Exit::Code(error_code)
        }
    }
}

/// kubectl's message for a usage error, then clap's suggestion, if any.
fn usage_error(refused: &clap::Error) -> String {
    let named = |kind| match refused.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let message = match (refused.kind(), named(ContextKind::InvalidArg)) {
        (ClapKind::UnknownArgument, Some(flag)) => format!("unknown flag: {flag}"),
        (ClapKind::InvalidSubcommand, _) => {
            let word = named(ContextKind::InvalidSubcommand).unwrap_or_default();
            format!("unknown command \"{word}\" for \"kubectl spy\"")
        }
        (ClapKind::MissingRequiredArgument, _) => {
            let missing = match refused.get(ContextKind::InvalidArg) {
                Some(ContextValue::Strings(missing)) => missing.join(", "),
                _ => String::new(),
            };
            format!("required: {missing}")
        }
        _ => first_line(&refused.render().to_string()),
    };
    let valid = match refused.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(valid)) if !valid.is_empty() => {
            format!("hint: use one of {}\n", valid.join(", "))
        }
        _ => String::new(),
    };
    let near: Vec<&str> = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand]
        .into_iter()
        .flat_map(|kind| match refused.get(kind) {
            Some(ContextValue::String(near)) => vec![near.as_str()],
            Some(ContextValue::Strings(near)) => near.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        })
        .collect();
    let hint = if near.is_empty() {
        String::new()
    } else {
        format!("hint: did you mean {}?\n", near.join(" or "))
    };
    format!("error: {}\n{valid}{hint}{SEE_HELP}", escape_line(&message))
}

const SEE_HELP: &str = "See 'kubectl spy --help' for usage.\n";

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

/// Prints an error and its hints. No other code prints errors.
fn print_error(error: &CommandError, look: LookArgs, env: &mut Env) {
    if error.kind() == ErrorKind::BrokenPipe {
        return;
    }
    let styles = look.stderr(env);
    let message = error.to_string();
    let hints: Vec<String> = error
        .hints()
        .iter()
        .map(|hint| format!("{} {hint}", styles.warning("hint:")))
        .collect();
    let mut lines = Styles::PLAIN.lines(&message);
    lines.extend(hints.iter().flat_map(|hint| styles.lines(hint)));
    if error.kind() == ErrorKind::Usage {
        lines.extend(Styles::PLAIN.lines(SEE_HELP));
    }
    let _closed_pipe = env.stderr.print(&lines);
}
