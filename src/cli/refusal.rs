//! Command lines that clap refuses, in kubectl's words.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind as ClapKind};

use super::tree::command;
use crate::render::text::escape_line;

/// What clap answers to a command line that names no verb to run.
pub(super) enum Refusal {
    /// The user asked for help or the version, or named no command: this is the answer.
    Answer(String),
    /// The command line is wrong: kubectl's message, with hints.
    Usage(String),
}

impl Refusal {
    /// Translates clap's refusal of `args`.
    pub(super) fn of(refused: &clap::Error, args: &[OsString]) -> Refusal {
        match refused.kind() {
            ClapKind::DisplayHelp
            | ClapKind::DisplayVersion
            | ClapKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                Refusal::Answer(refused.render().to_string())
            }
            // kubectl prints its help too, whatever global flags it gets.
            ClapKind::MissingSubcommand => Refusal::Answer(command().render_help().to_string()),
            _ => Refusal::Usage(usage_error(refused, args)),
        }
    }
}

/// The words of the command that `args` name, as far as they name one: `kubectl spy demo changes`.
pub(super) fn command_words(args: &[OsString]) -> String {
    let lenient = command().ignore_errors(true).try_get_matches_from(args);
    let mut words = "kubectl spy".to_owned();
    let mut matches = lenient.as_ref().ok();
    while let Some((name, inner)) = matches.and_then(clap::ArgMatches::subcommand) {
        words.push(' ');
        words.push_str(name);
        matches = Some(inner);
    }
    words
}

/// kubectl's message for a usage error, then the valid values and clap's suggestion, if any.
fn usage_error(refused: &clap::Error, args: &[OsString]) -> String {
    let named = |kind| match refused.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let message = match (refused.kind(), named(ContextKind::InvalidArg)) {
        (ClapKind::UnknownArgument, Some(flag)) => format!("unknown flag: {flag}"),
        (ClapKind::InvalidSubcommand, _) => {
            let word = named(ContextKind::InvalidSubcommand).unwrap_or_default();
            format!("unknown command \"{word}\" for \"kubectl spy\"")
        }
        (ClapKind::MissingRequiredArgument, _) => {
            let missing = match refused.get(ContextKind::InvalidArg) {
                Some(ContextValue::Strings(missing)) => missing.join(", "),
                _ => String::new(),
            };
            format!("required: {missing}")
        }
        _ => first_line(&refused.render().to_string()),
    };
    let hints = hints(refused);
    let words = command_words(args);
    format!(
        "error: {}\n{hints}See '{words} --help' for usage.\n",
        escape_line(&message)
    )
}

/// The valid values, and what resembles the wrong word.
fn hints(refused: &clap::Error) -> String {
    let valid = match refused.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(valid)) if !valid.is_empty() => {
            format!("hint: use one of {}\n", valid.join(", "))
        }
        _ => String::new(),
    };
    let near: Vec<&str> = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand]
        .into_iter()
        .flat_map(|kind| match refused.get(kind) {
            Some(ContextValue::String(near)) => vec![near.as_str()],
            Some(ContextValue::Strings(near)) => near.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        })
        .collect();
    match near.join(" or ") {
        near if near.is_empty() => valid,
        near => format!("{valid}hint: did you mean {near}?\n"),
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}
