//! `store`: lists, checks, exports and deletes what `record` has kept.

mod export;
mod list;

use clap::Subcommand;

use super::{CommandError, Context, Ended, StoreArgs, TimeOrAge};
use crate::object::counted;
use crate::record::{Store, StoreFileReader};

/// List, check, export and delete what `record` has kept
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
    Export(export::ExportArgs),
    Rm(RemoveArgs),
}

/// Delete the files that ended before a time
#[derive(clap::Args, Clone, Debug)]
struct RemoveArgs {
    /// Delete the files that ended this long ago (30d) or before this time (2026-11-22T09:00:00Z)
    #[arg(long, value_name = "DURATION|TIME", required = true, value_parser = TimeOrAge::parse)]
    before: TimeOrAge,
    #[command(flatten)]
    store: StoreArgs,
}

const EXAMPLES: &str = "Examples:
  kubectl spy store ls                 what is recorded, and where the holes are
  kubectl spy store check              read every file, and list the damaged ones
  kubectl spy store export --since 1d deploy -n prod
                                       the recorded versions of a day, one JSON record per line
  kubectl spy store rm --before 30d    delete the files that ended more than 30 days ago";

pub(crate) fn run(args: &StoreVerbs, context: &mut Context<'_>) -> Result<Ended, CommandError> {
    match &args.verb {
        StoreVerb::Ls(args) => list::run(&args.open(context.env)?, context),
        StoreVerb::Check(args) => check(&args.open(context.env)?, context),
        StoreVerb::Export(args) => export::run(args, context),
        StoreVerb::Rm(args) => remove(args, context),
    }
}

/// Reads every file, and fails if one is damaged.
fn check(store: &Store, context: &mut Context<'_>) -> Result<Ended, CommandError> {
    let (mut files, mut damaged) = (0, 0);
    for cluster in store.clusters()? {
        let listed = cluster.list();
        let (listed, lost) = match listed.and_then(|files| Ok((files, cluster.lost_logs()?))) {
            Ok(listed) => listed,
            Err(error) => {
                (files, damaged) = (files + 1, damaged + 1);
                context.print([error.to_string()])?;
                continue;
            }
        };
        for file in listed {
            files += 1;
            let path = file.path.display().to_string();
            let faults = match StoreFileReader::open(&file.path) {
                Ok(mut reader) => reader.check(),
                Err(error) => vec![error.to_string()],
            };
            damaged += usize::from(!faults.is_empty());
            context.print(match &faults[..] {
                [] => vec![format!("{path}: ok")],
                faults => faults.iter().map(|fault| in_one_line(fault)).collect(),
            })?;
        }
        for log in lost {
            (files, damaged) = (files + 1, damaged + 1);
            let path = log.display();
            context.print([format!(
                "{path}: its file is missing, so its versions are lost"
            )])?;
        }
    }
    match damaged {
        0 => Ok(Ended::Answered),
        damaged => {
            let words = counted(damaged, "file is damaged", "files are damaged");
            let error = CommandError::failed(format!("error: {words}, of {files}"));
            Err(error.hint("the versions that are whole are still read"))
        }
    }
}

/// A fault in one line. SQLite writes a heading of its own above those of its pages.
fn in_one_line(fault: &str) -> String {
    let fault = fault.replace(
        "*** in database main ***\n",
        "a part of the database is damaged: ",
    );
    fault.replace('\n', "; ")
}

/// Deletes whole files. Those that cannot be deleted are named, and the others are deleted.
fn remove(args: &RemoveArgs, context: &mut Context<'_>) -> Result<Ended, CommandError> {
    let store = args.store.open(context.env)?;
    let now = context.env.now();
    let before = args.before.seen_from(now);
    if before > now {
        let text = format!("--before {before:.0} has not come yet: it is {now:.0}");
        return Err(CommandError::usage(text));
    }
    let mut kept = 0;
    for cluster in store.clusters()? {
        let listed = cluster.list().unwrap_or_else(|error| {
            kept += 1;
            context.note(&error.to_string());
            Vec::new()
        });
        for file in listed {
            let path = file.path.display();
            if file.written.is_none_or(|written| written >= before) {
                continue;
            }
            if file.is_in_use(now) {
                context.note(&format!(
                    "{path} is kept: a recorder has written to it in the last two minutes"
                ));
                continue;
            }
            match file.remove() {
                Ok(()) => context.print([format!("{path} deleted")])?,
                Err(error) => {
                    kept += 1;
                    context.note(&format!("{path} is kept: {error}"));
                }
            }
        }
    }
    match kept {
        0 => Ok(Ended::Answered),
        kept => {
            let words = counted(kept, "file", "files");
            Err(CommandError::failed(format!(
                "error: {words} could not be deleted"
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_one_line() {
        for (fault, expect) in [
            (
                "a.spy: damaged: the block of version 1",
                "a.spy: damaged: the block of version 1",
            ),
            (
                "a.spy: damaged: *** in database main ***\nTree 8 page 20: btreeInitPage() returns error code 11",
                "a.spy: damaged: a part of the database is damaged: Tree 8 page 20: btreeInitPage() returns error code 11",
            ),
            (
                "a.spy: damaged: row 1 missing from index a\nrow 2 missing from index a",
                "a.spy: damaged: row 1 missing from index a; row 2 missing from index a",
            ),
        ] {
            assert_eq!(in_one_line(fault), expect);
        }
    }
}
