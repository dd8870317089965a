//! The objects in one value of a file: the value itself, the items of a list, or the object of a watch event.

use std::borrow::Cow;

use super::error::FileError;
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

/// Calls `take` with each object of a value, in order and unchecked. It skips bookmarks. The object of an `ERROR` event is
/// the server's error.
pub(super) fn for_each_object(
    text: &str,
    line: LineOf<'_>,
    mut take: impl FnMut(FoundObject<'_>) -> Result<(), FileError>,
) -> Result<(), FileError> {
    let doc = Doc::parse(text).map_err(|error| FileError::new(line(0), error.to_string()))?;
    let root = doc.root();
    let line = |value: Value<'_>| line(value.raw().as_ptr().addr() - doc.text().as_ptr().addr());
    if let (Some(word), Some(object)) = (root.get("type"), root.get("object")) {
        let event = word.as_str().unwrap_or_default();
        if event == "BOOKMARK" {
            return Ok(());
        }
        let found = FoundObject::of(object, None, line(object));
        let event = Some(event);
        return take(FoundObject { event, ..found });
    }
    let list = ObjectRef::of(root);
    // Go also writes an empty list as null.
    let is_list = |items: &Value<'_>| {
        matches!(items.kind(), Kind::Array | Kind::Null) && list.kind.ends_with("List")
    };
    let (items, list) = match root.get("items").filter(is_list) {
        Some(items) => (items, Some(&list)),
        None if root.kind() == Kind::Array => (root, None),
        None => return take(FoundObject::of(root, None, line(root))),
    };
    let mut items = items.items();
    items.try_for_each(|item| take(FoundObject::of(item, list, line(item))))
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
