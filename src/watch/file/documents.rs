//! The objects of a text, one by one, for callers that read each on its own.

use super::error::FileError;
use super::faults::Faults;
use super::objects::for_each_object;
use super::parse::values;
use crate::object::Doc;

/// Every object of a text, in order and unchecked: a document, an item of a list, or the object of a watch event. Each has the
/// line where it begins, counted from 1; in a YAML list it is the line of the list. Items of a typed list (`PodList`) get the
/// kind that the list implies. Bookmarks are skipped. The faults are what cannot be read, and the failure of a recorded watch.
pub fn documents_by_line(text: &str) -> (Vec<(usize, Doc)>, Faults) {
    let mut documents = Vec::new();
    let faults = values(text, &mut |value, line, faults| {
        for_each_object(value, line, faults, |found| {
            if found.is_failure() {
                return Err(found.failure());
            }
            let doc = Doc::parse(found.typed_text());
            let doc = doc.map_err(|error| FileError::new(found.line, error.to_string()))?;
            documents.push((found.line, doc));
            Ok(())
        });
    });
    let faults = if documents.is_empty() {
        faults.of_text(text)
    } else {
        faults
    };
    (documents, faults)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
