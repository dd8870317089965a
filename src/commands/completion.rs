//! `completion`: prints the script that lets a shell complete `kubectl-spy` commands.

use clap_complete::Shell;

use super::{CommandError, Context, Ended};

/// Print the completion script of a shell
#[derive(clap::Args, Debug)]
pub(crate) struct CompletionArgs {
    /// Choose the shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(
    args: &CompletionArgs,
    mut cli: clap::Command,
    context: &mut Context<'_>,
) -> Result<Ended, CommandError> {
    let mut script = Vec::new();
    cli = cli.bin_name("kubectl-spy");
    clap_complete::generate(args.shell, &mut cli, "kubectl-spy", &mut script);
    let script = String::from_utf8_lossy(&script);
    context.print(&script.lines().map(str::to_owned).collect::<Vec<_>>())?;
    Ok(Ended::Answered)
}
