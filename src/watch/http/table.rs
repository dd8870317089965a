//! Reads answers in the form of a table: its rows become objects that carry their cells.

use std::borrow::Cow;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::list_metadata::ListMetadata;
use crate::source::{PrintedCell, with_printed};
use crate::watch::envelope::Verb;

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
    rows: Option<Vec<TableRow<'a>>>,
}

#[derive(Clone, Debug, Deserialize)]
struct ColumnDefinition {
    name: Box<str>,
    /// Higher than 0 for columns that only `-o wide` shows.
    #[serde(default)]
    priority: i32,
}

#[derive(Deserialize)]
struct TableRow<'a> {
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
    /// The objects of a table, each with its cells.
    pub(super) fn objects(&mut self, table: PrintedTable<'_>) -> Vec<String> {
        if let Some(columns) = table.column_definitions.filter(|known| !known.is_empty()) {
            self.0 = columns;
        }
        let rows = table.rows.unwrap_or_default().into_iter();
        rows.map(|row| self.object(&row)).collect()
    }

    fn object(&self, row: &TableRow<'_>) -> String {
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
        Verb::named(&event.kind)?;
        let object = self.objects(read(event.object.get())?).into_iter().next()?;
        Some(format!(r#"{{"type":"{}","object":{object}}}"#, event.kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_becomes_an_object_with_its_cells() {
        let mut columns = PrintedColumns::default();
        let definitions = r#"[{"name":"Name"},{"name":"Desired","type":"integer","priority":0},{"name":"Images","priority":1}]"#;
        let line = |kind: &str, definitions: &str| {
            let row = r#"{"cells":["web",3,"web:v1"],"object":{"kind":"ReplicaSet"}}"#;
            let table = format!(
                r#"{{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{{}},"columnDefinitions":{definitions},"rows":[{row}]}}"#
            );
            Bytes::from(format!(r#"{{"type":"{kind}","object":{table}}}"#))
        };
        let printed = r#""$printed":[{"column":"Desired","text":"3","wide":false},{"column":"Images","text":"web:v1","wide":true}]"#;
        let object = format!(r#"{{"kind":"ReplicaSet",{printed}}}"#);
        let expect = |kind: &str| format!(r#"{{"type":"{kind}","object":{object}}}"#);
        assert_eq!(columns.line(line("ADDED", definitions)), expect("ADDED"));
        assert_eq!(columns.line(line("MODIFIED", "null")), expect("MODIFIED"));
        let bookmark = line("BOOKMARK", "null");
        assert_eq!(columns.line(bookmark.clone()), bookmark);
        let plain = Bytes::from(r#"{"type":"ADDED","object":{"kind":"Pod"}}"#);
        assert_eq!(columns.line(plain.clone()), plain);
    }
}
