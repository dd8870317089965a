//! `version`: the versions of this program and of the API server.

use super::{CommandError, Context, Ended, Session};

/// Print the versions of this program and of the API server
#[derive(clap::Args, Debug)]
pub(crate) struct VersionArgs {
    /// Print only the version of this program, without asking a server
    #[arg(long)]
    client: bool,
}

pub(crate) fn run(args: &VersionArgs, context: &mut Context<'_>) -> Result<Ended, CommandError> {
    context.print(&[format!("Client Version: v{}", env!("CARGO_PKG_VERSION"))])?;
    if !args.client {
        let server = context
            .block_on(async |context| Session::connect(context).await?.server_version().await)?;
        context.print(&[format!("Server Version: {server}")])?;
    }
    Ok(Ended::Answered)
}
