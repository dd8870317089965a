//! A file in place of a cluster: its objects are the listing, what follows them is the watch, and
//! its end is the end of the source.

mod documents;
mod parse;
mod resources;
#[cfg(test)]
mod tests;
mod yaml;

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, stream};

use super::envelope::Verb;
use super::error::SourceError;
use super::key::{Scope, SourceKey};
use super::selector::{matches_fields, matches_labels};
use super::store::identity;
use super::transport::{At, BoxFuture, LineStream, ListPage, Page, Transport, Upstream};
use crate::object::selector::{FieldSelector, LabelSelector};
use crate::object::{Doc, ObjectRef, ResourceVersion, Uid};

pub use self::documents::documents;
pub use self::parse::FileError;
pub use self::resources::{FileResource, Plural};

/// The version of the listing: a file's history begins before all versions in it.
const START: &str = "0";

/// Objects and watch events from a text: YAML with any number of documents, or JSON with one value
/// after another, each an object, a list of them, or a watch event
/// (`{"type":"ADDED","object":{…}}`).
///
/// An object that comes again, as `kubectl get --watch -o yaml` prints it, is a later version of it.
/// JSON is kept byte for byte.
#[derive(Debug)]
pub struct FileTransport {
    entries: Arc<[Entry]>,
    resources: Vec<FileResource>,
}

/// One object of the file, in its place.
#[derive(Debug)]
struct Entry {
    /// What happened to it; `None` for one that is there from the start.
    verb: Option<Verb>,
    object: ObjectRef,
    doc: Doc,
}

impl FileTransport {
    /// Reads a text. Nothing in it is skipped: what is not an object, a list or an event is an error
    /// with its line. Bookmarks and `ERROR` events, which a recorded watch may hold, are about no
    /// object and are passed over.
    pub fn parse(text: &str) -> Result<FileTransport, FileError> {
        let entries = parse::entries(text)?;
        let resources = resources::of(&entries);
        Ok(FileTransport {
            entries: entries.into(),
            resources,
        })
    }

    /// What there is in the file, in the order it appears: the resources, and the objects of each.
    pub fn resources(&self) -> &[FileResource] {
        &self.resources
    }
}

impl Transport for FileTransport {
    fn list<'a>(
        &'a self,
        key: &'a SourceKey,
        _at: At,
        _page: Page,
    ) -> BoxFuture<'a, Result<ListPage, SourceError>> {
        let filter = Filter::new(key);
        let initial = self.entries.iter().filter(|entry| entry.verb.is_none());
        let items = initial
            .filter(|entry| filter.is_about(entry) && filter.selects(entry))
            .map(|entry| entry.doc.text().into())
            .collect();
        let page = ListPage {
            version: ResourceVersion::new(START),
            items,
            next: None,
        };
        Box::pin(async { Ok(page) })
    }

    fn watch<'a>(
        &'a self,
        key: &'a SourceKey,
        _from: &'a ResourceVersion,
    ) -> BoxFuture<'a, Result<LineStream, SourceError>> {
        let play = Play {
            entries: self.entries.clone(),
            at: 0,
            selected: HashSet::new(),
            key: key.clone(),
        };
        let end = stream::once(async { Err(SourceError::Ended) });
        let lines: LineStream = Box::pin(stream::iter(play).map(Ok).chain(end));
        Box::pin(async { Ok(lines) })
    }

    /// Whether the object is there at the end of the file.
    fn exists<'a>(
        &'a self,
        key: &'a SourceKey,
        object: &'a ObjectRef,
    ) -> BoxFuture<'a, Result<bool, SourceError>> {
        let filter = Filter::new(key);
        let last = self.entries.iter().rev().find(|entry| {
            filter.is_of_resource(entry) && identity(&entry.object) == identity(object)
        });
        let exists = last.is_some_and(|entry| entry.verb != Some(Verb::Deleted));
        Box::pin(async move { Ok(exists) })
    }

    fn upstream(&self) -> Upstream {
        Upstream::Kept
    }
}

/// Plays the events of one source. A selector is applied as a server applies it: an object that
/// stops matching is `DELETED`.
struct Play {
    entries: Arc<[Entry]>,
    at: usize,
    /// The objects that matched when they were last seen.
    selected: HashSet<Uid>,
    key: SourceKey,
}

impl Iterator for Play {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        let filter = Filter::new(&self.key);
        while let Some(entry) = self.entries.get(self.at) {
            self.at += 1;
            if !filter.is_about(entry) {
                continue;
            }
            let uid = identity(&entry.object);
            let selects = filter.selects(entry);
            let before = if selects && entry.verb != Some(Verb::Deleted) {
                !self.selected.insert(uid)
            } else {
                self.selected.remove(&uid)
            };
            let kind = match (entry.verb, selects, before) {
                (None, _, _) | (_, false, false) => continue,
                (Some(Verb::Added), true, _) => "ADDED",
                (Some(Verb::Modified), true, _) => "MODIFIED",
                (Some(Verb::Deleted), _, _) | (_, false, true) => "DELETED",
            };
            let body = entry.doc.text();
            return Some(format!(r#"{{"type":"{kind}","object":{body}}}"#).into());
        }
        None
    }
}

/// What a source asks for.
struct Filter<'a> {
    key: &'a SourceKey,
    api_version: String,
    labels: LabelSelector,
    fields: FieldSelector,
}

impl<'a> Filter<'a> {
    /// A selector that cannot be read selects everything.
    fn new(key: &'a SourceKey) -> Filter<'a> {
        Filter {
            key,
            api_version: key.resource.api_version(),
            labels: read(key.labels.as_deref()),
            fields: read(key.fields.as_deref()),
        }
    }

    fn is_of_resource(&self, entry: &Entry) -> bool {
        entry.object.kind == self.key.resource.kind
            && *entry.object.api_version == *self.api_version
    }

    /// A manifest may leave its namespace to whoever applies it: it is then in each.
    fn is_about(&self, entry: &Entry) -> bool {
        let inside = match (&self.key.scope, &entry.object.namespace) {
            (Scope::Namespace(asked), Some(namespace)) => asked == namespace,
            (Scope::Namespace(_), None) | (Scope::Cluster, _) => true,
        };
        inside && self.is_of_resource(entry)
    }

    fn selects(&self, entry: &Entry) -> bool {
        let object = entry.doc.root();
        matches_labels(&self.labels, object) && matches_fields(&self.fields, object)
    }
}

fn read<S: std::str::FromStr + Default>(selector: Option<&str>) -> S {
    selector
        .and_then(|text| text.parse().ok())
        .unwrap_or_default()
}
