//! Reads watch lines and list items: who an object is and which version, and its bytes as they came.
//!
//! Of a line only what says this is decoded, from its beginning ([`skim`]), and the object is read with what
//! its last version tells of it; that is the one time it is read. [`head`] reads the lines that are not
//! spelled as kube-apiserver spells them, and says what is wrong with those that are none.

mod head;
mod skim;

use std::fmt;
use std::sync::Arc;

use head::{Head, Partial, Text};

use super::body::Body;
use super::event::Version;
use super::key::SourceKey;
use super::recent::Recent;
use super::store::identity;
use crate::cluster::Status;
use crate::object::{Doc, ObjectRef, ResourceVersion, Uid};

/// What one line of a watch says.
#[derive(Debug)]
pub enum Line {
    /// A version of an object.
    Object {
        /// What became of the object.
        verb: Verb,
        /// The version.
        item: Item,
    },
    /// All before this version has been sent.
    Bookmark(ResourceVersion),
    /// The watch failed; the line ends it.
    Error(Status),
}

/// The type of a watch event about an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// It was created, or came to match the selector.
    Added,
    /// It has another version.
    Modified,
    /// It was deleted, or no longer matches the selector.
    Deleted,
}

impl Verb {
    fn named(name: &str) -> Option<Verb> {
        match name {
            "ADDED" => Some(Verb::Added),
            "MODIFIED" => Some(Verb::Modified),
            "DELETED" => Some(Verb::Deleted),
            _ => None,
        }
    }
}

/// An object as it arrived.
#[derive(Debug)]
pub struct Item {
    /// The version, with its body.
    pub version: Version,
    /// Whether it has a `deletionTimestamp`.
    pub deleting: bool,
}

/// Reads the lines and items of one source. It remembers names that repeat, so that ten thousand
/// objects share one `apps/v1`.
pub struct Reader {
    api_version: Arc<str>,
    kind: Arc<str>,
    namespace: Arc<str>,
    recent: Recent<Uid>,
    /// What was read last. Objects of one controller are much alike: where the version before is not at
    /// hand, another object's tells as much.
    last: Option<Doc>,
}

/// How many bytes of last versions a reader keeps as hints; views hold the same ones.
const HINTS: usize = 1 << 20;

impl Reader {
    /// For the lines and items of this source.
    pub fn new(key: &SourceKey) -> Reader {
        Reader {
            api_version: key.resource.api_version().into(),
            kind: key.resource.kind.clone(),
            namespace: key.namespace().unwrap_or_default().into(),
            recent: Recent::up_to(HINTS),
            last: None,
        }
    }

    /// Reads one line of a watch; the error says what is wrong with it.
    pub fn line(&mut self, line: &[u8]) -> Result<Line, Arc<str>> {
        let text = std::str::from_utf8(line).map_err(|error| said(&error))?;
        if let Some((verb, item)) = self.skimmed(text) {
            return Ok(Line::Object { verb, item });
        }
        let (kind, body, head) = head::line(text).map_err(|error| said(&error))?;
        if let Some(verb) = Verb::named(&kind) {
            let item = self.version(body, &head)?;
            return Ok(Line::Object { verb, item });
        }
        match &*kind {
            "BOOKMARK" => match &*head.metadata.resource_version.0 {
                "" => Err("a bookmark without a resourceVersion".into()),
                version => Ok(Line::Bookmark(ResourceVersion::new(version))),
            },
            "ERROR" => {
                let status = serde_json::from_str(body).map_err(|error| said(&error))?;
                Ok(Line::Error(status))
            }
            unknown => Err(format!("unknown watch event type {unknown:?}").into()),
        }
    }

    /// Reads a line about an object that is spelled as kube-apiserver spells it; `None` for any other.
    fn skimmed(&mut self, text: &str) -> Option<(Verb, Item)> {
        let (kind, body, head) = skim::line(text)?;
        let verb = Verb::named(&kind)?;
        if !head.has_type() || head.is_partial() {
            return None;
        }
        let object = self.object(&head).ok()?;
        let uid = identity(&object);
        let doc = match self.recent.take(&uid).or_else(|| self.last.take()) {
            Some(hint) => Doc::parse_after(body, &hint),
            None => Doc::parse(body),
        };
        let is_whole = |doc: &Doc| is_of(doc, &head) && object.has_type_of(doc.root());
        let doc = doc.ok().filter(is_whole)?;
        self.last = Some(doc.clone());
        if verb != Verb::Deleted {
            self.recent.put(uid, doc.clone());
        }
        Some((verb, item(object, doc, &head)))
    }

    /// Reads one item of a listing.
    pub fn item(&mut self, text: &str) -> Result<Version, Arc<str>> {
        let head = match skim::item(text) {
            Some(head) => head,
            None => serde_json::from_str(text).map_err(|error| said(&error))?,
        };
        Ok(self.version(text, &head)?.version)
    }

    fn version(&mut self, body: &str, head: &Head<'_>) -> Result<Item, Arc<str>> {
        let object = self.object(head)?;
        Ok(item(object, self.with_type(body.trim(), head)?, head))
    }

    fn object(&mut self, head: &Head<'_>) -> Result<ObjectRef, Arc<str>> {
        let meta = &head.metadata;
        if meta.name.0.is_empty() {
            return Err("an object without metadata.name".into());
        }
        Ok(ObjectRef {
            api_version: own(head, &head.api_version, &self.api_version),
            kind: own(head, &head.kind, &self.kind),
            namespace: (!meta.namespace.0.is_empty()).then(|| self.namespace(&meta.namespace.0)),
            name: Arc::from(&*meta.name.0),
            uid: (!meta.uid.0.is_empty()).then(|| Uid::new(&*meta.uid.0)),
        })
    }

    fn namespace(&mut self, namespace: &str) -> Arc<str> {
        if *self.namespace != *namespace {
            self.namespace = namespace.into();
        }
        self.namespace.clone()
    }

    /// The body with the resource's `kind` and `apiVersion`, put where a watch event has them. Items of
    /// built-in kinds have none in a listing; an object of which only the metadata was asked for names
    /// the form instead, everywhere.
    fn with_type(&self, body: &str, head: &Head<'_>) -> Result<Arc<str>, Arc<str>> {
        let field = |name: &str, said: &Text<'_>, own: &Arc<str>| match &*said.0 {
            "" => format!("\"{name}\":{},", serde_json::Value::from(&**own)),
            _ => String::new(),
        };
        if head.is_partial() {
            let partial: Partial<'_> = serde_json::from_str(body).map_err(|error| said(&error))?;
            let kind = field("kind", &Text::default(), &self.kind);
            let api_version = field("apiVersion", &Text::default(), &self.api_version);
            let metadata = partial.metadata.get();
            return Ok(format!("{{{kind}{api_version}\"metadata\":{metadata}}}").into());
        }
        let kind = field("kind", &head.kind, &self.kind);
        let api_version = field("apiVersion", &head.api_version, &self.api_version);
        Ok(match body.strip_prefix('{') {
            Some(rest) if kind.len() + api_version.len() > 0 => {
                format!("{{{kind}{api_version}{rest}").into()
            }
            _ => body.into(),
        })
    }
}

/// Whether an object says the same of itself as its head: it has no second `metadata` that counts.
fn is_of(doc: &Doc, head: &Head<'_>) -> bool {
    let meta = doc.root().get("metadata");
    let says = |field: &str, said: &Text<'_>| {
        let own = meta.and_then(|meta| meta.str_at(&[field]));
        own.unwrap_or_default() == said.0
    };
    says("uid", &head.metadata.uid)
        && says("name", &head.metadata.name)
        && says("resourceVersion", &head.metadata.resource_version)
}

fn item(object: ObjectRef, body: impl Into<Body>, head: &Head<'_>) -> Item {
    let meta = &head.metadata;
    let version = Version {
        object,
        version: ResourceVersion::new(&*meta.resource_version.0),
        body: body.into(),
    };
    let deleting = !meta.deletion_timestamp.0.is_empty();
    Item { version, deleting }
}

/// What the object says it is, shared where the resource is called so; the resource's, where it says
/// nothing of itself.
fn own(head: &Head<'_>, said: &Text<'_>, resource: &Arc<str>) -> Arc<str> {
    if said.0.is_empty() || *said.0 == **resource || head.is_partial() {
        resource.clone()
    } else {
        (&*said.0).into()
    }
}

fn said(error: &dyn fmt::Display) -> Arc<str> {
    error.to_string().into()
}

#[cfg(test)]
mod laws;
