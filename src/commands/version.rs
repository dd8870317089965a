//! `version`: the versions of this program and of the API server.

use super::{CommandError, Context, Ended, Session};

/// Print the client and server version
#[derive(clap::Args, Debug)]
pub(crate) struct VersionArgs {
    /// If true, shows client version only (no server required)
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
