//! Parses one page of a listing, but not its items.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use bytes::Bytes;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::super::{ListPage, SourceError};
use crate::object::{ResourceVersion, is_kubernetes_own, json_fault};
use crate::source::{Form, PrintedCell, SourceKey, with_printed};
use crate::watch::envelope::WatchVerb;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListBody<'a> {
    #[serde(borrow, default)]
    api_version: Cow<'a, str>,
    #[serde(borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow, deserialize_with = "object")]
    metadata: ListMetadata<'a>,
    /// Go also writes an empty list as `null`.
    #[serde(borrow)]
    items: Option<Vec<&'a RawValue>>,
}

/// Parses a page of a list of `key`. The version is empty if the server sends none, as metrics-server does.
pub(super) fn parse(body: &Bytes, key: &SourceKey) -> Result<ListPage, SourceError> {
    let refused = |what: &str| {
        let resource = key.resource.group_resource();
        let detail = format!("the server's answer is not a list of {resource}: {what}");
        SourceError::Decode {
            detail: detail.into(),
        }
    };
    if key.form == Form::Table
        && let Some(table) = std::str::from_utf8(body).ok().and_then(read)
    {
        // Each object names its type, which its reader checks.
        let mut table = table;
        let metadata = std::mem::take(&mut table.metadata);
        let objects = PrintedColumns::default().objects(table).into_iter();
        return Ok(metadata.page(objects.map(Bytes::from).collect()));
    }
    let mut reader = serde_json::Deserializer::from_slice(body);
    let list: Result<ListBody<'_>, _> = object(&mut reader);
    let list = list.and_then(|list| reader.end().map(|()| list));
    let list = list.map_err(|error| refused(&json_fault(&error)))?;
    if !list.is_of(key) {
        return Err(refused("it is of another type"));
    }
    let items = list.items.unwrap_or_default().into_iter();
    // Each item borrows from the body, as `slice_ref` requires.
    let items = items.map(|item| body.slice_ref(item.get().as_bytes()));
    Ok(list.metadata.page(items.collect()))
}

/// Reads a struct from a JSON object. serde's derived code would also accept an array with the values of the
/// fields in order.
fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<T, D::Error> {
    struct Object<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
        type Value = T;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<T, A::Error> {
            T::deserialize(MapAccessDeserializer::new(fields))
        }
    }

    from.deserialize_map(Object(PhantomData))
}

impl ListBody<'_> {
    /// Whether the list has the type that was requested. Only a custom resource can have a list kind that does
    /// not follow from its kind.
    fn is_of(&self, key: &SourceKey) -> bool {
        let resource = &key.resource;
        let is_partial = self.kind == "PartialObjectMetadataList"
            && self.api_version.starts_with("meta.k8s.io/");
        let is_named = || {
            let kind = self.kind.strip_suffix("List");
            self.kind.is_empty() || kind == Some(&*resource.kind)
        };
        let is_version = self.api_version.is_empty() || self.api_version == resource.api_version();
        (key.form == Form::Metadata && is_partial)
            || (is_version && (is_named() || !is_kubernetes_own(&resource.group)))
    }
}

/// A `Table` of meta/v1.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PrintedTable<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    api_version: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) metadata: ListMetadata<'a>,
    /// Absent in all events of a watch but the first.
    column_definitions: Option<Vec<ColumnDefinition>>,
    #[serde(borrow)]
    rows: Option<Vec<PrintedRow<'a>>>,
}

#[derive(Clone, Debug, Deserialize)]
struct ColumnDefinition {
    name: Box<str>,
    /// Higher than 0 for columns that only `-o wide` shows.
    #[serde(default)]
    priority: i32,
}

#[derive(Deserialize)]
struct PrintedRow<'a> {
    #[serde(default)]
    cells: Vec<serde_json::Value>,
    #[serde(borrow)]
    object: &'a RawValue,
}

/// The columns of a list or a watch.
#[derive(Default)]
pub(super) struct PrintedColumns(Vec<ColumnDefinition>);

/// Reads a table; `None` if the text is another JSON value: a server that knows no tables sends its objects.
pub(super) fn read(text: &str) -> Option<PrintedTable<'_>> {
    let table: PrintedTable<'_> = serde_json::from_str(text).ok()?;
    let is_table = table.kind == "Table" && table.api_version.starts_with("meta.k8s.io/");
    is_table.then_some(table)
}

impl PrintedColumns {
    pub(super) fn objects(&mut self, table: PrintedTable<'_>) -> Vec<String> {
        if let Some(columns) = table.column_definitions.filter(|known| !known.is_empty()) {
            self.0 = columns;
        }
        let rows = table.rows.unwrap_or_default().into_iter();
        rows.map(|row| self.object(&row)).collect()
    }

    fn object(&self, row: &PrintedRow<'_>) -> String {
        let cells = self.0.iter().zip(&row.cells);
        let cells: Vec<PrintedCell> = cells
            .map(|(column, value)| PrintedCell {
                column: column.name.clone(),
                is_wide: column.priority > 0,
                text: match value {
                    serde_json::Value::Null => "".into(),
                    serde_json::Value::String(text) => text.as_str().into(),
                    other => other.to_string().into(),
                },
            })
            .collect();
        with_printed(row.object.get(), &cells)
    }

    /// The line of a watch event with the object of its row in place of the table. Other lines stay as they are:
    /// bookmarks, errors, and the objects of a server that knows no tables.
    pub(super) fn line(&mut self, line: Bytes) -> Bytes {
        self.rewritten(&line).map_or(line, Bytes::from)
    }

    fn rewritten(&mut self, line: &[u8]) -> Option<String> {
        #[derive(Deserialize)]
        struct TableEvent<'a> {
            #[serde(rename = "type", borrow)]
            kind: Cow<'a, str>,
            #[serde(borrow)]
            object: &'a RawValue,
        }
        let event: TableEvent<'_> = serde_json::from_slice(line).ok()?;
        WatchVerb::named(&event.kind)?;
        let object = self.objects(read(event.object.get())?).into_iter().next()?;
        Some(format!(r#"{{"type":"{}","object":{object}}}"#, event.kind))
    }
}

#[derive(Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[derive(Default)]
pub(super) struct ListMetadata<'a> {
    #[serde(borrow)]
    resource_version: Cow<'a, str>,
    #[serde(borrow)]
    r#continue: Cow<'a, str>,
}

impl ListMetadata<'_> {
    pub(super) fn page(&self, items: Vec<Bytes>) -> ListPage {
        let next = Some(&*self.r#continue).filter(|next| !next.is_empty());
        ListPage {
            version: ResourceVersion::new(&*self.resource_version),
            items,
            next: next.map(Into::into),
        }
    }
}

#[cfg(test)]
mod tests;
