//! `completion`: prints the script that lets a shell complete `kubectl-spy` commands.

use super::{CommandError, Context, Ended};

/// Print the completion script of a shell
#[derive(clap::Args, Debug)]
#[command(after_help = SETUP)]
pub(crate) struct CompletionArgs {
    /// Choose the shell
    #[arg(value_enum)]
    shell: Shell,
}

/// The shells with a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Shell {
    /// Version 3.2 or later
    Bash,
    /// Every version
    Zsh,
    /// Version 3 or later
    Fish,
    /// Version 5 or later
    #[value(name = "powershell")]
    Power,
}

const SETUP: &str = r#"A line in the startup file of the shell completes kubectl-spy:
  bash        eval "$(kubectl-spy completion bash)"
  zsh         source <(kubectl-spy completion zsh)
  fish        kubectl-spy completion fish | source
  powershell  kubectl-spy completion powershell | Out-String | Invoke-Expression

kubectl's own script completes `kubectl spy`, in every shell. That needs kubectl 1.26 and a link:
  ln -s kubectl-spy "$(dirname "$(command -v kubectl-spy)")/kubectl_complete-spy""#;

pub(crate) fn run(args: &CompletionArgs, context: &mut Context<'_>) -> Result<Ended, CommandError> {
    context.print_data(args.shell.script())?;
    Ok(Ended::Answered)
}

impl Shell {
    fn script(self) -> &'static str {
        match self {
            Shell::Bash => include_str!("../../completions/kubectl-spy.bash"),
            Shell::Zsh => include_str!("../../completions/_kubectl-spy"),
            Shell::Fish => include_str!("../../completions/kubectl-spy.fish"),
            Shell::Power => include_str!("../../completions/kubectl-spy.ps1"),
        }
    }
}
