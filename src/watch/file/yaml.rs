//! Converts YAML documents to JSON texts. The order of the fields is kept.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::{fmt, iter};

use serde::de::{self, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{DuplicateKeyPolicy, Error};

use super::error::{FileError, Language};

/// A document of a text: its number, the line where it begins, and its JSON.
pub(super) type Document = (usize, usize, String);

/// The documents of a text that are not empty. Numbers and lines are counted from 1.
pub(super) fn documents(text: &str) -> impl Iterator<Item = Result<Document, FileError>> {
    let mut parts: VecDeque<(usize, &str)> = split(text).into();
    let mut number = 0;
    iter::from_fn(move || {
        loop {
            let (line, document) = parts.pop_front()?;
            let value = match read_indented(document, json) {
                Ok(value) if value == "null" => continue,
                Ok(value) => value,
                Err(error) => {
                    if let Some((above, row)) = second_object(document, &error) {
                        parts.push_front((line + row - 1, &document[above.len()..]));
                        parts.push_front((line, above));
                        continue;
                    }
                    if let Some(items) = items_before(document, &error) {
                        parts.push_front((line, items));
                    }
                    return Some(Err(wrong(&error, line).in_document(number + 1)));
                }
            };
            number += 1;
            // Comments and blank lines may come before it.
            let blank = document
                .lines()
                .take_while(|line| line.trim().is_empty() || line.trim_start().starts_with('#'))
                .count();
            return Some(Ok((number, line + blank, value)));
        }
    })
}

/// What the error of a second `apiVersion`, `kind` or `items` says. Files that are joined lack a line with `---`.
const SECOND: &str = "a line with --- is missing before this object";

/// The fields of an object that cannot occur twice.
const SINGLE: [&str; 3] = ["apiVersion", "kind", "items"];

/// The text above the second object of a document, and the line where that begins.
fn second_object<'t>(document: &'t str, error: &Error) -> Option<(&'t str, usize)> {
    let Error::Message { msg, .. } = cause(error) else {
        return None;
    };
    let mut left = SINGLE.to_vec();
    let is_second = |line: &str| {
        let field = line.split_once(':').map_or("", |(field, _)| field);
        SINGLE.contains(&field) && !remove(&mut left, field)
    };
    let lines = document.split_inclusive('\n');
    let above = lines
        .clone()
        .position(is_second)
        .filter(|_| msg == SECOND)?;
    let length = lines.take(above).map(str::len).sum();
    Some((document.get(..length)?, above + 1))
}

/// The list in a document up to its last item before an error, if that is valid. The end of the document may be cut off.
fn items_before<'t>(document: &'t str, error: &Error) -> Option<&'t str> {
    let row = usize::try_from(error.location()?.line()).ok()?;
    let mut lines = document.split_inclusive('\n').take(row);
    let items = lines.position(|line| line.trim_end() == "items:")?;
    let before: usize = document
        .split_inclusive('\n')
        .take(items + 1)
        .map(str::len)
        .sum();
    let mut places = lines.scan(before, |at, line| {
        *at += line.len();
        Some((*at - line.len(), line))
    });
    let last = places
        .by_ref()
        .filter(|(_, line)| line.starts_with("- "))
        .last();
    let items = document
        .get(..last?.0)
        .filter(|items| items.len() > before)?;
    json(items).is_ok().then_some(items)
}

/// How many values and how many bytes aliases may add to the document's own text.
const ALIASED: (usize, usize) = (250_000, 64 << 20);

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
        values.deserialize_any(JsonWriter(&mut json, Level::Object))
    })?;
    Ok(json)
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
struct JsonWriter<'a>(&'a mut String, Level);

/// Where a value is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    /// It is the whole document.
    Object,
    /// It is inside of the document.
    Field,
}

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
        let mut single = SINGLE.to_vec();
        while fields
            .next_key_seed(JsonWriter(&mut key, Level::Field))?
            .is_some()
        {
            let field = key.trim_matches('"');
            let is_single = self.1 == Level::Object && SINGLE.contains(&field);
            if is_single && !remove(&mut single, field) {
                return Err(A::Error::custom(SECOND));
            }
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
            fields.next_value_seed(JsonWriter(self.0, Level::Field))?;
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
        deserializer.deserialize_any(JsonWriter(self.0, Level::Field))
    }
}

/// Removes a word. Returns whether it was there.
fn remove(words: &mut Vec<&str>, word: &str) -> bool {
    let at = words.iter().position(|other| *other == word);
    at.map(|at| words.swap_remove(at)).is_some()
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// The error of a document that begins on this line. The parser's own message quotes the text.
pub(super) fn wrong(error: &Error, line: usize) -> FileError {
    let place = error.location();
    let of = |place: Option<u64>| usize::try_from(place.unwrap_or(1)).unwrap_or(1).max(1);
    let row = of(place.map(|place| place.line()));
    let column = of(place.map(|place| place.column()));
    FileError::new(line + row - 1, error_words(cause(error))).against(Language::Yaml, column)
}

/// The error itself, without what surrounds it.
pub(super) fn cause(error: &Error) -> &Error {
    let mut cause = error;
    while let Error::AliasError { error, .. } | Error::WithSnippet { error, .. } = cause {
        cause = error;
    }
    cause
}

/// The kind of an error. The words quote nothing of the text: it may be a Secret, or a file that only a link led to.
fn error_words(error: &Error) -> String {
    let words = match error {
        Error::Budget { breach, .. } => return too_much(breach),
        // This message would have the character.
        Error::Message { msg, .. } | Error::ExternalMessage { msg, .. }
            if msg.starts_with("unexpected character") =>
        {
            "found character that cannot start any token"
        }
        Error::Message { msg, .. } | Error::ExternalMessage { msg, .. } => msg,
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

/// How many bytes a document may be read again for its quoted texts.
const REREAD: usize = 8 << 20;

/// What the parser says about such a line.
const TOO_SHALLOW: &str = "invalid indentation in multiline quoted scalar";

/// Reads a document, with the lines of its quoted texts indented as far as the parser demands. The space before such a line
/// is no part of the text.
fn read_indented<T>(document: &str, parse: impl Fn(&str) -> Result<T, Error>) -> Result<T, Error> {
    let mut text = Cow::Borrowed(document);
    let mut left = REREAD;
    loop {
        let error = match parse(&text) {
            Err(error) => error,
            read => return read,
        };
        // The line of a quoted text that is not indented enough, counted from 1.
        let row = match cause(&error) {
            Error::ExternalMessage { msg, location, .. } if msg.starts_with(TOO_SHALLOW) => {
                usize::try_from(location.line()).ok()
            }
            _ => None,
        };
        let row = row.filter(|_| left >= text.len());
        let Some(deeper) = row.and_then(|row| indented(&text, row)) else {
            return Err(error);
        };
        left -= text.len();
        text = Cow::Owned(deeper);
    }
}

/// The document with the lines of a quoted text indented, from this line to the next quotation mark. The text does not end
/// before that mark, so no other line is touched.
fn indented(document: &str, row: usize) -> Option<String> {
    let lines: Vec<&str> = document.split_inclusive('\n').collect();
    let (before, inside) = lines.split_at_checked(row.checked_sub(1)?)?;
    let last = inside.iter().position(|line| line.contains(['"', '\'']))?;
    let depth = |line: &&str| line.len() - line.trim_start_matches(' ').len();
    let deepest = lines.iter().map(depth).max().unwrap_or_default();
    let mut text = before.concat();
    for (at, line) in inside.iter().enumerate() {
        if at <= last {
            text.extend(std::iter::repeat_n(' ', deepest + 1));
        }
        text.push_str(line);
    }
    Some(text)
}
