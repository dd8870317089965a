//! `TypedLine`: the words of a command line up to the cursor, read leniently: it may be incomplete or wrong.

use clap::{Arg, ArgAction, Command};

use crate::cluster::TypeWord;
use crate::commands::args::{RELEASE_PREFIX, is_release};
use crate::object::well_known;

/// A command line up to the cursor.
#[derive(Debug)]
pub(super) struct TypedLine<'l> {
    /// The innermost command.
    pub(super) command: &'l Command,
    /// The names of the commands: `demo`, `changes`.
    pub(super) verbs: Vec<&'l str>,
    /// The flags in the order of the line.
    pub(super) flags: Vec<GivenFlag<'l>>,
    /// The other words after the command: objects.
    pub(super) objects: Vec<&'l str>,
    /// What belongs at the cursor.
    pub(super) asked: Asked<'l>,
}

/// A flag with its value, if it has one on the line.
#[derive(Clone, Copy, Debug)]
pub(super) struct GivenFlag<'l> {
    pub(super) arg: &'l Arg,
    pub(super) value: Option<&'l str>,
}

/// Whether the words after `--` are no flags.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dashes {
    Flags,
    Words,
}

impl<'l> TypedLine<'l> {
    /// Reads the words after the program's name. The last one is the word at the cursor, and may be empty. `cli` has
    /// been built ([`Command::build`]), so that each command has the global flags.
    pub(super) fn read(cli: &'l Command, words: &'l [String]) -> TypedLine<'l> {
        let (current, before) = match words.split_last() {
            Some((current, before)) => (current.as_str(), before),
            None => ("", words),
        };
        let mut line = TypedLine {
            command: cli,
            verbs: Vec::new(),
            flags: Vec::new(),
            objects: Vec::new(),
            asked: Asked::Nothing,
        };
        let mut dashes = Dashes::Flags;
        let mut open: Option<&'l Arg> = None;
        for word in before {
            if let Some(arg) = open.take() {
                line.flags.push(GivenFlag {
                    arg,
                    value: Some(word),
                });
            } else if dashes == Dashes::Words {
                line.objects.push(word);
            } else if word == "--" {
                dashes = Dashes::Words;
            } else if word.len() > 1 && word.starts_with('-') {
                open = line.take_flags(word);
            } else if let Some(command) = line.command.find_subcommand(word) {
                line.command = command;
                line.verbs.push(command.get_name());
                line.objects.clear();
            } else {
                line.objects.push(word);
            }
        }
        line.asked = match open {
            Some(arg) => Asked::Value(arg, TypedPart::whole(current)),
            None if dashes == Dashes::Flags && current.starts_with('-') => line.flag_word(current),
            None => line.word(current),
        };
        line
    }

    /// Whether the line has a flag, and does not switch it off.
    pub(super) fn has(&self, long: &str) -> bool {
        self.value(long).is_some_and(|value| value != "false")
    }

    /// The words that name the objects. As in kubectl, a single word of `logs` that is no type is a Pod, and a selector
    /// alone is about Pods.
    pub(super) fn named_objects(&self) -> Vec<String> {
        let is_logs = self.verbs.last() == Some(&"logs");
        let is_type = |word: &str| TypeWord::new(word).find(well_known()).is_some();
        let is_name = |word: &str| !word.contains('/') && !is_release(word) && !is_type(word);
        match self.objects[..] {
            [word] if is_logs && is_name(word) => vec![format!("pod/{word}")],
            [] if is_logs && self.has("selector") => vec!["pods".to_owned()],
            _ => self.objects.iter().map(|&word| word.to_owned()).collect(),
        }
    }

    /// The last value of a flag; empty for a flag without a value.
    pub(super) fn value(&self, long: &str) -> Option<&'l str> {
        let mut given = self.flags.iter().rev();
        let given = given.find(|given| given.arg.get_long() == Some(long))?;
        Some(given.value.unwrap_or_default())
    }

    /// Takes a word with flags: `--flag`, `--flag=value`, `-f`, `-fvalue`, `-Aw`. Returns the flag whose value is the
    /// next word.
    fn take_flags(&mut self, word: &'l str) -> Option<&'l Arg> {
        if let Some(long) = word.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (long, None),
            };
            return self.take_flag(self.long(name)?, value);
        }
        let mut rest = &word[1..];
        while let Some(letter) = rest.chars().next() {
            rest = &rest[letter.len_utf8()..];
            let arg = self.short(letter)?;
            let attached = rest.strip_prefix('=');
            if attached.is_some() || takes_word(arg) {
                let value = attached.or(Some(rest).filter(|rest| !rest.is_empty()));
                return self.take_flag(arg, value);
            }
            self.take_flag(arg, None);
        }
        None
    }

    fn take_flag(&mut self, arg: &'l Arg, value: Option<&'l str>) -> Option<&'l Arg> {
        if value.is_none() && takes_word(arg) {
            return Some(arg);
        }
        self.flags.push(GivenFlag { arg, value });
        None
    }

    /// What belongs at the cursor in a word that starts with `-`.
    fn flag_word(&self, current: &'l str) -> Asked<'l> {
        if let Some((name, value)) = current.split_once('=') {
            // The shell keeps the part before the `=`.
            let arg = match name.strip_prefix("--") {
                Some(long) => self.long(long),
                None => name.chars().last().and_then(|letter| self.short(letter)),
            };
            return match arg {
                Some(arg) => Asked::Value(arg, TypedPart::whole(value)),
                None => Asked::Nothing,
            };
        }
        let mut letters = current.chars().skip(1);
        match (letters.next(), letters.next()) {
            // `-nshop`
            (Some(letter), Some(_)) if letter != '-' => match self.short(letter) {
                Some(arg) if takes_word(arg) => Asked::Value(
                    arg,
                    TypedPart::whole(current).keeping(1 + letter.len_utf8()),
                ),
                Some(_) | None => Asked::Nothing,
            },
            _ => Asked::Flag(TypedPart::whole(current)),
        }
    }

    /// What belongs at the cursor in a word that is no flag.
    fn word(&self, current: &'l str) -> Asked<'l> {
        let is_lost = self.verbs.is_empty() && !self.objects.is_empty();
        match self.command.has_subcommands() {
            true if is_lost => Asked::Nothing,
            true => Asked::Command(TypedPart::whole(current)),
            false => self.positional(current),
        }
    }

    fn positional(&self, current: &'l str) -> Asked<'l> {
        let Some(arg) = self.command.get_positionals().next() else {
            return Asked::Nothing;
        };
        if arg.get_id() != "objects" {
            return if self.objects.is_empty() {
                Asked::Value(arg, TypedPart::whole(current))
            } else {
                Asked::Nothing
            };
        }
        if self.has("filename") || self.has("kustomize") {
            return Asked::Nothing;
        }
        if is_release(current) {
            return Asked::Release(TypedPart::whole(current).keeping(RELEASE_PREFIX.len()));
        }
        let selects = ["selector", "field-selector", "all-namespaces"];
        let may_name = !selects.iter().any(|flag| self.has(flag));
        let word = TypedPart::whole(current);
        let first = self.objects.first();
        let has_pairs = first.is_none_or(|first| first.contains('/'));
        match (first, current.split_once('/')) {
            (None, None) => Asked::Type(word.last_item()),
            _ if !may_name => Asked::Nothing,
            (_, Some((types, _))) if has_pairs => Asked::Name(types, word.keeping(types.len() + 1)),
            (Some(_), None) if has_pairs => Asked::TypeOfPair(word),
            (Some(types), None) => Asked::Name(types, word),
            (_, Some(_)) => Asked::Nothing,
        }
    }

    fn long(&self, name: &str) -> Option<&'l Arg> {
        let mut args = self.command.get_arguments();
        args.find(|arg| !name.is_empty() && arg.get_long() == Some(name))
    }

    fn short(&self, letter: char) -> Option<&'l Arg> {
        let mut args = self.command.get_arguments();
        args.find(|arg| arg.get_short() == Some(letter))
    }
}

/// Whether the next word is the flag's value. It is not if the value must follow a `=`.
fn takes_word(arg: &Arg) -> bool {
    let takes = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    takes && !arg.is_require_equals_set()
}

/// What belongs at the cursor.
#[derive(Clone, Copy, Debug)]
pub(super) enum Asked<'l> {
    /// Nothing that is known.
    Nothing,
    /// A command, or the scenario of `demo`.
    Command(TypedPart<'l>),
    /// A flag.
    Flag(TypedPart<'l>),
    /// The value of a flag, or of a word that is no object.
    Value(&'l Arg, TypedPart<'l>),
    /// A TYPE, or one more in a list.
    Type(TypedPart<'l>),
    /// The TYPE of one more TYPE/NAME.
    TypeOfPair(TypedPart<'l>),
    /// The name of a Helm release.
    Release(TypedPart<'l>),
    /// A NAME of these types, which are separated by commas.
    Name(&'l str, TypedPart<'l>),
}

/// A word: a part that stays, and the text that becomes an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TypedPart<'l> {
    word: &'l str,
    /// Where the text begins.
    at: usize,
}

impl<'l> TypedPart<'l> {
    /// All of a word may change.
    pub(super) fn whole(word: &'l str) -> TypedPart<'l> {
        TypedPart { word, at: 0 }
    }

    /// The same word, of whose text another `bytes` stay.
    pub(super) fn keeping(self, bytes: usize) -> TypedPart<'l> {
        let at = self.at + bytes;
        TypedPart { at, ..self }
    }

    /// The last item of a text with commas.
    pub(super) fn last_item(self) -> TypedPart<'l> {
        let comma = self.text().rfind(',');
        self.keeping(comma.map_or(0, |comma| comma + 1))
    }

    /// The part that stays: `deploy/`, `app=web,`.
    pub(super) fn kept(self) -> &'l str {
        &self.word[..self.at]
    }

    /// The beginning of each offer.
    pub(super) fn text(self) -> &'l str {
        &self.word[self.at..]
    }

    /// The items of a list that stay.
    pub(super) fn listed(self) -> impl Iterator<Item = &'l str> {
        self.kept().split(',').filter(|item| !item.is_empty())
    }
}

/// What sort of value a flag takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueSort {
    /// One of the values that the flag itself lists.
    Choice,
    Namespace,
    /// Contexts, separated by commas.
    Context,
    Cluster,
    User,
    /// A label selector.
    Labels,
    /// A field selector.
    Fields,
    /// A field manager.
    Manager,
    /// A path in an object.
    Path,
    /// A `JSONPath` to a field of an object.
    JsonPath,
    /// The container of a Pod.
    Container,
    /// How far back `changes` starts.
    Since,
    /// How long ago.
    PastTime,
    /// A time limit.
    Timeout,
    /// What `-v` logs.
    Verbosity,
    /// A goal of `--for`.
    Goal,
    Relation,
    File,
    Directory,
    /// Anything else.
    Free,
}

impl ValueSort {
    /// The sort of a flag's value. A flag that is new and not in this table takes a [`ValueSort::Free`] value.
    pub(super) fn of(arg: &Arg) -> ValueSort {
        match arg.get_long().unwrap_or_default() {
            "namespace" => ValueSort::Namespace,
            "context" | "contexts" => ValueSort::Context,
            "cluster" => ValueSort::Cluster,
            "user" => ValueSort::User,
            "selector" => ValueSort::Labels,
            "field-selector" => ValueSort::Fields,
            "by" => ValueSort::Manager,
            "only" | "ignore" => ValueSort::Path,
            "sort-by" => ValueSort::JsonPath,
            "container" => ValueSort::Container,
            "since" if has_value_name(arg, "DURATION") => ValueSort::Timeout,
            "since" if has_value_name(arg, "TIME|DURATION") => ValueSort::PastTime,
            "since" => ValueSort::Since,
            "at" | "until" => ValueSort::PastTime,
            "timeout" | "request-timeout" | "pod-running-timeout" => ValueSort::Timeout,
            "v" => ValueSort::Verbosity,
            "for" => ValueSort::Goal,
            "relations" => ValueSort::Relation,
            "kubeconfig"
            | "kuberc"
            | "certificate-authority"
            | "client-certificate"
            | "client-key"
            | "config"
            | "filename"
            | "tls-cert"
            | "tls-key"
            | "from"
            | "kafka" => ValueSort::File,
            "cache-dir" | "kustomize" | "store" => ValueSort::Directory,
            _ if arg.get_possible_values().is_empty() => ValueSort::Free,
            _ => ValueSort::Choice,
        }
    }
}

/// Whether the help calls the value of a flag so.
fn has_value_name(arg: &Arg, own: &str) -> bool {
    let names = arg.get_value_names().unwrap_or_default();
    names.iter().any(|name| name == own)
}
