//! A file in place of a cluster: its objects are the listing, what follows them is the watch, and
//! its end is the end of the source.

mod documents;
mod entry;
mod error;
mod kept;
mod log;
mod parse;
mod play;
mod resources;
mod split;
mod stream;
#[cfg(test)]
mod tests;
mod unreadable;
mod yaml;

use std::io::Read;
use std::sync::Arc;

use futures::stream as streams;

use super::envelope::Verb;
use super::error::SourceError;
use super::transport::{At, BoxFuture, LineStream, ListPage, Page, Transport, Upstream};
use crate::object::{ObjectRef, ResourceVersion};
use crate::source::SourceKey;

use self::entry::FileEntry;
use self::log::FileLog;
use self::play::{FileFilter, Play};

pub use self::documents::{documents, documents_by_line};
pub use self::error::{FileError, Language, Syntax};
pub use self::resources::{FileResource, Plural};

/// What the version of a listing begins with; the number of what happens next follows. It is no version that
/// an object could have.
const LISTED: &str = "listed-";

/// Objects and watch events from a text: YAML with any number of documents, or JSON with one value
/// after another, each an object, a list of them, or a watch event
/// (`{"type":"ADDED","object":{…}}`).
///
/// An object that comes again, as `kubectl get --watch -o yaml` prints it, is a later version of it.
/// JSON is kept byte for byte.
#[derive(Debug)]
pub struct FileTransport {
    /// What errors call it.
    name: Arc<str>,
    log: Arc<FileLog>,
    resources: Vec<FileResource>,
}

impl FileTransport {
    /// Reads a text. Nothing in it is skipped: what is not an object, a list or an event is an error
    /// with its line. Bookmarks and `ERROR` events, which a recorded watch may hold, are about no
    /// object and are passed over.
    /// `name` is what errors of a source call it.
    pub fn parse(name: &str, text: &str) -> Result<FileTransport, FileError> {
        let entries = parse::entries(text)?;
        let entries: Vec<Arc<FileEntry>> = entries.into_iter().map(Arc::new).collect();
        Ok(FileTransport::new(
            name,
            FileLog::of(&entries).into(),
            &entries,
        ))
    }

    /// Reads a stream, which may go on for ever. What it holds before it first pauses is read as
    /// [`FileTransport::parse`] reads it; after that each JSON value is played as it comes, and what is none
    /// of them fails the sources. A stream of YAML is read to its end.
    pub async fn stream(
        name: &str,
        input: Box<dyn Read + Send>,
    ) -> Result<FileTransport, FileError> {
        let log = Arc::new(FileLog::new());
        let written = log.clone();
        // Not one of the runtime's, which would wait for it: it may block for as long as there is no input.
        std::thread::spawn(move || stream::feed(input, &written));
        let entries = log.beginning().await?;
        Ok(FileTransport::new(name, log, &entries))
    }

    fn new(name: &str, log: Arc<FileLog>, entries: &[Arc<FileEntry>]) -> FileTransport {
        FileTransport {
            name: name.into(),
            log,
            resources: resources::of(entries),
        }
    }

    /// What there is in the file, in the order it appears: the resources, and the objects of each. Of a
    /// stream, what there was when it first paused.
    pub fn resources(&self) -> &[FileResource] {
        &self.resources
    }

    /// Says that all of the file is looked at: should an object of another resource come in a stream, which
    /// nobody would see, the sources fail.
    pub fn look_at_all(&self) {
        let kind = |found: &FileResource| {
            let resource = &found.resource;
            (resource.api_version().into(), resource.kind.clone())
        };
        self.log.only(self.resources.iter().map(kind).collect());
    }
}

/// A stream is read no further than somebody plays it.
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
            .map(|entry| entry.doc.text().into())
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

    /// Whether the object is there at the end of the file.
    fn exists<'a>(
        &'a self,
        key: &'a SourceKey,
        object: &'a ObjectRef,
    ) -> BoxFuture<'a, Result<bool, SourceError>> {
        let filter = FileFilter::new(key);
        let last = self.log.last(|entry| {
            filter.is_of_resource(entry) && entry.object.identity() == object.identity()
        });
        let exists = last.is_some_and(|entry| entry.verb != Some(Verb::Deleted));
        Box::pin(async move { Ok(exists) })
    }

    fn upstream(&self) -> Upstream {
        Upstream::Kept
    }
}
