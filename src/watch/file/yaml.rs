//! Converts YAML documents to JSON texts. The order of the fields is kept.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{DuplicateKeyPolicy, Error};

use super::error::{FileError, Language};

/// The documents of a text that are not empty: the line where each begins, and its JSON.
pub(super) fn documents(text: &str) -> impl Iterator<Item = Result<(usize, String), FileError>> {
    split(text).into_iter().filter_map(|(line, document)| {
        let value = match json(document) {
            Ok(value) if value == "null" => return None,
            Ok(value) => value,
            Err(error) => return Some(Err(wrong(&error, line))),
        };
        // Comments and blank lines may come before it.
        let blank = document
            .lines()
            .take_while(|line| line.trim().is_empty() || line.trim_start().starts_with('#'))
            .count();
        Some(Ok((line + blank, value)))
    })
}

/// How many values and how many bytes aliases may add to the document's own text.
const ALIASED: (usize, usize) = (250_000, 64 << 20);

/// Converts a document to JSON.
fn json(document: &str) -> Result<String, Error> {
    // A value takes at least one character, and has at most two events.
    let (values, bytes) = (document.len() + ALIASED.0, document.len() + ALIASED.1);
    let options = serde_saphyr::options! {
        // kubectl and JSON parsers do the same.
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        budget: serde_saphyr::budget! {
            max_nodes: values,
            max_events: 2 * values,
            max_total_scalar_bytes: bytes,
        },
    };
    let mut json = String::new();
    serde_saphyr::with_deserializer_from_str_with_options(document, options, |values| {
        values.deserialize_any(JsonWriter(&mut json))
    })?;
    Ok(json)
}

/// The error of a document that begins on this line. The parser's own message quotes the text.
fn wrong(error: &Error, line: usize) -> FileError {
    let place = error.location();
    let of = |place: Option<u64>| usize::try_from(place.unwrap_or(1)).unwrap_or(1).max(1);
    let row = of(place.map(|place| place.line()));
    let column = of(place.map(|place| place.column()));
    let mut cause = error;
    while let Error::AliasError { error, .. } | Error::WithSnippet { error, .. } = cause {
        cause = error;
    }
    FileError::new(line + row - 1, kind_of(cause)).against(Language::Yaml, column)
}

/// The kind of an error. The words quote nothing of the text: it may be a Secret, or a file that only a link led to.
fn kind_of(error: &Error) -> String {
    let words = match error {
        Error::Budget { breach, .. } => return too_much(breach),
        // This message would have the character.
        Error::Message { msg, .. } if msg.starts_with("unexpected character") => {
            "found character that cannot start any token"
        }
        Error::Message { msg, .. } => msg,
        Error::UnknownAnchor { .. } => "unknown anchor",
        Error::Eof { .. } => "unexpected end of the document",
        Error::UnsupportedTag { .. } => "unsupported tag",
        Error::InvalidBinaryBase64 { .. } | Error::BinaryNotUtf8 { .. } => "invalid !!binary value",
        _ => "not valid YAML",
    };
    words.lines().next().unwrap_or_default().to_owned()
}

/// The message for an exceeded budget.
fn too_much(breach: &BudgetBreach) -> String {
    match breach {
        BudgetBreach::Depth { depth } => format!("values nested {depth} deep"),
        BudgetBreach::Nodes { .. }
        | BudgetBreach::Events { .. }
        | BudgetBreach::ScalarBytes { .. }
        | BudgetBreach::Aliases { .. }
        | BudgetBreach::AliasAnchorRatio { .. }
        | BudgetBreach::RecordedAnchorEvents { .. }
        | BudgetBreach::RecordedAnchorBytes { .. } => "aliases that expand too far".to_owned(),
        other => format!("a document over the limits: {other:?}"),
    }
}

/// The text between the `---` lines, and the line where each part begins. At the start of a line the marker ends
/// a document everywhere, even inside a block scalar (YAML 1.2, §9.1.2).
fn split(text: &str) -> Vec<(usize, &str)> {
    let mut documents = Vec::new();
    let (mut start, mut first, mut at) = (0, 1, 0);
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let marker = line
            .strip_prefix("---")
            .or_else(|| line.strip_prefix("..."));
        let is_marker =
            marker.is_some_and(|rest| rest.trim_end().is_empty() || rest.starts_with(' '));
        if is_marker {
            documents.push((first, &text[start..at]));
            // The rest of the marker's line belongs to the document.
            (start, first) = (at + 3, number + 1);
        }
        at += line.len();
    }
    documents.push((first, &text[start..]));
    documents
}

/// Writes a value as JSON while the parser reads it.
struct JsonWriter<'a>(&'a mut String);

impl<'de> DeserializeSeed<'de> for JsonWriter<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for JsonWriter<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.0.push_str(if value { "true" } else { "false" });
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.0.push_str(&value.to_string());
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.0.push_str(&value.to_string());
        Ok(())
    }

    fn visit_i128<E>(self, value: i128) -> Result<(), E> {
        self.0.push_str(&value.to_string());
        Ok(())
    }

    fn visit_u128<E>(self, value: u128) -> Result<(), E> {
        self.0.push_str(&value.to_string());
        Ok(())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<(), E> {
        match serde_json::Number::from_f64(value) {
            Some(number) => self.0.push_str(&number.to_string()),
            None => return Err(E::custom("a number that JSON cannot express")),
        }
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.0.push_str(&quoted(text));
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.0.push_str("null");
        Ok(())
    }

    fn visit_none<E>(self) -> Result<(), E> {
        self.0.push_str("null");
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.0.push('[');
        let begin = self.0.len();
        while items.next_element_seed(Separated(self.0, begin))?.is_some() {}
        self.0.push(']');
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        self.0.push('{');
        let begin = self.0.len();
        let mut key = String::new();
        while fields.next_key_seed(JsonWriter(&mut key))?.is_some() {
            if self.0.len() > begin {
                self.0.push(',');
            }
            // A key that YAML reads as a number or a boolean becomes its text in JSON.
            if key.starts_with('"') {
                self.0.push_str(&key);
            } else {
                self.0.push_str(&quoted(&key));
            }
            self.0.push(':');
            fields.next_value_seed(JsonWriter(self.0))?;
            key.clear();
        }
        self.0.push('}');
        Ok(())
    }
}

/// Writes an item of a list that begins at this offset. A comma separates it from an item before it.
struct Separated<'a>(&'a mut String, usize);

impl<'de> DeserializeSeed<'de> for Separated<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.0.len() > self.1 {
            self.0.push(',');
        }
        deserializer.deserialize_any(JsonWriter(self.0))
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
