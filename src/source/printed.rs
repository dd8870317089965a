//! The cells of the server's table (`kubectl get`) that an object of [`Form::Table`](super::Form::Table) carries.
//!
//! A source has one text for each object, which it stores, packs and compares. So the cells are a field of that text. No
//! object of an API server has a field of this name: field names begin with a letter.

use crate::object::Value;

/// The field with the cells.
const FIELD: &str = "$printed";

/// The path of that field. Its changes are no changes of the object.
pub(crate) const PRINTED_PATH: &str = r#".["$printed"]"#;

/// The columns that are left out: `status` has its own, or their text changes without a new version.
const OWN: [&str; 8] = [
    "Name",
    "Namespace",
    "Ready",
    "Status",
    "Restarts",
    "Age",
    "IP",
    "Node",
];

/// A cell of the server's table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintedCell {
    /// The title of its column.
    pub column: Box<str>,
    /// Whether kubectl shows the column only with `-o wide`.
    pub is_wide: bool,
    /// Its text.
    pub text: Box<str>,
}

/// The cells of an object that are neither empty nor in a column of our own.
pub fn printed(object: Value<'_>) -> Box<[PrintedCell]> {
    let cells = object.get(FIELD).into_iter().flat_map(Value::items);
    let cell = |cell: Value<'_>| {
        let text = |name: &str| cell.str_at(&[name]).map(Box::from);
        Some(PrintedCell {
            column: text("column")?,
            is_wide: cell.bool_at(&["wide"]).unwrap_or(false),
            text: text("text")?,
        })
    };
    cells.filter_map(cell).collect()
}

/// The text of an object with these cells. The object is JSON, which is not checked here.
pub(crate) fn with_printed(object: &str, cells: &[PrintedCell]) -> String {
    let is_shown = |cell: &&PrintedCell| {
        let is_own = OWN.iter().any(|own| own.eq_ignore_ascii_case(&cell.column));
        !is_own && !cell.text.is_empty() && &*cell.text != "<none>"
    };
    let json = |cell: &PrintedCell| serde_json::json!({"column": cell.column, "wide": cell.is_wide, "text": cell.text});
    let cells: Vec<_> = cells.iter().filter(is_shown).map(json).collect();
    match object.trim_end().strip_suffix('}') {
        Some(rest) if !cells.is_empty() => {
            let cells = serde_json::Value::from(cells);
            format!("{rest},\"{FIELD}\":{cells}}}")
        }
        _ => object.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Doc;

    fn cell(column: &str, text: &str) -> PrintedCell {
        PrintedCell {
            column: column.into(),
            is_wide: column == "Images",
            text: text.into(),
        }
    }

    #[test]
    fn an_object_carries_the_cells_that_status_has_no_column_for() {
        let cells = [
            cell("Name", "web"),
            cell("Up-to-date", "3"),
            cell("Images", "web:\"v1\""),
            cell("Selector", "<none>"),
            cell("AGE", "41d"),
        ];
        let text = with_printed(r#"{"kind":"Deployment"} "#, &cells);
        let doc = Doc::parse(text).expect("JSON");
        assert_eq!(*printed(doc.root()), [cells[1].clone(), cells[2].clone()]);
        assert_eq!(with_printed("{}", &cells[..1]), "{}");
        assert_eq!(with_printed("7", &cells), "7");
    }
}
