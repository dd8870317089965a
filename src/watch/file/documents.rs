//! The objects of a text, one by one, for callers that read each on its own.

use super::error::FileError;
use super::objects::{FoundObject, for_each_object};
use super::parse::values;
use crate::object::Doc;

/// Every object of a text, in order and unchecked: a document, an item of a list, or the object of a watch event.
/// Items of a typed list (`PodList`) get the kind that the list implies. Bookmarks are skipped. Fails if a recorded watch
/// has failed.
pub fn documents(text: &str) -> Result<Vec<Doc>, FileError> {
    let documents = documents_by_line(text)?;
    Ok(documents.into_iter().map(|(_, doc)| doc).collect())
}

/// [`documents`], each with the line where it begins, counted from 1. In a YAML list it is the line of the list.
pub fn documents_by_line(text: &str) -> Result<Vec<(usize, Doc)>, FileError> {
    let mut documents = Vec::new();
    values(text, &mut |value, line| {
        for_each_object(value, line, |found| {
            if found.is_failure() {
                return Err(found.failure());
            }
            let doc = Doc::parse(with_type(&found));
            let doc = doc.map_err(|error| FileError::new(found.line, error.to_string()))?;
            documents.push((found.line, doc));
            Ok(())
        })
    })?;
    Ok(documents)
}

/// The text of an object. What an item lacks of its type comes from its list.
fn with_type(found: &FoundObject<'_>) -> String {
    let (value, object) = (found.value, &found.object);
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
        let error = documents("{}\n{\n  \"a\": }").expect_err("no JSON");
        assert_eq!(error.line, 3);
    }
}
