//! `ErrorText`: the words with which the cluster reports a failure, to recognise a changed value in them.

use std::collections::BTreeSet;
use std::net::IpAddr;

use crate::model::ModelObject;

/// The fewest characters of a word that says something. A number needs one more: `503` has many meanings.
const LEAST: usize = 3;

/// Words that are values of many fields.
const COMMON: [&str; 4] = ["true", "false", "null", "none"];

/// The words of the causes of some objects.
#[derive(Debug, Default)]
pub(super) struct ErrorText(BTreeSet<String>);

impl ErrorText {
    /// The words of the causes of these objects.
    pub(super) fn of<'m>(objects: impl IntoIterator<Item = &'m ModelObject>) -> ErrorText {
        let objects = objects.into_iter();
        let causes = objects.flat_map(|object| &object.assessment.causes);
        let texts = causes.map(|cause| cause.text.as_str());
        ErrorText(texts.flat_map(words).collect())
    }

    /// Whether it has a word of the new value that the old one does not have.
    pub(super) fn names_new(&self, old: &str, new: &str) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let known: BTreeSet<String> = words(old).collect();
        words(new).any(|word| self.0.contains(&word) && !known.contains(&word))
    }

    /// Whether it has the name of a key.
    pub(super) fn names_key(&self, key: &str) -> bool {
        words(key).any(|word| word.len() == key.len() && self.0.contains(&word))
    }
}

/// The words of a text that say something, without the signs around them. A sign between letters or digits stays, as in
/// `db-9.shop`.
fn words(text: &str) -> impl Iterator<Item = String> {
    let is_sign = |char: char| !char.is_alphanumeric();
    let parts = text.split(move |char| is_sign(char) && !matches!(char, '-' | '_' | '.'));
    let parts = parts.map(move |part| part.trim_matches(is_sign));
    let telling = parts.filter(|part| {
        let is_number = part.chars().all(|char| char.is_ascii_digit());
        part.len() >= LEAST + usize::from(is_number) && !COMMON.contains(part)
    });
    telling.map(str::to_lowercase)
}

/// The addresses in a text, of other machines.
pub(super) fn addresses(text: &str) -> impl Iterator<Item = IpAddr> {
    let is_part = |char: char| char.is_alphanumeric() || matches!(char, ':' | '.');
    let runs = text.split(move |char| !is_part(char));
    let found = runs.flat_map(|run| {
        let run = run.trim_end_matches('.');
        let long = run.parse().or_else(|_| run.trim_end_matches(':').parse());
        let long = long.ok().map(IpAddr::V6);
        let short = run.split(':').filter_map(|part| part.parse().ok());
        long.into_iter().chain(short.map(IpAddr::V4))
    });
    found.filter(|address| !address.is_loopback() && !address.is_unspecified())
}

#[cfg(test)]
impl From<&str> for ErrorText {
    fn from(text: &str) -> ErrorText {
        ErrorText(words(text).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_what_is_new_in_a_value() {
        let failed = ErrorText::from("web: exit 1: connect pg://db9: no such host (port 5433)");
        for (old, new, expect) in [
            ("pg://db1", "pg://db9", true),
            ("", "dsn: pg://DB9/shop", true),
            ("port: 5432", "port: 5433", true),
            ("pg://db9?a", "pg://db9?b", false),
            ("30", "31", false),
            ("pg://db", "pg://db1", false),
            ("false", "true", false),
        ] {
            assert_eq!(failed.names_new(old, new), expect, "{old} → {new}");
        }
        let numbers = ErrorText::from("exit 137, status 503, timeout true");
        assert!(!numbers.names_new("a", "137 503 true"));
        assert!(!ErrorText::default().names_new("a", "b c d e"));
    }

    #[test]
    fn an_error_names_a_key_as_a_word() {
        let failed = ErrorText::from("KeyError: 'DATABASE_URL' is not set");
        assert!(failed.names_key("DATABASE_URL"));
        assert!(!failed.names_key("DATABASE"));
        assert!(!failed.names_key("is"));
    }

    #[test]
    fn an_error_names_addresses() {
        for (text, expect) in [
            (
                "dial tcp 10.96.165.178:80: connect: refused",
                "10.96.165.178",
            ),
            ("cannot reach web (10.96.0.7).", "10.96.0.7"),
            (
                "pg://user@10.0.0.1:5432/shop, host=10.0.0.2",
                "10.0.0.1 10.0.0.2",
            ),
            ("dial tcp [fd00::1]:80: i/o timeout", "fd00::1"),
            ("ping fd00::2: unreachable", "fd00::2"),
            ("listen 127.0.0.1:80, 0.0.0.0:80, [::1]:80, :::80", ""),
            ("at 12:00:05 std::bad_alloc 1.2.3 10.0.0.256 v10.0.0.1", ""),
        ] {
            let found: Vec<String> = addresses(text).map(|it| it.to_string()).collect();
            assert_eq!(found.join(" "), expect, "{text}");
        }
    }
}
