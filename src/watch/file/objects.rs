//! The objects in the values of a text: the items of lists, the objects of events, and their resources.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use super::error::{Faults, FileError};
use crate::object::{
    Doc, Kind, ObjectRef, Resource, ServedTypes, Uid, Value, is_kubernetes_own, well_known_type,
};
use crate::watch::envelope::WatchVerb;

/// Maps an offset in a value to a line of the file.
pub(super) type LineOf<'a> = &'a dyn Fn(usize) -> usize;

/// One object of a value.
pub(super) struct FoundObject<'d> {
    /// The type word of its watch event; `None` if it is in no event.
    pub(super) event: Option<Cow<'d, str>>,
    pub(super) value: Value<'d>,
    /// Its reference. An item of a typed list (`PodList`) may take its `apiVersion` and its kind from the list.
    pub(super) object: ObjectRef,
    pub(super) line: usize,
}

/// Calls `take` with each object of a value, in order and unchecked, and adds its errors to the faults. Lists in lists are
/// one list. It skips bookmarks. The object of an `ERROR` event is the server's error.
pub(super) fn for_each_object(
    text: &str,
    line: LineOf<'_>,
    faults: &mut Faults,
    mut take: impl FnMut(FoundObject<'_>) -> Result<(), FileError>,
) {
    let doc = match Doc::parse(text) {
        Ok(doc) => doc,
        Err(error) => return faults.add(FileError::new(line(0), error.to_string())),
    };
    let line = |value: Value<'_>| line(value.raw().as_ptr().addr() - doc.text().as_ptr().addr());
    let mut take = |found: FoundObject<'_>| {
        if let Err(error) = take(found) {
            faults.add(error);
        }
    };
    let root = doc.root();
    if let (Some(word), Some(object)) = (root.get("type"), root.get("object")) {
        let event = word.as_str().unwrap_or_default();
        if event != "BOOKMARK" {
            let found = FoundObject::of(object, None, line(object));
            let event = Some(event);
            take(FoundObject { event, ..found });
        }
        return;
    }
    // The values that are not taken yet, the next one last.
    let mut left: Vec<(Value<'_>, Option<Arc<ObjectRef>>)> = vec![(root, None)];
    while let Some((value, list)) = left.pop() {
        let own = typed(value, list.as_deref());
        match items(value, &own) {
            Some(items) => {
                let own = Arc::new(own);
                let items: Vec<_> = items.map(|item| (item, Some(own.clone()))).collect();
                left.extend(items.into_iter().rev());
            }
            None => take(FoundObject::of(value, list.as_deref(), line(value))),
        }
    }
}

/// The items of a list. Go also writes an empty one as null. A list of a tool may have no type.
fn items<'d>(
    value: Value<'d>,
    list: &ObjectRef,
) -> Option<impl Iterator<Item = Value<'d>> + use<'d>> {
    if value.kind() == Kind::Array {
        return Some(value.items());
    }
    let items = value.get("items")?;
    let is_list = match items.kind() {
        Kind::Array => list.kind.is_empty() || list.kind.ends_with("List"),
        Kind::Null => list.kind.ends_with("List"),
        Kind::Bool | Kind::Number | Kind::String | Kind::Object => false,
    };
    is_list.then(|| items.items())
}

impl<'d> FoundObject<'d> {
    /// Whether it is the server's error, with which a recorded watch ends.
    pub(super) fn is_failure(&self) -> bool {
        self.event.as_deref() == Some("ERROR")
    }

    /// The error of a recorded watch.
    pub(super) fn failure(&self) -> FileError {
        let message = self.value.str_at(&["message"]).unwrap_or_default();
        FileError::new(self.line, format!("the recorded watch failed: {message}"))
    }

    /// Its text. What it lacks of its type comes from its list.
    pub(super) fn typed_text(&self) -> String {
        let (value, object) = (self.value, &self.object);
        let fields = [("apiVersion", &object.api_version), ("kind", &object.kind)];
        let lacking = fields.map(|(field, text)| {
            let is_lacking = value.get(field).is_none() && !text.is_empty();
            is_lacking.then(|| format!("{field:?}:{}", serde_json::Value::from(&**text)))
        });
        let lacking: Vec<String> = lacking.into_iter().flatten().collect();
        match value.raw().strip_prefix('{') {
            Some(fields) if !lacking.is_empty() => {
                let is_empty = value.fields().next().is_none();
                let comma = if is_empty { "" } else { "," };
                format!("{{{}{comma}{fields}", lacking.join(","))
            }
            Some(_) | None => value.raw().to_owned(),
        }
    }

    fn of(value: Value<'d>, list: Option<&ObjectRef>, line: usize) -> FoundObject<'d> {
        FoundObject {
            event: None,
            value,
            object: typed(value, list),
            line,
        }
    }
}

/// The reference of an object. What an item lacks of its type comes from its typed list.
fn typed(value: Value<'_>, list: Option<&ObjectRef>) -> ObjectRef {
    let mut object = ObjectRef::of(value);
    let kind = list.and_then(|list| list.kind.strip_suffix("List"));
    if let (Some(list), Some(kind)) = (list, kind.filter(|kind| !kind.is_empty())) {
        if object.kind.is_empty() {
            object.kind = kind.into();
        }
        if object.api_version.is_empty() {
            object.api_version = list.api_version.clone();
        }
    }
    object
}

#[derive(Debug)]
pub(super) struct FileEntry {
    /// What happened to it; `None` if it exists from the start.
    pub(super) verb: Option<WatchVerb>,
    pub(super) object: ObjectRef,
    pub(super) doc: Doc,
    pub(super) line: usize,
    /// Whether it is in a watch event.
    pub(super) is_event: bool,
    /// Whether it has no name of its own, only a number in its text.
    pub(super) is_nameless: bool,
    /// The text that it is in, for messages.
    pub(super) file: Arc<str>,
    /// Why no source can read the object, if that is so.
    pub(super) unreadable: Option<Arc<str>>,
}

/// A kind of objects: `apiVersion` and `kind`.
pub(super) type KindOf = (Arc<str>, Arc<str>);

/// The key of an object within a file: its `apiVersion`, its kind and its identity.
pub(super) type EntryKey = (Arc<str>, Arc<str>, Uid);

pub(super) fn kind_of(object: &ObjectRef) -> KindOf {
    (object.api_version.clone(), object.kind.clone())
}

pub(super) fn entry_key(object: &ObjectRef) -> EntryKey {
    let (api_version, kind) = kind_of(object);
    (api_version, kind, object.identity())
}

/// One resource of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileResource {
    /// The resource.
    pub resource: Resource,
    /// Where its plural comes from.
    pub plural: Plural,
    /// Whether its controllers write a status: its `CustomResourceDefinition` in the file has the subresource, or another
    /// of its objects has conditions.
    pub has_status: bool,
    /// Its objects, each once, in the order of the file.
    pub objects: Vec<ObjectRef>,
}

impl FileResource {
    /// Whether its objects are known to live in no namespace. The kind of a manifest without a namespace may be namespaced.
    pub fn is_cluster_scoped(&self) -> bool {
        self.plural == Plural::Known && !self.resource.namespaced
    }
}

/// Where the plural of a resource comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Plural {
    /// From Kubernetes' own kinds, or from a `CustomResourceDefinition` in the file.
    Known,
    /// From the English rules alone.
    Guessed,
}

/// Kubernetes' own cluster-scoped kinds without a stable version
/// (<https://kubernetes.io/docs/reference/kubernetes-api/>).
const CLUSTER_SCOPED: [&str; 3] = [
    "ClusterTrustBundle",
    "StorageVersion",
    "StorageVersionMigration",
];

pub(super) fn of(entries: &[Arc<FileEntry>]) -> Vec<FileResource> {
    let is_definition = |entry: &&Arc<FileEntry>| &*entry.object.kind == "CustomResourceDefinition";
    let definitions = entries.iter().filter(is_definition);
    let definitions: Vec<Value<'_>> = definitions.map(|entry| entry.doc.root()).collect();
    let mut resources: Vec<FileResource> = Vec::new();
    let mut known = HashSet::new();
    for entry in entries {
        let object = &entry.object;
        let of_same = |found: &FileResource| {
            found.resource.kind == object.kind
                && found.resource.api_version() == *object.api_version
        };
        let at = resources.iter().position(of_same).unwrap_or_else(|| {
            resources.push(resource(object, &definitions));
            resources.len() - 1
        });
        let found = &mut resources[at];
        if found.plural == Plural::Guessed {
            found.resource.namespaced |= object.namespace.is_some();
        }
        if known.insert((at, object.identity())) {
            found.objects.push(object.clone());
        }
    }
    let types = ServedTypes::in_documents(entries.iter().map(|entry| entry.doc.root()));
    for found in &mut resources {
        let mut objects = found.objects.iter();
        found.has_status = objects.any(|object| types.has_status(object));
    }
    resources
}

fn resource(object: &ObjectRef, definitions: &[Value<'_>]) -> FileResource {
    let (group, version) = object
        .api_version
        .split_once('/')
        .unwrap_or(("", &object.api_version));
    let kind = object.kind.clone();
    let own = is_kubernetes_own(group);
    let mut definitions = definitions.iter();
    let defined = definitions.find_map(|definition| Resource::defined_by(*definition, object));
    let is_known = own || defined.is_some();
    let resource = defined.unwrap_or_else(|| Resource {
        group: group.into(),
        version: version.into(),
        plural: plural(&kind).into(),
        namespaced: if own {
            is_namespaced(group, &kind)
        } else {
            object.namespace.is_some()
        },
        kind,
    });
    FileResource {
        resource,
        plural: if is_known {
            Plural::Known
        } else {
            Plural::Guessed
        },
        has_status: false,
        objects: Vec::new(),
    }
}

/// Whether objects of one of Kubernetes' own kinds live in namespaces.
fn is_namespaced(group: &str, kind: &str) -> bool {
    well_known_type(group, kind).map_or(!CLUSTER_SCOPED.contains(&kind), |found| {
        found.resource.namespaced
    })
}

/// The English plural, in lower case. It is correct for all of Kubernetes' own kinds.
fn plural(kind: &str) -> String {
    let word = kind.to_lowercase();
    let vowel_before_y = || {
        word.as_bytes()
            .iter()
            .rev()
            .nth(1)
            .is_some_and(|byte| b"aeiou".contains(byte))
    };
    if word == "endpoints" {
        word
    } else if word.ends_with('y') && !vowel_before_y() {
        format!("{}ies", &word[..word.len() - 1])
    } else if ["s", "x", "z", "ch", "sh"]
        .iter()
        .any(|end| word.ends_with(end))
    {
        format!("{word}es")
    } else {
        format!("{word}s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::documents_by_line;

    #[test]
    fn each_object_is_returned_once_and_in_order() {
        let check = |text: &str, expect: &[&str]| {
            let (documents, faults) = documents_by_line(text);
            let texts: Vec<&str> = documents.iter().map(|(_, doc)| doc.text()).collect();
            assert_eq!(
                (texts.as_slice(), faults),
                (expect, Faults::default()),
                "{text}"
            );
        };
        check("{}\n[{\"a\":1},2]\nnull", &["{}", "{\"a\":1}", "2", "null"]);
        check(
            r#"{"type":"ADDED","object":{"a":1}}{"type":"BOOKMARK","object":{}}"#,
            &[r#"{"a":1}"#],
        );
        check(
            r#"{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{}},{},{"apiVersion":"v2"},{"kind":"X"}]}"#,
            &[
                r#"{"apiVersion":"v1","kind":"Pod","metadata":{}}"#,
                r#"{"apiVersion":"v1","kind":"Pod"}"#,
                r#"{"kind":"Pod","apiVersion":"v2"}"#,
                r#"{"apiVersion":"v1","kind":"X"}"#,
            ],
        );
        check(
            r#"{"kind":"List","items":[{"kind":"Pod"},{"a":1}]}"#,
            &[r#"{"kind":"Pod"}"#, r#"{"a":1}"#],
        );
        check(
            "kind: A\n---\nkind: B\n",
            &[r#"{"kind":"A"}"#, r#"{"kind":"B"}"#],
        );
        check(
            r#"{"kind":"List","items":[{"kind":"PodList","apiVersion":"v1","items":[{"a":1}]},{"kind":"A"},
                {"kind":"List","items":null}]}"#,
            &[
                r#"{"apiVersion":"v1","kind":"Pod","a":1}"#,
                r#"{"kind":"A"}"#,
            ],
        );
        check(r#"{"items":[{"kind":"A"}]}"#, &[r#"{"kind":"A"}"#]);
        check(
            "{kind: A, a: b}\n---\n{\"kind\": \"B\"}\n",
            &[r#"{"kind":"A","a":"b"}"#, r#"{"kind":"B"}"#],
        );
        check("{kind: A}", &[r#"{"kind":"A"}"#]);
        check(
            "{\"kind\":\"A\"}\n---\nkind: B\n",
            &[r#"{"kind":"A"}"#, r#"{"kind":"B"}"#],
        );
    }

    #[test]
    fn what_is_broken_does_not_hide_the_others() {
        let (documents, faults) = documents_by_line("{}\n{\n  \"a\": }\n{\"b\":1}\n");
        assert_eq!(documents.len(), 2);
        assert_eq!(faults.first()[0].line, 3);
        let (documents, faults) = documents_by_line("a: 1\n---\nb: [\n---\nc: 1\n");
        assert_eq!(documents.len(), 2);
        assert_eq!(faults.first()[0].document, Some(2));
    }

    #[test]
    fn plurals() {
        for (kind, name) in [
            ("Pod", "pods"),
            ("Ingress", "ingresses"),
            ("NetworkPolicy", "networkpolicies"),
            ("Endpoints", "endpoints"),
            ("EndpointSlice", "endpointslices"),
            ("PriorityClass", "priorityclasses"),
            ("CSIStorageCapacity", "csistoragecapacities"),
            ("Gateway", "gateways"),
            ("Mailbox", "mailboxes"),
            ("y", "ies"),
        ] {
            assert_eq!(plural(kind), name);
        }
    }
}
