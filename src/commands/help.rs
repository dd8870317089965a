//! `help`: prints the help of a command, as `--help` after the command does.

use clap::error::ErrorKind;

use super::{CommandError, Context, Ended};

/// Print the help of a command
#[derive(clap::Args, Debug)]
pub(crate) struct HelpArgs {
    /// Name the command
    #[arg(value_name = "COMMAND", value_parser = COMMANDS)]
    command: Vec<String>,
}

/// The commands with help, in the order of the help.
const COMMANDS: [&str; 11] = [
    "status",
    "changes",
    "trace",
    "logs",
    "record",
    "store",
    "serve",
    "demo",
    "completion",
    "options",
    "version",
];

pub(crate) fn run(
    args: &HelpArgs,
    cli: clap::Command,
    context: &mut Context<'_>,
) -> Result<Ended, CommandError> {
    let words = args.command.iter().map(String::as_str);
    let typed = ["kubectl-spy"].into_iter().chain(words).chain(["--help"]);
    match cli.try_get_matches_from(typed) {
        Err(answer) if answer.kind() == ErrorKind::DisplayHelp => {
            let help = answer.render().to_string();
            context.print_data(&help)?;
            Ok(Ended::Answered)
        }
        Ok(_) | Err(_) => {
            let topic = args.command.join(" ");
            Err(CommandError::usage(format!(
                "unknown help topic \"{topic}\""
            )))
        }
    }
}

/// Prints the flags that every command takes. `--help` leaves them out, as kubectl does.
pub(crate) fn options(
    cli: &clap::Command,
    context: &mut Context<'_>,
) -> Result<Ended, CommandError> {
    let globals = cli
        .get_arguments()
        .filter(|arg| arg.is_global_set())
        .map(|arg| arg.clone().hide(false));
    let mut list = clap::Command::new("options")
        .disable_help_flag(true)
        .help_template("The following options can be passed to any command:\n\n{options}\n")
        .args(globals);
    let help = list.render_help().to_string();
    context.print_data(&help)?;
    Ok(Ended::Answered)
}
