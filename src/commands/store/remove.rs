//! `store rm`: deletes whole files.

use crate::commands::{CommandError, Context, Ended, StoreArgs, TimeOrAge};
use crate::record::Store;
use crate::render::text::escape_line;

/// Delete the files that ended before a time
#[derive(clap::Args, Clone, Debug)]
pub(super) struct RemoveArgs {
    /// Delete the files that ended this long ago (30d) or before this time (2026-11-22T09:00:00Z)
    #[arg(long, value_name = "DURATION|TIME", required = true, value_parser = TimeOrAge::parse)]
    before: TimeOrAge,
    #[command(flatten)]
    pub(super) store: StoreArgs,
}

pub(super) fn run(
    args: &RemoveArgs,
    store: &Store,
    context: &mut Context<'_>,
) -> Result<Ended, CommandError> {
    let before = args.before.seen_from(context.env.now());
    for cluster in store.clusters()? {
        for file in cluster.list()? {
            if file.written.is_some_and(|written| written < before) {
                file.remove()?;
                let path = file.path.display().to_string();
                context.print(&[format!("{} deleted", escape_line(&path))])?;
            }
        }
    }
    Ok(Ended::Answered)
}
