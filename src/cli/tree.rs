//! The clap tree: the commands, their order, and kubectl's habits.

use std::ffi::OsString;

use clap::{ArgAction, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::commands::{self, ClusterArgs, LookArgs};

/// See what state your objects are in and why, what changed, and who changed it.
#[derive(Parser, Debug)]
#[command(
    name = "kubectl-spy",
    version = concat!("v", env!("CARGO_PKG_VERSION")),
    help_template = HELP,
    args_override_self = true,
    disable_help_subcommand = true
)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) cluster: ClusterArgs,
    #[command(flatten)]
    pub(super) look: LookArgs,
    #[command(subcommand)]
    pub(super) verb: CliCommand,
}

/// The help without a command. It fits 80 columns and 24 rows with the next prompt.
const HELP: &str = "{about}

Usage: {usage}

Examples:
  kubectl spy demo                          try it on an embedded cluster
  kubectl spy status deploy/web             is it well, and if not, why?
  kubectl spy changes deploy/web            what changed, and who changed it?
  kubectl spy changes --since 10m -n prod   what changed in this namespace?

Commands:
{subcommands}
Use \"kubectl spy COMMAND --help\" for more, \"kubectl spy options\" for all flags.
";

/// The commands, in the order of the help.
#[derive(Subcommand, Debug)]
pub(super) enum CliCommand {
    Status(commands::status::StatusArgs),
    Changes(commands::changes::ChangesArgs),
    Trace(commands::trace::TraceArgs),
    Logs(commands::logs::LogsArgs),
    Record(commands::record::RecordArgs),
    Store(commands::store::StoreVerbs),
    Serve(commands::serve::ServeArgs),
    Demo(commands::demo::DemoArgs),
    Completion(commands::completion::CompletionArgs),
    /// List the flags that every command takes
    Options,
    Version(commands::version::VersionArgs),
    #[command(hide = true)]
    Help(commands::help::HelpArgs),
}

/// The clap command, as help and manual pages show it. As in kubectl, only `options` lists the global flags.
pub fn command() -> clap::Command {
    let command = Cli::command().bin_name("kubectl spy");
    let usage = "kubectl spy COMMAND [TYPE/NAME...] [FLAGS]";
    without_globals(command.override_usage(usage))
}

/// The same command for parsing, with the habits of kubectl's flags (spf13/pflag).
pub(super) fn parser() -> clap::Command {
    as_in_kubectl(command())
}

fn without_globals(command: clap::Command) -> clap::Command {
    let hide = |arg: clap::Arg| {
        let is_hidden = arg.is_global_set() || arg.is_hide_set();
        arg.hide(is_hidden)
    };
    command.mut_args(hide).mut_subcommands(without_globals)
}

/// Lets switches take `=true` and `=false`, and flags any value: the word after `--since` is its value, even `-5m`.
fn as_in_kubectl(command: clap::Command) -> clap::Command {
    command
        .mut_args(|arg| match arg.get_action() {
            ArgAction::SetTrue => {
                let default = arg.get_default_values().first().cloned();
                arg.action(ArgAction::Set)
                    .num_args(0..=1)
                    .require_equals(true)
                    .default_value(default.unwrap_or_else(|| "false".into()))
                    .default_missing_value("true")
                    .hide_possible_values(true)
            }
            ArgAction::Set | ArgAction::Append if !arg.is_positional() => {
                let needs_value = arg.get_num_args().is_none_or(|values| values == 1.into());
                arg.allow_hyphen_values(needs_value)
            }
            _ => arg,
        })
        .mut_subcommands(as_in_kubectl)
}

/// Parses a command line.
pub(super) fn parse(args: &[OsString]) -> Result<Cli, clap::Error> {
    let mut matches = parser().try_get_matches_from(args)?;
    Cli::from_arg_matches_mut(&mut matches)
}
