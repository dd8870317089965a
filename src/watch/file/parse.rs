//! Parses a text into its objects, in order.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::value::RawValue;

use super::super::envelope::Verb;
use super::entry::{EntryKey, FileEntry, entry_key, kind_of};
use super::error::{FileError, Language};
use super::objects::{FoundObject, LineOf, for_each_object};
use super::unreadable::unreadable;
use super::yaml;
use crate::object::{Doc, Kind, ObjectRef};

/// The objects of a text, and how it ends: with an error if a recorded watch in it has failed.
pub(super) fn entries(text: &str) -> Result<(Vec<FileEntry>, Result<(), FileError>), FileError> {
    let mut order = EntryOrder::default();
    values(text, &mut |value, line| order.value(value, line))?;
    Ok((order.take(), order.end()))
}

/// Takes the JSON text of a value, and a function from its offsets to lines of the file.
type Taker<'a> = &'a mut dyn FnMut(&str, LineOf<'_>) -> Result<(), FileError>;

/// Calls `take` with each JSON value or YAML document of a text.
pub(super) fn values(text: &str, take: Taker<'_>) -> Result<(), FileError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim_start().starts_with(['{', '[']) {
        return json(text, take);
    }
    for document in yaml::documents(text) {
        let (line, value) = document?;
        take(&value, &|_| line)?;
    }
    Ok(())
}

/// Reads JSON values that follow one another, with any white space between.
fn json(text: &str, take: Taker<'_>) -> Result<(), FileError> {
    let mut lines = LineCounter::new(text);
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    while let Some(value) = values.next() {
        let value = value.map_err(|error| {
            let wrong = FileError::new(error.line(), error.to_string());
            wrong.against(Language::Json, error.column())
        })?;
        let start = values.byte_offset() - value.get().len();
        lines.move_to(start);
        take(value.get(), &|at| lines.of(start + at))?;
    }
    Ok(())
}

/// Counts lines, in forward direction only.
struct LineCounter<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> LineCounter<'a> {
    fn new(text: &'a str) -> LineCounter<'a> {
        let (at, line) = (0, 1);
        LineCounter { text, at, line }
    }

    fn move_to(&mut self, at: usize) {
        self.line = self.of(at);
        self.at = at;
    }

    fn of(&self, at: usize) -> usize {
        let between = self.text.as_bytes().get(self.at..at).unwrap_or_default();
        self.line + memchr::memchr_iter(b'\n', between).count()
    }
}

/// Collects objects in order, and decides which of them are later versions.
#[derive(Default)]
pub(super) struct EntryOrder {
    entries: Vec<FileEntry>,
    /// The kinds with an event, after which a new object of the kind is an event too.
    begun: HashSet<(Arc<str>, Arc<str>)>,
    there: HashSet<EntryKey>,
    /// The first `ERROR` event: what came after it is not in the recording.
    failed: Option<FileError>,
}

impl EntryOrder {
    /// How the text ends.
    pub(super) fn end(self) -> Result<(), FileError> {
        self.failed.map_or(Ok(()), Err)
    }

    /// Takes the entries since the last call.
    pub(super) fn take(&mut self) -> Vec<FileEntry> {
        std::mem::take(&mut self.entries)
    }

    /// Adds an object, a list, or an event.
    pub(super) fn value(&mut self, text: &str, line: LineOf<'_>) -> Result<(), FileError> {
        for_each_object(text, line, |found| self.object(found))
    }

    fn object(&mut self, found: FoundObject<'_>) -> Result<(), FileError> {
        if found.is_failure() {
            self.failed.get_or_insert_with(|| found.failure());
            return Ok(());
        }
        let verb = match &found.event {
            Some(word) => Some(
                Verb::named(word)
                    .ok_or_else(|| FileError::new(found.line, "unknown watch event type"))?,
            ),
            None => None,
        };
        let entry = entry(found)?;
        let verb = verb.or_else(|| self.repeated(&entry.object));
        self.push(verb, entry);
        Ok(())
    }

    /// What an object outside of an event is: a later version, a new object after an event, or one from the start.
    fn repeated(&self, object: &ObjectRef) -> Option<Verb> {
        if self.there.contains(&entry_key(object)) {
            return Some(Verb::Modified);
        }
        (self.begun.contains(&kind_of(object))).then_some(Verb::Added)
    }

    /// Adds an unreadable object as an event: its source reports it once, and the object does not exist.
    fn pass(&mut self, mut entry: FileEntry) {
        entry.verb = Some(Verb::Modified);
        self.entries.push(entry);
    }

    fn push(&mut self, verb: Option<Verb>, mut entry: FileEntry) {
        if entry.unreadable.is_some() {
            return self.pass(entry);
        }
        entry.verb = verb;
        let key = entry_key(&entry.object);
        match verb {
            Some(Verb::Deleted) => self.there.remove(&key),
            Some(Verb::Added | Verb::Modified) | None => self.there.insert(key),
        };
        if verb.is_some() {
            self.begun.insert(kind_of(&entry.object));
        }
        self.entries.push(entry);
    }
}

/// Reads and checks an object.
fn entry(found: FoundObject<'_>) -> Result<FileEntry, FileError> {
    let FoundObject {
        value,
        object,
        line,
        event: _,
    } = found;
    let missing = |what: &str| Err(FileError::new(line, format!("an object without {what}")));
    match () {
        () if value.kind() != Kind::Object => return Err(FileError::new(line, "not an object")),
        () if object.kind.is_empty() => return missing("kind"),
        () if object.api_version.is_empty() => return missing("apiVersion"),
        () if object.name.is_empty() => return missing("metadata.name"),
        () => {}
    }
    let doc = Doc::parse(value.raw()).map_err(|error| FileError::new(line, error.to_string()))?;
    let unreadable = unreadable(&doc).map(|what| format!("line {line}: {object}: {what}").into());
    Ok(FileEntry {
        verb: None,
        object,
        doc,
        line,
        unreadable,
    })
}
