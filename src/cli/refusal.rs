//! Command lines that clap refuses, in kubectl's words.

use std::error::Error;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind as ClapKind};

use super::tree::{command, parser};
use crate::commands::flag_values::{GO, number_refusal};
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
            ClapKind::DisplayHelp => {
                Refusal::Answer(help(args).unwrap_or_else(|| refused.render().to_string()))
            }
            ClapKind::DisplayVersion | ClapKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                Refusal::Answer(refused.render().to_string())
            }
            // kubectl prints its help too, whatever global flags it gets.
            ClapKind::MissingSubcommand => Refusal::Answer(command().render_help().to_string()),
            _ => Refusal::Usage(usage_error(refused, args)),
        }
    }
}

/// The help that `args` ask for; `None` if a switch with a value comes before the flag.
fn help(args: &[OsString]) -> Option<String> {
    let answer = command().try_get_matches_from(args).err()?;
    (answer.kind() == ClapKind::DisplayHelp).then(|| answer.render().to_string())
}

/// The words of the command that `args` name, as far as they name one: `kubectl spy demo changes`.
pub(super) fn command_words(args: &[OsString]) -> String {
    let lenient = parser().ignore_errors(true).try_get_matches_from(args);
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
    let named = |kind| text(refused, kind);
    let (message, hints) = match (refused.kind(), named(ContextKind::InvalidArg)) {
        (ClapKind::UnknownArgument, Some(word)) => (
            unknown_argument(word, args),
            counterpart(word).unwrap_or_else(|| hints(refused)),
        ),
        (ClapKind::InvalidSubcommand, _) => {
            let word = named(ContextKind::InvalidSubcommand).unwrap_or_default();
            let message = unknown_command(word, args);
            (message, counterpart(word).unwrap_or_else(|| hints(refused)))
        }
        // kubectl's words do not name the flag.
        (ClapKind::ValueValidation, Some(flag)) if flag.starts_with("--for") => {
            (reason(refused), String::new())
        }
        (ClapKind::ValueValidation | ClapKind::InvalidValue, Some(flag))
            if flag.starts_with("--") =>
        {
            if let Some(message) = unknown_format(refused) {
                (message, String::new())
            } else {
                let message = invalid_value(refused, flag);
                let number = message.contains(GO).then(|| NUMBER.to_owned());
                (message, number.unwrap_or_else(|| hints(refused)))
            }
        }
        (ClapKind::InvalidValue, Some(_)) => {
            let word = named(ContextKind::InvalidValue).unwrap_or_default();
            (unknown_word(word, args), hints(refused))
        }
        (ClapKind::ArgumentConflict, Some(flag)) if named(ContextKind::PriorArg).is_some() => {
            let prior = named(ContextKind::PriorArg).unwrap_or_default();
            let (prior, flag) = (flag_name(prior), flag_name(flag));
            let message = format!("{flag} and {prior} cannot be used together");
            (message, hints(refused))
        }
        (ClapKind::MissingRequiredArgument, _) => (missing_arguments(refused), hints(refused)),
        _ => (first_line(&refused.render().to_string()), hints(refused)),
    };
    let words = command_words(args);
    format!(
        "error: {}\n{hints}See '{words} --help' for usage.\n",
        escape_line(&message)
    )
}

/// kubectl's message for a word or a flag that a command does not take.
fn unknown_argument(word: &str, args: &[OsString]) -> String {
    match word.strip_prefix('-') {
        Some(flag) if flag.starts_with('-') => format!("unknown flag: {word}"),
        Some(letter) if !letter.is_empty() => {
            let is_group = |arg: &&str| arg.starts_with(word) && !arg.starts_with("--");
            let mut groups = args.iter().filter_map(|arg| arg.to_str());
            let group = groups.find(is_group).unwrap_or(word);
            format!("unknown shorthand flag: '{letter}' in {group}")
        }
        Some(_) | None => unknown_command(word, args),
    }
}

fn unknown_command(word: &str, args: &[OsString]) -> String {
    format!("unknown command \"{word}\" for \"{}\"", command_words(args))
}

/// kubectl's message for a word that is none of those that a command takes.
fn unknown_word(word: &str, args: &[OsString]) -> String {
    match &*command_words(args) {
        "kubectl spy help" => format!("Unknown help topic [`{word}`]"),
        "kubectl spy completion" => format!("Unsupported shell type {word:?}."),
        _ => unknown_command(word, args),
    }
}

/// `--since` of `--since <TIME|DURATION>`.
fn flag_name(flag: &str) -> &str {
    flag.split([' ', '[']).next().unwrap_or(flag)
}

/// kubectl's message for a flag without a value, or with one that it does not take.
fn invalid_value(refused: &clap::Error, flag: &str) -> String {
    let flag = flag_name(flag);
    let value = text(refused, ContextKind::InvalidValue).unwrap_or_default();
    match reason(refused).as_str() {
        "" if value.is_empty() => format!("flag needs an argument: {flag}"),
        "" => format!("invalid argument \"{value}\" for \"{flag}\" flag: no such value"),
        reason => format!("invalid argument \"{value}\" for \"{flag}\" flag: {reason}"),
    }
}

/// kubectl's message for required flags, or what else is missing.
fn missing_arguments(refused: &clap::Error) -> String {
    let missing = texts(refused, ContextKind::InvalidArg);
    let flags = missing.iter().map(|it| flag_name(it).strip_prefix("--"));
    match flags.collect::<Option<Vec<&str>>>() {
        Some(flags) => format!("required flag(s) \"{}\" not set", flags.join("\", \"")),
        None => format!("required: {}", missing.join(", ")),
    }
}

/// Why a value of a flag does not parse.
fn reason(refused: &clap::Error) -> String {
    let Some(error) = refused.source() else {
        return String::new();
    };
    let value = text(refused, ContextKind::InvalidValue).unwrap_or_default();
    match error.downcast_ref() {
        Some(error) => number_refusal(value, error),
        None if error.is::<jiff::Error>() => {
            format!("expected a time, for example {EXAMPLE_TIME}")
        }
        None => error.to_string(),
    }
}

/// What to do about a value that is no number, or too large.
const NUMBER: &str = "hint: use a whole number, for example 5\n";

/// A time as flags take it.
const EXAMPLE_TIME: &str = "2026-03-02T12:00:00Z";

/// kubectl's message for an output format that does not exist. It lists the formats itself.
fn unknown_format(refused: &clap::Error) -> Option<String> {
    let flag = text(refused, ContextKind::InvalidArg)?;
    let format = text(refused, ContextKind::InvalidValue)?;
    if !flag.starts_with("--output") || format.is_empty() {
        return None;
    }
    let mut formats = texts(refused, ContextKind::ValidValue).to_vec();
    formats.sort_unstable();
    Some(format!(
        "unable to match a printer suitable for the output format \"{format}\", allowed formats are: {}",
        formats.join(",")
    ))
}

/// Words that people know from kubectl, git and other tools, and what does the same here.
const COUNTERPARTS: [(&str, &str); 17] = [
    ("blame", "changes TYPE/NAME"),
    ("describe", "status TYPE/NAME"),
    ("diff", "changes TYPE/NAME"),
    ("events", "changes --since 5m"),
    ("get", "status TYPE"),
    ("history", "changes TYPE/NAME"),
    ("lineage", "trace TYPE/NAME"),
    (
        "log",
        "logs TYPE/NAME for lines, or changes TYPE/NAME for versions",
    ),
    ("rollout", "status TYPE/NAME --for=current"),
    ("tree", "status TYPE/NAME"),
    ("wait", "status TYPE/NAME --for=current"),
    ("watch", "changes TYPE/NAME"),
    ("--no-color", "--color=never"),
    ("--no-colors", "--color=never"),
    ("--nocolor", "--color=never"),
    ("--who", "changes TYPE/NAME --by NAME"),
    ("--wide", "status TYPE -o wide"),
];

/// A hint with what does the same as a word of another tool.
fn counterpart(word: &str) -> Option<String> {
    let (_, ours) = COUNTERPARTS.iter().find(|(theirs, _)| *theirs == word)?;
    Some(format!("hint: use {ours}\n"))
}

/// The valid values, and what resembles the wrong word.
fn hints(refused: &clap::Error) -> String {
    let valid = match texts(refused, ContextKind::ValidValue) {
        [] => String::new(),
        valid => format!("hint: use one of {}\n", valid.join(", ")),
    };
    let near: Vec<&str> = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand]
        .into_iter()
        .flat_map(|kind| {
            let several = texts(refused, kind).iter().map(String::as_str);
            text(refused, kind).into_iter().chain(several)
        })
        .collect();
    match near.join(" or ") {
        near if near.is_empty() => valid,
        near => format!("{valid}hint: did you mean {near}?\n"),
    }
}

/// A fact of clap's error, if it is one text.
fn text(refused: &clap::Error, kind: ContextKind) -> Option<&str> {
    match refused.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}

/// A fact of clap's error, if it is a list.
fn texts(refused: &clap::Error, kind: ContextKind) -> &[String] {
    match refused.get(kind) {
        Some(ContextValue::Strings(texts)) => texts,
        _ => &[],
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}
