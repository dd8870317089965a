//! The offers that need no cluster: commands, flags, and values with a fixed choice.

use clap::{Arg, ArgAction, Command};

use super::line::{TypedLine, TypedPart};
use super::offer::Offer;
use crate::commands::args::RELEASE_PREFIX;
use crate::graph::relation_names;
use crate::sandbox::scenario;

/// Where a flag's help stops being a description in a few words.
const ENDS: [&str; 4] = [". ", "; ", ", for example", " ("];

/// The commands, and the scenarios of `demo`.
pub(super) fn commands(line: &TypedLine<'_>) -> Vec<Offer> {
    let verbs = line.command.get_subcommands();
    let verbs = verbs.filter(|verb| !verb.is_hide_set() && verb.get_name() != "help");
    let verb = |verb: &Command| Offer::new(verb.get_name(), about(verb.get_about()));
    let mut offers: Vec<Offer> = verbs.map(verb).collect();
    if line.verbs == ["demo"] && line.objects.is_empty() {
        let scenarios = scenario::all().into_iter();
        offers.extend(scenarios.map(|scenario| Offer::new(scenario.name, scenario.about)));
    }
    offers
}

/// What stands before the name of a Helm release, if a word may become it.
pub(super) fn release_prefix(word: TypedPart<'_>) -> Option<Offer> {
    let is_alone = word.kept().is_empty() && RELEASE_PREFIX.starts_with(word.text());
    is_alone.then(|| Offer::new(RELEASE_PREFIX, "the objects of a Helm release"))
}

/// The flags of a command. A flag that the line has is offered again only if it repeats.
pub(super) fn flags(line: &TypedLine<'_>, text: &str) -> Vec<Offer> {
    let is_given = |arg: &Arg| line.flags.iter().any(|given| given.arg == arg);
    let repeats = |arg: &Arg| matches!(arg.get_action(), ArgAction::Append);
    let is_offered = |arg: &&Arg| {
        let is_hidden = arg.is_hide_set() && !arg.is_global_set();
        !is_hidden && (repeats(arg) || !is_given(arg))
    };
    let args = line.command.get_arguments().filter(is_offered);
    let offers = args.flat_map(|arg| {
        let long = arg.get_long().map(|long| format!("--{long}"));
        // A letter is only offered to someone who has typed nothing of a long name.
        let short = arg.get_short().filter(|_| text == "-");
        let short = short.map(|letter| format!("-{letter}"));
        let names = long.into_iter().chain(short);
        names.map(move |name| Offer::new(name, about(arg.get_help())))
    });
    offers.collect()
}

/// The values of a flag with a fixed choice.
pub(super) fn choices(arg: &Arg) -> Vec<Offer> {
    let values = arg.get_possible_values().into_iter();
    let values = values.filter(|value| !value.is_hide_set());
    let offers = values.map(|value| Offer::new(value.get_name(), about(value.get_help())));
    offers.collect()
}

/// The relations of `trace --relations`, without those that the list has.
pub(super) fn relations(word: TypedPart<'_>) -> Vec<Offer> {
    let names = relation_names().into_iter();
    let names = names.filter(|name| !word.listed().any(|listed| listed == *name));
    names.map(|name| Offer::new(name, "")).collect()
}

/// The goals of `--for` that need no object. Those that end with `=` continue.
pub(super) fn goals() -> Vec<Offer> {
    let goals = [
        ("current", "it and its dependents are Current"),
        ("ready", "the same as current"),
        ("settled", "they are Current, and its old Pods are gone"),
        ("condition=", "a condition is True"),
        ("jsonpath=", "a field has a value"),
        ("create", "it exists"),
        ("delete", "it does not exist"),
    ];
    goals.map(|(goal, about)| Offer::new(goal, about)).into()
}

/// Usual values of `--at`.
pub(super) fn past_times() -> Vec<Offer> {
    let times = [
        ("1m", "a minute ago"),
        ("3m", "three minutes ago"),
        ("5m", "five minutes ago"),
    ];
    times.map(|(time, about)| Offer::new(time, about)).into()
}

/// Usual values of `changes --since`.
pub(super) fn starts() -> Vec<Offer> {
    let starts = [
        ("5m", "five minutes ago"),
        ("10m", "ten minutes ago"),
        ("30m", "half an hour ago"),
        ("1h", "an hour ago"),
        ("1d", "a day ago"),
        ("all", "as far back as the server has"),
        ("0", "from now"),
    ];
    starts.map(|(start, about)| Offer::new(start, about)).into()
}

/// The levels of `-v` that log more than the one below.
pub(super) fn log_levels() -> Vec<Offer> {
    let levels = [
        ("6", "requests with their status and time"),
        ("8", "also their headers"),
    ];
    levels.map(|(level, about)| Offer::new(level, about)).into()
}

/// The fields by which every kind can be selected.
pub(super) fn fields() -> Vec<Offer> {
    let fields = ["metadata.name=", "metadata.namespace="];
    fields.map(|field| Offer::new(field, "")).into()
}

/// The fields by which every kind can be sorted.
pub(super) fn sort_fields() -> Vec<Offer> {
    let fields = [
        ".metadata.creationTimestamp",
        ".metadata.name",
        ".metadata.namespace",
    ];
    fields.map(|field| Offer::new(field, "string")).into()
}

/// The first words of a help text.
fn about(help: Option<&clap::builder::StyledStr>) -> String {
    let help = help.map(ToString::to_string).unwrap_or_default();
    let line = help.lines().next().unwrap_or_default();
    let ends = ENDS.into_iter().filter_map(|end| line.find(end));
    line[..ends.min().unwrap_or(line.len())].to_owned()
}
