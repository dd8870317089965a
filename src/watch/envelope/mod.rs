//! Reads watch lines and list items: an object's identity, its version, and its bytes as they came.
//!
//! Only the start of a line is decoded for this ([`head`]). Then the object is parsed, once, with its last
//! version as a hint. [`head`] reads lines that are not spelled as kube-apiserver spells them, and reports what
//! is wrong with invalid ones.

mod head;

use std::sync::Arc;

use super::recent::Recent;
use crate::cluster::ApiStatus;
use crate::object::{Doc, ObjectRef, ResourceVersion, Uid, json_fault};
use crate::source::{Body, Form, SourceKey, Version};
use head::{Head, HeadText, Partial};

/// The content of one watch line.
#[derive(Debug)]
pub enum WatchLine {
    /// A version of an object.
    Object {
        /// What happened to the object.
        verb: WatchVerb,
        /// The version.
        item: Item,
    },
    /// The server has sent everything before this version.
    Bookmark(ResourceVersion),
    /// The watch failed. This line ends it.
    Error(ApiStatus),
}

/// The type of a watch event about an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchVerb {
    /// The object was created, or began to match the selector.
    Added,
    /// The object changed.
    Modified,
    /// The object was deleted, or no longer matches the selector.
    Deleted,
}

impl WatchVerb {
    /// The verb of a type word; `None` for a bookmark, an error and an unknown word.
    pub(in crate::watch) fn named(name: &str) -> Option<WatchVerb> {
        match name {
            "ADDED" => Some(WatchVerb::Added),
            "MODIFIED" => Some(WatchVerb::Modified),
            "DELETED" => Some(WatchVerb::Deleted),
            _ => None,
        }
    }
}

/// An object as it came.
#[derive(Debug)]
pub struct Item {
    /// The version, with its body.
    pub version: Version,
    /// Whether it has a `deletionTimestamp`.
    pub deleting: bool,
}

/// Reads the lines and items of one source. It shares repeated names, so that ten thousand objects have one
/// `apps/v1`.
pub struct Reader {
    api_version: Arc<str>,
    kind: Arc<str>,
    form: Form,
    /// The name that every object must have, if there is one.
    name: Option<Arc<str>>,
    /// The namespace that every object must have, if there is one.
    asked_namespace: Option<Arc<str>>,
    /// The namespace of the last object.
    namespace: Arc<str>,
    recent: Recent<Uid>,
    /// The object that was read last. Objects of one controller are much alike, so this is as good a hint as an
    /// object's own last version.
    last: Option<Doc>,
}

/// How many bytes of last versions a reader keeps as hints. Views share most of them.
const HINTS: usize = 1 << 20;

impl Reader {
    /// Creates a reader for the lines and items of this source.
    pub fn new(key: &SourceKey) -> Reader {
        Reader {
            api_version: key.resource.api_version().into(),
            kind: key.resource.kind.clone(),
            form: key.form,
            name: key.select.only_name(),
            asked_namespace: key.namespace().map(Into::into),
            namespace: key.namespace().unwrap_or_default().into(),
            recent: Recent::up_to(HINTS),
            last: None,
        }
    }

    /// Reads one watch line. The error describes what is wrong with it.
    pub fn line(&mut self, line: &[u8]) -> Result<WatchLine, Arc<str>> {
        let text = std::str::from_utf8(line).map_err(|error| error.to_string())?;
        if let Some((verb, item)) = self.skimmed(text) {
            return Ok(WatchLine::Object { verb, item });
        }
        let (kind, body, head) = head::line(text).map_err(|error| fault(&error))?;
        if let Some(verb) = WatchVerb::named(&kind) {
            let item = self.version(body, &head)?;
            return Ok(WatchLine::Object { verb, item });
        }
        match &*kind {
            "BOOKMARK" => match &*head.metadata.resource_version.0 {
                "" => Err("a bookmark without a resourceVersion".into()),
                version => Ok(WatchLine::Bookmark(ResourceVersion::new(version))),
            },
            "ERROR" => {
                let status = serde_json::from_str(body).map_err(|error| fault(&error))?;
                Ok(WatchLine::Error(status))
            }
            _ => Err("a watch event of an unknown type".into()),
        }
    }

    /// Reads an object's line in kube-apiserver's spelling; `None` for any other line.
    fn skimmed(&mut self, text: &str) -> Option<(WatchVerb, Item)> {
        let (kind, body, head) = head::skim_line(text)?;
        let verb = WatchVerb::named(&kind)?;
        if !head.has_type() || head.is_partial() {
            return None;
        }
        let object = self.object(&head).ok()?;
        let uid = object.identity();
        let doc = match self.recent.take(&uid).or_else(|| self.last.take()) {
            Some(hint) => Doc::parse_after(body, &hint),
            None => Doc::parse(body),
        };
        let is_whole = |doc: &Doc| is_of(doc, &head) && object.has_type_of(doc.root());
        let doc = doc.ok().filter(is_whole)?;
        self.last = Some(doc.clone());
        if verb != WatchVerb::Deleted {
            self.recent.put(uid, doc.clone());
        }
        Some((verb, item(object, doc, &head)))
    }

    /// Reads one item of a listing: the text of an object. The error describes what is wrong with it.
    pub fn item(&mut self, item: impl AsRef<[u8]>) -> Result<Version, Arc<str>> {
        let text = std::str::from_utf8(item.as_ref()).map_err(|error| error.to_string())?;
        let head = item_head(text).map_err(|error| fault(&error))?;
        Ok(self.version(text, &head)?.version)
    }

    fn version(&mut self, body: &str, head: &Head<'_>) -> Result<Item, Arc<str>> {
        let object = self.object(head)?;
        Ok(item(object, self.with_type(body.trim(), head)?, head))
    }

    fn object(&mut self, head: &Head<'_>) -> Result<ObjectRef, Arc<str>> {
        self.check_type(head)?;
        let meta = &head.metadata;
        if meta.name.0.is_empty() {
            return Err("an object without metadata.name".into());
        }
        self.check_place(&meta.namespace.0, &meta.name.0)?;
        Ok(ObjectRef {
            api_version: self.api_version.clone(),
            kind: self.kind.clone(),
            namespace: (!meta.namespace.0.is_empty()).then(|| self.namespace(&meta.namespace.0)),
            name: Arc::from(&*meta.name.0),
            uid: (!meta.uid.0.is_empty()).then(|| Uid::new(&*meta.uid.0)),
        })
    }

    /// Refuses an object that is not of the source's type, because it must never be shown as one. In a listing,
    /// items of built-in kinds have no type.
    fn check_type(&self, head: &Head<'_>) -> Result<(), Arc<str>> {
        let fits = |said: &HeadText<'_>, own: &Arc<str>| said.0.is_empty() || *said.0 == **own;
        let is_asked = fits(&head.api_version, &self.api_version) && fits(&head.kind, &self.kind);
        if is_asked || (self.form == Form::Metadata && head.is_partial()) {
            return Ok(());
        }
        let (api_version, kind) = (&self.api_version, &self.kind);
        Err(format!("an object of another type than {api_version} {kind}").into())
    }

    /// Refuses an object with another name or namespace than the source asks for: the server has not answered the question.
    /// A manifest in a file may have no namespace.
    fn check_place(&self, namespace: &str, name: &str) -> Result<(), Arc<str>> {
        let is_asked =
            |own: &Option<Arc<str>>, said: &str| own.as_deref().is_none_or(|own| own == said);
        if is_asked(&self.name, name)
            && (namespace.is_empty() || is_asked(&self.asked_namespace, namespace))
        {
            return Ok(());
        }
        let slash = if namespace.is_empty() { "" } else { "/" };
        let (kind, place) = (
            self.kind.to_lowercase(),
            format!("{namespace}{slash}{name}"),
        );
        Err(format!("{kind} {place:?}, which was not requested").into())
    }

    fn namespace(&mut self, namespace: &str) -> Arc<str> {
        if *self.namespace != *namespace {
            self.namespace = namespace.into();
        }
        self.namespace.clone()
    }

    /// The body with the resource's `kind` and `apiVersion`, where a watch event has them. In a listing, items of
    /// built-in kinds lack both. A metadata-only object names `PartialObjectMetadata` instead.
    fn with_type(&self, body: &str, head: &Head<'_>) -> Result<Arc<str>, Arc<str>> {
        let field = |name: &str, said: &HeadText<'_>, own: &Arc<str>| match &*said.0 {
            "" => format!("\"{name}\":{},", serde_json::Value::from(&**own)),
            _ => String::new(),
        };
        if head.is_partial() {
            let partial: Partial<'_> = serde_json::from_str(body).map_err(|error| fault(&error))?;
            let kind = field("kind", &HeadText::default(), &self.kind);
            let api_version = field("apiVersion", &HeadText::default(), &self.api_version);
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

/// Whether an object agrees with its head, so that no second `metadata` overrides the first.
fn is_of(doc: &Doc, head: &Head<'_>) -> bool {
    let meta = doc.root().get("metadata");
    let says = |field: &str, said: &HeadText<'_>| {
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
        object: Arc::new(object),
        version: ResourceVersion::new(&*meta.resource_version.0),
        body: body.into(),
    };
    let deleting = !meta.deletion_timestamp.0.is_empty();
    Item { version, deleting }
}

/// The part of an item of a listing that identifies its object. The type may be repeated after that part.
pub(super) fn item_head(text: &str) -> serde_json::Result<Head<'_>> {
    match head::skim_item(text) {
        Some(head) => Ok(head),
        None => serde_json::from_str(text),
    }
}

fn fault(error: &serde_json::Error) -> Arc<str> {
    json_fault(error).into()
}

#[cfg(test)]
mod laws;
