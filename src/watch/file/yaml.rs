//! YAML documents as JSON texts, with the fields in the order they are written.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_saphyr::DuplicateKeyPolicy;

use super::parse::{FileError, Language};

/// The documents of a text that hold something: the line each begins on, and its JSON.
pub(super) fn documents(text: &str) -> impl Iterator<Item = Result<(usize, String), FileError>> {
    split(text).into_iter().filter_map(|(line, document)| {
        let options = serde_saphyr::options! {
            // As kubectl has it, and every reader of JSON.
            duplicate_keys: DuplicateKeyPolicy::LastWins,
        };
        let value = match serde_saphyr::from_str_with_options::<Option<Json>>(document, options) {
            Ok(value) => value?.0,
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

/// The error of a document that begins on this line, without the place in the document that the parser
/// names first.
fn wrong(error: &serde_saphyr::Error, line: usize) -> FileError {
    let place = error.location();
    let of = |place: Option<u64>| usize::try_from(place.unwrap_or(1)).unwrap_or(1).max(1);
    let row = of(place.map(|place| place.line()));
    let column = of(place.map(|place| place.column()));
    let detail = error.to_string();
    let detail = detail.lines().next().unwrap_or_default();
    let detail = detail.strip_prefix("error: ").unwrap_or(detail);
    let place = format!("line {row} column {column}: ");
    let detail = detail.strip_prefix(&place).unwrap_or(detail);
    FileError::new(line + row - 1, detail).against(Language::Yaml, column)
}

/// The text between the `---` lines, and the line each part begins on. At the start of a line the
/// marker ends a document wherever it stands, in a block of text too (YAML 1.2, §9.1.2).
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
            // What follows the marker on its line belongs to the document.
            (start, first) = (at + 3, number + 1);
        }
        at += line.len();
    }
    documents.push((first, &text[start..]));
    documents
}

/// A value, written as JSON while it is read.
struct Json(String);

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(Writer)
    }
}

struct Writer;

impl<'de> Visitor<'de> for Writer {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json(value.to_string()))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Json, E> {
        Ok(Json(value.to_string()))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Json, E> {
        Ok(Json(value.to_string()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Json, E> {
        match serde_json::Number::from_f64(value) {
            Some(number) => Ok(Json(number.to_string())),
            None => Err(E::custom("a number that JSON does not have")),
        }
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json(quoted(text)))
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json("null".to_owned()))
    }

    fn visit_none<E>(self) -> Result<Json, E> {
        Ok(Json("null".to_owned()))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        Json::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut parts = Vec::new();
        while let Some(Json(item)) = items.next_element()? {
            parts.push(item);
        }
        Ok(Json(format!("[{}]", parts.join(","))))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Json, A::Error> {
        let mut parts = Vec::new();
        while let Some((Json(key), Json(value))) = fields.next_entry()? {
            // A key that YAML takes for a number or a truth value is its text in JSON.
            let key = if key.starts_with('"') {
                key
            } else {
                quoted(&key)
            };
            parts.push(format!("{key}:{value}"));
        }
        Ok(Json(format!("{{{}}}", parts.join(","))))
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
