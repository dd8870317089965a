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
use super::key::{Form, SourceKey};
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
    /// What the bodies say, where they differ from the resource: `PartialObjectMetadata`.
    spelled: (Arc<str>, Arc<str>),
    namespace: Arc<str>,
}

impl Reader {
    pub(super) fn new(key: &SourceKey) -> Reader {
        let api_version: Arc<str> = key.resource.api_version().into();
        let kind = key.resource.kind.clone();
        let spelled = match key.form {
            Form::Full => (api_version.clone(), kind.clone()),
            Form::Metadata => ("meta.k8s.io/v1".into(), "PartialObjectMetadata".into()),
        };
        Reader {
            api_version,
            kind,
            spelled,
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
            api_version: own(&head.api_version.0, &self.spelled.0, &self.api_version),
            kind: own(&head.kind.0, &self.spelled.1, &self.kind),
            namespace: (!meta.namespace.0.is_empty()).then(|| self.namespace(&meta.namespace.0)),
            name: Arc::from(&*meta.name.0),
            uid: (!meta.uid.0.is_empty()).then(|| Uid::new(&*meta.uid.0)),
        };
        let version = Version {
            object,
            version: ResourceVersion::new(&*meta.resource_version.0),
            body: self.with_type(body, head),
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

    /// The body with `kind` and `apiVersion`, which items of built-in kinds lack in a listing, put
    /// where a watch event has them.
    fn with_type(&self, body: &str, head: &Head<'_>) -> Arc<str> {
        let missing = |field: &str, said: &Text<'_>, spelled: &Arc<str>| match &*said.0 {
            "" => format!("\"{field}\":{},", serde_json::Value::from(&**spelled)),
            _ => String::new(),
        };
        let kind = missing("kind", &head.kind, &self.spelled.1);
        let api_version = missing("apiVersion", &head.api_version, &self.spelled.0);
        match body.strip_prefix('{') {
            Some(rest) if kind.len() + api_version.len() > 0 => {
                format!("{{{kind}{api_version}{rest}").into()
            }
            _ => body.into(),
        }
    }
}

/// `said`, shared where it is what the resource is called, or what the form is.
fn own(said: &str, spelled: &Arc<str>, resource: &Arc<str>) -> Arc<str> {
    if said.is_empty() || *said == **spelled || *said == **resource {
        resource.clone()
    } else {
        said.into()
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
