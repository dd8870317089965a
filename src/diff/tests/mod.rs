//! Tests of the diff: cases, laws, Secrets, and field managers.

mod cases;
pub(crate) mod laws;
pub(crate) mod secrets;
mod who;

use super::*;
use crate::object::Doc;

pub(super) fn doc(text: &str) -> Doc {
    Doc::parse(text).expect("valid JSON")
}

/// A filter with these paths.
pub(crate) fn filter(only: &[&str], ignore: &[&str]) -> Filter {
    let read = |paths: &[&str]| {
        let paths = paths.iter().map(|path| path.parse().expect("a path"));
        paths.collect()
    };
    Filter {
        only: read(only),
        ignore: read(ignore),
    }
}

/// One line for each change: its mark, its path, its values as JSON, and its kind of noise.
pub(super) fn lines(old: &str, new: &str) -> Vec<String> {
    let (old, new) = (doc(old), doc(new));
    let redactor = Redactor::new();
    let diff = Diff::of(Some(old.root()), Some(new.root()));
    diff.changes()
        .iter()
        .map(|change| line(&diff, change, &redactor))
        .collect()
}

fn line(diff: &Diff<'_>, change: &Change, redactor: &Redactor) -> String {
    let value = |side| {
        diff.shown(change.at, side, redactor)
            .map_or("-".to_owned(), Shown::json)
    };
    let path = diff.path(change.at);
    let text = match change.op {
        Op::Add => format!("+ {path}: {}", value(Side::New)),
        Op::Remove => format!("- {path}: {}", value(Side::Old)),
        Op::Replace => format!("~ {path}: {} → {}", value(Side::Old), value(Side::New)),
        Op::Move { from, to } => format!("↕ {path}: {from} → {to}"),
    };
    let fmt = match change.fmt {
        Fmt::Plain => String::new(),
        fmt => format!(" {fmt:?}"),
    };
    let noise = change.noise.map(|noise| {
        let name = serde_json::to_string(&noise).expect("a name");
        format!(" ({})", name.trim_matches('"'))
    });
    format!("{text}{fmt}{}", noise.unwrap_or_default())
}

pub(super) fn check(old: &str, new: &str) -> String {
    lines(old, new).join("\n")
}
