//! The objects of a text, one by one, for callers that read each on its own.

use super::error::FileError;
use super::parse::{LineOf, values};
use crate::object::{Doc, Kind, ObjectRef, Value};

/// Every object of a text, in order and unchecked: a document, an item of a list, or the object of a watch event.
/// Items of a typed list (`PodList`) get the kind that the list implies. Bookmarks and `ERROR` events are
/// skipped.
pub fn documents(text: &str) -> Result<Vec<Doc>, FileError> {
    let documents = documents_by_line(text)?;
    Ok(documents.into_iter().map(|(_, doc)| doc).collect())
}

/// [`documents`], each with the line where it begins, counted from 1. In a YAML list it is the line of the list.
pub fn documents_by_line(text: &str) -> Result<Vec<(usize, Doc)>, FileError> {
    let mut documents = Vec::new();
    values(text, &mut |value, line| {
        let doc = Doc::parse(value).map_err(|error| FileError::new(line(0), error.to_string()))?;
        unroll(doc, line, &mut documents);
        Ok(())
    })?;
    Ok(documents)
}

fn unroll(doc: Doc, line: LineOf<'_>, documents: &mut Vec<(usize, Doc)>) {
    let root = doc.root();
    let at = |value: Value<'_>| line(value.raw().as_ptr().addr() - doc.text().as_ptr().addr());
    let inside = |value: Value<'_>| Some((at(value), Doc::parse(value.raw()).ok()?));
    if let (Some(verb), Some(object)) = (root.str_at(&["type"]), root.get("object")) {
        if verb != "BOOKMARK" && verb != "ERROR" {
            documents.extend(inside(object));
        }
        return;
    }
    let kind = root.str_at(&["kind"]).unwrap_or_default();
    let items = root
        .get("items")
        .filter(|items| items.kind() == Kind::Array && kind.ends_with("List"));
    match items {
        Some(items) => {
            let list = ObjectRef::of(root);
            let item = |item: Value<'_>| Some((at(item), of_list(item, &list)?));
            documents.extend(items.items().filter_map(item));
        }
        None if root.kind() == Kind::Array => documents.extend(root.items().filter_map(inside)),
        None => documents.push((line(0), doc)),
    }
}

/// An item. If it has no kind, it gets the kind that its list implies.
fn of_list(item: Value<'_>, list: &ObjectRef) -> Option<Doc> {
    let kind = list.kind.strip_suffix("List").unwrap_or_default();
    let fields = item.raw().strip_prefix('{');
    let Some(fields) = fields.filter(|_| item.get("kind").is_none() && !kind.is_empty()) else {
        return Doc::parse(item.raw()).ok();
    };
    let comma = if item.fields().next().is_some() {
        ","
    } else {
        ""
    };
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let (api_version, kind) = (text(&list.api_version), text(kind));
    Doc::parse(format!(
        r#"{{"apiVersion":{api_version},"kind":{kind}{comma}{fields}"#
    ))
    .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_object_is_returned_once_and_in_order() {
        let check = |text: &str, expect: &[&str]| {
            let documents = documents(text).expect("a file");
            let texts: Vec<&str> = documents.iter().map(Doc::text).collect();
            assert_eq!(texts, expect, "{text}");
        };
        check("{}\n[{\"a\":1},2]\nnull", &["{}", "{\"a\":1}", "2", "null"]);
        check(
            r#"{"type":"ADDED","object":{"a":1}}{"type":"BOOKMARK","object":{}}"#,
            &[r#"{"a":1}"#],
        );
        check(
            r#"{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{}},{},{"kind":"X"}]}"#,
            &[
                r#"{"apiVersion":"v1","kind":"Pod","metadata":{}}"#,
                r#"{"apiVersion":"v1","kind":"Pod"}"#,
                r#"{"kind":"X"}"#,
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
        let error = documents("{}\n{\n  \"a\": }").expect_err("no JSON");
        assert_eq!(error.line, 3);
    }
}
