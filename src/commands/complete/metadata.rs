//! The offers that live objects give: label keys and values, field managers, condition types.

use super::asked::WordPart;
use super::offer::Offer;
use crate::object::{Value, conditions};

/// The last requirement of a label selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LabelPart<'l> {
    /// The key, after `!` if that is typed.
    Key(WordPart<'l>),
    /// A value of a key.
    Value { key: &'l str, word: WordPart<'l> },
}

impl<'l> LabelPart<'l> {
    /// Reads the last requirement of a list: `tier=web,app!=`.
    pub(super) fn of(selector: WordPart<'l>) -> LabelPart<'l> {
        let word = selector.last_item();
        let text = word.text();
        let Some(equals) = text.find('=') else {
            let not = usize::from(text.starts_with('!'));
            return LabelPart::Key(word.keeping(not));
        };
        let key = text[..equals].trim_end_matches('!');
        let double = usize::from(text[equals + 1..].starts_with('='));
        let word = word.keeping(equals + 1 + double);
        LabelPart::Value { key, word }
    }

    /// The part of the selector that becomes an offer.
    pub(super) fn word(self) -> WordPart<'l> {
        match self {
            LabelPart::Key(word) | LabelPart::Value { word, .. } => word,
        }
    }

    /// The offers from the labels of these objects.
    pub(super) fn offers<'d>(self, objects: impl Iterator<Item = Value<'d>>) -> Vec<Offer> {
        let labels = objects.filter_map(|object| object.at(&["metadata", "labels"]));
        let labels = labels.flat_map(Value::fields);
        match self {
            LabelPart::Key(word) => {
                // `!app` is complete; `app` needs a value.
                let equals = if word.kept().ends_with('!') { "" } else { "=" };
                let keys = labels.map(|(key, _)| Offer::new(format!("{key}{equals}"), ""));
                keys.collect()
            }
            LabelPart::Value { key, .. } => {
                let values = labels.filter(|(name, _)| *name == *key);
                let values = values.filter_map(|(_, value)| value.as_str());
                values.map(|value| Offer::new(value, "")).collect()
            }
        }
    }
}

/// The field managers of these objects.
pub(super) fn managers<'d>(objects: impl Iterator<Item = Value<'d>>) -> Vec<Offer> {
    let entries = objects.flat_map(|object| object.items_at(&["metadata", "managedFields"]));
    let names = entries.filter_map(|entry| entry.str_at(&["manager"]));
    names.map(|name| Offer::new(name, "")).collect()
}

/// The condition types of these objects.
pub(super) fn condition_types<'d>(objects: impl Iterator<Item = Value<'d>>) -> Vec<Offer> {
    let found = objects.flat_map(conditions);
    found
        .map(|condition| Offer::new(condition.kind, ""))
        .collect()
}
