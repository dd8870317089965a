//! `ErrorText`: the words with which the cluster reports a failure, to recognise a changed value in them.

use std::collections::BTreeSet;

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
}
