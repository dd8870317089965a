//! `FileReader`: collects the objects of texts in order, and decides which of them are later versions.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::super::envelope::WatchVerb;
use super::error::{Faults, foreign_object, foreign_type, unreadable, wrong_items};
use super::log::FileLog;
use super::objects::{
    EntryKey, FileEntry, FoundObject, KindOf, LineOf, entry_key, for_each_object, kind_of,
};
use super::parse::values;
use super::{FileError, FileTransport};
use crate::object::{Doc, Kind, ObjectRef};

/// Reads texts, one after the other, as one file. An object that several texts have counts once, in its newest version.
#[derive(Default)]
pub struct FileReader {
    entries: Vec<FileEntry>,
    /// The name of the text, for messages.
    file: Arc<str>,
    /// The kinds with an event in this text, after which a new object of the kind is an event too.
    begun: HashSet<KindOf>,
    /// The objects that exist.
    there: HashMap<EntryKey, FoundVersion>,
    /// Those with a uid, by their names. A new object with the same name replaces the one before.
    named: HashMap<ObjectRef, EntryKey>,
    /// The objects that several texts have.
    repeated: HashSet<EntryKey>,
    /// How many values were read without a fault: objects, lists and events.
    pub values: usize,
    nameless: Nameless,
    /// How many objects of this text were read.
    number: usize,
    /// The first `ERROR` event, and the text that has it: what came after it is not in the recording.
    failed: Option<(Arc<str>, FileError)>,
}

/// What happens to an object without a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nameless {
    /// No source can read it.
    #[default]
    Unreadable,
    /// It is taken for something else than an object.
    NoObject,
}

/// The newest version of an object, and the text that has it.
struct FoundVersion {
    file: Arc<str>,
    version: Option<u64>,
    object: ObjectRef,
    doc: Doc,
    line: usize,
}

impl FoundVersion {
    fn deleted(&self) -> FileEntry {
        FileEntry {
            verb: None,
            object: self.object.clone(),
            doc: self.doc.clone(),
            line: self.line,
            is_event: false,
            is_nameless: false,
            file: self.file.clone(),
            unreadable: None,
        }
    }
}

/// What another text has of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Elsewhere {
    Nothing,
    /// The same version, or a newer one.
    Newer,
    /// An older version.
    Older,
    /// An older object with the same name.
    Former,
}

impl FileReader {
    /// Starts with the text of this name.
    pub(super) fn of(file: &str) -> FileReader {
        FileReader {
            file: file.into(),
            ..FileReader::default()
        }
    }

    /// Reads a text. `name` is its name in messages. Nothing in it is ignored: anything that is not an object, a list or an
    /// event is a fault with its line. Only bookmarks, which a recorded watch may contain, and logs are skipped. After an
    /// `ERROR` event the sources fail at the end.
    pub fn read(&mut self, name: &str, text: &str, nameless: Nameless) -> Faults {
        self.file = name.into();
        self.begun.clear();
        self.nameless = nameless;
        self.number = 0;
        self.text(text)
    }

    /// The file, with its name in messages. Fails if the only thing in it is the error of a recorded watch.
    pub fn finish(mut self, name: &str) -> Result<FileTransport, FileError> {
        let entries: Vec<Arc<FileEntry>> = self.take().into_iter().map(Arc::new).collect();
        let is_blank = self.values == 0;
        let end = self.end();
        if entries.is_empty() {
            end.clone()?;
        }
        let log = FileLog::of(&entries, end);
        let mut file = FileTransport::new(name, log.into(), &entries);
        file.is_blank = is_blank;
        Ok(file)
    }

    /// Adds the objects of the text, and returns its faults.
    pub(super) fn text(&mut self, text: &str) -> Faults {
        let before = self.entries.len();
        let faults = values(text, &mut |value, line, faults| {
            self.value(value, line, faults);
        });
        if self.entries.len() > before {
            faults
        } else {
            faults.of_text(text)
        }
    }

    /// How the text ends.
    pub(super) fn end(self) -> Result<(), FileError> {
        self.failed.map_or(Ok(()), |(_, error)| Err(error))
    }

    /// The text that has the error of a recorded watch.
    pub fn failed_in(&self) -> Option<Arc<str>> {
        self.failed.as_ref().map(|(file, _)| file.clone())
    }

    /// Takes the entries since the last call.
    pub(super) fn take(&mut self) -> Vec<FileEntry> {
        std::mem::take(&mut self.entries)
    }

    /// How many objects and events were read. A stream takes them as they arrive: then only those since.
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// How many objects several texts have.
    pub fn repeated(&self) -> usize {
        self.repeated.len()
    }

    /// Adds an object, a list, or an event.
    pub(super) fn value(&mut self, text: &str, line: LineOf<'_>, faults: &mut Faults) {
        let before = faults.count;
        for_each_object(text, line, faults, |found| self.object(&found));
        self.values += usize::from(faults.count == before);
    }

    fn object(&mut self, found: &FoundObject<'_>) -> Result<(), FileError> {
        self.number += 1;
        if found.is_failure() {
            let file = self.file.clone();
            self.failed.get_or_insert_with(|| (file, found.failure()));
            return Ok(());
        }
        let unknown = || FileError::new(found.line, "unknown watch event type");
        let event = found
            .event
            .as_ref()
            .map(|word| WatchVerb::named(word).ok_or_else(unknown));
        let event = event.transpose()?;
        let entry = self.entry(found)?;
        let is_first = event.is_some_and(|event| self.is_first_state(event, &entry.object));
        if event.is_some_and(|event| event != WatchVerb::Added) {
            self.begun.insert(kind_of(&entry.object));
        }
        let event = event.filter(|_| !is_first);
        let version = version(&entry);
        let elsewhere = match event {
            Some(_) => Elsewhere::Nothing,
            None => self.elsewhere(&entry.object, version),
        };
        let verb = match elsewhere {
            Elsewhere::Newer => return Ok(()),
            Elsewhere::Older => Some(WatchVerb::Modified),
            Elsewhere::Former => Some(WatchVerb::Added),
            // Outside of an event: a later version, a new object after an event, or one from the start.
            Elsewhere::Nothing if event.is_some() => event,
            Elsewhere::Nothing if self.there.contains_key(&entry_key(&entry.object)) => {
                Some(WatchVerb::Modified)
            }
            Elsewhere::Nothing => {
                let has_begun = self.begun.contains(&kind_of(&entry.object));
                (has_begun && !is_first).then_some(WatchVerb::Added)
            }
        };
        if verb.is_some() && elsewhere == Elsewhere::Nothing {
            self.begun.insert(kind_of(&entry.object));
        }
        self.push(verb, entry, version);
        Ok(())
    }

    /// Whether an event only shows an object that existed before the recording. A watch begins with an `ADDED` event for each of
    /// these, which looks like a creation. Only another event of the kind proves that they are over. An object that the
    /// watch never added was there before, too, unless it replaced another one.
    fn is_first_state(&self, event: WatchVerb, object: &ObjectRef) -> bool {
        let key = entry_key(object);
        match event {
            WatchVerb::Added => {
                let known = self.there.get(&key);
                let is_new = known.is_none_or(|known| known.file != self.file);
                is_new && !self.begun.contains(&kind_of(object))
            }
            WatchVerb::Modified => {
                let is_known = self.there.contains_key(&key);
                !is_known && !self.named.contains_key(&object.without_uid())
            }
            WatchVerb::Deleted => false,
        }
    }

    /// What another text has of an object. A former object with its name is deleted.
    fn elsewhere(&mut self, object: &ObjectRef, version: Option<u64>) -> Elsewhere {
        let key = entry_key(object);
        let former = self.named.get(&object.without_uid());
        let former = former
            .filter(|_| object.uid.is_some())
            .unwrap_or(&key)
            .clone();
        let Some(known) = self
            .there
            .get(&former)
            .filter(|known| known.file != self.file)
        else {
            return Elsewhere::Nothing;
        };
        let deleted = known.deleted();
        // A version in another text is newer if one of them has no number.
        let numbers = known.version.zip(version);
        let is_older = numbers.is_none_or(|(known, own)| own > known);
        self.repeated.insert(former.clone());
        match is_older {
            false => Elsewhere::Newer,
            true if former == key => Elsewhere::Older,
            true => {
                self.push(Some(WatchVerb::Deleted), deleted, None);
                Elsewhere::Former
            }
        }
    }

    fn push(&mut self, verb: Option<WatchVerb>, mut entry: FileEntry, version: Option<u64>) {
        if entry.unreadable.is_some() {
            // Its source reports it once as an event, and the object does not exist.
            entry.verb = Some(WatchVerb::Modified);
            return self.entries.push(entry);
        }
        entry.verb = verb;
        let key = entry_key(&entry.object);
        match verb {
            Some(WatchVerb::Deleted) => drop(self.there.remove(&key)),
            Some(WatchVerb::Added | WatchVerb::Modified) | None => {
                if entry.object.uid.is_some() {
                    self.named.insert(entry.object.without_uid(), key.clone());
                }
                let found = FoundVersion {
                    file: self.file.clone(),
                    version,
                    object: entry.object.clone(),
                    doc: entry.doc.clone(),
                    line: entry.line,
                };
                self.there.insert(key, found);
            }
        }
        self.entries.push(entry);
    }

    /// Reads and checks an object. The words about what it lacks are those of kubectl.
    fn entry(&self, found: &FoundObject<'_>) -> Result<FileEntry, FileError> {
        let FoundObject {
            value,
            object,
            line,
            event: _,
        } = found;
        let (value, line) = (*value, *line);
        let is_nameless = object.name.is_empty();
        if let Some(words) = wrong_items(object, value) {
            return Err(FileError::new(line, words));
        }
        let lacking = match () {
            () if value.kind() != Kind::Object => Some("not an object"),
            () if object.kind.is_empty() => Some("Object 'Kind' is missing"),
            () if object.api_version.is_empty() => Some("Object 'apiVersion' is missing"),
            () if is_nameless && self.nameless == Nameless::NoObject => Some(NAMELESS),
            () => None,
        };
        if let Some(words) = lacking {
            let foreign = foreign_object(object, value);
            return Err(FileError::no_object(line, words).of_foreign(foreign));
        }
        let foreign = foreign_type(object);
        // A list without items is no list to kubectl, but an object of a type that no server has.
        let is_list = is_nameless && object.kind.ends_with("List");
        if foreign.is_some() || is_list {
            return Err(FileError::no_object(line, unserved(object)).of_foreign(foreign));
        }
        let doc = Doc::parse(found.typed_text());
        let doc = doc.map_err(|error| FileError::new(line, error.to_string()))?;
        let mut object = object.clone();
        if is_nameless {
            object.name = format!("#{}", self.number).into();
        }
        let file = &self.file;
        let wrong = is_nameless
            .then(|| NAMELESS.to_owned())
            .or_else(|| unreadable(&doc));
        let unreadable = wrong.map(|what| format!("{file}: line {line}: {object}: {what}").into());
        Ok(FileEntry {
            verb: None,
            object,
            doc,
            line,
            is_event: found.event.is_some(),
            is_nameless,
            file: file.clone(),
            unreadable,
        })
    }
}

/// kubectl's words about an object without a name.
const NAMELESS: &str = "resource name may not be empty";

/// kubectl's words about a type that no API server serves.
fn unserved(object: &ObjectRef) -> String {
    let (kind, version) = (&object.kind, &object.api_version);
    format!("no matches for kind \"{kind}\" in version \"{version}\"")
}

/// The number of an object's version, if it has one.
fn version(entry: &FileEntry) -> Option<u64> {
    let version = entry.doc.root().str_at(&["metadata", "resourceVersion"])?;
    version.parse().ok()
}

#[cfg(test)]
impl FileTransport {
    /// Reads one text without faults.
    pub(in crate::watch) fn parse(name: &str, text: &str) -> Result<FileTransport, FileError> {
        let mut reader = FileReader::default();
        reader.read(name, text, Nameless::NoObject).into_result()?;
        reader.finish(name)
    }
}

/// Every object of a text, in order and unchecked: a document, an item of a list, or the object of a watch event. Each has the
/// line where it begins, counted from 1; in a YAML list it is the line of the list. Items of a typed list (`PodList`) get the
/// kind that the list implies. Bookmarks are skipped. The faults are what cannot be read, and the failure of a recorded watch.
pub fn documents_by_line(text: &str) -> (Vec<(usize, Doc)>, Faults) {
    let mut documents = Vec::new();
    let faults = values(text, &mut |value, line, faults| {
        for_each_object(value, line, faults, |found| {
            if found.is_failure() {
                return Err(found.failure());
            }
            let doc = Doc::parse(found.typed_text());
            let doc = doc.map_err(|error| FileError::new(found.line, error.to_string()))?;
            documents.push((found.line, doc));
            Ok(())
        });
    });
    let faults = if documents.is_empty() {
        faults.of_text(text)
    } else {
        faults
    };
    (documents, faults)
}
