//! Reads a file as if it were a cluster. Its objects are the listing, the events after them are the watch, and
//! the source ends with the file.

mod error;
mod log;
mod objects;
mod parse;
mod play;
mod reader;
mod stream;
#[cfg(test)]
mod tests;
mod yaml;

use std::io::Read;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream as streams;
use jiff::Timestamp;

use super::envelope::WatchVerb;
use super::error::SourceError;
use super::transport::{At, LineStream, ListPage, Page, Transport, Upstream};
use crate::object::{Doc, ObjectRef, Resource, ResourceVersion, newest_time};
use crate::source::SourceKey;
use log::FileLog;
use objects::FileEntry;
use play::{FileFilter, Play};

pub use error::{Faults, FileError, Foreign, Language, Syntax, foreign_object, foreign_text};
pub use objects::{FileResource, Plural};
pub use parse::{LONGEST_INPUT, text_of};
pub use reader::{FileReader, Nameless, documents_by_line};

/// The prefix of a listing's version. The number of the next entry follows. No object can have such a version.
const LISTED: &str = "listed-";

/// Objects and watch events from texts: YAML with any number of documents, or JSON with one value after another.
/// Each is an object, a list of objects, or a watch event (`{"type":"ADDED","object":{…}}`).
///
/// A repeated object, as `kubectl get --watch -o yaml` prints it, is a later version. JSON is kept byte for byte.
#[derive(Debug)]
pub struct FileTransport {
    /// The name in the message about its end.
    pub name: Arc<str>,
    log: Arc<FileLog>,
    /// The resources of the file and the objects of each, in the order of the file. For a stream: those before
    /// its first pause.
    pub resources: Vec<FileResource>,
    /// The newest time of each object that has one; none for a stream that has not ended yet.
    pub times: Vec<Timestamp>,
    /// Whether there is nothing in it, not even an empty list.
    pub is_blank: bool,
}

impl FileTransport {
    /// Reads a stream, which may have no end. Everything before its first pause is read as a [`FileReader`] reads it. After
    /// that each JSON value is played when it arrives. What cannot be read between two objects is a [`SourceError::Decode`] of
    /// one source, and the stream goes on. A YAML stream is read to its end first.
    pub async fn stream(
        name: &str,
        input: Box<dyn Read + Send>,
    ) -> Result<FileTransport, FileError> {
        let log = Arc::new(FileLog::new());
        let (written, own) = (log.clone(), name.to_owned());
        // This is not a thread of the runtime, which would wait for it: reading may block as long as there is no
        // input.
        std::thread::spawn(move || stream::feed(&own, input, &written));
        let entries = log.beginning().await?;
        Ok(FileTransport::new(name, log, &entries))
    }

    fn new(name: &str, log: Arc<FileLog>, entries: &[Arc<FileEntry>]) -> FileTransport {
        let times = entries.iter().filter(|_| log.has_ended());
        let times = times.filter_map(|entry| newest_time(entry.doc.root()));
        FileTransport {
            name: name.into(),
            times: times.collect(),
            is_blank: entries.is_empty() && log.has_ended(),
            log,
            resources: objects::of(entries),
        }
    }

    /// The objects that exist at the end, in the order in which they were read. The objects of a stream before its end are
    /// those that have arrived.
    ///
    /// An object without a name has its number in its text for a name.
    pub fn objects(&self) -> Vec<(ObjectRef, Doc)> {
        let there = self.log.last_versions().into_iter();
        let object = |entry: Arc<FileEntry>| (entry.object.clone(), entry.doc.clone());
        there.map(object).collect()
    }

    /// The texts that have these objects, in the same order.
    pub fn files(&self) -> Vec<Arc<str>> {
        let there = self.log.last_versions().into_iter();
        there.map(|entry| entry.file.clone()).collect()
    }

    /// Whether it is read to its end. Only a stream may go on.
    pub fn has_ended(&self) -> bool {
        self.log.has_ended()
    }

    /// The error with which the file ends: that of a recorded watch, or of a stream.
    pub fn end(&self) -> Result<(), FileError> {
        self.log.end_reached()
    }

    /// A line for each object with a name that no source can read, and for each part of a stream that could not be read.
    pub fn unreadable(&self) -> Vec<Arc<str>> {
        let faults = self.log.faults().into_iter();
        let faults = faults.map(|fault| format!("{}: {fault}", self.name).into());
        self.log.unreadable().into_iter().chain(faults).collect()
    }

    /// Whether it records events. They are played after the objects that exist from the start.
    pub fn has_events(&self) -> bool {
        self.log.has_events()
    }

    /// Whether an object of this resource has arrived.
    pub fn has_kind(&self, resource: &Resource) -> bool {
        let kind = (resource.api_version().into(), resource.kind.clone());
        self.log.has_seen(&kind)
    }

    /// Declares that the caller reads every resource of the file. If an object of another resource arrives in a
    /// stream, nobody would see it, so the sources fail.
    pub fn look_at_all(&self) {
        let kind = |found: &FileResource| {
            let resource = &found.resource;
            (resource.api_version().into(), resource.kind.clone())
        };
        self.log.only(self.resources.iter().map(kind).collect());
    }
}

/// A stream is read only while somebody plays it.
impl Drop for FileTransport {
    fn drop(&mut self) {
        self.log.abandon();
    }
}

impl Transport for FileTransport {
    fn list<'a>(
        &'a self,
        key: &'a SourceKey,
        _at: At,
        _page: Page,
    ) -> BoxFuture<'a, Result<ListPage, SourceError>> {
        let filter = FileFilter::new(key);
        let (upto, there) = self.log.base();
        let items = there
            .iter()
            .filter(|entry| filter.is_about(entry) && filter.selects(entry))
            .map(|entry| Bytes::from(entry.doc.text().to_owned()))
            .collect();
        let page = ListPage {
            version: ResourceVersion::new(format!("{LISTED}{upto}")),
            items,
            next: None,
        };
        Box::pin(async { Ok(page) })
    }

    fn watch<'a>(
        &'a self,
        key: &'a SourceKey,
        from: &'a ResourceVersion,
    ) -> BoxFuture<'a, Result<LineStream, SourceError>> {
        let from = from.as_str().strip_prefix(LISTED);
        let from = from.and_then(|from| from.parse().ok());
        let opened = Play::open(&self.name, &self.log, key, from);
        Box::pin(async {
            let lines: LineStream = Box::pin(streams::unfold(opened?, Play::next));
            Ok(lines)
        })
    }

    /// Whether the object exists at the end of the file.
    fn exists<'a>(
        &'a self,
        key: &'a SourceKey,
        object: &'a ObjectRef,
    ) -> BoxFuture<'a, Result<bool, SourceError>> {
        let filter = FileFilter::new(key);
        let last = self.log.last(|entry| {
            filter.is_of_resource(entry) && entry.object.identity() == object.identity()
        });
        let exists = last.is_some_and(|entry| entry.verb != Some(WatchVerb::Deleted));
        Box::pin(async move { Ok(exists) })
    }

    fn upstream(&self) -> Upstream {
        Upstream::Replayable
    }
}
