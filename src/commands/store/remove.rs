//! `store rm`: deletes whole files.

use jiff::{SignedDuration, Timestamp};

use crate::commands::duration_with_days;
use crate::commands::{CommandError, Context, Ended, StoreArgs};
use crate::record::Store;
use crate::render::text::escape_line;

/// Delete the files that ended before a time
#[derive(clap::Args, Clone, Debug)]
pub(super) struct RemoveArgs {
    /// Delete the files that ended this long ago (30d) or before this time (2026-11-22T09:00:00Z)
    #[arg(long, value_name = "DURATION|TIME", required = true, value_parser = parse_before)]
    before: Before,
    #[command(flatten)]
    pub(super) store: StoreArgs,
}

/// The time of `--before`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Ago(SignedDuration),
    At(Timestamp),
}

fn parse_before(text: &str) -> Result<Before, String> {
    let ago = duration_with_days(text).filter(SignedDuration::is_positive);
    let before = ago.map(Before::Ago);
    before
        .or_else(|| text.parse().ok().map(Before::At))
        .ok_or_else(|| "expected a duration (12h, 30d) or a time (2026-11-22T09:00:00Z)".to_owned())
}

pub(super) fn run(
    args: &RemoveArgs,
    store: &Store,
    context: &mut Context<'_>,
) -> Result<Ended, CommandError> {
    let before = match args.before {
        Before::Ago(ago) => context.env.now().checked_sub(ago).unwrap_or(Timestamp::MIN),
        Before::At(time) => time,
    };
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
