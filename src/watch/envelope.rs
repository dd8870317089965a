//! Reads watch lines and list items: who an object is and which version, and its bytes as they came.
//!
//! Strings are borrowed from the line, and the object's span follows from the fixed start that
//! kube-apiserver writes (`{"type":"…","object":`), so that a line is gone through once.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::{Deserializer, Visitor};
use serde_json::value::RawValue;

use super::event::Version;
use super::key::SourceKey;
use crate::cluster::Status;
use crate::object::{ObjectRef, ResourceVersion, Uid};

/// What one line of a watch says.
#[derive(Debug)]
pub(super) enum Line {
    /// A version of an object.
    Object { verb: Verb, item: Item },
    /// All before this version has been sent.
    Bookmark(ResourceVersion),
    /// The watch failed; the line ends it.
    Error(Status),
}

/// The type of a watch event about an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Added,
    Modified,
    Deleted,
}

/// An object as it arrived.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) version: Version,
    /// Whether it has a `deletionTimestamp`.
    pub(super) deleting: bool,
}

/// Reads the lines and items of one source. It remembers names that repeat, so that ten thousand
/// objects share one `apps/v1`.
pub(super) struct Reader {
    api_version: Arc<str>,
    kind: Arc<str>,
    namespace: Arc<str>,
}

impl Reader {
    pub(super) fn new(key: &SourceKey) -> Reader {
        Reader {
            api_version: key.resource.api_version().into(),
            kind: key.resource.kind.clone(),
            namespace: key.namespace().unwrap_or_default().into(),
        }
    }

    /// Reads one line of a watch; the error says what is wrong with it.
    pub(super) fn line(&mut self, line: &[u8]) -> Result<Line, Arc<str>> {
        let text = std::str::from_utf8(line).map_err(|error| said(&error))?;
        let (kind, body, head) = split(text)?;
        let verb = match &*kind {
            "ADDED" => Verb::Added,
            "MODIFIED" => Verb::Modified,
            "DELETED" => Verb::Deleted,
            "BOOKMARK" => {
                return match &*head.metadata.resource_version.0 {
                    "" => Err("a bookmark without a resourceVersion".into()),
                    version => Ok(Line::Bookmark(ResourceVersion::new(version))),
                };
            }
            "ERROR" => {
                let status = serde_json::from_str(body).map_err(|error| said(&error))?;
                return Ok(Line::Error(status));
            }
            unknown => return Err(format!("unknown watch event type {unknown:?}").into()),
        };
        let item = self.version(body, &head)?;
        Ok(Line::Object { verb, item })
    }

    /// Reads one item of a listing.
    pub(super) fn item(&mut self, text: &str) -> Result<Version, Arc<str>> {
        let head = serde_json::from_str(text).map_err(|error| said(&error))?;
        Ok(self.version(text, &head)?.version)
    }

    fn version(&mut self, body: &str, head: &Head<'_>) -> Result<Item, Arc<str>> {
        let body = body.trim();
        let meta = &head.metadata;
        if meta.name.0.is_empty() {
            return Err("an object without metadata.name".into());
        }
        let object = ObjectRef {
            api_version: own(head, &head.api_version, &self.api_version),
            kind: own(head, &head.kind, &self.kind),
            namespace: (!meta.namespace.0.is_empty()).then(|| self.namespace(&meta.namespace.0)),
            name: Arc::from(&*meta.name.0),
            uid: (!meta.uid.0.is_empty()).then(|| Uid::new(&*meta.uid.0)),
        };
        let version = Version {
            object,
            version: ResourceVersion::new(&*meta.resource_version.0),
            body: self.with_type(body, head)?.into(),
        };
        let deleting = !meta.deletion_timestamp.0.is_empty();
        Ok(Item { version, deleting })
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

/// The type, the object's exact text and its head.
fn split(text: &str) -> Result<(Cow<'_, str>, &str, Head<'_>), Arc<str>> {
    if let Some(start) = body_start(text)
        && let Ok(strict) = serde_json::from_str::<Strict<'_>>(text)
        && let Some(body) = text
            .get(start..)
            .and_then(|rest| rest.trim_end().strip_suffix('}'))
    {
        return Ok((strict.kind.0, body, strict.object));
    }
    let loose: Loose<'_> = serde_json::from_str(text).map_err(|error| said(&error))?;
    let body = loose.object.get();
    let head = serde_json::from_str(body).map_err(|error| said(&error))?;
    Ok((loose.kind.0, body, head))
}

/// Where the object starts in a line that is written as kube-apiserver writes it.
fn body_start(text: &str) -> Option<usize> {
    let rest = text.strip_prefix("{\"type\":\"")?;
    let end = rest.find('"')?;
    let object = rest[end..].strip_prefix("\",\"object\":")?;
    Some(text.len() - object.len())
}

/// A line of exactly these two fields, in one pass.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Strict<'a> {
    #[serde(rename = "type", borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    object: Head<'a>,
}

/// A line with its fields in any order, and others.
#[derive(Deserialize)]
struct Loose<'a> {
    #[serde(rename = "type", borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    object: &'a RawValue,
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(rename = "apiVersion", borrow, default)]
    api_version: Text<'a>,
    #[serde(borrow, default)]
    kind: Text<'a>,
    #[serde(borrow, default)]
    metadata: Meta<'a>,
}

impl Head<'_> {
    /// Whether this is the metadata of an object without the object.
    fn is_partial(&self) -> bool {
        self.kind.0 == "PartialObjectMetadata" && self.api_version.0.starts_with("meta.k8s.io/")
    }
}

/// A `PartialObjectMetadata`.
#[derive(Deserialize)]
struct Partial<'a> {
    #[serde(borrow)]
    metadata: &'a RawValue,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Meta<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    namespace: Text<'a>,
    #[serde(borrow)]
    uid: Text<'a>,
    #[serde(borrow)]
    resource_version: Text<'a>,
    #[serde(borrow)]
    deletion_timestamp: Text<'a>,
}

/// A string, borrowed unless it has escapes; `null` is the empty one.
#[derive(Default)]
struct Text<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrowing;
        impl<'de> Visitor<'de> for Borrowing {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Text::default())
            }
        }
        deserializer.deserialize_any(Borrowing)
    }
}
