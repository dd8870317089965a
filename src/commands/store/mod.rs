//! `store`: lists, checks and deletes the files of a record.

mod check;
mod list;
mod remove;

use clap::Subcommand;

use super::{CommandError, Context, Ended, StoreArgs};
use crate::record::Store;

/// List, check and delete what `record` has kept
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = EXAMPLES, subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct StoreVerbs {
    #[command(subcommand)]
    verb: StoreVerb,
}

/// What to do with the files.
#[derive(Subcommand, Clone, Debug)]
enum StoreVerb {
    /// List the recorded clusters: from when to when, how much, and where the holes are
    Ls(StoreArgs),
    /// Read every file, and list the damaged ones
    Check(StoreArgs),
    Rm(remove::RemoveArgs),
}

const EXAMPLES: &str = "Examples:
  kubectl spy store ls                 what is recorded, and where the holes are
  kubectl spy store check              read every file, and list the damaged ones
  kubectl spy store rm --before 30d    delete the files that ended more than 30 days ago";

pub(crate) fn run(args: &StoreVerbs, context: &mut Context<'_>) -> Result<Ended, CommandError> {
    match &args.verb {
        StoreVerb::Ls(args) => list::run(&open(args, context)?, context),
        StoreVerb::Check(args) => check::run(&open(args, context)?, context),
        StoreVerb::Rm(args) => remove::run(args, &open(&args.store, context)?, context),
    }
}

fn open(args: &StoreArgs, context: &Context<'_>) -> Result<Store, CommandError> {
    Ok(Store::open(&args.path(context.env)?)?)
}
