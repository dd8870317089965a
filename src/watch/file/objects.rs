//! The objects in one value of a file: the value itself, the items of a list, or the object of a watch event.

use std::borrow::Cow;
use std::sync::Arc;

use super::error::FileError;
use super::faults::Faults;
use crate::object::{Doc, Kind, ObjectRef, Value};

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
        FileError::of_server(self.line, &message)
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
