//! `__complete`: completes a command line for a shell. Shells call it through the scripts in `completions/`, and kubectl
//! through `kubectl_complete-spy`.
//!
//! [`TypedLine`] reads the words and says what belongs at the cursor; it is pure. What needs a cluster is in `live`. A
//! completion prints no error, never fails, never asks a question, and takes at most [`LIMIT`].

mod known;
mod line;
mod live;
mod live_cluster;
mod offer;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use clap::{Arg, Command};

use super::{CommandError, Context, Ended};
use crate::render::text::Text;
use line::{Asked, TypedLine, TypedPart, ValueSort};
use live_cluster::cluster_names;
use offer::{Directive, Offer, Offers};

/// The time for everything that needs a server. After it there is no offer.
const LIMIT: Duration = Duration::from_millis(1200);

/// The words of a command line that a shell wants completed: those after `__complete`, or all if the program runs
/// under the name `kubectl_complete-spy`, by which kubectl finds it.
pub(crate) fn words(args: &[OsString]) -> Option<&[OsString]> {
    let program = args.first().map(Path::new).and_then(Path::file_stem);
    let program = program.unwrap_or_default().to_string_lossy();
    match args {
        [_, words @ ..] if program.starts_with("kubectl_complete-") => Some(words),
        [_, first, words @ ..] if first == "__complete" => Some(words),
        _ => None,
    }
}

/// Completes the last of `words`: the words after the program's name, up to the cursor.
pub(crate) fn run(
    words: &[OsString],
    mut cli: Command,
    context: &mut Context<'_>,
) -> Result<Ended, CommandError> {
    cli.build();
    let words = words.iter().map(|word| word.to_string_lossy().into_owned());
    let words: Vec<String> = words.collect();
    let line = TypedLine::read(&cli, &words);
    let offers = context.block_on(async |context| {
        let offers = tokio::time::timeout(LIMIT, offers(&line, context));
        Ok(offers.await.unwrap_or_default())
    })?;
    context.print(offers.lines().into_iter().map(Text::data))?;
    Ok(Ended::Answered)
}

/// The start of a goal whose next part is a condition's type.
const CONDITION: &str = "condition=";

async fn offers(line: &TypedLine<'_>, context: &Context<'_>) -> Offers {
    match line.asked {
        Asked::Nothing => Offers::default(),
        Asked::Command(word) => Offers::of(known::commands(line), word),
        Asked::Flag(word) => Offers::of(known::flags(line, word.text()), word),
        Asked::Value(arg, word) => value(line, arg, word, context).await,
        Asked::Type(word) => {
            let types = live::types(line, word, context).await;
            types.with(known::release_prefix(word))
        }
        Asked::Release(word) => live::releases(line, word, context).await,
        Asked::TypeOfPair(word) => {
            let types = live::types(line, word, context).await;
            types.followed_by("/")
        }
        Asked::Name(types, word) => live::names(line, types, word, context).await,
    }
}

/// The values of a flag.
async fn value(
    line: &TypedLine<'_>,
    arg: &Arg,
    word: TypedPart<'_>,
    context: &Context<'_>,
) -> Offers {
    let sort = ValueSort::of(arg);
    match sort {
        ValueSort::Choice if arg.get_value_delimiter().is_some() => {
            Offers::of(known::choices(arg), word.last_item())
        }
        ValueSort::Choice => Offers::of(known::choices(arg), word),
        ValueSort::Relation => {
            let word = word.last_item();
            Offers::of(known::relations(word), word)
        }
        ValueSort::Fields => Offers::of(known::fields(), word),
        ValueSort::PastTime => Offers::of(known::past_times(), word),
        ValueSort::Since => Offers::of(known::starts(), word),
        ValueSort::Timeout => {
            let usual = ["30s", "1m", "5m", "10m"].map(|limit| Offer::new(limit, ""));
            Offers::of(usual.into(), word)
        }
        ValueSort::Verbosity => Offers::of(known::log_levels(), word),
        ValueSort::File => Offers::by_shell(Directive::Files),
        ValueSort::Directory => Offers::by_shell(Directive::Directories),
        ValueSort::Free => Offers::default(),
        ValueSort::Context => {
            let word = word.last_item();
            let mut names = cluster_names(line, sort, context);
            names.retain(|offer| !word.listed().any(|listed| listed == offer.value));
            Offers::of(names, word)
        }
        ValueSort::Cluster | ValueSort::User => {
            Offers::of(cluster_names(line, sort, context), word)
        }
        ValueSort::Goal if word.text().starts_with(CONDITION) => {
            live::values(sort, line, word.keeping(CONDITION.len()), context).await
        }
        ValueSort::Goal => Offers::of(known::goals(), word),
        ValueSort::Namespace => live::namespaces(line, word, context).await,
        ValueSort::Labels
        | ValueSort::Manager
        | ValueSort::Container
        | ValueSort::Path
        | ValueSort::JsonPath => live::values(sort, line, word, context).await,
    }
}
