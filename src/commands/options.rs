//! `options`: lists the flags that every command takes. `--help` leaves them out, as kubectl does.

use super::{CommandError, Context, Ended};

pub(crate) fn run(cli: &clap::Command, context: &mut Context<'_>) -> Result<Ended, CommandError> {
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
